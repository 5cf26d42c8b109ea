"""Verdicts of trained judges as they really write them, and what no text may be read as."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.judging.failures import Failure
from judge_pipeline.judging.verdict_forms import VERDICT_FORMS, StatedChoice, read_double_brackets, read_result


def choice_in(form: str, text: str | None, finish_reason: str | None = "stop") -> str:
    """The choice, or the class of the failure."""
    found = VERDICT_FORMS[form](text, finish_reason)
    return found.choice if isinstance(found, StatedChoice) else found.failure_class


BRACKETS = [
    ("[[A]]", "A"),
    (" [[B]]\n", "B"),
    ("[[C]]", "tie"),
    ("[[Tie]]", "tie"),
    ("Both sort the list, but only Assistant B handles [].\n\nMy final verdict is: [[B]]", "B"),
    ("**[[A]]**\n\nAssistant A keeps the signature.", "A"),
    ("[[ A ]]", "A"),
    ("Final: [[A]]. So [[A]] it is.", "A"),
    ("<think>At first [[B]], hm, [[C]]</think>\n[[A]]", "A"),
    ("At first [[B]] ...</think>[[A]]", "A"),
    ("The page drops the `<think>` tag. [[B]]", "B"),
    ("x = m[[0]]; y = m[[1, 2], [3]]; [[A]]", "A"),
    ("[[A]] for style, but [[B]] for correctness", "invalid"),
    ('Say "[[A]]" if A is better, "[[B]]" if B is. [[B]]', "invalid"),
    ("[[a]]", "invalid"),
    ("[[A>B]]", "invalid"),
    ("[[A>>B]]", "invalid"),
    ("[[A or B]]", "invalid"),
    ("[[D]]", "invalid"),
    ("[A]", "invalid"),
    ("[[Assistant A]]", "invalid"),
    ("Assistant A is better.", "invalid"),
    ('{"choice": "A"}', "invalid"),
    ("[RESULT] A", "invalid"),
    ("[[А]]", "invalid"),  # a Cyrillic letter
    ("I'm sorry, but I can't compare these.", "refusal"),
    ("I cannot help with that, so I pick [[A]].", "A"),
    ("", "empty"),
    (" \n\t", "empty"),
    (None, "empty"),
    ("<think>[[A]]</think>", "empty"),
    ("<think>It is [[A]]", "truncated"),
    ("Let me see.\n<think>\nIt is [[A]]", "truncated"),
]

RESULTS = [
    ("[RESULT] A", "A"),
    ("Feedback: Response A handles empty input, B does not. [RESULT] A", "A"),
    ("Feedback: B is shorter and right.\n\n[RESULT] B</s>", "B"),
    ("(Feedback) fine [RESULT]: B", "B"),
    ("... [RESULT] B.", "B"),
    ("... [RESULT] **B**", "B"),
    ("... [RESULT] (A)", "A"),
    ("... [RESULT]\nB", "B"),
    ("... [RESULT] Response B", "B"),
    ("... [Result] A<|eot_id|>", "A"),
    ("... [RESULT] A\n\nI hope that this helps.", "A"),
    ("**Reasoning:** A leaks a handle.\n\n**Result:** B", "B"),
    ("**Reasoning:** A leaks a handle.\n\n**Result**: B", "B"),
    ("Reasoning: A leaks.\nResult: B", "B"),
    ("It prints\nResult: 42\nas asked.\n**Result:** A", "A"),
    ("[RESULT] A\n[RESULT] A", "A"),
    ("[RESULT] tie", "tie"),
    ("[RESULT] A or B", "invalid"),
    ("[RESULT] A/B", "invalid"),
    ("[RESULT] A, B", "invalid"),
    ("[RESULT] A is worse than B", "invalid"),
    ("[RESULT] AB", "invalid"),
    ("[RESULT] C", "invalid"),
    ("[RESULT] 5", "invalid"),
    ("[RESULT] a", "invalid"),
    ("[RESULT]", "invalid"),
    ("[RESULT] A\n[RESULT] B", "invalid"),
    ("Write [RESULT] and the letter. [RESULT] B", "invalid"),
    ("**Result:** neither\n\n**Result:** A", "invalid"),
    ("The result: A", "invalid"),
    ("So A is better.", "invalid"),
    ("[[A]]", "invalid"),
    ("As an AI, I do not compare.", "refusal"),
    ("<think>[RESULT] B</think>[RESULT] A", "A"),
    ("<think>[RESULT] B", "truncated"),
    ("", "empty"),
]


@pytest.mark.parametrize(("text", "outcome"), BRACKETS)
def test_double_brackets_are_read_as_they_are_written(text: str | None, outcome: str) -> None:
    assert choice_in("double_brackets", text) == outcome


@pytest.mark.parametrize(("text", "outcome"), RESULTS)
def test_results_are_read_as_they_are_written(text: str | None, outcome: str) -> None:
    assert choice_in("result", text) == outcome


@pytest.mark.parametrize("form", VERDICT_FORMS)
def test_why_the_model_stopped_comes_before_what_it_wrote(form: str) -> None:
    text = "[[A]] [RESULT] A"
    assert choice_in(form, text, "length") == "truncated"
    assert choice_in(form, text, "content_filter") == "refusal"
    assert choice_in(form, text, "error") == "infrastructure"
    assert choice_in(form, text, None) == choice_in(form, text, "end_turn") == "A"


@pytest.mark.parametrize(
    ("read", "text", "rationale"),
    [
        (read_double_brackets, "[[A]]", None),
        (read_double_brackets, "B loops for ever.\n\nMy final verdict is: [[A]]", "B loops for ever."),
        (read_double_brackets, "[[A]]\nB loops for ever.", "B loops for ever."),
        (read_double_brackets, "<think>hm</think>B loops.\n**Verdict:** **[[A]]**", "B loops."),
        (read_result, "Feedback: B loops. [RESULT] A", "B loops."),
        (read_result, "**Reasoning:** B loops.\n\n**Result:** A", "B loops."),
        (read_result, "###Feedback: B \ud800loops.\0 [RESULT] A", "B \ufffdloops.\ufffd"),
    ],
)
def test_the_rationale_is_what_stands_beside_the_verdict(read: object, text: str, rationale: str | None) -> None:
    found = read(text, "stop")  # type: ignore[operator]
    assert isinstance(found, StatedChoice), found
    assert found.rationale == rationale


def test_what_is_wrong_is_said_so_that_a_model_can_mend_it() -> None:
    found = read_double_brackets("I prefer the first.", "stop")
    assert isinstance(found, Failure) and "[[A]], [[B]] or [[C]]" in found.text and "prefer the first" in found.text
    found = read_double_brackets("[[A]] [[B]] [[A]]", "stop")
    assert isinstance(found, Failure) and "3 verdicts that differ: A, B" in found.text
    found = read_result("[RESULT] A or B", "stop")
    assert isinstance(found, Failure) and "'[RESULT] A or B'" in found.text


prose = st.text(st.characters(exclude_characters="[]<>*\n\r#_:", exclude_categories=("Cs",)), max_size=40)
stated = st.sampled_from([("[[A]]", "A"), ("[[B]]", "B"), ("[[C]]", "tie"), ("[[tie]]", "tie")])


@given(st.lists(st.tuples(prose, stated), min_size=1, max_size=5), prose)
def test_verdicts_count_where_all_agree_and_never_else(parts: list[tuple[str, tuple[str, str]]], rest: str) -> None:
    text = "".join(before + mark for before, (mark, _) in parts) + rest
    meant = {choice for _, (_, choice) in parts}
    assert choice_in("double_brackets", text) == (meant.pop() if len(meant) == 1 else "invalid")


@given(st.lists(st.tuples(prose, st.sampled_from("AB")), min_size=1, max_size=4))
def test_results_count_where_all_agree_and_never_else(parts: list[tuple[str, str]]) -> None:
    text = "\n".join(f"{before} [RESULT] {letter}" for before, letter in parts)
    meant = {letter for _, letter in parts}
    assert choice_in("result", text) == (meant.pop() if len(meant) == 1 else "invalid")


@given(st.text(max_size=300), st.sampled_from(sorted(VERDICT_FORMS)))
def test_no_text_breaks_a_reader_and_a_choice_is_always_stated(text: str, form: str) -> None:
    found = VERDICT_FORMS[form](text, None)
    if isinstance(found, StatedChoice):
        marks = {"double_brackets": "[[", "result": "result"}
        assert marks[form] in text.lower()
        assert (found.rationale or "").encode("utf-8") is not None
    else:
        assert found.failure_class in ("empty", "invalid", "refusal", "truncated")


@pytest.mark.parametrize(
    "piece", ["[[", "[[A ", "[RESULT] ", "\nResult:", "<think>", " ", "\n", "**Result:** A", "_", "#"]
)
def test_long_ragged_texts_take_no_time(piece: str) -> None:
    text = (piece * 300_000)[:300_000]
    began = time.process_time()
    for form in VERDICT_FORMS:
        for ragged in (text, f"x{text}x", f"x{text}x [[A]] [RESULT] A"):
            VERDICT_FORMS[form](ragged, None)
    assert time.process_time() - began < 3.0
