"""Rates are counted from the rows of calls, for today's requests alone."""

from __future__ import annotations

from typing import Any

import pytest

from judge_pipeline.judging.answer_rates import AnswerRates, answer_rates
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.current_hashes import current_hashes
from judge_pipeline.judging.engine import JudgingContext, judge_requests


@pytest.fixture(params=["litellm", "direct"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_tries_and_attempts_are_counted_by_class_and_old_prompts_are_left_out(
    provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint, context: JudgingContext
) -> None:
    table = make_requests(4)
    settings = loopback_judge(limits={"max_tries": 2})

    def behave(request: Any, n: int) -> Any:
        if "return 0;" in request.text:
            return faults.valid()
        if "return 1;" in request.text:  # answered when asked again
            return faults.valid() if len(request.body["messages"]) > 2 else faults.chat('{"p_ac": "85%"}')
        return faults.kinds["500" if "return 2;" in request.text else "refusal"]()

    provider.behave = behave
    judge_requests("j", loopback_judge(parameters={"seed": 1}), table, checkpoint=checkpoint, context=context)
    result = judge_requests("j", settings, table, checkpoint=checkpoint, context=context)
    hashes = current_hashes("j", settings, table, context)
    assert answer_rates(checkpoint, "j", hashes) == AnswerRates(
        n_tries=6,
        failed_tries={"invalid": 1, "infrastructure": 2, "refusal": 1},
        failed_attempts={"infrastructure": 1, "refusal": 1},
    )
    assert result.n_calls == 6
    assert answer_rates(checkpoint, "another", hashes) == AnswerRates()
    provider.script(faults.valid())
    judge_requests("j", settings, table, checkpoint=checkpoint, context=context)
    later = answer_rates(checkpoint, "j", hashes)
    assert (later.n_tries, dict(later.failed_attempts)) == (8, {})


def test_attempts_with_equal_requests_fail_together(
    provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint, context: JudgingContext
) -> None:
    table, settings = make_requests(3, same=True), loopback_judge()
    provider.script(faults.kinds["refusal"]())
    judge_requests("j", settings, table, checkpoint=checkpoint, context=context)
    rates = answer_rates(checkpoint, "j", current_hashes("j", settings, table, context))
    assert rates == AnswerRates(1, {"refusal": 1}, {"refusal": 3})
