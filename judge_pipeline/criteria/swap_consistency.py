"""Verdicts that are the same in both orders are evidence: swap-consistency filtering (CriterAlign, section 3.3, SCF).

E = {(c_i, v_i) : v_i(a, b) = pi(v_i(b, a))}, where pi swaps A and B and leaves tie and insufficient. Tables hold
verdicts in terms of y_A and y_B, so pi is applied already and the two are compared as they stand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_pipeline.criteria.pairwise_verdicts import verdict_table
from judge_pipeline.tables.criteria import CONSISTENT_EVIDENCE

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from judge_pipeline.settings.criteria import Configuration


def consistent_evidence(configuration: Configuration, refined: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """The verdict on every criterion in force, and whether it is evidence.

    With ``swap_filter`` it is where both orders have a valid verdict and the two are the same; without it, where order
    AB has a valid one. A verdict insufficient that is the same in both orders is in the paper's set, and is kept: that
    the material does not show a difference is something to weigh, as a tie is.

    Args:
        configuration: ``swap_filter`` decides.
        refined: table REFINED_CRITERIA; its rows with fate ``kept`` are in force.
        verdicts: tables CRITERION_VERDICTS and CHILD_VERDICTS (``pairwise_verdicts.joined_verdicts``).

    Returns:
        Table CONSISTENT_EVIDENCE.

    Raises:
        ValueError: a criterion in force has no verdict row in an order that was to be asked.
    """
    tables = {order: verdict_table(verdicts, order) for order in ("AB", "BA")}
    made = []
    for row in refined[refined["fate"] == "kept"].to_dict("records"):
        key = (row["pair_id"], row["criterion"])
        ab = _row_of(tables["AB"], key, "AB")
        ba = _row_of(tables["BA"], key, "BA") if configuration.swap_filter else None
        why = _why_not(ab, ba)
        made.append(
            {
                **{name: row[name] for name in ("pair_id", "criterion", "text", "aspect")},
                **{name: ab[name] for name in ("verdict", "confidence", "rationale")},
                "verdict_ba": None if ba is None else ba["verdict"], "kept": why is None, "why": why,
            }
        )  # fmt: skip
    return CONSISTENT_EVIDENCE.conform(made)


def _row_of(rows: Mapping[tuple[str, str], dict[str, Any]], key: tuple[str, str], order: str) -> dict[str, Any]:
    if key not in rows:
        raise ValueError(
            f"criterion {key[1]} of pair {key[0]} has no verdict in order {order}. Remedy: judge it in this order, or "
            "set swap_filter: false"
        )
    return rows[key]


def _why_not(ab: Mapping[str, Any], ba: Mapping[str, Any] | None) -> str | None:
    """Why a criterion's verdicts are no evidence; None where they are."""
    for row in (ab, *(() if ba is None else (ba,))):
        if row["verdict"] is None:
            return f"invalid in order {row['presentation_order']}: {row['failure']}"
    if ba is None or ab["verdict"] == ba["verdict"]:
        return None
    return f"flips with the order: {ab['verdict']} in order AB, {ba['verdict']} in order BA"
