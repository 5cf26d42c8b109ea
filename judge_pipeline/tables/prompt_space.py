"""Tables of prompt space: where participants lie by what they said to AI tools (paper 1, V-B2, Figure 11)."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables.columns import PARTICIPANT

PLACE_STATISTICS = ("trustworthiness", "neighbours_kept")
"""How far the drawn places keep who is near whom in the space of words."""

NEARNESS_STATISTICS = ("neighbour_likeness", "similarity_likeness")
"""Whether those near each other in the space of words have like outcomes."""

OUTCOMES = ("solved_rate", "above_expected")
"""A participant's outcome: the solved rate, and the same less what their problems let expect."""

PROMPT_SPACE = Table(
    "prompt_space",
    "One participant's place by the words of Q_u (TF-IDF, t-SNE), and their solved rate (paper 1, eq. 26-28).",
    (
        PARTICIPANT,
        Column("x", "float", "First coordinate of the drawing; it has no unit", nullable=True),
        Column("y", "float", "Second coordinate", nullable=True),
        Column(
            "solved_rate", "float", "Share of the participant's problems that were solved (eq. 28)", True, None, 0, 1
        ),
        Column("n_problems", "int", "Problems with a decided attempt: what the rate rests on", low=0),
        Column("n_undecided", "int", "Problems without one, left out of the rate", low=0),
        Column(
            "expected_rate", "float", "Mean solved share of these problems over everybody", nullable=True, low=0, high=1
        ),
        Column("n_terms", "int", "Different words of Q_u that are counted", low=0),
        Column("perplexity", "float", "Perplexity of the drawing, the same in every row that has a place", True, low=0),
        Column("k", "int", "How many are called nearest, the same in every row that has a place", True, low=1),
        Column("near_terms", "string", "Words that tell the participant and the k nearest from the others", True),
        Column("reason", "string", "Why there is no place, or no rate", nullable=True),
    ),
    ("participant",),
)

PROMPT_SPACE_TEST = Table(
    "prompt_space_test",
    "How true the drawing of prompt space is, and whether nearness in it goes with outcome (ours).",
    (
        Column("statistic", "string", "Which figure", allowed=(*PLACE_STATISTICS, *NEARNESS_STATISTICS)),
        Column("about", "string", "What nearness is held against", allowed=("drawn_place", *OUTCOMES)),
        Column("k", "int", "Nearest participants that it goes by; null where it goes by all pairs", True, low=1),
        Column("value", "float", "The figure; null where undefined", nullable=True),
        Column("n", "int", "Participants", low=0),
        Column("n_left_out", "int", "Participants without a place or without an outcome", low=0),
        Column("null_mean", "float", "What chance gives on average", nullable=True),
        Column("null_low", "float", "2.5% of permutations of the participants lie below", nullable=True),
        Column("null_high", "float", "2.5% of permutations lie above", nullable=True),
        Column("n_permutations", "int", "Permutations drawn", low=0),
        Column("p_value", "float", "(1 + permutations at least as large) / (1 + permutations)", True, low=0, high=1),
        Column("p_holm", "float", "p corrected for looking at every test of this table (Holm)", True, low=0, high=1),
        Column("reason", "string", "Why the figure is null", nullable=True),
    ),
    ("statistic", "about"),
)

TABLES = (PROMPT_SPACE, PROMPT_SPACE_TEST)
"""The tables of this module."""
