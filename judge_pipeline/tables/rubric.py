"""Tables of a preference set's rubric: items and their origin, scores of pairs, themes over sets (TRACE)."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables.columns import estimate_columns
from judge_pipeline.tables.preference import PAIR

ITEM_ORIGINS = ("generated", "human", "both", "edited")
"""Where a rubric item comes from: proposed by a model, written by people, merged of both, or changed by a person."""

_ITEM = Column("item", "string", "Rubric item, as a slug")

RUBRIC_PROPOSALS = Table(
    "rubric_proposals",
    "One axis on which the responses of a batch of pairs were found to differ, before axes are merged.",
    (
        Column("round", "int", "Round of discovery, 1-based", low=1),
        Column("batch", "int", "Batch of pairs in the round, 1-based", low=1),
        Column("place", "int", "Place in the batch's answer, 1-based", low=1),
        Column("title", "string", "The axis"),
        Column("high", "string", "What it means to be high on it"),
        Column("low", "string", "What it means to be low on it"),
        Column("pair_ids", "string", "The batch's pairs: JSON list"),
        Column("item", "string", "The rubric item that it was merged into; null: none", nullable=True),
        Column("request_hash", "string", "Identity of the call that proposed it", nullable=True),
    ),
    ("round", "batch", "place"),
)

RUBRIC = Table(
    "rubric",
    "One item of the rubric R: generated items R_A and people's R_H, merged (TRACE, section 3, step 2).",
    (
        _ITEM,
        Column("title", "string", "Its name for people"),
        Column("high", "string", "What it means to satisfy it"),
        Column("low", "string", "What it means not to satisfy it"),
        Column("origin", "string", "Where it comes from", allowed=ITEM_ORIGINS),
        Column("sources", "string", "What was merged into it: JSON list of titles", nullable=True),
        Column("round", "int", "Round of discovery it was first found in; null for people's items", True, low=1),
        Column("theme", "string", "Theme that it belongs to, where one is stated", nullable=True),
        Column(
            "unedited", "string", "Its words before a person edited it: JSON object {title, high, low}", nullable=True
        ),
    ),
    ("item",),
)

RUBRIC_SCORES = Table(
    "rubric_scores",
    "Which response of a pair satisfies a rubric item better: -1 y_A, +1 y_B, 0 both alike (TRACE, section 3, step 3).",
    (
        PAIR,
        _ITEM,
        Column("score", "int", "The score under the set's rule for two orders; null: not scored", True, low=-1, high=1),
        Column("score_ab", "int", "As answered with y_A first, in terms of y_A and y_B", nullable=True, low=-1, high=1),
        Column("score_ba", "int", "As answered with y_B first, in terms of y_A and y_B", nullable=True, low=-1, high=1),
        Column("scorer", "string", "The judge that scored it, or the file with scores; null: none is named", True),
        Column("reason", "string", "Why there is no score", nullable=True),
    ),
    ("pair_id", "item"),
)

RUBRIC_SCORE_AGREEMENT = Table(
    "rubric_score_agreement",
    "How far rubric scores can be relied on: the same in both orders, and by a second scorer on a sample of pairs.",
    (
        Column("item", "string", "Rubric item; null for all", nullable=True),
        Column("other", "string", "The second scorer; null: the scorer in its other order", nullable=True),
        Column("figure", "string", "Which figure", allowed=("raw_agreement", "cohen", "nonzero_share")),
        *estimate_columns("The figure"),
    ),
    ("item", "other", "figure"),
)

RUBRIC_THEMES = Table(
    "rubric_themes",
    "One theme that rubric items of several sets share, its software-engineering criterion, and whether judges differ.",
    (
        Column("theme", "string", "The theme, of themes.yaml; null: none fits", nullable=True),
        Column("criterion", "string", "Software-engineering criterion it maps to; null: none", nullable=True),
        Column("preference_set", "string", "The set"),
        _ITEM,
        Column("title", "string", "The item's name for people"),
        Column("assigned_by", "string", "What put it there", allowed=("file", "words", "none")),
        Column("difference", "float", "Pooled judges' coefficient less people's", nullable=True),
        Column("misaligned", "bool", "Whether our paired test finds a difference at 5%", nullable=True),
        Column("misaligned_by_trace", "bool", "Whether the paper's pooled test does", nullable=True),
    ),
    ("preference_set", "item"),
)

RUBRIC_THEME_SUMMARY = Table(
    "rubric_theme_summary",
    "One theme over all sets: how many items it has, and on how many of them judges differ from people.",
    (
        Column("theme", "string", "The theme, of themes.yaml"),
        Column("title", "string", "Its name for people"),
        Column("criterion", "string", "Software-engineering criterion it maps to; null: none", nullable=True),
        Column("n_items", "int", "Items of it", low=1),
        Column("n_sets", "int", "Sets that have one", low=1),
        Column("n_tested", "int", "Items on which judges could be held against people", low=0),
        Column("n_overweighted", "int", "Of these, which judges weigh more than people, by our paired test", low=0),
        Column("n_underweighted", "int", "Of these, which judges weigh less", low=0),
        Column("misaligned", "bool", "Whether there is any of the two; null where none was tested", nullable=True),
        Column("misaligned_by_trace", "bool", "Whether the paper's pooled test finds any", nullable=True),
    ),
    ("theme",),
)

TABLES = (RUBRIC_PROPOSALS, RUBRIC, RUBRIC_SCORES, RUBRIC_SCORE_AGREEMENT, RUBRIC_THEMES, RUBRIC_THEME_SUMMARY)
"""The tables of this module."""
