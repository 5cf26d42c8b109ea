"""Tables over every contest: judges on all of them together, and versions of judges beside each other."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables.columns import JUDGE, estimate_columns

LEADERBOARD_METRICS = (
    "roc_auc", "mcc_test", "brier", "cost_per_1000_usd", "latency_median_ms", "latency_p95_ms",
)  # fmt: skip
"""What the leaderboard holds of each judge: accuracy on test, and what an answer costs in money and time."""

LEADERBOARD = Table(
    "leaderboard",
    "One figure of one judge over all contests together, and the ranks that the data leave open.",
    (
        JUDGE,
        Column("metric", "string", "Which figure", allowed=LEADERBOARD_METRICS),
        *estimate_columns("The figure"),
        Column("n_contests", "int", "Contests that it rests on", low=0),
        Column("contests", "string", "Their names", nullable=True),
        Column("rank_from", "int", "Best rank: 1 + the judges shown to be better; null for cost and time", True, low=1),
        Column("rank_to", "int", "Worst rank: all judges less those shown to be worse", True, low=1),
        Column("kind", "string", "What must stand beside its name: simulated, embedded, unverified", nullable=True),
        Column("model", "string", "Models that answered", nullable=True),
    ),
    ("judge", "metric"),
)

JUDGE_VERSIONS = Table(
    "judge_versions",
    "One figure of one version of a judge (prompt template, answering model, parameters) on one contest.",
    (
        Column("contest", "string", "The contest"),
        JUDGE,
        Column("prompt_sha256", "string", "sha256 of the prompt template; null where there is none", nullable=True),
        Column("model", "string", "Model that answered, as the provider named it", nullable=True),
        Column(
            "asked_with", "string", "Parameters and address it was asked with, as JSON; null: no model", nullable=True
        ),
        Column("is_current", "bool", "Whether the contest's figures rest on this version today"),
        Column("n_answered", "int", "Attempts of the contest that it answered", low=0),
        Column("n_attempts", "int", "Attempts of the contest that are asked about", low=0),
        Column("metric", "string", "Which figure of judge_metrics"),
        *estimate_columns("The figure"),
    ),
    ("contest", "judge", "prompt_sha256", "model", "asked_with", "metric"),
)

TABLES = (LEADERBOARD, JUDGE_VERSIONS)
"""The tables of this module: each is one file, ``<table>/every-contest.parquet``."""
