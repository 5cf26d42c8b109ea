from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.preference.rubric_file import file_text, is_edited, rubric_in_force
from judge_pipeline.preference.rubric_items import Item
from judge_pipeline.settings.rubrics import RubricFile
from judge_pipeline.settings.yaml_file import load
from judge_pipeline_tests.preference.made_rubric import item

FOUND = (
    item("one", theme="robustness"),
    item("two", "both", sources=("A",)),
    item("three", "generated", 2, sources=("B", "C")),
)


def written(tmp_path: Path, text: str) -> RubricFile:
    (tmp_path / "set.yaml").write_text(text, encoding="utf-8")
    return load(RubricFile, tmp_path / "set.yaml")


def test_what_was_written_and_not_edited_gives_way_to_what_is_found(tmp_path: Path) -> None:
    file = written(tmp_path, file_text("set", FOUND, for_editing=True))
    assert not is_edited(file)
    later = (*FOUND, item("four", "generated", 3))
    assert rubric_in_force(later, file, None).items == later
    assert rubric_in_force(FOUND, None, None).source == "found"


def test_comments_and_layout_are_no_edit(tmp_path: Path) -> None:
    text = file_text("set", FOUND, for_editing=True)
    again = yaml.safe_dump(yaml.safe_load(text), width=40)
    again = again.replace("items:", "# mine\nitems:")
    assert yaml.safe_load(again) == yaml.safe_load(text) and again != text
    same_order = "\n".join(f"{line}  # a remark" if line.endswith(":") else line for line in text.splitlines())
    assert not is_edited(written(tmp_path, same_order))


def test_an_edit_is_gone_on_from_and_what_was_generated_stays_visible(tmp_path: Path) -> None:
    text = file_text("set", FOUND, for_editing=True)
    text = text.replace("high three", "quite high three").replace("low two", "low two indeed")
    start, end = text.index("  one:"), text.index("  # people's, and")
    text = text[:start] + text[end:] + "  own:\n    {title: My own, high: h, low: l}\n"
    force = rubric_in_force(FOUND, written(tmp_path, text), None)
    assert (force.source, force.removed, force.outdated) == ("edited", ("Title one",), False)
    assert [(i.slug, i.origin, i.high, i.unedited) for i in force.items] == [
        ("two", "edited", "high two", ("Title two", "high two", "low two")),
        ("three", "edited", "quite high three", ("Title three", "high three", "low three")),
        ("own", "edited", "h", None),
    ]
    assert force.items[1].sources == ("B", "C") and force.items[1].round == 2


def test_an_item_that_a_person_left_alone_keeps_its_origin_and_a_theme_is_taken_over(tmp_path: Path) -> None:
    text = file_text("set", FOUND, for_editing=True).replace("low: low three", "low: low three\n    theme: syntax")
    force = rubric_in_force(FOUND, written(tmp_path, text), None)
    assert [(i.origin, i.theme) for i in force.items] == [
        ("human", "robustness"), ("both", None), ("generated", "syntax"),
    ]  # fmt: skip


def test_an_edit_of_another_rubric_than_what_is_found_now_says_so(tmp_path: Path) -> None:
    file = written(tmp_path, file_text("set", FOUND, for_editing=True).replace("high one", "higher one"))
    assert not rubric_in_force(FOUND, file, None).outdated
    assert rubric_in_force(FOUND[:2], file, None).outdated and rubric_in_force((), file, None).outdated


def test_the_set_s_own_file_goes_before_everything(tmp_path: Path) -> None:
    brought = RubricFile.model_validate({"items": {"mine": {"title": "Mine", "high": "h", "low": "l"}}})
    edited = written(tmp_path, file_text("set", FOUND, for_editing=True).replace("high one", "higher one"))
    force = rubric_in_force(FOUND, edited, brought)
    assert force.source == "brought" and [i.slug for i in force.items] == ["mine"]
    assert len(force.removed) == 3


WORDS = st.one_of(st.text(min_size=1, max_size=40), st.text("ab c:#'\"\\\x07\x85{", min_size=1, max_size=80)).filter(
    lambda text: bool(text.split())
)


@settings(deadline=None, max_examples=60)
@given(titles=st.lists(WORDS, min_size=1, max_size=4, unique_by=lambda t: " ".join(t.split()).lower()), pole=WORDS)
def test_whatever_a_model_wrote_is_read_back_as_it_was(titles: list[str], pole: str, tmp_path_factory) -> None:
    items = [
        Item(f"i{n}", " ".join(title.split()), " ".join(pole.split()), "l", "generated", (title,), 1)
        for n, title in enumerate(titles)
    ]
    file = written(tmp_path_factory.mktemp("f"), file_text("set", items, for_editing=True))
    assert not is_edited(file)
    assert [(slug, i.title, i.high) for slug, i in file.items.items()] == [(i.slug, i.title, i.high) for i in items]


@pytest.mark.parametrize("editing", [True, False])
def test_the_file_says_what_to_do_with_it_and_no_comment_holds_a_model_s_words(editing: bool) -> None:
    text = file_text("set", [item("x", "generated", 1, sources=("evil\nitems: {}",))], for_editing=editing)
    comments = [line for line in text.splitlines() if line.lstrip().startswith("#")]
    assert not any("evil" in line for line in comments) and "proposals merged: 1" in text
    assert bool(re.search("Edit it", text)) is editing
