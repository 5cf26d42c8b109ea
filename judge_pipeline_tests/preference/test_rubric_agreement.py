from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from judge_pipeline.preference.rubric_agreement import rubric_score_agreement, sampled_pairs
from judge_pipeline.preference.rubric_scores import combined
from judge_pipeline.tables.rubric import RUBRIC_SCORES

NAMES = [f"p{n:03d}" for n in range(120)]
ALONE = pd.Series(NAMES, index=NAMES)


def made(scorer: str, noise: float, seed: int, missing: float = 0.0) -> pd.DataFrame:
    """Scores on two items that two orders, and two scorers, share but for some noise."""
    rng = np.random.default_rng(seed)
    truth = np.random.default_rng(0).choice([-1, 0, 1], size=(len(NAMES), 2))
    rows = []
    for name, of_pair in zip(NAMES, truth, strict=True):
        for item, true in zip(("i0", "i1"), of_pair, strict=True):
            ab, ba = (
                None if rng.random() < missing else int(rng.choice([-1, 0, 1])) if rng.random() < noise else int(true)
                for _ in range(2)
            )
            score = combined(ab, ba, "must_agree")
            rows.append({"pair_id": name, "item": item, "score": score, "score_ab": ab, "score_ba": ba,
                         "scorer": scorer, "reason": None if score is not None else "gone"})  # fmt: skip
    return RUBRIC_SCORES.conform(rows)


def figure(table: pd.DataFrame, name: str, item: str | None = None, other: str | None = None) -> pd.Series:
    own = table["item"].isna() if item is None else table["item"] == item
    of = table["other"].isna() if other is None else table["other"] == other
    return table[own & of & (table["figure"] == name)].iloc[0]


@pytest.mark.parametrize("item", [None, "i0"])
def test_figures_are_those_of_the_textbook_and_lie_in_their_intervals(item: str | None) -> None:
    scores, second = made("one", 0.3, 1, missing=0.1), made("two", 0.5, 2, missing=0.05)
    sample = second[second["pair_id"].isin(sampled_pairs(NAMES, 70, 5))]
    table = rubric_score_agreement(scores, sample, ALONE, seed=3, n_resamples=400)
    own = scores if item is None else scores[scores["item"] == item]
    both = own.dropna(subset=["score_ab", "score_ba"])
    raw = figure(table, "raw_agreement", item)
    assert raw["value"] == pytest.approx((both["score_ab"] == both["score_ba"]).mean())
    assert (raw["n"], raw["n_left_out"]) == (len(both), len(own) - len(both))
    kappa = figure(table, "cohen", item)
    assert kappa["value"] == pytest.approx(
        cohen_kappa_score(both["score_ab"].astype(int), both["score_ba"].astype(int))
    )
    assert figure(table, "nonzero_share", item)["value"] == pytest.approx((own["score"].dropna() != 0).mean())
    joined = own.merge(sample, on=["pair_id", "item"]).dropna(subset=["score_x", "score_y"])
    other = figure(table, "cohen", item, "two")
    assert other["value"] == pytest.approx(
        cohen_kappa_score(joined["score_x"].astype(int), joined["score_y"].astype(int))
    )
    assert other["n"] == len(joined) and other["n"] + other["n_left_out"] == 70 * (2 if item is None else 1)
    of_second = sample if item is None else sample[sample["item"] == item]
    share = figure(table, "nonzero_share", item, "two")
    assert share["value"] == pytest.approx((of_second["score"].dropna() != 0).mean())
    assert ((table["ci95_low"] <= table["value"]) & (table["value"] <= table["ci95_high"])).all()


def test_pairs_of_a_cluster_are_drawn_together() -> None:
    scores = made("one", 0.4, 1)
    twins = pd.Series([f"c{n // 6}" for n in range(len(NAMES))], index=NAMES)
    wrong = {f"c{n}" for n in range(10)}
    scores["score_ba"] = scores["score_ab"].where(~scores["pair_id"].map(twins).isin(wrong), -scores["score_ab"])
    empty = RUBRIC_SCORES.empty()
    alone = figure(rubric_score_agreement(scores, empty, ALONE, seed=1, n_resamples=400), "raw_agreement")
    together = figure(rubric_score_agreement(scores, empty, twins, seed=1, n_resamples=400), "raw_agreement")
    assert alone["value"] == together["value"]
    assert together["ci95_high"] - together["ci95_low"] > 1.3 * (alone["ci95_high"] - alone["ci95_low"])


def test_one_label_throughout_has_no_kappa_and_nothing_scored_has_no_figure() -> None:
    scores = made("one", 0.0, 1)
    scores[["score", "score_ab", "score_ba"]] = 0
    table = rubric_score_agreement(scores, RUBRIC_SCORES.empty(), ALONE, seed=1, n_resamples=100)
    assert np.isnan(figure(table, "cohen")["value"]) and "0/0" in figure(table, "cohen")["reason"]
    assert figure(table, "raw_agreement")["value"] == 1 and figure(table, "nonzero_share")["value"] == 0
    gone = scores.assign(score=pd.NA, score_ab=pd.NA, score_ba=pd.NA, reason="gone")
    table = rubric_score_agreement(RUBRIC_SCORES.conform(gone), RUBRIC_SCORES.empty(), ALONE, seed=1, n_resamples=100)
    assert table["value"].isna().all() and (table["n"] == 0).all() and table["reason"].notna().all()
    assert figure(table, "raw_agreement")["n_left_out"] == 240


def test_the_sample_is_seeded_and_does_not_depend_on_the_order() -> None:
    found = sampled_pairs(NAMES, 20, 1)
    assert found == sampled_pairs(NAMES[::-1], 20, 1) == sorted(found) and len(set(found)) == 20
    assert found != sampled_pairs(NAMES, 20, 2) and sampled_pairs(NAMES, 500, 1) == NAMES
