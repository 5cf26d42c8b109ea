from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from judge_pipeline import tables
from judge_pipeline.cocreation.evaluation import judge_metrics
from judge_pipeline.cocreation.judge_curves import judge_curves
from judge_pipeline.cocreation.judge_differences import judge_differences
from judge_pipeline.estimate import Estimate
from judge_pipeline.report.cautions import Statement, cautions
from judge_pipeline.report.cocreation_report import without_skill
from judge_pipeline.report.findings import findings
from judge_pipeline.report.inputs import CocreationReportInput
from judge_pipeline.statistics.intervals import estimate_with_interval
from judge_pipeline_tests.report.made_tables import MANY_JUDGES, Made, empty_tables, made_tables


def metrics(figures: dict[str, dict[str, Estimate]]) -> pd.DataFrame:
    return tables.JUDGE_METRICS.conform(
        [
            {"judge": judge, "metric": name, "split": "test", **estimate.to_row()}
            for judge, found in figures.items()
            for name, estimate in found.items()
        ]
    )


def auc(value: float, low: float, high: float) -> dict[str, Estimate]:
    return {"roc_auc": Estimate(value, 36, 0, (low, high))}


def with_metrics(figures: dict[str, dict[str, Estimate]]) -> CocreationReportInput:
    judges = tuple(figures)
    return replace(made_tables(Made(judges=judges, participants=20)), judge_metrics=metrics(figures))


def told(statements: list[Statement], start: str) -> str:
    (found,) = [f"{s.lead}. {s.text}" for s in statements if s.lead.startswith(start)]
    return found


def test_no_judge_is_told_from_chance() -> None:
    text = told(findings(with_metrics({"a": auc(0.59, 0.4, 0.78), "b": auc(0.43, 0.2, 0.6)})), "No judge is dist")
    assert "No judge is distinguishable from chance at this n" in text
    assert "Each of the 2 95% intervals of ROC-AUC contains 0.5 (n = 36 test attempts in 20 trajectories)" in text


def test_an_interval_that_touches_one_half_contains_it() -> None:
    assert told(findings(with_metrics({"a": auc(0.7, 0.5, 0.9)})), "The one judge is not distinguishable")


def test_better_and_worse_than_chance_are_named_with_their_figures() -> None:
    given = {"a": auc(0.8, 0.7, 0.9), "b": auc(0.5, 0.3, 0.7), "c": auc(0.2, 0.1, 0.3), "d": auc(0.9, 0.8, 1.0)}
    text = told(findings(with_metrics(given)), "2 of 4 judges rank attempts better")
    assert "better than chance: d 0.900 [0.80, 1.00], a 0.800 [0.70, 0.90]" in text
    assert "worse than chance: c 0.200 [0.10, 0.30]" in text
    assert "For the other, the interval contains 0.5" in text


def test_only_worse_than_chance_is_not_called_better() -> None:
    text = told(findings(with_metrics({"a": auc(0.2, 0.1, 0.3)})), "No judge ranks")
    assert "1 of 1 worse" in text


def test_undefined_for_all_gives_the_reason() -> None:
    given = with_metrics({"a": {"roc_auc": Estimate.undefined("one class on test", 12)}})
    assert "one class on test" in told(findings(given), "Chance cannot be tested")


def test_values_without_intervals_claim_nothing() -> None:
    given = with_metrics({"a": {"roc_auc": Estimate(0.99, 36)}})
    assert "No ROC-AUC has an interval" in told(findings(given), "Chance cannot be tested")


@pytest.mark.parametrize(
    ("best", "said"),
    [
        (auc(0.95, 0.9, 1.0), "The intervals do not overlap."),
        (auc(0.8, 0.6, 0.95), "The intervals overlap: these data do not settle"),
        (auc(0.6, 0.4, 0.8), "No judge is above the baseline."),
    ],
)
def test_the_best_judge_is_set_beside_the_baseline(best: dict[str, Estimate], said: str) -> None:
    text = told(findings(with_metrics({"baseline-text": auc(0.7, 0.5, 0.85), "a": best})), "Best judge beside")
    assert said in text
    assert "baseline-text has 0.700 [0.50, 0.85] (n = 36)" in text


def test_without_a_baseline_it_says_so() -> None:
    assert "No baseline has an ROC-AUC" in told(findings(with_metrics({"a": auc(0.7, 0.5, 0.9)})), "Baseline")


def test_probabilities_are_set_against_the_constant_answer() -> None:
    made = made_tables(Made(judges=("a", "b"), participants=20))
    bins = made.judge_curves[made.judge_curves["curve"] == "reliability"]
    own = bins[bins["judge"] == "a"]
    share = float((own["y"] * own["n"]).sum() / own["n"].sum())
    floor = share * (1 - share)

    def brier(value: float, high: float) -> dict[str, Estimate]:
        return {"brier": Estimate(value, 36, 0, (0.0, high))}

    below = replace(made, judge_metrics=metrics({"a": brier(floor - 0.05, floor - 0.01), "b": brier(0.9, 1.0)}))
    text = told(findings(below), "1 of 2 judges' probabilities beat a constant")
    assert f"Brier score {floor:.3f}" in text
    assert "The whole 95% interval lies below it for a." in text
    none = replace(made, judge_metrics=metrics({"a": brier(floor + 0.01, 1.0), "b": brier(0.9, 1.0)}))
    assert told(findings(none), "No judge's probabilities beat a constant")


def test_the_constant_is_the_one_that_the_differences_were_tested_against() -> None:
    # By hand: val accepts 2 of 10, test 2 of 4. The constant 0.2 has (2 x 0.64 + 2 x 0.04) / 4 = 0.34 on test; test's
    # own share has 0.25. Judge a has (4 x 0.09) = 0.09, b lies between the two levels with 0.30: lower than the
    # constant that could be given beforehand, and that is what its difference of -0.04 says.
    labels = {"val": [1, 1] + [0] * 8, "test": [1, 1, 0, 0]}
    answers = {"a": {"val": [0.7, 0.7] + [0.3] * 8, "test": [0.7, 0.7, 0.3, 0.3]}}
    of_b = np.sqrt(0.3)
    answers["b"] = {"val": [0.5] * 10, "test": [1 - of_b, 1 - of_b, of_b, of_b]}
    rows = [
        {"attempt_id": f"{split}-{i}", "judge": judge, "p_ac": p, "y": y, "split": split, "participant": f"{split}{i}",
         "problem_id": "P"}
        for judge, splits in answers.items()
        for split, given in splits.items()
        for i, (p, y) in enumerate(zip(given, labels[split], strict=True))
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    made = replace(
        made_tables(Made(judges=("a", "b"), participants=20)),
        judge_metrics=judge_metrics(frame, seed=0, n_resamples=200),
        judge_curves=judge_curves(frame, seed=0, n_resamples=200),
        judge_differences=judge_differences(frame, seed=0, n_resamples=200),
    )
    text = told(findings(made), "No judge's probabilities are shown to beat a constant")
    assert "Lower than a constant answer at the accepted share of val (Brier score 0.340 on test, n = 4" in text
    assert "a 0.090" in text and "b 0.300" in text
    assert without_skill(made) == {"pr_auc": 0.5, "brier": pytest.approx(0.34, abs=1e-12)}
    earlier = replace(made, judge_differences=None)
    text = told(findings(earlier), "1 of 2 judges' probabilities beat a constant")
    assert "at the accepted share of test (Brier score 0.250 on test, n = 4" in text
    assert without_skill(earlier) == {"pr_auc": 0.5, "brier": 0.25}


def test_agreement_is_worded_by_its_interval() -> None:
    def agreement(low: float, high: float, n_clusters: int = 18) -> pd.DataFrame:
        replicates = np.array([low, high] * 50)
        reason = estimate_with_interval(low, replicates, n=36, n_left_out=0, n_clusters=n_clusters).reason
        middle = Estimate((low + high) / 2, 36, 0, (low, high), reason).to_row()
        rows = [
            {"statistic": s, "rated": "decision", "judge_1": None, "judge_2": None, **middle}
            for s in ("fleiss", "mean_cohen")
        ]
        return tables.JUDGE_AGREEMENT.conform(rows)

    made = made_tables(Made(judges=("a", "b"), participants=20))
    for interval, lead in (
        ((0.1, 0.3), "Judges agree more than chance"),
        ((-0.3, -0.1), "Judges agree less than chance"),
        ((-0.1, 0.3), "Agreement beyond chance is not shown"),
    ):
        text = told(findings(replace(made, judge_agreement=agreement(*interval))), lead)
        assert f"[{interval[0]:.2f}, {interval[1]:.2f}]" in text
        assert "n = 36" in text
    told(findings(replace(made, judge_agreement=agreement(0.1, 0.3, n_clusters=3))), "Agreement between judges")


def test_success_is_told_in_the_papers_numbers() -> None:
    rows = [{"turn": k, "n_solved": n, **Estimate(n / 184, 184).to_row()} for k, n in ((1, 157), (4, 158), (6, 159))]
    given = replace(empty_tables(), success_at_turn=tables.SUCCESS_AT_TURN.conform(rows))
    text = told(findings(given), "How people got there")
    assert "Of 184 trajectories, 157 were solved by turn 1: 85.3% and 159 were solved by turn 6: 86.4%" in text


def test_every_caution_that_applies_is_given() -> None:
    quarantine = [{"kind": "prompts", "path": "p/E001/x.json", "place": None, "reason": "r", "remedy": "m"}]
    made = made_tables(
        Made(judges=MANY_JUDGES, unverified={"gpt-5.2": "OPENAI_API_KEY is not set"}, quarantine=quarantine)
    )
    found = cautions(made, "A note.")
    assert [s.lead for s in found] == [
        "Note on these data", "1 of 12 judges without judgments", "Simulated judges", "Embedded judge", "Small numbers",
        "Data set aside",
    ]  # fmt: skip
    assert "gpt-5.2: OPENAI_API_KEY is not set" in told(found, "1 of 12")
    assert "simulated-sharp" in told(found, "Simulated")
    assert "does not judge" in told(found, "Embedded")
    assert "12 test trajectories" in told(found, "Small")


def test_the_order_check_fires_only_where_most_rejections_follow() -> None:
    made = made_tables()
    before = int(made.trajectories["n_rejected_before_first_ac"].sum())
    assert before > 0

    def leads(after: int) -> list[str]:
        counts = [after] + [0] * (len(made.trajectories) - 1)
        changed = made.trajectories.assign(n_rejected_after_first_ac=pd.array(counts, dtype="Int64"))
        return [s.lead for s in cautions(replace(made, trajectories=changed))]

    assert "Order of turns in doubt" not in leads(before)
    assert "Order of turns in doubt" in leads(before + 1)


def test_one_class_and_undecided_attempts_are_cautions() -> None:
    made = made_tables(Made(one_class=True))
    undecided = made.trajectories.assign(n_undecided=pd.array([1] * len(made.trajectories), dtype="Int64"))
    found = cautions(replace(made, trajectories=undecided))
    assert "Every judged test attempt is accepted" in told(found, "One class on test")
    assert "120 attempt(s)" in told(found, "Attempts without a verdict")


def test_figures_of_an_unverified_judge_are_said_to_be_marked() -> None:
    made = made_tables()
    coverage = made.judge_coverage.assign(
        status=["unverified" if j == "simulated-sharp" else "verified" for j in made.judge_coverage["judge"]]
    )
    assert "figures of simulated-sharp are shown and marked" in told(
        cautions(replace(made, judge_coverage=coverage)), "1 of 5"
    )


def test_a_judge_without_a_figure_is_not_warned_about_as_simulated_or_embedded() -> None:
    made = Made()
    found = cautions(made_tables(replace(made, unverified=dict.fromkeys(made.judges, "not run"))))
    assert [s.lead for s in found] == ["No judge has judged"]
