"""``judge-pipeline criteria`` as a person uses it, before anything is asked: plans, choices, what is refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from judge_pipeline.cli import criteria_demo
from judge_pipeline.cli.criteria import configurations_to_run, nothing_to_run
from judge_pipeline.cli.criteria_demo import JUDGE
from judge_pipeline.cli.main import main
from judge_pipeline.criteria.expected_calls import CRITERIA_A_PAIR, expected_calls
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.criteria import Configuration
from judge_pipeline_tests.criteria.scripted_house import ScriptedHouse, script, scripted_house

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["judge-pipeline", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, err

    return command


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedHouse:
    monkeypatch.setenv("JUDGE_PIPELINE_HOME", str(tmp_path))
    monkeypatch.setenv("JUDGE_PIPELINE_OUT", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "120")
    with scripted_house(tmp_path, script(), 6) as made:
        return made


@pytest.mark.slow
def test_a_dry_run_counts_the_first_stage_estimates_the_rest_and_asks_nothing(house: ScriptedHouse, run: Run) -> None:
    command = ("criteria", str(house.folder), "--configurations", "monolithic,full", "--dry-run", "--json")
    code, out, err = run(*command)
    assert code == 0, err
    found = json.loads(out)
    mono, full = found["plans"]
    assert (mono["judge"], mono["n_to_ask"], full["judge"]) == (f"{JUDGE}@monolithic", 4, f"{JUDGE}@full")
    assert full["n_to_ask"] > 4 * (1 + 2 + 1) and "stage generation is counted" in full["basis"]
    assert "estimated for 20 criteria a pair (a guess" in full["basis"] and "was never made" in full["basis"]
    assert "guidance for scripted-judge from 2 training pairs" in " ".join(err.split())
    assert f"a call a pair; {JUDGE} for people's reasons" in " ".join(err.split())
    assert not house.server.bodies


def test_what_is_named_wrong_is_a_wrong_command(house: ScriptedHouse, run: Run) -> None:
    code, _, err = run("criteria", str(house.folder), "--configurations", "monolitic")
    assert code == 2 and "monolitic" in err and "monolithic, pairwise" in err
    code, _, err = run("criteria", str(house.folder), "--judges", "nobody")
    assert code == 2 and "nobody" in err and "scripted-judge" in err
    house.configure({"other": {"generator": "none"}})
    (house.workspace.config_dir / "criteria.yaml").write_text("configurations: {other: {generator: none}}\n", "utf-8")
    code, _, err = run("criteria", str(house.folder))
    assert code == 2 and "lists no configurations of it under run" in " ".join(err.split())
    assert "--configurations" in nothing_to_run({"j": "why"}) and "judges.yaml" in nothing_to_run({})


def test_judges_run_what_the_file_lists_in_its_order_and_reward_models_nothing(checkout: Path) -> None:
    workspace = Workspace.find({}, checkout)
    asked, without = configurations_to_run(workspace, ["gemma-4-31b", "gpt-5", "pairrm"], None)
    assert asked == {"gemma-4-31b": ("monolithic", "full-self", "full")}
    assert "under run" in without["gpt-5"] and "answers no questions" in without["pairrm"]
    asked, _ = configurations_to_run(workspace, ["gpt-5"], "full, monolithic")
    assert asked == {"gpt-5": ("monolithic", "full")}


def test_without_stored_answers_pairs_have_as_many_criteria_as_the_paper_counts() -> None:
    plain = Configuration(refinement="rrd")
    of_stage = expected_calls(plain, 3785, "generation").of_stage
    assert round(CRITERIA_A_PAIR * 3785) == 75_177 and round(of_stage["decomposition"]) == 16_795
    ties = of_stage["decomposition"] / (CRITERIA_A_PAIR * 3785)
    assert abs(ties - 0.241) < 0.03, "Tables 6 and 7 speak of the same criteria"


def test_expected_calls_follow_the_configuration() -> None:
    full, mono = Configuration(), Configuration(generator="none", refinement="none")
    assert expected_calls(mono, 100, "monolithic").n_calls == 0
    known = expected_calls(full, 100, "generation")
    assert known.of_stage["pairwise_verdicts"] == 200 and known.of_stage["final"] == 100 and not known.measured
    assert 100 < known.of_stage["decomposition"] < 110 and "generation" not in known.of_stage
    one_order = expected_calls(full.model_copy(update={"swap_filter": False}), 100, "generation")
    assert one_order.of_stage["pairwise_verdicts"] == 100
    one_by_one = Configuration(criteria_per_call="one", refinement="none")
    assert expected_calls(one_by_one, 10, "generation").of_stage["pairwise_verdicts"] == 2 * 10 * CRITERIA_A_PAIR
    assert expected_calls(one_by_one, 10, "generation", 4.0).of_stage["pairwise_verdicts"] == 2 * 10 * 4
    few = Configuration(criteria_per_call="one", refinement="none", max_criteria=3)
    assert expected_calls(few, 10, "generation").of_stage["pairwise_verdicts"] == 2 * 10 * 3
    weighed = Configuration(
        criterion_judge="pointwise", refinement="none", swap_filter=False, aggregator="llm_weights",
        generator="weighted", improve=True,
    )  # fmt: skip
    assert list(expected_calls(weighed, 1, "generation").of_stage) == ["improvement", "pointwise_answers", "weights"]
    assert "nothing comes after" in expected_calls(mono, 1, "monolithic").in_words()


@pytest.mark.slow
def test_the_demo_says_that_its_judge_is_no_model_and_what_it_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    file = tmp_path / "criteria.yaml"
    text = "run: {scripted-judge: [monolithic]}\nconfigurations: {monolithic: {generator: none}}\nresamples: 100\n"
    file.write_text(text, encoding="utf-8")
    monkeypatch.setattr(criteria_demo, "_CONFIGURATIONS", file)
    monkeypatch.setenv("COLUMNS", "120")
    code, out, err = run("demo", "--criteria", "--out", str(tmp_path))
    assert code == 0, err
    words = " ".join(out.split())
    assert "It is no model" in words and "Chosen by: a stated rule; no person chose" in words
    assert "floor: always A 0.500" in words and "Asked in this run: 96 requests." in words
    there = tmp_path / "criteria-demo"
    report = there / "reports" / "sample-pairs" / "criteria_report.html"
    assert report.is_file() and "sample-pairs/criteria_report.html" in (there / "reports" / "index.html").read_text()

    monkeypatch.setenv("JUDGE_PIPELINE_HOME", str(there))
    monkeypatch.setenv("JUDGE_PIPELINE_OUT", str(there))
    assert f"JUDGE_PIPELINE_HOME={there} JUDGE_PIPELINE_OUT={there} judge-pipeline ui" in out
    _, status, _ = run("status")
    assert "judged criterion by criterion alone" in status and f"Criterion by criterion: {report}" in status
