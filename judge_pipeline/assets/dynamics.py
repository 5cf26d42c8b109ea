"""Group dynamics: how people reach a solution (paper 1, IV-C3, IV-C4, V-B2)."""

from __future__ import annotations

from typing import Any

import dagster as dg

from judge_pipeline.assets import prompt_space, struggle, time_to_success
from judge_pipeline.orchestration.partitions import contest_of
from judge_pipeline.orchestration.table_asset import Check, Made, table_asset
from judge_pipeline.tables import (
    ATTEMPTS,
    JUDGE_COVERAGE,
    JUDGE_REQUESTS,
    PREDICTIONS,
    PROMPT_CODE_NED,
    PROMPT_CODE_SUMMARY,
    PROMPT_LOGS,
    SPLIT_ASSIGNMENTS,
    STRUGGLE_CURVES,
    SUCCESS_AT_TURN,
    SURVIVAL,
    TRAJECTORIES,
)
from judge_pipeline.tables.revision import (
    CHURN_EFFECTS,
    CHURN_SUMMARY,
    CODE_SIMILARITIES,
    CONVERGENCE,
    PROMPT_WINDOWS,
    REVISION_GAINS,
    REVISIONS,
)

SUCCESS, STRUGGLE, PROMPTS, REVISION = "time_to_success", "struggle", "prompts_and_code", "revision"
"""The groups, which read as the paper's figures do: 9 and 10, 8, 6 and 11, 12 to 14."""
_ROOMS = ("cocreation/trajectories.py", "statistics")
_PROMPTS = (
    "cocreation/prompt_windows.py", "cocreation/prompt_problems.py", "cocreation/null_reasons.py",
    "ingest/chat_formats/chat.py", "ingest/turns.py",
)  # fmt: skip
_SIMILARITIES = (
    "cocreation/code_similarity.py", "cocreation/turn_orders.py", "cocreation/trajectories.py", "similarity",
)  # fmt: skip
_REVISION = (*_PROMPTS, *_SIMILARITIES, "cocreation/revision.py")


@table_asset(
    TRAJECTORIES,
    group=SUCCESS,
    inputs=(ATTEMPTS, SPLIT_ASSIGNMENTS),
    rooms=_ROOMS,
    checks=(
        Check(
            "order_plausible",
            "Rejections precede the first AC more often than they follow it",
            remedy="see whether artifacts hold times or submission ids; until they do, read what depends on turns "
            "in both orders, as the report shows it",
            warns=True,
        ),
    ),
)
def trajectories(context: dg.AssetExecutionContext, attempts: Any, splits: Any) -> Made:
    """Attempts without a label are counted and never an event; unsolved trajectories are censored."""
    from judge_pipeline.cocreation.trajectories import check_turn_order
    from judge_pipeline.cocreation.trajectories import trajectories as build

    rows = build(attempts, splits)
    warning = check_turn_order(rows).warning
    return Made(rows, problems={"order_plausible": [warning] if warning else []})


@table_asset(
    STRUGGLE_CURVES, group=STRUGGLE, inputs=(ATTEMPTS, PREDICTIONS, JUDGE_COVERAGE), rooms=_ROOMS, figures=True
)
def struggle_curves(context: dg.AssetExecutionContext, attempts: Any, predictions: Any, judge_coverage: Any) -> Made:
    """The mean is over the panel's judges that have answered for this contest; it is marked where one is unverified."""
    from judge_pipeline.cocreation.coverage import flag_unverified
    from judge_pipeline.cocreation.trajectories import struggle_curves as build

    panel = context.resources.workspace.panel(predictions["judge"].unique())
    rows = build(attempts, predictions, panel)
    return Made(flag_unverified(rows, judge_coverage, [panel] * len(rows)), {"panel": ", ".join(panel) or "none"})


@table_asset(SUCCESS_AT_TURN, group=SUCCESS, inputs=(TRAJECTORIES,), rooms=_ROOMS, figures=True)
def success_at_turn(context: dg.AssetExecutionContext, trajectories: Any) -> Made:
    """The denominator is every trajectory, solved or not."""
    from judge_pipeline.cocreation.trajectories import success_at_turn as build

    return Made(build(trajectories))


@table_asset(SURVIVAL, group=SUCCESS, inputs=(TRAJECTORIES,), rooms=_ROOMS, figures=True)
def survival(context: dg.AssetExecutionContext, trajectories: Any) -> Made:
    """Time is the 1-based turn; the event is the first accepted attempt."""
    from judge_pipeline.cocreation.trajectories import survival as build

    return Made(build(trajectories))


@table_asset(
    PROMPT_CODE_NED,
    group=PROMPTS,
    inputs=(JUDGE_REQUESTS, ATTEMPTS),
    rooms=("cocreation/prompt_code.py", "cocreation/null_reasons.py", "similarity/edit_distance.py"),
    kinds=("rapidfuzz", "parquet"),
)
def prompt_code_ned(context: dg.AssetExecutionContext, judge_requests: Any, attempts: Any) -> Made:
    """Of test only, since each distance takes the product of both lengths."""
    from judge_pipeline.cocreation.prompt_code import prompt_code_ned as build

    return Made(build(judge_requests, attempts))


@table_asset(
    PROMPT_CODE_SUMMARY,
    group=PROMPTS,
    inputs=(PROMPT_CODE_NED,),
    rooms=("cocreation/prompt_code.py", "statistics"),
    figures=True,
)
def prompt_code_summary(context: dg.AssetExecutionContext, prompt_code_ned: Any) -> Made:
    """Intervals by cluster bootstrap over trajectories."""
    from judge_pipeline.cocreation.prompt_code import prompt_code_summary as build

    settings = context.resources.workspace.contest(contest_of(context))
    return Made(build(prompt_code_ned, seed=settings.seed, n_resamples=settings.resamples))


@table_asset(PROMPT_WINDOWS, group=REVISION, inputs=(ATTEMPTS, PROMPT_LOGS), rooms=_PROMPTS)
def prompt_windows(context: dg.AssetExecutionContext, attempts: Any, prompt_logs: Any) -> Made:
    """By the name of the log or by mention; null where times are unknown. The words themselves stay in prompt_logs."""
    from judge_pipeline.cocreation.prompt_windows import prompt_windows as build

    return Made(build(_prompt_texts(context, attempts, prompt_logs)))


@table_asset(
    CODE_SIMILARITIES,
    group=REVISION,
    inputs=(ATTEMPTS, TRAJECTORIES),
    rooms=_SIMILARITIES,
    kinds=("tree-sitter", "parquet"),
)
def code_similarities(context: dg.AssetExecutionContext, attempts: Any, trajectories: Any) -> Made:
    """Of consecutive turns, and with the first accepted program; each program is parsed once, on all cores."""
    from judge_pipeline.cocreation.code_similarity import code_similarities as build

    return Made(build(attempts, trajectories))


@table_asset(
    REVISIONS,
    group=REVISION,
    inputs=(ATTEMPTS, TRAJECTORIES, PROMPT_LOGS, STRUGGLE_CURVES, CODE_SIMILARITIES),
    rooms=_REVISION,
    kinds=("rapidfuzz", "parquet"),
    figures=True,
)
def revisions(
    context: dg.AssetExecutionContext,
    attempts: Any,
    trajectories: Any,
    prompt_logs: Any,
    struggle_curves: Any,
    code_similarities: Any,
) -> Made:
    """In the order of the table, and reversed too where most rejections follow the first AC."""
    from judge_pipeline.cocreation.revision import KindLimits
    from judge_pipeline.cocreation.revision import revisions as build

    settings = context.resources.workspace.contest(contest_of(context)).revision
    limits = KindLimits(settings.incremental_at_most, settings.rewrite_at_least)
    texts = _prompt_texts(context, attempts, prompt_logs)
    return Made(build(attempts, trajectories, texts, struggle_curves, limits, similarities=code_similarities))


@table_asset(
    CONVERGENCE, group=REVISION, inputs=(ATTEMPTS, TRAJECTORIES, CODE_SIMILARITIES), rooms=_REVISION, figures=True
)
def convergence(context: dg.AssetExecutionContext, attempts: Any, trajectories: Any, code_similarities: Any) -> Made:
    """Every attempt of a solved trajectory; the reference itself, 1 by definition, is marked."""
    from judge_pipeline.cocreation.revision import convergence as build

    return Made(build(attempts, trajectories, similarities=code_similarities))


@table_asset(
    CHURN_SUMMARY,
    group=REVISION,
    inputs=(REVISIONS, CONVERGENCE, ATTEMPTS, TRAJECTORIES),
    rooms=("cocreation/churn_summary.py", "similarity/languages.py", "ingest/turns.py", "statistics"),
    figures=True,
)
def churn_summary(
    context: dg.AssetExecutionContext, revisions: Any, convergence: Any, attempts: Any, trajectories: Any
) -> Made:
    """Intervals by cluster bootstrap over trajectories."""
    from judge_pipeline.cocreation.churn_summary import churn_summary as build

    settings = context.resources.workspace.contest(contest_of(context))
    rows = build(revisions, convergence, attempts, trajectories, seed=settings.seed, n_resamples=settings.resamples)
    return Made(rows)


@table_asset(
    REVISION_GAINS,
    group=REVISION,
    inputs=(REVISIONS, JUDGE_COVERAGE),
    rooms=("cocreation/revision_gains.py", "cocreation/coverage.py", "statistics"),
)
def revision_gains(context: dg.AssetExecutionContext, revisions: Any, judge_coverage: Any) -> Made:
    """Incremental fixes and rewrites by the limits of the contest's settings (revision)."""
    from judge_pipeline.cocreation.revision_gains import revision_gains as build

    settings = context.resources.workspace.contest(contest_of(context))
    rows = build(revisions, seed=settings.seed, n_resamples=settings.resamples)
    return Made(_with_unverified(context, rows, judge_coverage, rows["statistic"] == "mean_delta_p_mean"))


@table_asset(
    CHURN_EFFECTS,
    group=REVISION,
    inputs=(REVISIONS, JUDGE_COVERAGE),
    rooms=("cocreation/churn_effects.py", "cocreation/coverage.py", "statistics"),
    figures=True,
)
def churn_effects(context: dg.AssetExecutionContext, revisions: Any, judge_coverage: Any) -> Made:
    """Rank correlations with intervals by trajectory; mixed models with effects of participants and problems."""
    from judge_pipeline.cocreation.churn_effects import churn_effects as build

    settings = context.resources.workspace.contest(contest_of(context))
    rows = build(
        revisions,
        seed=settings.seed,
        n_resamples=settings.resamples,
        model_levels=settings.revision.model_levels,
    )
    return Made(_with_unverified(context, rows, judge_coverage, rows["progress"] == "delta_p_mean"))


def _prompt_texts(context: dg.AssetExecutionContext, attempts: Any, prompt_logs: Any) -> Any:
    """h of each attempt, by the contest's settings."""
    from judge_pipeline.cocreation.prompt_windows import prompt_texts

    settings = context.resources.workspace.contest(contest_of(context))
    return prompt_texts(
        attempts, prompt_logs, problem_names=settings.problem_names, mentions=settings.revision.mentions
    )


def _with_unverified(context: dg.AssetExecutionContext, rows: Any, judge_coverage: Any, rests_on_judges: Any) -> Any:
    """The rows, those that rest on the panel marked where one of its judges is unverified."""
    from judge_pipeline.cocreation.coverage import flag_unverified, usable

    panel = context.resources.workspace.panel(usable(judge_coverage))
    return flag_unverified(rows, judge_coverage, [panel if rests else [] for rests in rests_on_judges])


ASSETS = [
    trajectories, struggle_curves, success_at_turn, survival, prompt_code_ned, prompt_code_summary, prompt_windows,
    code_similarities, revisions, convergence, churn_summary, revision_gains, churn_effects, *time_to_success.ASSETS,
    *struggle.ASSETS, *prompt_space.ASSETS,
]  # fmt: skip
