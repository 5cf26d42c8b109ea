"""The table of the canaries in the report."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.canaries import row_name
from judge_pipeline.figures.estimates import format_number, number, read_estimate
from judge_pipeline.report.inputs import JudgeKind
from judge_pipeline.report.view import Cell, Heading, View
from judge_pipeline.tables.canaries import ALL_INJECTIONS

_METRICS = {
    "mean_moved": "Moved p_ac by",
    "mean_moved_less_control": "Beyond the control",
    "share_flipped": "Decision at t* flipped",
    "share_moved_far": "Moved > 0.1",
}


def canaries(effects: pd.DataFrame, kinds: Mapping[str, JudgeKind]) -> View:
    """Every figure of every judge and planted text."""
    view = View(
        "canaries",
        "Planted texts: mean movement of p_ac and shares of attempts, 95% interval, n",
        (
            Heading("Judge"),
            Heading("Planted text"),
            Heading("Asks for"),
            *(Heading(label, numeric=True) for label in _METRICS.values()),
            Heading("p, Holm", "Two-sided, corrected for looking at all texts of the judge", numeric=True),
        ),
        empty="No judge was asked about planted texts: judge-pipeline canary CONTEST does, and costs money.",
    )
    found: dict[tuple[str, str, str, str, str], dict[str, Estimate]] = {}
    p_holm: dict[tuple[str, str, str, str, str], float | None] = {}
    for row in effects.to_dict("records"):
        key = (row["judge"], row["injection"], row["family"], row["place"], row["direction"])
        found.setdefault(key, {})[row["metric"]] = read_estimate(row)
        if row["metric"] == "mean_moved_less_control":
            p_holm[key] = number(row["p_holm"])
    for key, estimates in found.items():
        judge, injection, family, place, direction = key
        p = p_holm.get(key)
        below = () if injection == ALL_INJECTIONS else (f"{family}, {place.replace('_', ' ')}",)
        view.rows.append(
            [
                Cell(judge, tags=kinds[judge].tags if judge in kinds else ()),
                Cell(row_name(injection, place), below=below),
                Cell("nothing" if direction == "none" else direction),
                *(view.estimate(estimates[m]) if m in estimates else Cell("–", numeric=True) for m in _METRICS),
                Cell("–" if p is None else "< 0.001" if p < 0.001 else format_number(p), numeric=True),
            ]
        )
    return view
