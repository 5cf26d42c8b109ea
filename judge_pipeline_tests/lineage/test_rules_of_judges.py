"""What figures of judges rest on, where answers, labels and scores are missing, against the tables themselves."""

from __future__ import annotations

import random
from typing import Any

import pandas as pd
import pytest

from judge_pipeline.cocreation.acceptance_rates import acceptance_rates
from judge_pipeline.cocreation.calibrated import calibration_maps, judge_calibration
from judge_pipeline.cocreation.evaluation import judge_agreement, judge_curves, judge_metrics
from judge_pipeline.cocreation.judge_differences import judge_differences
from judge_pipeline.cocreation.judge_scores import judge_scores
from judge_pipeline.cocreation.panels import judge_panels, panel_weights
from judge_pipeline.lineage.basis import ALSO, COUNTED, LEFT_OUT, NO_LABEL, reconcile
from judge_pipeline.lineage.rules import basis_of
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import (
    ACCEPTANCE_RATES,
    JUDGE_AGREEMENT,
    JUDGE_CALIBRATION,
    JUDGE_CALIBRATION_MAPS,
    JUDGE_CURVES,
    JUDGE_DIFFERENCES,
    JUDGE_METRICS,
    JUDGE_PANEL_WEIGHTS,
    JUDGE_PANELS,
    JUDGE_SCORES,
    PREDICTIONS,
)
from judge_pipeline_tests.lineage.made_sources import plain_rows, sources_of, traced

FAST: Any = {"seed": 1, "n_resamples": 20}


def predictions(seed: int, judges: tuple[str, ...] = ("a", "b", "c")) -> pd.DataFrame:
    """Judges that leave out attempts and scores; some attempts have no label."""
    rng = random.Random(seed)
    rows = []
    for number in range(60):
        split = ("test", "val", "train")[number % 3]
        y = rng.choice([0, 1, 1, None])
        for judge in judges:
            if rng.random() < 0.8:
                rows.append(
                    dict.fromkeys(PREDICTIONS.column_names)
                    | {
                        "attempt_id": f"{number:016x}", "judge": judge, "participant": f"E{number // 6}",
                        "problem_id": f"p{number % 3}", "turn": number % 6 + 1, "verdict": "AC" if y else "WA", "y": y,
                        "split": split, "p_ac": round(rng.random(), 2), "s_algo": rng.choice([1, 3, 5, None]),
                        "s_robust": rng.choice([2, 4, None]), "request_hash": f"{judge}{number}",
                    }
                )  # fmt: skip
    return PREDICTIONS.conform(rows)


def tables(given: pd.DataFrame) -> dict[Table, pd.DataFrame]:
    maps, weights = calibration_maps(given), panel_weights(given)
    return {
        PREDICTIONS: given,
        JUDGE_METRICS: judge_metrics(given, **FAST),
        JUDGE_AGREEMENT: judge_agreement(given, **FAST),
        JUDGE_CURVES: judge_curves(given, **FAST),
        JUDGE_DIFFERENCES: judge_differences(given, **FAST),
        JUDGE_SCORES: judge_scores(given, **FAST),
        JUDGE_CALIBRATION_MAPS: maps,
        JUDGE_CALIBRATION: judge_calibration(given, maps, **FAST),
        JUDGE_PANEL_WEIGHTS: weights,
        JUDGE_PANELS: judge_panels(given, weights, **FAST),
        ACCEPTANCE_RATES: acceptance_rates(given, **FAST),
    }


@pytest.fixture(scope="module")
def made() -> dict[Table, pd.DataFrame]:
    return tables(predictions(3))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_the_rows_of_every_figure_add_up_to_its_n_whatever_is_missing(seed: int) -> None:
    found = tables(predictions(seed))
    sources = sources_of(found)
    for table, rows in found.items():
        if table is not PREDICTIONS:
            assert len(traced(sources, table, rows)) == len(rows) > 0, table.name


def test_with_a_single_judge_nothing_is_rated_by_two() -> None:
    found = tables(predictions(5, ("a",)))
    sources = sources_of(found)
    for table, rows in found.items():
        if table is not PREDICTIONS:
            traced(sources, table, rows)


def test_a_judge_s_figure_counts_the_labelled_attempts_of_its_split_that_it_answered(
    made: dict[Table, pd.DataFrame],
) -> None:
    given = made[PREDICTIONS]
    own = given[(given["judge"] == "b") & (given["split"] == "test")]
    wanted = set(own.loc[own["y"].notna(), "attempt_id"])
    everybody = set(given.loc[given["split"] == "test", "attempt_id"])
    found = [
        pair for pair in traced(sources_of(made), JUDGE_METRICS, made[JUDGE_METRICS]) if pair[0].row["judge"] == "b"
    ]
    by_metric = {figure.row["metric"]: basis for figure, basis in found}
    auc = by_metric["roc_auc"]
    assert set(auc.used["attempt_id"]) == wanted and auc.also == ()
    assert set(auc.left_out["attempt_id"]) == everybody - wanted
    unlabelled = set(given.loc[given["y"].isna(), "attempt_id"])
    whys = dict(zip(auc.left_out["attempt_id"], auc.left_out["why"], strict=True))
    assert {attempt for attempt, why in whys.items() if why == NO_LABEL} == (everybody - wanted) & unlabelled
    assert {why for why in whys.values() if why != NO_LABEL} == {"not answered by b"}

    on_val = set(given.loc[(given["judge"] == "b") & (given["split"] == "val") & given["y"].notna(), "attempt_id"])
    (chosen_on,) = by_metric["mcc_test"].also
    assert set(chosen_on.rows["attempt_id"]) == on_val == set(by_metric["threshold"].used["attempt_id"])
    assert [role for role, _, _ in by_metric["mcc_test"].parts()] == [COUNTED, ALSO, LEFT_OUT]


def test_figures_that_rest_on_the_same_rows_share_one_basis(made: dict[Table, pd.DataFrame]) -> None:
    found = traced(sources_of(made), JUDGE_METRICS, made[JUDGE_METRICS])
    bases = {basis for figure, basis in found if figure.row["judge"] == "a" and figure.row["split"] == "test"}
    assert len(bases) == 2, "one with val, where a threshold decides, and one without"


def test_a_table_that_is_not_of_these_predictions_is_told(made: dict[Table, pd.DataFrame]) -> None:
    fewer = made[PREDICTIONS]
    fewer = fewer[fewer["attempt_id"] != fewer["attempt_id"].iloc[0]].reset_index(drop=True)
    row = plain_rows(made[JUDGE_METRICS][made[JUDGE_METRICS]["metric"] == "roc_auc"])[0]
    basis = basis_of(sources_of({PREDICTIONS: fewer}), "judge_metrics", row)
    problem = reconcile(basis, row["n"], row["n_left_out"]).problem
    assert problem is not None and f"counts {row['n']} attempts, and {basis.n} are listed" in problem

    gone = basis_of(sources_of({PREDICTIONS: fewer[fewer["judge"] != row["judge"]]}), "judge_metrics", row)
    assert gone.unlisted is not None and "make the report again" in gone.unlisted
    nothing = basis_of(sources_of({}), "judge_metrics", row)
    assert nothing.unlisted == "table predictions is not there" and nothing.n == 0


def test_agreement_of_two_judges_rests_on_what_these_two_said_where_all_of_the_panel_answered(
    made: dict[Table, pd.DataFrame],
) -> None:
    sources = sources_of(made)
    given = made[PREDICTIONS].query("split == 'test'").dropna(subset=["y"])
    by_attempt = given.groupby("attempt_id")["judge"].agg(set)
    panel = {"a", "b", "c"}
    for figure, basis in traced(sources, JUDGE_AGREEMENT, made[JUDGE_AGREEMENT]):
        row, own = figure.row, figure.judges
        complete = row["rated"] == "decision" and row["statistic"] not in ("gwet_ac1", "krippendorff_nominal")
        alone = len(own) == 2 or (row["statistic"] == "prevalence" and own)
        assert set(basis.judges) == (own if alone else panel), figure.id
        assert set(basis.answered_too) == (panel - own if complete and alone else set()), figure.id
        if complete:
            assert set(basis.used["attempt_id"]) == set(by_attempt.index[by_attempt == panel])
    for figure, basis in traced(sources, JUDGE_DIFFERENCES, made[JUDGE_DIFFERENCES]):
        assert set(basis.judges) == (figure.judges or panel), figure.id
