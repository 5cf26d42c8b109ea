"""Answers about criteria are held to the ids that were asked about, to closed sets and to lengths."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from judge_pipeline.criteria.answers import (
    LONGEST_CRITERION_CHARS,
    check_answer,
    children_answer,
    choice_answer,
    criteria_answer,
    verdicts_answer,
)
from judge_pipeline.judging.answer import Answer, json_schema, parse_answer
from judge_pipeline.judging.failures import Failure

VERDICT = {"rationale": "r", "verdict": "tie", "confidence": "low"}
CRITERION = {"text": "Is fast", "aspect": "efficiency"}


def error(value: Any, model: type[BaseModel]) -> str | None:
    """What is wrong with an answer; None where it is valid."""
    text = value if isinstance(value, str) else json.dumps(value)
    read = parse_answer(text, "stop", model)
    return read.text if isinstance(read, Failure) else None


def test_every_id_that_was_asked_about_stands_exactly_once() -> None:
    model = verdicts_answer(("c1", "c2"), short=False)
    assert error({"c2": VERDICT, "c1": VERDICT}, model) is None
    assert "c2: Field required" in str(error({"c1": VERDICT}, model))
    assert "c3: Extra inputs" in str(error({"c1": VERDICT, "c2": VERDICT, "c3": VERDICT}, model))
    assert "twice" in str(error(f'{{"c1": {json.dumps(VERDICT)}, "c1": {json.dumps(VERDICT)}}}', model))


@pytest.mark.parametrize(
    "change",
    [{"verdict": "a"}, {"verdict": None}, {"verdict": "both"}, {"confidence": 0.9}, {"rationale": ""}, {"x": 1}],
)
def test_a_verdict_is_of_the_closed_set_and_is_not_guessed(change: dict[str, Any]) -> None:
    assert error({"c1": VERDICT | change}, verdicts_answer(("c1",), short=False)) is not None


def test_criteria_are_one_to_the_limit_on_one_line_with_a_known_aspect() -> None:
    model = criteria_answer(2, short=False)
    assert error({"criteria": [CRITERION] * 2}, model) is None
    for wrong in ([], [CRITERION] * 3, [CRITERION | {"aspect": "speed"}], [{"text": "x"}]):
        assert error({"criteria": wrong}, model) is not None, wrong
    longest = CRITERION | {"text": "x" * LONGEST_CRITERION_CHARS}
    assert error({"criteria": [longest]}, model) is None
    assert error({"criteria": [longest | {"text": longest["text"] + "x"}]}, model) is not None
    read = parse_answer(json.dumps({"criteria": [CRITERION | {"text": " Is\nfast "}]}), "stop", model)
    assert isinstance(read, Answer) and read.value.model_dump()["criteria"][0]["text"] == "Is fast"


def test_a_tied_criterion_has_two_children_at_most() -> None:
    model = children_answer(("c1", "c2"), short=False)
    assert error({"c1": [CRITERION] * 2, "c2": []}, model) is None
    assert error({"c1": [CRITERION] * 3, "c2": []}, model) is not None
    assert error({"c1": []}, model) is not None


def test_a_candidate_clashes_with_what_stands_or_with_one_before_it() -> None:
    model = check_answer(("t1", "t2"), ("c1",), short=False)

    def check(first: str, second: str) -> str | None:
        return error({"t1": {"reason": "r", "other": first}, "t2": {"reason": "r", "other": second}}, model)

    assert check("c1", "t1") is None and check("none", "none") is None
    assert check("t1", "none") is not None and check("t2", "none") is not None  # itself; one behind it
    assert check("c2", "none") is not None and check("none", "t2") is not None


def test_an_answer_to_nothing_known_is_held_to_the_form_of_its_values() -> None:
    for model, value in (
        (verdicts_answer((), False), VERDICT), (children_answer((), False), [CRITERION]),
        (check_answer((), (), False), {"reason": "r", "other": "c9"}),
    ):  # fmt: skip
        assert error({"c7": value, "t1": value}, model) is None
        assert error({"c7": "x"}, model) is not None


ALL = [
    criteria_answer(20, False), criteria_answer(20, True), choice_answer(False), choice_answer(True),
    *(make(("c1", "t2"), short) for make in (verdicts_answer, children_answer) for short in (False, True)),
    *(check_answer(("t1", "t2"), ("c1",), short) for short in (False, True)),
]  # fmt: skip


@given(st.data())
def test_what_a_grammar_of_the_schema_may_write_is_valid(data: st.DataObject) -> None:
    """The embedded model is held to the schema with its lengths: whatever fits it must be an answer."""
    model = data.draw(st.sampled_from(ALL))
    value = data.draw(values(json_schema(model, bounds=True)))
    jsonschema.validate(value, dict(json_schema(model, bounds=True)))
    assert error(value, model) is None


def values(schema: Any) -> st.SearchStrategy[Any]:
    """JSON values of a schema as we write them."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "string":
        return st.text("ab \u00e9", min_size=schema["minLength"], max_size=schema["maxLength"]).filter(str.strip)
    if schema["type"] == "array":
        low, high = schema.get("minItems", 0), min(3, schema["maxItems"])
        return st.lists(values(schema["items"]), min_size=low, max_size=high)
    return st.fixed_dictionaries({name: values(field) for name, field in schema["properties"].items()})


def test_other_providers_are_sent_no_lengths_which_some_refuse() -> None:
    for model in ALL:
        assert "maxLength" not in json.dumps(json_schema(model)) and "maxItems" not in json.dumps(json_schema(model))
        assert "$ref" not in json.dumps(json_schema(model, bounds=True))


def test_the_embedded_model_writes_less() -> None:
    texts = json.dumps(json_schema(criteria_answer(20, True), bounds=True))
    assert '"maxItems": 8' in texts and '"maxLength": 60' in texts
    assert json_schema(criteria_answer(3, True), bounds=True)["properties"]["criteria"]["maxItems"] == 3
