"""What a report rests on: hashes of data, configuration, prompts and code. No clock: the same inputs, the same page."""

from __future__ import annotations

import hashlib
from pathlib import Path

from judge_pipeline.orchestration.parquet_store import ParquetStore
from judge_pipeline.orchestration.table_asset import code_version
from judge_pipeline.settings import ContestSettings, Workspace
from judge_pipeline.tables import ATTEMPTS, JUDGE_REQUESTS, PREDICTIONS, Table

_ROOMS = (
    "assets", "cocreation", "figures", "ingest", "judging", "orchestration", "report", "settings.py", "statistics",
)  # fmt: skip


def provenance_of(workspace: Workspace, store: ParquetStore, contest: str, settings: ContestSettings) -> dict[str, str]:
    """What the contest's figures rest on, by label, in the order to show it."""
    return {
        **{f"{table.name} (sha256 of the Parquet file)": _table(store, table, contest) for table in _RESTS_ON},
        "judges.yaml (sha256)": _sha256(workspace.config_dir / "judges.yaml"),
        **{f"prompt {file.name} (sha256)": _sha256(file) for file in _prompts(workspace)},
        "Seed": str(settings.seed),
        "Bootstrap resamples": str(settings.resamples),
        "Context shown to judges": settings.context,
        "Code version (sha256 of the package's sources, first 16 digits)": code_version(_ROOMS),
    }


_RESTS_ON = (ATTEMPTS, JUDGE_REQUESTS, PREDICTIONS)


def _prompts(workspace: Workspace) -> list[Path]:
    return sorted((workspace.config_dir / "prompts").glob("*.j2"))


def _table(store: ParquetStore, table: Table, contest: str) -> str:
    return _sha256(store.path(table, contest))


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
