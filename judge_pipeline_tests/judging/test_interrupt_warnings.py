"""An interrupted run leaves nothing behind for Python to warn of."""

from __future__ import annotations

import dataclasses
import gc
import warnings
from typing import Any

import pytest

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, judge_requests
from judge_pipeline.judging.progress import Progress


@pytest.fixture(params=["litellm", "direct"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.slow
def test_no_call_is_left_unawaited_whenever_the_run_is_interrupted(
    provider: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint, context: JudgingContext
) -> None:
    settings = loopback_judge(limits={"max_in_flight": 32})
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for stop_at in range(1, 9):

            def stop(progress: Progress, stop_at: int = stop_at) -> None:
                if progress.done >= stop_at:
                    raise KeyboardInterrupt

            with pytest.raises(KeyboardInterrupt):
                judge_requests(
                    f"judge-{stop_at}", settings, make_requests(60), checkpoint=checkpoint,
                    context=dataclasses.replace(context, progress=stop),
                )  # fmt: skip
        gc.collect()
    assert not [str(warning.message) for warning in seen if issubclass(warning.category, RuntimeWarning)]
