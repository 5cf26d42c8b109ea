"""Which tables a contest's settings decide on: the way from ``contest.yaml`` to figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from judge_pipeline.lineage.table_graph import Graph, made_from

_READ = ("submission_artifacts", "prompt_logs", "ingest_quarantine")
_ASKED = ("judge_requests", "redaction_counts", "verdict_word_counts")
_SHOWN = (*_ASKED, "prompt_space", "prompt_space_test")
_RESAMPLED = (
    "judge_metrics", "judge_agreement", "judge_differences", "judge_curves", "judge_scores", "judge_calibration",
    "judge_panels", "acceptance_rates", "rerating_agreement", "anchor_figures", "judge_canary_effects",
    "success_curves", "survival_groups", "struggle_groups", "pattern_groups", "prompt_code_summary", "churn_summary",
    "revision_gains", "churn_effects",
)  # fmt: skip

FIRST_TABLES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("title", "note", "trajectory_pages", "bundle"), ()),
    **dict.fromkeys(
        ("time_zone", "verdict_words", "problem_names", "participant_names", "columns", "archive_names"), _READ
    ),
    "context_roles": ("participant_contexts",),
    **dict.fromkeys(("context", "problem_statements", "max_code_chars"), _ASKED),
    **dict.fromkeys(("max_prompt_chars", "redaction", "mask_verdict_words"), _SHOWN),
    **dict.fromkeys(("split", "seed"), ("splits",)),
    "resamples": _RESAMPLED,
    "min_coverage": ("judge_outputs",),
    "anchor": ("anchor_runs", "anchor_figures"),
    "canary": ("judge_canaries", "judge_canary_effects"),
    "revision": ("trajectory_times", "prompt_windows", "revisions"),
    "dynamics": ("trajectory_times", "trajectory_patterns", "struggle_groups"),
}
"""Setting of contest.yaml -> the first tables that it decides on; none where it changes words and pages alone."""


def reached(graph: Graph, first: Iterable[str]) -> list[str]:
    """The tables, and all that is made from them; sorted."""
    own = set(first)
    return sorted({*own, *made_from(graph, own)})
