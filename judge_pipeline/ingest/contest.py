"""A contest folder, read once: every artifact and chat log into tables, what cannot be read into the quarantine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from judge_pipeline.ingest.attempts import build_attempts, submission_artifacts
from judge_pipeline.ingest.beside import opener
from judge_pipeline.ingest.contest_folder import contest_files, fingerprint
from judge_pipeline.ingest.joined_sources import join_tables
from judge_pipeline.ingest.prompt_logs import prompt_logs
from judge_pipeline.settings import ContestSettings
from judge_pipeline.tables import INGEST_QUARANTINE


@dataclass(frozen=True)
class ContestRead:
    """What one reading of a contest folder gave.

    Attributes:
        submission_artifacts: table SUBMISSION_ARTIFACTS.
        prompt_logs: table PROMPT_LOGS.
        attempts: table ATTEMPTS.
        quarantine: table INGEST_QUARANTINE: what was set aside at any step.
        fingerprint: sha256 over the paths and contents of all files: the data version of the folder.
    """

    submission_artifacts: pd.DataFrame
    prompt_logs: pd.DataFrame
    attempts: pd.DataFrame
    quarantine: pd.DataFrame
    fingerprint: str


def read_contest(folder: Path, contest: str, settings: ContestSettings) -> ContestRead:
    """Read ``folder/submissions`` and ``folder/prompts``.

    Args:
        folder: the contest folder.
        contest: its name, which enters every attempt_id.
        settings: time zone, verdict words, problem names.
    """
    submissions = list(contest_files(folder, "submissions"))
    prompts = list(contest_files(folder, "prompts"))
    artifacts, unread = submission_artifacts(submissions, settings)
    artifacts, unread = join_tables(artifacts, unread, opener(folder, "submissions"))
    attempts, unusable = build_attempts(artifacts, contest)
    logs, unread_logs = prompt_logs(prompts)
    set_aside = [table for table in (unread, unusable, unread_logs) if len(table)]
    quarantine = pd.concat(set_aside, ignore_index=True) if set_aside else INGEST_QUARANTINE.empty()
    return ContestRead(
        artifacts, logs, attempts, INGEST_QUARANTINE.conform(quarantine), fingerprint([*submissions, *prompts])
    )


def read_statements(folder: Path) -> dict[str, str]:
    """Problem id -> statement, from ``problems/<problem>.md`` or ``.txt``; empty where there are none."""
    files = sorted((folder / "problems").glob("*")) if (folder / "problems").is_dir() else []
    return {file.stem: file.read_text(encoding="utf-8") for file in files if file.suffix in (".md", ".txt")}


def turn_gaps(attempts: pd.DataFrame) -> list[str]:
    """Trajectories whose turns are not 1, 2, ..., n, in words; none if all are."""
    groups = attempts.groupby(["participant", "problem_id"], sort=True)["turn"]
    return [
        f"{participant}, {problem}: turns {sorted(turns)}"
        for (participant, problem), turns in groups
        if sorted(turns) != list(range(1, len(turns) + 1))
    ]
