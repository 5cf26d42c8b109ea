"""One attempt before one judge, from what is stored: what was asked, what came back, and the row that figures used."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_pipeline.orchestration.contest_folders import contest_folders
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import EmbeddedJudge, LitellmJudge, Workspace
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import JUDGE_COVERAGE, JUDGE_OUTPUTS, JUDGE_REQUESTS, PREDICTIONS

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.judging.checkpoint import Checkpoint
    from judge_pipeline.judging.explain import Explanation


@dataclass(frozen=True)
class ExplainedAttempt:
    """What is known of one attempt before one judge.

    Attributes:
        contest: the attempt's contest.
        explanation: what the checkpoint knows; None for a judge that is not asked call by call.
        judgment: the row of ``judge_outputs``; None where the judge's last table has none.
        prediction: the row of ``predictions``, from which the figures were computed; None where it has none.
        use: whether the figures used the row, and why or why not, in words.
    """

    contest: str
    explanation: Explanation | None
    judgment: dict[str, Any] | None
    prediction: dict[str, Any] | None
    use: str


def contests_with(workspace: Workspace, attempt_id: str) -> list[str]:
    """The contests whose stored requests hold the attempt."""
    store = store_of(workspace)
    there = [c for c in contest_folders(workspace) if store.path(JUDGE_REQUESTS, c).is_file()]
    return [c for c in there if (store.read(JUDGE_REQUESTS, c)["attempt_id"] == attempt_id).any()]


def explain_attempt(workspace: Workspace, contest: str, judge: str, attempt_id: str) -> ExplainedAttempt:
    """What is stored of the attempt before the judge.

    Raises:
        SettingsError: the judge is not in judges.yaml, or the contest's requests do not hold the attempt.
        JudgingError: the prompt template or the checkpoint cannot be read.
    """
    from judge_pipeline.judging.checkpoint import Checkpoint

    settings = workspace.judges().get(judge)
    requests = store_of(workspace).read(JUDGE_REQUESTS, contest)
    row = requests[requests["attempt_id"] == attempt_id]
    if row.empty:
        raise SettingsError(
            f"contest {contest} has no request for attempt {attempt_id!r}: the column attempt_id of the table "
            "judge_requests lists those that there are"
        )
    explanation = None
    if isinstance(settings, LitellmJudge | EmbeddedJudge):
        with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
            explanation = _explained(workspace, settings, judge, row, checkpoint)
    judgment = _row(workspace, JUDGE_OUTPUTS, attempt_id, judge, contest, judge)
    prediction = _row(workspace, PREDICTIONS, attempt_id, judge, contest)
    return ExplainedAttempt(
        contest, explanation, judgment, prediction, _use(workspace, contest, judge, judgment, prediction)
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
        return explain(judge, attempt_id, None, (), checkpoint)
    prepared = prepare(judge, settings, scope, workspace.config_dir / "prompts")
    call, now = prepared.task(prepared.hash_of[attempt_id]).build()
    return explain(judge, attempt_id, now, call.messages, checkpoint, prepared.further_of[attempt_id])


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
