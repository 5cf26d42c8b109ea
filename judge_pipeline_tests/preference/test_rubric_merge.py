from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.judging.answer import Answer, json_schema, parse_answer
from judge_pipeline.judging.failures import Failure
from judge_pipeline.preference.rubric_answers import axes_answer, merge_answer, scores_answer
from judge_pipeline.preference.rubric_items import Proposal, RubricError, slug_of
from judge_pipeline.preference.rubric_merge import merge
from judge_pipeline_tests.preference.made_rubric import Scripted, axis, item

MODEL = merge_answer(["k1", "k2", "p1", "p2", "p3"], frozenset({"k1", "k2"}), 1)


def proposals(*titles: str) -> list[Proposal]:
    return [Proposal(1, 1, at, **axis(title), pair_ids=("a",)) for at, title in enumerate(titles, start=1)]


def read(*items: tuple[str, list[str]], dropped: tuple[str, ...] = ()) -> Answer[object] | Failure:
    answer = {"items": [axis(title) | {"merges": ids} for title, ids in items], "dropped": list(dropped)}
    return parse_answer(json.dumps(answer), "stop", MODEL)


def test_an_answer_that_accounts_for_every_proposal_once_is_valid() -> None:
    assert isinstance(read(("new", ["p1", "p2"]), ("kept", ["k1", "p3"])), Answer)
    assert isinstance(read(dropped=("p1", "p2", "p3", "k1")), Answer)


@pytest.mark.parametrize(
    ("items", "dropped", "why"),
    [
        ([("x", ["p1", "p2"])], (), "p3 is neither merged nor dropped"),
        ([("x", ["p1", "p2", "p3"])], ("p2",), "p2 is used more than once"),
        ([("x", ["p1", "p2", "p3", "p3"])], (), "p3 is used more than once"),
        ([("x", ["p1", "p2", "p3", "p9"])], (), "p9 stands in no list"),
        ([("x", ["k1", "k2"]), ("y", ["p1", "p2", "p3"])], (), "two items that are to stay apart"),
        ([("x", ["p1"]), ("y", ["p2", "p3"])], (), "2 new items where at most 1"),
        ([("x", ["p1", "k1"]), ("X", ["p2", "p3"])], (), "2 items have the title 'x'"),
        ([("x", []), ("y", ["p1", "p2", "p3"])], (), "items.0.merges"),
    ],
)
def test_an_answer_that_does_not_is_invalid_and_says_why(
    items: list[tuple[str, list[str]]], dropped: tuple[str, ...], why: str
) -> None:
    found = read(*items, dropped=dropped)
    assert isinstance(found, Failure) and found.failure_class == "invalid" and why in found.text


def test_schemas_hold_no_references_and_name_every_field() -> None:
    for model in (MODEL, axes_answer(3), scores_answer(2)):
        schema = json_schema(model)
        assert "$ref" not in json.dumps(schema) and schema["required"] == list(schema["properties"])
    axes = json_schema(axes_answer(3))["properties"]["axes"]
    assert axes["items"]["required"] == ["title", "high", "low"] and axes["items"]["additionalProperties"] is False
    assert json_schema(scores_answer(2))["properties"]["item_2"]["enum"] == ["first", "second", "equal"]


def test_more_axes_than_asked_for_and_unknown_scores_are_invalid() -> None:
    assert isinstance(parse_answer(json.dumps({"axes": [axis("a"), axis("b")]}), "stop", axes_answer(1)), Failure)
    assert isinstance(parse_answer('{"item_1": "first", "item_2": "A"}', "stop", scores_answer(2)), Failure)
    assert isinstance(parse_answer('{"item_1": "first"}', "stop", scores_answer(2)), Failure)


def test_merging_keeps_people_s_words_and_says_where_items_come_from() -> None:
    def answer(shown: dict) -> dict:
        assert list(shown["kept"]) == ["k1", "k2"] and list(shown["proposals"]) == ["p1", "p2", "p3", "p4"]
        return {
            "items": [axis("Brand new") | {"merges": ["p4", "p1"]}, axis("Other words") | {"merges": ["k2", "p2"]}],
            "dropped": ["p3"],
        }

    kept = [item("one"), item("two")]
    found = merge(proposals("A", "B", "C", "D"), kept, round_=2, key="key", at_most=3, at_once=10, ask=Scripted(answer))
    assert [(i.slug, i.title, i.origin, i.sources, i.round) for i in found.items] == [
        ("one", "Title one", "human", (), None),
        ("two", "Title two", "both", ("B",), None),
        ("brand-new", "Brand new", "generated", ("A", "D"), 2),
    ]
    assert [p.item for p in found.proposals] == ["brand-new", "two", None, "brand-new"]
    assert (found.n_dropped, found.n_calls) == (1, 1)


def test_people_s_items_that_the_model_drops_are_kept() -> None:
    scripted = Scripted(lambda shown: {"items": [], "dropped": [*shown["kept"], *shown["proposals"]]})
    kept = [item("one"), item("two")]
    found = merge(proposals("A"), kept, round_=1, key="key", at_most=5, at_once=10, ask=scripted)
    assert list(found.items) == kept and found.n_dropped == 1


def test_a_new_item_called_as_a_kept_one_is_that_one() -> None:
    scripted = Scripted(lambda shown: {"items": [axis("TITLE ONE") | {"merges": ["p1"]}], "dropped": []})
    found = merge(proposals("A"), [item("one")], round_=1, key="key", at_most=5, at_once=10, ask=scripted)
    assert [(i.slug, i.title, i.origin) for i in found.items] == [("one", "Title one", "both")]


@settings(deadline=None, max_examples=40)
@given(n=st.integers(1, 80), at_once=st.integers(2, 12), at_most=st.integers(1, 12))
def test_however_many_proposals_each_ends_in_one_item_or_is_dropped(n: int, at_once: int, at_most: int) -> None:
    """A model that makes as many items as it may, from neighbours, and drops every tenth."""

    def answer(shown: dict) -> dict:
        ids = list(shown["proposals"])
        assert len(ids) <= at_once
        used = [id_ for place, id_ in enumerate(ids) if place % 10 != 9]
        room = max(1, min(shown["at_most"], len(used)))
        parts = [used[start::room] for start in range(room)]
        titles = [shown["proposals"][part[0]]["title"] for part in parts]
        return {
            "items": [axis(title) | {"merges": part} for title, part in zip(titles, parts, strict=True)],
            "dropped": [id_ for id_ in ids if id_ not in used],
        }

    given_ = proposals(*(f"t{place}" for place in range(n)))
    found = merge(given_, [], round_=1, key="key", at_most=at_most, at_once=at_once, ask=Scripted(answer))
    assert [p.title for p in found.proposals] == [p.title for p in given_]
    ended = Counter(p.item for p in found.proposals)
    assert ended.pop(None, 0) == found.n_dropped
    assert set(ended) == {i.slug for i in found.items} and len(found.items) <= at_most
    for each in found.items:
        assert set(each.sources) == {p.title for p in found.proposals if p.item == each.slug}


def test_a_merge_without_a_valid_answer_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(RubricError, match=r"round-1-merge.*scripted.*rubric\.merger"):
        merge(proposals("A"), [], round_=1, key="key", at_most=1, at_once=5, ask=Scripted(lambda shown: None))


def test_slugs_are_of_letters_and_told_apart() -> None:
    assert slug_of("Robustness & Error-Handling!", ()) == "robustness-error-handling"
    assert slug_of("Übersicht", ()) == "ubersicht" and slug_of("…", ()) == "item"
    assert slug_of("A b", {"a-b", "a-b-2"}) == "a-b-3"
    assert len(slug_of("x" * 300, ())) == 60
