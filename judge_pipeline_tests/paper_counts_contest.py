"""A generated contest with the counts of paper 1: Table I, S(k), 329 attempts in solved trajectories.

Programs, prompts and judgments are made up; what is true to the paper is how many of each there are, and that most
rejections of solved trajectories follow their first accepted attempt.
"""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from judge_pipeline.cocreation.splits import assign_splits
from judge_pipeline.cocreation.trajectories import struggle_curves, trajectories
from judge_pipeline.ingest.attempts import attempt_id
from judge_pipeline.tables import ATTEMPTS, PREDICTIONS, PROMPT_LOGS
from judge_pipeline_tests.made_programs import LANGUAGES, made_program, revised

SEED = 20260401
PARTICIPANTS = tuple(f"E{i:03}" for i in range(1, 16))
PROBLEMS = tuple(f"P{i}" for i in range(1, 14))
JUDGES = ("claude", "deepseek", "gemini", "openai")
N_TRAJECTORIES, N_ATTEMPTS, N_ACCEPTED, N_SOLVED, N_PROMPT_LOGS, N_CONVERGENCE = 184, 517, 193, 159, 83, 329
START = datetime(2026, 4, 1, 1, 0, tzinfo=UTC)


@dataclass(frozen=True)
class PaperCountsContest:
    """The contest's tables, each of its schema in ``judge_pipeline.tables``."""

    attempts: pd.DataFrame
    prompt_logs: pd.DataFrame
    splits: pd.DataFrame
    predictions: pd.DataFrame
    trajectories: pd.DataFrame
    struggle_curves: pd.DataFrame


@lru_cache
def paper_counts_contest() -> PaperCountsContest:
    """The contest; the same object each time, so copy a table before changing it."""
    rng = random.Random(SEED)
    verdicts = _verdicts(rng)
    attempts = ATTEMPTS.conform([row for (u, p), letters in verdicts.items() for row in _attempts(rng, u, p, letters)])
    splits = assign_splits(attempts, seed=SEED, val_share=0.1, test_share=0.1)
    predictions = _predictions(rng, attempts, splits)
    return PaperCountsContest(
        attempts,
        _prompt_logs(rng, attempts),
        splits,
        predictions,
        trajectories(attempts, splits),
        struggle_curves(attempts, predictions, JUDGES),
    )


def _verdicts(rng: random.Random) -> dict[tuple[str, str], str]:
    """A word for each trajectory, a letter a turn: A accepted, W rejected."""
    solved = ["WWWA", "WWWWWA"] + ["A"] * (N_SOLVED - 2)
    further = ["A"] * (N_ACCEPTED - N_SOLVED) + ["W"] * 128
    rng.shuffle(further)
    for letter in further:
        # A few trajectories go on for long, most stop at once: the median is 1 turn.
        place = min(int(rng.expovariate(1 / 12)), 50)
        solved[2 + place] += letter
    lengths = [30] + [1] * 24
    for _ in range(N_ATTEMPTS - N_CONVERGENCE - sum(lengths)):
        lengths[1 + min(int(rng.expovariate(1 / 8)), 23)] += 1
    words = solved + ["W" * n for n in lengths]
    groups = [(u, p) for u in PARTICIPANTS for p in PROBLEMS]
    chosen = sorted(rng.sample(range(len(groups)), N_TRAJECTORIES))
    rng.shuffle(words)
    return {groups[i]: word for i, word in zip(chosen, words, strict=True)}


def _attempts(rng: random.Random, participant: str, problem: str, letters: str) -> list[dict[str, Any]]:
    language = rng.choices(LANGUAGES, (5, 4, 2, 1))[0]
    source = made_program(rng, language, rng.randint(1, 6))
    # One participant's pages show no times: their order rests on a list, and nothing can be aligned with it.
    at = START + timedelta(minutes=rng.randint(0, 60)) if participant != PARTICIPANTS[-1] else None
    rows = []
    for turn, letter in enumerate(letters, start=1):
        if turn > 1:
            source = revised(rng, source, language)
            if rng.random() < 0.02:
                language = rng.choice(LANGUAGES)
                source = made_program(rng, language, rng.randint(1, 6))
            at = at + timedelta(seconds=rng.randint(30, 1200)) if at else None
        sha256 = hashlib.sha256(source.encode()).hexdigest()
        number = f"{PARTICIPANTS.index(participant) + 1}{PROBLEMS.index(problem) + 1:02}{turn:02}"
        verdict = "AC" if letter == "A" else rng.choice(("WA", "WA", "TLE", "RE"))
        rows.append(
            {
                "attempt_id": attempt_id("paper-counts", participant, problem, number, at, sha256),
                "participant": participant, "problem_id": problem, "turn": turn, "language": language,
                "source_code": source, "source_sha256": sha256, "source_lines": source.count("\n"),
                "verdict": verdict, "verdict_raw": verdict, "y": int(letter == "A"), "submitted_at": at,
                "timestamp_raw": None, "submission_id": number, "order_source": "instant" if at else "list_position",
                "path": f"submissions/{participant}/{problem}/{turn:02}.txt", "row": None, "reader": "text",
                "notes": None,
            }
        )  # fmt: skip
    return rows


def _prompt_logs(rng: random.Random, attempts: pd.DataFrame) -> pd.DataFrame:
    """83 logs: one of a problem each, some without times; questions stand a little before attempts."""
    groups = attempts[["participant", "problem_id"]].drop_duplicates().to_records(index=False).tolist()
    rows: list[dict[str, Any]] = []
    for u, p in sorted(rng.sample(groups, N_PROMPT_LOGS)):
        timed = rng.random() < 0.8
        mine = attempts[(attempts["participant"] == u) & (attempts["problem_id"] == p)]
        order = 0
        for turn, at in zip(mine["turn"], mine["submitted_at"], strict=True):
            for role in ("user", "assistant"):
                order += 1
                said = f"Problem {p}, try {turn}: {_WORDS[rng.randrange(len(_WORDS))]} {rng.randint(1, 99)}."
                text = said if role == "user" else f"Try this. {rng.randint(1, 99)}"
                known = timed and not pd.isna(at)
                rows.append(
                    {
                        "participant": u, "path": f"prompts/{u}/{p}.json", "conversation": "1", "order": order,
                        "role": role, "text": text, "text_sha256": hashlib.sha256(text.encode()).hexdigest(),
                        "at": at - timedelta(seconds=25 - order % 2) if known else None, "notes": None,
                    }
                )  # fmt: skip
    return PROMPT_LOGS.conform(rows)


_WORDS = (
    "it fails on the second sample, why",
    "please write a faster way to count the pairs",
    "explain the recursion and add memory of what was seen",
    "the answer is off by one for input",
    "rewrite everything with a sorted list",
)


def _predictions(rng: random.Random, attempts: pd.DataFrame, splits: pd.DataFrame) -> pd.DataFrame:
    split = {(u, p): s for u, p, s in zip(splits["participant"], splits["problem_id"], splits["split"], strict=True)}
    rows = []
    for judge in JUDGES:
        for row in attempts.to_dict("records"):
            p_ac = round(min(1.0, max(0.0, rng.gauss(0.45 + 0.25 * row["y"], 0.2))), 2)
            known = {name: row[name] for name in ("attempt_id", "participant", "problem_id", "turn", "language")}
            rows.append(
                {
                    **known, "judge": judge, "verdict": row["verdict"], "y": row["y"],
                    "split": split[row["participant"], row["problem_id"]], "p_ac": p_ac,
                    "s_algo": 1 + round(4 * p_ac), "s_robust": 1 + round(4 * p_ac), "rationale": "made up",
                    "request_hash": hashlib.sha256(f"{judge} {row['attempt_id']}".encode()).hexdigest(),
                }
            )  # fmt: skip
    return PREDICTIONS.conform(rows)


def lay_paper_counts(home: Path) -> None:
    """The contest as a folder that people would bring, with what its judges said recorded; chats carry no times."""
    config, folder = home / "assets_config", home / "data" / "contests" / "paper-counts"
    (config / "prompts").mkdir(parents=True)
    judges = "".join(f"  {judge}: {{backend: recorded, file: recorded/{judge}.jsonl}}\n" for judge in JUDGES)
    (config / "judges.yaml").write_text(f"judges:\n{judges}", encoding="utf-8")
    (config / "contests.yaml").write_text(f"seed: {SEED}\nresamples: 100\n", encoding="utf-8")
    template = Path(__file__).resolve().parent.parent / "assets_config" / "prompts" / "cocreation_judge.md.j2"
    (config / "prompts" / template.name).write_bytes(template.read_bytes())
    contest = paper_counts_contest()
    for row in contest.attempts.to_dict("records"):
        _write(folder / row["path"], _page(row))
    for path, messages in contest.prompt_logs.groupby("path", sort=True):
        said = "\n\n".join(f"## {role.capitalize()}\n\n{text}" for role, text in zip(
            messages["role"], messages["text"], strict=True))  # fmt: skip
        _write(folder / str(path).replace(".json", ".md"), f"{said}\n")


def record_judges(home: Path, attempts: pd.DataFrame) -> None:
    """What the judges say of attempts that were read from ``lay_paper_counts``, by submission id."""
    number = paper_counts_contest().attempts.set_index("attempt_id")["submission_id"]
    read = attempts.set_index("submission_id")["attempt_id"]
    for judge, rows in paper_counts_contest().predictions.groupby("judge"):
        lines = [
            json.dumps({"attempt_id": read[number[row["attempt_id"]]], "p_ac": row["p_ac"], "s_algo": row["s_algo"],
                        "s_robust": row["s_robust"], "rationale": "made up"})
            for row in rows.to_dict("records")
        ]  # fmt: skip
        _write(home / "data" / "contests" / "paper-counts" / "recorded" / f"{judge}.jsonl", "\n".join(lines) + "\n")


def _page(row: dict[str, Any]) -> str:
    at = "" if pd.isna(row["submitted_at"]) else f"Submitted at: {row['submitted_at']:%Y-%m-%d %H:%M:%S} +0000\n"
    return (
        f"Problem: {row['problem_id']}\nAuthor: {row['participant']}\nSubmission ID: {row['submission_id']}\n"
        f"Result: {row['verdict']}\nLanguage: {row['language']}\n{at}\n```\n{row['source_code']}\n```\n"
    )


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
