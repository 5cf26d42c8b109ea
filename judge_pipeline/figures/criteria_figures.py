"""Reads table ``criteria_ablation`` for figures and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.estimates import number, read_estimate
from judge_pipeline.tables.criteria_ablation import FLOORS

if TYPE_CHECKING:
    import pandas as pd


def of_judges(ablation: pd.DataFrame) -> pd.DataFrame:
    """The rows of judges, floors left out."""
    return ablation[ablation["configuration"].notna()]


def configurations_of(ablation: pd.DataFrame, judge: str) -> list[str]:
    """The configurations of a judge, in the table's order, which is that of criteria.yaml."""
    rows = of_judges(ablation)
    return list(dict.fromkeys(rows.loc[(rows["judge"] == judge) & rows["paper_table"].isna(), "configuration"]))


def figures_of(
    ablation: pd.DataFrame, judge: str, figure: str, *, category: str | None = None, paper_table: str | None = None
) -> dict[str, Estimate]:
    """Configuration -> its figure, over all pairs or those of a category."""
    rows = of_judges(ablation)
    rows = rows[(rows["judge"] == judge) & (rows["figure"] == figure)]
    for name, wanted in (("category", category), ("paper_table", paper_table)):
        rows = rows[rows[name].isna() if wanted is None else rows[name] == wanted]
    return {row["configuration"]: read_estimate(row) for row in rows.to_dict("records")}


def floors_of(ablation: pd.DataFrame, category: str | None = None) -> dict[str, Estimate]:
    """Floor -> its Acc."""
    rows = ablation[ablation["configuration"].isna() & (ablation["figure"] == "acc")]
    rows = rows[rows["category"].isna() if category is None else rows["category"] == category]
    found = {row["judge"]: read_estimate(row) for row in rows.to_dict("records")}
    return {name: found[name] for name in FLOORS if name in found}


def highest_floor(ablation: pd.DataFrame) -> tuple[str, float | None]:
    """The floor with the highest Acc, and this; None where there is none."""
    known = {name: own.value for name, own in floors_of(ablation).items() if own.value is not None}
    if not known:
        return "", None
    best = max(known, key=lambda name: known[name])
    return best, known[best]


def corrected_p(ablation: pd.DataFrame, **where: str | None) -> float | None:
    """The corrected p of the one row whose columns have these values; None where there is no such row or p.

    Args:
        ablation: the table.
        where: column -> value; None: null.
    """
    rows = ablation
    for name, wanted in where.items():
        rows = rows[rows[name].isna() if wanted is None else rows[name] == wanted]
    return number(rows["p_holm"].iloc[0]) if len(rows) == 1 else None
