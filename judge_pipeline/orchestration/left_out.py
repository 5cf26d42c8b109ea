"""Why a run that does not name a judge leaves it out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from judge_pipeline.settings import JudgeSettings, RecordedJudge


def why_left_out(judge: JudgeSettings, contest_folder: Path, environment: Mapping[str, str]) -> str | None:
    """The reason in words; None where the judge takes part.

    Args:
        judge: its settings.
        contest_folder: where a recorded judge's file is looked for.
        environment: where its key is looked for.
    """
    if not judge.enabled:
        return "enabled: false in judges.yaml"
    key = judge.missing_key(environment)
    if key:
        return f"environment variable {key} is not set"
    if isinstance(judge, RecordedJudge) and not (contest_folder / judge.file).is_file():
        return f"the contest folder has no {judge.file}"
    return None
