"""One attempt before one judge, from what is stored: what was asked, what came back, and the row that figures used."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_pipeline.orchestration.contest_folders import contest_folder, contest_folders
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import EmbeddedJudge, LitellmJudge, RecordedJudge, Scope, Workspace
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import ATTEMPTS, JUDGE_COVERAGE, JUDGE_OUTPUTS, JUDGE_REQUESTS, PREDICTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.explain import Explanation


@dataclass(frozen=True)
class ExplainedAttempt:
    """What is known of one attempt before one judge.

    Attributes:
        contest: the attempt's contest.
        explanation: what the checkpoint knows; None for a judge that is not asked call by call.
        source: for such a judge, where its judgment of the attempt comes from, or why it has none; else empty.
        judgment: the row of ``judge_outputs``; None where the judge's last table has none.
        prediction: the row of ``predictions``, from which the figures were computed; None where it has none.
        use: whether the figures used the row, and why or why not, in words.
    """

    contest: str
    explanation: Explanation | None
    source: str
    judgment: dict[str, Any] | None
    prediction: dict[str, Any] | None
    use: str


def contests_with(workspace: Workspace, attempt_id: str) -> list[str]:
    """The contests whose stored requests hold the attempt."""
    return [c for c in _read_contests(workspace) if _holds(workspace, JUDGE_REQUESTS, c, attempt_id)]


def why_in_no_contest(workspace: Workspace, attempt_id: str) -> str:
    """What is known of an attempt that no contest has a request for, as the end of a sentence that begins with it."""
    contests = _read_contests(workspace)
    if not contests:
        return "is unknown: no contest was read yet; read one with judge-pipeline ingest or run"
    for contest in contests:
        if _holds(workspace, ATTEMPTS, contest, attempt_id):
            return f"is an attempt of {contest} of which only a list row is known: without its source nobody is asked"
    return (
        f"is in no contest that was read ({', '.join(contests)}): the column attempt_id of their tables judge_requests "
        "lists what there is; whoever has withdrawn is in none"
    )


def _read_contests(workspace: Workspace) -> list[str]:
    store = store_of(workspace)
    return [c for c in contest_folders(workspace) if store.path(JUDGE_REQUESTS, c).is_file()]


def _holds(workspace: Workspace, table: Table, contest: str, attempt_id: str) -> bool:
    store = store_of(workspace)
    return (
        store.path(table, contest).is_file() and (store.read(table, contest)["attempt_id"] == attempt_id).any().item()
    )


def explain_attempt(workspace: Workspace, contest: str, judge: str, attempt_id: str) -> ExplainedAttempt:
    """What is stored of the attempt before the judge.

    Raises:
        SettingsError: the judge is not in judges.yaml, or the contest's requests do not hold the attempt.
        JudgingError: the prompt template or the checkpoint cannot be read.
    """
    from judge_pipeline.judging.checkpoint.store import Checkpoint

    settings = workspace.judges().get(judge)
    requests = store_of(workspace).read(JUDGE_REQUESTS, contest)
    row = requests[requests["attempt_id"] == attempt_id]
    if row.empty:
        raise SettingsError(
            f"contest {contest} has no request for attempt {attempt_id!r}: the column attempt_id of the table "
            "judge_requests lists those that there are"
        )
    judgment = _row(workspace, JUDGE_OUTPUTS, attempt_id, judge, contest, judge)
    explanation, source = None, ""
    if isinstance(settings, LitellmJudge | EmbeddedJudge):
        with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
            explanation = _explained(workspace, settings, judge, row, checkpoint)
    elif row["split"].iloc[0] not in settings.scope.splits:
        source = f"none is wanted: the attempt is not in the judge's scope{_outside(settings.scope, row)}"
    elif isinstance(settings, RecordedJudge):
        source = _recorded(settings, contest_folder(workspace, contest), attempt_id, judgment)
    else:
        source = f"predicted by a model of the train split's text; the attempt is of split {row['split'].iloc[0]}"
    prediction = _row(workspace, PREDICTIONS, attempt_id, judge, contest)
    return ExplainedAttempt(
        contest, explanation, source, judgment, prediction, _use(workspace, contest, judge, judgment, prediction)
    )


def _explained(
    workspace: Workspace,
    settings: LitellmJudge | EmbeddedJudge,
    judge: str,
    row: pd.DataFrame,
    checkpoint: Checkpoint,
) -> Explanation:
    from judge_pipeline.judging.explain import explain
    from judge_pipeline.judging.prepared import prepare
    from judge_pipeline.judging.verification import in_scope

    attempt_id = str(row["attempt_id"].iloc[0])
    scope = in_scope(row, settings.scope)
    if scope.empty:
        return explain(judge, attempt_id, None, (), checkpoint, scope=_outside(settings.scope, row))
    prepared = prepare(judge, settings, scope, workspace.config_dir / "prompts")
    call, now = prepared.task(prepared.hash_of[attempt_id]).build()
    return explain(judge, attempt_id, now, call.messages, checkpoint, prepared.further_of[attempt_id])


def _outside(scope: Scope, row: pd.DataFrame) -> str:
    return f" ({scope.in_words()}): it is of split {row['split'].iloc[0]}"


def _recorded(settings: RecordedJudge, folder: Path, attempt_id: str, judgment: Mapping[str, Any] | None) -> str:
    """What the file of recorded outputs holds of the attempt."""
    from judge_pipeline.judging.backends.recorded_backend import read_recorded

    recorded = read_recorded(settings, folder)
    if attempt_id in recorded.failures:
        return f"the row for it is no judgment: {recorded.failures[attempt_id].text}"
    if attempt_id not in recorded.answers:
        return f"{settings.file} has no row for it; add one, or narrow the judge's scope"
    answer = recorded.answers[attempt_id]
    has_changed = judgment is not None and judgment["request_hash"] != answer["request_hash"]
    changed = "; the judge's table was made from another version of the file, so run the judge again"
    return f"{settings.file} has a row for it, with p_ac {answer['p_ac']:g}{changed if has_changed else ''}"


def _row(workspace: Workspace, table: Table, attempt_id: str, judge: str, *partition: str) -> dict[str, Any] | None:
    """The judge's row for the attempt in a stored table, missing values as None."""
    store = store_of(workspace)
    if not store.path(table, *partition).is_file():
        return None
    rows = store.read(table, *partition)
    rows = rows[(rows["attempt_id"] == attempt_id) & (rows["judge"] == judge)]
    if rows.empty:
        return None
    values = rows.astype("object").where(rows.notna(), None).iloc[0].to_dict()
    return {str(name): value for name, value in values.items()}


def _use(
    workspace: Workspace,
    contest: str,
    judge: str,
    judgment: dict[str, Any] | None,
    prediction: dict[str, Any] | None,
) -> str:
    if prediction is not None:
        if judgment is not None and judgment["request_hash"] != prediction["request_hash"]:
            return "the figures used an older judgment than the judge's table now holds; materialize judge_coverage"
        return "the figures used this row"
    store = store_of(workspace)
    if not store.path(JUDGE_COVERAGE, contest).is_file():
        return "no figures were computed yet"
    coverage = store.read(JUDGE_COVERAGE, contest)
    of_judge = coverage[coverage["judge"] == judge]
    if of_judge.empty:
        return "no figure used it: the judge is not in the coverage table"
    reason = of_judge["reason"].iloc[0] or "the table held no row for this attempt"
    return f"no figure used it: the judge is {of_judge['status'].iloc[0]} ({reason})"
