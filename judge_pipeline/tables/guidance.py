"""Tables of guidance by people's preferences: its training records, and its texts (CriterAlign, section 3.3, HPAG)."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables.preference import CHOICES, PAIR

GUIDANCE_STAGES = ("monolithic", "human_rationales", "guidance")
"""What is asked to make guidance: the judge for its own choices; the synthesizer for rationales, and for guidance."""

GUIDANCE_PARTS = ("pattern", "generator", "criterion_judge", "final_judge")
"""A divergence pattern, which is for people, or the text that a stage is given."""

GAPS = ("missed", "over_emphasized", "under_emphasized")
"""What the judge does with something that people weigh otherwise."""

_SYNTHESIZER = Column("synthesizer", "string", "Who reconstructs rationales and writes guidance, as in judges.yaml")

GUIDANCE_RECORDS = Table(
    "guidance_records",
    "One training record r of guidance: what a judge and people chose on one pair of split train, and why "
    "(CriterAlign, section 3.3).",
    (
        _SYNTHESIZER,
        PAIR,
        Column("instruction_group", "string", "Its group of identical instruction"),
        Column("category", "string", "Its category, as judges are shown it", nullable=True),
        Column("decision", "string", "y_mono: what the judge itself decides; null: invalid", True, allowed=CHOICES),
        Column("rationale", "string", "s_mono: its reason", nullable=True),
        Column("w", "string", "y: the human choice", allowed=CHOICES),
        Column("aspects", "string", "y_aspect: JSON object {aspect of the closed set: [A, B, tie, stated]}", True),
        Column("human_rationale", "string", "s_human: people's reason, as the synthesizer reconstructs it", True),
        Column("in_general", "bool", "Whether it was shown for what all tasks share"),
        Column("in_category", "bool", "Whether it was shown for its category"),
        Column("why_left_out", "string", "Why it was not shown at all", nullable=True),
        Column("request_hash", "string", "Identity of the call that reconstructed the reason", nullable=True),
    ),
    ("synthesizer", "pair_id"),
)

GUIDANCE = Table(
    "guidance",
    "One text of the frozen guidance for one judge: a divergence pattern, or what a stage is given, of all tasks or of "
    "one category (CriterAlign, section 3.3, HPAG).",
    (
        _SYNTHESIZER,
        Column("category", "string", "Category of tasks; null: shared by all", nullable=True),
        Column("part", "string", "What it is", allowed=GUIDANCE_PARTS),
        Column("place", "int", "Place among the patterns, from 1; 1 for a stage's text", low=1),
        Column("text", "string", "The text"),
        Column("gap", "string", "Of a pattern: what the judge does with it", nullable=True, allowed=GAPS),
        Column("n_records", "int", "Training records that it was synthesized from", low=1),
        Column("file", "string", "The frozen file's name, in <out>/guidance/<set>/"),
        Column("content_sha256", "string", "sha256 of the file's content"),
        Column("request_hash", "string", "Identity of the call that gave it", nullable=True),
    ),
    ("synthesizer", "category", "part", "place"),
)

TABLES = (GUIDANCE_RECORDS, GUIDANCE)
"""The tables of this module."""
