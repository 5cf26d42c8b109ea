"""Finding and scoring a set's rubric: judges asked through the engine, the file that a person may edit, all sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg

from judge_pipeline.orchestration.parquet_store import ParquetStore
from judge_pipeline.orchestration.preference_sets import preference_folders
from judge_pipeline.orchestration.set_asking import SetAsking, Tally, set_asking
from judge_pipeline.orchestration.whole_files import is_there, write_whole
from judge_pipeline.settings import EmbeddedJudge, LitellmJudge, PreferenceSettings, Workspace
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.table_schema import TableError
from judge_pipeline.tables.misalignment import MISALIGNMENT
from judge_pipeline.tables.rubric import RUBRIC

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.judging.question import Question
    from judge_pipeline.preference.recorded_rubric_scores import RecordedScores
    from judge_pipeline.preference.rubric_discovery import Discovery
    from judge_pipeline.preference.rubric_file import InForce
    from judge_pipeline.preference.rubric_items import Item
    from judge_pipeline.preference.rubric_questions import Answers, Ask
    from judge_pipeline.preference.rubric_scores import ScoreRequests

RUBRIC_FILE = "rubric.yaml"
"""In a set's folder: a rubric that is used instead of what is found."""

NO_SCORER = "rubric.scorer names no judge: set it in preference.yaml to score pairs"


@dataclass(frozen=True)
class RubricAsking:
    """Judges that are asked about one preference set's rubric.

    Attributes:
        asking: how they are asked.
    """

    asking: SetAsking

    @property
    def preference_set(self) -> str:
        """The set."""
        return self.asking.preference_set

    @property
    def settings(self) -> PreferenceSettings:
        """Its settings."""
        return self.asking.settings

    @property
    def context(self) -> dg.AssetExecutionContext:
        """Of the running step."""
        return self.asking.context

    @property
    def tally(self) -> Tally:
        """What asking took."""
        return self.asking.tally

    def ask(self, judge: str) -> Ask:
        """Asks the judge."""
        return lambda question, rows: self._asked(judge, question, rows)

    def _asked(self, judge: str, question: Question, rows: pd.DataFrame) -> Answers:
        from judge_pipeline.preference.rubric_questions import Answers

        if rows.empty:
            return Answers({})
        workspace = self.context.resources.workspace.workspace()
        return _answers(self.asking.answers(judge, asked_settings(workspace, judge), question, rows))


def _answers(table: pd.DataFrame) -> Answers:
    from judge_pipeline.preference.rubric_questions import Answers

    values, failures, hashes = {}, {}, {}
    for row in table.to_dict("records"):
        hashes[row["id"]] = row["request_hash"]
        if row["answer"] is None:
            failures[row["id"]] = f"{row['failure_class']}: {row['failure']}"
        else:
            values[row["id"]] = row["answer"]
    return Answers(values, failures, hashes)


@contextmanager
def rubric_asking(
    context: dg.AssetExecutionContext, preference_set: str, settings: PreferenceSettings
) -> Iterator[RubricAsking]:
    """Judges to ask about the set; what cannot be asked at all, or set up, becomes a failure of the step.

    Raises:
        dagster.Failure: a setting, a prompt template, the checkpoint or an answer that all depends on is wrong; the
            message says what to do. What was answered is in the checkpoint.
    """
    from judge_pipeline.preference.rubric_items import RubricError

    with set_asking(context, preference_set, settings) as asking:
        try:
            yield RubricAsking(asking)
        except RubricError as error:
            raise asking.failure(str(error)) from None


def asked_settings(workspace: Workspace, judge: str) -> LitellmJudge | EmbeddedJudge:
    """The settings of a judge that section ``rubric`` names.

    Raises:
        SettingsError: there is no such judge, or none that answers any question.
    """
    settings = workspace.judges().get(judge)
    if not isinstance(settings, LitellmJudge | EmbeddedJudge):
        raise SettingsError(
            f"section rubric of preference.yaml names {judge!r}, a judge of backend {settings.backend}, which cannot "
            "be asked about rubric items; name one of backend litellm, or to score only, embedded"
        )
    return settings


def items_per_call(workspace: Workspace, judge: str, settings: PreferenceSettings) -> int:
    """Items that the judge is asked about at once: the embedded model's answer is one token."""
    embedded = isinstance(asked_settings(workspace, judge), EmbeddedJudge)
    return 1 if embedded else settings.rubric.items_per_call


def too_weak(workspace: Workspace, settings: PreferenceSettings) -> str | None:
    """Why nothing is generated although a proposer is named; None where it can be, or none is named."""
    rubric = settings.rubric
    if not rubric.generate or rubric.proposer is None:
        return None
    for name in (rubric.proposer, rubric.merger or rubric.proposer):
        if isinstance(asked_settings(workspace, name), EmbeddedJudge):
            return (
                f"{name!r} is the embedded model, which is too weak to write rubric items: people's items alone are "
                "used. Name a judge of backend litellm as rubric.proposer and rubric.merger"
            )
    return None


def discovered(asking: RubricAsking, texts: pd.DataFrame, choices: pd.DataFrame, human: tuple[Item, ...]) -> Discovery:
    """What people's items and the set's judges give as a rubric.

    Args:
        asking: whom to ask.
        texts: table PAIR_TEXTS.
        choices: pair_id, label, cluster and split of all pairs.
        human: the items R_H.

    Raises:
        RubricError: see ``rubric_discovery.discover``.
    """
    from judge_pipeline.preference.rubric_discovery import Asks, Discovery, discover

    settings, workspace = asking.settings, asking.context.resources.workspace.workspace()
    rubric = settings.rubric
    if not rubric.generate:
        return Discovery(human, notes=("rubric.generate is false: people's items alone are used",))
    if rubric.proposer is None:
        return Discovery(human, notes=("rubric.proposer names no judge: people's items alone are used",))
    weak = too_weak(workspace, settings)
    if weak is not None:
        return Discovery(human, notes=(weak,))
    scorer = rubric.scorer
    asks = Asks(
        asking.ask(rubric.proposer),
        asking.ask(rubric.merger or rubric.proposer),
        None if scorer is None else asking.ask(scorer),
        rubric.items_per_call if scorer is None else items_per_call(workspace, scorer, settings),
    )
    own = choices[choices["split"].isin(rubric.splits)]
    of_splits = texts[texts["pair_id"].isin(own["pair_id"])]
    return discover(asking.preference_set, of_splits, own, human, rubric, settings.seed, asks)


def rubric_in_files(workspace: Workspace, preference_set: str, folder: Path, found: tuple[Item, ...]) -> InForce:
    """The rubric that the graph goes on from, and the files written: never over a person's edit.

    ``<out>/rubrics/<set>.found.yaml`` holds what was found last, ``<out>/rubrics/<set>.yaml`` is for a person to edit.

    Args:
        workspace: where files lie.
        preference_set: the set.
        folder: its folder, in which a rubric.yaml may lie.
        found: what people's items and discovery give now.

    Raises:
        SettingsError: a file that a person wrote or edited is wrong; the message names line and remedy.
    """
    from judge_pipeline.preference.rubric_file import file_text, rubric_in_force
    from judge_pipeline.settings.rubrics import RubricFile
    from judge_pipeline.settings.yaml_file import load

    own, brought = editable_file(workspace, preference_set), folder / RUBRIC_FILE
    written = load(RubricFile, own) if is_there(own) else None
    force = rubric_in_force(found, written, load(RubricFile, brought) if is_there(brought) else None)
    if found:
        write_whole(
            own.with_name(f"{preference_set}.found.yaml"), file_text(preference_set, found, for_editing=False).encode()
        )
        if force.source == "found":
            write_whole(own, file_text(preference_set, found, for_editing=True).encode())
    return force


def editable_file(workspace: Workspace, preference_set: str) -> Path:
    """The file of the set's rubric that a person may edit."""
    return workspace.store_dir / "rubrics" / f"{preference_set}.yaml"


def scored(asking: RubricAsking, judge: str, role: str, texts: pd.DataFrame, rubric: pd.DataFrame) -> pd.DataFrame:
    """Table RUBRIC_SCORES of the pairs by one judge.

    Raises:
        dagster.Failure: no answer at all is valid.
        SettingsError: the judge cannot be asked.
    """
    from judge_pipeline.preference.rubric_questions import SCORES
    from judge_pipeline.preference.rubric_scores import rubric_scores

    workspace = asking.context.resources.workspace.workspace()
    asked = score_requests_of(asking, texts, rubric, items_per_call(workspace, judge, asking.settings))
    answers = asking.ask(judge)(SCORES, asked.rows)
    if len(asked.rows) and not answers.values:
        first = next(iter(answers.failures.values()), "no answer")
        raise asking.asking.failure(f"{role} {judge} gave no valid answer. The first says: {first}")
    return rubric_scores(asked, answers, scorer=judge, two_orders=asking.settings.rubric.two_orders)


def recorded_scores(asking: RubricAsking, file: str, texts: pd.DataFrame, rubric: pd.DataFrame) -> RecordedScores:
    """The scores in a file of the set's folder.

    Raises:
        JudgingError: the file is missing, cannot be read or lacks a column.
    """
    from judge_pipeline.judging.failures import JudgingError
    from judge_pipeline.preference.recorded_rubric_scores import recorded_rubric_scores

    path = asking.context.resources.workspace.preference_folder(asking.preference_set) / file
    try:
        content = path.read_bytes()
    except OSError as error:
        raise JudgingError(
            f"{path} cannot be read ({error.strerror}); put the recorded scores there, or correct "
            "rubric.recorded_scores in preference.yaml"
        ) from None
    rule = asking.settings.rubric.two_orders
    return recorded_rubric_scores(file, content, texts["pair_id"].tolist(), rubric["item"].tolist(), rule)


def score_requests_of(asking: RubricAsking, texts: pd.DataFrame, rubric: pd.DataFrame, n_items: int) -> ScoreRequests:
    """What is asked to score the pairs on the rubric, so many items a call."""
    from judge_pipeline.preference.rubric_items import items_of
    from judge_pipeline.preference.rubric_pairs import shown_pairs
    from judge_pipeline.preference.rubric_scores import score_requests

    pairs = shown_pairs(texts, asking.settings.rubric.pair_chars)
    return score_requests(asking.preference_set, pairs, items_of(rubric), n_items)


@dataclass
class StoredRubrics:
    """The rubric of every set that has one.

    Attributes:
        rubrics: set -> table RUBRIC.
        misalignments: set -> table MISALIGNMENT, where there is one.
        unread: set -> why a table of it could not be read; it is left out.
    """

    rubrics: dict[str, pd.DataFrame] = field(default_factory=dict)
    misalignments: dict[str, pd.DataFrame] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)


def stored_rubrics(workspace: Workspace, store: ParquetStore) -> StoredRubrics:
    """What is there; a set without a rubric is no part of it."""
    found = StoredRubrics()
    into: Mapping[Any, dict[str, pd.DataFrame]] = {RUBRIC: found.rubrics, MISALIGNMENT: found.misalignments}
    for name in preference_folders(workspace):
        for table, tables in into.items():
            try:
                tables[name] = store.read(table, name)
            except FileNotFoundError:
                continue
            except TableError as error:
                found.unread[name] = str(error)
    return found
