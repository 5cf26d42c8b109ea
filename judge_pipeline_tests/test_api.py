"""The Python API gives what the command line gives, and costs nothing until it is used."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import judge_pipeline
from judge_pipeline import (
    Estimate,
    PredictionError,
    acceptance_rates,
    agreement,
    calibrate,
    compare_judges,
    estimate_of,
    evaluate_attempts,
    read_predictions,
)
from judge_pipeline.cli.compare import compare
from judge_pipeline.cli.evaluate import evaluate
from judge_pipeline_tests.cocreation import scored_judges

N = 100


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return scored_judges.simulated(3, n_groups=80)


@pytest.fixture(scope="module")
def file(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("api") / "predictions.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.slow
def test_the_figures_are_those_of_the_command_line(frame: pd.DataFrame, file: Path) -> None:
    done = CliRunner().invoke(evaluate, ["attempts", str(file), "--json", "--seed", "7", "--resamples", str(N)])
    printed = json.loads(done.stdout)
    printed.pop("provenance")
    for predictions in (frame, read_predictions(file), frame.rename(columns={"problem_id": "problem"})):
        assert evaluate_attempts(predictions, seed=7, n_resamples=N).to_json() == printed
    # An order of rows and an index of one's own change nothing.
    shuffled = frame.sample(frac=1, random_state=1).set_index(pd.Index(range(1000, 1000 + len(frame))))
    assert evaluate_attempts(shuffled, seed=7, n_resamples=N).to_json() == printed


def test_the_single_functions_give_the_same_tables(frame: pd.DataFrame) -> None:
    found = evaluate_attempts(frame, seed=7, n_resamples=N)
    pd.testing.assert_frame_equal(agreement(frame, seed=7, n_resamples=N), found.to_frame("judge_agreement"))
    pd.testing.assert_frame_equal(acceptance_rates(frame, seed=7, n_resamples=N), found.to_frame("acceptance_rates"))
    calibration = calibrate(frame, seed=7, n_resamples=N)
    pd.testing.assert_frame_equal(calibration.to_frame(), found.to_frame("judge_calibration"))
    pd.testing.assert_frame_equal(calibration.maps, found.to_frame("judge_calibration_maps"))


def test_a_comparison_is_that_of_the_command_line(frame: pd.DataFrame, file: Path) -> None:
    arguments = [str(file), str(file), "--pair", "a", "b", "--json", "--seed", "7", "--resamples", str(N)]
    printed = json.loads(CliRunner().invoke(compare, arguments).stdout)["pairs"][0]["figures"]
    rows = compare_judges(frame, pairs=[("a", "b")], seed=7, n_resamples=N).differences
    assert list(rows["metric"]) == list(printed)
    for _, row in rows.iterrows():
        assert estimate_of(row).to_json() == printed[row["metric"]]["difference"]
    with pytest.raises(ValueError, match="or pairs"):
        compare_judges(frame)


def test_estimates_are_objects(frame: pd.DataFrame) -> None:
    found = evaluate_attempts(frame, n_resamples=N)
    auc = found.estimate("a", "roc_auc")
    assert isinstance(auc, Estimate)
    row = found.to_frame().query("judge == 'a' and metric == 'roc_auc'").iloc[0]
    assert estimate_of(row) == auc
    assert auc.ci95 is not None
    assert auc.ci95[0] < auc.value < auc.ci95[1]
    nobody = evaluate_attempts(frame.assign(y=0), n_resamples=N).estimate("a", "roc_auc")
    assert nobody.value is None
    assert nobody.reason
    for judge, metric in (("nobody", "roc_auc"), ("a", "nothing")):
        with pytest.raises(KeyError, match="judges: a, b, c"):
            found.estimate(judge, metric)
    with pytest.raises(KeyError, match="judge_metrics, judge_differences"):
        found.to_frame("nothing")


def test_a_frame_that_is_given_stays_as_it_was(frame: pd.DataFrame) -> None:
    before = frame.copy(deep=True)
    found = evaluate_attempts(frame, n_resamples=N)
    pd.testing.assert_frame_equal(frame, before)
    mine = found.to_frame()
    mine["value"] = 0.0
    assert (found.to_frame()["value"] != 0).any()


def test_ids_may_be_numbers_and_labels_truth_values(frame: pd.DataFrame) -> None:
    numbered = frame.assign(attempt_id=pd.factorize(frame["attempt_id"])[0] + 100)
    texts = numbered.assign(attempt_id=numbered["attempt_id"].astype(str))
    expected = evaluate_attempts(texts, n_resamples=N).to_json()
    assert evaluate_attempts(numbered, n_resamples=N).to_json() == expected
    assert evaluate_attempts(texts.assign(y=texts["y"].astype(bool)), n_resamples=N).to_json() == expected


def test_what_cannot_be_right_is_refused_with_its_place(frame: pd.DataFrame) -> None:
    wrong = frame.copy()
    wrong.loc[4, "p_ac"] = 1.5
    for function in (evaluate_attempts, agreement, calibrate, acceptance_rates):
        with pytest.raises(PredictionError, match=r"p_ac is outside \[0, 1\] in 1 row\(s\): row 4: 1.5"):
            function(wrong)
    with pytest.raises(TypeError, match="must be a pandas DataFrame"):
        evaluate_attempts([1, 2])  # type: ignore[arg-type]
    with pytest.raises(PredictionError, match="both a column problem"):
        evaluate_attempts(frame.assign(problem="P"))


def test_a_fitted_map_is_applied_to_new_probabilities(frame: pd.DataFrame) -> None:
    found = calibrate(frame, n_resamples=N)
    mine = frame.query("judge == 'a' and split == 'test'")
    for name in ("platt", "beta", "temperature", "isotonic"):
        after = found.apply("a", name, mine["p_ac"])
        brier = ((after - mine["y"]) ** 2).mean()
        row = found.figures.query(f"judge == 'a' and map == '{name}' and metric == 'brier' and quantity == 'value'")
        assert row["value"].item() == pytest.approx(brier, abs=1e-12)
    assert np.isnan(found.apply("a", "platt", [[np.nan], [0.5]])).tolist() == [[True], [False]]
    with pytest.raises(ValueError, match="must lie in"):
        found.apply("a", "platt", [1.2])
    with pytest.raises(KeyError, match="nobody"):
        found.apply("nobody", "platt", [0.2])
    few = calibrate(frame[frame["split"] == "test"], n_resamples=N)
    with pytest.raises(ValueError, match="could not be fitted"):
        few.apply("a", "platt", [0.2])


def test_reading_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no file of predictions"):
        read_predictions(tmp_path / "nothing.csv")
    (tmp_path / "p.csv").write_text("attempt_id,judge,p_ac,y,split\n1,a,high,1,test\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"row 1 \(line 2\): p_ac is 'high'"):
        read_predictions(tmp_path / "p.csv")


@pytest.mark.slow
def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, judge_pipeline; heavy = {'pandas', 'numpy', 'dagster', 'scipy', 'click'} & set(sys.modules); "
        "assert not heavy, heavy; assert 'calibrate' in dir(judge_pipeline); "
        "from judge_pipeline import calibrate; assert not {'dagster', 'litellm', 'plotly'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_public_name_is_there_and_explains_itself() -> None:
    from judge_pipeline import api

    assert judge_pipeline.__all__ == api.__all__
    for name in judge_pipeline.__all__:
        assert getattr(judge_pipeline, name) is getattr(api, name)
        assert len(getattr(judge_pipeline, name).__doc__) > 40, name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        judge_pipeline.nothing  # noqa: B018


@pytest.mark.parametrize("name", ["p_ac", "judge"])
def test_a_column_that_is_there_twice_is_named(name: str) -> None:
    frame = pd.DataFrame({"attempt_id": ["a"], "judge": ["J"], "p_ac": [0.5], "y": [1], "split": ["test"]})
    with pytest.raises(PredictionError, match=f"more than one column {name}. Remedy: keep one"):
        evaluate_attempts(pd.concat([frame, frame[[name]]], axis=1))
