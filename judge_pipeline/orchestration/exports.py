"""Files for people and other tools beside the Parquet tables: exports and reports."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from judge_pipeline.orchestration.whole_files import write_whole
from judge_pipeline.settings import Workspace


def write_export(workspace: Workspace, contest: str, name: str, text: str) -> Path:
    """Write ``<out>/exports/<contest>/<name>``."""
    return write_whole(workspace.store_dir / "exports" / contest / name, text.encode())


def report_path(workspace: Workspace, contest: str) -> Path:
    """Where a contest's report lies."""
    return workspace.store_dir / "reports" / contest / "cocreation_report.html"


def write_report(workspace: Workspace, contest: str, html: str) -> Path:
    """Write the contest's report."""
    return write_whole(report_path(workspace, contest), html.encode())


def figures_path(workspace: Workspace, contest: str, asset: str) -> Path:
    """Where the page of an asset's figures lies."""
    return workspace.store_dir / "reports" / contest / "figures" / f"{asset}.html"


def tables_dir(workspace: Workspace, contest: str) -> Path:
    """Where a contest's tables lie as CSV and LaTeX."""
    return workspace.store_dir / "exports" / contest / "tables"


def write_files(folder: Path, files: Mapping[str, bytes | str]) -> list[Path]:
    """Write files into a folder, each whole or not at all; the folder is made where it is missing."""
    return [
        write_whole(folder / name, data.encode("utf-8", "replace") if isinstance(data, str) else data)
        for name, data in files.items()
    ]


def start_page_path(workspace: Workspace) -> Path:
    """Where the page over all contests lies."""
    return workspace.store_dir / "reports" / "index.html"


def write_start_page(workspace: Workspace, html: str) -> Path:
    """Write the page over all contests."""
    return write_whole(start_page_path(workspace), html.encode())
