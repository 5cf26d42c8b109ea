"""Table of hazards: the chance that a try succeeds where none has before (paper 1, IV-C4; the model is ours)."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables.columns import ORDER, estimate_columns

HAZARD_TERMS = ("turn", "problem_id")

HAZARDS = Table(
    "hazards",
    "One coefficient of the discrete-time logistic model of the first AC: of a turn, or of a problem.",
    (
        ORDER,
        Column("term", "string", "What the coefficient belongs to", allowed=HAZARD_TERMS),
        Column("level", "string", "Turn or turns; problem"),
        Column("n_events", "int", "Tries of the n that were the first accepted one", low=0),
        *estimate_columns("turn: logit of the chance on the average problem; problem: log odds ratio to the average"),
        Column("hazard", "float", "turn: the chance itself on the average problem; null else", True, low=0, high=1),
        Column("n_clusters", "int", "Participants, which the interval takes as independent", low=0),
        Column("p_value", "float", "problem: p of no difference from the average; null else", True, low=0, high=1),
        Column("p_holm", "float", "p_value corrected for all problems (Holm)", nullable=True, low=0, high=1),
    ),
    ("order", "term", "level"),
)

TABLES = (HAZARDS,)
"""The tables of this module."""
