"""What a team edits, read and checked: judges.yaml, contests.yaml and contest.yaml; and where things lie.

Every error names the file, the key, the line and the remedy. Nothing here is heavy: the code location loads it.
"""

from __future__ import annotations

from judge_pipeline.settings.contest import ARCHIVE_FIELDS, TABLE_COLUMNS, ContestSettings, SplitRatios
from judge_pipeline.settings.judges import (
    BaselineJudge,
    Batch,
    Ceilings,
    EmbeddedJudge,
    JudgeSettings,
    JudgesFile,
    Limits,
    LitellmJudge,
    Price,
    Rates,
    RecordedJudge,
    Scope,
    Split,
    System,
)
from judge_pipeline.settings.names import SLUG, SettingsModel, check_slug
from judge_pipeline.settings.workspace import Workspace, packaged_config_dir

__all__ = [
    "ARCHIVE_FIELDS",
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
    "Price",
    "Rates",
    "RecordedJudge",
    "Scope",
    "SettingsModel",
    "Split",
    "SplitRatios",
    "System",
    "Workspace",
    "check_slug",
    "packaged_config_dir",
]
