"""The generated contest has the counts that it is named after."""

from __future__ import annotations

import pytest
from lifelines import KaplanMeierFitter

from judge_pipeline.cocreation.overview import contest_overview
from judge_pipeline.cocreation.trajectories import check_turn_order, success_at_turn, survival
from judge_pipeline.tables import INGEST_QUARANTINE
from judge_pipeline_tests import paper_counts_contest as made
from judge_pipeline_tests.paper_counts_contest import paper_counts_contest

TABLE_I = {
    "participants": 15, "problems": 13, "trajectories": 184, "attempts": 517, "prompt_logs": 83, "accepted": 193,
    "non_accepted": 324, "trajectories_train": 148, "trajectories_val": 18, "trajectories_test": 18, "mean_turns": 2.81,
    "median_turns": 1, "max_turns": 30, "solved": 159,
}  # fmt: skip


def test_its_counts_are_those_of_table_i() -> None:
    c = paper_counts_contest()
    a = c.attempts
    assert (a["participant"].nunique(), a["problem_id"].nunique(), len(a)) == (15, 13, made.N_ATTEMPTS)
    assert (int(a["y"].sum()), int((a["y"] == 0).sum())) == (made.N_ACCEPTED, 324)
    assert (len(c.trajectories), int(c.trajectories["solved"].sum())) == (made.N_TRAJECTORIES, made.N_SOLVED)
    assert c.splits["split"].value_counts().to_dict() == {"train": 148, "val": 18, "test": 18}
    assert c.prompt_logs["path"].nunique() == made.N_PROMPT_LOGS
    turns = c.trajectories["n_turns"]
    assert (turns.median(), turns.max(), round(turns.mean(), 2)) == (1, 30, 2.81)
    assert int(turns[c.trajectories["solved"].astype(bool)].sum()) == made.N_CONVERGENCE
    overview = contest_overview(a, c.prompt_logs, c.trajectories, c.splits, INGEST_QUARANTINE.empty())
    assert overview.set_index("statistic")["value"].loc[list(TABLE_I)].round(2).to_dict() == TABLE_I


def test_its_success_by_turn_and_order_are_those_of_the_paper() -> None:
    c = paper_counts_contest()
    s = success_at_turn(c.trajectories).set_index("turn")["value"]
    assert [round(s[k], 4) for k in (1, 4, 6)] == [0.8533, 0.8587, 0.8641]
    checked = check_turn_order(c.trajectories)
    assert (checked.n_rejected_before_first_ac, checked.n_rejected_after_first_ac) == (8, 128)
    assert checked.warning is not None


def test_its_survival_is_that_of_lifelines() -> None:
    table = paper_counts_contest().trajectories
    ours = survival(table).set_index("turn")
    oracle = KaplanMeierFitter().fit(table["time_turns"].astype(int), table["event"].astype(bool))
    at = oracle.timeline.astype(int)
    assert ours.loc[at, "value"].tolist() == pytest.approx(oracle.survival_function_.iloc[:, 0].tolist(), abs=1e-12)
    assert ours.loc[at[1:], "n_at_risk"].tolist() == oracle.event_table["at_risk"].iloc[1:].tolist()
    assert (ours.loc[1, "n_at_risk"], ours["n_events"].sum(), ours["n_censored"].sum()) == (184, 159, 25)


def test_it_is_the_same_each_time() -> None:
    first = paper_counts_contest()
    paper_counts_contest.cache_clear()
    again = paper_counts_contest()
    for name in ("attempts", "prompt_logs", "splits", "predictions"):
        assert getattr(first, name).equals(getattr(again, name)), name


@pytest.mark.parametrize("column", ["source_code", "language"])
def test_every_attempt_has_a_program(column: str) -> None:
    assert paper_counts_contest().attempts[column].notna().all()
