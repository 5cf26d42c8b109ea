"""Group dynamics: judges' confidence turn by turn, recovery and stagnation (paper 1, IV-C3, V-B2, VI-B1)."""

from __future__ import annotations

from typing import Any

import dagster as dg

from judge_pipeline.orchestration.partitions import contest_of
from judge_pipeline.orchestration.table_asset import Made, table_asset
from judge_pipeline.tables import ATTEMPTS, JUDGE_COVERAGE, PREDICTIONS, STRUGGLE_CURVES, TRAJECTORIES
from judge_pipeline.tables.struggle import PATTERN_GROUPS, STRUGGLE_GROUPS, STRUGGLE_TURNS, TRAJECTORY_PATTERNS

GROUP = "struggle"
_ROOMS = (
    "cocreation/struggle.py", "cocreation/trajectory_groups.py", "cocreation/turn_orders.py",
    "cocreation/trajectories.py", "cocreation/null_reasons.py", "cocreation/coverage.py", "statistics",
)  # fmt: skip


@table_asset(STRUGGLE_TURNS, group=GROUP, inputs=(ATTEMPTS, PREDICTIONS, TRAJECTORIES, JUDGE_COVERAGE), rooms=_ROOMS)
def struggle_turns(
    context: dg.AssetExecutionContext, attempts: Any, predictions: Any, trajectories: Any, judge_coverage: Any
) -> Made:
    """Every judge that has answered, and the panel's mean; marked where a judge is unverified."""
    from judge_pipeline.cocreation.struggle import struggle_turns as build

    panel = context.resources.workspace.panel(predictions["judge"].unique())
    rows = build(attempts, predictions, trajectories, panel)
    return Made(_with_unverified(context, rows, judge_coverage), {"panel": ", ".join(panel) or "none"})


@table_asset(
    STRUGGLE_GROUPS, group=GROUP, inputs=(STRUGGLE_TURNS, TRAJECTORIES, JUDGE_COVERAGE), rooms=_ROOMS, figures=True
)
def struggle_groups(
    context: dg.AssetExecutionContext, struggle_turns: Any, trajectories: Any, judge_coverage: Any
) -> Made:
    """Up to turn 30, with intervals by cluster bootstrap; later turns rest on trajectories that are still going."""
    from judge_pipeline.cocreation.struggle import struggle_groups as build

    settings = context.resources.workspace.contest(contest_of(context))
    rows = build(
        struggle_turns,
        trajectories,
        seed=settings.seed,
        n_resamples=settings.resamples,
        max_levels=settings.dynamics.max_levels,
    )
    return Made(_with_unverified(context, rows, judge_coverage))


@table_asset(
    TRAJECTORY_PATTERNS,
    group=GROUP,
    inputs=(ATTEMPTS, TRAJECTORIES, STRUGGLE_CURVES),
    rooms=(
        "cocreation/trajectory_patterns.py", "cocreation/turn_orders.py", "cocreation/trajectories.py",
        "cocreation/null_reasons.py",
    ),
)  # fmt: skip
def trajectory_patterns(
    context: dg.AssetExecutionContext, attempts: Any, trajectories: Any, struggle_curves: Any
) -> Made:
    """By the rules of the contest's settings (dynamics), in both orders where the check of turn order warns."""
    from judge_pipeline.cocreation.trajectory_patterns import PatternRules
    from judge_pipeline.cocreation.trajectory_patterns import trajectory_patterns as build

    settings = context.resources.workspace.contest(contest_of(context)).dynamics
    rules = PatternRules(settings.recovery_change, settings.stagnation_change, settings.stagnation_turns)
    return Made(build(attempts, trajectories, struggle_curves, rules))


@table_asset(
    PATTERN_GROUPS,
    group=GROUP,
    inputs=(TRAJECTORY_PATTERNS,),
    rooms=("cocreation/pattern_groups.py", "cocreation/trajectory_groups.py", "ingest/turns.py", "statistics"),
    figures=True,
)
def pattern_groups(context: dg.AssetExecutionContext, trajectory_patterns: Any) -> Made:
    """By outcome, problem and participant, with intervals by cluster bootstrap."""
    from judge_pipeline.cocreation.pattern_groups import pattern_groups as build

    settings = context.resources.workspace.contest(contest_of(context))
    levels = settings.dynamics.max_levels
    return Made(build(trajectory_patterns, seed=settings.seed, n_resamples=settings.resamples, max_levels=levels))


def _with_unverified(context: dg.AssetExecutionContext, rows: Any, judge_coverage: Any) -> Any:
    """The rows, marked where their judge, or one of the panel, is unverified."""
    from judge_pipeline.cocreation.coverage import flag_unverified, usable

    panel = context.resources.workspace.panel(usable(judge_coverage))
    return flag_unverified(rows, judge_coverage, [panel if judge is None else [judge] for judge in rows["judge"]])


ASSETS = [struggle_turns, struggle_groups, trajectory_patterns, pattern_groups]
