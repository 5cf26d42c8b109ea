"""What figures of canaries, of anchors and of people who judged again rest on, against their tables."""

from __future__ import annotations

import random

import pandas as pd

from judge_pipeline.cocreation.anchor_figures import anchor_figures
from judge_pipeline.cocreation.canary_effects import canary_effects
from judge_pipeline.cocreation.evaluation import judge_metrics
from judge_pipeline.cocreation.rerating_agreement import rerating_agreement
from judge_pipeline.tables import (
    ANCHOR_FIGURES,
    ANCHOR_RUNS,
    ATTEMPTS,
    JUDGE_CANARIES,
    JUDGE_CANARY_EFFECTS,
    JUDGE_METRICS,
    PREDICTIONS,
    RERATING_AGREEMENT,
    RERATINGS,
)
from judge_pipeline_tests.lineage.made_sources import sources_of, traced
from judge_pipeline_tests.lineage.test_rules_of_judges import FAST, predictions


def attempts() -> pd.DataFrame:
    rng = random.Random(2)
    rows = [
        dict.fromkeys(ATTEMPTS.column_names)
        | {
            "attempt_id": f"{number:016x}", "participant": f"E{number // 6}", "problem_id": f"p{number % 3}",
            "turn": number % 6 + 1, "verdict": "AC", "y": rng.choice([0, 1, 1, None]), "order_source": "instant",
            "path": f"submissions/E{number // 6}/{number}.txt", "reader": "page",
        }
        for number in range(60)
    ]  # fmt: skip
    return ATTEMPTS.conform(rows)


def test_canaries_count_attempts_with_both_answers() -> None:
    rng = random.Random(4)
    rows = []
    for number in range(20):
        for injection, direction, place in (("control", "none", "comment"), ("plea", "up", "comment"),
                                            ("order", "down", "prompt_text")):  # fmt: skip
            moved = rng.choice([None, 0.2, -0.1, 0.0])
            rows.append(
                dict.fromkeys(JUDGE_CANARIES.column_names)
                | {
                    "attempt_id": f"{number:016x}", "judge": "a", "injection": injection, "family": "f",
                    "place": place, "direction": direction, "p_ac_clean": 0.5,
                    "p_ac_injected": None if moved is None else 0.5 + moved, "moved": moved, "n_chars": 9,
                    "n_chars_shown": 9, "reason": "no answer" if moved is None else None,
                }
            )  # fmt: skip
    canaries = JUDGE_CANARIES.conform(rows)
    given = predictions(3)
    for threshold in (0.55, None):
        metrics = judge_metrics(given, **FAST)
        metrics.loc[(metrics["judge"] == "a") & (metrics["metric"] == "threshold"), "value"] = threshold
        effects = canary_effects(canaries, attempts(), {"a": threshold}, {}, seed=1, n_resamples=20)
        sources = sources_of(
            {JUDGE_METRICS: JUDGE_METRICS.conform(metrics), PREDICTIONS: given, ATTEMPTS: attempts()},
            {(JUDGE_CANARIES, "a"): canaries},
        )
        found = traced(sources, JUDGE_CANARY_EFFECTS, effects)
        assert {figure.row["metric"] for figure, _ in found} >= {
            "mean_moved",
            "share_flipped",
            "mean_moved_less_control",
        }
        plea = {figure.row["metric"]: basis for figure, basis in found if figure.row["injection"] == "plea"}
        known = canaries[canaries["moved"].notna()]
        own = set(known.loc[known["injection"] == "plea", "attempt_id"])
        assert set(plea["mean_moved"].used["attempt_id"]) == own
        both = own & set(known.loc[known["injection"] == "control", "attempt_id"])
        assert set(plea["mean_moved_less_control"].used["attempt_id"]) == both


def test_anchors_count_what_a_period_or_both_answered() -> None:
    rng = random.Random(5)
    rows = [
        dict.fromkeys(ANCHOR_RUNS.column_names)
        | {
            "period": period, "judge": "a", "attempt_id": f"{number:016x}",
            "p_ac": None if rng.random() < 0.2 else round(rng.random(), 2),
            "request_hash": f"{'new' if period == '2026-W04' else 'old'}{number}",
        }
        for period in ("2026-W01", "2026-W02", "2026-W04")
        for number in range(30)
    ]  # fmt: skip
    runs = ANCHOR_RUNS.conform(rows)
    figures = anchor_figures(runs, attempts(), **FAST)
    sources = sources_of({ATTEMPTS: attempts()}, {(ANCHOR_RUNS, "a"): runs})
    found = traced(sources, ANCHOR_FIGURES, figures)
    changes = [figure for figure, _ in found if figure.row["quantity"] == "change"]
    assert {figure.row["period"] for figure in changes} == {"2026-W02"}, "another prompt begins anew"


def test_reratings_count_what_both_rated_on_the_last_sheet() -> None:
    rng = random.Random(6)
    rows = [
        {
            "sheet": sheet, "rater": rater, "item": f"{sheet}-{rater}-{number}", "attempt_id": f"{number:016x}",
            "accepted": rng.choice(["yes", "no", "unsure", None]), "s_algo": rng.choice([1, 4, None]),
            "s_robust": rng.choice([2, 5, None]), "note": None,
        }
        for sheet, numbers in (("s1", range(0, 25)), ("s2", range(20, 40)))
        for rater in ("ann", "bob")
        for number in numbers
    ]  # fmt: skip
    reratings, given = RERATINGS.conform(rows), predictions(3)
    metrics = judge_metrics(given, **FAST)
    chosen = metrics[metrics["metric"] == "threshold"]
    chosen = dict(zip(chosen["judge"], chosen["value"], strict=True)) | {"c": None}
    metrics.loc[(metrics["judge"] == "c") & (metrics["metric"] == "threshold"), "value"] = None
    agreement = rerating_agreement(reratings, given, attempts(), chosen, **FAST)
    sources = sources_of({RERATINGS: reratings, PREDICTIONS: given, ATTEMPTS: attempts(), JUDGE_METRICS: metrics})
    found = traced(sources, RERATING_AGREEMENT, agreement)
    assert {figure.row["against"] for figure, _ in found} == {"judge", "verdict", "person"}
    assert all(
        basis.n == 0 for figure, basis in found if figure.row["other"] == "c" and figure.row["rated"] == "decision"
    )
