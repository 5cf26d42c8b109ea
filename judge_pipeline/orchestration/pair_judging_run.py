"""One judge's partition of a preference set: both orders of every pair asked, its table accepted or refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dagster as dg

from judge_pipeline.orchestration.evidence_files import EvidenceFiles
from judge_pipeline.orchestration.executors import run_of_steps
from judge_pipeline.orchestration.judging_progress import tell_progress
from judge_pipeline.orchestration.judging_run import (
    AFTER_SHARDS_TAG,
    STORED_TAG,
    failure_classes,
    limit_of,
    planned_in_words,
    planned_metadata,
)
from judge_pipeline.orchestration.launch_forms import launch_tags
from judge_pipeline.orchestration.one_at_a_time import one_asking
from judge_pipeline.orchestration.run_ceiling import ceilings_of
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.orchestration.table_asset import Made
from judge_pipeline.settings import BaselineJudge, PreferenceSettings, RecordedJudge, Workspace
from judge_pipeline.settings.secrets_file import key_environment
from judge_pipeline.tables import PAIR_TEXTS, PREFERENCE_PAIRS, PREFERENCE_SPLITS

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from judge_pipeline.judging.judging_context import JudgingContext
    from judge_pipeline.judging.plan import Plan
    from judge_pipeline.judging.prepared import AskedSettings, Settings

PairOrder = tuple[str, str]


@dataclass(frozen=True)
class PairInputs:
    """What judging a set's pairs starts from.

    Attributes:
        texts: table PAIR_TEXTS.
        splits: table PREFERENCE_SPLITS.
        labels: pair_id and w; only a fitted baseline sees them, and of train alone.
    """

    texts: pd.DataFrame
    splits: pd.DataFrame
    labels: pd.DataFrame

    def training(self) -> pd.DataFrame:
        """pair_id, w, split and instruction_group of every pair; a fitted baseline uses train."""
        return self.labels.merge(self.splits, on="pair_id")

    @classmethod
    def stored(cls, workspace: Workspace, name: str) -> PairInputs:
        """The set's, as last made.

        Raises:
            FileNotFoundError: the set was never read.
        """
        store = store_of(workspace)
        pairs = store.read(PREFERENCE_PAIRS, name)
        return cls(store.read(PAIR_TEXTS, name), store.read(PREFERENCE_SPLITS, name), pairs[["pair_id", "w"]])


def place_of_set(name: str) -> str:
    """What a set is called among contests, where locks, ceilings and batches are kept: no contest is called so."""
    return f"preference/{name}"


def judge_preference_set(context: dg.AssetExecutionContext, name: str, judge: str, inputs: PairInputs) -> Made:
    """The judge's choices on the set's pairs, table PAIR_JUDGMENTS.

    Args:
        context: of the running step.
        name: the preference set.
        judge: the judge.
        inputs: the set's tables.

    Raises:
        dagster.Failure: an answer is missing that the provider failed to bring; the message names pairs and reasons.
            What was answered is in the checkpoint, and the next materialization asks only for the rest. Answers that
            stay invalid are the judge's own: they are in the table, and are not asked for again.
    """
    from judge_pipeline.judging.failures import JudgingError

    workspace = context.resources.workspace.workspace()
    settings = workspace.judges().get(judge)
    try:
        if isinstance(settings, RecordedJudge | BaselineJudge):
            return _computed(context, name, judge, settings, inputs)
        return _asked(context, name, judge, settings, inputs)
    except JudgingError as error:
        raise dg.Failure(str(error), allow_retries=False) from None


def _asked(
    context: dg.AssetExecutionContext, name: str, judge: str, settings: AskedSettings, inputs: PairInputs
) -> Made:
    from judge_pipeline.judging.answers_table import answers_table, spent_in_all
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.listed_models import takes_images
    from judge_pipeline.judging.row_asking import ask_rows
    from judge_pipeline.preference.pair_judgments import missing, not_verified, pair_judgments
    from judge_pipeline.preference.pair_question import IdsOfSet, pair_question, pair_rows

    resource = context.resources.workspace
    workspace, of_set = resource.workspace(), resource.preference(name)
    rows = pair_rows(name, inputs.texts, inputs.splits, of_set.judging)
    scope = rows_in_scope(rows, settings)
    judging = judging_context(context, workspace, name, of_set, resource.preference_folder(name), judge)

    def say_so() -> None:
        context.log.info(f"another run is asking {judge} about {name}; waiting, since it may answer this one's, too")
        context.resources.progress.waiting(judge)

    with (
        one_asking(workspace, place_of_set(name), judge, say_so),
        closing(Checkpoint(workspace.checkpoint_url)) as checkpoint,
    ):
        asked = ask_rows(
            judge, settings, pair_question(of_set.judging.may_tie), scope,
            checkpoint=checkpoint, context=judging, of_whole=IdsOfSet(name),
        )  # fmt: skip
        answers = answers_table(checkpoint, judge, asked)
        spent = spent_in_all(checkpoint, judge, asked)
    made = pair_judgments(judge, scope, answers, takes_images=takes_images(settings))
    problems = missing(scope, answers, asked.pilot)
    counted = {
        "in_scope": int(scope["pair_id"].nunique()),
        "answers": len(made),
        "invalid": int(made["slot"].isna().sum()),
        "screenshots_shown": int(made["n_screenshots"].sum()),
        "rows_without_a_screenshot_that_there_is": int(made["screenshots_left_out"].notna().sum()),
        "asked_now": asked.n_asked,
        "tries_over_all_runs": spent.n_calls,
        "seconds_of_calls": round(spent.seconds, 3),
        **{n: v for n in ("tokens_in", "tokens_out", "cost_usd") if (v := getattr(spent, n)) is not None},
        **({} if asked.pilot is None else {"pilot": len(asked.pilot) // 2}),
        **planned_metadata(asked.plan),
        **({"notes": "\n".join(asked.notes)} if asked.notes else {}),
    }
    if problems:
        raise dg.Failure(
            f"judge {judge}, preference set {name}: the table is not accepted. {'; '.join(problems)}. What was "
            "answered is kept; materialize again to ask only for the rest.",
            metadata={**counted, **failure_classes(Counter(answers["failure_class"].dropna()))},
            allow_retries=False,
        )
    return Made(made, counted, {"verified": not_verified(made, list(scope["pair_id"]))})


def _computed(
    context: dg.AssetExecutionContext,
    name: str,
    judge: str,
    settings: RecordedJudge | BaselineJudge,
    inputs: PairInputs,
) -> Made:
    """Choices that nobody is asked for: read from a file, or by a rule."""
    from judge_pipeline.preference.pair_judgments import not_verified

    resource = context.resources.workspace
    scope = texts_in_scope(inputs, settings)
    folder, seed = resource.preference_folder(name), resource.preference(name).seed
    made = computed_choices(judge, settings, folder, seed, inputs, scope)
    problems = not_verified(made.rows, list(scope["pair_id"]), made.orders)
    counted = {
        "in_scope": len(scope),
        "answers": len(made.rows),
        "invalid": int(made.rows["slot"].isna().sum()),
        "orders": ", ".join(made.orders),
        **({"notes": "\n".join(made.notes)} if made.notes else {}),
    }
    return Made(made.rows, counted, {"verified": problems})


@dataclass(frozen=True)
class ComputedChoices:
    """Choices that nobody is asked for.

    Attributes:
        rows: table PAIR_JUDGMENTS.
        orders: the presentation orders that there are.
        notes: what a person should know besides.
    """

    rows: pd.DataFrame
    orders: Sequence[str]
    notes: Sequence[str]


def computed_choices(
    judge: str,
    settings: RecordedJudge | BaselineJudge,
    folder: Path,
    seed: int,
    inputs: PairInputs,
    scope: pd.DataFrame,
) -> ComputedChoices:
    """The recorded or computed choices on the pairs in scope (rows of PAIR_TEXTS).

    Raises:
        JudgingError: the file is missing or unusable, or there is nothing to learn from.
    """
    from judge_pipeline.preference.choice_rows import choices_table
    from judge_pipeline.preference.pair_baselines import baseline_choices
    from judge_pipeline.preference.recorded_choices import recorded_choices
    from judge_pipeline.preference.verdicts import PRESENTATION_ORDERS

    if isinstance(settings, BaselineJudge):
        chosen = baseline_choices(settings, inputs.texts, scope, inputs.training(), seed)
        return ComputedChoices(choices_table(judge, chosen), PRESENTATION_ORDERS, ())
    read = recorded_choices(settings.file, _content(judge, folder / settings.file), settings, list(scope["pair_id"]))
    return ComputedChoices(choices_table(judge, read.rows), read.orders, read.notes)


def _content(judge: str, path: Path) -> bytes:
    from judge_pipeline.judging.failures import JudgingError

    try:
        return path.read_bytes()
    except OSError as error:
        raise JudgingError(
            f"judge {judge}: {path} cannot be read ({error.strerror}); put the recorded choices there, or correct "
            "'file' in judges.yaml"
        ) from None


def rows_in_scope(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The rows that are asked of a judge with this scope."""
    from judge_pipeline.judging.verification import in_scope

    return in_scope(rows, settings.scope)


def texts_in_scope(inputs: PairInputs, settings: Settings) -> pd.DataFrame:
    """The rows of PAIR_TEXTS in the judge's scope."""
    is_in = inputs.splits.set_index("pair_id")["split"].isin(settings.scope.splits)
    return inputs.texts[inputs.texts["pair_id"].map(is_in)].reset_index(drop=True)


def judging_context(
    context: dg.AssetExecutionContext | dg.OpExecutionContext,
    workspace: Workspace,
    name: str,
    of_set: PreferenceSettings,
    folder: Path,
    what: str,
) -> JudgingContext:
    """What judging needs besides rows and settings, for anything that is asked about a set."""
    from judge_pipeline.judging.judging_context import JudgingContext

    judges, tags = workspace.judges(), launch_tags(context)
    return JudgingContext(
        environment=key_environment(),
        contest_folder=folder,
        prompts_dir=workspace.config_dir / "prompts",
        seed=of_set.seed,
        progress=tell_progress(context, what),
        providers=judges.providers,
        ceilings=ceilings_of(tags, judges.ceiling_usd),
        spending=context.resources.spending,
        run_of_steps=run_of_steps(context.run.run_id),
        limit=limit_of(tags),
        only_stored=STORED_TAG in tags,
        after_shards=AFTER_SHARDS_TAG in tags,
        planned=lambda planned: context.log.info(planned_in_words(planned)),
        contest=place_of_set(name),
        read_image=EvidenceFiles.of(workspace, name).read,
    )


def plan_pairs(workspace: Workspace, name: str, folder: Path, judge: str, limit: int | None = None) -> Plan:
    """What the judge would be asked for the set's stored pairs; nothing is asked.

    Raises:
        JudgingError: the prompt template is missing or wrong, or the checkpoint cannot be used.
        FileNotFoundError: the set was never read.
    """
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.plan import Plan
    from judge_pipeline.judging.row_asking import plan_rows
    from judge_pipeline.preference.pair_question import pair_question, pair_rows

    settings, of_set = workspace.judges().get(judge), workspace.preference(folder)
    inputs = PairInputs.stored(workspace, name)
    if isinstance(settings, RecordedJudge | BaselineJudge):
        n = 2 * len(texts_in_scope(inputs, settings))
        return Plan(judge, n, n, 0, 0, 0, 0.0, "no model is asked")
    rows = rows_in_scope(pair_rows(name, inputs.texts, inputs.splits, of_set.judging), settings)
    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        question = pair_question(of_set.judging.may_tie)
        prompts = workspace.config_dir / "prompts"
        return plan_rows(judge, settings, question, rows, checkpoint, prompts, limit=limit, seed=of_set.seed)


def without_training(workspace: Workspace, name: str, folder: Path, judges: Sequence[str]) -> dict[str, str]:
    """Those of the judges that learn from the set's stored pairs and have nothing to learn from -> why.

    Raises:
        FileNotFoundError: the set was never read.
    """
    from judge_pipeline.preference.pair_baselines import why_not_fitted

    inputs, seed, found = PairInputs.stored(workspace, name), workspace.preference(folder).seed, {}
    for judge in judges:
        settings = workspace.judges().get(judge)
        if isinstance(settings, BaselineJudge):
            scope = texts_in_scope(inputs, settings)
            if why := why_not_fitted(settings, inputs.texts, scope, inputs.training(), seed):
                found[judge] = why
    return found


def current_pair_requests(
    workspace: Workspace, name: str, folder: Path, judges: Sequence[str], inputs: PairInputs
) -> dict[str, dict[PairOrder, str] | str]:
    """Judge -> the request hash that each pair and order would have today, or why there is none; nothing is asked."""
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.failures import JudgingError

    current: dict[str, dict[PairOrder, str] | str] = {}
    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        for judge in judges:
            try:
                current[judge] = _current(workspace, name, folder, judge, inputs, checkpoint)
            except JudgingError as error:
                current[judge] = str(error)
    return current


def _current(
    workspace: Workspace, name: str, folder: Path, judge: str, inputs: PairInputs, checkpoint: Any
) -> dict[PairOrder, str]:
    from judge_pipeline.judging.prepared import prepare
    from judge_pipeline.preference.pair_baselines import baseline_hashes
    from judge_pipeline.preference.pair_question import pair_question, pair_rows
    from judge_pipeline.preference.recorded_choices import recorded_hashes

    settings, of_set = workspace.judges().get(judge), workspace.preference(folder)
    if isinstance(settings, RecordedJudge | BaselineJudge):
        scope = texts_in_scope(inputs, settings)
        if isinstance(settings, BaselineJudge):
            return baseline_hashes(settings, inputs.texts, scope, inputs.training(), of_set.seed)
        content = _content(judge, folder / settings.file)
        return recorded_hashes(settings.file, content, settings, list(scope["pair_id"]))
    rows = rows_in_scope(pair_rows(name, inputs.texts, inputs.splits, of_set.judging), settings)
    question = pair_question(of_set.judging.may_tie)
    prepared = prepare(judge, settings, rows, workspace.config_dir / "prompts", checkpoint, question)
    keys = zip(rows["pair_id"], rows["presentation_order"], strict=True)
    return dict(zip(keys, prepared.hashes[0], strict=True))
