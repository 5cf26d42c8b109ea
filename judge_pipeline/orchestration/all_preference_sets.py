"""What is stored of every preference set, for tables and pages over all sets."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from judge_pipeline.orchestration.criteria_reports import criteria_report_path
from judge_pipeline.orchestration.parquet_store import ParquetStore
from judge_pipeline.orchestration.preference_reports import preference_report_path
from judge_pipeline.orchestration.preference_sets import preference_folders
from judge_pipeline.settings import PreferenceSettings, Workspace
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.table_schema import TableError
from judge_pipeline.tables import PREFERENCE_SPLITS
from judge_pipeline.tables.preference_accuracy import PREFERENCE_ACCURACY

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.report.start_page import PreferenceSetLine


@dataclass
class StoredAccuracy:
    """How judges choose on every set that has figures of it.

    Attributes:
        tables: set -> table PREFERENCE_ACCURACY.
        unread: set -> why its table could not be read; it is left out.
    """

    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)


def stored_accuracy(workspace: Workspace, store: ParquetStore) -> StoredAccuracy:
    """What is there; a set that was never judged is no part of it."""
    found = StoredAccuracy()
    for name in preference_folders(workspace):
        try:
            found.tables[name] = store.read(PREFERENCE_ACCURACY, name)
        except FileNotFoundError:
            continue
        except TableError as error:
            found.unread[name] = str(error)
    return found


def figures_of_judges(
    tables: dict[str, pd.DataFrame], rule: str, figure: str, judges: Collection[str]
) -> dict[str, dict[str, float | None]]:
    """Set -> judge -> its figure over all pairs under the rule; None where it is undefined there.

    Args:
        tables: set -> table PREFERENCE_ACCURACY.
        rule: the scoring rule.
        figure: the figure's name.
        judges: the judges to look at.
    """
    found = {}
    for name, table in tables.items():
        own = table[(table["rule"] == rule) & (table["of"] == "judge") & (table["figure"] == figure)]
        own = own[own["category"].isna() & own["name"].isin(judges)]
        values = own["value"].astype(object).where(own["value"].notna(), None)
        found[name] = dict(zip(own["name"], values, strict=True))
    return found


def preference_defaults(workspace: Workspace) -> PreferenceSettings:
    """The settings of preference.yaml, which hold for what is over all sets."""
    return workspace.preference(workspace.out_dir / "no-such-set")


def set_lines(workspace: Workspace, store: ParquetStore) -> list[PreferenceSetLine]:
    """One line for each preference set that is known: who chose in it, and its reports, where there are any."""
    from judge_pipeline.report.start_page import PreferenceSetLine

    lines = []
    for name, folder in preference_folders(workspace).items():
        pages = (preference_report_path(workspace, name), criteria_report_path(workspace, name))
        of_preference, of_criteria = (f"{name}/{page.name}" if page.is_file() else None for page in pages)
        settings = _settings(workspace, folder)
        title, chosen_by = (name, None) if settings is None else (settings.title or name, settings.chosen_by)
        lines.append(PreferenceSetLine(name, title, chosen_by, of_preference, of_criteria, _n_pairs(store, name)))
    return lines


def _settings(workspace: Workspace, folder: Path) -> PreferenceSettings | None:
    try:
        return workspace.preference(folder)
    except SettingsError:
        return None  # a run of the set itself says what is wrong with its settings


def _n_pairs(store: ParquetStore, name: str) -> int | None:
    try:
        return len(store.read(PREFERENCE_SPLITS, name))
    except (FileNotFoundError, TableError):
        return None
