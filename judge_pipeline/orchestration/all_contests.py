"""What is stored of every contest, for tables and pages over all of them."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from judge_pipeline.orchestration.contest_folders import contest_folders
from judge_pipeline.orchestration.exports import report_path
from judge_pipeline.orchestration.parquet_store import ParquetStore
from judge_pipeline.settings import ContestSettings, Workspace
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.table_schema import Table, TableError
from judge_pipeline.tables import (
    ATTEMPTS,
    CONTEST_OVERVIEW,
    JUDGE_COVERAGE,
    JUDGE_OUTPUTS,
    JUDGE_REQUESTS,
    PREDICTIONS,
    SPLIT_ASSIGNMENTS,
)

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.report.start_page import ContestLine


@dataclass
class StoredContests:
    """The stored tables of the contests that have predictions.

    Attributes:
        predictions: contest -> table PREDICTIONS.
        coverage: contest -> table JUDGE_COVERAGE.
        outputs: contest -> judge -> table JUDGE_OUTPUTS, of the judges that have predictions.
        unread: contest -> why its tables could not be read; it is left out.
    """

    predictions: dict[str, pd.DataFrame] = field(default_factory=dict)
    coverage: dict[str, pd.DataFrame] = field(default_factory=dict)
    outputs: dict[str, dict[str, pd.DataFrame]] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)


def stored_contests(workspace: Workspace, store: ParquetStore) -> StoredContests:
    """What is there; a contest that was never run is no part of it, one whose tables cannot be read is named."""
    found = StoredContests()
    for contest in contest_folders(workspace):
        if not store.path(PREDICTIONS, contest).is_file():
            continue
        try:
            predictions, coverage = store.read(PREDICTIONS, contest), store.read(JUDGE_COVERAGE, contest)
            judges = sorted(set(predictions["judge"]) & set(store.parts(JUDGE_OUTPUTS, contest)))
            outputs = {judge: store.read(JUDGE_OUTPUTS, contest, judge) for judge in judges}
        except (TableError, FileNotFoundError) as error:
            found.unread[contest] = str(error)
            continue
        found.predictions[contest], found.coverage[contest], found.outputs[contest] = predictions, coverage, outputs
    return found


def defaults(workspace: Workspace) -> ContestSettings:
    """The settings of contests.yaml, which hold for what is over all contests."""
    return workspace.contest(workspace.out_dir / "no-such-contest")


def stored_answers(workspace: Workspace) -> pd.DataFrame:
    """Every answer of the co-creation judges that the checkpoint keeps, by version of prompt and model.

    Raises:
        JudgingError: the checkpoint cannot be read.
    """
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.versions import stored_versions

    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        return stored_versions(checkpoint, workspace.judges().names("cocreation"))


def versions_input(store: ParquetStore, contest: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The contest's requests, and its attempts each with its trajectory's split."""
    splits = store.read(SPLIT_ASSIGNMENTS, contest)[["participant", "problem_id", "split"]]
    attempts = store.read(ATTEMPTS, contest).merge(splits, on=["participant", "problem_id"], how="left")
    return store.read(JUDGE_REQUESTS, contest), attempts


def contest_lines(workspace: Workspace, store: ParquetStore) -> list[ContestLine]:
    """One line for each contest that is known: counts and its report, where there are any."""
    from judge_pipeline.report.start_page import COUNTS, ContestLine

    lines = []
    for contest, folder in contest_folders(workspace).items():
        overview, coverage = _stored(store, CONTEST_OVERVIEW, contest), _stored(store, JUDGE_COVERAGE, contest)
        counts = {} if overview is None else dict(zip(overview["statistic"], overview["value"], strict=True))
        page = report_path(workspace, contest)
        lines.append(
            ContestLine(
                contest,
                _title(workspace, contest, folder),
                f"{contest}/{page.name}" if page.is_file() else None,
                counts={name: int(counts[name]) for name in COUNTS if name in counts},
                n_judges=None if coverage is None else len(coverage),
                n_verified=None if coverage is None else int((coverage["status"] == "verified").sum()),
            )
        )
    return lines


def _title(workspace: Workspace, contest: str, folder: Path) -> str:
    try:
        return workspace.contest(folder).title or contest
    except SettingsError:
        return contest  # a run of the contest itself says what is wrong with its settings


def _stored(store: ParquetStore, table: Table, contest: str) -> pd.DataFrame | None:
    try:
        return store.read(table, contest)
    except (FileNotFoundError, TableError):
        return None
