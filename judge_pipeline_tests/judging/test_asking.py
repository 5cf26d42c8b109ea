"""The ladder and the kills, with a backend that is scripted in memory."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.judging.answer import Judgment
from judge_pipeline.judging.asking import Asking, Failed, Manner
from judge_pipeline.judging.backends.base import Reply
from judge_pipeline.judging.backends.secrets import Scrubber
from judge_pipeline.judging.checkpoint.store import Checkpoint, StoredRequest
from judge_pipeline.judging.failures import CallFailedError, Failure, FailureClass, JudgingError
from judge_pipeline.judging.ladder import Task
from judge_pipeline.judging.pacing.limits import Timing
from judge_pipeline.judging.progress import Progress
from judge_pipeline.judging.question import reader_of
from judge_pipeline.judging.request import Call, Message, request_hash
from judge_pipeline.settings import Limits

GOOD = '{"p_ac":0.25,"s_algo":3,"s_robust":2,"rationale":"x"}'
Answerer = Callable[[str, int], "Reply | FailureClass"]


class Scripted:
    """A backend that answers as a function of the prompt and of how often it was asked."""

    def __init__(self, answer: Answerer) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.calls: list[tuple[tuple[Message, ...], int | None]] = []
        self.opened = self.closed = 0

    async def open(self) -> None:
        self.opened += 1

    async def close(self) -> None:
        self.closed += 1

    async def ask(self, call: Call, further: tuple[Message, ...], max_output_tokens: int | None) -> Reply:
        text = call.messages[0].content
        self.asked.append(text)
        self.calls.append((further, max_output_tokens))
        found = self.answer(text, self.asked.count(text))
        await asyncio.sleep(0)
        if isinstance(found, Reply):
            return found
        raise CallFailedError(Failure(found, f"scripted {found}"))


def reply(text: str | None = GOOD, finish_reason: str = "stop", **fields: Any) -> Reply:
    return Reply(text, finish_reason, tokens_in=10, tokens_out=5, cost_usd=0.5, **fields)


def task(n: int) -> Task:
    call = Call("m", None, {}, (Message("user", str(n)),))
    hash_ = request_hash(call)
    return Task(f"a{n}", hash_, lambda: (call, StoredRequest(hash_, "t", "0", "{}")), reader_of(Judgment))


def ask(
    store: Checkpoint, backend: Scripted, n: int, clock: Any, report: Callable[[Progress], None] = lambda p: None,
    repair: int | None = None, **limits: Any,
) -> dict[str, Failed]:  # fmt: skip
    manner = Manner(
        "j", "run", Limits(**({"max_in_flight": 4} | limits)), repair, Timing(clock.monotonic, clock.sleep),
        random.Random(0), Scrubber({}),
    )  # fmt: skip
    failed = asyncio.run(Asking(manner, backend, store, report).run([task(i) for i in range(n)]))
    return {t.attempt_id: failed[t.request_hash] for t in map(task, range(n)) if t.request_hash in failed}


def test_what_heals_is_tried_again_after_waits_and_then_kept(checkpoint: Checkpoint, clock: Any) -> None:
    backend = Scripted(lambda text, n: reply() if n == 3 else "infrastructure")
    assert ask(checkpoint, backend, 1, clock, backoff_seconds=1.0) == {}
    assert [0.5 <= clock.slept[0] <= 1.0, 1.0 <= clock.slept[1] <= 2.0, len(clock.slept)] == [True, True, 2]
    rows = checkpoint.calls("j", task(0).request_hash)
    assert [(r["try_number"], r["error_class"]) for r in rows] == [
        (1, "infrastructure"),
        (2, "infrastructure"),
        (3, None),
    ]
    assert (backend.opened, backend.closed) == (1, 1)


@pytest.mark.parametrize(
    ("failure_class", "n_tries"),
    [("infrastructure", 3), ("rate_limit", 3), ("too_long", 1), ("refusal", 1), ("rejected", 1)],
)
def test_tries_are_bounded_and_only_for_what_can_heal(
    checkpoint: Checkpoint, clock: Any, failure_class: FailureClass, n_tries: int
) -> None:
    backend = Scripted(lambda text, n: failure_class)
    failed = ask(checkpoint, backend, 1, clock, max_tries=3)
    assert failed["a0"] == Failed(Failure(failure_class, f"scripted {failure_class}"), n_tries)
    assert len(backend.asked) == n_tries


@pytest.mark.parametrize("failure_class", ["authentication", "configuration", "quota"])
def test_what_every_attempt_would_meet_costs_one_call(
    checkpoint: Checkpoint, clock: Any, failure_class: FailureClass
) -> None:
    backend = Scripted(lambda text, n: failure_class)
    failed = ask(checkpoint, backend, 20, clock, max_in_flight=8)
    assert len(backend.asked) == 1
    assert Counter(f.failure.failure_class for f in failed.values()) == {failure_class: 20}
    assert sorted(f.n_tries for f in failed.values()) == [0] * 19 + [1]


def test_a_quota_spent_half_way_stops_cleanly_and_keeps_what_was_answered(checkpoint: Checkpoint, clock: Any) -> None:
    backend = Scripted(lambda text, n: reply() if len(backend.asked) <= 10 else "quota")
    failed = ask(checkpoint, backend, 30, clock)
    assert len(checkpoint.answered("j", [task(n).request_hash for n in range(30)])) == 30 - len(failed) == 10
    assert len(backend.asked) <= 10 + 4
    assert not clock.slept


def test_requests_rejected_from_the_start_stop_after_three(checkpoint: Checkpoint, clock: Any) -> None:
    backend = Scripted(lambda text, n: "rejected")
    failed = ask(checkpoint, backend, 30, clock)
    assert len(backend.asked) == 3
    assert len(failed) == 30


def test_one_rejected_among_answered_ones_stops_nothing(checkpoint: Checkpoint, clock: Any) -> None:
    backend = Scripted(lambda text, n: "rejected" if int(text) % 3 == 1 else reply())
    assert len(ask(checkpoint, backend, 30, clock)) == 10


def test_a_provider_that_is_down_is_not_asked_for_every_attempt(checkpoint: Checkpoint, clock: Any) -> None:
    backend = Scripted(lambda text, n: "infrastructure")
    failed = ask(checkpoint, backend, 200, clock, max_tries=2)
    assert len(failed) == 200
    assert len(backend.asked) <= 2 * (10 + 16)
    assert "seems to be down" in failed["a199"].failure.text


def test_an_invalid_answer_is_asked_again_once_with_its_errors(checkpoint: Checkpoint, clock: Any) -> None:
    backend = Scripted(lambda text, n: reply('{"p_ac":"85%"}') if n == 1 else reply())
    assert ask(checkpoint, backend, 1, clock, repair=99) == {}
    (none, first_limit), (further, limit) = backend.calls
    assert (none, first_limit, limit) == ((), None, 99)
    assert [m.role for m in further] == ["assistant", "user"]
    assert further[0].content == '{"p_ac":"85%"}'
    assert "p_ac: Input should be a valid number" in further[1].content
    assert not clock.slept
    stored = checkpoint.answered("j", [task(0).request_hash])[task(0).request_hash]
    assert stored.repair is not None
    assert stored.repair.startswith("asked again (p_ac: Input should be a valid number")
    first, second = checkpoint.calls("j", task(0).request_hash)
    assert (first["error_class"], first["re_ask"], first["raw_text"]) == ("invalid", None, '{"p_ac":"85%"}')
    assert second["re_ask"] == first["error_text"]


def test_an_answer_that_stays_invalid_fails_after_one_re_ask(checkpoint: Checkpoint, clock: Any) -> None:
    backend = Scripted(lambda text, n: reply('{"p_ac":1.2}'))
    failed = ask(checkpoint, backend, 1, clock, max_tries=9)
    assert (failed["a0"].failure.failure_class, failed["a0"].n_tries) == ("invalid", 2)


def test_a_re_ask_that_meets_a_fault_is_tried_again_as_a_re_ask(checkpoint: Checkpoint, clock: Any) -> None:
    answers = {1: reply("nonsense"), 2: "infrastructure", 3: reply()}
    backend = Scripted(lambda text, n: answers[n])  # type: ignore[return-value]
    assert ask(checkpoint, backend, 1, clock) == {}
    assert [len(further) for further, _ in backend.calls] == [0, 2, 2]


def test_a_truncated_answer_is_asked_again_with_the_larger_limit(checkpoint: Checkpoint, clock: Any) -> None:
    backend = Scripted(lambda text, n: reply('{"p_ac":0.9', "length") if n == 1 else reply())
    assert ask(checkpoint, backend, 1, clock, repair=4096) == {}
    assert backend.calls == [((), None), ((), 4096)]


def test_an_answer_always_truncated_fails_and_is_never_completed(checkpoint: Checkpoint, clock: Any) -> None:
    backend = Scripted(lambda text, n: reply('{"p_ac":0.9', "length"))
    failed = ask(checkpoint, backend, 1, clock, max_tries=3)
    assert (failed["a0"].failure.failure_class, failed["a0"].n_tries) == ("truncated", 3)
    assert checkpoint.answered("j", [task(0).request_hash]) == {}
    assert checkpoint.spent("j", [task(0).request_hash])[task(0).request_hash].cost_usd == 1.5


def test_a_refusal_in_words_is_asked_again_once_and_a_marked_one_is_not(checkpoint: Checkpoint, clock: Any) -> None:
    def answer(text: str, n: int) -> Reply:
        return reply("I'm sorry, I can't.") if text == "0" else reply(None, refusal="I will not.")

    failed = ask(checkpoint, Scripted(answer), 2, clock)
    assert [(failed[a].failure.failure_class, failed[a].n_tries) for a in ("a0", "a1")] == [
        ("refusal", 2),
        ("refusal", 1),
    ]


def test_a_call_that_hangs_is_given_up(checkpoint: Checkpoint) -> None:
    class Hanging(Scripted):
        async def ask(self, call: Call, further: tuple[Message, ...], max_output_tokens: int | None) -> Reply:
            await asyncio.sleep(60)
            raise AssertionError

    failed = ask(checkpoint, Hanging(lambda text, n: reply()), 1, Timing(), timeout_seconds=0.05, max_tries=1)
    assert failed["a0"].failure == Failure("infrastructure", "no answer within 0.05 s")


@pytest.mark.slow
def test_calls_in_flight_are_bounded(checkpoint: Checkpoint, clock: Any) -> None:
    class Counting(Scripted):
        now = most = 0

        async def ask(self, call: Call, further: tuple[Message, ...], max_output_tokens: int | None) -> Reply:
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0.05)
            self.now -= 1
            return reply()

    backend = Counting(lambda text, n: reply())
    ask(checkpoint, backend, 60, clock, max_in_flight=7)
    assert backend.most == 7


def test_a_longer_wait_than_anyone_sits_out_ends_the_attempt(checkpoint: Checkpoint, clock: Any) -> None:
    class Away(Scripted):
        async def ask(self, call: Call, further: tuple[Message, ...], max_output_tokens: int | None) -> Reply:
            raise CallFailedError(Failure("infrastructure", "maintenance"), retry_after_seconds=86400.0)

    failed = ask(checkpoint, Away(lambda text, n: reply()), 1, clock)
    assert (failed["a0"].n_tries, clock.slept) == (1, [])


def test_pauses_between_calls_are_made(checkpoint: Checkpoint, clock: Any) -> None:
    ask(checkpoint, Scripted(lambda text, n: reply()), 3, clock, sleep_seconds=0.2)
    assert clock.slept == [0.2, 0.2, 0.2]


def test_progress_counts_up_to_the_total(checkpoint: Checkpoint, clock: Any) -> None:
    seen: list[Progress] = []
    backend = Scripted(lambda text, n: "too_long" if text == "3" else reply())
    ask(checkpoint, backend, 6, clock, seen.append)
    assert seen[-1] == Progress(5, 1, 6, cost_usd=2.5, failures={"too_long": 1})
    assert [p.done + p.failed for p in seen] == [1, 2, 3, 4, 5, 6]


def test_what_another_process_answered_meanwhile_is_not_asked(checkpoint: Checkpoint, clock: Any) -> None:
    ask(checkpoint, Scripted(lambda text, n: reply()), 3, clock)
    backend = Scripted(lambda text, n: reply())
    assert ask(checkpoint, backend, 5, clock) == {}
    assert sorted(backend.asked) == ["3", "4"]


def test_a_backend_that_cannot_be_opened_is_closed_and_says_why(checkpoint: Checkpoint, clock: Any) -> None:
    class Broken(Scripted):
        async def open(self) -> None:
            raise JudgingError("not installed")

    backend = Broken(lambda text, n: reply())
    with pytest.raises(JudgingError, match="not installed"):
        ask(checkpoint, backend, 2, clock)
    assert backend.closed == 1


def test_a_defect_in_a_backend_is_not_hidden_as_a_failure(checkpoint: Checkpoint, clock: Any) -> None:
    class Defect(Scripted):
        async def ask(self, call: Call, further: tuple[Message, ...], max_output_tokens: int | None) -> Reply:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ask(checkpoint, Defect(lambda text, n: reply()), 2, clock)


def test_a_store_that_cannot_be_written_ends_the_asking(checkpoint: Checkpoint, clock: Any) -> None:
    class Full(Checkpoint):
        def record(self, records: Any) -> None:
            raise OSError("disk full")

    backend = Scripted(lambda text, n: reply())
    with pytest.raises(JudgingError, match="cannot be written, so nothing more is asked: disk full"):
        ask(Full(checkpoint.url), backend, 50, clock)
    assert len(backend.asked) <= 16  # those whose turn had come before the error was known


class Killed(BaseException):
    """The process is gone: nothing after this runs but what the store already holds."""


OUTCOMES = ["good", "good", "good", "bad", "cut", "infrastructure", "rate_limit", "refusal", "kill"]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(OUTCOMES), max_size=60), st.integers(1, 6))
def test_whatever_the_interleaving_of_answers_and_kills_no_stored_answer_is_asked_again(
    emptied_store_url: Callable[[], str], outcomes: list[str], in_flight: int
) -> None:
    """Runs follow each other until one is not killed; a kill cancels whatever is under way, as a dying process does."""
    n = 8
    store = Checkpoint(emptied_store_url())
    hashes = {task(i).request_hash: str(i) for i in range(n)}
    pending, stored_before, kills = list(outcomes), set(), 0

    def answer(text: str, times: int) -> Reply | FailureClass:
        assert text not in stored_before, "a stored answer was asked for again"
        outcome = pending.pop(0) if pending else "good"
        if outcome == "kill":
            raise Killed
        texts = {"good": GOOD, "bad": '{"p_ac":85}', "cut": '{"p_ac":0.9'}
        if outcome in texts:
            return reply(texts[outcome], "length" if outcome == "cut" else "stop")
        return outcome  # type: ignore[return-value]

    import types

    clock = types.SimpleNamespace(monotonic=lambda: 0.0, sleep=lambda seconds: asyncio.sleep(0))
    while True:
        backend = Scripted(answer)
        try:
            failed = ask(store, backend, n, clock, max_in_flight=in_flight, max_tries=2)
        except Killed:
            kills += 1
            stored_before = {hashes[h] for h in store.answered("j", hashes)}
            continue
        break
    answered = {hashes[h] for h in store.answered("j", hashes)}
    assert answered | {a.removeprefix("a") for a in failed} == {str(i) for i in range(n)}
    assert not answered & {a.removeprefix("a") for a in failed}
    assert (kills > 0) == ("kill" in outcomes[: len(outcomes) - len(pending)])
    again = Scripted(lambda text, times: "infrastructure")
    ask(store, again, n, clock)
    assert not answered & set(again.asked)
    store.close()
