from __future__ import annotations

import pandas as pd
import pytest

from judge_pipeline.figures.prompt_space import MAX_NAMED, prompt_space_figure
from judge_pipeline.tables.prompt_space import PROMPT_SPACE, PROMPT_SPACE_TEST
from judge_pipeline_tests.report.made_dynamics import made_dynamics


def space(n: int, **changes: object) -> pd.DataFrame:
    rows = [
        {
            "participant": f"E{i:03}", "x": float(i), "y": float(-i), "solved_rate": i / n, "n_problems": n,
            "n_undecided": 0, "expected_rate": 0.5, "n_terms": 9, "perplexity": 2.5, "k": 3, "near_terms": "dp, <b>",
            "reason": None,
        } | changes
        for i in range(n)
    ]  # fmt: skip
    return PROMPT_SPACE.conform(rows)


def test_every_participant_with_a_place_is_a_point_of_its_rate() -> None:
    tables = made_dynamics()
    drawn = prompt_space_figure(tables["prompt_space"], tables["prompt_space_test"])
    assert drawn.figure is not None
    (points,) = drawn.figure.data
    placed = tables["prompt_space"]
    assert list(points.x) == placed["x"].tolist()
    assert list(points.marker.color) == placed["solved_rate"].tolist()
    assert list(points.text) == placed["participant"].tolist()
    assert "n = 15 participants; t-SNE of TF-IDF of Q_u, perplexity 4.7" in drawn.subtitle
    test = tables["prompt_space_test"].set_index("statistic")
    kept = test.loc["neighbours_kept", "value"]
    assert f"{100 * kept:.0f}% are among the 3 nearest here (by chance 21%)" in drawn.notes[1]
    assert f"trustworthiness {test.loc['trustworthiness', 'value']:.3f}" in drawn.notes[1]


def test_words_and_names_are_text() -> None:
    table = space(6)
    table.loc[0, "participant"] = "<i>E</i>"
    drawn = prompt_space_figure(table, None)
    assert drawn.figure is not None
    said = drawn.figure.data[0].hovertext[0]
    assert "&lt;i&gt;E&lt;/i&gt;" in said and "dp, &lt;b&gt;" in said and "<i>" not in said
    assert drawn.figure.data[0].text[0] == "&lt;i&gt;E&lt;/i&gt;"


def test_many_points_are_named_on_hovering_only() -> None:
    drawn = prompt_space_figure(space(MAX_NAMED + 1), None)
    assert drawn.figure is not None and drawn.figure.data[0].mode == "markers"


def test_an_unknown_rate_is_hollow_and_said() -> None:
    table = space(6)
    table.loc[2, ["solved_rate", "expected_rate"]] = float("nan")
    drawn = prompt_space_figure(table, None)
    assert drawn.figure is not None
    assert [len(trace.x) for trace in drawn.figure.data] == [5, 1]
    assert drawn.figure.data[1].marker.symbol == "circle-open"
    assert drawn.notes[-1] == "Hollow: 1 without a decided problem."


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (space(4, x=None, y=None, reason="fewer than 5 participants have a word in Q_u"), "fewer than 5 participants"),
        (space(0), "there is no participant"),
    ],
)
def test_without_places_it_says_why(table: pd.DataFrame, why: str) -> None:
    drawn = prompt_space_figure(table, PROMPT_SPACE_TEST.empty())
    assert drawn.figure is None and drawn.reason is not None and why in drawn.reason
