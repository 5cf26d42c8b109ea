"""Tables of the judges as measurement instruments (paper 1, V-B1, VI-A)."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables.columns import JUDGE, SPLITS, estimate_columns

JUDGE_METRICS = Table(
    "judge_metrics",
    "One figure of one judge (paper 1, Table IV): test-split figures, and the threshold chosen on val.",
    (
        JUDGE,
        Column("metric", "string", "Which figure; docs/reference/metrics.md gives the formula of each"),
        Column("split", "string", "The split it is taken on", allowed=SPLITS),
        *estimate_columns("The figure"),
    ),
    ("judge", "metric"),
)

JUDGE_AGREEMENT = Table(
    "judge_agreement",
    "One agreement figure over the test items that all judges of the panel answered (paper 1, Table V).",
    (
        Column(
            "statistic",
            "string",
            "Which figure",
            allowed=("cohen", "raw_agreement", "judge_mean_cohen", "mean_cohen", "fleiss"),
        ),
        Column("judge_1", "string", "First judge of the pair, or the judge", nullable=True),
        Column("judge_2", "string", "Second judge of the pair", nullable=True),
        *estimate_columns("The figure"),
    ),
    ("statistic", "judge_1", "judge_2"),
)

JUDGE_CURVES = Table(
    "judge_curves",
    "One point of one judge's ROC, precision-recall or reliability curve on test (paper 1, Figures 2-3).",
    (
        JUDGE,
        Column("curve", "string", "Which curve", allowed=("roc", "pr", "reliability")),
        Column("point", "int", "Order along the curve, from 1", low=1),
        Column("x", "float", "False positive rate, recall, or mean p_ac of the bin"),
        Column("y", "float", "True positive rate, precision, or accepted share of the bin"),
        Column("threshold", "float", "Threshold of the point; null on reliability curves and at end points", True),
        Column("n", "int", "Attempts behind the point", low=0),
        Column("ci95_low", "float", "Lower end of the Wilson interval (reliability)", nullable=True),
        Column("ci95_high", "float", "Upper end of the Wilson interval (reliability)", nullable=True),
    ),
    ("judge", "curve", "point"),
)

TABLES = (JUDGE_METRICS, JUDGE_AGREEMENT, JUDGE_CURVES)
"""The tables of this module."""
