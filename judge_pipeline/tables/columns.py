"""Closed sets and columns that several tables share."""

from __future__ import annotations

from judge_pipeline.table_schema import Column

VERDICTS = (
    "AC", "WA", "TLE", "MLE", "RE", "CE", "PE", "OLE", "IE", "PARTIAL", "SKIPPED", "HACKED", "PENDING", "UNKNOWN",
)  # fmt: skip
"""The closed set of verdicts."""

VERDICTS_WITHOUT_LABEL = ("PENDING", "UNKNOWN", "SKIPPED")
"""Verdicts from which no acceptance label y follows: not judged yet, not understood, or never run."""

SPLITS = ("train", "val", "test")

ORDERS = ("as_recorded", "reversed")
"""Orders of turns that a figure is given in; the second only where the check of turn order warns."""


def estimate_columns(what: str) -> tuple[Column, ...]:
    """The columns of an estimate (``estimate.Estimate.to_row``)."""
    return (
        Column("value", "float", f"{what}; null where undefined", nullable=True),
        Column("n", "int", "How many observations the value rests on", low=0),
        Column("n_left_out", "int", "How many observations were offered and not used", low=0),
        Column("ci95_low", "float", "Lower end of the 95% interval", nullable=True),
        Column("ci95_high", "float", "Upper end of the 95% interval", nullable=True),
        Column("reason", "string", "Why the value is null, or a warning about it", nullable=True),
    )


PARTICIPANT = Column("participant", "string", "Participant u")
PROBLEM = Column("problem_id", "string", "Problem p")
TURN = Column("turn", "int", "Turn k within the trajectory (u, p), 1-based", low=1)
ATTEMPT = Column("attempt_id", "string", "Stable id of the attempt: 16 hexadecimal digits")
JUDGE = Column("judge", "string", "Judge j, as named in judges.yaml")
SPLIT = Column("split", "string", "Split of the attempt's trajectory", allowed=SPLITS)
ORDER = Column("order", "string", "Order of turns; reversed where most rejections follow the first AC", allowed=ORDERS)
Y = Column("y", "int", "Acceptance label (eq. 4): 1 accepted, 0 not, null where undecided", True, low=0, high=1)
NOTES = Column("notes", "string", "What the reader was unsure of, joined by '; '", nullable=True)
