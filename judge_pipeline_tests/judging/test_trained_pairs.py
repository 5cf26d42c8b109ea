"""Judges trained to judge, through the engine: verdicts in both orders, and what is said to one that gives none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from judge_pipeline.judging.answers_table import answers_table
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.judging_context import JudgingContext
from judge_pipeline.judging.row_asking import ask_rows
from judge_pipeline.preference.pair_judgments import pair_judgments
from judge_pipeline.preference.pair_question import pair_question
from judge_pipeline_tests.judging.made_pairs import rows_of

FIRST = {"double_brackets": "[[A]]", "result": "[RESULT] A"}


@pytest.fixture
def asked(checkpoint: Checkpoint, context: JudgingContext, loopback_judge: Callable[..., Any]) -> Callable[..., Any]:
    """Asks a judge of a form about two pairs."""

    def ask(form: str) -> Any:
        settings = loopback_judge(transport="direct", answer_form=form, systems=["preference"])
        rows = rows_of(2)
        question = pair_question(may_tie=False)
        found = ask_rows("trained", settings, question, rows, checkpoint=checkpoint, context=context, of_whole=())
        return pair_judgments("trained", rows, answers_table(checkpoint, "trained", found))

    return ask


@pytest.mark.parametrize("form", FIRST)
def test_a_judge_that_always_takes_the_first_decides_against_itself(
    asked: Callable[..., Any], provider: Any, faults: Any, form: str
) -> None:
    provider.script(faults.chat(f"Feedback: the other one is longer. {FIRST[form]}"))
    table = asked(form)
    assert table["slot"].tolist() == ["first"] * 4
    assert table["decision"].tolist() == ["A", "B"] * 2
    assert table["rationale"].tolist() == ["the other one is longer."] * 4
    assert all("response_format" not in request.body for request in provider.requests)
    assert all(FIRST[form].split()[0] in request.text for request in provider.requests)


@pytest.mark.parametrize("form", FIRST)
def test_a_verdict_that_is_none_is_asked_for_again_in_the_judge_s_own_form_and_else_invalid(
    asked: Callable[..., Any], provider: Any, faults: Any, form: str
) -> None:
    def behave(request: Any, n: int) -> Any:
        was_told = len(request.body["messages"]) > 2
        return faults.chat(FIRST[form] if was_told and "x0.sort" in request.text else "Both are fine: A or B.")

    provider.behave = behave
    table = asked(form)
    assert table["failure_class"].tolist() == [None, None, "invalid", "invalid"]
    assert table["n_tries"].tolist() == [2] * 4
    assert table["slot"].tolist() == ["first", "first", None, None]
    told = [request.body["messages"][-1]["content"] for request in provider.requests if request.body["messages"][2:]]
    assert len(told) == 4
    assert all(FIRST[form] in words and "JSON" not in words for words in told)
