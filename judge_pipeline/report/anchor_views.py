"""The table of the anchor periods in the report."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from judge_pipeline.figures.estimates import format_number
from judge_pipeline.report.anchor_words import rows_by_metric
from judge_pipeline.report.inputs import JudgeKind
from judge_pipeline.report.view import Cell, Heading, View
from judge_pipeline.tables.metric_words import metric_label


def anchor_periods(figures: pd.DataFrame, kinds: Mapping[str, JudgeKind]) -> View:
    """Every figure of every judge and period, with its change since the first period.

    Args:
        figures: table ANCHOR_FIGURES.
        kinds: what each judge is.
    """
    view = View(
        "anchor-periods",
        "Judges on the anchor set by period: value and paired change since the first period, 95% interval, n",
        (
            Heading("Judge"),
            Heading("Figure"),
            Heading("Period"),
            Heading("Value", numeric=True),
            Heading("Change", "This period less the first that was asked the same, paired by attempt", numeric=True),
            Heading("p (Holm)", "Two-sided, corrected over the figures of the period", numeric=True),
        ),
        empty="No judge was asked about an anchor set.",
        table="anchor_figures",
        foldable=True,
    )
    for judge in dict.fromkeys(figures["judge"]):
        for metric, period, value, change, p in rows_by_metric(figures, str(judge)):
            view.rows.append(
                [
                    Cell(str(judge), tags=kinds[judge].tags if judge in kinds else ()),
                    Cell(metric_label(metric)),
                    Cell(period),
                    view.estimate(value),
                    Cell("–", numeric=True) if change is None else view.estimate(change),
                    Cell("–" if p is None else "< 0.001" if p < 0.001 else format_number(p), numeric=True),
                ]
            )
    return view
