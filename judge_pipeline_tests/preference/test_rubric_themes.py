from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from judge_pipeline.preference.rubric_items import Item, human_items, rubric_table
from judge_pipeline.preference.rubric_themes import rubric_themes, theme_summary
from judge_pipeline.settings.rubrics import ThemesFile, read_human_rubric, read_themes
from judge_pipeline.tables.misalignment import MISALIGNMENT

THEMES = ThemesFile.model_validate(
    {
        "themes": {
            "robust": {"title": "Robust", "criterion": "robustness", "stems": ["robust", "error"]},
            "read": {"title": "Readable", "criterion": "readability", "stems": ["read", "clear"]},
            "unused": {"title": "Nobody's"},
        },
        "items": {"edits": {"odd-one": "read"}},
    }
)


def item(slug: str, title: str, high: str = "x", theme: str | None = None) -> Item:
    return Item(slug, title, high, "y", "generated", theme=theme)


def made_tests(**items: tuple[float, bool, bool]) -> pd.DataFrame:
    """Table MISALIGNMENT; item -> difference, ours, the paper's. A judge's own rows and other effects mislead."""
    rows = []
    for name, (difference, ours, papers) in items.items():
        for effect, judge, test, misaligned in (
            ("coefficient", None, "paired", ours),
            ("coefficient", None, "trace_pooled", papers),
            ("coefficient", "j", "paired", not ours),
            ("relative", None, "paired", not ours),
        ):
            rows.append(dict.fromkeys(MISALIGNMENT.column_names) | {
                "effect": effect, "test": test, "judge": judge, "item": name, "value": difference, "n": 1,
                "n_left_out": 0, "n_judges": 1, "misaligned": misaligned,
            })  # fmt: skip
    return MISALIGNMENT.conform(rows)


RUBRICS = {
    "edits": rubric_table(
        [item("odd-one", "Robust"), item("r", "Errors"), item("stated", "Clear errors", theme="read")]
    ),
    "chat": rubric_table([item("c", "Clearly read"), item("high", "Thing", "reads well"), item("none", "Other")]),
}


def test_what_is_stated_goes_before_words_and_titles_before_poles() -> None:
    rows = rubric_themes(RUBRICS, {}, THEMES)
    found = {row["item"]: (row["theme"], row["assigned_by"]) for row in rows.to_dict("records")}
    assert found == {
        "odd-one": ("read", "file"), "r": ("robust", "words"), "stated": ("read", "file"), "c": ("read", "words"),
        "high": ("read", "words"), "none": (None, "none"),
    }  # fmt: skip
    assert rows["preference_set"].tolist() == ["chat"] * 3 + ["edits"] * 3
    assert rows["misaligned"].isna().all() and rows["difference"].isna().all()


def test_a_stated_theme_that_themes_yaml_does_not_have_gives_way_to_words() -> None:
    rows = rubric_themes({"s": rubric_table([item("a", "Robust", theme="gone")])}, {}, THEMES)
    assert rows[["theme", "assigned_by"]].to_numpy().tolist() == [["robust", "words"]]


def test_flags_are_of_all_judges_pooled_by_coefficient_and_a_theme_is_misaligned_where_an_item_is() -> None:
    of_edits = made_tests(**{"odd-one": (0.4, True, True), "r": (0.1, False, True)})
    of_chat = made_tests(c=(-0.3, True, True), high=(0.0, False, False))
    rows = rubric_themes(RUBRICS, {"edits": of_edits, "chat": of_chat}, THEMES)
    flags = rows.set_index("item")[["misaligned", "misaligned_by_trace"]].to_dict("index")
    assert flags["odd-one"] == {"misaligned": True, "misaligned_by_trace": True}
    assert flags["r"] == {"misaligned": False, "misaligned_by_trace": True}
    assert rows.set_index("item")["misaligned"].isna()[["stated", "none"]].all()
    summary = theme_summary(rows, THEMES).set_index("theme")
    assert list(summary.index) == ["robust", "read"], "in the file's order, those that some item has"
    assert summary.loc["read", ["n_items", "n_sets", "n_tested", "n_overweighted", "n_underweighted"]].tolist() == [
        4, 2, 3, 1, 1,
    ]  # fmt: skip
    assert bool(summary.loc["read", "misaligned"]) and not bool(summary.loc["robust", "misaligned"])
    assert bool(summary.loc["robust", "misaligned_by_trace"])
    assert summary.loc["robust", "criterion"] == "robustness"


def test_a_theme_without_a_tested_item_is_neither_misaligned_nor_aligned() -> None:
    summary = theme_summary(rubric_themes(RUBRICS, {}, THEMES), THEMES)
    assert summary["misaligned"].isna().all() and summary["misaligned_by_trace"].isna().all()
    assert theme_summary(rubric_themes({}, {}, THEMES), THEMES).empty


@pytest.mark.parametrize(
    ("title", "theme"),
    [
        ("Robustness and Error Handling", "robustness"),
        ("Explicitness and Clarity", "readability"),
        ("Functional and Logical Alignment", "functional-correctness"),
        ("Code Formatting", "formatting"),
        ("Amount of Comments", "documentation"),
        ("Length of Explanations", "explanation"),
        ("Uses existing conventions", "context-fit"),
    ],
)
def test_themes_that_ship_know_what_rubrics_are_often_about(title: str, theme: str) -> None:
    themes = read_themes(Path("no-such-folder"))
    assert rubric_themes({"s": rubric_table([item("a", title)])}, {}, themes)["theme"].tolist() == [theme]


def test_items_that_ship_state_themes_that_ship() -> None:
    themes = read_themes(Path("no-such-folder"))
    items = human_items(read_human_rubric(Path("no-such-folder"), "software-engineering.yaml"))
    rows = rubric_themes({"s": rubric_table(items)}, {}, themes)
    assert (rows["assigned_by"] == "file").all() and rows["theme"].is_unique
