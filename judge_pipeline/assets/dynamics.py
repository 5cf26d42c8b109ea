"""Group dynamics: how people reach a solution (paper 1, IV-C3, IV-C4, V-B2)."""

from __future__ import annotations

from typing import Any

import dagster as dg

from judge_pipeline.orchestration.partitions import contest_of
from judge_pipeline.orchestration.table_asset import Check, Made, table_asset
from judge_pipeline.tables import (
    ATTEMPTS,
    JUDGE_COVERAGE,
    JUDGE_REQUESTS,
    PREDICTIONS,
    PROMPT_CODE_NED,
    PROMPT_CODE_SUMMARY,
    SPLIT_ASSIGNMENTS,
    STRUGGLE_CURVES,
    SUCCESS_AT_TURN,
    SURVIVAL,
    TRAJECTORIES,
)

GROUP = "dynamics"
_ROOMS = ("cocreation/trajectories.py", "statistics")


@table_asset(
    TRAJECTORIES,
    group=GROUP,
    inputs=(ATTEMPTS, SPLIT_ASSIGNMENTS),
    rooms=_ROOMS,
    checks=(Check("order_plausible", "Rejections precede the first AC more often than they follow it", warns=True),),
)
def trajectories(context: dg.AssetExecutionContext, attempts: Any, splits: Any) -> Made:
    """Attempts without a label are counted and never an event; unsolved trajectories are censored."""
    from judge_pipeline.cocreation.trajectories import check_turn_order
    from judge_pipeline.cocreation.trajectories import trajectories as build

    rows = build(attempts, splits)
    warning = check_turn_order(rows).warning
    return Made(rows, problems={"order_plausible": [warning] if warning else []})


@table_asset(STRUGGLE_CURVES, group=GROUP, inputs=(ATTEMPTS, PREDICTIONS, JUDGE_COVERAGE), rooms=_ROOMS)
def struggle_curves(context: dg.AssetExecutionContext, attempts: Any, predictions: Any, judge_coverage: Any) -> Made:
    """The mean is over the panel's judges that have answered for this contest; it is marked where one is unverified."""
    from judge_pipeline.cocreation.coverage import flag_unverified
    from judge_pipeline.cocreation.trajectories import struggle_curves as build

    panel = context.resources.workspace.panel(predictions["judge"].unique())
    rows = build(attempts, predictions, panel)
    return Made(flag_unverified(rows, judge_coverage, [panel] * len(rows)), {"panel": ", ".join(panel) or "none"})


@table_asset(SUCCESS_AT_TURN, group=GROUP, inputs=(TRAJECTORIES,), rooms=_ROOMS)
def success_at_turn(context: dg.AssetExecutionContext, trajectories: Any) -> Made:
    """The denominator is every trajectory, solved or not."""
    from judge_pipeline.cocreation.trajectories import success_at_turn as build

    return Made(build(trajectories))


@table_asset(SURVIVAL, group=GROUP, inputs=(TRAJECTORIES,), rooms=_ROOMS)
def survival(context: dg.AssetExecutionContext, trajectories: Any) -> Made:
    """Time is the 1-based turn; the event is the first accepted attempt."""
    from judge_pipeline.cocreation.trajectories import survival as build

    return Made(build(trajectories))


@table_asset(
    PROMPT_CODE_NED,
    group=GROUP,
    inputs=(JUDGE_REQUESTS, ATTEMPTS),
    rooms=("cocreation/prompt_code.py", "similarity/edit_distance.py"),
    kinds=("rapidfuzz", "parquet"),
)
def prompt_code_ned(context: dg.AssetExecutionContext, judge_requests: Any, attempts: Any) -> Made:
    """Of test only, since each distance takes the product of both lengths."""
    from judge_pipeline.cocreation.prompt_code import prompt_code_ned as build

    return Made(build(judge_requests, attempts))


@table_asset(
    PROMPT_CODE_SUMMARY, group=GROUP, inputs=(PROMPT_CODE_NED,), rooms=("cocreation/prompt_code.py", "statistics")
)
def prompt_code_summary(context: dg.AssetExecutionContext, prompt_code_ned: Any) -> Made:
    """Intervals by cluster bootstrap over trajectories."""
    from judge_pipeline.cocreation.prompt_code import prompt_code_summary as build

    settings = context.resources.workspace.contest(contest_of(context))
    return Made(build(prompt_code_ned, seed=settings.seed, n_resamples=settings.resamples))


ASSETS = [trajectories, struggle_curves, success_at_turn, survival, prompt_code_ned, prompt_code_summary]
