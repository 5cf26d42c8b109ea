"""Reading, for the command line, what the graph has stored."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from judge_pipeline.orchestration.contest_folders import contest_folders
from judge_pipeline.orchestration.parquet_store import ParquetStore
from judge_pipeline.settings import Workspace
from judge_pipeline.table_schema import TableError
from judge_pipeline.tables import JUDGE_COVERAGE, PREFERENCE_PAIRS
from judge_pipeline.tables.pair_judging import PAIR_JUDGE_COVERAGE

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.report.inputs import CocreationReportInput


def store_of(workspace: Workspace) -> ParquetStore:
    """The Parquet store of a workspace."""
    return ParquetStore(root=str(workspace.store_dir / "tables"))


def report_tables(workspace: Workspace, contest: str) -> CocreationReportInput:
    """The tables that a contest's report is made from."""
    from judge_pipeline.report.inputs import CocreationReportInput

    store, optional = store_of(workspace), CocreationReportInput.optional()
    schemas = CocreationReportInput.schemas()
    required = {name: store.read(table, contest) for name, table in schemas.items() if name not in optional}
    return CocreationReportInput(**required, **optional_tables(store, contest))


def optional_tables(store: ParquetStore, contest: str) -> dict[str, pd.DataFrame]:
    """Those of the tables that a report can do without that are there, in today's schema."""
    from judge_pipeline.report.inputs import CocreationReportInput

    found = {}
    for name, table in CocreationReportInput.schemas().items():
        if name in CocreationReportInput.optional():
            with suppress(FileNotFoundError, TableError):
                found[name] = store.read(table, contest)
    return found


def coverage_of_contests(workspace: Workspace) -> list[dict[str, Any]]:
    """One record for each contest and judge; a contest that was never run has one record without a judge."""
    store = store_of(workspace)
    rows: list[dict[str, Any]] = []
    for contest in contest_folders(workspace):
        if not store.path(JUDGE_COVERAGE, contest).is_file():
            rows.append(
                {
                    "contest": contest,
                    "judge": None,
                    "status": "not run yet",
                    "n_judged": 0,
                    "n_in_scope": 0,
                    "cost_usd": None,
                    "reason": None,
                }
            )
            continue
        table = store.read(JUDGE_COVERAGE, contest).astype("object")
        records = table.where(table.notna(), None).to_dict("records")
        rows += [{"contest": contest, **{str(k): v for k, v in record.items()}} for record in records]
    return rows


def coverage_of_preference_sets(workspace: Workspace) -> list[dict[str, Any]]:
    """One record for each preference set and judge, as of contests.

    ``report`` and ``criteria_report`` are the paths of its reports, None where there is none.

    A set of which no judge was held against its pairs has one record without a judge: "not read yet", or "read".
    """
    from judge_pipeline.orchestration.criteria_reports import criteria_report_path
    from judge_pipeline.orchestration.preference_reports import preference_report_path
    from judge_pipeline.orchestration.preference_sets import preference_folders

    store = store_of(workspace)
    rows: list[dict[str, Any]] = []
    for name in preference_folders(workspace):
        pages = {"report": preference_report_path, "criteria_report": criteria_report_path}
        paths = {kind: path_of(workspace, name) for kind, path_of in pages.items()}
        reports = {kind: str(path) if path.is_file() else None for kind, path in paths.items()}
        of_set = {"preference_set": name, **reports}
        if store.path(PAIR_JUDGE_COVERAGE, name).is_file():
            table = store.read(PAIR_JUDGE_COVERAGE, name).astype("object")
            records = table.where(table.notna(), None).to_dict("records")
            rows += [{**of_set, **{str(k): v for k, v in record.items()}} for record in records]
            continue
        is_read = store.path(PREFERENCE_PAIRS, name).is_file()
        why = "judged criterion by criterion alone" if reports["criteria_report"] else "no judge was asked yet"
        state = {"status": "read", "reason": why} if is_read else {"status": "not read yet"}
        nobody = {"judge": None, "n_judged": 0, "n_in_scope": 0, "cost_usd": None, "reason": None}
        rows.append({**of_set, **nobody, **state})
    return rows
