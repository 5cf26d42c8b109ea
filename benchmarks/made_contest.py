"""The tables of a large contest with recorded judges, from which those of its dynamics are made; seeded.

Programs of 20 to 120 lines in C++, Java and Python, 2.8 attempts a trajectory, four judges' answers, a prompt with its
time before every third attempt, and what judges would be shown of the test split.
"""

from __future__ import annotations

import hashlib
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from made_programs import ENDINGS, NEXT_TURN, made_program, made_trajectory

from judge_pipeline.cocreation.splits import assign_splits
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import (
    ATTEMPTS,
    JUDGE_REQUESTS,
    PARTICIPANT_CONTEXTS,
    PREDICTIONS,
    PROMPT_LOGS,
    SPLIT_ASSIGNMENTS,
)

GIVEN: tuple[Table, ...] = (
    ATTEMPTS, SPLIT_ASSIGNMENTS, PREDICTIONS, PROMPT_LOGS, PARTICIPANT_CONTEXTS, JUDGE_REQUESTS,
)  # fmt: skip
JUDGES = ("a", "b", "c", "d")
MAX_LINES = 120
N_PARTICIPANTS = 5000
MAX_PROMPT_CHARS = 12_000
N_DISTINCT = 400
"""Trajectories made line by line; others are these with one statement more, so that no two programs are equal."""

_STATEMENT = {
    "cpp": "long long extra{0} = {0};\n",
    "java": "class Extra{0} {{ int n = {0}; }}\n",
    "python": "extra{0} = {0}\n",
}


def lay_contest(folder: Path, n_attempts: int, turned: bool) -> int:
    """Writes the tables GIVEN as Parquet; how many characters the programs have.

    Args:
        folder: where to.
        n_attempts: how many attempts.
        turned: whether every trajectory is laid the wrong way round.
    """
    rng = random.Random(n_attempts)
    made = _made_trajectories(rng)
    rows: list[dict[str, Any]] = []
    while len(rows) < n_attempts:
        rows += _trajectory(rng, made, len(rows), turned)
    attempts = ATTEMPTS.conform(rows[:n_attempts])
    splits = assign_splits(attempts, seed=1, val_share=0.1, test_share=0.1)
    logs = _prompt_logs(attempts)
    contexts = _contexts(attempts, logs)
    requests = _requests_of_test(attempts, splits, contexts)
    tables = (attempts, splits, _predictions(attempts, splits), logs, contexts, requests)
    for table, frame in zip(GIVEN, tables, strict=True):
        frame.to_parquet(folder / f"{table.name}.parquet")
    return int(attempts["source_code"].str.len().sum())


def _made_trajectories(rng: random.Random) -> list[tuple[str, list[str]]]:
    made = []
    for _ in range(N_DISTINCT):
        language = rng.choice(sorted(ENDINGS))
        turns = made_trajectory(language, rng)
        shorter = made_program(language, rng.randint(20, MAX_LINES), rng)
        made.append((language, [turn if turn.count("\n") <= MAX_LINES else shorter for turn in turns]))
    return made


def _trajectory(
    rng: random.Random, made: list[tuple[str, list[str]]], number: int, turned: bool
) -> list[dict[str, Any]]:
    language, programs = rng.choice(made)
    n_turns = 1
    while rng.random() < NEXT_TURN:
        n_turns += 1
    solved = rng.random() < 0.8
    start = pd.Timestamp("2026-04-01", tz="UTC") + pd.Timedelta(minutes=number % 10_000)
    rows = []
    for turn in range(1, n_turns + 1):
        source = programs[(turn - 1) % len(programs)] + _STATEMENT[language].format(number + turn)
        accepted = solved and turn == (1 if turned else n_turns)
        verdict = "AC" if accepted else "WA"
        attempt_id = f"{number + turn:016x}"
        rows.append(
            {
                "attempt_id": attempt_id, "participant": f"E{number % N_PARTICIPANTS:05}",
                "problem_id": f"P{number // N_PARTICIPANTS}",
                "turn": turn, "language": language, "source_code": source,
                "source_sha256": hashlib.sha256(source.encode()).hexdigest(), "source_lines": source.count("\n"),
                "verdict": verdict, "verdict_raw": verdict, "y": int(accepted),
                "submitted_at": start + pd.Timedelta(minutes=3 * turn), "timestamp_raw": None,
                "submission_id": attempt_id, "order_source": "instant", "path": "feed.csv", "row": number + turn,
                "reader": "made", "notes": None,
            }
        )  # fmt: skip
    return rows


def _predictions(attempts: pd.DataFrame, splits: pd.DataFrame) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    joined = attempts.merge(splits[["participant", "problem_id", "split"]], on=["participant", "problem_id"])
    names = ["attempt_id", "participant", "problem_id", "turn", "language", "verdict", "y", "split"]
    parts = []
    for judge in JUDGES:
        p_ac = np.round(np.clip(rng.normal(0.4 + 0.3 * joined["y"].to_numpy(np.float64), 0.2), 0, 1), 2)
        parts.append(joined[names].assign(judge=judge, p_ac=p_ac, s_algo=3, s_robust=3, rationale="made"))
    return PREDICTIONS.conform(pd.concat(parts, ignore_index=True).assign(request_hash="0"))


def _prompt_logs(attempts: pd.DataFrame) -> pd.DataFrame:
    asked = attempts.iloc[::3]
    text = "In problem " + asked["problem_id"] + " my program is wrong. " + asked["source_code"].str.slice(0, 400)
    return PROMPT_LOGS.conform(
        pd.DataFrame(
            {
                "participant": asked["participant"], "path": "prompts/" + asked["participant"] + "/chat.json",
                "conversation": "1", "order": np.arange(len(asked)) + 1, "role": "user", "text": text,
                "text_sha256": "0", "at": asked["submitted_at"] - pd.Timedelta(minutes=1), "notes": None,
            }
        )
    )  # fmt: skip


def _contexts(attempts: pd.DataFrame, logs: pd.DataFrame) -> pd.DataFrame:
    """Q_u of each participant, cut as judges are shown it."""
    asked = logs.groupby("participant")["text"].agg("\n\n".join).str.slice(0, MAX_PROMPT_CHARS)
    texts = asked.reindex(sorted(attempts["participant"].unique()), fill_value="").rename_axis("participant")
    return PARTICIPANT_CONTEXTS.conform(
        texts.rename("prompt_text").reset_index().assign(
            n_messages=1, n_logs=1, n_chars=texts.str.len().to_numpy(), prompt_sha256="0", reason=None
        )
    )  # fmt: skip


def _requests_of_test(attempts: pd.DataFrame, splits: pd.DataFrame, contexts: pd.DataFrame) -> pd.DataFrame:
    joined = attempts.merge(splits[["participant", "problem_id", "split"]], on=["participant", "problem_id"])
    asked = contexts.set_index("participant")["prompt_text"]
    test = joined[joined["split"] == "test"]
    shown = test[["attempt_id", "split", "problem_id", "language", "source_code"]]
    return JUDGE_REQUESTS.conform(
        shown.assign(
            prompt_text=test["participant"].map(asked), problem_statement=None, context="nonblind",
            source_chars_cut=0, prompt_chars_cut=0, request_sha256="0",
        )
    )  # fmt: skip
