"""Whether larger revisions go with more progress (paper 1, RQ2, Figures 12 and 13): ranks and a mixed model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, ClusterResamples, Weights, replicate
from judge_pipeline.statistics.crossed_effects import CrossedEffects, NotFittedError, fit_crossed_effects
from judge_pipeline.statistics.intervals import estimate_with_interval
from judge_pipeline.statistics.ratios import Z95
from judge_pipeline.statistics.score_counts import FloatArray
from judge_pipeline.statistics.weighted_order import RankedPairs
from judge_pipeline.tables.revision import CHURN_EFFECTS, CHURN_MEASURES, EFFECT_STATISTICS

MODEL_LEVELS = 1000
"""Most participants and problems together in a mixed model, unless a caller says otherwise."""

_GROUP = ["participant", "problem_id"]
_WALD = "the interval is Wald's, given the estimated variances"
_NO_INTERVAL = "a variance component is given without an interval"
_MIXED = EFFECT_STATISTICS[1:]

Key = tuple[str, str, str]
"""measure, progress, revisions"""


def churn_effects(
    revisions: pd.DataFrame, *, seed: int, n_resamples: int = N_RESAMPLES, model_levels: int = MODEL_LEVELS
) -> pd.DataFrame:
    """The table ``churn_effects``: each measure of churn against each kind of progress, in each order of turns.

    ``spearman`` has a cluster-bootstrap interval (trajectories). ``slope`` is the change of progress from no churn to
    full churn in a linear mixed model with crossed random intercepts of participants and problems, whose variances
    stand beside it. The model takes all revisions where their participants and problems are at most ``model_levels``,
    else whole participants in the order of a seeded hash as long as they stay below. What cannot be fitted is null.

    Args:
        revisions: table REVISIONS.
        seed: seed of the bootstrap and of the sample.
        n_resamples: resamples behind the intervals of rank correlations.
        model_levels: most participants and problems together in a model.
    """
    rows: list[dict[str, Any]] = []
    for order in revisions["order"].unique():
        here = revisions[revisions["order"] == order].reset_index(drop=True)
        here["cluster"] = here.groupby(_GROUP, sort=True).ngroup()
        subsets = dict(_subsets(here))
        correlations = _correlations(subsets, int(here["cluster"].max()) + 1, seed, n_resamples)
        for (measure, progress, which), (table, n_left_out) in subsets.items():
            names = {"order": order, "measure": measure, "progress": progress, "revisions": which}
            estimate = _with_left_out(correlations[measure, progress, which], n_left_out)
            rows.append({**names, "statistic": "spearman", "sample": _all_of(len(table)), **estimate.to_row()})
            sample, words = model_sample(table, seed, model_levels)
            for statistic, fitted in _model(sample, measure, progress, n_left_out + len(table) - len(sample)).items():
                rows.append({**names, "statistic": statistic, "sample": words, **fitted.to_row()})
    return CHURN_EFFECTS.conform(rows)


def _subsets(revisions: pd.DataFrame) -> Iterator[tuple[Key, tuple[pd.DataFrame, int]]]:
    """For each figure the revisions in which both sides are known, and how many others there are."""
    numbers = revisions[[*_GROUP, "cluster"]].copy()
    for name in (*CHURN_MEASURES, "delta_y", "delta_p_mean"):
        numbers[name] = revisions[name].to_numpy(np.float64, na_value=np.nan)
    rejected = revisions["y_before"].to_numpy(np.float64, na_value=np.nan) == 0
    for measure in CHURN_MEASURES:
        for progress in ("delta_y", "delta_p_mean"):
            known = (numbers[measure].notna() & numbers[progress].notna()).to_numpy()
            for which, chosen in (("all", np.full(len(known), True)), ("after_rejection", rejected)):
                table = numbers.loc[known & chosen, [*_GROUP, "cluster", measure, progress]]
                yield (measure, progress, which), (table, int((chosen & ~known).sum()))


def _correlations(
    subsets: dict[Key, tuple[pd.DataFrame, int]], n_clusters: int, seed: int, n_resamples: int
) -> dict[Key, Estimate]:
    pairs = {
        key: RankedPairs(table[key[0]], table[key[1]], table["cluster"])
        for key, (table, _) in subsets.items()
        if len(table)
    }

    def statistics(weights: Weights) -> dict[Key, FloatArray]:
        return {key: ranked.spearman(weights[0]) for key, ranked in pairs.items()}

    points = statistics((np.ones((1, n_clusters)),))
    defined = {key for key, point in points.items() if not np.isnan(point[0])}
    pairs = {key: ranked for key, ranked in pairs.items() if key in defined}
    n_most = max((len(table) for table, _ in subsets.values()), default=1)
    replicates = replicate(ClusterResamples((n_clusters,), n_resamples, seed), statistics, n_observations=n_most)
    return {
        key: estimate_with_interval(
            float(points[key][0]), replicates[key], n=len(table), n_left_out=0, n_clusters=table["cluster"].nunique()
        )
        if key in defined
        else Estimate.undefined(_why_no_ranks(key, table), len(table))
        for key, (table, _) in subsets.items()
    }


def _why_no_ranks(key: Key, table: pd.DataFrame) -> str:
    if not len(table):
        return f"no revision has both {key[0]} and {key[1]}"
    constant = next(name for name in key[:2] if table[name].nunique() < 2)
    return f"{constant} is the same in all {len(table)} revisions"


def _with_left_out(estimate: Estimate, n_left_out: int) -> Estimate:
    return Estimate(estimate.value, estimate.n, n_left_out, estimate.ci95, estimate.reason)


def model_sample(table: pd.DataFrame, seed: int, model_levels: int) -> tuple[pd.DataFrame, str]:
    """All rows, or those of whole participants, so that participants and problems stay within the limit; in words."""
    if table["participant"].nunique() + table["problem_id"].nunique() <= model_levels:
        return table, _all_of(len(table))
    problems = table.groupby("participant")["problem_id"].unique()
    drawn: list[str] = []
    seen: set[str] = set()
    for participant in sorted(problems.index, key=lambda name: _rank(name, seed)):
        more = seen.union(problems[participant])
        if len(drawn) + 1 + len(more) > model_levels:
            break  # going on would favour those with few problems
        drawn.append(participant)
        seen = more
    sample = table[table["participant"].isin(drawn)]
    words = (
        f"{len(sample):,} of {len(table):,} revisions: those of {len(drawn):,} of {len(problems):,} participants, "
        f"drawn whole by a seeded hash so that they and their problems are at most {model_levels}"
    )
    return sample, words


def _rank(participant: str, seed: int) -> tuple[bytes, str]:
    return hashlib.sha256(json.dumps([seed, participant]).encode("ascii")).digest(), participant


def _all_of(n: int) -> str:
    return f"all {n:,} revisions with both"


def _model(table: pd.DataFrame, measure: str, progress: str, n_left_out: int) -> dict[str, Estimate]:
    n = len(table)
    codes = [pd.factorize(table[name], sort=True)[0] for name in _GROUP]
    try:
        fit = fit_crossed_effects(table[measure], table[progress], *codes)
    except NotFittedError as error:
        return {name: Estimate.undefined(str(error), n, n_left_out) for name in _MIXED}
    return {name: _figure(fit, name, n_left_out) for name in _MIXED}


def _figure(fit: CrossedEffects, statistic: str, n_left_out: int) -> Estimate:
    if statistic == "slope":
        half = Z95 * fit.slope_se
        return Estimate(fit.slope, fit.n, n_left_out, (fit.slope - half, fit.slope + half), _WALD)
    variance = fit.variances[_MIXED.index(statistic) - 1]
    if variance is None:
        only = statistic.removeprefix("variance_")
        return Estimate.undefined(f"a single {only} has no variance between {only}s", fit.n, n_left_out)
    return Estimate(variance, fit.n, n_left_out, None, _NO_INTERVAL)
