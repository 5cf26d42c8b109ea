"""Reads estimates out of the metric tables, for figures and reports (what they are called: ``tables.metric_words``)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.style import clean

NO_REASON = "undefined; the table gives no reason"


def number(value: Any) -> float | None:
    """A table's cell as a float, or None where it is missing."""
    if value is None or value is pd.NA:
        return None
    result = float(value)
    return result if math.isfinite(result) else None


def count(value: Any) -> int:
    """A table's count, 0 where it is missing."""
    return int(number(value) or 0)


def text(value: Any) -> str | None:
    """A table's cell as text, or None where it is missing or empty."""
    return value if isinstance(value, str) and value else None


def read_estimate(row: Mapping[str, Any]) -> Estimate:
    """The estimate that stands in the estimate columns of one row (``tables.estimate_columns``).

    An interval with one end missing counts as none. A missing value without a reason gets one that says so.
    """
    value, low, high = (number(row[name]) for name in ("value", "ci95_low", "ci95_high"))
    reason = text(row["reason"])
    return Estimate(
        value=value,
        n=count(row["n"]),
        n_left_out=count(row["n_left_out"]),
        ci95=None if low is None or high is None else (low, high),
        reason=reason or (NO_REASON if value is None else None),
    )


def reasons_of(estimate: Estimate) -> list[str]:
    """The reason's parts: what a value's warnings are joined of, by '; '."""
    return estimate.reason.split("; ") if estimate.reason else []


def metrics_by_judge(metrics: pd.DataFrame) -> dict[str, dict[str, Estimate]]:
    """``judge_metrics`` as judge -> metric -> estimate, judges in the table's order."""
    found: dict[str, dict[str, Estimate]] = {}
    for row in metrics.to_dict("records"):
        found.setdefault(row["judge"], {})[row["metric"]] = read_estimate(row)
    return found


def pairwise_agreement(
    agreement: pd.DataFrame, statistic: str, rated: str = "decision"
) -> dict[tuple[str, str], Estimate]:
    """A statistic of ``judge_agreement`` on ``rated`` for each pair of judges; a pair stands there once."""
    rows = agreement[(agreement["statistic"] == statistic) & (agreement["rated"] == rated)].to_dict("records")
    return {(row["judge_1"], row["judge_2"]): read_estimate(row) for row in rows if row["judge_2"] is not None}


def judge_agreement_means(agreement: pd.DataFrame) -> dict[str, Estimate]:
    """Each judge's mean pairwise Cohen's kappa (paper 1, VI-A9)."""
    rows = agreement[agreement["statistic"] == "judge_mean_cohen"].to_dict("records")
    return {row["judge_1"]: read_estimate(row) for row in rows}


def overall_agreement(agreement: pd.DataFrame, statistic: str, rated: str = "decision") -> Estimate | None:
    """A statistic of ``judge_agreement`` on ``rated`` over the whole panel, or None where the table has no such row."""
    wanted = (agreement["statistic"] == statistic) & (agreement["rated"] == rated) & agreement["judge_1"].isna()
    rows = agreement[wanted].to_dict("records")
    return read_estimate(rows[0]) if rows else None


def accepted_share(curves: pd.DataFrame) -> dict[str, float]:
    """For each judge, the share of its test attempts that were accepted: the floor of a precision-recall curve.

    It is the mean of the reliability bins' accepted shares, weighted with their counts, which is exact.
    """
    bins = curves[(curves["curve"] == "reliability") & (curves["n"] > 0)]
    shares: dict[str, float] = {}
    for judge, rows in bins.groupby("judge", sort=False):
        counts = rows["n"].astype("float64")
        shares[str(judge)] = float((rows["y"] * counts).sum() / counts.sum())
    return shares


def format_number(value: float, decimals: int = 3) -> str:
    """A value with a fixed number of decimals; what rounds to zero carries no minus sign."""
    shown = f"{value:.{decimals}f}"
    return shown.removeprefix("-") if float(shown) == 0 else shown


def format_interval(ci95: tuple[float, float] | None, decimals: int = 3) -> str:
    """A 95% interval as ``[low, high]``, or an empty text where there is none."""
    return "" if ci95 is None else f"[{format_number(ci95[0], decimals)}, {format_number(ci95[1], decimals)}]"


def p_words(p: float | None) -> str:
    """A corrected p-value in words; it is never 0."""
    if p is None:
        return "p undefined"
    return "p < 0.001" if p < 0.001 else f"p = {format_number(p, 3)}"


def n_in_words(counts: Iterable[int], what: str) -> str:
    """``n = 36 test attempts``, or ``n = 24 to 36 ...`` where the counts differ between judges."""
    known = sorted(set(counts))
    if not known:
        return f"n = 0 {what}"
    return f"n = {known[0]:,} {what}" if len(known) == 1 else f"n = {known[0]:,} to {known[-1]:,} {what}"


def value_words(estimate: Estimate) -> str:
    """An estimate in a few characters: value and interval with two decimals, or ``undefined``."""
    if estimate.value is None:
        return "undefined"
    return f"{format_number(estimate.value, 2)} {format_interval(estimate.ci95, 2)}".strip()


def said(judges: Sequence[str], estimates: Mapping[str, Mapping[str, Estimate]], metric: str, label: str) -> str:
    """The metric of each judge in words, for the text alternative."""
    parts = []
    for judge in judges:
        estimate = estimates.get(judge, {}).get(metric)
        if estimate is not None:
            interval = f", 95% interval {format_interval(estimate.ci95)}" if estimate.ci95 else ""
            value = "undefined" if estimate.value is None else format_number(estimate.value)
            parts.append(f"{clean(judge)} {value}{interval}, n = {estimate.n}")
    return f"{label}: {'; '.join(parts)}." if parts else f"{label}: no judge has it."
