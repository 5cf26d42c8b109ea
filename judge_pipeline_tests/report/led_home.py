"""Whether the figures of a page lead to their own trace, and to no other one's."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from judge_pipeline.figures.estimates import read_estimate, text
from judge_pipeline.report.trace_anchor import figure_anchor
from judge_pipeline.report.view import View
from judge_pipeline.table_schema import Table


def n_led_home(views: Iterable[View], folder: str, tables: Iterable[tuple[Table, pd.DataFrame]]) -> int:
    """How many estimates of the views lead to the row of the stored tables that they are of; none leads elsewhere."""
    rows = {}
    for table, stored in tables:
        for row in stored.to_dict("records"):
            key = {name: text(row[name]) for name in table.key}
            rows[f"{folder}/index.html#{figure_anchor(table.name, key)}"] = read_estimate(row)
    cells = [cell for view in views for row in view.rows for cell in row if cell.estimate is not None and cell.link]
    for cell in cells:
        assert cell.estimate == rows[str(cell.link)], cell
    return len(cells)
