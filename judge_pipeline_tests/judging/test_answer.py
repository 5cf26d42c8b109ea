"""Answers that went wrong in practice, and properties that no answer may break."""

from __future__ import annotations

import json
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.judging.answer import MAX_RATIONALE_CHARS, Answer, Judgment, clean_text, json_schema, parse_answer
from judge_pipeline.judging.failures import Failure

REST = '"s_algo":3,"s_robust":4,"rationale":"fine"'
PLAIN = '{"p_ac":0.2,' + REST + "}"


def parse(text: str | None, finish_reason: str | None = "stop") -> Answer[Judgment] | Failure:
    return parse_answer(text, finish_reason, Judgment)


def value(text: str) -> Judgment:
    answer = parse(text)
    assert isinstance(answer, Answer), answer
    return answer.value


def failure(text: str | None, finish_reason: str | None = "stop") -> Failure:
    found = parse(text, finish_reason)
    assert isinstance(found, Failure), found
    return found


@pytest.mark.parametrize(
    ("text", "p_ac", "repair"),
    [
        (PLAIN, 0.2, None),
        ("\n " + PLAIN + "\n", 0.2, None),
        ("```json\n" + PLAIN + "\n```", 0.2, "code fence removed"),
        ("```\n" + PLAIN + "\n```\n", 0.2, "code fence removed"),
        ("Here it is:\n" + PLAIN + "\nHope this helps {smile}.", 0.2, "text around the JSON object removed"),
        ('<think>perhaps {"p_ac":0.9,' + REST + "}</think>" + PLAIN, 0.2, None),
        ('perhaps {"p_ac":0.9,' + REST + "}</think>\n" + PLAIN, 0.2, None),
        ('<think>{"p_ac":0.9}</think>```json\n' + PLAIN + "\n```", 0.2, "code fence removed"),
        ('<think>x</think>{"p_ac":0.2,"s_algo":3,"s_robust":4,"rationale":"prints </think>"}', 0.2, None),
        ('{"p_ac":0.1,"rationale":"prints ```6``` where 7 is due","s_algo":3,"s_robust":4}', 0.1, None),
        ('{"p_ac":0.1,"rationale":"the <think> tag stays","s_algo":3,"s_robust":4}', 0.1, None),
        ('{"p_ac":0.25,' + REST + ",}", 0.25, "punctuation of the JSON repaired (json-repair)"),
        ("{'p_ac': 0.250, 's_algo': 3, 's_robust': 4, 'rationale': 'fine'}", 0.25, "punctuation of the JSON repaired"),
        ('{p_ac: 1e-3, s_algo: 3, s_robust: 4, rationale: "fine"}', 0.001, "punctuation of the JSON repaired"),
        ('{"p_ac":0.2 "s_algo":3 "s_robust":4 "rationale":"fine"}', 0.2, "punctuation of the JSON repaired"),
        ('{"p_ac":0.2,"s_algo":3,"s_robust":4,"rationale":"two\nlines"}', 0.2, "punctuation of the JSON repaired"),
        (
            '{"p_ac":0.2,"s_algo":3,"s_robust":4,"rationale":"a\\nb \\u00e9 é \\d",}',
            0.2,
            "punctuation of the JSON repaired",
        ),
        ("{“p_ac”:0.2,“s_algo”:3,“s_robust”:4,“rationale”:“x”}", 0.2, "punctuation of the JSON repaired"),
        ('{"p_ac":0,' + REST + "}", 0.0, None),
        ('{"p_ac":1,' + REST + "}", 1.0, None),
    ],
)
def test_what_is_accepted_and_what_is_said_of_its_repair(text: str, p_ac: float, repair: str | None) -> None:
    answer = parse(text)
    assert isinstance(answer, Answer), answer
    assert answer.value.p_ac == p_ac
    assert (answer.repair or "").startswith(repair or "")
    assert (answer.repair is None) == (repair is None)


def test_a_trailing_comma_is_repaired_and_the_string_beside_it_is_untouched() -> None:
    text = '{"rationale":"array [1,2,] is legal","p_ac":0.25,"s_algo":3,"s_robust":2,}'
    assert value(text) == Judgment(p_ac=0.25, s_algo=3, s_robust=2, rationale="array [1,2,] is legal")


def test_negative_zero_is_zero() -> None:
    assert math.copysign(1.0, value('{"p_ac":-0.0,' + REST + "}").p_ac) == 1.0


def test_a_whole_number_written_with_a_point_is_an_integer_and_a_half_is_not() -> None:
    assert value('{"p_ac":0.2,"s_algo":4.0,"s_robust":2,"rationale":"x"}').s_algo == 4
    assert "s_algo" in failure('{"p_ac":0.2,"s_algo":4.5,"s_robust":2,"rationale":"x"}').text


@pytest.mark.parametrize(
    "p_ac",
    ['"85%"', "85", "1.2", "NaN", "Infinity", "true", '"high"', '"0.5"', "-0.1", "null", "[0.5]", "1e999", "85%"],
)
def test_no_wrong_probability_is_clamped_or_guessed(p_ac: str) -> None:
    for text in ('{"p_ac":' + p_ac + "," + REST + "}", '{"p_ac":' + p_ac + "," + REST + ",}"):
        assert failure(text).failure_class == "invalid"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"p_ac":0.2,"s_algo":0,"s_robust":4,"rationale":"x"}', "s_algo"),
        ('{"p_ac":0.2,"s_algo":6,"s_robust":4,"rationale":"x"}', "s_algo"),
        ('{"p_ac":0.2,"s_algo":true,"s_robust":4,"rationale":"x"}', "s_algo"),
        ('{"p_ac":0.2,"s_algo":"3","s_robust":4,"rationale":"x"}', "s_algo"),
        ('{"p_ac":0.2,"s_algo":3,"s_robust":4}', "rationale"),
        ('{"p_ac":0.2,"s_algo":3,"s_robust":4,"rationale":""}', "rationale"),
        ('{"p_ac":0.2,"s_algo":3,"s_robust":4,"rationale":"' + "x" * (MAX_RATIONALE_CHARS + 1) + '"}', "rationale"),
        ('{"p_ac":0.2,' + REST + ',"confidence":1}', "confidence"),
        ('{"p_ac":0.2,"p_ac":0.3,' + REST + "}", "twice"),
        (PLAIN + PLAIN, "2 JSON objects"),
        (PLAIN + "\n" + '{"p_ac":0.3,' + REST + "}", "2 JSON objects"),
        ("```json\n" + PLAIN + "\n```\n```json\n" + PLAIN + "\n```", "2 JSON objects"),
        ("[" + PLAIN + "]", "dictionary"),
        ('"' + "p_ac is 0.2" + '"', "dictionary"),
        ("0.2", "dictionary"),
        ("p_ac is high", "not a JSON object"),
        ('{"p_ac":0,85,' + REST + "}", "p_ac"),
        ('{"p_ac":0.9 // surely\n,' + REST + "}", "without guessing"),
        ("[" * 100_000, "not a JSON object"),
    ],
)
def test_what_is_invalid_says_why(text: str, said: str) -> None:
    found = failure(text)
    assert found.failure_class == "invalid"
    assert said in found.text


@pytest.mark.parametrize(
    ("text", "finish_reason", "failure_class"),
    [
        (PLAIN, "length", "truncated"),
        (PLAIN, "max_tokens", "truncated"),
        ('{"p_ac":0.9', "length", "truncated"),
        ('{"p_ac":0.9', "stop", "truncated"),
        ('```json\n{"p_ac":0.9,"s_algo":3', "stop", "truncated"),
        ("<think>so " + PLAIN, "stop", "truncated"),
        ("Well. <think>so " + PLAIN, "stop", "truncated"),
        ("<think>a</think><think>b " + PLAIN, "stop", "truncated"),
        (None, "length", "truncated"),
        ("", "length", "truncated"),
        ("", "stop", "empty"),
        (None, "stop", "empty"),
        ("  \n", "stop", "empty"),
        ("<think>long</think>", "stop", "empty"),
        (PLAIN, "content_filter", "refusal"),
        (PLAIN, "MAX_TOKENS", "truncated"),
        (PLAIN, "model_length", "truncated"),
        (PLAIN, "SAFETY", "refusal"),
        (PLAIN, "error", "infrastructure"),
        (PLAIN, "abort", "infrastructure"),
        ("I'm sorry, but I can't help with that.", "stop", "refusal"),
        ("I cannot assess this code.", "stop", "refusal"),
        ("As an AI, I do not judge.", "stop", "refusal"),
    ],
)
def test_truncated_empty_and_refused_answers_have_their_class(
    text: str | None, finish_reason: str, failure_class: str
) -> None:
    assert failure(text, finish_reason).failure_class == failure_class


@pytest.mark.parametrize(
    "text",
    [
        "```\n" + "\n" * 500_000 + "x", "!" + " " * 500_000 + "x", "</think>{" * 50_000, '{"p_ac":1}' * 90_000,
        '{"p_ac":' + '"' * 500_000 + "}", "{" * 900_000, "1" * 900_000 + "x", '{"p_ac":' + "[" * 450_000,
        "x" * 2_000_000,
    ],
)  # fmt: skip
def test_no_text_takes_long_to_read(text: str) -> None:
    started = time.process_time()
    assert isinstance(parse(text), Failure)
    assert time.process_time() - started < 3.0


@pytest.mark.parametrize("depth", [100, 500, 900, 950, 990, 1000, 5000])
@pytest.mark.parametrize("end", ["}", ",}"])
def test_deep_nesting_is_invalid(depth: int, end: str) -> None:
    text = '{"p_ac":' + "[" * depth + "]" * depth + "," + REST + end
    assert failure(text).failure_class == "invalid"


def test_a_number_that_the_text_gives_again_after_the_object_is_not_passed_over() -> None:
    assert value("p_ac may be near 0.9, I thought.\n" + PLAIN).p_ac == 0.2  # thinking aloud before it
    assert value(PLAIN + "\nI hope that p_ac helps.").p_ac == 0.2
    assert failure(PLAIN + "\nNo: p_ac is rather 0.9.").text == "after the JSON object the text gives p_ac another time"


judgments = st.builds(
    lambda p, a, r, t: {"p_ac": p, "s_algo": a, "s_robust": r, "rationale": t},
    st.floats(0, 1, allow_nan=False),
    st.integers(1, 5),
    st.integers(1, 5),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=60),
)


@given(judgments)
def test_a_valid_judgment_is_read_as_itself(judgment: dict[str, object]) -> None:
    answer = parse(json.dumps(judgment))
    assert isinstance(answer, Answer)
    assert answer.repair is None
    assert answer.value.model_dump() == judgment


@given(judgments, st.data())
def test_a_cut_off_judgment_is_never_completed(judgment: dict[str, object], data: st.DataObject) -> None:
    text = json.dumps(judgment)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    assert isinstance(parse(cut), Failure)


@given(judgments, st.sampled_from(["```json\n{}\n```", "Answer:\n{}", '<think>{{"p_ac": 1}}</think>{}', "{},", "{}\n"]))
def test_wrapping_changes_no_value(judgment: dict[str, object], frame: str) -> None:
    answer = parse(frame.format(json.dumps(judgment)))
    assert isinstance(answer, Answer), answer
    assert answer.value.model_dump() == judgment


@given(st.text(max_size=80))
def test_any_text_is_an_answer_in_range_or_a_failure(text: str) -> None:
    found = parse('{"p_ac":' + text + "," + REST + "}")
    if isinstance(found, Answer):
        assert 0.0 <= found.value.p_ac <= 1.0
    else:
        found.text.encode("utf-8")  # it can be stored and sent


def test_characters_that_no_store_takes_are_replaced_and_the_row_says_so() -> None:
    answer = parse('{"p_ac":0.2,"s_algo":3,"s_robust":4,"rationale":"a\\ud800b\\u0000c"}')
    assert isinstance(answer, Answer)
    assert answer.value.rationale == "a\ufffdb\ufffdc"
    assert answer.repair == "characters that are no text replaced"


def test_clean_text_keeps_pairs_and_leaves_good_text_alone() -> None:
    assert clean_text("\ud83d\ude00 \ud800x") == "\U0001f600 \ufffdx"
    assert clean_text("日本語 é \U0001f600") == "日本語 é \U0001f600"


def test_the_schema_that_is_sent_holds_only_what_every_provider_takes() -> None:
    schema = json_schema(Judgment)
    assert schema["required"] == ["p_ac", "s_algo", "s_robust", "rationale"]
    assert schema["additionalProperties"] is False
    assert {name: field["type"] for name, field in schema["properties"].items()} == {
        "p_ac": "number", "s_algo": "integer", "s_robust": "integer", "rationale": "string",
    }  # fmt: skip
    assert all(set(field) <= {"type", "description"} for field in schema["properties"].values())
