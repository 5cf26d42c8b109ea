"""Why a run that does not name a judge leaves it out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from judge_pipeline.settings import JudgeSettings, RecordedJudge

SWITCHED_OFF = "enabled: false in judges.yaml"
"""Why a judge is left out that judges.yaml switches off."""


def key_is_not_set(variable: str) -> str:
    """What is said of a judge whose key's variable is not set."""
    return f"environment variable {variable} is not set"


def why_left_out(
    judge: JudgeSettings, folder: Path, environment: Mapping[str, str], folder_words: str = "the contest folder"
) -> str | None:
    """The reason in words; None where the judge takes part.

    Args:
        judge: its settings.
        folder: where a recorded judge's file is looked for.
        environment: where its key is looked for.
        folder_words: what the folder is called.
    """
    if not judge.enabled:
        return SWITCHED_OFF
    key = judge.missing_key(environment)
    if key:
        return key_is_not_set(key)
    if isinstance(judge, RecordedJudge) and not (folder / judge.file).is_file():
        return f"{folder_words} has no {judge.file}"
    return None
