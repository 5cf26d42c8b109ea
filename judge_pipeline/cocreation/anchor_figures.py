"""Whether a judge drifts: its figures on the anchor set in each period, and their paired change since the first."""

from __future__ import annotations

from typing import Any

import pandas as pd

from judge_pipeline.cocreation.evaluation import judge_metrics
from judge_pipeline.cocreation.run_comparison import compare_runs
from judge_pipeline.statistics.bootstrap import N_RESAMPLES
from judge_pipeline.statistics.intervals import holm
from judge_pipeline.tables.anchors import ANCHOR_FIGURES, ANCHOR_METRICS

_ESTIMATE = ("value", "n", "n_left_out", "ci95_low", "ci95_high", "reason")


def anchor_figures(
    runs: pd.DataFrame, attempts: pd.DataFrame, *, seed: int, n_resamples: int = N_RESAMPLES
) -> pd.DataFrame:
    """The table ``anchor_figures``: values of each period, and changes since the judge's first period.

    The first is the first that was asked the same requests: after a change of the prompt, the model or its parameters
    the comparison begins anew, since what changes then is no drift.

    All attempts of the anchor set count as one test split; no threshold takes part. Changes are over the attempts that
    both periods answered, with intervals and p-values as in ``compare_runs``; Holm corrects over the five figures of a
    judge's period.

    Args:
        runs: table ANCHOR_RUNS, of any judges.
        attempts: table with attempt_id, participant, problem_id and y. Answers about other attempts are left out.
        seed: seed of the bootstrap.
        n_resamples: resamples behind each interval.
    """
    known = runs.merge(attempts[["attempt_id", "participant", "problem_id", "y"]], on="attempt_id", how="inner")
    rows: list[dict[str, Any]] = []
    for judge, of_judge in known.assign(split="test").groupby("judge", sort=True):
        periods = sorted(set(of_judge["period"]))
        of_period = {period: of_judge[of_judge["period"] == period] for period in periods}
        for period, mine in of_period.items():
            named = {"judge": str(judge), "period": period}
            rows += _values(named, mine, seed, n_resamples)
            first = next(each for each in periods if each == period or same_requests(of_period[each], mine))
            if first != period:
                rows += _changes(named, of_period[first], mine, seed, n_resamples)
    return ANCHOR_FIGURES.conform(rows)


def same_requests(first: pd.DataFrame, later: pd.DataFrame) -> bool:
    """Whether both answered something, and the same requests: another prompt or model is no drift."""
    hashes = [rows.dropna(subset="request_hash").set_index("attempt_id")["request_hash"] for rows in (first, later)]
    both = hashes[0].index.intersection(hashes[1].index)
    return len(both) > 0 and bool((hashes[0][both] == hashes[1][both]).all())


def _values(named: dict[str, Any], rows: pd.DataFrame, seed: int, n_resamples: int) -> list[dict[str, Any]]:
    metrics = judge_metrics(rows, seed=seed, n_resamples=n_resamples)
    metrics = metrics[metrics["metric"].isin(ANCHOR_METRICS)]
    return [
        {**named, "metric": row["metric"], "quantity": "value", **{name: row[name] for name in _ESTIMATE},
         "p_value": None, "p_holm": None}
        for row in metrics.to_dict("records")
    ]  # fmt: skip


def _changes(
    named: dict[str, Any], first: pd.DataFrame, later: pd.DataFrame, seed: int, n_resamples: int
) -> list[dict[str, Any]]:
    columns = ["attempt_id", "judge", "p_ac", "y", "split", "participant", "problem_id"]
    found = compare_runs(first[columns], later[columns], seed=seed, n_resamples=n_resamples).differences
    rows = [
        {**named, "metric": row["metric"], "quantity": "change", **{name: row[name] for name in _ESTIMATE},
         "p_value": None if pd.isna(row["p_value"]) else row["p_value"], "p_holm": None}
        for row in found[found["metric"].isin(ANCHOR_METRICS)].to_dict("records")
    ]  # fmt: skip
    tested = [row for row in rows if row["p_value"] is not None]
    for row, corrected in zip(tested, holm([row["p_value"] for row in tested]), strict=True):
        row["p_holm"] = corrected
    return rows
