from __future__ import annotations

import pytest
from scipy.stats import kendalltau, spearmanr

from judge_pipeline.preference.rank_relation import preference_ranks

# Acc of the 13 judges of TRACE, Table 2: completion, edits, chat.
TABLE_2 = {
    "completion": (37.67, 46.00, 29.60, 48.6, 51.40, 54.20, 46.60, 38.60, 55.60, 41.00, 46.40, 50.60, 60.80),
    "edits": (31.6, 30.4, 26.0, 32.00, 41.6, 40.8, 36.60, 34.60, 38.8, 28.6, 31.80, 47.00, 45.80),
    "chat": (19.00, 24.40, 25.40, 51.6, 57.60, 51.6, 52.00, 49.00, 52.40, 45.40, 27.80, 51.80, 53.40),
}


def test_the_relation_between_the_three_sets_of_table_2() -> None:
    figures = {name: {str(i): value for i, value in enumerate(row)} for name, row in TABLE_2.items()}
    table = preference_ranks(figures, figure="acc")
    assert len(table) == 6
    for row in table.to_dict("records"):
        peer = {"spearman": spearmanr, "kendall": kendalltau}[row["statistic"]]
        expected = peer(TABLE_2[row["set_1"]], TABLE_2[row["set_2"]])
        assert row["value"] == pytest.approx(expected.statistic)
        assert row["p_value"] == pytest.approx(expected.pvalue, abs=0.02)
        assert row["p_holm"] >= row["p_value"] and row["n"] == 13


def test_few_judges_get_the_exact_p() -> None:
    figures = {"s": {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0, "e": None}, "t": {"a": 2.0, "b": 3.0, "c": 5.0, "d": 9.0}}
    row = preference_ranks(figures, figure="acc").iloc[0]
    assert (row["value"], row["n"], row["n_left_out"]) == (1.0, 4, 1)
    assert row["p_value"] == pytest.approx(2 / 24)


def test_two_judges_or_equal_ones_have_no_ranks() -> None:
    few = preference_ranks({"s": {"a": 1.0, "b": 2.0}, "t": {"a": 1.0, "b": 2.0}}, figure="acc")
    assert few["value"].isna().all() and few["reason"].str.contains("fewer than 3").all()
    equal = preference_ranks({"s": dict.fromkeys("abc", 1.0), "t": {"a": 1.0, "b": 2.0, "c": 0.0}}, figure="acc")
    assert equal["value"].isna().all() and equal["reason"].str.contains("same figure").all()
