"""Group reports: what a reader gets (paper 1, Table I and section VI)."""

import hashlib
from typing import Any

import dagster as dg

from judge_pipeline.orchestration.links import page_link
from judge_pipeline.orchestration.partitions import CONTESTS, contest_of
from judge_pipeline.orchestration.table_asset import OWNERS, Made, code_version, table_asset
from judge_pipeline.tables import (
    ACCEPTANCE_RATES,
    ANCHOR_FIGURES,
    ATTEMPTS,
    CONTEST_OVERVIEW,
    INGEST_QUARANTINE,
    JUDGE_AGREEMENT,
    JUDGE_CALIBRATION,
    JUDGE_CANARY_EFFECTS,
    JUDGE_COVERAGE,
    JUDGE_CURVES,
    JUDGE_DIFFERENCES,
    JUDGE_METRICS,
    JUDGE_PANELS,
    JUDGE_SCORES,
    PREDICTIONS,
    PROMPT_CODE_NED,
    PROMPT_CODE_SUMMARY,
    PROMPT_LOGS,
    REDACTION_COUNTS,
    RERATING_AGREEMENT,
    SPLIT_ASSIGNMENTS,
    STRUGGLE_CURVES,
    SUCCESS_AT_TURN,
    SURVIVAL,
    TRAJECTORIES,
    VERDICT_WORD_COUNTS,
)
from judge_pipeline.tables.hazards import HAZARDS
from judge_pipeline.tables.prompt_space import PROMPT_SPACE, PROMPT_SPACE_TEST
from judge_pipeline.tables.revision import CHURN_EFFECTS, CHURN_SUMMARY, CONVERGENCE, REVISION_GAINS, REVISIONS
from judge_pipeline.tables.struggle import PATTERN_GROUPS, STRUGGLE_GROUPS, TRAJECTORY_PATTERNS
from judge_pipeline.tables.time_to_success import (
    SUCCESS_CURVES,
    SURVIVAL_CURVES,
    SURVIVAL_GROUPS,
    SURVIVAL_TESTS,
)

GROUP = "reports"


@table_asset(
    CONTEST_OVERVIEW,
    group=GROUP,
    inputs=(
        ATTEMPTS,
        PROMPT_LOGS,
        TRAJECTORIES,
        SPLIT_ASSIGNMENTS,
        INGEST_QUARANTINE,
        REDACTION_COUNTS,
        VERDICT_WORD_COUNTS,
    ),
    rooms=("cocreation/overview.py",),
)
def contest_overview(context: dg.AssetExecutionContext, **tables: Any) -> Made:
    """Table I, and what it does not say: undecided attempts, attempts without source, artifacts set aside."""
    from judge_pipeline.cocreation.overview import contest_overview as build
    from judge_pipeline.orchestration.tombstones import Tombstones

    store_dir = context.resources.workspace.workspace().store_dir
    return Made(
        build(
            tables["attempts"],
            tables["prompt_logs"],
            tables["trajectories"],
            tables["splits"],
            tables["ingest_quarantine"],
            tables["redaction_counts"],
            tables["verdict_word_counts"],
            n_withdrawn=len(Tombstones(store_dir, contest_of(context)).read()),
        )
    )


_REPORTED = (
    CONTEST_OVERVIEW,
    JUDGE_COVERAGE,
    JUDGE_METRICS,
    JUDGE_AGREEMENT,
    JUDGE_CURVES,
    TRAJECTORIES,
    STRUGGLE_CURVES,
    SUCCESS_AT_TURN,
    SURVIVAL,
    INGEST_QUARANTINE,
)


_REPORTED_TOO = (
    ACCEPTANCE_RATES,
    ANCHOR_FIGURES,
    JUDGE_CALIBRATION,
    JUDGE_CANARY_EFFECTS,
    JUDGE_DIFFERENCES,
    JUDGE_PANELS,
    JUDGE_SCORES,
    PROMPT_CODE_NED,
    PROMPT_CODE_SUMMARY,
    RERATING_AGREEMENT,
    SUCCESS_CURVES,
    SURVIVAL_CURVES,
    SURVIVAL_GROUPS,
    SURVIVAL_TESTS,
    HAZARDS,
    STRUGGLE_GROUPS,
    TRAJECTORY_PATTERNS,
    PATTERN_GROUPS,
    REVISIONS,
    CONVERGENCE,
    CHURN_SUMMARY,
    REVISION_GAINS,
    CHURN_EFFECTS,
    PROMPT_SPACE,
    PROMPT_SPACE_TEST,
)
"""Tables that the report shows where they are there: it is made from what an earlier version has stored, too."""


@dg.asset(
    group_name=GROUP,
    description="One self-contained HTML page: works offline, prints, and says of every number what it rests on.",
    ins={table.name: dg.AssetIn() for table in _REPORTED},
    deps=[table.name for table in _REPORTED_TOO],
    partitions_def=CONTESTS,
    kinds={"html", "plotly"},
    owners=OWNERS,
    code_version=code_version(("report", "figures")),
    required_resource_keys={"workspace", "progress", "store"},
)
def cocreation_report(context: dg.AssetExecutionContext, **tables: Any) -> dg.MaterializeResult[Any]:
    """The page in ``<out>/reports/<contest>/``; its tables as CSV and LaTeX in ``<out>/exports/<contest>/tables/``."""
    from judge_pipeline.orchestration.exports import tables_dir, write_files, write_report
    from judge_pipeline.orchestration.provenance import provenance_of
    from judge_pipeline.orchestration.stored_tables import optional_tables
    from judge_pipeline.report.cocreation_report import cocreation_report_html, cocreation_views
    from judge_pipeline.report.inputs import CocreationReportInput
    from judge_pipeline.report.table_files import table_files

    contest = contest_of(context)
    workspace = context.resources.workspace.workspace()
    given = CocreationReportInput(**tables, **optional_tables(context.resources.store, contest))
    provenance = provenance_of(context.instance, context.resources.workspace, context.resources.store, contest)
    views = cocreation_views(given, provenance)
    html = cocreation_report_html(given, provenance, views)
    files = write_files(tables_dir(workspace, contest), table_files(views))
    path = write_report(workspace, contest, html)
    context.resources.progress.table("cocreation_report", 1)
    return dg.MaterializeResult(
        metadata={
            "report": page_link(workspace, path),
            "file": dg.MetadataValue.path(str(path)),
            "bytes": len(html.encode()),
            "tables": dg.MetadataValue.path(str(tables_dir(workspace, contest))),
            "table_files": len(files),
        },
        data_version=dg.DataVersion(hashlib.sha256(html.encode()).hexdigest()),
    )


_READ_OF = (ATTEMPTS, TRAJECTORIES, PROMPT_LOGS, PREDICTIONS, JUDGE_COVERAGE, STRUGGLE_CURVES)


@dg.asset(
    group_name=GROUP,
    description="A page for each trajectory: prompts, changes of the program, judges and verdict turn by turn.",
    deps=[table.name for table in _READ_OF],
    partitions_def=CONTESTS,
    kinds={"html"},
    owners=OWNERS,
    code_version=code_version(("report", "orchestration/trajectory_pages.py", "cocreation/prompt_windows.py")),
    required_resource_keys={"workspace", "progress", "store"},
)
def trajectory_pages(context: dg.AssetExecutionContext) -> dg.MaterializeResult[Any]:
    """Up to the setting ``trajectory_pages``, in ``<out>/reports/<contest>/trajectories/``; others on demand."""
    from judge_pipeline.orchestration.provenance import provenance_of
    from judge_pipeline.orchestration.trajectory_pages import pages_dir, write_pages

    contest = contest_of(context)
    workspace, settings = context.resources.workspace.workspace(), context.resources.workspace.contest(contest)
    provenance = provenance_of(context.instance, context.resources.workspace, context.resources.store, contest)
    written = write_pages(workspace, contest, provenance.code_version, limit=settings.trajectory_pages)
    digest = hashlib.sha256()
    for page in written:
        digest.update(page.read_bytes())
    context.resources.progress.table("trajectory_pages", len(written))
    return dg.MaterializeResult(
        metadata={
            "index": page_link(workspace, pages_dir(workspace, contest) / "index.html"),
            "folder": dg.MetadataValue.path(str(pages_dir(workspace, contest))),
            "pages": len(written),
            "on_demand": f"judge-pipeline report {contest} --trajectories",
        },
        data_version=dg.DataVersion(digest.hexdigest()),
    )


ASSETS = [contest_overview, cocreation_report, trajectory_pages]
