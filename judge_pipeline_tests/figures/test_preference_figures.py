from __future__ import annotations

import pandas as pd
import pytest

from judge_pipeline.figures.preference_accuracy import length_bias_figure
from judge_pipeline.figures.preference_agreement import choice_agreement_figure
from judge_pipeline.figures.preference_gap import gap_figure
from judge_pipeline.figures.rubric_scores import rubric_scores_figure
from judge_pipeline.preference.accuracy import preference_accuracy
from judge_pipeline.tables.rubric import RUBRIC_SCORES


def accuracy(*, both: bool = True, votes: bool = True) -> pd.DataFrame:
    rows = []
    for i in range(60):
        label, other = ("A", "B") if i % 3 else ("B", "A")
        for judge, ab, ba in (
            ("steady <b>", label, label),
            ("swayed", "A" if i % 2 else label, "B" if i % 2 else label),
            ("mute", None, None),
            ("contrary", other, other),
        ):
            said = f'{{"ann": "{label}"}}' if votes else None
            rows.append((f"p{i}", judge, label, ab, ba, float(i), 30.0, said))
    columns = ["pair_id", "judge", "label", "decision_ab", "decision_ba", "length_a", "length_b", "votes"]
    decisions = pd.DataFrame(rows, columns=columns)
    return preference_accuracy(decisions if both else decisions.drop(columns="decision_ba"), n_resamples=100)


def value(table: pd.DataFrame, judge: str, figure: str) -> float:
    own = table[(table["of"] == "judge") & (table["name"] == judge) & (table["figure"] == figure)]
    return float(own["value"].iloc[0])


def test_the_gap_joins_acc_and_acc_pc_the_widest_first() -> None:
    table = accuracy()
    drawn = gap_figure(table)
    traces = {trace.name: trace for trace in drawn.figure.data}
    order = ["swayed", "steady <b>", "contrary"]
    assert list(traces["Acc"].x) == pytest.approx([value(table, judge, "acc") for judge in order])
    assert list(traces["Acc_PC"].x) == pytest.approx([value(table, judge, "acc_pc") for judge in order])
    assert list(traces["gap"].x[:2]) == [traces["Acc"].x[0], traces["Acc_PC"].x[0]] and traces["gap"].x[2] is None
    assert [a.text for a in drawn.figure.layout.annotations][::2] == ["swayed", "steady &lt;b&gt;", "contrary"]
    assert drawn.notes == ("Without both figures, and not drawn: mute.",)
    assert "swayed: Acc 0.500, Acc_PC 1.000, gap 0.50" in drawn.alt


def test_one_order_has_no_gap_and_says_why() -> None:
    drawn = gap_figure(accuracy(both=False))
    assert drawn.figure is None and "decision_ba" in str(drawn.reason)


def test_length_bias_stands_around_zero() -> None:
    table = accuracy()
    drawn = length_bias_figure(table)
    dots = {t.name: t.x[0] for t in drawn.figure.data if t.xaxis == "x2" and t.mode == "markers"}
    assert dots["contrary"] == pytest.approx(value(table, "contrary", "length_bias"))
    assert dots["steady &lt;b&gt;"] == 0.0
    low, high = drawn.figure.layout.xaxis2.range
    assert low < -0.19 and high > 0.19
    assert [t.x[0] for t in drawn.figure.data if t.mode == "lines"] == [0.5, 0.0]


def test_agreement_holds_judges_and_annotators() -> None:
    table = accuracy()
    drawn = choice_agreement_figure(table)
    heat = drawn.figure.data[0]
    names = list(drawn.figure.layout.yaxis.ticktext)
    assert names == ["1 steady &lt;b&gt;", "2 swayed", "3 mute", "4 contrary", "5 annotator ann"]
    assert heat.z[0][4] == heat.z[4][0] == 1.0 and heat.z[0][3] == pytest.approx(-0.8, abs=0.2)
    assert heat.z[0][0] is None and heat.z[2][0] is None
    assert "Judge or annotator" in drawn.figure.layout.xaxis.title.text
    assert "Undefined: no pair has a choice of both." in drawn.notes


def test_agreement_of_one_judge_alone_is_not_drawn() -> None:
    one = accuracy(votes=False)
    one = one[(one["of"] != "agreement")]
    assert choice_agreement_figure(one).figure is None


def test_scores_that_the_orders_contradict_are_told_from_those_alike() -> None:
    rows = [
        {"pair_id": f"p{i}", "item": "tests", "score": s, "score_ab": ab, "score_ba": ba, "scorer": "s", "reason": why}
        for i, (s, ab, ba, why) in enumerate(
            [(-1, -1, -1, None), (-1, -1, -1, None), (0, 0, 0, None), (0, 1, -1, None), (1, 1, 1, None),
             (None, None, 1, "invalid"), (0, 1, 0, None), (-1, -1, -1, None)]
        )
    ]  # fmt: skip
    drawn = rubric_scores_figure(RUBRIC_SCORES.conform(rows))
    shares = {trace.name: trace.x[0] for trace in drawn.figure.data}
    assert shares == {
        "A better": 3 / 8, "alike": 1 / 8, "orders differ, taken as alike": 2 / 8, "B better": 1 / 8, "no score": 1 / 8
    }  # fmt: skip
    assert [a.text for a in drawn.figure.layout.annotations] == ["tests", "tells apart in 50%"]
    assert "n = 8 pairs" in drawn.subtitle and "orders differ, taken as alike 25%" in drawn.alt


def test_no_scores_are_not_drawn() -> None:
    assert rubric_scores_figure(RUBRIC_SCORES.empty()).reason == "no pair was scored"
