"""One judge under one configuration of criteria.yaml, and one preference set: pairs, guidance, and who answers.

Each stage is a step of its own. It asks through the checkpoint under the judge's plain name, so that a request that
another configuration made is answered already. What the tables of a partition were made under is kept in their files,
and a stage refuses tables of other pairs, another configuration or other guidance than its own.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dagster as dg

from judge_pipeline.orchestration.guidance_run import guidance_in_force, questioned_settings
from judge_pipeline.orchestration.judging_configuration import judged_how, prompts_sha256
from judge_pipeline.orchestration.judging_run import limit_of
from judge_pipeline.orchestration.launch_forms import launch_tags, switched_off_in_a_backfill
from judge_pipeline.orchestration.partitions import configured, configured_judge_of, preference_set_of
from judge_pipeline.orchestration.set_asking import SetAsking, set_asking
from judge_pipeline.settings import EmbeddedJudge, LitellmJudge, Workspace
from judge_pipeline.settings.preference import PairJudging
from judge_pipeline.settings.yaml_file import SettingsError

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.criteria.asking import PairsToJudge
    from judge_pipeline.judging.question import Question
    from judge_pipeline.orchestration.parquet_store import ParquetStore
    from judge_pipeline.settings.criteria import Configuration, CriteriaFile
    from judge_pipeline.table_schema import Table

_NAMED_PAIRS = 5


def criteria_judges(workspace: Workspace) -> list[str]:
    """The judges that serve criteria and answer questions: reward models, recorded ones and baselines do not.

    Raises:
        SettingsError: judges.yaml is wrong.
    """
    judges = workspace.judges()
    return [n for n in judges.names("criteria") if isinstance(judges.get(n), LitellmJudge | EmbeddedJudge)]


def configured_judges(workspace: Workspace) -> list[str]:
    """The partition keys ``judge@configuration``: each of these judges under every configuration.

    Raises:
        SettingsError: judges.yaml or criteria.yaml is wrong.
    """
    names = list(workspace.criteria().configurations)
    return [configured(judge, name) for judge in criteria_judges(workspace) for name in names]


@dataclass(frozen=True)
class JudgedBy:
    """A judge under a configuration.

    Attributes:
        judge: the judge.
        name: the configuration's name.
        settings: the judge's settings.
        configuration: the configuration.
        criteria: criteria.yaml.
    """

    judge: str
    name: str
    settings: LitellmJudge | EmbeddedJudge
    configuration: Configuration
    criteria: CriteriaFile

    @property
    def key(self) -> str:
        """The partition key."""
        return configured(self.judge, self.name)

    @classmethod
    def of(cls, workspace: Workspace, judge: str, name: str) -> JudgedBy:
        """The judge and configuration of these names.

        Raises:
            SettingsError: there is no such judge or configuration, or the judge answers no questions.
        """
        criteria = workspace.criteria()
        if name not in criteria.configurations:
            known = ", ".join(criteria.configurations)
            raise SettingsError(f"configuration {name!r} is not in criteria.yaml; it lists: {known}")
        return cls(judge, name, questioned_settings(workspace, judge), criteria.configurations[name], criteria)


@dataclass(frozen=True)
class Given:
    """What a configuration judges, and what it is made under.

    Attributes:
        pairs: the pairs, with guidance for the stages that are given it.
        provenance: what the tables of the partition are made under, as plain JSON values.
    """

    pairs: PairsToJudge
    provenance: dict[str, Any]


def given_pairs(
    workspace: Workspace, by: JudgedBy, preference_set: str, texts: pd.DataFrame, splits: pd.DataFrame, seed: int,
    limit: int | None = None,
) -> Given:  # fmt: skip
    """The pairs of split val, as judges are shown them, and the guidance in force. No label is among what is given.

    Args:
        workspace: where guidance lies.
        by: judge and configuration.
        preference_set: the set.
        texts: table PAIR_TEXTS.
        splits: table PREFERENCE_SPLITS.
        seed: draws the pairs where there is a limit.
        limit: so many pairs only.

    Raises:
        GuidanceError: there is no guidance, it was edited, or a pair that is judged is among its records.
        SettingsError: a guidance file is wrong.
    """
    from judge_pipeline.criteria.asking import PairsToJudge
    from judge_pipeline.criteria.guidance import guidance_of_pairs
    from judge_pipeline.criteria.guidance_file import content_sha256
    from judge_pipeline.judging.listed_models import takes_images
    from judge_pipeline.preference.pair_question import choose_pairs, pair_rows
    from judge_pipeline.preference.screenshots import without_screenshots

    own = splits[splits["split"] == "val"]
    shown = texts[texts["pair_id"].isin(own["pair_id"])].reset_index(drop=True)
    if not by.criteria.images:
        shown = without_screenshots(shown)
    judging = PairJudging(context_chars=by.criteria.context_chars, response_chars=by.criteria.response_chars)
    rows = pair_rows(preference_set, shown, own, judging)
    if limit is not None:
        rows = rows[rows["request_id"].isin(choose_pairs(rows, limit, seed))].reset_index(drop=True)
    use, guidance, texts_of = by.configuration.guidance, None, {}
    if use is not None:
        guidance = guidance_in_force(workspace, use, by.judge, preference_set, splits)
        categories = {
            pair_id: category if isinstance(category, str) else None
            for pair_id, category in shown[["pair_id", "category"]].itertuples(index=False, name=None)
        }
        texts_of = guidance_of_pairs(guidance, use, categories)
    pair_ids = sorted(set(rows["pair_id"]))
    provenance = {
        "judge": by.judge,
        "configuration": by.name,
        "how": judged_how(by.configuration),
        "answers": by.settings.answer_settings("criteria"),
        "prompts_sha256": prompts_sha256(workspace, "criteria", by.settings),
        "shown": {
            "context_chars": judging.context_chars,
            "response_chars": judging.response_chars,
            "images": by.criteria.images and takes_images(by.settings),
        },
        "guidance_sha256": None if guidance is None else content_sha256(guidance),
        "n_pairs": len(pair_ids),
        "pairs_sha256": hashlib.sha256(json.dumps(pair_ids).encode("utf-8", "replace")).hexdigest(),
    }
    return Given(PairsToJudge(rows, texts_of), json.loads(json.dumps(provenance, default=str)))


@dataclass(frozen=True)
class StageAsk:
    """Asks the judge through the engine (``criteria.asking.Ask``).

    Attributes:
        asking: how the set's judges are asked.
        by: judge and configuration.
    """

    asking: SetAsking
    by: JudgedBy

    def __call__(self, stage: str, question: Question, rows: pd.DataFrame) -> pd.DataFrame:
        """The answers; invalid ones are the judge's own.

        Raises:
            JudgingError: the provider failed to bring some. The message names pairs and reasons.
        """
        from judge_pipeline.judging.failures import JudgingError

        table = self.asking.answers(self.by.judge, self.by.settings, question, rows)
        missing = missing_in_words(table, rows, question.id_column)
        if missing is not None:
            raise JudgingError(
                f"judge {self.by.key}, stage {stage}: {missing}. What was answered is kept; materialize again to ask "
                "only for the rest."
            )
        return table


def missing_in_words(answers: pd.DataFrame, rows: pd.DataFrame, id_column: str) -> str | None:
    """What the provider failed to bring, of which pairs and why; None where nothing is missing.

    Args:
        answers: columns ``judging.answers_table.ANSWER_COLUMNS``.
        rows: what was asked, with ``id_column`` and pair_id.
        id_column: the column whose values are the answers' ids.
    """
    from judge_pipeline.judging.failures import IN_WORDS
    from judge_pipeline.judging.settled import OWN_FAILURES

    absent = answers[answers["answer"].isna() & ~answers["failure_class"].isin(OWN_FAILURES)]
    if absent.empty:
        return None
    theirs = rows.loc[rows[id_column].isin(absent["id"]), "pair_id"]
    pair_ids = list(dict.fromkeys(theirs))
    named = ", ".join(pair_ids[:_NAMED_PAIRS]) + (", ..." if len(pair_ids) > _NAMED_PAIRS else "")
    kinds = Counter(kind if isinstance(kind, str) else "not asked" for kind in absent["failure_class"])
    words: dict[Any, str] = dict(IN_WORDS)
    why = "; ".join(f"{n} {kind}" + (f": {words[kind]}" if kind in words else "") for kind, n in kinds.most_common())
    said = next((f". The first says: {text}" for text in absent["failure"] if isinstance(text, str)), "")
    return f"{len(absent)} of {len(answers)} answers are missing, of {len(pair_ids)} pairs ({named}): {why}{said}"


@dataclass(frozen=True)
class CriteriaStage:
    """The running step: judge and configuration, what they judge, and who answers.

    Attributes:
        by: judge and configuration.
        given: the pairs, and what the partition's tables are made under.
        ask: asks the judge.
    """

    by: JudgedBy
    given: Given
    ask: StageAsk

    @property
    def configuration(self) -> Configuration:
        """The configuration."""
        return self.by.configuration

    @property
    def pairs(self) -> PairsToJudge:
        """The pairs that it judges."""
        return self.given.pairs

    def metadata(self) -> dict[str, Any]:
        """What the UI shows of every stage."""
        shown = {name: self.given.provenance[name] for name in ("n_pairs", "guidance_sha256")}
        return {**{name: "none" if value is None else value for name, value in shown.items()},
                **self.ask.asking.tally.metadata()}  # fmt: skip


@contextmanager
def criteria_stage(
    context: dg.AssetExecutionContext, texts: pd.DataFrame, splits: pd.DataFrame, upstream: Sequence[Table] = ()
) -> Iterator[CriteriaStage]:
    """The running step of a partition ``judge@configuration|set``.

    Args:
        context: of the step.
        texts: table PAIR_TEXTS of the set.
        splits: its table PREFERENCE_SPLITS.
        upstream: tables of the same partition that the step goes on from.

    Raises:
        dagster.Failure: settings, guidance or a table that the step goes on from do not fit, or answers are missing
            that the provider failed to bring. What was answered is in the checkpoint.
    """
    from judge_pipeline.criteria.guidance_file import GuidanceError

    preference_set, resource = preference_set_of(context), context.resources.workspace
    workspace, settings = resource.workspace(), resource.preference(preference_set)
    if why := switched_off_in_a_backfill(context, configured_judge_of(context)[0]):
        raise dg.Failure(why, allow_retries=False)
    with set_asking(context, preference_set, settings) as asking:
        try:
            by = JudgedBy.of(workspace, *configured_judge_of(context))
            limit = limit_of(launch_tags(context))
            given = given_pairs(workspace, by, preference_set, texts, splits, settings.seed, limit)
            refuse_others(context.resources.store, upstream, preference_set, by.key, given)
            yield CriteriaStage(by, given, StageAsk(asking, by))
        except GuidanceError as error:
            raise dg.Failure(f"preference set {preference_set}: {error}", allow_retries=False) from None


def refuse_others(store: ParquetStore, tables: Sequence[Table], preference_set: str, key: str, given: Given) -> None:
    """Refuse tables that were made under other pairs, another configuration or other guidance than are in force now.

    Args:
        store: where they lie.
        tables: what a stage goes on from.
        preference_set: the set.
        key: the partition's judge and configuration.
        given: what is in force.

    Raises:
        SettingsError: one was; the message says what differs, and from where to start again.
    """
    for table in tables:
        made_under = store.provenance(table, preference_set, key) or {}
        other = sorted(name for name, value in given.provenance.items() if made_under.get(name) != value)
        if other:
            raise SettingsError(
                f"table {table.name} of {key} was made under another {' and '.join(other)} than is in force now. "
                "Remedy: materialize the partition from asset criteria on, with the same limit; what is answered is "
                "not asked again"
            )
