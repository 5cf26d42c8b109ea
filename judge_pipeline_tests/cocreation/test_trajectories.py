from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from lifelines import KaplanMeierFitter

from judge_pipeline.cocreation import trajectories as ours
from judge_pipeline.table_schema import TableError


def attempts_of(verdicts: dict[str, str], participant: str = "u") -> pd.DataFrame:
    """Attempts from one letter a turn: A accepted, W rejected, P not judged yet."""
    rows: list[dict[str, Any]] = []
    for problem, letters in verdicts.items():
        for turn, letter in enumerate(letters, start=1):
            y = {"A": 1, "W": 0, "P": None}[letter]
            attempt_id = f"{participant}-{problem}-{turn}"
            rows.append(
                {"attempt_id": attempt_id, "participant": participant, "problem_id": problem, "turn": turn, "y": y}
            )
    table = pd.DataFrame(rows, columns=["attempt_id", "participant", "problem_id", "turn", "y"])
    return table.astype({"y": "Int64"})


def splits_of(attempts: pd.DataFrame, split: str = "train") -> pd.DataFrame:
    return attempts[["participant", "problem_id"]].drop_duplicates().assign(split=split)


def trajectories_of(verdicts: dict[str, str]) -> pd.DataFrame:
    attempts = attempts_of(verdicts)
    return ours.trajectories(attempts, splits_of(attempts)).set_index("problem_id")


CASES = {
    "once": "A",
    "late": "WWA",
    "after": "WAWA",
    "never": "WWW",
    "waits": "WP",
    "waits_then_solves": "PWPA",
    "undecided": "PP",
}


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        # n_turns, n_undecided, n_accepted, rejected before, rejected after, first AC, T, event
        ("once", (1, 0, 1, 0, 0, 1, 1, True)),
        ("late", (3, 0, 1, 2, 0, 3, 3, True)),
        ("after", (4, 0, 2, 1, 1, 2, 2, True)),
        ("never", (3, 0, 0, 0, 0, None, 3, False)),
        ("waits", (2, 1, 0, 0, 0, None, 1, False)),
        ("waits_then_solves", (4, 2, 1, 1, 0, 4, 4, True)),
        ("undecided", (2, 2, 0, 0, 0, None, None, False)),
    ],
)
def test_time_to_success(problem: str, expected: tuple[Any, ...]) -> None:
    row = trajectories_of(CASES).loc[problem]
    columns = ["n_turns", "n_undecided", "n_accepted", "n_rejected_before_first_ac", "n_rejected_after_first_ac"]
    columns += ["first_ac_turn", "time_turns", "event"]
    assert tuple(None if pd.isna(row[name]) else row[name] for name in columns) == expected
    assert row["solved"] == expected[-1]


def test_the_order_of_rows_does_not_matter() -> None:
    attempts = attempts_of(CASES)
    straight = ours.trajectories(attempts, splits_of(attempts))
    shuffled = ours.trajectories(attempts.sample(frac=1, random_state=1), splits_of(attempts))
    pd.testing.assert_frame_equal(straight, shuffled)


def test_a_trajectory_without_split_or_a_turn_twice_is_refused() -> None:
    attempts = attempts_of(CASES)
    with pytest.raises(TableError, match=r"1 trajectories have no split, first .*'waits'"):
        ours.trajectories(attempts, splits_of(attempts).query("problem_id != 'waits'"))
    twice = pd.concat([attempts, attempts.iloc[[0]]])
    with pytest.raises(TableError, match="share a trajectory's turn"):
        ours.trajectories(twice, splits_of(attempts))
    with pytest.raises(TableError, match="share a trajectory's turn"):
        ours.struggle_curves(twice, answers({}), ["a"])


def test_newest_first_read_as_oldest_first_is_noticed() -> None:
    right = attempts_of({"p1": "WWA", "p2": "WA", "p3": "A", "p4": "WW"})
    backwards = right.assign(turn=right.groupby("problem_id")["turn"].rank(ascending=False).astype(int))
    checked = ours.check_turn_order(ours.trajectories(right, splits_of(right)))
    assert (checked.n_solved, checked.n_rejected_before_first_ac, checked.n_rejected_after_first_ac) == (3, 3, 0)
    assert checked.warning is None
    reversed_check = ours.check_turn_order(ours.trajectories(backwards, splits_of(backwards)))
    assert (reversed_check.n_rejected_before_first_ac, reversed_check.n_rejected_after_first_ac) == (0, 3)
    assert "3 of the 3 rejected attempts in solved trajectories follow" in (reversed_check.warning or "")


def test_the_counts_of_the_paper_are_noticed() -> None:
    # 159 solved trajectories with 136 rejections, of which at most 8 precede the first AC.
    verdicts = {f"p{i:03}": "A" for i in range(157)}
    verdicts["p157"], verdicts["p158"] = "WWWA", "WWWWWA"
    verdicts |= {f"p{i:03}": "A" + "W" * 16 for i in range(8)}
    checked = ours.check_turn_order(trajectories_of(verdicts).reset_index())
    assert (checked.n_rejected_before_first_ac, checked.n_rejected_after_first_ac) == (8, 128)
    assert checked.warning is not None


def test_success_at_turn_is_over_all_trajectories() -> None:
    table = ours.success_at_turn(trajectories_of(CASES).reset_index()).set_index("turn")
    assert table["n_solved"].tolist() == [1, 2, 3, 4]
    assert table["value"].tolist() == pytest.approx([1 / 7, 2 / 7, 3 / 7, 4 / 7])
    assert set(table["n"]) == {7}
    assert (table["ci95_low"] < table["value"]).all()
    assert (table["ci95_high"] > table["value"]).all()
    assert table["reason"].str.contains("2 unsolved trajectories hold attempts without a verdict").all()


def test_success_at_turn_of_the_paper() -> None:
    verdicts = {f"p{i:03}": "A" for i in range(157)}
    verdicts |= {"p157": "WWWA", "p158": "WWWWWA"} | {f"p{i}": "W" for i in range(159, 183)} | {"p183": "W" * 30}
    table = ours.success_at_turn(trajectories_of(verdicts).reset_index()).set_index("turn")
    assert len(table) == 30
    assert {k: round(table.loc[k, "value"], 4) for k in (1, 4, 6, 30)} == {1: 0.8533, 4: 0.8587, 6: 0.8641, 30: 0.8641}
    assert table.loc[1, "value"] == 157 / 184
    assert table["reason"].isna().all()


def test_survival_agrees_with_lifelines_and_leaves_out_what_has_no_time() -> None:
    rng = np.random.default_rng(0)
    verdicts = {}
    for i in range(80):
        turns = int(rng.geometric(0.4))
        verdicts[f"p{i:02}"] = "W" * (turns - 1) + ("A" if rng.random() < 0.8 else "W") + "P" * int(rng.integers(0, 2))
    verdicts |= {"waiting": "PPPPPPPPPPPPPPPPPPPPPPP"}
    trajectories = trajectories_of(verdicts).reset_index()
    table = ours.survival(trajectories)
    timed = trajectories.dropna(subset="time_turns")
    fit = KaplanMeierFitter().fit(timed["time_turns"].astype(int), timed["event"].astype(bool))
    rows = table.set_index("turn").loc[fit.survival_function_.index.astype(int)]
    np.testing.assert_allclose(rows["value"], fit.survival_function_.iloc[:, 0], atol=1e-12)
    band = fit.confidence_interval_.to_numpy()[1:]
    inside = rows["ci95_low"].iloc[1:].notna().to_numpy()
    np.testing.assert_allclose(rows[["ci95_low", "ci95_high"]].iloc[1:][inside], band[inside], atol=1e-12)
    assert rows["n_at_risk"].iloc[1:].tolist() == fit.event_table["at_risk"].iloc[1:].tolist()
    assert set(table["n"]) == {80}
    assert set(table["n_left_out"]) == {1}


def test_a_share_of_none_or_all_has_no_band_and_says_so() -> None:
    table = ours.survival(trajectories_of({"p": "WWA"}).reset_index()).set_index("turn")
    assert table["value"].tolist() == [1, 1, 1, 0]
    assert (table.loc[0, "ci95_low"], table.loc[0, "ci95_high"]) == (1, 1)
    assert table.loc[1, "reason"] == "the log(-log) band does not exist where the share is 1"
    assert table.loc[3, "reason"] == "the log(-log) band does not exist where the share is 0"


def test_nothing_decided_has_no_survival() -> None:
    assert ours.survival(trajectories_of({"p": "P"}).reset_index()).empty


def answers(values: dict[tuple[str, str], float]) -> pd.DataFrame:
    rows = [{"attempt_id": a, "judge": j, "p_ac": p} for (a, j), p in values.items()]
    return pd.DataFrame(rows, columns=["attempt_id", "judge", "p_ac"])


def test_struggle_curves_by_hand() -> None:
    attempts = attempts_of({"p": "WWPA", "q": "A"})
    given = {("u-p-1", "a"): 0.2, ("u-p-1", "b"): 0.4, ("u-p-2", "a"): 0.5, ("u-p-2", "b"): 0.9}
    given |= {("u-p-3", "a"): 0.7, ("u-p-4", "a"): 1.0, ("u-p-4", "b"): 1.0, ("u-q-1", "a"): 0.0, ("u-q-1", "b"): 0.5}
    given |= {(attempt, "outsider"): 0.123 for attempt in attempts["attempt_id"]}
    table = ours.struggle_curves(attempts, answers(given), ["b", "a"]).set_index("attempt_id")
    assert table["n_judges"].tolist() == [2, 2, 1, 2, 2]
    np.testing.assert_allclose(table["p_mean"], [0.3, 0.7, np.nan, 1.0, 0.25], atol=1e-12)
    np.testing.assert_allclose(table["delta_p_mean"], [np.nan, 0.4, np.nan, np.nan, np.nan], atol=1e-12)
    assert table["reason"].tolist() == [
        "no change: turn 1 has no turn before it",
        None,
        "not judged by b of the panel",
        "no change: the turn before was not judged by the whole panel",
        "no change: turn 1 has no turn before it",
    ]


def test_struggle_curves_without_a_panel_or_a_turn() -> None:
    attempts = attempts_of({"p": "WWA"})
    table = ours.struggle_curves(attempts, answers({}), [])
    assert table["p_mean"].isna().all()
    assert set(table["reason"]) == {"the panel has no judge"}
    gap = attempts[attempts["turn"] != 2]
    given = answers({("u-p-1", "a"): 0.1, ("u-p-3", "a"): 0.3})
    table = ours.struggle_curves(gap, given, ["a"])
    assert table["reason"].tolist()[1] == "no change: the turn before is not in the table"
    assert np.isnan(table["delta_p_mean"].iloc[1])


def test_no_attempts_no_rows() -> None:
    attempts = attempts_of({})
    table = ours.trajectories(attempts, splits_of(attempts))
    assert table.empty
    assert ours.success_at_turn(table).empty
    assert ours.survival(table).empty
    assert ours.struggle_curves(attempts, answers({}), ["a"]).empty
    assert ours.check_turn_order(table).warning is None
