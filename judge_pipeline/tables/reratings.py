"""Tables of people who judge a sample of attempts again, without knowing verdicts or judges."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables.columns import ATTEMPT, estimate_columns

_SHEET = Column("sheet", "string", "The sheet: begins each of its items' codes")
_ITEM = Column("item", "string", "What the attempt is called on the sheet")

RERATING_KEYS = Table(
    "rerating_keys",
    "Which attempt an item of a re-rating sheet is: the hidden key, which no sheet holds.",
    (_SHEET, _ITEM, ATTEMPT),
    ("sheet", "item"),
)

RERATINGS = Table(
    "reratings",
    "What one person said of one attempt on a re-rating sheet, without knowing its verdict or what judges said.",
    (
        _SHEET,
        _ITEM,
        ATTEMPT,
        Column("rater", "string", "The person, as the sheet is called"),
        Column("accepted", "string", "Whether it would be accepted; null: left blank", True, ("yes", "no", "unsure")),
        Column("s_algo", "int", "Algorithmic adequacy, 1-5; null: left blank", nullable=True, low=1, high=5),
        Column("s_robust", "int", "Robustness, 1-5; null: left blank", nullable=True, low=1, high=5),
        Column("note", "string", "What the person wrote beside it", nullable=True),
    ),
    ("sheet", "rater", "attempt_id"),
)

RERATING_STATISTICS = ("raw_agreement", "cohen", "gwet_ac1", "cohen_quadratic", "roc_auc")

RERATING_AGREEMENT = Table(
    "rerating_agreement",
    "How far one person agrees with a judge, with the verdict or with another person, on re-rated attempts.",
    (
        Column("rater", "string", "The person"),
        Column("against", "string", "With whom", allowed=("judge", "verdict", "person")),
        Column("other", "string", "The judge or the other person; null for the verdict", nullable=True),
        Column("rated", "string", "On what", allowed=("decision", "s_algo", "s_robust", "p_ac")),
        Column(
            "statistic",
            "string",
            "Which figure; roc_auc: of the judge's p_ac, with the person's answer as the label",
            allowed=RERATING_STATISTICS,
        ),
        *estimate_columns("The figure"),
    ),
    ("rater", "against", "other", "rated", "statistic"),
)

TABLES = (RERATING_KEYS, RERATINGS, RERATING_AGREEMENT)
"""The tables of this module."""
