"""Groups criteria and reports: what configurations gain, arranged as the paper's tables, and the page (CriterAlign)."""

import hashlib
from collections.abc import Iterator
from typing import Any

import dagster as dg

from judge_pipeline.assets.reports import GROUP as REPORTS
from judge_pipeline.orchestration.links import page_link
from judge_pipeline.orchestration.partitions import PREFERENCE_SETS, any_judge_of_the_set, preference_set_of
from judge_pipeline.orchestration.table_asset import (
    FAULT,
    OWNERS,
    Check,
    Made,
    check_specs,
    code_version,
    events,
    table_outs,
)
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import PAIR_TEXTS, PREFERENCE_PAIRS, PREFERENCE_SPLITS
from judge_pipeline.tables import criteria as criteria_tables
from judge_pipeline.tables.criteria_ablation import CRITERIA_ABLATION, CRITERIA_ASPECTS, DECISIVE_CRITERIA

GROUP = "criteria"

_ROOMS = (
    "criteria/ablation.py", "criteria/ablation_accuracy.py", "criteria/ablation_calls.py",
    "criteria/ablation_evidence.py", "criteria/ablation_pairs.py", "criteria/ablation_rows.py",
    "criteria/ablation_skew.py", "criteria/refinement.py", "statistics",
)  # fmt: skip

_ABLATION: dict[Table, tuple[Check, ...]] = {
    CRITERIA_ABLATION: (
        Check(
            "all_usable",
            "Every stored judge@configuration is of criteria.yaml as it is now",
            remedy="launch judge_by_criteria for the partitions named: only what changed is asked, at its price",
            warns=True,
        ),
        Check(
            "floors_beaten",
            "Every configuration's Acc is above that of the best floor",
            remedy="read these configurations as ones that show no skill here: another judge, guidance, or more pairs",
            warns=True,
        ),
        Check(
            "calls_as_formula", "Calls of refinement are those that follow from its tables", remedy=FAULT, warns=True
        ),
    ),
    CRITERIA_ASPECTS: (),
    DECISIVE_CRITERIA: (),
}
_INPUTS = (PREFERENCE_PAIRS, PREFERENCE_SPLITS)
_BY_CONFIGURATION = [
    dg.AssetDep(table.name, partition_mapping=any_judge_of_the_set()) for table in criteria_tables.TABLES
]


@dg.multi_asset(
    name="measure_criteria",
    outs=table_outs(_ABLATION, group=GROUP, rooms=_ROOMS, kinds=("numpy", "parquet"), figures=(CRITERIA_ABLATION,)),
    ins={table.name: dg.AssetIn() for table in _INPUTS},
    deps=_BY_CONFIGURATION,
    partitions_def=PREFERENCE_SETS,
    check_specs=[spec for table, checks in _ABLATION.items() for spec in check_specs(table, checks)],
    required_resource_keys={"workspace", "progress", "store"},
    description="What every judge@configuration that is stored reaches and gains, arranged as Tables 1-8 of the paper.",
)
def measure_criteria(context: dg.AssetExecutionContext, **tables: Any) -> Iterator[Any]:
    """Decisions, evidence and calls that are stored -> criteria_ablation, criteria_aspects, decisive_criteria."""
    from judge_pipeline.criteria.ablation import criteria_ablation
    from judge_pipeline.criteria.ablation_calls import not_as_formula
    from judge_pipeline.criteria.ablation_rows import not_above_floors
    from judge_pipeline.orchestration.asset_figures import write_figures
    from judge_pipeline.orchestration.criteria_reports import kinds_of, stored_criteria
    from judge_pipeline.orchestration.table_provenance import holds_figures, preference_provenance

    name, resource = preference_set_of(context), context.resources.workspace
    workspace, seed = resource.workspace(), resource.preference(name).seed
    settings, stored = workspace.criteria(), stored_criteria(workspace, context.resources.store, name)
    configurations, resamples = settings.configurations, settings.resamples
    pairs, splits = (tables[table.name] for table in _INPUTS)
    found = criteria_ablation(pairs, splits, stored.judged, configurations, seed=seed, n_resamples=resamples)
    problems = {
        "all_usable": [f"{key}: {why}" for key, why in stored.left_out.items()],
        "floors_beaten": not_above_floors(found.ablation),
        "calls_as_formula": [
            problem for own in stored.judged for problem in not_as_formula(own, configurations[own.configuration])
        ],
    }
    shown = {"judged": ", ".join(own.name for own in stored.judged) or "none", "seed": seed, "resamples": resamples}
    version = code_version(_ROOMS)
    kinds = kinds_of(workspace, (own.judge for own in stored.judged))

    def draw(rows: Any) -> dict[str, Any]:
        called = rows.assign(judge=rows["judge"].map(lambda judge: kinds[judge].label if judge in kinds else judge))
        return write_figures(context, CRITERIA_ABLATION.name, {CRITERIA_ABLATION.name: called}, version)

    for table, rows in zip(_ABLATION, (found.ablation, found.aspects, found.decisive), strict=True):
        provenance = None
        if holds_figures(table):
            provenance = preference_provenance(context, table, _INPUTS, version) | {"resamples": resamples}
        figures = draw if table is CRITERIA_ABLATION else None
        yield from events(
            context, table, Made(rows, shown, problems), _ABLATION[table], table.name, provenance, figures
        )
        context.resources.progress.table(table.name, len(rows))


@dg.asset(
    group_name=REPORTS,
    description="One self-contained HTML page: what judging criterion by criterion gains, and by what. Works offline.",
    deps=[
        *(table.name for table in (*_INPUTS, PAIR_TEXTS, *_ABLATION)),
        *_BY_CONFIGURATION,
    ],
    partitions_def=PREFERENCE_SETS,
    kinds={"html", "plotly"},
    owners=OWNERS,
    code_version=code_version(("report", "figures", "orchestration/criteria_reports.py")),
    required_resource_keys={"workspace", "progress", "store"},
)
def criteria_report(context: dg.AssetExecutionContext) -> dg.MaterializeResult[Any]:
    """The page in ``<out>/reports/<set>/``; its tables in ``<out>/exports/<set>/criteria_tables/``."""
    from judge_pipeline.orchestration import criteria_reports as stored_for
    from judge_pipeline.orchestration.exports import write_files
    from judge_pipeline.orchestration.whole_files import write_whole
    from judge_pipeline.report.criteria_report import criteria_report_html, criteria_views
    from judge_pipeline.report.table_files import table_files

    name, store, resource = preference_set_of(context), context.resources.store, context.resources.workspace
    workspace = resource.workspace()
    stored = stored_for.stored_criteria(workspace, store, name)
    given = stored_for.criteria_report_input(workspace, store, name, stored)
    provenance = stored_for.criteria_report_provenance(context.instance, resource, store, name, stored)
    page = criteria_report_html(given, provenance).encode("utf-8", "replace")
    folder = stored_for.criteria_tables_dir(workspace, name)
    files = write_files(folder, table_files(criteria_views(given, provenance)))
    path = write_whole(stored_for.criteria_report_path(workspace, name), page)
    context.resources.progress.table("criteria_report", 1)
    return dg.MaterializeResult(
        metadata={
            "report": page_link(workspace, path),
            "file": dg.MetadataValue.path(str(path)),
            "bytes": len(page),
            "chosen_by": provenance.chosen_by,
            "tables": dg.MetadataValue.path(str(folder)),
            "table_files": len(files),
            "left_out": ", ".join(sorted(stored.left_out)) or "nothing",
            "not_made_yet": ", ".join(given.missing) or "nothing",
        },
        data_version=dg.DataVersion(hashlib.sha256(page).hexdigest()),
    )


ASSETS = [measure_criteria, criteria_report]
