"""Group dynamics: how long people take to succeed, by group (paper 1, IV-C4, V-B2, VI-B2, VI-B3)."""

from __future__ import annotations

from typing import Any

import dagster as dg

from judge_pipeline.orchestration.partitions import contest_of
from judge_pipeline.orchestration.table_asset import Made, table_asset
from judge_pipeline.tables import ATTEMPTS, PROMPT_LOGS, TRAJECTORIES
from judge_pipeline.tables.hazards import HAZARDS
from judge_pipeline.tables.time_to_success import (
    SUCCESS_CURVES,
    SURVIVAL_CURVES,
    SURVIVAL_GROUPS,
    SURVIVAL_TESTS,
    TRAJECTORY_TIMES,
)

GROUP = "time_to_success"
_TIMES = (
    "cocreation/trajectory_times.py", "cocreation/trajectories.py", "cocreation/turn_orders.py",
    "cocreation/prompt_windows.py", "cocreation/prompt_problems.py", "cocreation/null_reasons.py",
    "ingest/chat_formats/chat.py", "ingest/turns.py", "similarity/languages.py", "statistics",
)  # fmt: skip
_GROUPED = (
    "cocreation/trajectory_groups.py", "cocreation/time_to_success.py", "cocreation/success_by_group.py",
    "ingest/turns.py", "statistics",
)  # fmt: skip


@table_asset(TRAJECTORY_TIMES, group=GROUP, inputs=(ATTEMPTS, PROMPT_LOGS, TRAJECTORIES), rooms=_TIMES)
def trajectory_times(context: dg.AssetExecutionContext, attempts: Any, prompt_logs: Any, trajectories: Any) -> Made:
    """In turns, in both orders where the check of turn order warns; in minutes where instants are known."""
    from judge_pipeline.cocreation.trajectory_times import trajectory_times as build

    settings = context.resources.workspace.contest(contest_of(context))
    rows = build(
        attempts,
        prompt_logs,
        trajectories,
        participant_groups=settings.dynamics.participant_groups,
        problem_names=settings.problem_names,
        mentions=settings.revision.mentions,
    )
    return Made(rows)


@table_asset(SUCCESS_CURVES, group=GROUP, inputs=(TRAJECTORY_TIMES,), rooms=_GROUPED, figures=True)
def success_curves(context: dg.AssetExecutionContext, trajectory_times: Any) -> Made:
    """Wilson's interval takes trajectories as independent; the cluster interval only participants."""
    from judge_pipeline.cocreation.success_by_group import success_curves as build

    settings = context.resources.workspace.contest(contest_of(context))
    levels = settings.dynamics.max_levels
    return Made(build(trajectory_times, seed=settings.seed, n_resamples=settings.resamples, max_levels=levels))


@table_asset(SURVIVAL_CURVES, group=GROUP, inputs=(TRAJECTORY_TIMES,), rooms=_GROUPED, figures=True)
def survival_curves(context: dg.AssetExecutionContext, trajectory_times: Any) -> Made:
    """At most 200 rows a curve; numbers at risk, events and censored add up between rows."""
    from judge_pipeline.cocreation.time_to_success import survival_curves as build

    settings = context.resources.workspace.contest(contest_of(context))
    return Made(build(trajectory_times, max_levels=settings.dynamics.max_levels))


@table_asset(SURVIVAL_GROUPS, group=GROUP, inputs=(TRAJECTORY_TIMES,), rooms=_GROUPED, figures=True)
def survival_groups(context: dg.AssetExecutionContext, trajectory_times: Any) -> Made:
    """Restricted means end at the horizon of the contest's settings (dynamics)."""
    from judge_pipeline.cocreation.success_by_group import survival_groups as build

    settings = context.resources.workspace.contest(contest_of(context))
    rows = build(
        trajectory_times,
        seed=settings.seed,
        n_resamples=settings.resamples,
        horizon_turns=settings.dynamics.horizon_turns,
        horizon_minutes=settings.dynamics.horizon_minutes,
        max_levels=settings.dynamics.max_levels,
    )
    return Made(rows)


@table_asset(SURVIVAL_TESTS, group=GROUP, inputs=(TRAJECTORY_TIMES,), rooms=_GROUPED)
def survival_tests(context: dg.AssetExecutionContext, trajectory_times: Any) -> Made:
    """p-values of trajectories taken as independent, and of participants taken so; each corrected (Holm)."""
    from judge_pipeline.cocreation.time_to_success import survival_tests as build

    settings = context.resources.workspace.contest(contest_of(context))
    return Made(build(trajectory_times, max_levels=settings.dynamics.max_levels))


@table_asset(
    HAZARDS,
    group=GROUP,
    inputs=(ATTEMPTS, TRAJECTORIES),
    rooms=("cocreation/hazards.py", "cocreation/turn_orders.py", "cocreation/trajectories.py", "statistics"),
    figures=True,
)
def hazards(context: dg.AssetExecutionContext, attempts: Any, trajectories: Any) -> Made:
    """Turns and problems in one model; intervals take participants as independent."""
    from judge_pipeline.cocreation.hazards import hazards as build

    return Made(build(attempts, trajectories))


ASSETS = [trajectory_times, success_curves, survival_curves, survival_groups, survival_tests, hazards]
