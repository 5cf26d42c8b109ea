"""What a configuration took, counted over stored answers, and what it would take: a dry run.

Both go over the stages with answers from the checkpoint alone; nobody is asked. Where a stage is answered in full, what
the next one would ask is known exactly. From the first stage with an open request on, calls are estimated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from judge_pipeline.orchestration.criteria_run import CriteriaStage, Given, JudgedBy, given_pairs
from judge_pipeline.orchestration.pair_judging_run import PairInputs
from judge_pipeline.settings import Workspace
from judge_pipeline.tables.criteria import CRITERIA_CALLS, STAGES

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.plan import Plan
    from judge_pipeline.judging.question import Question


class OpenRequestsError(Exception):
    """A stage has requests without a stored answer: what comes after cannot be known."""


@dataclass
class StoredAsk:
    """Answers from the checkpoint alone (``criteria.asking.Ask``).

    Attributes:
        by: judge and configuration.
        checkpoint: what is answered.
        prompts_dir: where prompt templates lie.
        asked: stage -> rows and their answers, of stages that are answered in full.
        open: the stage that is not, with its plan; None where all are.
    """

    by: JudgedBy
    checkpoint: Checkpoint
    prompts_dir: Path
    asked: dict[str, list[tuple[pd.DataFrame, pd.DataFrame]]] = field(default_factory=lambda: defaultdict(list))
    open: tuple[str, Plan] | None = None

    def __call__(self, stage: str, question: Question, rows: pd.DataFrame) -> pd.DataFrame:
        """The stored answers.

        Raises:
            OpenRequestsError: not all are stored.
        """
        from judge_pipeline.judging.answers_table import answers_table
        from judge_pipeline.judging.checkpoint.stored_rows import read_judgments
        from judge_pipeline.judging.plan import plan_prepared
        from judge_pipeline.judging.prepared import prepare
        from judge_pipeline.judging.row_asking import RowsAsked
        from judge_pipeline.judging.settled import settled_failures

        judge, settings = self.by.judge, self.by.settings
        prepared = prepare(judge, settings, rows, self.prompts_dir, self.checkpoint, question)
        stored = read_judgments(self.checkpoint, judge, prepared.all_hashes)
        settled = settled_failures(self.checkpoint, judge, settings, prepared.all_hashes)
        to_ask = [hash_ for hash_ in prepared.unanswered(stored.slots, None) if hash_ not in settled]
        plan = plan_prepared(judge, settings, prepared, stored, to_ask, self.checkpoint)
        if to_ask:
            self.open = stage, plan
            raise OpenRequestsError(stage)
        asked = RowsAsked(prepared, stored, settled, plan, None, 0, 0, 0, (), ())
        table = answers_table(self.checkpoint, judge, asked)
        self.asked[stage].append((rows, table))
        return table


def counted_calls(stage: CriteriaStage) -> pd.DataFrame:
    """Table CRITERIA_CALLS of the running partition: what every stage took over all runs, of this and others.

    Raises:
        JudgingError: a request has no stored answer any more.
    """
    from judge_pipeline.criteria.method import judge_pairs
    from judge_pipeline.judging.failures import JudgingError

    asking = stage.ask.asking
    workspace = asking.context.resources.workspace.workspace()
    stored = StoredAsk(stage.by, asking.checkpoint, workspace.config_dir / "prompts")
    try:
        judge_pairs(stage.configuration, stage.pairs, stored)
    except OpenRequestsError as error:
        raise JudgingError(
            f"judge {stage.by.key}: requests of stage {error} have no stored answer any more. Remedy: materialize the "
            "partition from asset criteria on, which asks for them"
        ) from None
    return CRITERIA_CALLS.conform([_row(name, stored.asked[name]) for name in STAGES if name in stored.asked])


def _row(stage: str, asked: Sequence[tuple[pd.DataFrame, pd.DataFrame]]) -> dict[str, Any]:
    """What one stage took. Where rows share a request, the first of them carries what it took."""
    import pandas as pd

    answers = pd.concat([table for _, table in asked], ignore_index=True)
    pair_ids = {pair_id for rows, _ in asked for pair_id in rows["pair_id"]}
    requests = answers.drop_duplicates("request_hash")
    known = {name: answers[name].dropna() for name in ("tokens_in", "tokens_out", "cost_usd")}
    tokens = {name: int(known[name].sum()) if len(known[name]) else None for name in ("tokens_in", "tokens_out")}
    cost = float(known["cost_usd"].sum()) if len(known["cost_usd"]) else None
    return {
        "stage": stage, "n_requests": len(requests), "n_calls": int(answers["n_tries"].sum()),
        "n_invalid": int(requests["answer"].isna().sum()), "n_pairs": len(pair_ids), **tokens, "cost_usd": cost,
    }  # fmt: skip


def plan_criteria(
    workspace: Workspace, preference_set: str, folder: Path, judge: str, configuration: str, limit: int | None = None
) -> Plan:
    """What the configuration would ask of the judge for the set's stored pairs; nothing is asked.

    The first stage with an open request is counted exactly, and what comes after it is expected: see ``basis``. Stages
    that it shares with a configuration that is run before it are counted in both.

    Where guidance is still to be synthesized, all is counted as new, without the length of what guidance will say.

    Raises:
        FileNotFoundError: the set was never read.
        GuidanceError: the configuration's ready-made guidance must not be used.
        JudgingError: a prompt template is missing or wrong, or the checkpoint cannot be used.
        SettingsError: there is no such judge or configuration.
    """
    from judge_pipeline.criteria.guidance_file import GuidanceError

    by = JudgedBy.of(workspace, judge, configuration)
    inputs, seed = PairInputs.stored(workspace, preference_set), workspace.preference(folder).seed
    use = by.configuration.guidance
    try:
        given = given_pairs(workspace, by, preference_set, inputs.texts, inputs.splits, seed, limit)
    except GuidanceError as error:
        if use is None or use.file is not None:
            raise
        unguided = replace(by, configuration=by.configuration.model_copy(update={"guidance": None}))
        given = given_pairs(workspace, unguided, preference_set, inputs.texts, inputs.splits, seed, limit)
        with TemporaryDirectory() as nothing_stored:
            plan = _planned(workspace, unguided, given, f"sqlite:///{nothing_stored}/checkpoint.sqlite")
        return replace(plan, basis=f"{plan.basis}; without the length of guidance, which comes first ({error})")
    return _planned(workspace, by, given, workspace.checkpoint_url)


def _planned(workspace: Workspace, by: JudgedBy, given: Given, checkpoint_url: str) -> Plan:
    from judge_pipeline.criteria.method import judge_pairs
    from judge_pipeline.judging.checkpoint.store import Checkpoint

    with closing(Checkpoint(checkpoint_url)) as checkpoint:
        stored = StoredAsk(by, checkpoint, workspace.config_dir / "prompts")
        with suppress(OpenRequestsError):
            judge_pairs(by.configuration, given.pairs, stored)
        return _plan(by, stored, given.provenance["n_pairs"])


def _plan(by: JudgedBy, stored: StoredAsk, n_pairs: int) -> Plan:
    from judge_pipeline.criteria.expected_calls import expected_calls
    from judge_pipeline.judging.plan import Plan

    done = sum(len(table.drop_duplicates("request_hash")) for parts in stored.asked.values() for _, table in parts)
    if stored.open is None:
        return Plan(by.key, done, done, 0, 0, 0, 0.0, "every answer is stored")
    stage, exact = stored.open
    later = expected_calls(by.configuration, n_pairs, after=stage, criteria=_criteria_a_pair(stored.asked))
    whole = exact.n_to_ask + later.n_calls
    share = whole / exact.n_to_ask
    tokens_in = exact.tokens_in + round(later.n_calls * exact.tokens_in / exact.n_to_ask)
    tokens_out = round(exact.tokens_out * share)
    cost = None if exact.cost_usd is None else exact.cost_usd * share
    basis = f"stage {stage} is counted ({exact.basis}){later.in_words()}"
    return replace(
        exact, judge=by.key, n_in_scope=done + exact.n_in_scope + later.n_calls, n_stored=done + exact.n_stored,
        n_to_ask=whole, tokens_in=tokens_in, tokens_out=tokens_out, cost_usd=cost, basis=basis,
    )  # fmt: skip


def _criteria_a_pair(asked: Mapping[str, Sequence[tuple[pd.DataFrame, pd.DataFrame]]]) -> float | None:
    """Criteria in the mean of stored answers of the generator; None where there are none."""
    counts = [
        len(answer["criteria"])
        for _, table in asked.get("improvement") or asked.get("generation", ())
        for answer in table["answer"].dropna()
    ]
    return sum(counts) / len(counts) if counts else None
