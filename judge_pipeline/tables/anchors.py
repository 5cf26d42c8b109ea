"""Tables of the anchor set: the same attempts, asked again and again, to see whether a judge drifts."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables.columns import ATTEMPT, JUDGE, estimate_columns

_PERIOD = Column("period", "string", "When it was asked: the date of the schedule's tick, or another name")

ANCHOR_RUNS = Table(
    "anchor_runs",
    "One judge's answer about one attempt of the anchor set in one period; each period is asked anew.",
    (
        _PERIOD,
        JUDGE,
        ATTEMPT,
        Column("p_ac", "float", "Probability of acceptance; null: not answered", nullable=True, low=0.0, high=1.0),
        Column("s_algo", "int", "Algorithmic adequacy, 1-5", nullable=True, low=1, high=5),
        Column("s_robust", "int", "Robustness, 1-5", nullable=True, low=1, high=5),
        Column("model", "string", "Model that answered, as the provider named it", nullable=True),
        Column("request_hash", "string", "Identity of what was asked; null: not answered", nullable=True),
        Column("cost_usd", "float", "US dollars; null where unpriced", nullable=True, low=0),
        Column("latency_ms", "float", "Time of the answering try, in milliseconds", nullable=True, low=0),
        Column("failure", "string", "Why there is no answer", nullable=True),
    ),
    ("period", "judge", "attempt_id"),
)

ANCHOR_METRICS = ("roc_auc", "pr_auc", "log_loss", "brier", "ece_squared_debiased")

ANCHOR_FIGURES = Table(
    "anchor_figures",
    "One figure of one judge on the anchor set in one period, or its change since the first period, paired.",
    (
        JUDGE,
        _PERIOD,
        Column("metric", "string", "Which figure", allowed=ANCHOR_METRICS),
        Column(
            "quantity",
            "string",
            "The figure, or this period's less the first's over attempts that both answered",
            allowed=("value", "change"),
        ),
        *estimate_columns("The figure or its change"),
        Column("p_value", "float", "Two-sided bootstrap p-value of no change", nullable=True, low=0.0, high=1.0),
        Column("p_holm", "float", "The same, corrected over the figures of the period", True, None, 0.0, 1.0),
    ),
    ("judge", "period", "metric", "quantity"),
)

TABLES = (ANCHOR_RUNS, ANCHOR_FIGURES)
"""The tables of this module."""
