"""Tables of how people revise: prompts, programs, and what came of it (paper 1, V-B2, VI-B5 to VI-B8)."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables.columns import ATTEMPT, ORDER, PARTICIPANT, PROBLEM, TURN, VERDICTS, estimate_columns

REVISION_KINDS = ("unchanged", "incremental fix", "between", "rewrite")
"""Revisions by size; the limits are settings (``revision`` of contests.yaml)."""

CHURN_MEASURES = ("code_ned", "codebleu_churn", "prompt_ned")
"""How much a revision changes: columns of ``revisions``."""

SUMMARY_MEASURES = (*CHURN_MEASURES, "prompt_code_ned", "convergence", "convergence_without_reference")
"""What ``churn_summary`` is about."""

SUMMARY_GROUPS = ("all", "turn", "language", "outcome", "solved")

DIFFERENCE_OF_KINDS = "rewrite less incremental fix"

GAIN_STATISTICS = ("share", "accepted_after_rejection", "mean_delta_p_mean")

PROMPT_WINDOWS = Table(
    "prompt_windows",
    "What the participant asked about the problem between two attempts: h of the attempt (paper 1, eq. 5 and 30).",
    (
        ATTEMPT,
        Column("n_prompts", "int", "Prompts in the window (t_{k-1}, t_k]; null where it is unknown", True, low=0),
        Column("text_sha256", "string", "sha256 of h in UTF-8; h may be ''", nullable=True),
        Column("n_chars", "int", "Length of h in characters", nullable=True, low=0),
        Column("reason", "string", "Why h is unknown", nullable=True),
    ),
    ("attempt_id",),
)


def _share(name: str, what: str) -> Column:
    return Column(name, "float", what, nullable=True, low=0, high=1)


def _why(name: str) -> Column:
    return Column(f"{name}_reason", "string", f"Why {name} is null", nullable=True)


CODE_SIMILARITIES = Table(
    "code_similarities",
    "CodeBLEU of one attempt against another of its trajectory: of each pair that revisions or convergence compare.",
    (
        Column("reference_attempt_id", "string", "The attempt that the other is compared with"),
        Column("attempt_id", "string", "The other attempt"),
        PARTICIPANT,
        PROBLEM,
        _share("codebleu", "CodeBLEU with weights (1/3, 1/3, 1/3, 0): the mean of the three terms"),
        _share("ngram", "n-gram term"),
        _share("weighted_ngram", "n-gram term in which keywords count fully and other tokens a fifth"),
        _share("syntax", "Share of the reference's sub-trees that the other program has, too"),
        Column("short", "bool", "Whether either program has fewer than 4 tokens"),
        Column("reason", "string", "Why codebleu is null", nullable=True),
    ),
    ("reference_attempt_id", "attempt_id"),
)

REVISIONS = Table(
    "revisions",
    "One revision: two consecutive attempts k-1 and k of a trajectory (paper 1, eq. 29-31).",
    (
        ORDER,
        Column("attempt_id", "string", "Attempt k, the later one"),
        Column("previous_attempt_id", "string", "Attempt k-1"),
        PARTICIPANT,
        PROBLEM,
        Column("turn", "int", "Turn k in this order", low=2),
        Column("language", "string", "Programming language of attempt k", nullable=True),
        Column("language_changed", "bool", "Whether that of k-1 is another; null where one is not stated", True),
        _share("code_ned", "NED of the two programs (eq. 29-30)"),
        _why("code_ned"),
        _share("codebleu_churn", "1 - CodeBLEU of k against k-1 as the reference (eq. 31)"),
        Column("short", "bool", "Whether either program has fewer than 4 tokens; null without CodeBLEU", True),
        _why("codebleu_churn"),
        _share("prompt_ned", "NED of what was asked before k-1 and before k (eq. 29-30; never Q_u)"),
        _why("prompt_ned"),
        _share("prompt_code_ned", "NED of what was asked before k and the program of k (VI-A7)"),
        _why("prompt_code_ned"),
        Column("code_ned_kind", "string", "The revision's size by code_ned", nullable=True, allowed=REVISION_KINDS),
        Column("codebleu_churn_kind", "string", "Its size by codebleu_churn", nullable=True, allowed=REVISION_KINDS),
        Column("verdict_before", "string", "Verdict of k-1", allowed=VERDICTS),
        Column("verdict_after", "string", "Verdict of k", allowed=VERDICTS),
        Column("y_before", "int", "Label of k-1; null where undecided", nullable=True, low=0, high=1),
        Column("y_after", "int", "Label of k; null where undecided", nullable=True, low=0, high=1),
        Column("delta_y", "int", "Change of the label: 1 accepted now, -1 no longer", nullable=True, low=-1, high=1),
        Column("delta_p_mean", "float", "Change of the panel's mean p_ac (eq. 11)", nullable=True, low=-1, high=1),
        _why("delta_p_mean"),
        Column("after_first_ac", "bool", "Whether an earlier turn was accepted"),
        Column("minutes", "float", "Minutes from k-1 to k; below 0 in reversed order; null where not known", True),
    ),
    ("order", "attempt_id"),
)

CONVERGENCE = Table(
    "convergence",
    "How near one attempt of a solved trajectory is to its first accepted program (paper 1, eq. 32).",
    (
        ORDER,
        ATTEMPT,
        Column("reference_attempt_id", "string", "The first accepted attempt"),
        PARTICIPANT,
        PROBLEM,
        TURN,
        Column("turns_from_first_ac", "int", "Turns since the first accepted attempt; below 0 before it"),
        Column("is_reference", "bool", "Whether it is that attempt itself, which is 1 by definition"),
        _share("codebleu", "CodeBLEU of the attempt against the first accepted one as the reference"),
        Column("short", "bool", "Whether either program has fewer than 4 tokens"),
        Column("reason", "string", "Why codebleu is null", nullable=True),
    ),
    ("order", "attempt_id"),
)

CHURN_SUMMARY = Table(
    "churn_summary",
    "Median or mean of a measure of revision, over all or by turn, language or outcome (paper 1, VI-B5 to VI-B8).",
    (
        ORDER,
        Column("measure", "string", "What is measured", allowed=SUMMARY_MEASURES),
        Column("grouped_by", "string", "What rows are told apart by", allowed=SUMMARY_GROUPS),
        Column("level", "string", "Which turn, language or outcome"),
        Column("statistic", "string", "Which figure", allowed=("median", "mean")),
        *estimate_columns("The figure"),
    ),
    ("order", "measure", "grouped_by", "level", "statistic"),
)

REVISION_GAINS = Table(
    "revision_gains",
    "What incremental fixes and rewrites gain (paper 1, RQ2).",
    (
        ORDER,
        Column("measure", "string", "What the size goes by", allowed=CHURN_MEASURES[:2]),
        Column(
            "kind", "string", "Size of the revision, or two compared", allowed=(*REVISION_KINDS, DIFFERENCE_OF_KINDS)
        ),
        Column("statistic", "string", "Which figure", allowed=GAIN_STATISTICS),
        *estimate_columns("The figure"),
    ),
    ("order", "measure", "kind", "statistic"),
)

EFFECT_STATISTICS = ("spearman", "slope", "variance_participant", "variance_problem", "variance_residual")

CHURN_EFFECTS = Table(
    "churn_effects",
    "Whether larger revisions go with more progress: rank correlation and mixed model (paper 1, RQ2, VI-B5, VI-B7).",
    (
        ORDER,
        Column("measure", "string", "How much was revised", allowed=CHURN_MEASURES),
        Column("progress", "string", "What is taken for progress", allowed=("delta_y", "delta_p_mean")),
        Column("revisions", "string", "Which revisions", allowed=("all", "after_rejection")),
        Column("statistic", "string", "Which figure", allowed=EFFECT_STATISTICS),
        Column("sample", "string", "Which of these revisions the figure rests on"),
        *estimate_columns("The figure"),
    ),
    ("order", "measure", "progress", "revisions", "statistic"),
)

TABLES = (
    PROMPT_WINDOWS, CODE_SIMILARITIES, REVISIONS, CONVERGENCE, CHURN_SUMMARY, REVISION_GAINS, CHURN_EFFECTS,
)  # fmt: skip
"""The tables of this module."""
