"""Tables of how well judges choose as people do: accuracy, position and length bias, agreement, ranks across sets."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables.columns import estimate_columns

RULES = ("trace", "exact", "judgebench", "pandalm", "bigcodereward")
"""How an answer is scored against the human choice (``preference.scoring_rules``)."""

SUBJECTS = ("judge", "family", "floor", "people", "difference", "agreement", "panel")
"""What a figure may be of."""

PREFERENCE_FIGURES = {
    "acc": "Acc",
    "acc_pc": "Acc_PC",
    "gap": "Acc_PC - Acc",
    "consistent_share": "Consistent share",
    "choice_share": "Choice share",
    "valid_share": "Valid share",
    "first_slot_share": "First-slot share",
    "longer_share": "Longer-response share",
    "length_bias": "Length bias",
    "raw_agreement": "Same choice",
    "cohen": "Cohen's kappa",
    "krippendorff": "Krippendorff's alpha",
    "majority_user_agreement": "Majority-user agreement",
    "improvement_over_best": "Majority - best judge",
    "improvement_on_same_pairs": "The same, same pairs",
}
"""Figure -> what it is called."""

PREFERENCE_ACCURACY = Table(
    "preference_accuracy",
    "One figure of a judge, of a family of judges, of a floor, of people, or of two of them (TRACE, Table 2).",
    (
        Column("rule", "string", "The scoring rule that it follows", allowed=RULES),
        Column("of", "string", "What it is a figure of", allowed=SUBJECTS),
        Column("name", "string", "Judge, family, floor or annotator; null for all together", nullable=True),
        Column("other", "string", "The second of two: whose figure is taken off, or who agrees", nullable=True),
        Column("category", "string", "Category of the pairs; null for all", nullable=True),
        Column("figure", "string", "Which figure", allowed=tuple(PREFERENCE_FIGURES)),
        *estimate_columns("The figure, as a fraction"),
        Column("p_value", "float", "Two-sided p: a difference or length bias of 0, a first-slot share of 0.5", True),
        Column("p_holm", "float", "The same, corrected over the rows of one figure (Holm)", nullable=True),
    ),
    ("rule", "of", "name", "other", "category", "figure"),
)

PREFERENCE_RANKS = Table(
    "preference_ranks",
    "How alike two sets rank the judges that both have (TRACE, section 5.1).",
    (
        Column("set_1", "string", "One set"),
        Column("set_2", "string", "The other"),
        Column("figure", "string", "The figure that ranks the judges"),
        Column("statistic", "string", "Rank correlation", allowed=("spearman", "kendall")),
        *estimate_columns("The correlation; n counts judges"),
        Column("p_value", "float", "Two-sided p of no relation, over permutations of the judges", nullable=True),
        Column("p_holm", "float", "The same, corrected over the pairs of sets of one statistic (Holm)", nullable=True),
    ),
    ("set_1", "set_2", "figure", "statistic"),
)

TABLES = (PREFERENCE_ACCURACY, PREFERENCE_RANKS)
"""The tables of this module."""
