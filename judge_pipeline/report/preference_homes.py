"""From a figure of a preference set's report to the page that leads it home.

The report calls judges and rubric items otherwise than the tables do, whose keys are the figures' names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from judge_pipeline.report.preference_inputs import PreferenceReportInput, item_titles
from judge_pipeline.report.trace_anchor import PREFERENCE_FOLDER, row_link
from judge_pipeline.report.view import Cell
from judge_pipeline.table_schema import Table

_JUDGES = ("judge", "name", "other")


@dataclass(frozen=True)
class Homes:
    """Where the figures of a report are led home.

    Attributes:
        judges: what the report calls a judge -> its name in the tables, where these differ.
        items: the same of rubric items.
    """

    judges: Mapping[str, str] = field(default_factory=dict)
    items: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, given: PreferenceReportInput) -> Homes:
        """The homes of figures of tables that ``labelled`` has changed."""
        return cls(
            {kind.label: judge for judge, kind in given.kinds.items()},
            {title: item for item, title in item_titles(given.rubric).items()},
        )

    def of_cell(self, cell: Cell, table: Table, row: Mapping[Any, Any]) -> Cell:
        """A figure's cell with the way to where it comes from; a figure that was not computed has none.

        Args:
            cell: the cell.
            table: the table that the figure stands in.
            row: its row, judges and items called as the report calls them.
        """
        if cell.estimate is None:
            return cell
        words = {**dict.fromkeys(_JUDGES, self.judges), "item": self.items}
        named = {key: words[key].get(value, value) if key in words else value for key, value in row.items()}
        return replace(cell, link=row_link(PREFERENCE_FOLDER, table, named))
