"""How answers to research questions are worded: what an interval lets one say, and no more than that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.estimates import format_interval, format_number, number, read_estimate
from judge_pipeline.statistics.intervals import has_95_interval
from judge_pipeline.tables.columns import ORDERS

AS_RECORDED, REVERSED = ORDERS

LITTLE = 10
"""With fewer observations than this a sentence says that they are few."""


def side(estimate: Estimate, null: float = 0.0) -> int | None:
    """1 where the whole 95% interval lies above ``null``, -1 below, 0 where it holds it; None where there is none."""
    if estimate.value is None or estimate.ci95 is None or not has_95_interval(estimate):
        return None
    low, high = estimate.ci95
    return 1 if low > null else -1 if high < null else 0


def undefined_words(estimate: Estimate) -> str:
    """Why there is no value."""
    return f"undefined ({estimate.reason or 'no reason is given'})"


def figure_words(estimate: Estimate, decimals: int = 2) -> str:
    """Value, interval, n, what was left out; or why there is no value."""
    if estimate.value is None:
        return undefined_words(estimate)
    return f"{format_number(estimate.value, decimals)}{_interval(estimate, decimals)} ({n_words(estimate)})"


def share_words(estimate: Estimate) -> str:
    """The same of a share, in per cent."""
    if estimate.value is None:
        return undefined_words(estimate)
    ends = estimate.ci95
    interval = f" [{_percent(ends[0])}%, {_percent(ends[1])}%]" if ends else " (no interval)"
    return f"{_percent(estimate.value)}%{interval} ({n_words(estimate)})"


def n_words(estimate: Estimate) -> str:
    """n, what was left out, and that n is small where it is."""
    left = f", {estimate.n_left_out:,} left out" if estimate.n_left_out else ""
    few = ", few" if estimate.n < LITTLE else ""
    return f"n = {estimate.n:,}{few}{left}"


def open_words(estimate: Estimate, null: str = "0") -> str:
    """Why an estimate settles nothing: its interval holds the null value, or there is none to go by."""
    if side(estimate) == 0:
        return f"the interval holds {null}, so this is open"
    if estimate.value is None:
        return "so nothing can be said"
    if estimate.ci95 is not None:
        return "with so few clusters the interval is none of 95%, so nothing can be said"
    return "without an interval nothing can be said"


def row_of(table: pd.DataFrame | None, **wanted: str) -> Mapping[str, Any] | None:
    """The first row in which the columns have these values; None where there is none, or no table."""
    if table is None:
        return None
    here = table
    for column, value in wanted.items():
        here = here[here[column] == value]
    return None if here.empty else here.iloc[0].to_dict()


def estimate_of(table: pd.DataFrame | None, **wanted: str) -> Estimate | None:
    """The estimate of that row."""
    row = row_of(table, **wanted)
    return None if row is None else read_estimate(row)


def over_clusters(row: Mapping[str, Any]) -> Estimate:
    """The estimate of a row with the interval over clusters where there is one, else its own."""
    found, low, high = read_estimate(row), number(row["cluster_low"]), number(row["cluster_high"])
    if low is None or high is None:
        return found
    return Estimate(found.value, found.n, found.n_left_out, (low, high), found.reason)


def listed(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def has_reversed(table: pd.DataFrame | None) -> bool:
    """Whether a table has figures with turns reversed, which is so where their order is in doubt."""
    return table is not None and bool((table["order"] == REVERSED).any())


def _interval(estimate: Estimate, decimals: int) -> str:
    return f" {format_interval(estimate.ci95, decimals)}" if estimate.ci95 else " (no interval)"


def _percent(value: float) -> str:
    return format_number(100 * value, 1)
