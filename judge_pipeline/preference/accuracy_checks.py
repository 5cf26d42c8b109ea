"""What has to hold of table ``preference_accuracy``, and what a reader should be warned of; in words."""

from __future__ import annotations

import pandas as pd

_ROUNDING = 1e-9
_PARTS = (("choice_share", "consistent_share"), ("consistent_share", "valid_share"))
"""Figures that count a part of the pairs that the second one counts."""


def not_above_floors(accuracy: pd.DataFrame, rule: str) -> list[str]:
    """The judges whose Acc is not above that of the best floor, which needs no judgment.

    Args:
        accuracy: table PREFERENCE_ACCURACY.
        rule: the scoring rule to look at.
    """
    acc = accuracy[(accuracy["rule"] == rule) & (accuracy["figure"] == "acc") & accuracy["category"].isna()]
    acc = acc[acc["value"].notna()]
    floors = acc[acc["of"] == "floor"]
    if floors.empty:
        return []
    best = floors.loc[floors["value"].idxmax()]
    return [
        f"{row['name']}: Acc {row['value']:.3f} is not above {best['value']:.3f} of {best['name']}"
        for row in acc[acc["of"] == "judge"].to_dict("records")
        if row["value"] <= best["value"] + _ROUNDING
    ]


def do_not_add_up(accuracy: pd.DataFrame) -> list[str]:
    """Judges whose figures contradict each other: under ``trace`` Acc is Acc_PC times the choice share.

    Args:
        accuracy: table PREFERENCE_ACCURACY.
    """
    own = accuracy[(accuracy["of"] == "judge") & (accuracy["rule"] == "trace") & accuracy["category"].isna()]
    problems = []
    for judge, rows in own.groupby("name", sort=False):
        value = dict(zip(rows["figure"], rows["value"], strict=True))
        known = {figure: float(number) for figure, number in value.items() if pd.notna(number)}
        if {"acc", "acc_pc", "choice_share"} <= known.keys():
            product = known["acc_pc"] * known["choice_share"]
            if abs(product - known["acc"]) > _ROUNDING:
                problems.append(f"{judge}: Acc is {known['acc']:.6f}, Acc_PC times choice share {product:.6f}")
        problems += [
            f"{judge}: {part} {known[part]:.6f} is above {whole} {known[whole]:.6f}"
            for part, whole in _PARTS
            if {part, whole} <= known.keys() and known[part] > known[whole] + _ROUNDING
        ]
    return problems
