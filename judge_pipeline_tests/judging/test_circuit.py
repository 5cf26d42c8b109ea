"""A provider that fails every attempt in one way is not asked for all of them; what is left is asked another time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.judging.circuit import Circuit
from judge_pipeline.judging.failures import Failure, FailureClass
from judge_pipeline.settings import Limits

CLASSES: list[FailureClass] = ["infrastructure", "rate_limit", "empty", "truncated", "invalid", "refusal", "rejected"]
PROVIDER = {"infrastructure", "rate_limit", "empty"}


@pytest.fixture
def judge(checkpoint: Any, context: Any) -> Any:
    from judge_pipeline.judging.engine import judge_requests

    return lambda settings, requests: judge_requests("j", settings, requests, checkpoint=checkpoint, context=context)


def trips(events: list[FailureClass | None], n: int, in_flight: int) -> int | None:
    """How many events it takes to trip, told by looking back from each instead of counting on; None: they do not."""
    for end in range(1, len(events) + 1):
        last = events[:end]
        if last[-1] is None:
            continue
        if None not in last and len(last) >= n and len(set(last[-n:])) == 1:
            return end
        m = max(n, in_flight)
        if len(last) >= m and all(event in PROVIDER for event in last[-m:]):
            return end
    return None


@given(st.lists(st.sampled_from([None, *CLASSES[:4]]), max_size=30), st.integers(1, 6), st.integers(1, 8))
def test_it_trips_where_the_rule_says(events: list[FailureClass | None], n: int, in_flight: int) -> None:
    circuit, at = Circuit(Limits(stop_after_failures=n, max_in_flight=in_flight)), None
    for number, event in enumerate(events, 1):
        if event is None:
            circuit.answered()
        elif circuit.failed(Failure(event, "x")) is not None:
            at = number
            break
    assert at == trips(events, n, in_flight)


FAULTS = {
    "429": "rate_limit",
    "503": "infrastructure",
    "empty": "empty",
    "truncated": "truncated",
    "hostile": "invalid",
    "refusal": "refusal",
}


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["direct", "litellm"])
@pytest.mark.parametrize("kind", list(FAULTS))
def test_a_provider_that_always_fails_in_one_way_is_left_alone_and_asked_again_by_the_next_run(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, kind: str
) -> None:
    provider.script(faults.kinds[kind]())
    n, limits = 60, {"stop_after_failures": 6, "max_in_flight": 4, "max_tries": 2}
    result = judge(loopback_judge(limits=limits), make_requests(n))
    assert set(result.failures["class"]) == {FAULTS[kind]}
    assert len(result.failures) == n  # every attempt is counted
    assert len(provider.requests) <= 2 * 6 + 4 * 4  # and those whose attempts had begun: four for each in flight
    left = result.failures[result.failures["n_tries"] == 0]
    assert len(left) >= n - 6 - 4 * 4
    assert left["text"].str.match(r"asking stopped: .* \(limits.stop_after_failures: 6\)\. The last: ").all()

    provider.script(faults.valid())
    asked = len(provider.requests)
    again = judge(loopback_judge(limits=limits), make_requests(n))
    assert len(again.outputs) == n
    assert len(provider.requests) - asked == n


@pytest.mark.parametrize("transport", ["direct"])
def test_one_answer_is_enough_for_faults_of_the_answers_to_stop_nothing(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any
) -> None:
    provider.script(faults.valid(), faults.kinds["refusal"]())
    result = judge(loopback_judge(limits={"stop_after_failures": 6}), make_requests(40))
    assert len(provider.requests) == 40
    assert len(result.failures) == 39
