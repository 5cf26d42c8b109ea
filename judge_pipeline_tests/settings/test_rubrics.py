from __future__ import annotations

import re
from pathlib import Path

import pytest

from judge_pipeline.settings.preference import RubricSettings
from judge_pipeline.settings.rubrics import read_human_rubric, read_themes
from judge_pipeline.settings.yaml_file import SettingsError

ITEM = "{title: One, high: h, low: l}"


def rubric(tmp_path: Path, text: str) -> None:
    (tmp_path / "rubrics").mkdir(exist_ok=True)
    (tmp_path / "rubrics" / "mine.yaml").write_text(text, encoding="utf-8")


def test_a_workspace_s_own_file_goes_before_the_packaged_one(tmp_path: Path) -> None:
    shipped = read_human_rubric(tmp_path, "software-engineering.yaml")
    assert len(shipped.items) >= 5
    rubric(tmp_path, f"items:\n  one: {ITEM}\n")
    assert list(read_human_rubric(tmp_path, "mine.yaml").items) == ["one"]
    (tmp_path / "rubrics" / "software-engineering.yaml").write_text(f"items: {{two: {ITEM}}}\n", encoding="utf-8")
    assert list(read_human_rubric(tmp_path, "software-engineering.yaml").items) == ["two"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("items:\n  one: {title: One, high: h}\n", "mine.yaml, line 2, key items.one.low: is missing; add it"),
        ("items:\n  one:\n    title: One\n    high: h\n    low: l\n    lwo: x\n",
         "mine.yaml, line 6, key items.one.lwo: is not a setting"),
        (f"items:\n  Not A Slug: {ITEM}\n", "must be lower-case letters"),
        (f"items:\n  one: {ITEM}\n  two: {ITEM.replace('One', 'ONE')}\n", "items 'one' and 'two' have one title"),
        ("items:\n  one: {title: One, high: ' ', low: l}\n", "line 2, key items.one.high: is blank"),
        ("items: {}\n", "mine.yaml, line 1, key items"),
        (f"items:\n  one: {ITEM}\n  one: {ITEM}\n", "mine.yaml, line 3: key 'one' stands twice (first in line 2)"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_rubric_is_named_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    rubric(tmp_path, text)
    with pytest.raises(SettingsError, match=re.escape(message)):
        read_human_rubric(tmp_path, "mine.yaml")


def test_a_rubric_that_is_not_there_or_a_path_is_refused_and_those_that_are_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"no such rubric; there are software-engineering\.yaml"):
        read_human_rubric(tmp_path, "absent.yaml")
    for name in ("../mine.yaml", "themes.yaml", "mine.txt"):
        with pytest.raises(SettingsError, match="must be the name of a rubric's file"):
            read_human_rubric(tmp_path, name)


def test_words_on_several_lines_become_one(tmp_path: Path) -> None:
    rubric(tmp_path, "items:\n  one:\n    title: One\n    low: l\n    high: |\n      a\n        b\n")
    assert read_human_rubric(tmp_path, "mine.yaml").items["one"].high == "a b"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("themes:\n  a: {title: A, stems: [Read]}\n", "beginnings of single words"),
        ("themes:\n  a: {title: A}\nitems: {s: {i: b}}\n", "items.s.i: 'b' is no theme; use one of a"),
        ("themes:\n  a: {titel: A}\n", "key themes.a.titel: is not a setting"),
    ],
)
def test_what_is_wrong_in_themes_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics" / "themes.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=re.escape(message)):
        read_themes(tmp_path)


def test_a_judge_is_no_second_scorer_of_its_own_scores() -> None:
    with pytest.raises(ValueError, match="a judge always agrees with itself"):
        RubricSettings(scorer="one", second_scorer="one")
    assert RubricSettings(scorer="one", second_scorer="two").two_orders == "must_agree"
