"""What the argument of a trace may be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.lineage.table_graph import made_from, ways_back
from judge_pipeline.lineage.targets import ATTEMPT, FIGURE, FILE, SHA256, WORDS, parse_target, plain_path

HEX = st.sampled_from("0123456789abcdefABCDEF")


@given(st.text())
def test_any_text_is_a_target_or_is_refused_with_what_may_be_given(text: str) -> None:
    try:
        target = parse_target(text)
    except ValueError as error:
        assert "give a metric, an attempt id, a pair id, a file or a sha256" in str(error)
        assert not text.strip() or any(ord(c) < 32 or ord(c) == 127 for c in text.strip())
    else:
        assert target.kind in (ATTEMPT, SHA256, FIGURE, FILE, WORDS) and target.text


@given(st.text(HEX, min_size=16, max_size=16))
def test_sixteen_digits_are_an_attempt(text: str) -> None:
    assert parse_target(f" {text} ") == parse_target(text.lower())
    assert parse_target(text).kind == ATTEMPT


@given(st.text(HEX, min_size=64, max_size=64), st.sampled_from(["", "sha256:"]))
def test_sixty_four_digits_are_a_sha256(text: str, before: str) -> None:
    assert parse_target(before + text).text == text.lower()
    assert parse_target(before + text).kind == SHA256


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("fig-8de9c489743e", FIGURE, "fig-8de9c489743e"),
        ("trace/index.html#fig-8de9c489743e", FIGURE, "fig-8de9c489743e"),
        ("judge_metrics:judge=a/b,metric=roc_auc", FIGURE, "judge_metrics:judge=a/b,metric=roc_auc"),
        ("submissions/E1/p1/1.txt", FILE, "submissions/E1/p1/1.txt"),
        (r"submissions\E1\1.txt", FILE, "submissions/E1/1.txt"),
        ("./submissions//E1/./1.txt", FILE, "submissions/E1/1.txt"),
        ("auc", WORDS, "auc"),
        ("0bf4548ac5d10f3", WORDS, "0bf4548ac5d10f3"),
    ],
)
def test_what_is_meant_shows_in_its_form(text: str, kind: str, wanted: str) -> None:
    found = parse_target(text)
    assert (found.kind, found.text) == (kind, wanted)


@given(st.text(st.sampled_from("ab./\\")))
def test_a_path_has_one_spelling(text: str) -> None:
    assert plain_path(plain_path(text)) == plain_path(text)
    assert "\\" not in plain_path(text) and "/./" not in plain_path(text)


GRAPH = {"metrics": ("predictions", "coverage"), "predictions": ("attempts",), "coverage": ("attempts",), "board": (
    "predictions",), "attempts": ("folder",), "other": ()}  # fmt: skip


def test_the_way_back_begins_with_the_table_and_ends_with_what_was_brought() -> None:
    found = ways_back(GRAPH, "metrics")
    assert list(found) == ["metrics", "coverage", "predictions", "attempts", "folder"]
    assert found["folder"] == () and found["metrics"] == ("coverage", "predictions")
    assert ways_back(GRAPH, "unknown") == {"unknown": ()}


def test_what_is_made_from_a_table_is_found_over_any_number_of_steps() -> None:
    assert made_from(GRAPH, ["folder"]) == ["attempts", "board", "coverage", "metrics", "predictions"]
    assert made_from(GRAPH, ["coverage"]) == ["metrics"]
    assert made_from(GRAPH, ["metrics", "other"]) == []


@given(st.dictionaries(st.sampled_from("abcdef"), st.sets(st.sampled_from("abcdef"))))
def test_both_ways_agree_also_in_a_circle(graph: dict[str, set[str]]) -> None:
    for name in "abcdef":
        for source in set(ways_back(graph, name)) - {name}:
            assert name in made_from(graph, [source])
