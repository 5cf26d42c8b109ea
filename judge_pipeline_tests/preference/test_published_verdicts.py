"""What authors print of their judges, from the same verdicts."""

from __future__ import annotations

import pandas as pd
import pytest

from judge_pipeline.preference.accuracy import preference_accuracy
from judge_pipeline_tests.preference import shared_verdicts


def value(table: pd.DataFrame, figure: str, judge: str) -> float:
    rows = table[(table["of"] == "judge") & table["category"].isna()]
    return float(rows[(rows["figure"] == figure) & (rows["name"] == judge)]["value"].iloc[0])


def count(table: pd.DataFrame, figure: str, judge: str) -> int:
    rows = table[(table["of"] == "judge") & (table["figure"] == figure) & (table["name"] == judge)]
    share = float(rows["value"].iloc[0]) * int(rows["n"].iloc[0])
    assert share == pytest.approx(round(share), abs=1e-9)
    return round(share)


@pytest.mark.slow
def test_every_statistic_that_llmbar_publishes() -> None:
    decisions, expected = shared_verdicts.llmbar()
    published = expected.set_index(["dataset", "evaluator"])
    seen = set()
    # A judge at a time: what judges have over each other is not published.
    for (dataset, judge), own in decisions.groupby(["dataset", "judge"]):
        both = own.drop(columns="dataset")
        swapped = both.assign(decision_ab=both["decision_ba"], decision_ba=both["decision_ab"])
        trace = preference_accuracy(both, rule="trace", n_resamples=2)
        first = preference_accuracy(both, rule="pandalm", n_resamples=2)
        second = preference_accuracy(swapped, rule="pandalm", n_resamples=2)
        row = published.loc[(dataset, judge)]
        both_invalid = int((own["decision_ab"].isna() & own["decision_ba"].isna()).sum())
        assert len(both) == row["n"]
        assert count(first, "acc", judge) == row["correct_orig"] == row["pub_correct_False"]
        assert count(second, "acc", judge) == row["correct_swap"] == row["pub_correct_True"]
        assert count(trace, "acc", judge) == row["correct_both"] == row["pub_correct_both"]
        # Their "equal" counts two invalid answers as equal; a consistent answer is one.
        assert count(trace, "consistent_share", judge) + both_invalid == row["equal"] == row["pub_equal"]
        seen.add((dataset, judge))
    assert seen == set(published.index) and len(seen) > 100


def test_two_invalid_answers_of_llmbar_are_there_and_not_consistent() -> None:
    decisions, _ = shared_verdicts.llmbar()
    invalid = decisions["decision_ab"].isna() & decisions["decision_ba"].isna()
    judge, dataset = decisions[invalid].iloc[0][["judge", "dataset"]]
    own = decisions[(decisions["judge"] == judge) & (decisions["dataset"] == dataset)]
    both_invalid = int((own["decision_ab"].isna() & own["decision_ba"].isna()).sum())
    table = preference_accuracy(own.drop(columns="dataset"), n_resamples=2)
    equal = (own["decision_ab"].fillna("") == own["decision_ba"].fillna("")).mean()
    assert both_invalid > 0
    assert value(table, "consistent_share", judge) == pytest.approx(equal - both_invalid / len(own))


def test_auto_j_over_all_and_on_code() -> None:
    decisions = shared_verdicts.auto_j()
    table = preference_accuracy(decisions, rule="exact", n_resamples=50)
    assert round(100 * value(table, "acc", "auto-j-13b"), 2) == 54.96
    assert round(100 * value(table, "consistent_share", "auto-j-13b"), 2) == 83.41
    code = decisions[decisions["category"].isin(shared_verdicts.AUTO_J_CODE)]
    table = preference_accuracy(code, rule="exact", n_resamples=50)
    assert round(100 * value(table, "acc", "auto-j-13b"), 2) == 47.50
    assert round(100 * value(table, "consistent_share", "auto-j-13b"), 2) == 75.83
    assert table[table["category"].notna()]["category"].nunique() == len(shared_verdicts.AUTO_J_CODE)


def test_pandalm_under_its_rule_and_with_garbage_dropped() -> None:
    decisions = shared_verdicts.pandalm()
    table = preference_accuracy(decisions, rule="pandalm", n_resamples=50)
    assert round(100 * value(table, "acc", "pandalm7b"), 2) == 66.77
    assert round(100 * value(table, "acc", "gpt35"), 2) == 71.07
    dropped = preference_accuracy(decisions, rule="bigcodereward", n_resamples=50)
    assert round(100 * value(dropped, "acc", "gpt35"), 2) == 71.56
    one_order = preference_accuracy(decisions, rule="exact", n_resamples=50)
    assert round(100 * value(one_order, "acc", "gpt35"), 2) == 69.77


def test_pandalm_annotators_agree_as_published() -> None:
    table = preference_accuracy(shared_verdicts.pandalm(), rule="pandalm", n_resamples=50)
    rows = table[(table["figure"] == "cohen") & table["name"].str.startswith("annotator", na=False)]
    kappas = {(row["name"][-1], row["other"][-1]): round(row["value"], 2) for row in rows.to_dict("records")}
    assert kappas == {("1", "2"): 0.85, ("1", "3"): 0.88, ("2", "3"): 0.86}
    floor = table[(table["of"] == "floor") & (table["name"] == "the most frequent label")]
    assert floor["value"].iloc[0] == pytest.approx(472 / 999)
    people = table[table["figure"] == "majority_user_agreement"].iloc[0]
    assert people["value"] == 1.0 and "this very majority" in people["reason"]
