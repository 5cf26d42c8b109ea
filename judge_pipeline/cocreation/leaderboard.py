"""Judges over all contests together: accuracy with intervals, cost, latency, and the ranks that the data leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.evaluation import judge_metrics
from judge_pipeline.cocreation.judge_differences import judge_differences
from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics.bootstrap import N_RESAMPLES
from judge_pipeline.tables import LEADERBOARD

ACCURACY = ("roc_auc", "mcc_test", "brier")
LOWER_IS_BETTER = ("brier",)
ALPHA = 0.05
"""Below this a p-value, corrected by Holm's method, counts as shown."""


def pooled(predictions: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The predictions of several contests as one table; a participant of one contest is nobody of another.

    Args:
        predictions: contest -> table PREDICTIONS.
    """
    parts = [
        table.assign(participant=f"{contest}/" + table["participant"], problem_id=f"{contest}/" + table["problem_id"])
        for contest, table in sorted(predictions.items())
        if len(table)
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def leaderboard(
    predictions: Mapping[str, pd.DataFrame],
    outputs: Mapping[str, Mapping[str, pd.DataFrame]],
    coverage: Mapping[str, pd.DataFrame],
    stored: pd.DataFrame | None = None,
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
) -> pd.DataFrame:
    """Every judge that has a figure in any contest; the table ``leaderboard``.

    Figures are taken over the test attempts of all contests together, with the threshold chosen on all their val
    attempts, intervals by cluster bootstrap over trajectories. A judge's best rank is 1 + the judges that are shown to
    be better on the attempts that both answered (Holm-corrected p below 0.05), its worst that of all judges less those
    shown to be worse: judges that the data do not tell apart share ranks.

    Args:
        predictions: contest -> table PREDICTIONS.
        outputs: contest -> judge -> table JUDGE_OUTPUTS, for money and time.
        coverage: contest -> table JUDGE_COVERAGE, for what each judge is.
        stored: ``judging.versions.stored_versions`` of the judges, for whether a judge's figures mix prompts or
            parameters, which stands beside its name then; None: not said.
        seed: seed of the bootstrap.
        n_resamples: resamples behind each interval.
    """
    table = pooled(predictions)
    if not len(table):
        return LEADERBOARD.empty()
    metrics = judge_metrics(table, seed=seed, n_resamples=n_resamples)
    differences = judge_differences(table, seed=seed, n_resamples=n_resamples)
    judges = list(dict.fromkeys(metrics["judge"]))
    contests = {judge: [c for c in sorted(predictions) if judge in set(predictions[c]["judge"])] for judge in judges}
    ranks = {metric: open_ranks(differences, judges, metric) for metric in ACCURACY}
    mixed = {} if stored is None else _mixed(table, stored)
    rows: list[dict[str, Any]] = []
    for judge in judges:
        common = _common(judge, contests[judge], coverage, len(predictions), mixed.get(judge, 1))
        own = metrics[metrics["judge"] == judge].set_index("metric")
        for metric in ACCURACY:
            columns = own.loc[metric, ["value", "n", "n_left_out", "ci95_low", "ci95_high", "reason"]].to_dict()
            best, worst = ranks[metric][judge] if pd.notna(columns["value"]) else (None, None)
            rows.append({"metric": metric, **columns, "rank_from": best, "rank_to": worst, **common})
        answers = [outputs[c][judge] for c in contests[judge] if judge in outputs.get(c, {})]
        for metric, estimate in _money_and_time(answers).items():
            rows.append({"metric": metric, **estimate.to_row(), "rank_from": None, "rank_to": None, **common})
    return LEADERBOARD.conform(rows)


def open_ranks(differences: pd.DataFrame, judges: Sequence[str], metric: str) -> dict[str, tuple[int, int]]:
    """Judge -> the best and worst rank in a figure that its Holm-corrected differences leave open.

    Args:
        differences: table JUDGE_DIFFERENCES.
        judges: all judges that are ranked.
        metric: a figure of it.
    """
    rows = differences[(differences["metric"] == metric) & (differences["against"] == "judge")]
    better = dict.fromkeys(judges, 0)
    worse = dict.fromkeys(judges, 0)
    for row in rows.to_dict("records"):
        if pd.isna(row["p_holm"]) or row["p_holm"] >= ALPHA or not row["value"]:
            continue
        first_wins = (row["value"] > 0) != (metric in LOWER_IS_BETTER)
        winner, loser = (row["judge_1"], row["judge_2"]) if first_wins else (row["judge_2"], row["judge_1"])
        better[loser] += 1
        worse[winner] += 1
    return {judge: (1 + better[judge], len(judges) - worse[judge]) for judge in judges}


def _mixed(predictions: pd.DataFrame, stored: pd.DataFrame) -> dict[str, int]:
    """Judge -> under how many pairs of prompt and parameters the answers were given that its figures rest on."""
    ways = stored[["judge", "request_hash", "prompt_sha256", "asked_with"]].drop_duplicates(["judge", "request_hash"])
    of_figures = predictions[["judge", "request_hash"]].drop_duplicates().merge(ways, on=["judge", "request_hash"])
    distinct = of_figures.drop_duplicates(["judge", "prompt_sha256", "asked_with"])
    return {str(judge): int(n) for judge, n in distinct.groupby("judge").size().items()}


def _common(
    judge: str, contests: Sequence[str], coverage: Mapping[str, pd.DataFrame], n_contests: int, n_ways: int
) -> dict[str, Any]:
    found = [row for c in contests for row in coverage[c][coverage[c]["judge"] == judge].to_dict("records")]
    models = sorted({model for row in found if row["model"] for model in row["model"].split(", ")})
    simulated = judge.startswith("simulated") or "simulated" in models
    tags = ["simulated"] if simulated else []
    tags += sorted({row["backend"] for row in found} & {"embedded", "baseline"})
    unverified = [c for c, row in zip(contests, found, strict=False) if row["status"] != "verified"]
    tags += [f"unverified in {', '.join(unverified)}"] if unverified else []
    tags += [f"asked in {n_ways} ways (prompts or parameters)"] if n_ways > 1 else []
    tags += [f"{len(contests)} of {n_contests} contests"] if len(contests) < n_contests else []
    return {
        "judge": judge, "n_contests": len(contests), "contests": ", ".join(contests) or None,
        "kind": "; ".join(tags) or None, "model": ", ".join(models) or None,
    }  # fmt: skip


def _money_and_time(tables: Sequence[pd.DataFrame]) -> dict[str, Estimate]:
    """Cost of 1,000 attempts, and median and 95th percentile of the answering tries' latencies."""
    answers = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame({"cost_usd": [], "latency_ms": []})
    n = len(answers)
    costs, times = answers["cost_usd"].dropna(), answers["latency_ms"].dropna()
    no_price, no_call = "no answer has a price", "no answer took a call"
    return {
        "cost_per_1000_usd": _estimate(costs.mean() * 1000 if len(costs) else np.nan, len(costs), n, no_price),
        "latency_median_ms": _estimate(times.median() if len(times) else np.nan, len(times), n, no_call),
        "latency_p95_ms": _estimate(times.quantile(0.95) if len(times) else np.nan, len(times), n, no_call),
    }


def _estimate(value: float, known: int, n: int, why: str) -> Estimate:
    return Estimate(float(value), known, n - known) if known else Estimate.undefined(why, 0, n)
