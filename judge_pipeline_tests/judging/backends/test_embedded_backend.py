"""The embedded model: scoring rules, and the real thing on a few small requests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judge_pipeline.judging.backends.embedded_backend import embedded_call, model_file
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, judge_requests
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.question import ATTEMPT
from judge_pipeline.judging.request import Message, PromptTemplate, request_hash
from judge_pipeline.judging.scoring import JUDGMENT_SCORING, share_of_yes
from judge_pipeline.judging.verification import verify
from judge_pipeline.settings import EmbeddedJudge

SETTINGS = EmbeddedJudge(backend="embedded")


def test_texts_are_cut_and_the_cuts_are_counted() -> None:
    settings = EmbeddedJudge(backend="embedded", max_code_chars=5, max_prompt_chars=0)
    request = {"source_code": "abcdefgh", "prompt_text": "xy", "source_chars_cut": 10, "prompt_chars_cut": 0}
    assert ATTEMPT.shorten(settings, request) == {
        "source_code": "abcde", "prompt_text": "", "source_chars_cut": 13, "prompt_chars_cut": 2,
    }  # fmt: skip


def test_the_call_names_model_and_runtime_and_no_place_on_this_machine(
    context: JudgingContext, make_requests: Any
) -> None:
    template = PromptTemplate.load(context.prompts_dir, SETTINGS.prompt)
    call = embedded_call(SETTINGS, template.render(make_requests(1).to_dict("records")[0]))
    assert call.base_url is None
    assert set(call.parameters) == {"top_logprobs", "context_tokens", "model_sha256", "runtime"}
    assert str(model_file().parent) not in json.dumps(call.components())
    assert request_hash(call) == request_hash(embedded_call(SETTINGS, call.messages))


def test_a_template_without_the_three_questions_is_refused() -> None:
    with pytest.raises(JudgingError, match="must end with the parts --- question: p_ac ---"):
        embedded_call(SETTINGS, (Message("user", "x"), Message("question: p_ac", "?")))


@pytest.mark.slow
def test_the_real_model_judges_twice_in_one_process_quietly_and_repeatably(
    checkpoint: Checkpoint,
    context: JudgingContext,
    make_requests: Any,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Any,
) -> None:
    requests = make_requests(2)
    first = judge_requests("embedded", SETTINGS, requests, checkpoint=checkpoint, context=context)
    assert verify(first.outputs, requests) == []
    assert (first.outputs["p_ac"].between(0.0, 1.0, inclusive="neither")).all()
    assert set(first.outputs["rationale"]) == {"scored from token probabilities"}
    assert set(first.outputs["model"]) == {"SmolLM2-135M-Instruct.Q4_1"}
    assert (first.cost_usd, first.n_calls) == (0.0, 2)
    other = Checkpoint(f"sqlite:///{tmp_path / 'other.sqlite'}")
    second = judge_requests("embedded", SETTINGS, requests, checkpoint=other, context=context)
    assert list(second.outputs["p_ac"]) == pytest.approx(list(first.outputs["p_ac"]), abs=1e-3)
    (row,) = other.calls("embedded", second.outputs["request_hash"][0])
    top = json.loads(row["sent"])["top_tokens"]
    assert tuple(sorted(top)) == tuple(sorted(JUDGMENT_SCORING.questions))
    assert share_of_yes([tuple(pair) for pair in top["p_ac"]]) == second.outputs["p_ac"][0]
    other.close()
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")


@pytest.mark.slow
def test_a_request_longer_than_the_context_fails_with_its_class(
    checkpoint: Checkpoint, context: JudgingContext, make_requests: Any
) -> None:
    settings = EmbeddedJudge(backend="embedded", context_tokens=512, max_code_chars=12000)
    requests = make_requests(1).assign(source_code="int x = 1234567; " * 500)
    result = judge_requests("embedded", settings, requests, checkpoint=checkpoint, context=context)
    assert list(result.failures["class"]) == ["too_long"]
