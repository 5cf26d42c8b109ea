from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from judge_pipeline.cocreation.pattern_groups import pattern_groups
from judge_pipeline.tables.struggle import PATTERN_GROUPS, PATTERNS, TRAJECTORY_PATTERNS
from judge_pipeline_tests.paper_counts_contest import SEED
from judge_pipeline_tests.report.made_dynamics import made_dynamics


def _patterns(shows: dict[tuple[str, str], bool | None]) -> pd.DataFrame:
    """Trajectories of which ``recovered`` is as given, and nothing else can be said."""
    rows = [
        {"order": "as_recorded", "participant": u, "problem_id": p, "n_turns": 3, "solved": True, "recovered": shown,
         "recovered_reason": None if shown is not None else "not judged", "stagnated_reason": "too short",
         "solved_after_rejection_reason": "accepted at once", "n_rejected_first": 0}
        for (u, p), shown in shows.items()
    ]  # fmt: skip
    columns = dict.fromkeys(TRAJECTORY_PATTERNS.column_names)
    return TRAJECTORY_PATTERNS.conform([{**columns, **row} for row in rows])


def _recovered(table: pd.DataFrame, grouped_by: str, level: str) -> pd.Series:
    rows = table[(table["pattern"] == "recovered") & (table["grouped_by"] == grouped_by) & (table["level"] == level)]
    return rows.iloc[0]


@pytest.mark.slow
def test_shares_are_those_of_the_patterns_counted_by_hand() -> None:
    patterns = made_dynamics()["trajectory_patterns"]
    table = pattern_groups(patterns, seed=SEED, n_resamples=40)
    assert set(table["order"]) == {"as_recorded", "reversed"}
    for row in table.to_dict("records"):
        here = patterns[patterns["order"] == row["order"]]
        if row["grouped_by"] == "outcome":
            here = here[here["solved"].astype(bool) == (row["level"] == "solved")]
        elif row["grouped_by"] != "all":
            here = here[here[row["grouped_by"]] == row["level"]]
        known = here[row["pattern"]].dropna().astype(bool)
        assert (row["n"], row["n_left_out"], row["n_shown"]) == (len(known), len(here) - len(known), int(known.sum()))
        if not len(known):
            assert pd.isna(row["value"]) and "of no trajectory here" in row["reason"]
            continue
        assert row["value"] == pytest.approx(known.mean())
        wilson = binomtest(int(known.sum()), len(known)).proportion_ci(method="wilson")
        assert (row["ci95_low"], row["ci95_high"]) == (pytest.approx(wilson.low), pytest.approx(wilson.high))
        if not pd.isna(row["cluster_low"]):
            assert 0 < row["value"] < 1 and row["cluster_low"] <= row["cluster_high"]


def test_what_all_or_none_show_has_no_cluster_interval_but_wilsons() -> None:
    patterns = _patterns({(f"u{i}", "P1"): True for i in range(8)})
    whole = _recovered(pattern_groups(patterns, seed=1, n_resamples=50), "all", "all")
    assert (whole["value"], whole["n_clusters"]) == (1.0, 8)
    assert whole["ci95_low"] < 1 and pd.isna(whole["cluster_low"])
    assert "all of them are alike" in whole["reason"]


def test_a_single_participant_cannot_be_resampled() -> None:
    table = pattern_groups(_patterns({("u", "P1"): True, ("u", "P2"): False}), seed=1, n_resamples=50)
    whole = _recovered(table, "all", "all")
    assert whole["value"] == 0.5 and pd.isna(whole["cluster_low"]) and "single cluster" in whole["reason"]
    own = _recovered(table, "participant", "u")
    assert (own["clustered_by"], own["n_clusters"]) == ("trajectory", 2)


def test_one_persons_trajectories_count_as_one() -> None:
    alike = {(f"u{i:02}", f"P{j}"): i < 10 for i in range(20) for j in range(5)}
    row = _recovered(pattern_groups(_patterns(alike), seed=1, n_resamples=400), "all", "all")
    assert row["cluster_high"] - row["cluster_low"] > 1.8 * (row["ci95_high"] - row["ci95_low"])


def test_unknown_is_left_out_with_the_most_frequent_reason() -> None:
    row = _recovered(pattern_groups(_patterns({("u", "P1"): None, ("v", "P1"): None}), seed=1), "all", "all")
    assert pd.isna(row["value"]) and (row["n"], row["n_left_out"]) == (0, 2)
    assert row["reason"].endswith("most often: not judged")


def test_same_seed_same_table_and_nothing_of_nothing() -> None:
    patterns = made_dynamics()["trajectory_patterns"]
    first, again = (pattern_groups(patterns, seed=3, n_resamples=30) for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    assert set(first["pattern"]) == set(PATTERNS)
    assert pattern_groups(TRAJECTORY_PATTERNS.empty(), seed=3).equals(PATTERN_GROUPS.empty())
    assert np.all(pattern_groups(patterns, seed=3, n_resamples=30, max_levels=2)["grouped_by"].isin(["all", "outcome"]))
