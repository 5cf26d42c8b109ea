from __future__ import annotations

import pandas as pd
import pytest

from judge_pipeline.preference.accuracy import preference_accuracy
from judge_pipeline.preference.accuracy_checks import do_not_add_up, not_above_floors
from judge_pipeline.preference.judged_pairs import PairError
from judge_pipeline.tables.preference_accuracy import RULES
from judge_pipeline_tests.preference.made_set import decisions_of_set, made_set


@pytest.fixture(scope="module")
def decisions() -> pd.DataFrame:
    return decisions_of_set(made_set(60))


@pytest.fixture(scope="module")
def accuracy(decisions: pd.DataFrame) -> pd.DataFrame:
    return preference_accuracy(decisions, n_resamples=100, further_rules=RULES)


def test_further_rules_give_judges_and_floors_what_each_rule_alone_gives(
    accuracy: pd.DataFrame, decisions: pd.DataFrame
) -> None:
    for rule in RULES:
        alone = preference_accuracy(decisions, rule=rule, n_resamples=100)
        own = accuracy[accuracy["rule"] == rule].reset_index(drop=True)
        if rule != "trace":
            alone = alone[alone["of"].isin(("judge", "floor")) & alone["category"].isna()].reset_index(drop=True)
        pd.testing.assert_frame_equal(own, alone)
    with pytest.raises(PairError, match="'best'"):
        preference_accuracy(decisions, further_rules=["best"])


def test_a_judge_below_the_best_floor_is_named(accuracy: pd.DataFrame) -> None:
    told = not_above_floors(accuracy, "trace")
    assert [line.split(":")[0] for line in told] == ["contrary", "first"]
    floors = accuracy[(accuracy["rule"] == "trace") & (accuracy["of"] == "floor")]
    best = floors.loc[floors["value"].idxmax()]
    assert told[1] == f"first: Acc 0.000 is not above {best['value']:.3f} of {best['name']}"
    assert not_above_floors(accuracy[accuracy["of"] != "floor"], "trace") == []


def test_figures_add_up_and_where_one_is_changed_it_is_found(accuracy: pd.DataFrame) -> None:
    assert do_not_add_up(accuracy) == []
    own = (accuracy["of"] == "judge") & (accuracy["name"] == "alike") & accuracy["category"].isna()
    for figure, words in (("acc", "Acc is"), ("choice_share", "choice_share 1.2"), ("consistent_share", "valid_share")):
        broken = accuracy.copy()
        broken.loc[own & (broken["figure"] == figure), "value"] = 1.2
        assert words in " ".join(do_not_add_up(broken)), figure
