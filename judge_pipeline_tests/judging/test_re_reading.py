"""Judgments held against the raw answers of their calls: what is the same, what is not, and who is told."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from judge_pipeline.judging.answer import Judgment
from judge_pipeline.judging.checkpoint.rows import CallRow, Record, StoredJudgment
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.stored_rows import read_judgments
from judge_pipeline.judging.question import reader_of
from judge_pipeline.judging.re_reading import ReRead, re_read_for_listeners, re_reading

ANSWER = {"p_ac": 0.5, "s_algo": 3, "s_robust": 2, "rationale": "It ends."}
HASHES = ["a" * 64, "b" * 64, "c" * 64]


def prepared() -> Any:
    """Three requests for judgments of attempts."""
    task = SimpleNamespace(read=reader_of(Judgment))
    return SimpleNamespace(all_hashes=HASHES, task=lambda _: task, id_of=lambda hash_: f"of {hash_[0]}")


def judgment(hash_: str, repair: str | None = None, model: str | None = None) -> StoredJudgment:
    return StoredJudgment("j", hash_, "x", ANSWER, repair, model, 1.0)


def call(
    hash_: str, text: str, try_number: int = 1, error_class: str | None = None, latency_ms: float = 1.0
) -> CallRow:
    at = "2026-01-01T00:00:00Z"
    return CallRow(
        "j", hash_, "x", 0, "r", try_number, at, latency_ms, finish_reason="stop", raw_text=text,
        error_class=cast("Any", error_class),
    )  # fmt: skip


def test_the_last_call_that_brought_an_answer_is_read_and_only_listeners_are_told(tmp_path: Path) -> None:
    said = json.dumps(ANSWER)
    told: list[ReRead] = []
    with closing(Checkpoint(f"sqlite:///{tmp_path / 'c.sqlite'}")) as checkpoint:
        first, second, third = (
            judgment(hash_, "text around it removed" if hash_ == HASHES[0] else None) for hash_ in HASHES
        )
        checkpoint.record([Record(None, call(HASHES[0], "not yet", error_class="invalid"))])
        checkpoint.record([Record(None, call(HASHES[0], f"Here: {said}", 2), first)])
        checkpoint.record([Record(None, call(HASHES[1], said.replace("0.5", "0.25").replace("3", "5")), second)])
        checkpoint.record([Record(None, call(HASHES[2], said, error_class="timeout"), third)])
        stored = read_judgments(checkpoint, "j", HASHES)
        re_read_for_listeners("j", prepared(), stored, checkpoint)
        assert told == []
        with re_reading(told.append):
            re_read_for_listeners("j", prepared(), stored, checkpoint)
        re_read_for_listeners("j", prepared(), stored, checkpoint)
    assert [(one.attempt_id, one.differs) for one in told] == [
        ("of a", None),
        ("of b", "p_ac: stored 0.5, in the raw answer 0.25; s_algo: stored 3, in the raw answer 5"),
        ("of c", "no call that brought an answer is stored"),
    ]


def test_model_and_repair_are_those_of_the_call_and_what_counts_as_no_answer_holds_none(tmp_path: Path) -> None:
    said = json.dumps(ANSWER)
    told: list[ReRead] = []
    with closing(Checkpoint(f"sqlite:///{tmp_path / 'c.sqlite'}")) as checkpoint:
        checkpoint.record([Record(None, call(HASHES[0], said), judgment(HASHES[0], "forged", "better"))])
        checkpoint.record([Record(None, call(HASHES[1], said, error_class="invalid"))])
        checkpoint.record([Record(None, call(HASHES[2], "I cannot say", error_class="invalid"))])
        stored = read_judgments(checkpoint, "j", HASHES)
        with re_reading(told.append):
            re_read_for_listeners("j", prepared(), stored, checkpoint, HASHES[1:])
    assert [(one.attempt_id, one.differs) for one in told] == [
        ("of a", 'model: stored "better", of its call null; repaired: stored true, of its call false'),
        ("of b", "kept as no answer (invalid), and its raw answer holds one"),
    ]


def test_a_judgment_is_held_against_its_own_call_where_another_store_was_copied_into_this(tmp_path: Path) -> None:
    other = json.dumps(ANSWER | {"s_algo": 5})
    told: list[ReRead] = []
    with closing(Checkpoint(f"sqlite:///{tmp_path / 'c.sqlite'}")) as checkpoint:
        checkpoint.record([Record(None, call(HASHES[0], json.dumps(ANSWER)), judgment(HASHES[0]))])
        checkpoint.record([Record(None, call(HASHES[0], other, latency_ms=2.0))])
        with re_reading(told.append):
            re_read_for_listeners("j", prepared(), read_judgments(checkpoint, "j", HASHES), checkpoint)
    assert [one.differs for one in told] == [None]
