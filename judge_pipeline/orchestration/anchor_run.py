"""The anchor set of one contest, asked of one judge in one period, through the same engine as judging.

Answers are kept in the checkpoint under another judge's name, which holds the period (``JUDGE~anchor~PERIOD``): what
was answered in another period, or by a run, is never served again; within a period nothing is asked twice, so that a
run that was cut off goes on. Ceilings count this money, and forgetting removes it with its attempt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg

from judge_pipeline.orchestration.canary_run import asked_directly, judging_context_of
from judge_pipeline.orchestration.contest_folders import contest_folder
from judge_pipeline.orchestration.launch_forms import AnchorForm, form_of
from judge_pipeline.orchestration.one_at_a_time import one_asking
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.orchestration.table_asset import Made
from judge_pipeline.settings import BaselineJudge, ContestSettings, RecordedJudge, Scope, Workspace
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.tables import ANCHOR_RUNS, JUDGE_REQUESTS

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.judging.engine import JudgingResult
    from judge_pipeline.judging.plan import Plan

PERIOD_TAG = "judge_pipeline/anchor_period"
"""Tag of a run that names its period; without it the period is the day (UTC) on which the run began."""

SUFFIX = "~anchor~"
NO_PERIOD = "is no name of a period; use letters, digits, '-', '_', '.', such as 2026-11"
CANNOT_DRIFT = "recorded and baseline answers are read or computed, and cannot drift"
_PERIOD = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.-]{0,39}")


def plan_anchor(workspace: Workspace, contest: str, judge: str, period: str) -> Plan:
    """What the judge would be asked in the period: the anchor set, less what the period has answered.

    Raises:
        JudgingError: the judge cannot be asked, the contest has no anchor set or it names attempts that are not there,
            the judge's prompt template is wrong, or the checkpoint cannot be used.
        FileNotFoundError: the contest was never read.
        SettingsError: the contest's settings, or its file of attempt ids, are wrong.
    """
    from judge_pipeline.cocreation.canaries import only
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.failures import JudgingError
    from judge_pipeline.judging.plan import plan

    settings = asked_directly(workspace.judges().get(judge))
    if isinstance(settings, RecordedJudge | BaselineJudge):
        raise JudgingError(CANNOT_DRIFT)
    requests = store_of(workspace).read(JUDGE_REQUESTS, contest)
    folder = contest_folder(workspace, contest)
    before = _stored(workspace, contest, judge)
    ids = anchor_set(workspace.contest(folder), folder, requests, settings.scope, before)
    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        prompts = workspace.config_dir / "prompts"
        found = plan(f"{judge}{SUFFIX}{period}", settings, only(requests, ids), checkpoint, prompts)
    return replace(found, judge=judge)


def anchor_set(
    settings: ContestSettings, folder: Path, requests: pd.DataFrame, scope: Scope, before: pd.DataFrame
) -> list[str]:
    """The attempts that a judge is asked about.

    Those that the settings name, as far as they lie in the judge's scope; else those that earlier periods asked about;
    else, in the first, a sample of val and test, stratified by split, problem and language.

    Args:
        settings: of the contest.
        folder: its folder.
        requests: table JUDGE_REQUESTS.
        scope: the judge's.
        before: table ANCHOR_RUNS of the judge.

    Raises:
        JudgingError: there is no anchor set, or it names attempts that nobody is asked about, or none in scope.
        SettingsError: a file of ids is not there or wrong.
    """
    from judge_pipeline.cocreation.canaries import sample
    from judge_pipeline.judging.failures import JudgingError

    if settings.anchor is None:
        raise JudgingError("the contest has no anchor set; write 'anchor: {attempts: 50}' in its contest.yaml")
    split_of = dict(zip(requests["attempt_id"], requests["split"], strict=True))
    named = settings.anchor.named(folder)
    if named is None:
        asked = sorted(set(before["attempt_id"]) & split_of.keys())
        return asked or sample(requests, scope, settings.anchor.attempts, settings.seed)
    unknown = [attempt_id for attempt_id in named if attempt_id not in split_of]
    if unknown:
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        raise JudgingError(
            f"anchor.attempt_ids names {', '.join(map(repr, unknown[:3]))}{more}: judges are asked about no such "
            "attempt of this contest; take ids from the table judge_requests"
        )
    inside = [attempt_id for attempt_id in named if split_of[attempt_id] in scope.splits]
    if not inside:
        raise JudgingError(f"anchor.attempt_ids names no attempt in the judge's scope ({scope.in_words()})")
    return inside


def ask_anchor(
    context: dg.AssetExecutionContext, contest: str, judge: str, requests: pd.DataFrame, training: pd.DataFrame
) -> Made:
    """Table ANCHOR_RUNS of the judge: what is stored, and the answers of this run's period.

    Raises:
        dagster.Failure: there is no ``anchor_set``, the period's name is wrong, or nothing can be asked.
    """
    from judge_pipeline.cocreation.canaries import only
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.engine import judge_requests
    from judge_pipeline.judging.failures import JudgingError

    resource = context.resources.workspace
    workspace, of_contest = resource.workspace(), resource.contest(contest)
    settings = asked_directly(workspace.judges().get(judge))
    if isinstance(settings, RecordedJudge | BaselineJudge):
        return Made(ANCHOR_RUNS.empty(), {"notes": f"{judge} is not asked: {CANNOT_DRIFT}"})
    period, before = _period(context), _stored(workspace, contest, judge)

    def say_so() -> None:
        context.log.info(f"another run is asking {judge} for {contest}; waiting")
        context.resources.progress.waiting(judge)

    try:
        ids = anchor_set(of_contest, resource.folder(contest), requests, settings.scope, before)
        asking = one_asking(workspace, contest, judge, say_so)
        with asking, closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
            result = judge_requests(
                f"{judge}{SUFFIX}{period}",
                settings,
                only(requests, ids),
                checkpoint=checkpoint,
                context=judging_context_of(context, contest, training),
            )
    except (JudgingError, SettingsError) as error:
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
    named = form_of(context, AnchorForm).period or tags.get(PERIOD_TAG)
    if named is None:
        began = context.instance.get_run_stats(context.run_id).start_time
        return datetime.fromtimestamp(began or 0, UTC).date().isoformat() if began else today()
    if not is_period(named):
        raise dg.Failure(f"period (tag {PERIOD_TAG}): {named!r} {NO_PERIOD}", allow_retries=False)
    return named


def is_period(name: str) -> bool:
    """Whether a period can be called so."""
    return _PERIOD.fullmatch(name) is not None


def today() -> str:
    """The period's name where none is given: the day (UTC)."""
    return datetime.now(UTC).date().isoformat()


def _made(
    before: pd.DataFrame, result: JudgingResult, judge: str, period: str, attempts: pd.DataFrame, seed: int, n: int
) -> Made:
    from judge_pipeline.cocreation.anchor_figures import anchor_figures
    from judge_pipeline.report.anchor_words import drifted

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
