"""What the checkpoint keeps of a judgment comes back whole: answer, tries, request."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from judge_pipeline.judging.checkpoint.store import CallRow, Checkpoint, Record, StoredJudgment, StoredRequest
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.kept_judgments import kept_judgments, requests_about


def call(judge: str, request_hash: str, asked: str, number: int = 1, error: str | None = None) -> CallRow:
    return CallRow(
        judge=judge, request_hash=request_hash, attempt_id=asked, repeat_index=0, run_id="run", try_number=number,
        started_at=f"2026-04-01T10:00:0{number}Z", latency_ms=12.5, tokens_in=10, tokens_out=3, tokens_reasoning=None,
        cost_usd=0.001, finish_reason="stop", model="m-1", provider_request_id=None, sent="{}", re_ask=None,
        raw_text='{"p_ac": 0.5}' if error is None else None, error_class=error, error_text=error and "went wrong",
    )  # fmt: skip


def test_an_answer_comes_with_its_tries_and_what_was_sent(emptied_store_url: Callable[[], str]) -> None:
    url = emptied_store_url()
    with closing(Checkpoint(url)) as checkpoint:
        request = StoredRequest("h1", "judge.md.j2", "t" * 64, '{"messages": [{"role": "user", "content": "say"}]}')
        judgment = StoredJudgment("a", "h1", "attempt-1", {"p_ac": 0.5}, "cut", "m-1", 12.5)
        checkpoint.record(
            [
                Record(request, call("a", "h1", "attempt-1", 1, "timeout")),
                Record(request, call("a", "h1", "attempt-1", 2), judgment),
                Record(None, call("b", "h1", "attempt-1")),
                Record(None, call("a", "h2", "attempt-2", 1, "refusal")),
            ]
        )
        found = kept_judgments(checkpoint, [("a", "h1"), ("a", "h2"), ("a", "h3"), ("b", "h1")])
    own = found["a", "h1"]
    assert (own.answer, own.repair, own.model, own.asked_for) == ({"p_ac": 0.5}, "cut", "m-1", "attempt-1")
    assert [row["try_number"] for row in own.tries] == [1, 2]
    assert [row["error_class"] for row in own.tries] == ["timeout", None] and own.tries[1]["raw_text"]
    assert own.components == {"messages": [{"role": "user", "content": "say"}]}
    assert (own.template, own.template_sha256) == ("judge.md.j2", "t" * 64)
    failed = found["a", "h2"]
    assert failed.answer is None and failed.is_kept and failed.asked_for == "attempt-2" and failed.components is None
    assert not found["a", "h3"].is_kept
    other = found["b", "h1"]
    assert other.answer is None and len(other.tries) == 1, "another judge's answer is not its own"


def test_what_was_asked_about_a_pair_is_found_by_how_its_ids_begin(emptied_store_url: Callable[[], str]) -> None:
    with closing(Checkpoint(emptied_store_url())) as checkpoint:
        asked = ("set/pair/AB", "set/pair/ba", "set/pair", "set/pair2/AB", "set/pai", "set/pair0", "Set/Pair/AB")
        checkpoint.record([Record(None, call("a", f"h{n}", id_)) for n, id_ in enumerate(asked)])
        found = [id_ for _, _, id_ in requests_about(checkpoint, "set/pair")]
    assert found == ["set/pair", "set/pair/AB", "set/pair/ba"]


def test_a_damaged_store_is_said_to_be_damaged(tmp_path: Path) -> None:
    file = tmp_path / "c.sqlite"
    file.write_bytes(b"SQLite format 3\x00" + b"\x00" * 200)
    with closing(Checkpoint(f"sqlite:///{file}")) as checkpoint, pytest.raises(JudgingError):
        kept_judgments(checkpoint, [("a", "h")])
