"""judge-pipeline compare as CI runs it: its exit code, what it prints; once as a process of its own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from judge_pipeline.cli.comparison_output import version_lines
from judge_pipeline.cli.main import main
from judge_pipeline.cocreation.difference_rows import TESTED
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import JUDGE_OUTPUTS, PREDICTIONS
from judge_pipeline_tests.cocreation import scored_judges


class Ended(NamedTuple):
    returncode: int | str | None
    stdout: str
    stderr: str


def compare(*arguments: str | Path, cwd: Path | None = None) -> Ended:
    """The command in this process, which spares each call the seconds that starting one takes."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name in [name for name in os.environ if name.startswith("JUDGE_PIPELINE")]:
            patch.delenv(name)
        patch.setenv("COLUMNS", "80")
        patch.chdir(cwd or Path.cwd())
        patch.setattr(sys, "argv", ["judge-pipeline", "compare", *map(str, arguments), "--resamples", "200"])
        with pytest.raises(SystemExit) as ended:
            main()
    return Ended(ended.value.code, out.getvalue(), err.getvalue())


def compare_in_a_process(*arguments: str | Path) -> Ended:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JUDGE_PIPELINE")}
    done = subprocess.run(
        [sys.executable, "-m", "judge_pipeline.cli.main", "compare", *map(str, arguments), "--resamples", "200"],
        env={**environment, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def figures(*arguments: str | Path) -> dict[str, Any]:
    done = compare(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout, parse_constant=lambda name: pytest.fail(f"{name} is not strict JSON"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run, the same with noise over it, the same without one judge, and one without accepted attempts of test."""
    folder = tmp_path_factory.mktemp("runs")
    good = scored_judges.simulated(3, n_groups=100)
    rng = np.random.default_rng(0)
    tables = {
        "good": good.assign(cost_usd=0.01),
        "bad": good.assign(p_ac=np.clip(good["p_ac"] + rng.normal(0, 0.6, len(good)), 0, 1), cost_usd=0.02),
        "fewer": good[good["judge"] != "c"],
        "rejected": good.assign(y=np.where(good["split"] == "test", 0, good["y"])),
    }
    files = {name: folder / f"{name}.csv" for name in tables}
    for name, table in tables.items():
        table.to_csv(files[name], index=False)
    return files


@pytest.mark.slow
def test_the_exit_code_says_whether_a_figure_dropped(runs: dict[str, Path]) -> None:
    good, bad = runs["good"], runs["bad"]
    dropped = compare(good, bad, "--fail-on-drop")
    assert dropped.returncode == 3, dropped.stderr
    assert "Dropped: a: ROC-AUC" in dropped.stdout
    assert compare(bad, good, "--fail-on-drop").returncode == 0
    assert compare(good, good, "--fail-on-drop").returncode == 0
    # Without the option the same drop is told and does not fail.
    told = compare(good, bad)
    assert told.returncode == 0
    assert "Dropped: a: ROC-AUC" in told.stdout


@pytest.mark.slow
def test_a_process_of_its_own_ends_with_the_same_code_and_words(runs: dict[str, Path], tmp_path: Path) -> None:
    for new, code in ((runs["bad"], 3), (runs["fewer"], 4), (tmp_path / "nothing.csv", 2)):
        ended = compare_in_a_process(runs["good"], new, "--fail-on-drop")
        assert ended.returncode == code
        here = compare(runs["good"], new, "--fail-on-drop")
        assert ended[:2] == here[:2]
        assert ended.stderr.splitlines()[-1:] == here.stderr.splitlines()[-1:], "above it is the name of the program"


@pytest.mark.slow
def test_metrics_and_margin_narrow_what_fails(runs: dict[str, Path]) -> None:
    good, bad = runs["good"], runs["bad"]
    assert compare(good, bad, "--fail-on-drop", "--metric", "roc_auc", "--margin", "1").returncode == 0
    assert compare(good, bad, "--fail-on-drop", "--metric", "roc_auc").returncode == 3
    assert compare(good, bad, "--fail-on-drop", "--metric", "mean_cost_usd").returncode == 3
    assert compare(good, bad, "--metric", "threshold").returncode == 2


@pytest.mark.slow
def test_what_cannot_be_compared_is_no_silent_pass(runs: dict[str, Path]) -> None:
    undefined = compare(runs["rejected"], runs["rejected"], "--fail-on-drop")
    assert undefined.returncode == 4
    assert "Not compared: a: ROC-AUC" in undefined.stdout
    assert compare(runs["rejected"], runs["rejected"], "--fail-on-drop", "--allow-undefined").returncode == 0
    missing = compare(runs["good"], runs["fewer"], "--fail-on-drop")
    assert missing.returncode == 4
    assert "c is in OLD and not in NEW" in missing.stdout
    assert compare(runs["good"], runs["fewer"], "--fail-on-drop", "--pair", "a", "a").returncode == 0
    # A figure that no run holds was asked for: told, too.
    assert compare(runs["fewer"], runs["fewer"], "--fail-on-drop", "--metric", "mean_latency_ms").returncode == 4


def test_a_drop_outweighs_what_cannot_be_compared(runs: dict[str, Path]) -> None:
    found = compare(runs["good"], runs["bad"], "--fail-on-drop", "--metric", "brier", "--metric", "mean_latency_ms")
    assert found.returncode == 3


def test_faults_of_data_and_of_the_command_have_their_own_codes(runs: dict[str, Path], tmp_path: Path) -> None:
    broken = pd.read_csv(runs["good"]).assign(p_ac=1.5)
    broken.to_csv(tmp_path / "broken.csv", index=False)
    found = compare(runs["good"], tmp_path / "broken.csv", "--fail-on-drop")
    assert found.returncode == 1
    assert "row 1 (line 2): 1.5" in found.stderr
    assert "Traceback" not in found.stderr
    flipped = pd.read_csv(runs["good"]).assign(y=lambda run: 1 - run["y"])
    flipped.to_csv(tmp_path / "flipped.csv", index=False)
    found = compare(runs["good"], tmp_path / "flipped.csv")
    assert found.returncode == 1
    assert "has y" in found.stderr
    assert compare(runs["good"], tmp_path / "nothing.csv").returncode == 2
    assert compare(runs["good"]).returncode == 2
    assert compare(runs["good"], runs["good"], "--pair", "a", "nobody").returncode == 1


def test_the_json_holds_all_of_it(runs: dict[str, Path]) -> None:
    found = figures(runs["good"], runs["bad"])
    assert list(found) == ["provenance", "pairs", "only_in_old", "only_in_new", "n_labels_filled", "gate"]
    assert found["provenance"]["seed"] == 0
    assert found["provenance"]["resamples"] == 200
    assert len({side["sha256"] for side in found["provenance"]["inputs"].values()}) == 2
    assert [pair["old"] for pair in found["pairs"]] == ["a", "b", "c"]
    pair = found["pairs"][0]
    auc = pair["figures"]["roc_auc"]
    assert auc["difference"]["value"] == pytest.approx(auc["new"]["value"] - auc["old"]["value"], abs=1e-12)
    assert set(pair["agreement"]) == {"cohen", "raw_agreement", "bias_index"}
    assert pair["figures"]["mean_cost_usd"]["difference"]["value"] == pytest.approx(0.01)
    assert len(pair["flips"]) == round(
        (1 - pair["agreement"]["raw_agreement"]["value"]) * pair["attempts"]["test"]["n_labelled"]
    )
    assert found["gate"]["metrics"] == list(TESTED)
    assert {"old": "a", "new": "a", "metric": "roc_auc"} in found["gate"]["drops"]


def test_two_judges_of_one_run_are_compared_by_pair(runs: dict[str, Path]) -> None:
    found = figures(runs["good"], runs["good"], "--pair", "a", "b", "--pair", "b", "a")
    first, second = (pair["figures"]["brier"]["difference"]["value"] for pair in found["pairs"])
    assert first == pytest.approx(-second, abs=1e-12)


def test_people_get_lines_that_fit_a_terminal(runs: dict[str, Path]) -> None:
    found = compare(runs["good"], runs["bad"])
    assert max(map(len, found.stdout.splitlines())) <= 80
    assert "Agreement of old and new decisions" in found.stdout
    assert "right before and wrong now" in found.stdout


@pytest.mark.slow
def test_output_folders_and_contests_are_compared_with_what_answers_cost(runs: dict[str, Path], tmp_path: Path) -> None:
    for name in ("good", "bad"):
        lay_store(tmp_path / name, pd.read_csv(runs[name], float_precision="round_trip"))
    found = figures(tmp_path / "good" / "var", tmp_path / "bad")
    from_files = figures(runs["good"], runs["bad"])
    stored = {name: of for name, of in found["pairs"][0]["figures"].items() if name != "mean_latency_ms"}
    assert stored == from_files["pairs"][0]["figures"]
    assert found["pairs"][0]["figures"]["mean_latency_ms"]["old"]["value"] == pytest.approx(100)
    (tmp_path / "good" / "assets_config").mkdir()
    (tmp_path / "good" / "assets_config" / "judges.yaml").write_text("judges: {a: {backend: baseline}}\n")
    by_name = compare("mini", "mini", "--fail-on-drop", cwd=tmp_path / "good")
    assert by_name.returncode == 0, by_name.stderr
    assert compare("no-contest", "mini", cwd=tmp_path / "good").returncode == 2
    assert compare(tmp_path / "good", tmp_path / "bad", "--contest", "other").returncode == 2


def lay_store(home: Path, run: pd.DataFrame) -> None:
    """A run's tables as ``judge-pipeline run`` leaves them in var/."""
    store = store_of(Workspace(home / "assets_config", home / "data", home / "var"))
    rows = run.assign(turn=1, language=None, verdict=run["y"].map({1: "AC", 0: "WA"}), rationale=None, request_hash="0")
    store.write(PREDICTIONS, rows[PREDICTIONS.column_names], "mini")
    for judge, mine in rows.groupby("judge"):
        outputs = mine.assign(
            model="m", repair=None, n_tries=1, latency_ms=100.0, tokens_in=1, tokens_out=1, error=None
        )
        store.write(JUDGE_OUTPUTS, outputs[JUDGE_OUTPUTS.column_names], "mini", str(judge))


def test_versions_that_differ_in_a_parameter_only_are_told_apart() -> None:
    old = {"model": "m-1", "prompt_sha256": "a" * 64, "asked_with": '{"parameters":{"temperature":0}}'}
    new = old | {"asked_with": '{"parameters":{"temperature":1}}'}
    assert version_lines(old, new) == ["Asked with: temperature = 0 -> temperature = 1"]
    assert version_lines(old, old) == version_lines(None, None) == []
    assert version_lines(None, old | {"model": None, "asked_with": None}) == [
        "Prompt (sha256): not known -> aaaaaaaaaaaa"
    ]
