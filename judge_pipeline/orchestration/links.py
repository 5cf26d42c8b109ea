"""Addresses of pages below ``reports/``, for the UI's metadata: a browser opens no ``file:`` from a page of a server.

The addresses are those under which people reach the pages: the environment's, else those of automation.yaml, else where
``judge-pipeline ui`` serves them on this machine, which it notes in the output folder for runs of a terminal.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import dagster as dg

from judge_pipeline.orchestration.whole_files import write_whole
from judge_pipeline.report.trace_anchor import CRITERIA_FOLDER, FOLDER, PREFERENCE_FOLDER
from judge_pipeline.settings import Workspace

UI_URL = "JUDGE_PIPELINE_UI_URL"
"""Environment variable: the address of the Dagster UI."""

REPORTS_URL = "JUDGE_PIPELINE_REPORTS_URL"
"""Environment variable: the address of ``<out>/reports/``."""

UI_PORT, REPORTS_PORT = 3000, 3001
"""Where ``judge-pipeline ui`` listens, and where it serves reports, unless told otherwise."""

ADDRESSES = "ui_addresses.json"
"""In the output folder: where the UI was started last, and where it served reports."""


_PAGES = {
    "judges": ("cocreation_report.html", FOLDER),
    "preference": ("preference_report.html", PREFERENCE_FOLDER),
    "criteria": ("criteria_report.html", CRITERIA_FOLDER),
}
"""Group of judges' tables -> the report that shows their figures, and the folder beside it with their judgments."""


def ui_url(workspace: Workspace, environment: Mapping[str, str] = os.environ) -> str:
    """The address of the Dagster UI, without a slash at its end.

    Raises:
        SettingsError: automation.yaml is wrong.
    """
    named = environment.get(UI_URL) or workspace.automation().links.ui_url or _noted(workspace).get("ui_url")
    return (named or f"http://127.0.0.1:{UI_PORT}").rstrip("/")


def reports_url(workspace: Workspace, environment: Mapping[str, str] = os.environ) -> str:
    """The address of ``<out>/reports/``, without a slash at its end.

    Raises:
        SettingsError: automation.yaml is wrong.
    """
    named = environment.get(REPORTS_URL) or workspace.automation().links.reports_url
    named = named or _noted(workspace).get("reports_url")
    return (named or f"http://127.0.0.1:{REPORTS_PORT}").rstrip("/")


def note_addresses(workspace: Workspace, **addresses: str) -> None:
    """Note where the UI is (``ui_url``) or serves reports (``reports_url``), for the links of runs that it starts not.

    The note stays when the UI ends: the next one is likely to be there again. What is not given is noted as before.
    """
    with suppress(OSError):  # links lead to the usual place then
        text = json.dumps(_noted(workspace) | addresses, indent=1, sort_keys=True) + "\n"
        write_whole(workspace.out_dir / ADDRESSES, text.encode())


def _noted(workspace: Workspace) -> dict[str, str]:
    """What is noted; nothing where the note is damaged, which the next start of the UI mends."""
    with suppress(OSError, ValueError):
        found = json.loads((workspace.out_dir / ADDRESSES).read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return {name: url for name, url in found.items() if isinstance(url, str) and url.startswith("http")}
    return {}


def links_of_table(context: dg.AssetExecutionContext, group: str) -> dict[str, dg.MetadataValue[Any]]:
    """Where the figures of the running partition's table are read, and of a judge's table each judgment with what was
    asked. The pages are made by the jobs that report; until then the server says so.

    Args:
        context: of a table's step.
        group: of the asset.
    """
    if not context.has_partition_key:
        return {}
    workspace = context.resources.workspace.workspace()
    key = context.partition_key
    own = key.keys_by_dimension if isinstance(key, dg.MultiPartitionKey) else {}
    dimension = getattr(context.assets_def.partitions_def, "name", None)
    contest = own.get("contest") or (str(key) if dimension == "contest" else None)
    folder = _folder(workspace, contest or own.get("preference_set") or str(key))
    report, judged = _PAGES["judges" if contest else "criteria" if group == "criteria" else "preference"]
    links = {"report": page_link(workspace, folder / report)}
    judge = own.get("judge", "")
    if judge and group in _PAGES and ("@" in judge or group != "criteria"):  # guidance has no such page
        links["judgments"] = page_link(workspace, folder / judged / f"judge-{judge}.html")
    return links


def _folder(workspace: Workspace, name: str) -> Path:
    return workspace.store_dir / "reports" / name


def page_link(workspace: Workspace, path: Path) -> dg.MetadataValue[Any]:
    """A link to a page below ``<out>/reports/``; a path as it is for any other file."""
    folder = workspace.store_dir / "reports"
    if not path.is_relative_to(folder):
        return dg.MetadataValue.path(str(path))
    return dg.MetadataValue.url(f"{reports_url(workspace)}/{quote(path.relative_to(folder).as_posix())}")
