"""Group reports, over all contests: the leaderboard, versions of judges side by side, the start page."""

import hashlib
from typing import Any

import dagster as dg

from judge_pipeline.orchestration.links import page_link
from judge_pipeline.orchestration.table_asset import OWNERS, Check, Made, code_version, table_asset
from judge_pipeline.tables import JUDGE_VERSIONS, LEADERBOARD

GROUP = "reports"
_ROOMS = ("cocreation/evaluation.py", "cocreation/judge_figures.py", "cocreation/judged_attempts.py", "statistics")
_ALL_READ = Check(
    "all_read",
    "The tables of every contest could be read",
    remedy="launch report_contest for the contests named, which makes their tables anew",
    warns=True,
)


@table_asset(
    LEADERBOARD,
    group=GROUP,
    deps=["predictions", "judge_coverage", "judge_outputs"],
    partitions_def=None,
    rooms=("cocreation/leaderboard.py", "cocreation/judge_differences.py", "judging/versions.py", *_ROOMS),
    kinds=("numpy", "parquet"),
    checks=(_ALL_READ,),
)
def leaderboard(context: dg.AssetExecutionContext) -> Made:
    """From what is stored of all contests; seed and resamples are those of contests.yaml."""
    from judge_pipeline.cocreation.leaderboard import leaderboard as build
    from judge_pipeline.orchestration.all_contests import defaults, stored_answers, stored_contests

    workspace = context.resources.workspace.workspace()
    found, settings = stored_contests(workspace, context.resources.store), defaults(workspace)
    rows = build(
        found.predictions, found.outputs, found.coverage, stored_answers(workspace),
        seed=settings.seed, n_resamples=settings.resamples,
    )  # fmt: skip
    unread = [f"{contest}: {why}" for contest, why in found.unread.items()]
    return Made(rows, {"contests": ", ".join(found.predictions) or "none"}, {"all_read": unread})


@table_asset(
    JUDGE_VERSIONS,
    group=GROUP,
    deps=["predictions", "judge_requests", "attempts", "splits"],
    partitions_def=None,
    rooms=("cocreation/judge_versions.py", "judging/versions.py", *_ROOMS),
    kinds=("numpy", "parquet"),
    checks=(_ALL_READ,),
)
def judge_versions(context: dg.AssetExecutionContext) -> Made:
    """Today's answers and every earlier one that the checkpoint keeps; nothing is asked."""
    import pandas as pd

    from judge_pipeline.cocreation.judge_versions import judge_versions as build
    from judge_pipeline.orchestration.all_contests import defaults, stored_answers, stored_contests, versions_input

    workspace, store = context.resources.workspace.workspace(), context.resources.store
    found, settings = stored_contests(workspace, store), defaults(workspace)
    stored = stored_answers(workspace)
    parts = [JUDGE_VERSIONS.empty()]
    for contest, predictions in found.predictions.items():
        requests, attempts = versions_input(store, contest)
        parts.append(
            build(
                contest,
                predictions,
                stored,
                requests,
                attempts,
                found.outputs[contest],
                seed=settings.seed,
                n_resamples=settings.resamples,
            )
        )
    filled = [part for part in parts if len(part)]
    unread = [f"{contest}: {why}" for contest, why in found.unread.items()]
    return Made(pd.concat(filled, ignore_index=True) if filled else parts[0], {}, {"all_read": unread})


@dg.asset(
    group_name=GROUP,
    description="One page: all contests and preference sets with their reports, and judges over all contests beside "
    "each other.",
    ins={table.name: dg.AssetIn() for table in (LEADERBOARD, JUDGE_VERSIONS)},
    deps=["cocreation_report", "preference_report", "criteria_report"],
    kinds={"html", "plotly"},
    owners=OWNERS,
    code_version=code_version(("report", "figures")),
    required_resource_keys={"workspace", "progress", "store"},
)
def start_page(context: dg.AssetExecutionContext, **tables: Any) -> dg.MaterializeResult[Any]:
    """The page, written to ``<out>/reports/index.html``."""
    from judge_pipeline.orchestration.all_contests import contest_lines
    from judge_pipeline.orchestration.all_preference_sets import set_lines
    from judge_pipeline.orchestration.exports import write_start_page
    from judge_pipeline.report.start_page import start_page_html

    workspace = context.resources.workspace.workspace()
    lines, sets = contest_lines(workspace, context.resources.store), set_lines(workspace, context.resources.store)
    version = code_version(("report", "figures", "cocreation", "statistics"))
    html = start_page_html(lines, sets, tables["leaderboard"], tables["judge_versions"], version)
    path = write_start_page(workspace, html)
    context.resources.progress.table("start_page", 1)
    return dg.MaterializeResult(
        metadata={
            "page": page_link(workspace, path),
            "file": dg.MetadataValue.path(str(path)),
            "contests": len(lines),
            "sets": len(sets),
        },
        data_version=dg.DataVersion(hashlib.sha256(html.encode()).hexdigest()),
    )


ASSETS = [leaderboard, judge_versions, start_page]
