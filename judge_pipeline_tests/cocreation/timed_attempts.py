"""Small contests for tests of times to success: words of verdicts, with or without minutes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.trajectories import trajectories
from judge_pipeline.tables import ATTEMPTS, PROMPT_LOGS

START = datetime(2026, 4, 1, 10, 0, tzinfo=UTC)
_VERDICTS = {"A": "AC", "W": "WA", "?": "PENDING"}
_LABELS = {"A": 1, "W": 0, "?": None}


def attempts_of(
    words: Mapping[tuple[str, str], str],
    minutes: Mapping[tuple[str, str], Sequence[float | None]] | None = None,
    languages: Mapping[tuple[str, str], str | None] | None = None,
) -> pd.DataFrame:
    """The table ``attempts``: a letter a turn (A accepted, W rejected, ? pending), and when each came, if known."""
    rows = []
    for (u, p), letters in words.items():
        at = (minutes or {}).get((u, p), [None] * len(letters))
        for turn, (letter, minute) in enumerate(zip(letters, at, strict=True), start=1):
            rows.append(
                {
                    "attempt_id": f"{u}{p}{turn}", "participant": u, "problem_id": p, "turn": turn,
                    "language": (languages or {}).get((u, p), "C++17"), "source_code": "x", "source_sha256": "0",
                    "source_lines": 1, "verdict": _VERDICTS[letter], "verdict_raw": letter, "y": _LABELS[letter],
                    "submitted_at": None if minute is None else START + timedelta(minutes=minute),
                    "timestamp_raw": None, "submission_id": None, "order_source": "list_position", "path": "x",
                    "row": None, "reader": "text", "notes": None,
                }
            )  # fmt: skip
    return ATTEMPTS.conform(rows)


def trajectories_of(attempts: pd.DataFrame) -> pd.DataFrame:
    """The table ``trajectories``, all in train."""
    groups = attempts[["participant", "problem_id"]].drop_duplicates()
    return trajectories(attempts, groups.assign(split="train"))


def prompt_logs_of(prompts: Sequence[tuple[str, str, float | None]]) -> pd.DataFrame:
    """The table ``prompt_logs``: participant, problem that the text mentions, and minute."""
    return PROMPT_LOGS.conform(
        {
            "participant": u, "path": f"prompts/{u}/log.json", "conversation": "1", "order": i, "role": "user",
            "text": f"help with problem {p}", "text_sha256": "0",
            "at": None if minute is None else START + timedelta(minutes=minute), "notes": None,
        }
        for i, (u, p, minute) in enumerate(prompts, start=1)
    )  # fmt: skip


def many_attempts(n_trajectories: int, seed: int = 0) -> pd.DataFrame:
    """About three attempts a trajectory, 20 problems, minutes known."""
    rng = np.random.default_rng(seed)
    n_turns = np.minimum(rng.geometric(1 / 3, n_trajectories), 30)
    of = np.repeat(np.arange(n_trajectories), n_turns)
    turn = np.arange(len(of)) - np.repeat(np.cumsum(n_turns) - n_turns, n_turns) + 1
    y = (rng.random(len(of)) < 0.35).astype(int)
    at = pd.Timestamp(START) + pd.to_timedelta(turn * 7 + rng.integers(0, 5, len(of)), unit="min")
    return pd.DataFrame(
        {
            "attempt_id": [f"{i:016x}" for i in range(len(of))],
            "participant": np.char.add("u", (of // 20).astype(str)).astype(object),
            "problem_id": np.char.add("P", (of % 20).astype(str)).astype(object),
            "turn": turn, "language": np.array(["C++17", "Python 3", "Java"])[of % 3].astype(object), "y": y,
            "submitted_at": at,
        }
    )  # fmt: skip
