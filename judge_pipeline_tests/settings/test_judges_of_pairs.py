"""Settings of judges that choose among two responses: reward models, trained judges, baselines."""

from __future__ import annotations

import json
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from judge_pipeline.settings import (
    BaselineJudge,
    EmbeddedJudge,
    JudgeSettings,
    JudgesFile,
    LitellmJudge,
    RewardJudge,
    packaged_config_dir,
)
from judge_pipeline.settings.yaml_file import load

SERVER = {"backend": "reward", "model": "org/m", "base_url": "http://127.0.0.1:8000", "protocol": "vllm_classify"}
LLM = {"backend": "litellm", "model": "openai/m"}


def refusal(of: type[Any], /, **settings: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        of(**settings)
    return str(caught.value)


def test_a_reward_judge_serves_preference_unless_told() -> None:
    judge = TypeAdapter(JudgeSettings).validate_python(SERVER)
    assert isinstance(judge, RewardJudge)
    assert judge.systems == ("preference",)
    assert RewardJudge(**SERVER, systems=["preference", "criteria"]).systems == ("preference", "criteria")
    assert "take cocreation out of systems" in refusal(RewardJudge, **SERVER, systems=["cocreation", "preference"])


@pytest.mark.parametrize(
    ("protocol", "kind", "send_as", "sent_as"),
    [
        ("vllm_classify", "scalar", None, "messages"),
        ("vllm_classify", "scalar", "text", "text"),
        ("vllm_pooling", "pairwise", None, "text"),
        ("vllm_score", "scalar", None, "query_and_text"),
        ("tei_predict", "scalar", None, "text"),
        ("tei_predict", "scalar", "query_and_text", "query_and_text"),
        ("tei_predict", "pairwise", None, "text"),
        ("tei_rerank", "scalar", None, "query_and_text"),
    ],
)
def test_texts_are_sent_as_the_endpoint_takes_them(protocol: str, kind: str, send_as: str | None, sent_as: str) -> None:
    judge = RewardJudge(**(SERVER | {"protocol": protocol}), kind=kind, send_as=send_as)  # type: ignore[arg-type]
    assert judge.sent_as() == sent_as


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"protocol": "tei_predict", "send_as": "messages"}, "takes text or query_and_text, not send_as: messages"),
        ({"protocol": "vllm_score", "kind": "pairwise"}, "not send_as: text as pairwise"),
        ({"kind": "pairwise", "send_as": "messages"}, "set send_as: text"),
        ({"protocol": "tei_predict", "base_url": "http://h/predict/"}, "endpoint's own path /predict"),
        ({"base_url": "http://user:word@h/"}, "without user, password or query"),
        ({"neutral_score": 0.5}, "neutral_score is for kind: pairwise"),
        ({"tie_margin": -0.1}, "greater than or equal to 0"),
        ({"tie_margin": float("nan")}, "tie_margin"),
        ({"protocol": "fax"}, "vllm_classify"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_remedy(changes: dict[str, Any], words: str) -> None:
    assert words in refusal(RewardJudge, **(SERVER | changes))


def test_a_reward_judges_key_and_provider_are_checked_as_those_of_others() -> None:
    judge = RewardJudge(**SERVER, api_key_env="REWARD_KEY")  # type: ignore[arg-type]
    assert judge.missing_key({}) == "REWARD_KEY"
    assert judge.missing_key({"REWARD_KEY": "k"}) is None
    assert RewardJudge(**SERVER).missing_key({}) is None  # type: ignore[arg-type]
    assert "provider 'nobody' is not under" in refusal(JudgesFile, judges={"a": SERVER | {"provider": "nobody"}})


@pytest.mark.parametrize(
    ("prompts", "words"),
    [
        ({"Pair": "p.md.j2"}, "is no name of a question"),
        ({"attempt": "p.md.j2"}, "the template that 'prompt' names"),
        ({"pair": "../p.md.j2"}, "not a path"),
        ({"pair": ""}, "not a path"),
    ],
)
def test_prompts_name_questions_and_files(prompts: dict[str, str], words: str) -> None:
    assert words in refusal(LitellmJudge, **LLM, prompts=prompts)
    assert words in refusal(EmbeddedJudge, backend="embedded", prompts=prompts)


def test_settings_count_for_the_question_that_they_decide_on() -> None:
    plain = LitellmJudge(**LLM)  # type: ignore[arg-type]
    trained = LitellmJudge(**LLM, prompts={"pair": "p.md.j2"}, answer_form="result")  # type: ignore[arg-type]
    assert trained.answer_settings() == plain.answer_settings()
    assert trained.answer_settings("rubric_scores") == plain.answer_settings("rubric_scores")
    assert trained.answer_settings("pair") == plain.answer_settings("pair") | {
        "prompt": "p.md.j2", "answer_form": "result",
    }  # fmt: skip
    another = LitellmJudge(**LLM, prompt="q.md.j2")  # type: ignore[arg-type]
    assert another.answer_settings() != plain.answer_settings()
    assert another.answer_settings("pair") == plain.answer_settings("pair")
    longer = BaselineJudge(backend="baseline", pair_rule="longer")
    assert longer.answer_settings() == BaselineJudge(backend="baseline").answer_settings()
    assert longer.answer_settings("pair") != BaselineJudge(backend="baseline").answer_settings("pair")
    margin = RewardJudge(**SERVER, tie_margin=0.5)  # type: ignore[arg-type]
    assert margin.answer_settings("pair") != RewardJudge(**SERVER).answer_settings("pair")  # type: ignore[arg-type]


def test_judges_of_pairs_alone_are_in_no_grid_and_no_panel_of_contests() -> None:
    judges = JudgesFile.model_validate(
        {"judges": {"a": LLM, "b": LLM | {"systems": ["preference"]}, "c": SERVER, "d": SERVER | {"in_panel": True}}}
    )
    assert judges.names() == judges.panel() == ["a"]
    assert judges.panel("preference") == ["b", "c", "d"], "reward models are judges that are pooled"
    assert judges.names("preference") == ["b", "c", "d"]


def test_the_13_judges_of_the_paper_stand_there_switched_off() -> None:
    judges = load(JudgesFile, packaged_config_dir() / "judges.yaml")
    of_pairs = {name: judges.get(name) for name in judges.names("preference")}
    of_the_paper = {name: judge for name, judge in of_pairs.items() if "paper 2, Table 2" in judge.description}
    assert Counter(judge.family for judge in of_the_paper.values()) == {
        "third party": 7, "fine-tuned judge": 4, "reward model": 2,
    }  # fmt: skip
    assert not any(judge.enabled for judge in of_the_paper.values())
    assert all(judge.systems == ("preference", "criteria") for judge in of_the_paper.values())
    enabled = {name for name, judge in of_pairs.items() if judge.enabled and judge.family != "simulated"}
    assert enabled == {"smollm2-135m", "baseline-length", "baseline-edit-size", "baseline-fitted"}


def test_judges_of_pairs_add_nothing_to_the_grid_of_contests() -> None:
    judges = load(JudgesFile, packaged_config_dir() / "judges.yaml")
    assert judges.names("cocreation") == [
        "gpt-5.2", "gemini-2.5-pro", "claude-sonnet-4.5", "deepseek-reasoner", "smollm2-135m", "baseline-text",
        "simulated-sharp", "simulated-lenient", "simulated-overconfident", "simulated-noisy",
    ]  # fmt: skip


def test_litellm_knows_the_models_that_are_at_providers() -> None:
    found = find_spec("litellm")
    assert found is not None and found.origin is not None
    table = Path(found.origin).with_name("model_prices_and_context_window_backup.json")
    known = json.loads(table.read_text(encoding="utf-8"))
    judges = load(JudgesFile, packaged_config_dir() / "judges.yaml").judges.values()
    named = [judge.model for judge in judges if isinstance(judge, LitellmJudge) and judge.base_url is None]
    assert named
    for model in named:
        assert model in known or model.split("/", 1)[1] in known, model
