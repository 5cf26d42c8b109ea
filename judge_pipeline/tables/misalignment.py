"""Tables of what people and judges weigh when they choose between two responses, and where they differ (TRACE)."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables.columns import estimate_columns

CHOOSERS = ("people", "judge")

EFFECTS = {
    "coefficient": "Coefficient",
    "marginal_effect": "Average marginal effect",
    "relative": "Coefficient / length of all",
}
"""How much an item counts -> what it is called. The last two do not depend on how decisive somebody is."""

MISALIGNMENT_TESTS = {
    "trace_per_judge": "Paper's: the judge's interval leaves out the people's coefficient, taken as known",
    "trace_pooled": "Paper's: the judges' pooled coefficient against the people's, taken as known",
    "paired": "Ours: both under the same resamples of pairs",
}
"""Test -> what it is. The paper's two find misalignment where there is none far more often than 5%."""

_OF = Column("of", "string", "Whose model", allowed=CHOOSERS)
_NAME = Column("judge", "string", "The judge; null for people", nullable=True)
_ITEM = Column("item", "string", "Rubric item")
_EFFECT = Column("effect", "string", "How much the item counts, measured how", allowed=tuple(EFFECTS))

PREFERENCE_MODELS = Table(
    "preference_models",
    "How much a rubric item counts in the choices of people or of a judge (TRACE, section 3, step 3).",
    (
        _OF,
        _NAME,
        _ITEM,
        _EFFECT,
        *estimate_columns("The effect; above 0: chooses what satisfies the item better"),
        Column("se", "float", "Bootstrap standard error", nullable=True),
        Column("vif", "float", "Variance inflation factor; null where other items determine this one", True, low=1),
    ),
    ("of", "judge", "item", "effect"),
)

PREFERENCE_MODEL_FITS = Table(
    "preference_model_fits",
    "How well the rubric predicts the choices of people or of a judge on pairs that its model did not see.",
    (
        _OF,
        _NAME,
        *estimate_columns("Accuracy on held-out pairs"),
        Column("floor", "float", "The same of the choice that is most frequent in the rest", nullable=True),
        Column("n_chose_b", "int", "Pairs on which B was chosen", low=0),
        Column("separated", "bool", "Whether the items determine the choices of some pairs without error", True),
        Column("n_single_class", "int", "Resamples with one choice only, which were skipped", low=0),
        Column("n_resamples", "int", "Resamples", low=0),
    ),
    ("of", "judge"),
)

MISALIGNMENT = Table(
    "misalignment",
    "A judge's effect of an item, or that of all judges pooled, less the people's, under one test.",
    (
        _EFFECT,
        Column("test", "string", "How it is tested", allowed=tuple(MISALIGNMENT_TESTS)),
        Column("judge", "string", "The judge; null for all of them pooled", nullable=True),
        _ITEM,
        *estimate_columns("The difference; n counts pairs that people and the judge, or any judge, chose on"),
        Column("people", "float", "The people's effect", nullable=True),
        Column("judges", "float", "The judge's effect, or the pooled one", nullable=True),
        Column("n_judges", "int", "Judges behind it", low=0),
        Column("tau2", "float", "Variance between judges (Paule-Mandel); null for a single judge", True, low=0),
        Column("p_value", "float", "Two-sided p of no difference; null where the test has none", True, low=0, high=1),
        Column("p_bh", "float", "The same, corrected over the items (Benjamini-Hochberg)", True, low=0, high=1),
        Column("misaligned", "bool", "Whether the test finds a difference at 5%; null where it cannot be had", True),
    ),
    ("effect", "test", "judge", "item"),
)

RUBRIC_DISAGREEMENTS = Table(
    "rubric_disagreements",
    "A pair on which a judge chose other than people, and whether the rubric would have said so.",
    (
        Column("pair_id", "string", "The pair"),
        Column("judge", "string", "The judge"),
        Column("label", "string", "What people chose", allowed=("A", "B")),
        Column("choice", "string", "What the judge chose", allowed=("A", "B")),
        Column("p_b_people", "float", "P(people choose B), by a model that did not see the pair", True, low=0, high=1),
        Column("p_b_judge", "float", "P(the judge chooses B), likewise", nullable=True, low=0, high=1),
        Column("explained", "bool", "Both models choose as their own side did; null where one is missing", True),
        Column("reversed", "bool", "Both choose as the other side did: what chance gives as often", nullable=True),
        Column("item", "string", "The item whose weights speak most for this disagreement; null: none", nullable=True),
        Column("push", "float", "By how much, in log odds: (judge's - people's coefficient) x score", nullable=True),
    ),
    ("pair_id", "judge"),
)

TABLES = (PREFERENCE_MODELS, PREFERENCE_MODEL_FITS, MISALIGNMENT, RUBRIC_DISAGREEMENTS)
"""The tables of this module."""
