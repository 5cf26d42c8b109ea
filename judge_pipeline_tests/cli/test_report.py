"""``report`` with its options, and ``leaderboard``, on a small contest that was run to the end."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from judge_pipeline.cli.leaderboard import leaderboard
from judge_pipeline.cli.report import report
from judge_pipeline.orchestration import runs
from judge_pipeline.orchestration.exports import report_path, start_page_path, tables_dir
from judge_pipeline.orchestration.forgetting import forget
from judge_pipeline.orchestration.trajectory_pages import chosen_trajectories, pages_dir, write_pages
from judge_pipeline.report.trajectory_page import page_name
from judge_pipeline.tables import TRAJECTORIES
from judge_pipeline_tests.mini_contest import MiniContest
from judge_pipeline_tests.test_pipeline import House

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("report-command")]


@pytest.fixture(scope="module")
def house(reported_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    built = House(MiniContest(shutil.copytree(reported_home, tmp_path_factory.mktemp("report") / "home")))
    with built.instance:
        yield built


def call(house: House, command: object, *arguments: str) -> Result:
    found = CliRunner().invoke(
        command, list(arguments), env={"JUDGE_PIPELINE_HOME": str(house.contest.home)}, standalone_mode=False
    )  # type: ignore[arg-type]
    assert found.exception is None, found.exception
    return found


@pytest.fixture
def tables_are_as_they_should_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has changed since the last run, and the command runs nothing: what comes after its runs is looked at."""
    monkeypatch.setattr(runs, "run_job", lambda *given: runs.JobOutcome("none", None))


def test_methods_alone_go_to_standard_output_and_tables_into_the_folder(house: House, tmp_path: Path) -> None:
    found = call(house, report, "mini", "--methods", "--tables", str(tmp_path / "tables"))
    assert found.return_value == 0
    assert found.stdout.startswith("Judged and measured as in") and found.stdout.count("\n") == 1
    assert str(report_path(house.workspace, "mini")) in found.stderr
    written = {file.name for file in (tmp_path / "tables").iterdir()}
    assert {"table-1-counts.csv", "table-4-judges.tex", "table-5a-agreement.csv"} <= written
    kept = {file.name for file in tables_dir(house.workspace, "mini").iterdir()}
    assert kept == written, "the asset writes the same files beside the report"
    assert start_page_path(house.workspace).is_file()


def test_figures_without_a_browser_fail_with_the_remedy(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables_are_as_they_should_be: None
) -> None:
    monkeypatch.setenv("BROWSER_PATH", "/no/such/browser")
    found = CliRunner().invoke(
        report, ["mini", "--figures", str(tmp_path / "figures")], env={"JUDGE_PIPELINE_HOME": str(house.contest.home)}
    )
    assert found.exit_code == 1
    assert "Remedy: install one" in found.output and "BROWSER_PATH" in found.output
    assert not (tmp_path / "figures").exists()


def test_the_leaderboard_is_a_table_of_80_columns_or_json(house: House) -> None:
    shown = call(house, leaderboard)
    assert shown.return_value == 0
    assert "sharp" in shown.stdout and "index.html" in shown.stdout
    assert all(len(line) <= 80 for line in shown.stdout.splitlines() if "index.html" not in line)
    assert "…" not in shown.stdout, "nothing is cut"
    said = json.loads(call(house, leaderboard, "--json").stdout)
    assert set(said["judges"]) == {"sharp", "dull", "text"}
    assert set(said["judges"]["sharp"]["roc_auc"]) >= {"value", "n", "n_left_out", "ci95", "reason", "ranks"}


def test_pages_of_trajectories_are_written_and_listed(house: House, tables_are_as_they_should_be: None) -> None:
    folder = pages_dir(house.workspace, "mini")
    rows = house.table(TRAJECTORIES)
    first = (rows["participant"].iloc[0], rows["problem_id"].iloc[0])
    one = page_name("mini", *first)
    assert call(house, report, "mini", "--trajectory", *first).return_value == 0
    assert one in {file.name for file in folder.iterdir()}
    write_pages(house.workspace, "mini", "1", limit=0)
    assert {file.name for file in folder.iterdir()} == {"index.html"}
    write_pages(house.workspace, "mini", "1", first)
    assert {file.name for file in folder.iterdir()} == {one, "index.html"}
    (folder / ("0" * 20 + ".html")).write_text("of nobody any more")
    assert call(house, report, "mini", "--trajectories").return_value == 0
    names = {page_name("mini", u, p) for u, p in zip(rows["participant"], rows["problem_id"], strict=True)}
    assert {file.name for file in folder.iterdir()} == {*names, "index.html"}
    listed = (folder / "index.html").read_text(encoding="utf-8")
    assert all(f'href="{name}"' in listed for name in names)
    write_pages(house.workspace, "mini", "1", limit=2)
    assert len(list(folder.iterdir())) == 3
    kept = chosen_trajectories(rows, house.workspace.contest(house.contest.folder).seed, 2)
    assert {page_name("mini", *key) for key in kept} == {file.name for file in folder.iterdir()} - {"index.html"}
    nobody = CliRunner().invoke(
        report, ["mini", "--trajectory", "nobody", "A"], env={"JUDGE_PIPELINE_HOME": str(house.contest.home)}
    )
    assert nobody.exit_code == 2 and "no trajectory of participant 'nobody'" in nobody.output


def test_who_withdraws_is_in_no_table_over_all_contests(house: House) -> None:
    assert call(house, leaderboard).return_value == 0
    write_pages(house.workspace, "mini", "1")
    forget(house.workspace, "mini", "E001", "2026-11-30")
    assert not pages_dir(house.workspace, "mini").exists()
    assert not start_page_path(house.workspace).exists()
    assert not list((house.workspace.out_dir / "tables" / "leaderboard").glob("*.parquet"))
    assert not tables_dir(house.workspace, "mini").exists()
    after = call(house, leaderboard)
    assert after.return_value == 0
