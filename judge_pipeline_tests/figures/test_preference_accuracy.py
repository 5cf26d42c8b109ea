from __future__ import annotations

import pandas as pd
import pytest

from judge_pipeline.figures.preference_accuracy import position_bias_figure, preference_accuracy_figure
from judge_pipeline.preference.accuracy import preference_accuracy


def accuracy(n_categories: int = 2, both: bool = True) -> pd.DataFrame:
    rows = []
    for i in range(60):
        label = "ABB"[i % 3]
        for judge, ab, ba in (("steady <b>", label, label), ("first", "A", "B"), ("mute", None, None)):
            rows.append((f"p{i}", judge, label, ab, ba, f"kind {i % n_categories}"))
    columns = ["pair_id", "judge", "label", "decision_ab", "decision_ba", "category"]
    decisions = pd.DataFrame(rows, columns=columns)
    return preference_accuracy(decisions if both else decisions.drop(columns="decision_ba"), n_resamples=100)


def dots(figure, panel: int) -> dict[str, tuple[float, float, float]]:
    """Name -> value and the ends of its interval."""
    axis = f"x{panel + 1 if panel else ''}"
    return {
        t.name: (t.x[0], t.x[0] - t.error_x.arrayminus[0], t.x[0] + t.error_x.array[0])
        for t in figure.data
        if t.xaxis == axis and t.mode == "markers"
    }


def test_each_judge_has_its_figure_and_interval_beside_the_best_floor() -> None:
    table = accuracy()
    drawn = preference_accuracy_figure(table)
    row = table[(table["name"] == "first") & (table["figure"] == "acc") & table["category"].isna()].iloc[0]
    assert dots(drawn.figure, 0)["first"] == pytest.approx((row["value"], row["ci95_low"], row["ci95_high"]))
    assert dots(drawn.figure, 0)["mute"][0] == 0.0
    assert set(dots(drawn.figure, 1)) == {"steady &lt;b&gt;"}
    dashed = [t.x[0] for t in drawn.figure.data if t.mode == "lines"]
    assert dashed == pytest.approx([2 / 3, 0.5])
    assert "n = 60 pairs a judge; rule trace" in drawn.subtitle
    assert "steady <b> 1.000" in drawn.alt and "mute undefined" in drawn.alt
    texts = [a.text for a in drawn.figure.layout.annotations]
    assert "dashed: always B, 0.67" in texts and "undefined" in texts


def test_position_bias_has_a_panel_for_each_category_and_says_which_are_not_drawn() -> None:
    drawn = position_bias_figure(accuracy())
    assert {name: at[0] for name, at in dots(drawn.figure, 0).items()} == {"steady &lt;b&gt;": 0.5, "first": 1.0}
    assert dots(drawn.figure, 2)["first"][0] == 1.0
    titles = [a.text for a in drawn.figure.layout.annotations]
    assert "<b>kind 0</b>" in titles and "<b>kind 1</b>" in titles and drawn.notes == ()
    many = position_bias_figure(accuracy(15))
    assert many.notes == ("4 of 15 categories are not drawn: those with the fewest answers.",)


def test_one_order_has_no_position_bias_and_says_why() -> None:
    drawn = position_bias_figure(accuracy(both=False))
    assert drawn.figure is None and "decision_ba" in str(drawn.reason)
    assert preference_accuracy_figure(accuracy(both=False)).figure is not None
