"""The anchor set of one contest, asked of one judge in one period, through the same engine as judging.

Answers are kept in the checkpoint under another judge's name, which holds the period (``JUDGE~anchor~PERIOD``): what
was answered in another period, or by a run, is never served again; within a period nothing is asked twice, so that a
run that was cut off goes on. Ceilings count this money, and forgetting removes it with its attempt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import dagster as dg

from judge_pipeline.orchestration.canary_run import asked_directly, judging_context_of
from judge_pipeline.orchestration.one_at_a_time import one_asking
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.orchestration.table_asset import Made
from judge_pipeline.settings import BaselineJudge, RecordedJudge, Workspace
from judge_pipeline.settings.contest import AnchorSettings
from judge_pipeline.tables import ANCHOR_RUNS

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.judging.engine import JudgingResult

PERIOD_TAG = "judge_pipeline/anchor_period"
"""Tag of a run that names its period; without it the period is the day (UTC) on which the run began."""

SUFFIX = "~anchor~"
_PERIOD = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.-]{0,39}")


def ask_anchor(
    context: dg.AssetExecutionContext, contest: str, judge: str, requests: pd.DataFrame, training: pd.DataFrame
) -> Made:
    """Table ANCHOR_RUNS of the judge: what is stored, and the answers of this run's period.

    The first period draws the attempts (stratified by split, problem and language); later ones ask about the same.

    Raises:
        dagster.Failure: the contest has no setting ``anchor``, the period's name is wrong, or nothing can be asked.
    """
    from judge_pipeline.cocreation.canaries import only, sample
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.engine import judge_requests
    from judge_pipeline.judging.failures import JudgingError

    resource = context.resources.workspace
    workspace, of_contest = resource.workspace(), resource.contest(contest)
    settings = asked_directly(workspace.judges().get(judge))
    if isinstance(settings, RecordedJudge | BaselineJudge):
        why = f"{judge} is not asked: {settings.backend} answers are computed or read, and cannot drift"
        return Made(ANCHOR_RUNS.empty(), {"notes": why})
    chosen: AnchorSettings | None = of_contest.anchor
    if chosen is None:
        raise dg.Failure(
            f"contest {contest} has no anchor set; write 'anchor: {{attempts: 50}}' in its contest.yaml",
            allow_retries=False,
        )
    period, before = _period(context), _stored(workspace, contest, judge)
    there = set(requests["attempt_id"])
    ids = sorted(set(before["attempt_id"]) & there) or sample(
        requests, settings.scope, chosen.attempts, of_contest.seed
    )

    def say_so() -> None:
        context.log.info(f"another run is asking {judge} for {contest}; waiting")
        context.resources.progress.waiting(judge)

    try:
        asking = one_asking(workspace, contest, judge, say_so)
        with asking, closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
            result = judge_requests(
                f"{judge}{SUFFIX}{period}",
                settings,
                only(requests, ids),
                checkpoint=checkpoint,
                context=judging_context_of(context, contest, training),
            )
    except JudgingError as error:
        raise dg.Failure(str(error), allow_retries=False) from None
    return _made(before, result, judge, period, training, of_contest.seed, of_contest.resamples)


def stored_anchor_runs(workspace: Workspace, contest: str) -> Iterator[pd.DataFrame]:
    """Each judge's table ANCHOR_RUNS of the contest."""
    for judge in store_of(workspace).parts(ANCHOR_RUNS, contest):
        yield _stored(workspace, contest, judge)


def _stored(workspace: Workspace, contest: str, judge: str) -> pd.DataFrame:
    store = store_of(workspace)
    there = store.path(ANCHOR_RUNS, contest, judge).is_file()
    return store.read(ANCHOR_RUNS, contest, judge) if there else ANCHOR_RUNS.empty()


def _period(context: dg.AssetExecutionContext) -> str:
    tags: Mapping[str, str] = context.run.tags
    named = tags.get(PERIOD_TAG)
    if named is None:
        began = context.instance.get_run_stats(context.run_id).start_time
        return datetime.fromtimestamp(began or 0, UTC).date().isoformat() if began else _today()
    if not _PERIOD.fullmatch(named):
        raise dg.Failure(
            f"tag {PERIOD_TAG}: {named!r} is no name of a period; use letters, digits, '-', '_', '.', such as 2026-11",
            allow_retries=False,
        )
    return named


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _made(
    before: pd.DataFrame, result: JudgingResult, judge: str, period: str, attempts: pd.DataFrame, seed: int, n: int
) -> Made:
    from judge_pipeline.cocreation.anchor_figures import anchor_figures, drifted

    rows: list[dict[str, Any]] = before[before["period"] != period].to_dict("records")
    named = {"period": period, "judge": judge}
    copied = ("attempt_id", "p_ac", "s_algo", "s_robust", "model", "request_hash", "cost_usd", "latency_ms")
    rows += [
        {**named, **{name: row[name] for name in copied}, "failure": None} for row in result.outputs.to_dict("records")
    ]
    unanswered = dict.fromkeys(copied)
    rows += [
        {**unanswered, **named, "attempt_id": row["attempt_id"], "failure": f"{row['class']}: {row['text']}"}
        for row in result.failures.to_dict("records")
    ]
    ordered = sorted(rows, key=lambda row: (row["period"], row["attempt_id"]))
    failed = len(result.failures)
    return Made(
        ordered,
        {
            "period": period,
            "periods": len({row["period"] for row in rows}),
            "asked_now": result.n_asked,
            "from_checkpoint": result.n_from_checkpoint,
            **({"cost_usd": result.cost_usd} if result.cost_usd is not None else {}),
        },
        {
            "all_answered": [f"{failed} attempts have no answer in {period}"] if failed else [],
            "no_drift": drifted(anchor_figures(ANCHOR_RUNS.conform(ordered), attempts, seed=seed, n_resamples=n)),
        },
    )
