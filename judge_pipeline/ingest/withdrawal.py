"""Keeping out of a contest whoever has withdrawn from it, though their files may still lie in its folder."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd

from judge_pipeline.ingest.attempts import build_attempts, resolve_participant
from judge_pipeline.ingest.contest import ContestRead
from judge_pipeline.ingest.contest_folder import participant_and_problem_of

_WORD = re.compile(r"[^\s'\",;:()/\\]+")


def leave_out(read: ContestRead, contest: str, has_withdrawn: Callable[[str], bool]) -> tuple[ContestRead, list[str]]:
    """The contest as if it had been read without those who withdrew.

    A row of an artifact is theirs where the artifact names them, or lies in their folder. Attempts are built anew from
    what is left. What others wrote is not changed, though it may name them.

    Args:
        read: the contest as read.
        contest: its name.
        has_withdrawn: whether the participant of an id withdrew.

    Returns:
        The rest, and the paths of the rows of artifacts, logs and quarantine that were left out: one for each row.
    """
    asked = cache(has_withdrawn)

    def theirs(path: str, *ids: str | None) -> bool:
        folder, _ = participant_and_problem_of(path)
        return any(name is not None and asked(name) for name in (folder, *ids))

    artifacts = read.submission_artifacts
    drop_artifacts = [
        theirs(path, *(_shown(who), resolve_participant(_shown(who), path, False)[0]))
        for path, who in zip(artifacts["path"], artifacts["participant"], strict=True)
    ]
    logs = read.prompt_logs
    drop_logs = [theirs(p, who) for p, who in zip(logs["path"], logs["participant"], strict=True)]
    aside = read.quarantine
    drop_aside = [
        theirs(path) or any(asked(word) for text in (path, place, reason) for word in _words(text))
        for path, place, reason in zip(aside["path"], aside["place"], aside["reason"], strict=True)
    ]
    dropped = [
        str(path)
        for table, drops in ((artifacts, drop_artifacts), (logs, drop_logs), (aside, drop_aside))
        for path in table.loc[drops, "path"]
    ]
    if not dropped:
        return read, []
    kept = _without(artifacts, drop_artifacts)
    attempts, _ = build_attempts(kept, contest)
    rest = replace(
        read,
        submission_artifacts=kept,
        attempts=attempts,
        prompt_logs=_without(logs, drop_logs),
        quarantine=_without(aside, drop_aside),
    )
    return rest, dropped


def _shown(participant: object) -> str | None:
    return participant if isinstance(participant, str) else None


def _words(text: object) -> list[str]:
    return _WORD.findall(text) if isinstance(text, str) else []


def _without(table: pd.DataFrame, dropped: list[bool]) -> pd.DataFrame:
    # As an array: an empty list would be taken for a choice of no column.
    return table[~np.array(dropped, dtype=bool)].reset_index(drop=True)
