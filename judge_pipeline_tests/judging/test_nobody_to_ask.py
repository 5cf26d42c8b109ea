"""Nothing is asked where nothing may be: what is stored is used, and what is not is a failure."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, JudgingResult, judge_requests
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.judging_context import ASK
from judge_pipeline.judging.render_memo import remembered_hashes
from judge_pipeline.judging.verification import verify


@pytest.fixture
def judge(checkpoint: Checkpoint, context: JudgingContext, loopback_judge: Any) -> Any:
    def run(requests: Any, **changes: Any) -> JudgingResult:
        own = dataclasses.replace(context, **changes)
        return judge_requests("loopback", loopback_judge(), requests, checkpoint=checkpoint, context=own)

    return run


def test_what_is_stored_is_used_and_what_is_not_is_a_failure_and_no_call(
    judge: Any, provider: Any, context: JudgingContext, make_requests: Any
) -> None:
    judge(make_requests(3))
    never = {**context.environment, ASK: "never"}
    asked = len(provider.requests)
    assert verify(judge(make_requests(3), environment=never).outputs, make_requests(3)) == []
    result = judge(make_requests(5), environment=never)
    assert len(result.outputs) == 3
    assert result.failures["class"].tolist() == ["not_stored"] * 2
    assert result.failures["n_tries"].tolist() == [0, 0]
    assert len(provider.requests) == asked == 3


def test_a_table_of_what_is_stored_leaves_out_the_rest_without_a_failure(
    judge: Any, provider: Any, make_requests: Any
) -> None:
    judge(make_requests(3))
    result = judge(make_requests(5), only_stored=True)
    assert (len(result.outputs), len(result.failures), result.n_asked) == (3, 0, 0)
    assert result.pilot == frozenset(result.outputs["attempt_id"])
    assert judge(make_requests(3), only_stored=True).pilot is None
    assert len(provider.requests) == 3


def test_another_word_is_an_error(judge: Any, context: JudgingContext, make_requests: Any) -> None:
    with pytest.raises(JudgingError, match="JUDGE_PIPELINE_ASK='no' is not known: set it to never, or unset it"):
        judge(make_requests(1), environment={**context.environment, ASK: "no"})


def test_what_was_rendered_is_remembered(judge: Any, checkpoint: Checkpoint, make_requests: Any) -> None:
    assert remembered_hashes(checkpoint) == set()
    hashes = set(judge(make_requests(5)).outputs["request_hash"])
    assert hashes <= remembered_hashes(checkpoint) and len(remembered_hashes(checkpoint)) <= len(hashes) + 2
