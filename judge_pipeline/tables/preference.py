"""Tables of a preference set as it is read: pairs, what was set aside, what the importer chose, splits, profile."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables.columns import NOTES, SPLITS, estimate_columns

CHOICES = ("A", "B", "tie")
"""What a person may choose between two responses."""

EFFECTS = ("kept", "swapped", "merged", "left_out", "set_aside")
"""What an importer may do with a row: keep it, keep it with its responses swapped, take it into another row's pair,
leave it out by a setting, or set it aside as faulty."""

PROFILE_FIGURES = (
    "pairs", "instructions", "natural_languages", "programming_languages", "context_chars", "output_chars",
    "code_lines", "edit_distance_lines", "with_instruction", "with_code_to_edit", "with_file_context", "ties",
    "chose_first_in_source", "same_response",
)  # fmt: skip
"""The figures of ``dataset_profile``."""

PAIR = Column("pair_id", "string", "The source's id of the pair, else the first 16 hex of a sha256 of its content")

_EVIDENCE = "JSON object {output, error, screenshot: {sha256, media_type, n_bytes, width, height} or why there is none}"

PREFERENCE_PAIRS = Table(
    "preference_pairs",
    "One preference pair (x, y_A, y_B, w): a context, two responses, and what people chose (TRACE, section 3).",
    (
        PAIR,
        Column("instruction", "string", "What was asked for; null where there is only a file to complete", True),
        Column("prior_turns", "string", "Turns before it: JSON list of {role, content}", nullable=True),
        Column("prefix", "string", "The file before the place to complete or to edit", nullable=True),
        Column("suffix", "string", "The file behind that place", nullable=True),
        Column("code_to_edit", "string", "The code that was marked to be edited", nullable=True),
        Column("response_a", "string", "Response y_A"),
        Column("response_b", "string", "Response y_B"),
        Column("w", "string", "The human choice", allowed=CHOICES),
        Column("both_bad", "bool", "Whether w is a tie because both were called bad"),
        Column("category", "string", "Category by the source", nullable=True),
        Column("language", "string", "Programming language by the source", nullable=True),
        Column("natural_language", "string", "Natural language by the source", nullable=True),
        Column("evidence_a", "string", f"What running y_A gave: {_EVIDENCE}", True),
        Column("evidence_b", "string", f"What running y_B gave: {_EVIDENCE}", True),
        Column("aspects", "string", "Aspects that people stated: JSON object {aspect: A, B, tie or words}", True),
        Column("votes", "string", "Annotators' votes: JSON object {annotator: A, B or tie}", nullable=True),
        Column("split", "string", "Split by the source", nullable=True, allowed=SPLITS),
        Column("model_a", "string", "What wrote y_A; never shown to a judge", nullable=True),
        Column("model_b", "string", "What wrote y_B; never shown to a judge", nullable=True),
        Column("swapped", "bool", "Whether the importer swapped the responses (and what belongs to them)"),
        Column("origin", "string", "Which importer read it"),
        Column("source_file", "string", "The file, relative to the set's folder, with /"),
        Column("place", "string", "Where in the file: row and line"),
        NOTES,
    ),
    ("pair_id",),
)

PREFERENCE_QUARANTINE = Table(
    "preference_quarantine",
    "A file or a row of a preference set that could not be read, with the reason and what to do.",
    (
        Column("source_file", "string", "The file, relative to the set's folder, with /"),
        Column("place", "string", "Where in it; null for all of it", nullable=True),
        Column("field", "string", "The column or key at fault", nullable=True),
        Column("value", "string", "Its value, shortened", nullable=True),
        Column("reason", "string", "Why it cannot be read"),
        Column("remedy", "string", "What to do"),
    ),
    ("source_file", "place"),
)

PREFERENCE_SELECTION = Table(
    "preference_selection",
    "How many rows of a file the importer kept, swapped, merged, left out and set aside, by reason.",
    (
        Column("source_file", "string", "The file, relative to the set's folder, with /"),
        Column("origin", "string", "Which importer read it"),
        Column("effect", "string", "What was done with the rows", allowed=EFFECTS),
        Column("reason", "string", "Why"),
        Column("setting", "string", "The setting that decides it; null where none does", nullable=True),
        Column("n", "int", "How many rows", low=0),
    ),
    ("source_file", "effect", "reason"),
)

ASSIGNED_BY = Column(
    "assigned_by",
    "string",
    "What decided it first; ledger: one that does not say by what",
    allowed=("source", "ledger", "seed"),
)

PREFERENCE_SPLITS = Table(
    "preference_splits",
    "The split of one pair; pairs of the same instruction are in one split.",
    (
        PAIR,
        Column("split", "string", "Split of the pair", allowed=SPLITS),
        Column("instruction_group", "string", "First 16 hex of the sha256 of the instruction, else of the context"),
        ASSIGNED_BY,
    ),
    ("pair_id",),
)

PREFERENCE_SPLITS_LEDGER = Table(
    "preference_splits_ledger",
    "The split of one instruction group as first assigned; later runs keep it.",
    (
        Column("instruction_group", "string", "First 16 hex of the sha256 of the instruction, else of the context"),
        Column("split", "string", "Split of its pairs", allowed=SPLITS),
        ASSIGNED_BY,
    ),
    ("instruction_group",),
)

PAIR_TEXTS = Table(
    "pair_texts",
    "What judges are shown of one pair: context and responses, personal data replaced; no label, no vote, no model.",
    (
        PAIR,
        *(
            PREFERENCE_PAIRS.by_name[name]
            for name in (
                "category", "language", "instruction", "prior_turns", "prefix", "suffix", "code_to_edit", "response_a",
                "response_b", "evidence_a", "evidence_b",
            )
        ),
    ),
    ("pair_id",),
)  # fmt: skip

PAIR_REDACTION_COUNTS = Table(
    "pair_redaction_counts",
    "How often one kind of personal data was replaced in what judges are shown of pairs. What it was is kept nowhere.",
    (
        Column("place", "string", "Which text of the pair"),
        Column("kind", "string", "Which kind", allowed=("secret", "email", "phone", "name", "participant")),
        Column("n_replaced", "int", "Tokens put in its place", low=0),
        Column("n_texts", "int", "Texts in which there was any", low=0),
        Column("n_searched", "int", "Texts that were searched", low=0),
        Column("reason", "string", "Why the kind is not replaced", nullable=True),
    ),
    ("place", "kind"),
)

DATASET_PROFILE = Table(
    "dataset_profile",
    "One figure of a preference set (TRACE, Table 1), as an estimate.",
    (
        Column("figure", "string", "Which figure", allowed=PROFILE_FIGURES),
        Column("statistic", "string", "What of it", allowed=("count", "share", "p50", "p95")),
        Column("level", "string", "One language or category of those counted; null for the set", nullable=True),
        *estimate_columns("The figure"),
    ),
    ("figure", "statistic", "level"),
)

TABLES = (
    PREFERENCE_PAIRS, PREFERENCE_QUARANTINE, PREFERENCE_SELECTION, PREFERENCE_SPLITS, PREFERENCE_SPLITS_LEDGER,
    PAIR_TEXTS, PAIR_REDACTION_COUNTS, DATASET_PROFILE,
)  # fmt: skip
"""The tables of this module."""
