"""The schema of every table that crosses a room's wall, once (what a schema is: ``table_schema``)."""

from __future__ import annotations

from judge_pipeline.tables import (
    anchors,
    canaries,
    contest,
    criteria,
    criteria_ablation,
    dynamics,
    evaluation,
    guidance,
    judging,
    leaderboard,
    misalignment,
    pair_judging,
    preference,
    preference_accuracy,
    reratings,
    rubric,
)
from judge_pipeline.tables.anchors import ANCHOR_FIGURES, ANCHOR_RUNS
from judge_pipeline.tables.canaries import JUDGE_CANARIES, JUDGE_CANARY_EFFECTS
from judge_pipeline.tables.columns import SPLITS, VERDICTS, VERDICTS_WITHOUT_LABEL, estimate_columns
from judge_pipeline.tables.contest import (
    ATTEMPTS,
    INGEST_QUARANTINE,
    PARTICIPANT_CONTEXTS,
    PROMPT_LOGS,
    SPLIT_ASSIGNMENTS,
    SPLITS_LEDGER,
    SUBMISSION_ARTIFACTS,
)
from judge_pipeline.tables.dynamics import (
    CONTEST_OVERVIEW,
    PROMPT_CODE_NED,
    PROMPT_CODE_SUMMARY,
    STRUGGLE_CURVES,
    SUCCESS_AT_TURN,
    SURVIVAL,
    TRAJECTORIES,
)
from judge_pipeline.tables.evaluation import (
    ACCEPTANCE_RATES,
    JUDGE_AGREEMENT,
    JUDGE_CALIBRATION,
    JUDGE_CALIBRATION_MAPS,
    JUDGE_CURVES,
    JUDGE_DIFFERENCES,
    JUDGE_METRICS,
    JUDGE_PANEL_WEIGHTS,
    JUDGE_PANELS,
    JUDGE_SCORES,
)
from judge_pipeline.tables.judging import (
    JUDGE_COVERAGE,
    JUDGE_OUTPUTS,
    JUDGE_REPEATS,
    JUDGE_REQUESTS,
    PREDICTIONS,
    PREDICTIONS_WIDE,
    REDACTION_COUNTS,
    VERDICT_WORD_COUNTS,
)
from judge_pipeline.tables.leaderboard import JUDGE_VERSIONS, LEADERBOARD
from judge_pipeline.tables.pair_judging import PAIR_JUDGE_COVERAGE, PAIR_JUDGMENTS
from judge_pipeline.tables.preference import (
    DATASET_PROFILE,
    PAIR_REDACTION_COUNTS,
    PAIR_TEXTS,
    PREFERENCE_PAIRS,
    PREFERENCE_QUARANTINE,
    PREFERENCE_SELECTION,
    PREFERENCE_SPLITS,
    PREFERENCE_SPLITS_LEDGER,
)
from judge_pipeline.tables.preference_accuracy import PREFERENCE_ACCURACY, PREFERENCE_RANKS
from judge_pipeline.tables.reratings import RERATING_AGREEMENT, RERATING_KEYS, RERATINGS

ALL_TABLES = (
    *contest.TABLES,
    *judging.TABLES,
    *canaries.TABLES,
    *anchors.TABLES,
    *evaluation.TABLES,
    *dynamics.TABLES,
    *leaderboard.TABLES,
    *reratings.TABLES,
    *preference.TABLES,
    *pair_judging.TABLES,
    *preference_accuracy.TABLES,
    *misalignment.TABLES,
    *rubric.TABLES,
    *criteria.TABLES,
    *criteria_ablation.TABLES,
    *guidance.TABLES,
)
"""Every table of the house."""

BROUGHT = (SPLITS_LEDGER, RERATING_KEYS, RERATINGS, PREFERENCE_SPLITS_LEDGER)
"""Tables that no asset makes: kept beside the graph, or brought by people."""

__all__ = [
    "ACCEPTANCE_RATES",
    "ALL_TABLES",
    "ANCHOR_FIGURES",
    "ANCHOR_RUNS",
    "ATTEMPTS",
    "BROUGHT",
    "CONTEST_OVERVIEW",
    "DATASET_PROFILE",
    "INGEST_QUARANTINE",
    "JUDGE_AGREEMENT",
    "JUDGE_CALIBRATION",
    "JUDGE_CALIBRATION_MAPS",
    "JUDGE_CANARIES",
    "JUDGE_CANARY_EFFECTS",
    "JUDGE_COVERAGE",
    "JUDGE_CURVES",
    "JUDGE_DIFFERENCES",
    "JUDGE_METRICS",
    "JUDGE_OUTPUTS",
    "JUDGE_PANELS",
    "JUDGE_PANEL_WEIGHTS",
    "JUDGE_REPEATS",
    "JUDGE_REQUESTS",
    "JUDGE_SCORES",
    "JUDGE_VERSIONS",
    "LEADERBOARD",
    "PAIR_JUDGE_COVERAGE",
    "PAIR_JUDGMENTS",
    "PAIR_REDACTION_COUNTS",
    "PAIR_TEXTS",
    "PARTICIPANT_CONTEXTS",
    "PREDICTIONS",
    "PREDICTIONS_WIDE",
    "PREFERENCE_ACCURACY",
    "PREFERENCE_PAIRS",
    "PREFERENCE_QUARANTINE",
    "PREFERENCE_RANKS",
    "PREFERENCE_SELECTION",
    "PREFERENCE_SPLITS",
    "PREFERENCE_SPLITS_LEDGER",
    "PROMPT_CODE_NED",
    "PROMPT_CODE_SUMMARY",
    "PROMPT_LOGS",
    "REDACTION_COUNTS",
    "RERATINGS",
    "RERATING_AGREEMENT",
    "RERATING_KEYS",
    "SPLITS",
    "SPLITS_LEDGER",
    "SPLIT_ASSIGNMENTS",
    "STRUGGLE_CURVES",
    "SUBMISSION_ARTIFACTS",
    "SUCCESS_AT_TURN",
    "SURVIVAL",
    "TRAJECTORIES",
    "VERDICTS",
    "VERDICTS_WITHOUT_LABEL",
    "VERDICT_WORD_COUNTS",
    "estimate_columns",
]
