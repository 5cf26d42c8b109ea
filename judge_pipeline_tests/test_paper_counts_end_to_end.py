"""The contest with the paper's counts, from its files through every asset to its tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judge_pipeline.definitions import JUDGE_CONTEST, READ_CONTEST, REPORT_CONTEST, build_definitions
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.runs import run_job
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import ATTEMPTS, CONTEST_OVERVIEW, SPLIT_ASSIGNMENTS, SUCCESS_AT_TURN, dynamics
from judge_pipeline.tables.revision import CONVERGENCE
from judge_pipeline_tests.headline_report import NarrowedDefinitions
from judge_pipeline_tests.paper_counts_contest import JUDGES, N_CONVERGENCE, lay_paper_counts, record_judges
from judge_pipeline_tests.test_paper_counts_contest import TABLE_I

CONTEST = "paper-counts"
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("paper-counts")]


class Ran:
    """A workspace in which the contest was read, judged and reported.

    Args:
        home: the workspace.
        wanted: tables of the report job that are made; all of it, with the page, where there is none.
    """

    def __init__(self, home: Path, wanted: frozenset[str] = frozenset()) -> None:
        lay_paper_counts(home)
        workspace = Workspace.find({}, home)
        self.store = store_of(workspace)
        definitions: Any = build_definitions(workspace)
        if wanted:
            definitions = NarrowedDefinitions(definitions, wanted.__contains__)
        with open_instance(workspace) as instance:
            outcome = run_job(definitions, instance, READ_CONTEST, CONTEST)
            assert outcome.error is None, outcome.error
            record_judges(home, self.store.read(ATTEMPTS, CONTEST))
            for judge in JUDGES:
                outcome = run_job(definitions, instance, JUDGE_CONTEST, CONTEST, judge)
                assert outcome.error is None, outcome.error
            outcome = run_job(definitions, instance, REPORT_CONTEST, CONTEST)
            assert outcome.error is None, outcome.error

    def bytes_of(self, table: Table) -> bytes:
        return self.store.path(table, CONTEST).read_bytes()


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    yield Ran(tmp_path_factory.mktemp("first") / "home")


def test_table_i_and_the_splits(ran: Ran) -> None:
    found = ran.store.read(CONTEST_OVERVIEW, CONTEST).set_index("statistic")["value"]
    assert found.loc[list(TABLE_I)].round(2).to_dict() == TABLE_I
    splits = ran.store.read(SPLIT_ASSIGNMENTS, CONTEST)["split"].value_counts()
    assert splits.to_dict() == {"train": 148, "val": 18, "test": 18}


def test_success_at_turn_is_that_of_the_paper(ran: Ran) -> None:
    s = ran.store.read(SUCCESS_AT_TURN, CONTEST).set_index("turn")["value"]
    assert [round(s[k], 4) for k in (1, 4, 6)] == [0.8533, 0.8587, 0.8641]


def test_convergence_has_a_row_for_each_attempt_of_a_solved_trajectory(ran: Ran) -> None:
    rows = ran.store.read(CONVERGENCE, CONTEST)
    assert rows.groupby("order").size().to_dict() == {"as_recorded": N_CONVERGENCE, "reversed": N_CONVERGENCE}
    assert rows.groupby("order")["is_reference"].sum().to_dict() == {"as_recorded": 159, "reversed": 159}


def test_a_second_run_gives_the_same_bytes(ran: Ran, tmp_path: Path) -> None:
    again = Ran(tmp_path / "home", frozenset(table.name for table in dynamics.TABLES))
    for table in dynamics.TABLES:
        assert len(ran.store.read(table, CONTEST)), table.name
        assert again.bytes_of(table) == ran.bytes_of(table), table.name
