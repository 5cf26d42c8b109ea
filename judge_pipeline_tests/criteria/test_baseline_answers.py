"""Answers of baselines are held to the ids that were asked about, to yes and no, and to whole weights."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel

from judge_pipeline.criteria.answers import UNANSWERED, criteria_answer, pointwise_answer, weights_answer
from judge_pipeline.criteria.baseline_questions import EMBEDDED_LISTED
from judge_pipeline.judging.answer import Answer, json_schema, parse_answer
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.settings import EmbeddedJudge
from judge_pipeline_tests.criteria.scripted_judge import pairs_of
from judge_pipeline_tests.criteria.test_baseline_questions import rows_of_all
from judge_pipeline_tests.criteria.test_method_at_engine import asking

MET, NOT_MET = {"rationale": "r", "met": True}, {"rationale": "r", "met": False}


def read(value: Any, model: type[BaseModel]) -> Any:
    """The answer's fields, or what is wrong with it in words."""
    found = parse_answer(json.dumps(value), "stop", model)
    return found.value.model_dump() if isinstance(found, Answer) else found.text


def test_a_pointwise_answer_has_every_id_once_and_says_true_or_false() -> None:
    model = pointwise_answer(("c1", "c2"), short=False)
    assert read({"c2": MET, "c1": NOT_MET}, model) == {"c1": NOT_MET, "c2": MET}
    assert "c2: Field required" in read({"c1": MET}, model)
    assert "c3: Extra inputs" in read({"c1": MET, "c2": MET, "c3": MET}, model)
    for wrong in (1, "yes", "true", None, 0.9):
        assert "c1.met" in read({"c1": MET | {"met": wrong}, "c2": MET}, model), wrong
    assert "c1.rationale" in read({"c1": MET | {"rationale": ""}, "c2": MET}, model)


def test_what_is_left_out_is_filled_in_where_that_is_a_no_and_nothing_else_is_mended() -> None:
    model = pointwise_answer(("c1", "c2"), short=False, unanswered_is_not_met=True)
    assert read({"c1": MET}, model) == {"c1": MET, "c2": {"rationale": UNANSWERED, "met": False}}
    assert "c1: Field required" in read({}, model) and "c2: Field required" in read({"c3": MET}, model)
    assert "c3: Extra inputs" in read({"c1": MET, "c3": MET}, model)
    assert "c2.met" in read({"c1": MET, "c2": MET | {"met": None}}, model)
    strict = pointwise_answer(("c1", "c2"), short=False)
    assert json_schema(model, bounds=True) == json_schema(strict, bounds=True), "a grammar leaves nothing out"


@pytest.mark.parametrize(
    ("model", "answer", "most"),
    [
        (weights_answer(("c1",)), lambda weight: {"c1": weight}, 10),
        (
            criteria_answer(2, short=False, weighted=True),
            lambda weight: {"criteria": [{"text": "x", "aspect": "others", "weight": weight}]},
            3,
        ),
    ],
)
def test_a_weight_is_a_whole_number_in_its_range(model: type[BaseModel], answer: Any, most: int) -> None:
    for weight in (1, most, 2.0):
        assert read(answer(weight), model) == answer(int(weight))
    for wrong in (0, most + 1, 1.5, "2", True, None, -1):
        found = read(answer(wrong), model)
        assert isinstance(found, str) and "Input should be" in found, wrong
    schema = dict(json_schema(model))
    jsonschema.validate(answer(most), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(answer(most + 1), schema)


def test_criteria_have_weights_only_where_they_are_asked_for() -> None:
    plain = {"criteria": [{"text": "x", "aspect": "others"}]}
    assert read(plain, criteria_answer(2, short=False)) == plain
    assert "weight: Field required" in read(plain, criteria_answer(2, short=False, weighted=True))


@pytest.mark.slow
def test_the_embedded_model_lists_answers_and_weighs_within_its_schema(tmp_path: Path) -> None:
    pairs = pairs_of(({"x": 1}, {"x": 2}), instruction="Return the larger of two numbers")
    questions = rows_of_all(pairs)
    with closing(Checkpoint(f"sqlite:///{tmp_path / 'c.sqlite'}")) as checkpoint:
        ask = asking("embedded", EmbeddedJudge(backend="embedded"), checkpoint, tmp_path)
        answers = {
            name: ask("any", *questions[name]).iloc[0]["answer"] for name in ("task_generation", "pointwise", "weights")
        }
    assert 1 <= len(answers["task_generation"]["criteria"]) <= EMBEDDED_LISTED
    assert set(answers["pointwise"]) == set(answers["weights"]) == {"c1", "c2"}
