from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.cocreation.trajectory_patterns import PatternRules, trajectory_patterns
from judge_pipeline_tests.cocreation.timed_attempts import attempts_of, trajectories_of
from judge_pipeline_tests.paper_counts_contest import paper_counts_contest


def _patterns(
    words: dict[str, str], p: dict[str, list[float | None]], rules: PatternRules | None = None
) -> pd.DataFrame:
    """The patterns as recorded of participant u, by problem."""
    attempts = attempts_of({("u", problem): letters for problem, letters in words.items()})
    means = [mean for problem in words for mean in p.get(problem, [None] * len(words[problem]))]
    curves = pd.DataFrame({"attempt_id": attempts["attempt_id"], "p_mean": pd.Series(means, dtype="float64")})
    table = trajectory_patterns(attempts, trajectories_of(attempts), curves, rules or PatternRules())
    return table[table["order"] == "as_recorded"].set_index("problem_id")


def test_recovery_is_a_fall_and_as_large_a_rise_after_it() -> None:
    p = {
        "P1": [0.5, 0.3, 0.5],  # falls and rises by 0.2, but for rounding
        "P2": [0.3, 0.6, 0.9],  # only rises
        "P3": [0.9, 0.2, 0.3, 0.35],  # falls by 0.7, rises by 0.15
        "P4": [0.6, 0.5, 0.4, 0.1, 0.2, 0.5],  # over several turns: 0.5 down, 0.4 up
    }
    found = _patterns({name: "W" * len(values) for name, values in p.items()}, p)
    assert found["recovery_depth"].round(9).tolist() == [0.2, 0, 0.15, 0.4]
    assert found["recovered"].tolist() == [True, False, False, True]


def test_stagnation_counts_turns_without_change_and_without_ac() -> None:
    p = {
        "P1": [0.5, 0.52, 0.5, 0.53, 0.9],  # three small changes
        "P2": [0.5, 0.52, 0.5, 0.9, 0.9],  # two, one
        "P3": [0.5, 0.52, 0.5, 0.5, 0.5],  # accepted at the third
        "P4": [0.5, 0.55, 0.6, 0.65, 0.7],  # changes of exactly the limit are changes
    }
    found = _patterns({"P1": "WWWWA", "P2": "WWWWW", "P3": "WWAWW", "P4": "WWWWW"}, p)
    assert found["flat_turns"].tolist() == [3, 2, 2, 0]
    assert found["stagnated"].tolist() == [True, False, False, False]
    assert _patterns({"P2": "WWWWW"}, p, PatternRules(stagnation_turns=2))["stagnated"].tolist() == [True]


def test_runs_do_not_go_on_into_the_next_trajectory() -> None:
    found = _patterns({"P1": "WWW", "P2": "WWWW"}, {"P1": [0.5] * 3, "P2": [0.5] * 4}, PatternRules(0.2, 0.05, 2))
    assert found["flat_turns"].tolist() == [2, 3]


def test_what_is_undefined_has_a_reason() -> None:
    found = _patterns({"P1": "WW", "P2": "WWW", "P3": "W"}, {"P1": [0.1, 0.2], "P2": [0.1, None, 0.3]})
    assert found["recovered"].isna().all() and found["recovery_depth"].isna().all()
    assert found["recovered_reason"].tolist() == [
        "a fall and a rise take 3 turns",
        "1 of 3 turns have no mean confidence",
        "1 of 1 turns have no mean confidence",
    ]
    assert found["stagnated_reason"].tolist()[0] == "the rule needs 4 turns"
    assert found["stagnated"].isna().all() and found["flat_turns"].isna().all()


def test_recovery_of_the_outcome() -> None:
    words = {"P1": "WWA", "P2": "AW", "P3": "WW", "P4": "W?", "P5": "?", "P6": "?WA"}
    found = _patterns(words, {})
    assert [None if pd.isna(x) else bool(x) for x in found["solved_after_rejection"]] == [
        True, None, False, None, None, True,
    ]  # fmt: skip
    assert found["n_rejected_first"].tolist() == [2, 0, 2, 1, 0, 1]
    assert found["solved_after_rejection_reason"].tolist()[1] == (
        "the first decided attempt was accepted: there was nothing to recover from"
    )
    assert found["solved_after_rejection_reason"].tolist()[3:5] == [
        "attempts without a verdict may still be accepted",
        "no attempt is decided",
    ]


def test_of_the_papers_counts_in_both_orders() -> None:
    c = paper_counts_contest()
    table = trajectory_patterns(c.attempts, c.trajectories, c.struggle_curves, PatternRules())
    recorded, turned = (table[table["order"] == order] for order in ("as_recorded", "reversed"))
    assert len(recorded) == len(turned) == 184
    assert int(recorded["solved_after_rejection"].sum()) == 2
    assert int(turned["solved_after_rejection"].sum()) == 159 - 133
    # A fall and a rise read backwards are a fall and a rise.
    assert recorded["recovery_depth"].sum() == pytest.approx(turned["recovery_depth"].sum())


def test_no_attempts_no_rows() -> None:
    attempts = attempts_of({})
    curves = pd.DataFrame({"attempt_id": [], "p_mean": []})
    assert trajectory_patterns(attempts, trajectories_of(attempts), curves, PatternRules()).empty


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 20), min_size=3, max_size=12))
def test_the_depth_is_that_of_all_triples(steps: list[int]) -> None:
    p = [step / 20 for step in steps]
    depth = max(
        min(p[i] - p[j], p[k] - p[j]) for j in range(len(p)) for i in range(j + 1) for k in range(j, len(p))
    )  # fmt: skip
    found = _patterns({"P1": "W" * len(p)}, {"P1": p})
    assert found["recovery_depth"].iloc[0] == pytest.approx(depth)
