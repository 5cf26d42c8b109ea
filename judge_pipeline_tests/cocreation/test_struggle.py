from __future__ import annotations

import time as clock

import numpy as np
import pandas as pd
import pytest

from judge_pipeline.cocreation.struggle import LAST_TURN, struggle_groups, struggle_turns
from judge_pipeline_tests.cocreation.timed_attempts import attempts_of, many_attempts, trajectories_of
from judge_pipeline_tests.paper_counts_contest import JUDGES, paper_counts_contest


@pytest.fixture(scope="module")
def turns() -> pd.DataFrame:
    c = paper_counts_contest()
    return struggle_turns(c.attempts, c.predictions, c.trajectories, JUDGES)


@pytest.fixture(scope="module")
def groups(turns: pd.DataFrame) -> pd.DataFrame:
    return struggle_groups(turns, paper_counts_contest().trajectories, seed=1, n_resamples=300)


def _given(p: dict[str, dict[str, float]]) -> pd.DataFrame:
    """Predictions from judge -> attempt -> p_ac."""
    return pd.DataFrame(
        [{"judge": j, "attempt_id": a, "p_ac": x} for j, answers in p.items() for a, x in answers.items()]
    )


def test_the_panels_rows_are_those_of_struggle_curves(turns: pd.DataFrame) -> None:
    curves = paper_counts_contest().struggle_curves.set_index("attempt_id")
    mine = turns[turns["judge"].isna() & (turns["order"] == "as_recorded")].set_index("attempt_id")
    same = curves.reindex(mine.index)
    np.testing.assert_allclose(mine["confidence"], same["p_mean"])
    np.testing.assert_allclose(mine["change"], same["delta_p_mean"])
    assert set(turns["judge"].dropna()) == set(JUDGES) and set(turns["order"]) == {"as_recorded", "reversed"}


def test_changes_of_each_judge_worked_by_hand() -> None:
    attempts = attempts_of({("u", "P1"): "WWA", ("v", "P1"): "W"})
    given = _given({"a": {"uP11": 0.2, "uP12": 0.5, "uP13": 0.4, "vP11": 0.1}, "b": {"uP11": 0.4, "uP13": 0.8}})
    rows = struggle_turns(attempts, given, trajectories_of(attempts), ["a", "b"])
    a, b, panel = (rows[rows["judge"] == j] if j else rows[rows["judge"].isna()] for j in ("a", "b", None))
    assert a["change"].round(9).tolist()[1:3] == [0.3, -0.1]
    first = "no change: turn 1 has no turn before it"
    assert a["reason"].tolist() == [first, None, None, first]
    assert b["change"].isna().all()
    assert b["reason"].tolist()[1:] == [
        "not judged by b", "no change: the turn before was not judged by b", "not judged by b",
    ]  # fmt: skip
    assert panel["confidence"].round(9).tolist()[0] == 0.3 and panel["confidence"].isna().tolist()[1::2] == [True, True]
    assert panel["reason"].tolist()[1] == "not judged by the whole panel"


def test_reversed_changes_run_the_other_way(turns: pd.DataFrame) -> None:
    claude = turns[turns["judge"] == "claude"]
    recorded = claude[claude["order"] == "as_recorded"]
    turned = claude[claude["order"] == "reversed"]
    assert recorded["change"].sum() == pytest.approx(-turned["change"].sum())
    assert recorded["change"].count() == turned["change"].count() == 517 - 184


def test_group_means_are_plain_means(turns: pd.DataFrame, groups: pd.DataFrame) -> None:
    c = paper_counts_contest()
    known = turns.merge(c.trajectories[["participant", "problem_id", "solved"]], on=["participant", "problem_id"])
    known["outcome"] = np.where(known["solved"], "solved", "unsolved")
    for grouped_by in ("outcome", "problem_id", "participant"):
        for statistic in ("confidence", "change"):
            plain = known[known["turn"] <= LAST_TURN].groupby(["order", "judge", grouped_by, "turn"], dropna=False)
            plain = plain[statistic].agg(["mean", "count"]).reset_index()
            mine = groups[(groups["grouped_by"] == grouped_by) & (groups["statistic"] == statistic)]
            both = mine.merge(plain, left_on=["order", "judge", "level", "turn"],
                              right_on=["order", "judge", grouped_by, "turn"])  # fmt: skip
            assert len(both) == len(mine)
            np.testing.assert_allclose(both["value"], both["mean"], atol=1e-12)
            assert (both["n"] == both["count"]).all()


def test_bands_hold_the_mean_and_have_the_width_of_clusters() -> None:
    """A single turn each, participants of 10 equal trajectories: the error is that of 60 means, not of 600."""
    rng = np.random.default_rng(0)
    level = rng.random(60)
    attempts = attempts_of({(f"u{i}", f"P{j}"): "W" for i in range(60) for j in range(10)})
    given = _given({"a": {f"u{i}P{j}1": level[i] for i in range(60) for j in range(10)}})
    table = trajectories_of(attempts)
    groups = struggle_groups(struggle_turns(attempts, given, table, ["a"]), table, seed=3)
    row = groups[(groups["judge"] == "a") & (groups["grouped_by"] == "all")].iloc[0]
    error = level.std(ddof=1) / np.sqrt(60)
    assert row["n"] == 600 and row["n_clusters"] == 60 and row["value"] == pytest.approx(level.mean())
    assert (row["ci95_high"] - row["ci95_low"]) / 2 == pytest.approx(2.0 * error, rel=0.1)
    assert row["reason"] is None


def test_single_participants_are_clustered_by_trajectory(groups: pd.DataFrame) -> None:
    by = groups[(groups["grouped_by"] == "participant") & (groups["turn"] == 1)]
    assert (by["clustered_by"] == "trajectory").all() and by["ci95_low"].notna().all()
    others = groups[groups["grouped_by"] != "participant"]
    assert (others["clustered_by"] == "participant").all()
    single = others[others["n_clusters"] == 1]
    assert len(single) and single["ci95_low"].isna().all()
    assert (single["reason"] == "no interval: a single cluster cannot be resampled").all()


def test_judges_that_answered_less_have_their_own_counts() -> None:
    attempts = attempts_of({(f"u{i}", "P1"): "WW" for i in range(6)})
    everything = {f"u{i}P1{k}": 0.5 for i in range(6) for k in (1, 2)}
    given = _given({"a": everything, "b": dict.fromkeys(list(everything)[:5], 0.25)})
    table = trajectories_of(attempts)
    groups = struggle_groups(struggle_turns(attempts, given, table, ["a", "b"]), table, seed=1, n_resamples=100)
    at = groups[(groups["grouped_by"] == "all") & (groups["statistic"] == "confidence")].set_index(["judge", "turn"])
    assert at.loc[("b", 1), "n"] == 3 and at.loc[("b", 1), "n_left_out"] == 3
    assert at.loc[("b", 2), "n"] == 2 and at.loc[("a", 2), "n"] == 6
    assert at.loc[("b", 2), ["value", "ci95_low", "ci95_high"]].tolist() == [0.25, 0.25, 0.25]


def test_too_many_groups_and_none(turns: pd.DataFrame) -> None:
    table = paper_counts_contest().trajectories
    few = struggle_groups(turns, table, seed=1, n_resamples=100, max_levels=14)
    assert set(few["grouped_by"]) == {"all", "outcome", "problem_id"}
    assert struggle_groups(turns.iloc[:0], table, seed=1).empty
    attempts = attempts_of({("u", "P1"): "W"})
    assert struggle_turns(attempts, _given({}), trajectories_of(attempts), []).empty


@pytest.mark.slow
def test_the_same_seed_gives_the_same_table(turns: pd.DataFrame) -> None:
    table = paper_counts_contest().trajectories
    first, second = (struggle_groups(turns, table, seed=9, n_resamples=100) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)


@pytest.mark.slow
def test_100_000_attempts_of_three_judges_take_seconds() -> None:
    attempts = many_attempts(33_000)
    rng = np.random.default_rng(1)
    given = pd.concat(
        [
            pd.DataFrame({"attempt_id": attempts["attempt_id"], "judge": j, "p_ac": rng.random(len(attempts))})
            for j in "abc"
        ]
    )
    table = trajectories_of(attempts)
    started = clock.process_time()
    struggle_groups(struggle_turns(attempts, given, table, list("abc")), table, seed=1)
    # Three times the data took 17 s on busy cores; the bound is for what grows faster than the data.
    assert clock.process_time() - started < 25
