"""What anchor periods have shown, in words: whether a judge has drifted, and how much drift may have been missed."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.estimates import format_interval, format_number, number, p_words, read_estimate
from judge_pipeline.tables.anchors import ANCHOR_METRICS
from judge_pipeline.tables.metric_words import metric_label

LEVEL = 0.05
"""A change is drift where its p-value, corrected over the figures of the period, is below this."""

_SHOWN = ("roc_auc", "brier")
"""The figures whose changes are told where none is drift."""


def drifted(figures: pd.DataFrame, judge: str | None = None) -> list[str]:
    """What has changed since the first period in each judge's latest period, beyond what chance explains.

    Args:
        figures: table ANCHOR_FIGURES.
        judge: of this judge only; None for all.
    """
    said = []
    for name, rows in _latest_changes(figures):
        for row in rows[rows["p_holm"] < LEVEL].to_dict("records") if judge in (None, name) else ():
            said.append(
                f"{name} has drifted by {row['period']}: {metric_label(row['metric'])} changed by "
                f"{changed(read_estimate(row), 4)}, {p_words(number(row['p_holm']))} (Holm), n = {row['n']:,}"
            )
    return said


def not_drifted(figures: pd.DataFrame) -> list[str]:
    """Of each judge without drift in its latest period, a sentence: how its figures changed, or why nothing is told."""
    changes = dict(_latest_changes(figures))
    said = []
    for name, rows in figures.groupby("judge", sort=True):
        periods = sorted(set(rows["period"]))
        latest = changes.get(str(name))
        if latest is not None and (latest["p_holm"] < LEVEL).any():
            continue
        if latest is None or not len(latest):
            said.append(_nothing_to_compare(str(name), periods))
            continue
        tested = latest[latest["p_holm"].notna() & latest["metric"].isin(_SHOWN)].to_dict("records")
        told = "; ".join(f"{metric_label(row['metric'])} {changed(read_estimate(row), 2)}" for row in tested)
        n = int(latest["n"].max())
        said.append(
            f"{name}: no drift is told by {periods[-1]} (n = {n:,}); 95% intervals of its changes since the first "
            f"period: {told}. Drift within them may be there and be missed"
            if told
            else f"{name}: drift cannot be told by {periods[-1]} (n = {n:,}): {_reasons(latest['reason'])}"
        )
    return said


def _latest_changes(figures: pd.DataFrame) -> Iterable[tuple[str, pd.DataFrame]]:
    """Each judge with the changes in its latest period; no row where that has nothing to be compared with."""
    for name, rows in figures.groupby("judge", sort=True):
        changes = rows[(rows["quantity"] == "change") & (rows["period"] == rows["period"].max())]
        yield str(name), changes


def _nothing_to_compare(judge: str, periods: list[str]) -> str:
    if len(periods) == 1:
        return f"{judge}: asked in one period ({periods[0]}) so far, so there is nothing to compare"
    return (
        f"{judge}: in {periods[-1]} it was asked in another way than in any period before (prompt, model, parameters "
        "or data have changed), so the comparison begins anew"
    )


def rows_by_metric(
    figures: pd.DataFrame, judge: str
) -> Iterable[tuple[str, str, Estimate, Estimate | None, float | None]]:
    """Figure, period, its value, its change since the first period and the change's corrected p, oldest first."""
    mine = figures[figures["judge"] == judge].sort_values("period", kind="stable")
    changes = {(row["metric"], row["period"]): row for row in mine[mine["quantity"] == "change"].to_dict("records")}
    values = mine[mine["quantity"] == "value"]
    for metric in ANCHOR_METRICS:
        for row in values[values["metric"] == metric].to_dict("records"):
            change = changes.get((metric, row["period"]))
            since = (None, None) if change is None else (read_estimate(change), number(change["p_holm"]))
            yield metric, str(row["period"]), read_estimate(row), *since


def changed(estimate: Estimate, decimals: int) -> str:
    """A change with its sign and interval; what rounds to zero has no sign."""
    value = estimate.value or 0.0
    sign = "+" if float(format_number(value, decimals)) > 0 else ""
    return f"{sign}{format_number(value, decimals)} {format_interval(estimate.ci95, decimals)}".strip()


def _reasons(reasons: pd.Series) -> str:
    said = dict.fromkeys(str(reason) for reason in reasons.dropna())
    return "; ".join(said) or "no change has a p-value"
