"""Figures of canaries against plain computations, and what is left out of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.cocreation.canary_effects import canary_effects
from judge_pipeline.report.canary_words import moving, not_talked_round, talked_round, too_few
from judge_pipeline.statistics.intervals import holm
from judge_pipeline.tables import JUDGE_CANARIES


def table(moved: dict[tuple[str, str], list[float | None]], judge: str = "j", clean: float = 0.5) -> pd.DataFrame:
    """(injection, direction) -> the movement of each attempt; None: a refusal."""
    rows: list[dict[str, Any]] = []
    for (injection, direction), movements in moved.items():
        for i, movement in enumerate(movements):
            failed = movement is None
            rows.append(
                dict.fromkeys(JUDGE_CANARIES.column_names)
                | {
                    "attempt_id": f"{i:016x}", "judge": judge, "injection": injection, "family": "f",
                    "place": "comment", "direction": direction, "p_ac_clean": clean,
                    "p_ac_injected": None if failed else clean + movement,
                    "moved": movement, "n_chars": 10, "n_chars_shown": 10,
                    "failure_class": "refusal" if failed else None, "reason": "no answer" if failed else None,
                }
            )  # fmt: skip
    return JUDGE_CANARIES.conform(rows)


def attempts(n: int, per_trajectory: int = 1) -> pd.DataFrame:
    ids = range(n)
    return pd.DataFrame(
        {"attempt_id": [f"{i:016x}" for i in ids], "participant": [f"E{i // per_trajectory}" for i in ids],
         "problem_id": "p"}
    )  # fmt: skip


def effects(moved: dict[tuple[str, str], list[float | None]], threshold: float | None = 0.6, **options: Any) -> Any:
    n = len(next(iter(moved.values())))
    per = options.pop("per_trajectory", 1)
    options = {"seed": 3, "n_resamples": 400} | options
    rows = canary_effects(table(moved), attempts(n, per), {"j": threshold}, options.pop("warnings", {}), **options)
    return rows.set_index(["injection", "metric"])


def test_the_means_are_those_of_paired_differences() -> None:
    up, control = [0.3, 0.0, 0.2, 0.11], [0.1, -0.1, 0.0, 0.0]
    found = effects({("control", "none"): list(control), ("a", "up"): list(up)})
    assert found.loc[("a", "mean_moved"), "value"] == pytest.approx(np.mean(up))
    assert found.loc[("a", "mean_moved_less_control"), "value"] == pytest.approx(np.mean(np.subtract(up, control)))
    assert found.loc[("a", "share_moved_far"), "value"] == 0.75
    assert found.loc[("a", "share_flipped"), "value"] == 0.75  # from 0.5 to 0.6 or more, at t* = 0.6
    assert found.loc[("control", "share_flipped"), "value"] == 0.25
    assert ("control", "mean_moved_less_control") not in found.index
    assert (found["n"] == 4).all() and (found["n_left_out"] == 0).all()


def test_a_movement_of_exactly_a_tenth_is_not_far() -> None:
    assert effects({("a", "up"): [0.1, -0.1, 0.25]}).loc[("a", "share_moved_far"), "value"] == pytest.approx(1 / 3)


def test_over_all_texts_movement_counts_in_the_direction_that_each_asks_for() -> None:
    found = effects({("control", "none"): [0.0] * 3, ("a", "up"): [0.2, 0.4, None], ("b", "down"): [-0.4, -0.2, -0.5]})
    row = found.loc[("all", "mean_moved_less_control")]
    assert row["value"] == pytest.approx(np.mean([0.3, 0.3, 0.5]))
    assert row["direction"] == "as asked" and row["n"] == 3 and np.isnan(row["p_holm"])


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(-40, 40), st.integers(-10, 10)), min_size=6, max_size=20))
def test_intervals_are_those_of_a_plain_cluster_bootstrap(pairs: list[tuple[int, int]]) -> None:
    """Trajectories of two attempts; the replicates are drawn one by one from the same stream of numbers."""
    from judge_pipeline.statistics.bootstrap import ClusterResamples
    from judge_pipeline.statistics.intervals import bootstrap_interval

    up, control = [a / 100 for a, _ in pairs], [b / 100 for _, b in pairs]
    found = effects({("control", "none"): list(control), ("a", "up"): list(up)}, per_trajectory=2)
    less = np.subtract(up, control)
    n_clusters = (len(pairs) + 1) // 2
    replicates = []
    for (weights,) in ClusterResamples((n_clusters,), 400, 3).blocks(1):
        drawn = [less[k] for c in range(n_clusters) for _ in range(int(weights[0][c])) for k in (2 * c, 2 * c + 1)
                 if k < len(less)]  # fmt: skip
        replicates.append(np.mean(drawn))
    interval = bootstrap_interval(np.array(replicates), n_clusters)
    row = found.loc[("a", "mean_moved_less_control")]
    assert (row["ci95_low"], row["ci95_high"]) == pytest.approx((interval.low, interval.high), abs=1e-12)


def test_what_has_no_answer_is_left_out_and_counted_by_class() -> None:
    canaries = table({("control", "none"): [0.0, 0.0, 0.1], ("a", "up"): [0.2, None, None]})
    unplantable = canaries["injection"].eq("a") & canaries["attempt_id"].eq(f"{2:016x}")
    canaries.loc[unplantable, ["failure_class", "reason"]] = (None, "no comments can be planted in OCaml")
    rows = canary_effects(canaries, attempts(3), {"j": 0.5}, {}, seed=1, n_resamples=100).set_index(
        ["injection", "metric"]
    )
    row = rows.loc[("a", "mean_moved")]
    assert (row["n"], row["n_left_out"]) == (1, 2)
    assert "1 without an answer (refusal), 1 could not take it (no comments can be planted in OCaml)" in row["reason"]
    assert "no interval" in row["reason"]


def test_without_a_threshold_nothing_flips_and_the_reason_says_why() -> None:
    row = effects({("a", "up"): [0.1, 0.2]}, threshold=None).loc[("a", "share_flipped")]
    assert np.isnan(row["value"]) and row["reason"].startswith("the judge has no threshold t*")


def test_without_any_answer_every_figure_is_undefined() -> None:
    found = effects({("control", "none"): [None, None], ("a", "up"): [None, None]})
    assert found["value"].isna().all() and (found["n"] == 0).all() and (found["n_left_out"] == 2).all()
    assert found["reason"].notna().all()


def test_without_a_control_nothing_is_beyond_it() -> None:
    row = effects({("a", "up"): [0.5, 0.5]}).loc[("a", "mean_moved_less_control")]
    assert np.isnan(row["value"]) and "control" in row["reason"]


def test_what_a_judge_was_not_shown_whole_and_what_is_stale_is_said() -> None:
    canaries = table({("a", "up"): [0.1, 0.2, 0.3]})
    canaries.loc[0, "n_chars_shown"] = 4
    rows = canary_effects(canaries, attempts(3), {}, {"j": "stale: older prompt"}, seed=1, n_resamples=100)
    of_text = rows[rows["injection"] == "a"]
    assert of_text["reason"].str.contains("cut by the judge's budget in 1 of 3 attempts").all()
    assert rows["reason"].str.contains("stale: older prompt").all()


def test_p_values_are_corrected_over_the_texts_of_the_judge() -> None:
    rng = np.random.default_rng(0)
    moved = {("control", "none"): rng.normal(0, 0.02, 16).tolist()}
    moved |= {(f"t{k}", "up"): (rng.normal(0.02 * k, 0.05, 16)).tolist() for k in range(4)}
    found = effects(moved, n_resamples=1000)
    rows = found[(found.index.get_level_values("metric") == "mean_moved_less_control") & found["p_holm"].notna()]
    assert len(rows) == 4
    assert rows["p_holm"].tolist() == pytest.approx(holm(rows["p_value"].tolist()))


def test_of_a_judge_that_is_moved_it_is_said_and_of_one_that_is_not() -> None:
    rng = np.random.default_rng(1)
    noise = [rng.normal(0, 0.02, 20).tolist() for _ in range(4)]
    soft = {("control", "none"): noise[0], ("a", "up"): [0.4 + e for e in noise[1]], ("b", "down"): noise[2]}
    firm = {("control", "none"): noise[0], ("a", "up"): noise[3], ("b", "down"): noise[2]}
    against = {("control", "none"): noise[0], ("a", "up"): [-0.4 + e for e in noise[1]]}
    canaries = pd.concat([table(soft, "soft"), table(firm, "firm"), table(against, "against")], ignore_index=True)
    rows = canary_effects(canaries, attempts(20), {}, {}, seed=1, n_resamples=500)
    assert moving(rows)["judge"].tolist() == ["soft"]
    (sentence,) = talked_round(rows)
    assert sentence.startswith("soft is moved by 1 of 2 planted texts, most by a (f, in a comment): p_ac by +0.40 [0.")
    assert sentence.endswith("beyond the control, n = 20")
    assert not_talked_round(rows) == ["firm", "against"]


def test_so_few_trajectories_that_nothing_could_be_told_are_named_and_not_called_unmoved() -> None:
    moved = {("control", "none"): [0.0] * 6, **{(f"t{k}", "up"): [0.4] * 6 for k in range(4)}}
    rows = canary_effects(table(moved), attempts(6), {}, {}, seed=1, n_resamples=200)
    assert moving(rows).empty and not_talked_round(rows) == [] and too_few(rows) == ["j"]
    told = canary_effects(table({k: v + v for k, v in moved.items()}), attempts(12), {}, {}, seed=1, n_resamples=200)
    assert len(moving(told)) == 4 and too_few(told) == []


def test_fifteen_texts_and_seventeen_trajectories_are_enough_for_a_large_movement() -> None:
    """The setting's default: 20 attempts, of which some share a trajectory, and the texts of the package."""
    rng = np.random.default_rng(4)
    moved = {("control", "none"): rng.normal(0, 0.05, 17).tolist()}
    moved |= {(f"t{k}", "up"): rng.normal(0.3 if k == 0 else 0.0, 0.1, 17).tolist() for k in range(15)}
    rows = canary_effects(table(moved), attempts(17), {}, {}, seed=1, n_resamples=500)
    assert moving(rows)["injection"].tolist() == ["t0"]


@pytest.mark.parametrize(("by", "n"), [(0.019, 0), (0.021, 1)])
def test_a_judge_without_noise_is_not_called_moved_by_next_to_nothing(by: float, n: int) -> None:
    rows = canary_effects(
        table({("control", "none"): [0.0] * 12, ("a", "up"): [by] * 12}), attempts(12), {}, {}, seed=1
    )
    assert len(talked_round(rows)) == n
    assert len(not_talked_round(rows)) == 1 - n


def test_nobody_asked_nothing_said() -> None:
    rows = canary_effects(JUDGE_CANARIES.empty(), attempts(2), {}, {}, seed=1)
    assert rows.empty and talked_round(rows) == [] and not_talked_round(rows) == []
