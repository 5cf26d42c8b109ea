from __future__ import annotations

from typing import Any

import pandas as pd

from judge_pipeline.cocreation.overview import contest_overview
from judge_pipeline.tables import (
    ATTEMPTS,
    INGEST_QUARANTINE,
    PROMPT_LOGS,
    SPLIT_ASSIGNMENTS,
    TRAJECTORIES,
    VERDICT_WORD_COUNTS,
)


def attempts_table(rows: list[tuple[str, str, int | None, str, str | None, str | None]]) -> pd.DataFrame:
    """Rows of (participant, problem, y, verdict, language, source)."""
    blank: dict[str, Any] = dict.fromkeys(ATTEMPTS.column_names)
    blank |= {"turn": 1, "order_source": "instant", "path": "a.html", "reader": "generic"}
    return ATTEMPTS.conform(
        [
            blank
            | {"attempt_id": f"{i:016x}", "participant": u, "problem_id": p, "y": y, "verdict": v, "language": lang}
            | {"source_code": source}
            for i, (u, p, y, v, lang, source) in enumerate(rows)
        ]
    )


def trajectories_table(turns: dict[tuple[str, str], int], solved: set[tuple[str, str]]) -> pd.DataFrame:
    blank: dict[str, Any] = dict.fromkeys(TRAJECTORIES.column_names, 0)
    blank |= {"split": "train", "first_ac_turn": None, "time_turns": None, "event": False}
    return TRAJECTORIES.conform(
        [
            blank | {"participant": u, "problem_id": p, "n_turns": n, "solved": (u, p) in solved}
            for (u, p), n in turns.items()
        ]
    )


def splits_table(splits: dict[tuple[str, str], str]) -> pd.DataFrame:
    return SPLIT_ASSIGNMENTS.conform(
        [
            {"participant": u, "problem_id": p, "split": s, "stratum": "solved", "n_attempts": 1, "assigned_by": "seed"}
            for (u, p), s in splits.items()
        ]
    )


def prompts_table(rows: list[tuple[str, str, str]]) -> pd.DataFrame:
    return PROMPT_LOGS.conform(
        [
            {"participant": u, "path": path, "conversation": "1", "order": i, "role": role, "text": "x"}
            | {"text_sha256": "0" * 64, "at": None, "notes": None}
            for i, (u, path, role) in enumerate(rows, 1)
        ]
    )


def values(overview: pd.DataFrame) -> dict[str, tuple[float, int, int]]:
    columns = ("value", "n", "n_left_out")
    return {row["statistic"]: tuple(row[c] for c in columns) for row in overview.to_dict("records")}  # type: ignore[misc]


def test_the_papers_table_1_comes_out_of_data_of_its_shape() -> None:
    # 184 trajectories of 15 participants and 13 problems; 517 attempts, the longest 30; 193 accepted, 324 not.
    groups = [(f"E{i % 15:02d}", f"P{(i // 15 + i) % 13:02d}") for i in range(184)]
    assert len(set(groups)) == 184
    turns = dict.fromkeys(groups, 1)
    turns[groups[0]] = 30
    left = 517 - sum(turns.values())
    for group in groups[1:92]:  # at most half may have more than one turn, or the median would not be 1
        more = min(left, 28)
        turns[group] += more
        left -= more
    assert left == 0
    rows = [(u, p) for (u, p), n in turns.items() for _ in range(n)]
    attempts = attempts_table(
        [(u, p, int(i < 193), "AC" if i < 193 else "WA", "C++", "x") for i, (u, p) in enumerate(rows)]
    )
    names = ["train"] * 148 + ["val"] * 18 + ["test"] * 18
    overview = values(
        contest_overview(
            attempts,
            prompts_table([("E00", f"prompts/E00/{i}.md", "user") for i in range(83)]),
            trajectories_table(turns, set(groups[:159])),
            splits_table(dict(zip(groups, names, strict=True))),
            INGEST_QUARANTINE.empty(),
        )
    )
    assert {name: overview[name][0] for name in list(overview)[:14]} == {
        "participants": 15,
        "problems": 13,
        "trajectories": 184,
        "attempts": 517,
        "prompt_logs": 83,
        "prompts": 83,
        "accepted": 193,
        "non_accepted": 324,
        "trajectories_train": 148,
        "trajectories_val": 18,
        "trajectories_test": 18,
        "mean_turns": 517 / 184,
        "median_turns": 1,
        "max_turns": 30,
    }
    assert round(overview["mean_turns"][0], 2) == 2.81
    assert overview["solved"] == (159, 184, 0)


def test_what_is_undecided_incomplete_or_set_aside_is_counted() -> None:
    attempts = attempts_table(
        [
            ("E1", "A", 1, "AC", "C++", "x"),
            ("E1", "A", None, "PENDING", None, "x"),
            ("E2", "A", None, "UNKNOWN", "Python", None),
            ("E2", "B", 0, "WA", "C++", ""),
        ]
    )
    aside = [
        {"kind": kind, "path": f"{i}", "place": None, "reason": "r", "remedy": "m"}
        for i, kind in enumerate(["prompts", "prompts", "submissions"])
    ]
    found = values(
        contest_overview(
            attempts,
            prompts_table([("E1", "prompts/E1/a", "user"), ("E1", "prompts/E1/a", "assistant"), ("E9", "b", "user")]),
            trajectories_table({("E1", "A"): 2, ("E2", "A"): 1, ("E2", "B"): 1}, {("E1", "A")}),
            splits_table({("E1", "A"): "train", ("E2", "A"): "val", ("E2", "B"): "test"}),
            INGEST_QUARANTINE.conform(aside),
        )
    )
    assert found["accepted"] == (1, 2, 2)
    assert found["non_accepted"] == (1, 2, 2)
    assert found["undecided"] == (2, 4, 0)
    assert (found["pending"][0], found["unknown_verdict"][0], found["without_source"][0]) == (1, 1, 1)
    assert found["prompt_logs"] == (2, 3, 0)
    assert found["prompts"] == (2, 3, 0)
    assert found["participants_without_log"] == (1, 2, 0)
    assert found["log_only_participants"] == (1, 3, 0)
    assert (found["quarantined_prompts"], found["quarantined_submissions"]) == ((2, 3, 0), (1, 3, 0))
    assert (found["languages"], found["language:C++"], found["without_language"]) == ((2, 4, 0), (2, 4, 0), (1, 4, 0))
    assert found["median_turns"] == (1, 3, 0)


def test_an_empty_contest_has_counts_of_0_and_no_averages() -> None:
    overview = contest_overview(
        ATTEMPTS.empty(),
        PROMPT_LOGS.empty(),
        TRAJECTORIES.empty(),
        SPLIT_ASSIGNMENTS.empty(),
        INGEST_QUARANTINE.empty(),
    ).set_index("statistic")
    assert overview.loc["attempts", "value"] == 0
    assert pd.isna(overview.loc["mean_turns", "value"])
    assert overview.loc["mean_turns", "reason"] == "no trajectories"
    assert overview.loc["accepted", "counted_over"] == "attempts with a label"
    assert overview.loc["prompts", "counted_over"] == "messages"
    assert overview.loc["max_turns", "counted_over"] == "trajectories"


def _words(place: str, verdict: str, found: int, masked: int, searched: int, reason: str | None) -> dict[str, object]:
    return {"place": place, "verdict": verdict, "n_found": found, "n_masked": masked, "n_texts": min(found, searched),
            "n_searched": searched, "reason": reason}  # fmt: skip


def test_words_for_verdicts_are_counted_and_said_to_be_masked_where_they_are() -> None:
    nothing = (ATTEMPTS, PROMPT_LOGS, TRAJECTORIES, SPLIT_ASSIGNMENTS, INGEST_QUARANTINE)
    rows = [_words("prompt_text", "WA", 3, 3, 7, None), _words("prompt_text", "AC", 2, 2, 7, None),
            _words("source_comment", "WA", 4, 0, 9, "programs are sent as they are")]  # fmt: skip
    counted = VERDICT_WORD_COUNTS.conform(rows)
    found = values(contest_overview(*(t.empty() for t in nothing), verdict_words=counted))
    assert found["verdict_words:prompt_text"] == found["verdict_words_masked:prompt_text"] == (5, 7, 0)
    assert found["verdict_words:source_comment"] == (4, 9, 0)
    assert "verdict_words_masked:source_comment" not in found
    blind = VERDICT_WORD_COUNTS.conform([_words("prompt_text", "WA", 0, 0, 0, "judges are blind")])
    overview = contest_overview(*(t.empty() for t in nothing), verdict_words=blind).set_index("statistic")
    assert overview.loc["verdict_words:prompt_text", "reason"] == "judges are blind"
