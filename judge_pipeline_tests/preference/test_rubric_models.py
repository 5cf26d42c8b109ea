"""From scores and choices to all tables of weights: what a rule calls a choice, who is pooled, where there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from judge_pipeline.preference.misalignment import misalignment
from judge_pipeline.preference.preference_models import ModelOptions, fit_models
from judge_pipeline.preference.rubric_choices import choices_under, nothing_scored
from judge_pipeline.preference.rubric_models import no_better_than_floor, rubric_models
from judge_pipeline.tables.misalignment import EFFECTS
from judge_pipeline_tests.preference.made_choices import made_choices
from judge_pipeline_tests.preference.made_set import ITEMS, decisions_of_set, made_set

FEW = ModelOptions(n_resamples=100)


def decisions(*rows: tuple[str | None, str | None]) -> pd.DataFrame:
    ids = [f"p{i}" for i in range(len(rows))]
    both = pd.DataFrame(rows, columns=["decision_ab", "decision_ba"], dtype=object)
    return both.assign(pair_id=ids, judge="j", label="A")


@pytest.mark.parametrize(
    ("rule", "chosen"),
    [
        ("trace", ["A", None, None, None, "B"]),
        ("exact", ["A", None, None, None, "B"]),
        ("judgebench", ["A", None, None, None, "B"]),
        ("pandalm", ["A", "A", None, None, "B"]),
        ("bigcodereward", ["A", "A", None, None, "B"]),
    ],
)
def test_a_choice_is_what_the_rule_calls_one(rule: str, chosen: list[str | None]) -> None:
    given = decisions(("A", "A"), ("A", "B"), ("tie", "tie"), (None, None), ("B", "B"))
    assert choices_under(rule, given)["choice"].tolist() == chosen


def test_a_tied_label_leaves_the_judge_its_choice_and_without_judges_there_is_none() -> None:
    assert choices_under("trace", decisions(("A", "A")).assign(label="tie"))["choice"].tolist() == ["A"]
    assert choices_under("trace", decisions().iloc[:0]).empty


def test_the_pooled_figures_are_those_of_the_panel_alone() -> None:
    weights = np.array([[1.0, 0.5], [0.8, 0.4], [-2.0, 3.0]])
    data, _ = made_choices(np.array([1.0, 0.5]), weights, 120, seed=4)
    models = fit_models(data, FEW)
    part = misalignment(models, data, panel=["judge 0", "judge 1"])
    two = replace(data, judges=data.judges[:2], chose_b=data.chose_b[:, :3])
    alone = misalignment(models[:3], two)
    pooled = part[part["judge"].isna()].reset_index(drop=True)
    pd.testing.assert_frame_equal(pooled, alone[alone["judge"].isna()].reset_index(drop=True))
    assert (part["judge"] == "judge 2").sum() == 2 * 2 * len(EFFECTS), "its own tests stay"
    none = misalignment(models, data, panel=[])
    assert none.loc[none["judge"].isna(), "value"].isna().all()
    assert none.loc[none["judge"].isna(), "reason"].notna().all()


def test_where_nothing_is_scored_every_row_says_so_and_the_rows_are_the_usual_ones() -> None:
    made = made_set(40)
    labels = made.pairs.rename(columns={"w": "label"})[["pair_id", "label"]]
    choices = choices_under("trace", decisions_of_set(made))
    usual = rubric_models(made.scores, labels, choices, FEW)
    nothing = rubric_models(made.scores.assign(score=None), labels, choices, FEW)
    assert usual.nothing is None and nothing.nothing == "no pair has a score for every item"
    for name, key in (
        ("models", ["of", "judge", "item", "effect"]),
        ("fits", ["of", "judge"]),
        ("misalignment", ["effect", "test", "judge", "item"]),
    ):
        ours, theirs = (
            {tuple(map(str, row)) for row in getattr(found, name)[key].to_numpy()} for found in (nothing, usual)
        )
        assert ours == theirs, name
        assert set(getattr(nothing, name)["reason"]) == {nothing.nothing}
        assert getattr(nothing, name)["value"].isna().all() and (getattr(nothing, name)["n_left_out"] == 40).all()
    assert nothing.disagreements.empty and len(usual.disagreements)


def test_a_pair_counts_as_scored_only_with_all_items() -> None:
    scores = made_set(2).scores
    assert nothing_scored(scores) is None
    holes = scores.assign(
        score=scores["score"].where(~scores["item"].eq(ITEMS[0]) | scores["pair_id"].eq("p001"), None)
    )
    assert nothing_scored(holes) is None
    assert nothing_scored(holes[holes["pair_id"] != "p001"]) == "no pair has a score for every item"
    assert nothing_scored(scores.iloc[:0]) == "there is no rubric item"


def test_whom_the_rubric_does_not_predict_is_named() -> None:
    fits = pd.DataFrame(
        [("people", None, 0.6, 0.5), ("judge", "j", 0.5, 0.55), ("judge", "k", np.nan, 0.5)],
        columns=["of", "judge", "value", "floor"],
    )
    assert no_better_than_floor(fits) == ["j: 0.500 of held-out choices, floor 0.550"]
