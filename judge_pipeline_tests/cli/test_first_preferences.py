"""What a newcomer with a CSV of preferences meets: where it goes, what a run would ask and cost, how far it is."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from judge_pipeline.cli.init import init
from judge_pipeline.cli.preference import preference
from judge_pipeline.cli.status import status
from judge_pipeline.orchestration.rubric_plan import plan_rubric
from judge_pipeline.settings import Workspace

N_PAIRS = 10


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace of one's own, with a set of pairs of one instruction: nothing can be learned out of fold."""
    for name in ("JUDGE_PIPELINE_HOME", "JUDGE_PIPELINE_OUT", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    said = CliRunner().invoke(init, [str(tmp_path / "home")])
    assert "judge-pipeline preference data/preference/my-edits --read-only" in said.output
    monkeypatch.chdir(tmp_path / "home")
    assert Path("data/preference/README.txt").is_file()
    made = Path("data/preference/my-edits")
    made.mkdir()
    with (made / "preferences.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["pair_id", "instruction", "response_a", "response_b", "w"])
        for n in range(N_PAIRS):
            rows.writerow([f"p{n}", "Print a number", f"print({n})", f"x = {n}\nprint(x)\n", "AB"[n % 2]])
    return made


def state(folder: Path, **settings: object) -> None:
    (folder / "preference.yaml").write_text(yaml.safe_dump({"resamples": 100, **settings}), encoding="utf-8")


@pytest.mark.slow
def test_a_set_is_planned_by_its_name_with_the_rubrics_price_and_the_key_that_is_missing(folder: Path) -> None:
    state(folder, rubric={"scorer": "gpt-5", "second_scorer": "smollm2-135m"})
    assert "not read yet" in CliRunner().invoke(status, []).output
    done = CliRunner().invoke(preference, ["my-edits", "--dry-run"], standalone_mode=False)
    assert done.return_value == 0, done.output
    # 7 items of people in both orders: 2 calls of at most 5 items for each pair and order, 7 of the embedded model
    rows = {line.partition(")")[0]: line.partition(")")[2].split() for line in done.output.splitlines() if ")" in line}
    assert rows["gpt-5 (scorer"][:3] == ["40", "0", "40"] and float(rows["gpt-5 (scorer"][-1]) > 0
    assert rows["smollm2-135m (second scorer"][:3] == ["140", "0", "140"]
    assert "scorer is gpt-5, whose key is missing: set the environment variable OPENAI_API_KEY" in done.output
    # A run that does not name it leaves out a judge that has nothing to learn from.
    assert "Left out: baseline-fitted (the fitted baseline " in done.output
    assert "\nbaseline-length" in done.output and "\nbaseline-fitted" not in done.output
    off = [line for line in done.output.splitlines() if "switched off in judges.yaml: " in line]
    assert len(off) == 1 and "enabled: false" not in done.output

    shown = CliRunner().invoke(status, []).output
    assert "my-edits (preference set)" in shown and "no judge was asked yet" in shown and "Report: none yet" in shown
    (row,) = (
        json.loads(line) for line in CliRunner().invoke(status, ["--json"]).output.splitlines() if "my-ed" in line
    )
    assert (row["preference_set"], row["status"], row["report"]) == ("my-edits", "read", None)


@pytest.mark.slow
def test_items_that_are_still_to_be_found_are_priced_as_many_as_there_may_be(folder: Path) -> None:
    state(folder, rubric={"proposer": "gpt-5", "scorer": "gpt-5", "batches": 2, "batch_pairs": 5, "rounds": 3})
    assert CliRunner().invoke(preference, ["my-edits", "--read-only"], standalone_mode=False).return_value == 0
    plans = {one.role: one.plan for one in plan_rubric(Workspace.find(), "my-edits", folder)}
    # 3 rounds of 2 batches and a merging each; 12 items of which rounds find 2, 2 and 1 after the 7 that people wrote:
    # 9, 2 and 1 items, at most 5 a call, are 4 calls for each pair and order.
    assert {role: plan.n_to_ask for role, plan in plans.items()} == {"proposer": 6, "merger": 3, "scorer": 80}
    assert all(plan.cost_usd and plan.tokens_in > 100 * plan.n_to_ask for plan in plans.values())
    state(folder, rubric={"proposer": "smollm2-135m"})
    assert plan_rubric(Workspace.find(), "my-edits", folder) == []


@pytest.mark.slow
def test_a_default_run_of_a_small_set_ends_well_and_a_judge_that_is_named_fails(folder: Path) -> None:
    judges = Path("assets_config/judges.yaml")
    listed = yaml.safe_load(judges.read_text(encoding="utf-8"))
    kept = {name: judge for name, judge in listed["judges"].items() if judge["backend"] == "baseline"}
    judges.write_text(yaml.safe_dump({"judges": kept}), encoding="utf-8")
    state(folder)
    done = CliRunner().invoke(preference, ["my-edits"], standalone_mode=False)
    assert done.return_value == 0, done.output
    assert "Left out: baseline-fitted" in done.output and "Report: " in done.output
    shown = CliRunner().invoke(status, []).output
    assert "preference_report.html" in shown and "verified" in shown
    done = CliRunner().invoke(preference, ["my-edits", "--judges", "baseline-fitted"], standalone_mode=False)
    assert done.return_value == 1 and "Failed: baseline-fitted" in done.output


def test_a_name_that_is_no_set_is_refused_with_those_that_are(folder: Path) -> None:
    done = CliRunner().invoke(preference, ["my-edit", "--read-only"])
    assert done.exit_code == 2 and "no preference set that is known by its name (my-edits)" in " ".join(
        done.output.replace("│", " ").split()
    )
