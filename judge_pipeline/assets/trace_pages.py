"""Group reports: pages that lead each figure of a report home, beside it."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import dagster as dg

from judge_pipeline.assets.reports import GROUP
from judge_pipeline.orchestration.links import page_link
from judge_pipeline.orchestration.partitions import CONTESTS, PREFERENCE_SETS, any_judge_of_the_set, partition_words
from judge_pipeline.orchestration.table_asset import OWNERS, Check, check_result, code_version
from judge_pipeline.tables import (
    ACCEPTANCE_RATES,
    ANCHOR_FIGURES,
    ATTEMPTS,
    CONTEST_OVERVIEW,
    DATASET_PROFILE,
    INGEST_QUARANTINE,
    JUDGE_AGREEMENT,
    JUDGE_CALIBRATION,
    JUDGE_CANARY_EFFECTS,
    JUDGE_COVERAGE,
    JUDGE_DIFFERENCES,
    JUDGE_METRICS,
    JUDGE_PANEL_WEIGHTS,
    JUDGE_PANELS,
    JUDGE_REQUESTS,
    JUDGE_SCORES,
    PAIR_TEXTS,
    PREDICTIONS,
    PREFERENCE_PAIRS,
    PREFERENCE_SPLITS,
    PROMPT_CODE_NED,
    PROMPT_CODE_SUMMARY,
    PROMPT_LOGS,
    RERATING_AGREEMENT,
    SPLIT_ASSIGNMENTS,
    SUBMISSION_ARTIFACTS,
    SUCCESS_AT_TURN,
    SURVIVAL,
    TRAJECTORIES,
)
from judge_pipeline.tables import criteria as criteria_tables
from judge_pipeline.tables.criteria_ablation import CRITERIA_ABLATION, CRITERIA_ASPECTS
from judge_pipeline.tables.hazards import HAZARDS
from judge_pipeline.tables.misalignment import MISALIGNMENT, PREFERENCE_MODEL_FITS, PREFERENCE_MODELS
from judge_pipeline.tables.pair_judging import PAIR_JUDGE_COVERAGE, PAIR_JUDGMENTS
from judge_pipeline.tables.preference_accuracy import PREFERENCE_ACCURACY
from judge_pipeline.tables.revision import CHURN_EFFECTS, CHURN_SUMMARY, CONVERGENCE, REVISION_GAINS, REVISIONS
from judge_pipeline.tables.rubric import RUBRIC_SCORE_AGREEMENT, RUBRIC_SCORES
from judge_pipeline.tables.struggle import PATTERN_GROUPS, TRAJECTORY_PATTERNS
from judge_pipeline.tables.time_to_success import SURVIVAL_GROUPS, TRAJECTORY_TIMES

if TYPE_CHECKING:
    from judge_pipeline.orchestration.trace_pages import TracePages
    from judge_pipeline.orchestration.tracing import Tracer

_OF_CONTEST = (
    SUBMISSION_ARTIFACTS, PROMPT_LOGS, ATTEMPTS, SPLIT_ASSIGNMENTS, JUDGE_REQUESTS, INGEST_QUARANTINE, PREDICTIONS,
    JUDGE_COVERAGE, CONTEST_OVERVIEW, JUDGE_METRICS, JUDGE_AGREEMENT, JUDGE_DIFFERENCES, JUDGE_SCORES,
    JUDGE_CALIBRATION, JUDGE_PANEL_WEIGHTS, JUDGE_PANELS, ACCEPTANCE_RATES, JUDGE_CANARY_EFFECTS, ANCHOR_FIGURES,
    RERATING_AGREEMENT, TRAJECTORIES, SUCCESS_AT_TURN, SURVIVAL, TRAJECTORY_TIMES, SURVIVAL_GROUPS,
    TRAJECTORY_PATTERNS, PATTERN_GROUPS, HAZARDS, REVISIONS, CONVERGENCE, CHURN_SUMMARY, REVISION_GAINS, CHURN_EFFECTS,
    PROMPT_CODE_NED, PROMPT_CODE_SUMMARY,
)  # fmt: skip
"""The figures that the pages of a contest lead home, and what their rows are."""

_OF_PREFERENCE = (
    PREFERENCE_PAIRS, PREFERENCE_SPLITS, PAIR_TEXTS, DATASET_PROFILE, PAIR_JUDGE_COVERAGE, PREFERENCE_ACCURACY,
    RUBRIC_SCORES, RUBRIC_SCORE_AGREEMENT, PREFERENCE_MODELS, PREFERENCE_MODEL_FITS, MISALIGNMENT,
)  # fmt: skip
"""The same of the pages beside a preference set's report."""

_OF_CRITERIA = (PREFERENCE_PAIRS, PREFERENCE_SPLITS, DATASET_PROFILE, CRITERIA_ABLATION, CRITERIA_ASPECTS)
"""The same of the pages beside its report on criteria; its profile keeps the fingerprint of its files."""

_ROOMS = (
    "report", "lineage", "orchestration/trace_pages.py", "orchestration/trace_lists.py", "orchestration/tracing.py",
    "orchestration/traced_files.py", "orchestration/traced_sources.py",
)  # fmt: skip
_ADDS_UP = Check(
    "adds_up",
    "Every figure on the pages counts, and leaves out, just the rows that are listed behind it",
    remedy="launch the job that reports on the contest or preference set named: tables are newer than its figures",
    warns=True,
)


def _asset(
    name: str, description: str, deps: list[Any], partitions: dg.PartitionsDefinition, pages: str
) -> "Callable[[Callable[..., Iterator[Any]]], dg.AssetsDefinition]":
    """The decorator of pages that are written by the module ``pages`` of ``orchestration``."""
    return dg.asset(
        name=name,
        group_name=GROUP,
        description=description,
        deps=deps,
        partitions_def=partitions,
        kinds={"html"},
        owners=OWNERS,
        code_version=code_version((*_ROOMS, f"orchestration/{pages}.py")),
        check_specs=[dg.AssetCheckSpec(_ADDS_UP.name, asset=name, description=_ADDS_UP.in_words())],
        required_resource_keys={"workspace", "progress", "store"},
    )


def _written(
    context: dg.AssetExecutionContext, pages_of: "Callable[[Tracer, str], TracePages]", version: str
) -> dg.MaterializeResult[Any]:
    from judge_pipeline.orchestration.trace_pages import trace_folder, write_pages
    from judge_pipeline.orchestration.tracing import Tracer

    workspace, of = context.resources.workspace.workspace(), context.partition_key
    pages = pages_of(Tracer(workspace, {}), of)
    written, asset = write_pages(pages, version), context.asset_key.to_user_string()
    context.resources.progress.table(asset, len(written.files))
    return dg.MaterializeResult(
        metadata={
            "index": page_link(workspace, trace_folder(workspace, of, pages.words) / "index.html"),
            "pages": len(written.files),
            "in_full": f"judge-pipeline trace METRIC {pages.words.option} {of}",
        },
        check_results=[check_result(asset, _ADDS_UP, written.problems, partition_words(context))],
        data_version=dg.DataVersion(written.sha256),
    )


@_asset(
    "trace_pages",
    "Pages that lead each figure home: the rows behind its n, files with their hashes, judgments.",
    [table.name for table in _OF_CONTEST],
    CONTESTS,
    "trace_pages_of_contest",
)
def trace_pages(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult[Any]]:
    """In ``<out>/reports/<contest>/trace/``; ``judge-pipeline trace`` tells what they leave out."""
    from judge_pipeline.orchestration.provenance import report_code_version
    from judge_pipeline.orchestration.trace_pages_of_contest import ContestPages

    yield _written(context, ContestPages, report_code_version())


@_asset(
    "preference_trace_pages",
    "Pages that lead each figure of a preference set home: the pairs behind its n, files, and what judges chose.",
    [
        *(table.name for table in _OF_PREFERENCE),
        dg.AssetDep(PAIR_JUDGMENTS.name, partition_mapping=any_judge_of_the_set()),
    ],
    PREFERENCE_SETS,
    "trace_pages_of_set",
)
def preference_trace_pages(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult[Any]]:
    """In ``<out>/reports/<set>/preference_trace/``."""
    from judge_pipeline.orchestration.preference_reports import set_code_version
    from judge_pipeline.orchestration.trace_pages_of_set import PreferencePages

    yield _written(context, PreferencePages, set_code_version())


@_asset(
    "criteria_trace_pages",
    "Pages that lead each figure of judging by criteria home: the pairs or verdicts behind its n, and every stage.",
    [
        *(table.name for table in _OF_CRITERIA),
        *(dg.AssetDep(t.name, partition_mapping=any_judge_of_the_set()) for t in criteria_tables.TABLES),
    ],
    PREFERENCE_SETS,
    "trace_pages_of_set",
)
def criteria_trace_pages(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult[Any]]:
    """In ``<out>/reports/<set>/criteria_trace/``."""
    from judge_pipeline.orchestration.preference_reports import set_code_version
    from judge_pipeline.orchestration.trace_pages_of_set import CriteriaPages

    yield _written(context, CriteriaPages, set_code_version())


ASSETS = [trace_pages, preference_trace_pages, criteria_trace_pages]
