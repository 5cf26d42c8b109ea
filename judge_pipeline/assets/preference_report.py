"""Group reports: what a reader gets of a preference set (TRACE, sections 3 and 5)."""

import hashlib
from typing import Any

import dagster as dg

from judge_pipeline.assets.reports import GROUP
from judge_pipeline.orchestration.links import page_link
from judge_pipeline.orchestration.partitions import PREFERENCE_SETS, any_judge_of_the_set, preference_set_of
from judge_pipeline.orchestration.table_asset import OWNERS, code_version
from judge_pipeline.tables import (
    DATASET_PROFILE,
    PAIR_TEXTS,
    PREFERENCE_PAIRS,
    PREFERENCE_QUARANTINE,
    PREFERENCE_SELECTION,
    PREFERENCE_SPLITS,
)
from judge_pipeline.tables.misalignment import (
    MISALIGNMENT,
    PREFERENCE_MODEL_FITS,
    PREFERENCE_MODELS,
    RUBRIC_DISAGREEMENTS,
)
from judge_pipeline.tables.pair_judging import PAIR_JUDGE_COVERAGE, PAIR_JUDGMENTS
from judge_pipeline.tables.preference_accuracy import PREFERENCE_ACCURACY, PREFERENCE_RANKS
from judge_pipeline.tables.rubric import RUBRIC, RUBRIC_SCORE_AGREEMENT, RUBRIC_SCORES, RUBRIC_THEMES

_REPORTED = (
    PREFERENCE_PAIRS, PAIR_TEXTS, PREFERENCE_SELECTION, PREFERENCE_QUARANTINE, PREFERENCE_SPLITS, DATASET_PROFILE,
    PAIR_JUDGE_COVERAGE, PREFERENCE_ACCURACY, PREFERENCE_RANKS, RUBRIC, RUBRIC_SCORES, RUBRIC_SCORE_AGREEMENT,
    RUBRIC_THEMES, PREFERENCE_MODELS, PREFERENCE_MODEL_FITS, MISALIGNMENT, RUBRIC_DISAGREEMENTS,
)  # fmt: skip
"""Tables that the report shows where they are there: it can be made as soon as the pairs are read."""


@dg.asset(
    group_name=GROUP,
    description="One self-contained HTML page: how judges choose beside people, and what both weigh. Works offline.",
    deps=[
        *(table.name for table in _REPORTED),
        dg.AssetDep(PAIR_JUDGMENTS.name, partition_mapping=any_judge_of_the_set()),
    ],
    partitions_def=PREFERENCE_SETS,
    kinds={"html", "plotly"},
    owners=OWNERS,
    code_version=code_version(("report", "figures", "orchestration/preference_reports.py")),
    required_resource_keys={"workspace", "progress", "store"},
)
def preference_report(context: dg.AssetExecutionContext) -> dg.MaterializeResult[Any]:
    """The page in ``<out>/reports/<set>/``; its tables in ``<out>/exports/<set>/preference_tables/``."""
    from judge_pipeline.orchestration.exports import write_files
    from judge_pipeline.orchestration.preference_reports import (
        preference_report_path,
        preference_report_provenance,
        preference_report_tables,
        preference_tables_dir,
    )
    from judge_pipeline.orchestration.whole_files import write_whole
    from judge_pipeline.report.preference_inputs import labelled
    from judge_pipeline.report.preference_report import preference_report_html, preference_views
    from judge_pipeline.report.table_files import table_files

    name, store = preference_set_of(context), context.resources.store
    workspace = context.resources.workspace.workspace()
    given = preference_report_tables(store, name)
    provenance = preference_report_provenance(context.instance, context.resources.workspace, store, name)
    page = preference_report_html(given, provenance).encode("utf-8", "replace")
    folder = preference_tables_dir(workspace, name)
    files = write_files(folder, table_files(preference_views(labelled(given), provenance)))
    path = write_whole(preference_report_path(workspace, name), page)
    context.resources.progress.table("preference_report", 1)
    return dg.MaterializeResult(
        metadata={
            "report": page_link(workspace, path),
            "file": dg.MetadataValue.path(str(path)),
            "bytes": len(page),
            "chosen_by": provenance.chosen_by,
            "tables": dg.MetadataValue.path(str(folder)),
            "table_files": len(files),
            "not_made_yet": ", ".join(given.missing) or "nothing",
        },
        data_version=dg.DataVersion(hashlib.sha256(page).hexdigest()),
    )


ASSETS = [preference_report]
