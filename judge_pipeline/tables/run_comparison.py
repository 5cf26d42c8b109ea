"""Tables of two runs set against each other: made when asked for (``judge-pipeline compare``), stored nowhere."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables.columns import SPLITS, estimate_columns

_OLD = Column("old_judge", "string", "The judge in the old run")
_NEW = Column("new_judge", "string", "The judge in the new run")

CHANGES = ("drop", "gain", "not told", "undefined")
"""What is told of a figure: worse or better beyond the interval, neither, or no value or no interval."""

RUN_DIFFERENCES = Table(
    "run_differences",
    "One figure of a judge in two runs over the same attempts, and new less old, paired.",
    (
        _OLD,
        _NEW,
        Column("metric", "string", "Which figure of judge_metrics; or mean_cost_usd, mean_latency_ms"),
        Column("split", "string", "The split it is taken on", allowed=SPLITS),
        Column("better", "string", "Which direction is better", allowed=("higher", "lower", "neither")),
        Column("old", "float", "The old figure; null where undefined", nullable=True),
        Column("old_ci95_low", "float", "Lower end of its 95% interval", nullable=True),
        Column("old_ci95_high", "float", "Upper end of the same", nullable=True),
        Column("new", "float", "The new figure; null where undefined", nullable=True),
        Column("new_ci95_low", "float", "Lower end of its 95% interval", nullable=True),
        Column("new_ci95_high", "float", "Upper end of the same", nullable=True),
        *estimate_columns("New less old"),
        Column("p_value", "float", "Two-sided bootstrap p-value of 'the difference is 0'", True, low=0.0, high=1.0),
        Column("p_holm", "float", "The same, corrected over the pair's tested figures", True, None, 0.0, 1.0),
        Column("n_trajectories", "int", "Trajectories that hold the n attempts", low=0),
        Column("change", "string", "What is told; null where no direction is better", True, allowed=CHANGES),
    ),
    ("old_judge", "new_judge", "metric"),
)

RUN_AGREEMENT = Table(
    "run_agreement",
    "How far the old and the new decisions agree, on labelled attempts of test that both runs answered.",
    (
        _OLD,
        _NEW,
        Column("statistic", "string", "Which figure", allowed=("cohen", "raw_agreement", "bias_index")),
        *estimate_columns("The figure"),
    ),
    ("old_judge", "new_judge", "statistic"),
)

RUN_FLIPS = Table(
    "run_flips",
    "One attempt of test that the old and the new run decide differently, each at its own t*.",
    (
        _OLD,
        _NEW,
        Column("attempt_id", "string", "The attempt"),
        Column("y", "int", "Acceptance label; null where there is none", True, low=0, high=1),
        Column("old_p_ac", "float", "p_ac of the old run", low=0.0, high=1.0),
        Column("new_p_ac", "float", "p_ac of the new run", low=0.0, high=1.0),
        Column("old_accepts", "bool", "The old decision"),
        Column("new_accepts", "bool", "The new decision"),
        Column(
            "flip", "string", "Right before, wrong now; wrong before, right now; no label",
            allowed=("broken", "mended", "unlabelled"),
        ),
    ),
    ("old_judge", "new_judge", "attempt_id"),
)  # fmt: skip

RUN_COUNTS = Table(
    "run_counts",
    "What one pair of judges is compared on, and what is left out.",
    (
        _OLD,
        _NEW,
        Column("split", "string", "The split", allowed=SPLITS),
        Column("n_both", "int", "Attempts that both answered", low=0),
        Column("n_labelled", "int", "Of these, with a label", low=0),
        Column("n_only_old", "int", "Attempts that only the old run answered", low=0),
        Column("n_only_new", "int", "Attempts that only the new run answered", low=0),
        Column("n_neither", "int", "Attempts of either run that this pair did not answer", low=0),
        Column("old_threshold", "float", "t* of the old run, from its own val", True, low=0.0, high=1.0),
        Column("new_threshold", "float", "t* of the new run, from its own val", True, low=0.0, high=1.0),
    ),
    ("old_judge", "new_judge", "split"),
)
