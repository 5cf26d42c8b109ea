"""The code version of judgments: changed by whatever can change an answer, and by nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import dagster as dg
import pytest
import yaml

from judge_pipeline.definitions import build_definitions
from judge_pipeline.orchestration.judging_configuration import configuration_sha256
from judge_pipeline.settings import BaselineJudge, EmbeddedJudge, LitellmJudge, RecordedJudge, System, Workspace

PROMPTS = Path(__file__).resolve().parents[2] / "assets_config" / "prompts"
JUDGES: dict[str, dict[str, Any]] = {
    "llm": {"backend": "litellm", "model": "openai/m", "base_url": "http://127.0.0.1:9/v1"},
    "small": {"backend": "embedded"},
    "file": {"backend": "recorded", "file": "a.jsonl"},
    "text": {"backend": "baseline"},
}
CHANGES: dict[tuple[str, str], Any] = {
    ("llm", "model"): "openai/n", ("llm", "base_url"): "http://127.0.0.1:8/v1", ("llm", "transport"): "direct",
    ("llm", "prompt"): "another.md.j2", ("llm", "parameters"): {"temperature": 0}, ("llm", "max_output_tokens"): 9,
    ("llm", "send_schema"): True, ("llm", "repeats"): 2, ("llm", "scope"): {"splits": ["test"]},
    ("small", "prompt"): "another.md.j2", ("small", "max_code_chars"): 7, ("small", "max_prompt_chars"): 7,
    ("small", "threads"): 1, ("small", "context_tokens"): 1024, ("small", "scope"): {"splits": ["val"]},
    ("file", "file"): "b.jsonl", ("file", "columns"): {"p_ac": "p"}, ("file", "model"): "m",
    ("file", "scope"): {"splits": ["val"]},
    ("text", "max_features"): 50, ("text", "inverse_regularization"): 2.0, ("text", "folds"): 3,
    ("text", "scope"): {"splits": ["val"]},
}  # fmt: skip
"""Whatever can change a judge's table, of every backend."""

PRICE = {"input_usd_per_million_tokens": 1.0, "output_usd_per_million_tokens": 2.0}
NO_CHANGES: dict[str, Any] = {
    "description": "x", "systems": ["cocreation", "criteria"], "enabled": False, "in_panel": True, "api_key_env": "KEY",
    "provider": "somebody", "limits": {"max_tries": 9, "max_in_flight": 2, "sleep_seconds": 1.0}, "price": PRICE,
    "repair_max_output_tokens": 99, "batch": True, "family": "third party",
    "prompts": {"pair": "another.md.j2"}, "answer_form": "result",
}  # fmt: skip
"""Whatever decides whether, when and at what price an answer comes, or on answers to other questions."""

NO_CHANGES_OF: dict[str, dict[str, Any]] = {
    "small": {"max_output_tokens": 99, "prompts": {"pair": "another.md.j2"}, "shards": 3},
    "text": {"pair_rule": "longer"},
    "file": {"choice_words": {"1": "A"}}, "llm": {"takes_images": True, "shards": 3},
}  # fmt: skip
"""The same of single backends."""


@pytest.fixture
def version(tmp_path: Path) -> Callable[..., str]:
    """The number for a judges.yaml with these judges, and what stands beside them."""
    prompts = tmp_path / "assets_config" / "prompts"
    prompts.mkdir(parents=True)
    for file in PROMPTS.glob("*.j2"):
        (prompts / file.name).write_bytes(file.read_bytes())

    def of(judges: dict[str, Any] = JUDGES, system: System = "cocreation", **top: Any) -> str:
        file = tmp_path / "assets_config" / "judges.yaml"
        file.write_text(yaml.safe_dump({"judges": judges} | top), encoding="utf-8")
        return configuration_sha256(Workspace.find({}, tmp_path), system)

    return of


def with_change(judge: str, name: str, value: Any) -> dict[str, Any]:
    return JUDGES | {judge: JUDGES[judge] | {name: value}}


@pytest.mark.parametrize(("judge", "name"), CHANGES)
def test_what_can_change_an_answer_changes_it(version: Callable[..., str], judge: str, name: str) -> None:
    assert version(with_change(judge, name, CHANGES[judge, name])) != version()


@pytest.mark.parametrize("name", NO_CHANGES)
def test_what_changes_no_answer_does_not(version: Callable[..., str], name: str) -> None:
    providers = {"somebody": {"requests_per_minute": 60}}
    assert version(with_change("llm", name, NO_CHANGES[name]), providers=providers) == version()


def test_how_pairs_are_chosen_and_judges_of_pairs_do_not(version: Callable[..., str]) -> None:
    assert version(JUDGES | {name: JUDGES[name] | changes for name, changes in NO_CHANGES_OF.items()}) == version()
    reward = {"backend": "reward", "model": "m", "base_url": "http://127.0.0.1:9", "protocol": "tei_predict"}
    assert (
        version(JUDGES | {"of-pairs": reward, "pairs-too": JUDGES["text"] | {"systems": ["preference"]}}) == version()
    )


@pytest.mark.parametrize(
    "change", [{"takes_images": True}, {"answer_form": "result"}, {"prompts": {"pair": "t.md.j2"}}]
)
def test_of_pairs_what_can_change_a_choice_does(version: Callable[..., str], change: dict[str, Any]) -> None:
    judges = {"llm": JUDGES["llm"] | {"systems": ["preference"]}}
    plain = version(judges, "preference")
    assert version({"llm": judges["llm"] | change}, "preference") != plain
    assert version({"llm": judges["llm"] | {"prompt": "another.md.j2"}}, "preference") == plain


@pytest.mark.parametrize(
    "top",
    [
        {"ceiling_usd": {"run": 1.0, "contest": 2.0}},
        {"providers": {"127.0.0.1:9": {"requests_per_minute": 1, "tokens_per_minute": 2}}},
    ],
)
def test_money_and_rates_of_all_do_not(version: Callable[..., str], top: dict[str, Any]) -> None:
    assert version(**top) == version()


def test_every_setting_is_known_to_change_answers_or_not_to() -> None:
    """A setting that is new counts as one that can, until somebody says here that it cannot."""
    names = {"llm": LitellmJudge, "small": EmbeddedJudge, "file": RecordedJudge, "text": BaselineJudge}
    for judge, model in names.items():
        changing = {name for of, name in CHANGES if of == judge}
        decided = changing | NO_CHANGES.keys() | NO_CHANGES_OF.get(judge, {}).keys() | {"backend"}
        assert set(model.model_fields) <= decided, judge
        backend = get_args(model.model_fields["backend"].annotation)[0]
        assert model(**JUDGES[judge]).answer_settings()["backend"] == backend


def test_a_judge_more_and_a_template_that_is_used_change_it(version: Callable[..., str], tmp_path: Path) -> None:
    plain = version()
    assert version(JUDGES | {"text-2": JUDGES["text"]}) != plain
    assert version(dict(reversed(JUDGES.items()))) == plain
    prompts = tmp_path / "assets_config" / "prompts"
    (prompts / "of_nobody.md.j2").write_text("--- user ---\n", encoding="utf-8")
    assert version() == plain
    (prompts / "cocreation_judge.md.j2").write_bytes((prompts / "cocreation_judge.md.j2").read_bytes() + b"\n")
    changed = version()
    assert changed != plain
    (prompts / "cocreation_judge.md.j2").unlink()  # judging will say so
    assert version() not in (plain, changed)


def test_the_assets_have_it_in_their_code_version(version: Callable[..., str], tmp_path: Path) -> None:
    def code_versions(**top: Any) -> dict[str, str | None]:
        version(with_change("llm", *top.popitem()) if "model" in top else JUDGES, **top)
        graph = build_definitions(Workspace.find({}, tmp_path)).resolve_asset_graph()
        return {name: graph.get(dg.AssetKey(name)).code_version for name in ("judge_outputs", "judge_repeats")}

    plain = code_versions()
    assert code_versions(ceiling_usd={"run": 1.0}) == plain
    changed = code_versions(model="openai/n")
    assert all(changed[name] != plain[name] for name in plain)
