"""Importers, one module a format, and the registry of them.

A further format is a module with an ``IMPORTER``, its settings in ``settings/preference.py``, and a line here.
"""

from __future__ import annotations

from judge_pipeline.preference.importers import (
    auto_j,
    bigcodereward,
    copilot_arena,
    edit_bench,
    icai,
    judgebench,
    lmarena,
    mt_bench,
    pandalm,
    table,
    webdevjudge,
)
from judge_pipeline.preference.importers.importer import Importer

IMPORTERS: dict[str, Importer] = {
    module.IMPORTER.name: module.IMPORTER
    for module in (
        table, copilot_arena, edit_bench, lmarena, judgebench, bigcodereward, webdevjudge, mt_bench, auto_j, pandalm,
        icai,
    )
}  # fmt: skip
"""Format -> importer, in the order of the documents."""

__all__ = ["IMPORTERS", "Importer"]
