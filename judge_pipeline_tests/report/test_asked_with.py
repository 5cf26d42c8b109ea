from __future__ import annotations

import pytest

from judge_pipeline.judging.versions import asked_with
from judge_pipeline.report.asked_with import asked_with_words


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (({}, None, None), "no parameters"),
        (({"temperature": 0.0, "max_tokens": 400}, None, None), "max_tokens = 400, temperature = 0.0"),
        (
            ({"reasoning_effort": "low"}, "http://h/v1", True),
            "reasoning_effort = low; at http://h/v1; with a JSON schema",
        ),
        ((None, None, False), "no parameters; without a JSON schema"),
    ],
)
def test_how_a_model_was_asked_in_words(
    given: tuple[dict[str, object] | None, str | None, bool | None], words: str
) -> None:
    assert asked_with_words(asked_with(*given)) == words


def test_of_no_model_there_is_nothing_to_say() -> None:
    assert asked_with_words(None) == ""
