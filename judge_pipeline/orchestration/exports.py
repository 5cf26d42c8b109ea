"""Files for people and other tools beside the Parquet tables: exports and reports."""

from __future__ import annotations

from pathlib import Path

from judge_pipeline.orchestration.whole_files import write_whole
from judge_pipeline.settings import Workspace


def write_export(workspace: Workspace, contest: str, name: str, text: str) -> Path:
    """Write ``<out>/exports/<contest>/<name>``."""
    return write_whole(workspace.out_dir / "exports" / contest / name, text.encode())


def report_path(workspace: Workspace, contest: str) -> Path:
    """Where a contest's report lies."""
    return workspace.out_dir / "reports" / contest / "cocreation_report.html"


def write_report(workspace: Workspace, contest: str, html: str) -> Path:
    """Write the contest's report."""
    return write_whole(report_path(workspace, contest), html.encode())
