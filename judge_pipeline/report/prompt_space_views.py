"""What the report says of prompt space: whether nearness goes with outcome, and how true the drawing is (Figure 11)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from judge_pipeline.figures.estimates import count, format_interval, format_number, number, text
from judge_pipeline.report.view import Cell, Heading, View

STATISTICS = {
    "trustworthiness": "Trustworthiness of the drawing",
    "neighbours_kept": "Share of the nearest kept by the drawing",
    "neighbour_likeness": "Likeness of the nearest (Moran's I)",
    "similarity_likeness": "Likeness and similarity over all pairs (Mantel's r)",
}
ABOUT = {
    "drawn_place": "Place in the drawing",
    "solved_rate": "Solved rate",
    "above_expected": "Solved rate less that of everybody on the same problems",
}


def prompt_space_view(table: pd.DataFrame) -> View:
    """The table ``prompt_space_test``."""
    view = View(
        "prompt-space-test",
        "Does nearness in the words of prompts go with outcome? Permutation tests",
        (
            Heading("Figure"), Heading("Of"), Heading("Nearest", "How many are called nearest", numeric=True),
            Heading("Value", numeric=True), Heading("n", numeric=True),
            Heading("By chance", "Mean; 95% of permutations of the participants", numeric=True),
            Heading("p", "One-sided", numeric=True), Heading("p (Holm)", "Corrected over the tests", numeric=True),
        ),
        empty="Prompt space was not made.",
        table="prompt_space_test",
    )  # fmt: skip
    for row in table.to_dict("records"):
        value, reason = number(row["value"]), text(row["reason"])
        near = number(row["k"])
        view.rows.append(
            [
                Cell(STATISTICS[row["statistic"]], below=(reason,) if reason else ()), Cell(ABOUT[row["about"]]),
                Cell("all pairs" if near is None and value is not None else _shown(near, 0), numeric=True),
                Cell("undefined" if value is None else format_number(value), numeric=True, undefined=value is None),
                Cell(f"{count(row['n']):,}", below=_left_out(row), numeric=True), _chance(row), _p(row["p_value"]),
                _p(row["p_holm"]),
            ]
        )  # fmt: skip
    view.remarks.append(
        "Tests go by TF-IDF, not by the drawing, and deal out outcomes among participants anew. A value that chance "
        "gives, too, does not show that prompts do not matter."
    )
    said = _in_words(table)
    view.remarks += [said] if said else []
    return view


def _in_words(table: pd.DataFrame) -> str | None:
    """One sentence on whether nearness goes with the solved rate; None where it was not tested."""
    rows = table[(table["about"] == "solved_rate") & table["p_holm"].notna()].to_dict("records")
    if not rows:
        return None
    found = [row for row in rows if row["p_holm"] < 0.05]
    p = ", ".join(f"{STATISTICS[row['statistic']]}: {_words(row['p_holm'])}" for row in rows)
    n = count(rows[0]["n"])
    if not found:
        return f"It is not shown that participants with like prompts have like solved rates (n = {n:,}; {p})."
    return f"Participants with like prompts have like solved rates (n = {n:,}; {p})."


def _left_out(row: dict[Any, Any]) -> tuple[str, ...]:
    n = count(row["n_left_out"])
    return (f"{n:,} left out",) if n else ()


def _chance(row: dict[Any, Any]) -> Cell:
    mean, low, high = (number(row[name]) for name in ("null_mean", "null_low", "null_high"))
    ends = None if low is None or high is None else format_interval((low, high))
    return Cell(_shown(mean, 3), below=(ends,) if ends else (), numeric=True, undefined=mean is None)


def _shown(value: float | None, decimals: int) -> str:
    return "–" if value is None else format_number(value, decimals)


def _words(value: Any) -> str:
    return f"p = {format_number(float(value))}" if value >= 0.001 else "p < 0.001"


def _p(value: Any) -> Cell:
    p = number(value)
    if p is None:
        return Cell("–", numeric=True, undefined=True)
    return Cell("< 0.001" if p < 0.001 else format_number(p), numeric=True)
