"""What a team edits, checked: judges.yaml, contests.yaml, contest.yaml, preference.yaml; and where things lie.

Every error names the file, the key, the line and the remedy. Nothing here is heavy: the code location loads it.
"""

from __future__ import annotations

from judge_pipeline.settings.contest import ARCHIVE_FIELDS, TABLE_COLUMNS, ContestSettings, SplitRatios
from judge_pipeline.settings.judge_parts import Batch, Limits, Price, Scope, Split, System
from judge_pipeline.settings.judges import (
    BaselineJudge,
    Ceilings,
    EmbeddedJudge,
    JudgeSettings,
    JudgesFile,
    LitellmJudge,
    Rates,
    RecordedJudge,
)
from judge_pipeline.settings.names import SLUG, SettingsModel, check_slug
from judge_pipeline.settings.preference import PAIR_COLUMNS, PreferenceSettings, SourceChoices
from judge_pipeline.settings.reward_judge import RewardJudge
from judge_pipeline.settings.workspace import Workspace, packaged_config_dir

__all__ = [
    "ARCHIVE_FIELDS",
    "PAIR_COLUMNS",
    "SLUG",
    "TABLE_COLUMNS",
    "BaselineJudge",
    "Batch",
    "Ceilings",
    "ContestSettings",
    "EmbeddedJudge",
    "JudgeSettings",
    "JudgesFile",
    "Limits",
    "LitellmJudge",
    "PreferenceSettings",
    "Price",
    "Rates",
    "RecordedJudge",
    "RewardJudge",
    "Scope",
    "SettingsModel",
    "SourceChoices",
    "Split",
    "SplitRatios",
    "System",
    "Workspace",
    "check_slug",
    "packaged_config_dir",
]
