"""Rows as JSON lines and back: nothing of others, everything of one's own, bit for bit."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.judging.checkpoint.row_lines import TABLES, Asked, lines_of, load_lines
from judge_pipeline.judging.checkpoint.rows import CallRow, Record, StoredJudgment, StoredRequest
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.failures import JudgingError


def record(number: int, attempt: str, text: str = "raw", latency: float = 1.5) -> Record:
    hash_ = f"{number:064x}"
    call = CallRow("j", hash_, attempt, 0, "run", 1, "2026-04-01T00:00:00Z", latency, raw_text=text, cost_usd=0.1 + 0.2)
    judged = StoredJudgment("j", hash_, attempt, {"p_ac": 0.1, "rationale": text}, None, "m", latency)
    return Record(StoredRequest(hash_, "t.j2", "0" * 64, json.dumps({"text": text})), call, judged)


def lines(checkpoint: Checkpoint, wanted=lambda asked: True) -> dict[str, list[str]]:  # type: ignore[no-untyped-def]
    found: dict[str, list[str]] = {name: [] for name in TABLES}
    for table, line in lines_of(checkpoint, wanted, "mini"):
        found[table].append(line)
    return found


@pytest.mark.slow
@settings(max_examples=10)
@given(st.lists(st.tuples(st.text(max_size=20), st.floats(0, 1e9)), max_size=5))
def test_what_was_handed_over_is_handed_over_alike(rows: list[tuple[str, float]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        urls = [f"sqlite:///{Path(folder) / name}" for name in ("a.sqlite", "b.sqlite")]
        with closing(Checkpoint(urls[0])) as source, closing(Checkpoint(urls[1])) as target:
            source.record([record(n, "a", text, latency) for n, (text, latency) in enumerate(rows)])
            before = lines(source)
            for name, own in before.items():
                assert load_lines(target, name, own) == len(own)
            assert lines(target) == before
            hashes = [f"{n:064x}" for n in range(len(rows))]
            assert source.answered("j", hashes) == target.answered("j", hashes)


def test_rows_of_others_stay(tmp_path: Path) -> None:
    with closing(Checkpoint(f"sqlite:///{tmp_path / 'a.sqlite'}")) as store:
        store.record([record(1, "mine"), record(2, "theirs"), record(3, "mine")])

        def mine(asked: Asked) -> bool:
            return asked.attempt_id == "mine"

        found = lines(store, mine)
        for name in ("calls", "judgments", "requests"):
            assert [json.loads(line)["request_hash"][-1] for line in found[name]] == ["1", "3"]


def test_rows_are_read_to_the_end_page_after_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge_pipeline.judging.checkpoint.row_lines._ROWS_AT_ONCE", 2)
    with closing(Checkpoint(f"sqlite:///{tmp_path / 'a.sqlite'}")) as store:
        store.record([record(n, "a") for n in range(5)])
        assert [len(own) for own in lines(store).values()][:3] == [5, 5, 5]


@pytest.mark.parametrize("line", ["", "{}", "[]", "null", '{"judge": "j"}', "no json"])
def test_a_line_that_is_none_of_ours_is_named(tmp_path: Path, line: str) -> None:
    with (
        closing(Checkpoint(f"sqlite:///{tmp_path / 'a.sqlite'}")) as store,
        pytest.raises(JudgingError, match=r"line 1 of calls.jsonl"),
    ):
        load_lines(store, "calls", [line])


@pytest.mark.parametrize(("name", "value"), [("raw_text", "\ud800"), ("call_id", 2**63), ("model", {"a": 1})])
def test_a_value_that_no_database_takes_is_named(tmp_path: Path, name: str, value: object) -> None:
    with closing(Checkpoint(f"sqlite:///{tmp_path / 'a.sqlite'}")) as store:
        store.record([record(1, "a")])
        [line] = lines(store)["calls"]
    forged = json.dumps(json.loads(line) | {name: value})
    with (
        closing(Checkpoint(f"sqlite:///{tmp_path / 'b.sqlite'}")) as store,
        pytest.raises(JudgingError, match=f"line 1 of calls.jsonl.*{name} holds what no database takes"),
    ):
        load_lines(store, "calls", [forged])


def test_a_row_that_stands_there_twice_is_no_fault_of_the_disk(tmp_path: Path) -> None:
    with closing(Checkpoint(f"sqlite:///{tmp_path / 'a.sqlite'}")) as store:
        store.record([record(1, "a")])
        [line] = lines(store)["judgments"]
    with (
        closing(Checkpoint(f"sqlite:///{tmp_path / 'b.sqlite'}")) as store,
        pytest.raises(JudgingError, match=r"judgments.jsonl holds a row twice"),
    ):
        load_lines(store, "judgments", [line, line])
