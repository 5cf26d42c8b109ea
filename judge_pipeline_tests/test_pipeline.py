"""The graph as the command line and the UI drive it, on a small contest, with a persistent Dagster instance."""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pandas as pd
import pytest

from judge_pipeline.definitions import COMPARE_CONTESTS, JUDGE_CONTEST, READ_CONTEST, REPORT_CONTEST, build_definitions
from judge_pipeline.orchestration.exports import report_path, start_page_path
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.parquet_store import EVERY_CONTEST, ParquetStore
from judge_pipeline.orchestration.preference_sets import SET_TABLES
from judge_pipeline.orchestration.runs import JobOutcome, run_job
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import (
    ACCEPTANCE_RATES,
    ALL_TABLES,
    ANCHOR_FIGURES,
    ANCHOR_RUNS,
    ATTEMPTS,
    BROUGHT,
    INGEST_QUARANTINE,
    JUDGE_AGREEMENT,
    JUDGE_CALIBRATION,
    JUDGE_CANARIES,
    JUDGE_CANARY_EFFECTS,
    JUDGE_COVERAGE,
    JUDGE_CURVES,
    JUDGE_METRICS,
    JUDGE_OUTPUTS,
    JUDGE_PANELS,
    JUDGE_REPEATS,
    JUDGE_REQUESTS,
    JUDGE_SCORES,
    JUDGE_VERSIONS,
    LEADERBOARD,
    PREDICTIONS,
    RERATING_AGREEMENT,
    SPLIT_ASSIGNMENTS,
    STRUGGLE_CURVES,
    SUCCESS_AT_TURN,
    TRAJECTORIES,
)
from judge_pipeline_tests.headline_report import run_headline_job
from judge_pipeline_tests.mini_contest import MiniContest

pytestmark = pytest.mark.slow


class House:
    """A workspace with its instance, and the graph over it."""

    def __init__(self, contest: MiniContest) -> None:
        self.contest = contest
        self.workspace = Workspace.find({}, contest.home)
        self.definitions = build_definitions(self.workspace)
        self.instance = open_instance(self.workspace)
        self.store: ParquetStore = store_of(self.workspace)

    def run(self, job: str, judge: str | None = None) -> JobOutcome:
        return run_job(self.definitions, self.instance, job, self.contest.name, judge)

    def measure(self) -> JobOutcome:
        """Predictions and figures of judges, as the report job makes them, without the rest of the report."""
        return run_headline_job(self.definitions, self.instance, REPORT_CONTEST, self.contest.name)

    def table(self, table: object, *judge: str) -> pd.DataFrame:
        return self.store.read(table, self.contest.name, *judge)

    def record_judges(self) -> None:
        """A judge that is nearly right, and one that guesses."""
        rng = random.Random(3)
        rows = list(self.table(ATTEMPTS).itertuples())
        near = {row.attempt_id: round(min(1, max(0, 0.25 + 0.5 * row.y + rng.gauss(0, 0.2))), 2) for row in rows}
        self.contest.record("sharp", near)
        self.contest.record("dull", {row.attempt_id: round(rng.random(), 2) for row in rows})

    def through(self, *judges: str) -> JobOutcome:
        """Read, judge, report; the outcome of the last."""
        assert self.run(READ_CONTEST).error is None
        self.record_judges()
        for judge in judges:
            assert self.run(JUDGE_CONTEST, judge).error is None
        return self.run(REPORT_CONTEST)

    def hashes(self) -> dict[str, str]:
        """Relative path -> sha256 of every table, export and report."""
        out = self.workspace.out_dir
        files = [
            f for part in ("tables", "exports", "reports", "ledgers") for f in (out / part).rglob("*") if f.is_file()
        ]
        return {str(f.relative_to(out)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    built = House(MiniContest(tmp_path / "home").lay())
    with built.instance:
        yield built


@pytest.fixture(scope="module")
def finished(reported_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A house whose contest was run to the end; tests change none of its tables."""
    built = House(MiniContest(shutil.copytree(reported_home, tmp_path_factory.mktemp("finished") / "home")))
    with built.instance:
        yield built


@pytest.fixture
def reported(copy_of_reported_home: Path) -> Iterator[House]:
    """The same for one test alone, which goes on from there."""
    built = House(MiniContest(copy_of_reported_home))
    with built.instance:
        yield built


def test_every_table_and_the_report_are_made(finished: House) -> None:
    over_all, of_jobs_apart = (LEADERBOARD, JUDGE_VERSIONS), (JUDGE_CANARIES, ANCHOR_RUNS, ANCHOR_FIGURES)
    may_be_empty = (INGEST_QUARANTINE, JUDGE_REPEATS, JUDGE_CANARY_EFFECTS, RERATING_AGREEMENT)
    left_out = (*BROUGHT, *over_all, *of_jobs_apart, *SET_TABLES.values())
    for table in (t for t in ALL_TABLES if t not in left_out):
        parts = finished.store.parts(JUDGE_OUTPUTS, "mini") if table in (JUDGE_OUTPUTS, JUDGE_REPEATS) else [None]
        for part in parts:
            rows = finished.table(table, *([part] if part else []))
            assert len(rows) or table in may_be_empty, table.name
    assert report_path(finished.workspace, "mini").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_counts_add_up_from_files_to_figures(finished: House) -> None:
    files = list((finished.contest.folder / "submissions").rglob("*.txt"))
    attempts = finished.table(ATTEMPTS)
    assert len(attempts) == len(files)
    assert len(finished.table(JUDGE_REQUESTS)) == len(files)
    assert len(finished.table(PREDICTIONS)) == 3 * len(files)
    assert int(finished.table(TRAJECTORIES)["n_turns"].sum()) == len(files)
    test = finished.table(PREDICTIONS).query("split == 'test' and judge == 'sharp'")
    metric = finished.table(JUDGE_METRICS).query("judge == 'sharp' and metric == 'brier'").iloc[0]
    assert metric["n"] == len(test)
    assert metric["value"] == pytest.approx(((test["p_ac"] - test["y"].astype(float)) ** 2).mean())


def test_a_judge_without_its_key_fails_by_name_and_the_rest_goes_on(finished: House) -> None:
    outcome = finished.run(JUDGE_CONTEST, "keyed")
    assert outcome.error is not None
    assert "MINI_CONTEST_KEY" in outcome.error
    assert "materialize again" in outcome.error
    coverage = finished.table(JUDGE_COVERAGE).set_index("judge")
    assert coverage["status"].to_dict() == {
        "sharp": "verified", "dull": "verified", "text": "verified", "keyed": "not judged",
    }  # fmt: skip
    assert "MINI_CONTEST_KEY is not set" in coverage.loc["keyed", "reason"]


def test_the_run_shows_previews_counts_and_data_versions(finished: House) -> None:
    event = finished.instance.get_latest_materialization_event(dg.AssetKey("attempts"))
    assert event is not None and event.asset_materialization is not None
    metadata = event.asset_materialization.metadata
    assert metadata["dagster/row_count"].value == len(finished.table(ATTEMPTS))
    assert "| attempt\\_id |" in metadata["preview"].value or "attempt_id" in metadata["preview"].value
    assert len(event.asset_materialization.tags["dagster/data_version"]) == 64


def test_the_start_page_sets_contests_and_judges_side_by_side(finished: House) -> None:
    outcome = run_job(finished.definitions, finished.instance, COMPARE_CONTESTS, None)
    assert outcome.error is None and outcome.failed_checks == ()
    html = start_page_path(finished.workspace).read_text(encoding="utf-8")
    assert 'href="mini/cocreation_report.html"' in html
    board = finished.store.read(LEADERBOARD, EVERY_CONTEST)
    metrics = finished.table(JUDGE_METRICS)
    for judge in ("sharp", "dull", "text"):
        own = [t[(t["judge"] == judge) & (t["metric"] == "roc_auc")]["value"].iloc[0] for t in (board, metrics)]
        assert own[0] == pytest.approx(own[1]), "one contest: the same figure"
    assert set(finished.store.read(JUDGE_VERSIONS, EVERY_CONTEST)["judge"]) == {"sharp", "dull", "text"}


def test_tables_of_figures_say_what_they_were_made_from(finished: House) -> None:
    for table in (JUDGE_METRICS, JUDGE_AGREEMENT, JUDGE_CURVES, SUCCESS_AT_TURN):
        said = finished.store.provenance(table, "mini")
        assert said is not None and said["table"] == table.name and len(said["data"]["contest folder"]) == 64
        assert (said["seed"], said["resamples"], len(said["code"])) == (11, 200, 16)
    said = finished.store.provenance(JUDGE_METRICS, "mini") or {}
    assert set(said["judges"]) == {"sharp", "dull", "text"}
    file = finished.store.path(PREDICTIONS, "mini")
    assert said["data"]["predictions"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert str(finished.contest.home) not in str(said)
    assert finished.store.provenance(PREDICTIONS, "mini") is None


def test_the_same_inputs_give_the_same_bytes(finished: House, tmp_path: Path) -> None:
    again = House(MiniContest(tmp_path / "home").lay())
    with again.instance:
        assert again.through("sharp", "dull", "text").error is None
        for house in (again, finished):
            assert run_job(house.definitions, house.instance, COMPARE_CONTESTS, None).error is None
        assert again.hashes() == finished.hashes()


def test_new_attempts_keep_ids_and_splits_and_make_judges_stale(reported: House) -> None:
    house = reported
    before, splits = house.table(ATTEMPTS), house.table(SPLIT_ASSIGNMENTS)
    house.contest.attempt("E001", "p1", 9, "AC")
    house.contest.trajectory("E001", "p9", "WA AC")
    assert house.run(READ_CONTEST).error is None
    after = house.table(ATTEMPTS)
    assert set(before["attempt_id"]) < set(after["attempt_id"])
    assert len(after) == len(before) + 3
    merged = splits.merge(house.table(SPLIT_ASSIGNMENTS), on=["participant", "problem_id"])
    assert len(merged) == len(splits) and (merged["split_x"] == merged["split_y"]).all()
    failed = house.run(JUDGE_CONTEST, "sharp")
    assert failed.error is not None and "3 of" in failed.error
    assert house.measure().error is None
    coverage = house.table(JUDGE_COVERAGE).set_index("judge")
    assert coverage.loc["sharp", "status"] == "unverified"
    assert "3 of" in coverage.loc["sharp", "reason"]


def test_what_cannot_be_read_is_set_aside_and_counted(house: House) -> None:
    (house.contest.folder / "submissions" / "E001" / "broken.html").write_bytes(b"\x00\x01\x02" * 50)
    (house.contest.folder / "prompts" / "E001" / "x.json").write_text('{"no": "chat"}', encoding="utf-8")
    outcome = house.run(READ_CONTEST)
    assert outcome.error is None
    quarantine = house.table(INGEST_QUARANTINE)
    assert set(quarantine["path"]) == {"submissions/E001/broken.html", "prompts/E001/x.json"}
    assert quarantine["reason"].str.len().gt(5).all() and quarantine["remedy"].str.len().gt(5).all()
    assert any("nothing_set_aside" in line for line in outcome.failed_checks)


def test_an_empty_contest_fails_and_says_where_files_belong(tmp_path: Path) -> None:
    contest = MiniContest(tmp_path / "home").lay(0, 0)
    (contest.folder / "submissions").mkdir(parents=True)
    house = House(contest)
    with house.instance:
        error = house.run(READ_CONTEST).error
    assert error is not None
    assert "no submission could be read" in error and "submissions/<participant>" in error


def test_no_verified_judge_still_gives_a_report(house: House) -> None:
    outcome = house.through()
    assert outcome.error is None
    assert any("a_judge_is_verified" in line for line in outcome.failed_checks)
    assert report_path(house.workspace, "mini").is_file()


def test_judgments_of_other_requests_than_todays_are_stale_and_in_no_figure(reported: House) -> None:
    house = reported
    file = house.contest.folder / "recorded" / "dull.jsonl"
    file.write_text(
        file.read_text(encoding="utf-8").replace('"rationale": "recorded"', '"rationale": "edited"'), "utf-8"
    )
    (house.contest.folder / "contest.yaml").write_text("context: blind\n", encoding="utf-8")
    assert house.run(READ_CONTEST).error is None
    outcome = house.run(REPORT_CONTEST)
    assert outcome.error is None
    coverage = house.table(JUDGE_COVERAGE).set_index("judge")
    # Recorded judges do not read the requests; the baseline reads the context, which is gone.
    assert coverage["status"].to_dict() == {
        "sharp": "verified", "dull": "stale", "text": "stale", "keyed": "not judged",
    }  # fmt: skip
    assert "answer another request than today's" in coverage.loc["text", "reason"]
    assert set(house.table(JUDGE_METRICS)["judge"]) == {"sharp"}
    assert any("none_stale" in line for line in outcome.failed_checks)
    for judge in ("dull", "text"):
        assert house.run(JUDGE_CONTEST, judge).error is None
    assert house.measure().error is None
    assert set(house.table(JUDGE_METRICS)["judge"]) == {"sharp", "dull", "text"}


def test_a_judge_accepted_below_full_coverage_is_flagged_in_every_figure(house: House) -> None:
    (house.contest.folder / "contest.yaml").write_text("min_coverage: 0.9\n", encoding="utf-8")
    assert house.run(READ_CONTEST).error is None
    house.record_judges()
    file = house.contest.folder / "recorded" / "sharp.jsonl"
    file.write_text("\n".join(file.read_text(encoding="utf-8").splitlines()[1:]), encoding="utf-8")
    outcomes = {judge: house.run(JUDGE_CONTEST, judge) for judge in ("sharp", "dull", "text")}
    assert all(outcome.error is None for outcome in outcomes.values())
    assert outcomes["dull"].failed_checks == ()
    (told,) = outcomes["sharp"].failed_checks
    assert told.startswith("judge_outputs: verified: mini, sharp: 1 of")
    assert house.run(REPORT_CONTEST).error is None
    flag = "sharp is unverified: 1 of"
    metrics, agreement = house.table(JUDGE_METRICS), house.table(JUDGE_AGREEMENT)
    assert (metrics["reason"].fillna("").str.contains(flag) == (metrics["judge"] == "sharp")).all()
    assert len(agreement) and agreement["reason"].fillna("").str.contains(flag).all(), "a panel of these two"
    panels = house.table(JUDGE_PANELS)
    assert len(panels) and panels["reason"].fillna("").str.contains(flag).all()
    for table in (JUDGE_SCORES, JUDGE_CALIBRATION, ACCEPTANCE_RATES):
        rows = house.table(table)
        assert (rows["reason"].fillna("").str.contains(flag) == (rows["judge"] == "sharp")).all()
        assert set(rows["judge"]) == {"sharp", "dull", "text"}
    curves, struggle = house.table(JUDGE_CURVES), house.table(STRUGGLE_CURVES)
    assert (curves["reason"].fillna("").str.contains(flag) == (curves["judge"] == "sharp")).all()
    assert len(struggle) and struggle["reason"].fillna("").str.contains(flag).all()


def test_a_damaged_table_of_one_judge_leaves_the_others_their_report(reported: House) -> None:
    house = reported
    house.store.path(JUDGE_OUTPUTS, "mini", "dull").write_bytes(b"PAR1 no more")
    outcome = house.run(REPORT_CONTEST)
    assert outcome.error is None, outcome.error
    assert any("none_damaged" in line and "dull.parquet cannot be read" in line for line in outcome.failed_checks)
    coverage = house.table(JUDGE_COVERAGE).set_index("judge")
    assert (coverage.loc["dull", "status"], coverage.loc["sharp", "status"]) == ("damaged", "verified")
    assert set(house.table(JUDGE_METRICS)["judge"]) == {"sharp", "text"}
    assert "dull.parquet cannot be read" in report_path(house.workspace, "mini").read_text(encoding="utf-8")
    assert house.run(JUDGE_CONTEST, "dull").error is None
    assert house.measure().error is None
    assert set(house.table(JUDGE_METRICS)["judge"]) == {"sharp", "dull", "text"}
