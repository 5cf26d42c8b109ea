"""Tables of what judging criterion by criterion gains, and by what: ablation, aspects, decisive criteria (CriterAlign).

Published figures of the paper are in no table: what stands here was measured on one's own pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables import criteria
from judge_pipeline.tables.columns import estimate_columns
from judge_pipeline.tables.preference import CHOICES, PAIR

if TYPE_CHECKING:
    import pandas as pd

ACCURACY_FIGURES: Mapping[str, str] = {
    "acc": "Acc",
    "gain_over_monolithic": "Gain over monolithic",
    "gain_over_previous": "Gain over the row before",
    "gain_over_unguided": "Gain by guidance",
    "changed_share": "Decided otherwise than monolithic",
    "mended_share": "Mended",
    "spoiled_share": "Spoiled",
    "invalid_share": "Invalid",
    "no_evidence_share": "No evidence",
    "decision_skew": "A less B",
}
"""Figures of a configuration's decisions -> what they are called."""

CALL_FIGURES: Mapping[str, str] = {
    "n_requests": "Requests",
    "n_calls": "Calls, all tries",
    "n_invalid": "Without a valid answer",
    "tokens_in": "Prompt tokens",
    "tokens_out": "Answer tokens",
    "cost_usd": "US dollars",
}
"""What a configuration took -> what it is called; each also as ``..._per_pair``."""

SKEW_LEVELS: Mapping[str, str] = {"criterion": "verdicts on criteria", "majority": "majorities of a pair's criteria"}
SKEW_STAGES: Mapping[str, str] = {"before": "before SCF", "after": "after SCF"}
SKEW_PARTS: Mapping[str, str] = {"A": "A", "B": "B", "tie": "tie", "skew": "A less B", "ratio": "A/B"}

_SKEW = {
    f"{level}_{part}_{stage}": f"{words} of {of}, {when}"
    for level, of in SKEW_LEVELS.items()
    for stage, when in SKEW_STAGES.items()
    for part, words in SKEW_PARTS.items()
}
SKEW_FIGURES: Mapping[str, str] = {
    **_SKEW,
    **{f"label_{part}": f"{words} of labels" for part, words in SKEW_PARTS.items()},
    "criterion_skew_change": "A less B of verdicts, after less before",
    "majority_skew_change": "A less B of majorities, after less before",
    "removed_share": "Verdicts that SCF removes",
    "pairs_with_removed_share": "Pairs with a verdict removed",
}
"""Table 6: LEVEL_PART_STAGE -> what it is called."""

REFINEMENT_PHASES: Mapping[str, str] = {
    "decomposition": "Decomposition",
    "redundancy": "Redundancy check",
    "conflict": "Conflict check",
    "total": "All calls of refinement",
}
REFINEMENT_WAYS: Mapping[str, str] = {
    "plain": "one call a criterion",
    "btcr": "in batches",
    "asked": "as asked",
}
"""How calls of refinement are counted: as the plain loop would take, as batches do, and as there were."""

CALL_SAVINGS: Mapping[str, str] = {
    f"{phase}_{way}": f"{words}, {how}"
    for phase, words in REFINEMENT_PHASES.items()
    for way, how in REFINEMENT_WAYS.items()
}
"""Table 7: PHASE_WAY -> what it is called."""

ABLATION_FIGURES: Mapping[str, str] = {
    **ACCURACY_FIGURES,
    **CALL_FIGURES,
    **{f"{name}_per_pair": f"{words} a pair" for name, words in CALL_FIGURES.items()},
    **SKEW_FIGURES,
    **CALL_SAVINGS,
}
"""Every figure of CRITERIA_ABLATION -> what it is called."""

ASPECT_FIGURES: Mapping[str, str] = {
    "evidence_share": "Share of the evidence",
    "kept_share": "Kept by SCF",
    "told_share": "Tells the two apart",
    "agreement": "Agrees with the label",
    "decisive_share": "Decides the majority",
    "majority_gain": "Majority with it less without it",
}
"""Figures of an aspect -> what they are called."""

FLOORS = ("always A", "always B", "always tie", "the most frequent label", "the longer response")
"""Judges that need no judgment; the name stands in the column ``judge``."""

CRITERIA_ABLATION = Table(
    "criteria_ablation",
    "One figure of one configuration of one judge, alone or in a row of a table of the paper (CriterAlign, 1 to 8).",
    (
        Column("paper_table", "string", "Table of the paper that the row is arranged in; null: outside any", True),
        Column("paper_row", "string", "What the row is called there", nullable=True),
        Column("judge", "string", "Judge, or floor"),
        Column("configuration", "string", "Configuration of criteria.yaml; null for a floor", nullable=True),
        Column("against", "string", "For a gain: over which configuration", nullable=True),
        Column("category", "string", "Category of the pairs; null for all", nullable=True),
        Column("figure", "string", "Which figure", allowed=tuple(ABLATION_FIGURES)),
        *estimate_columns("The figure"),
        Column(
            "p_value", "float", "Two-sided p of no gain, paired bootstrap over groups of pairs", True, low=0, high=1
        ),
        Column(
            "p_holm",
            "float",
            "The same corrected (Holm) over the rows looked at together",
            True,
            low=0,
            high=1,
        ),
    ),
    ("paper_table", "paper_row", "judge", "configuration", "against", "category", "figure"),
)

CRITERIA_ASPECTS = Table(
    "criteria_aspects",
    "What criteria of one aspect bring to one configuration of one judge, and how often they agree with the labels.",
    (
        Column("judge", "string", "Judge"),
        Column("configuration", "string", "Configuration of criteria.yaml"),
        Column("aspect", "string", "The aspect", allowed=criteria.ASPECTS),
        Column("figure", "string", "Which figure", allowed=tuple(ASPECT_FIGURES)),
        *estimate_columns("The figure"),
    ),
    ("judge", "configuration", "aspect", "figure"),
)

DECISIVE_CRITERIA = Table(
    "decisive_criteria",
    "A criterion without which the majority of a pair's evidence would be another, on a pair that the configuration "
    "decides otherwise than the judge's own monolithic one.",
    (
        Column("judge", "string", "Judge"),
        Column("configuration", "string", "Configuration of criteria.yaml"),
        PAIR,
        Column("criterion", "string", "The criterion"),
        Column("text", "string", "What it compares"),
        Column("aspect", "string", "Its aspect", allowed=criteria.ASPECTS),
        Column("verdict", "string", "The verdict on it", allowed=("A", "B")),
        Column("majority", "string", "Majority of the pair's evidence", allowed=CHOICES),
        Column("majority_without", "string", "The same without this criterion", allowed=CHOICES),
        Column("decision", "string", "The configuration's decision; null: invalid", nullable=True, allowed=CHOICES),
        Column("monolithic", "string", "The monolithic decision; null: invalid", nullable=True, allowed=CHOICES),
        Column("label", "string", "What was chosen", allowed=CHOICES),
    ),
    ("judge", "configuration", "pair_id", "criterion"),
)

TABLES = (CRITERIA_ABLATION, CRITERIA_ASPECTS, DECISIVE_CRITERIA)
"""The tables of this module."""


@dataclass(frozen=True)
class JudgedTables:
    """What one configuration of one judge came to: the stored tables of its partition, each by its name.

    Tables that are None were not made. All are conformed to their schemas when given.

    Raises:
        TableError: a table does not fit its schema.
    """

    judge: str
    configuration: str
    criteria_decisions: pd.DataFrame
    criteria_calls: pd.DataFrame | None = None
    criteria: pd.DataFrame | None = None
    criterion_verdicts: pd.DataFrame | None = None
    child_verdicts: pd.DataFrame | None = None
    criterion_answers: pd.DataFrame | None = None
    child_answers: pd.DataFrame | None = None
    refined_criteria: pd.DataFrame | None = None
    consistent_evidence: pd.DataFrame | None = None

    def __post_init__(self) -> None:
        for name, schema in self.schemas().items():
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, schema.conform(given))

    @classmethod
    def schemas(cls) -> dict[str, Table]:
        """The schema of each table, by its name."""
        by_name = {table.name: table for table in criteria.TABLES}
        return {item.name: by_name[item.name] for item in fields(cls) if item.name in by_name}

    @property
    def name(self) -> str:
        """The partition's key: judge and configuration."""
        return f"{self.judge}@{self.configuration}"
