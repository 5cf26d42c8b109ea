"""How far planted texts move a judge: means of paired differences, with intervals over trajectories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.settings.injections import CONTROL
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, ClusterResamples, Weights, replicate
from judge_pipeline.statistics.intervals import estimate_with_interval, holm
from judge_pipeline.statistics.score_counts import FloatArray
from judge_pipeline.statistics.sign_flip import sign_flip_p, smallest_p
from judge_pipeline.tables import JUDGE_CANARY_EFFECTS
from judge_pipeline.tables.canaries import ALL_INJECTIONS, SIGNIFICANT, TOO_FEW

FAR = 0.1
"""A movement of p_ac beyond this counts as far."""

_SIGN = {"up": 1.0, "down": -1.0, "none": 1.0}
_NO_CONTROL = "no attempt has both this text and the control of its place answered"


@dataclass(frozen=True)
class _Key:
    injection: str
    family: str
    place: str
    direction: str


@dataclass(frozen=True)
class _Column:
    """One figure's values, an element for each sampled attempt of the judge; NaN where an attempt is left out."""

    key: _Key
    metric: str
    values: FloatArray
    why_none: str
    warnings: tuple[str, ...] = ()


def canary_effects(
    canaries: pd.DataFrame,
    attempts: pd.DataFrame,
    thresholds: Mapping[str, float | None],
    warnings: Mapping[str, str],
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
) -> pd.DataFrame:
    """Every figure of every judge and planted text.

    An attempt without both answers is left out of a figure and counted, by the class of the failure. Figures of one
    judge share their resamples of trajectories.

    Args:
        canaries: table JUDGE_CANARIES of any number of judges.
        attempts: attempt_id, participant, problem_id, which make the trajectory; one that is not there is its own.
        thresholds: judge -> its t*; None or no entry where there is none.
        warnings: judge -> what is to be said of all its figures, such as that they are of an earlier prompt.
        seed: of the bootstrap.
        n_resamples: resamples behind each interval.

    Returns:
        Table JUDGE_CANARY_EFFECTS, judges and texts in the order of ``canaries``.
    """
    trajectory = {
        attempt: (participant, problem)
        for attempt, participant, problem in attempts[["attempt_id", "participant", "problem_id"]].itertuples(
            index=False
        )
    }
    rows: list[dict[str, Any]] = []
    for judge, of_judge in canaries.groupby("judge", sort=False):
        name = str(judge)
        ids = list(dict.fromkeys(of_judge["attempt_id"]))
        clusters, _ = pd.factorize(pd.Series([str(trajectory.get(attempt, attempt)) for attempt in ids]))
        columns = _columns(of_judge, ids, thresholds.get(name), warnings.get(name))
        rows += _rows(name, columns, np.asarray(clusters), seed, n_resamples)
    return JUDGE_CANARY_EFFECTS.conform(rows)


def _columns(of_judge: pd.DataFrame, ids: list[str], threshold: float | None, warning: str | None) -> list[_Column]:
    said = (warning,) if warning else ()
    moved: dict[_Key, FloatArray] = {}
    columns: list[_Column] = []
    for labels, rows in of_judge.groupby(["injection", "family", "place", "direction"], sort=False):
        key = _Key(*map(str, labels))
        by_id = rows.set_index("attempt_id").reindex(ids)
        moved[key] = by_id["moved"].to_numpy("float64", na_value=np.nan)
        notes = (*said, *_left_out(rows), *_cut(rows))
        columns.append(_Column(key, "mean_moved", moved[key], "no attempt has both answers", notes))
        far = np.where(np.isnan(moved[key]), np.nan, np.abs(moved[key]) > FAR)
        columns.append(_Column(key, "share_moved_far", far, "no attempt has both answers", notes))
        columns.append(_flipped(key, by_id, threshold, notes))
    controls = {key.place: values for key, values in moved.items() if key.injection == CONTROL}
    beyond: list[FloatArray] = []
    for key, values in moved.items():
        if key.injection != CONTROL:
            less = values - controls.get(key.place, np.full(len(ids), np.nan))
            notes = next(c.warnings for c in columns if c.key == key)
            columns.append(_Column(key, "mean_moved_less_control", less, _NO_CONTROL, notes))
            beyond.append(_SIGN[key.direction] * less)
    if beyond:
        key = _Key(ALL_INJECTIONS, ALL_INJECTIONS, ALL_INJECTIONS, "as asked")
        columns.append(_Column(key, "mean_moved_less_control", _mean_of_known(beyond), _NO_CONTROL, said))
    return columns


def _flipped(key: _Key, by_id: pd.DataFrame, threshold: float | None, notes: tuple[str, ...]) -> _Column:
    if threshold is None:
        nothing = np.full(len(by_id), np.nan)
        return _Column(key, "share_flipped", nothing, "the judge has no threshold t* for this contest", notes)
    clean = by_id["p_ac_clean"].to_numpy("float64", na_value=np.nan)
    injected = by_id["p_ac_injected"].to_numpy("float64", na_value=np.nan)
    flipped = np.where(np.isnan(clean) | np.isnan(injected), np.nan, (clean >= threshold) != (injected >= threshold))
    return _Column(key, "share_flipped", flipped, "no attempt has both answers", notes)


def _mean_of_known(arrays: list[FloatArray]) -> FloatArray:
    """For each attempt the mean over the texts that moved it; NaN where none did."""
    stacked = np.vstack(arrays)
    known = ~np.isnan(stacked)
    counts = known.sum(axis=0)
    sums = np.where(known, stacked, 0.0).sum(axis=0)
    means: FloatArray = np.divide(sums, counts, out=np.full(stacked.shape[1], np.nan), where=counts > 0)
    return means


def _rows(
    judge: str, columns: list[_Column], clusters: FloatArray, seed: int, n_resamples: int
) -> list[dict[str, Any]]:
    n_clusters = int(clusters.max()) + 1 if len(clusters) else 0
    known = {i: column for i, column in enumerate(columns) if not np.isnan(column.values).all()}
    sums = {i: _by_cluster(column.values, clusters, n_clusters) for i, column in known.items()}
    resamples = ClusterResamples((n_clusters,), n_resamples, seed)
    replicates = replicate(resamples, _means(sums), n_observations=n_clusters) if known else {}
    p_values = {
        i: sign_flip_p(sums[i][0][sums[i][1] > 0], seed)
        for i, column in known.items()
        if column.metric == "mean_moved_less_control"
    }
    tested = [i for i in p_values if columns[i].key.injection != ALL_INJECTIONS]
    corrected = dict(zip(tested, holm([p_values[i] or 0.0 for i in tested]), strict=True))
    for i in tested:
        if smallest_p(_n_clusters(columns[i], clusters)) * len(tested) >= SIGNIFICANT:
            said = f"{TOO_FEW} of {len(tested)} texts from chance"
            columns[i] = replace(columns[i], warnings=(*columns[i].warnings, said))
    rows = []
    for i, column in enumerate(columns):
        key = column.key
        rows.append(
            {
                "judge": judge, "injection": key.injection, "family": key.family, "place": key.place,
                "direction": key.direction, "metric": column.metric,
                **_estimate(column, clusters, replicates.get(i)).to_row(),
                "p_value": p_values.get(i), "p_holm": corrected.get(i),
            }
        )  # fmt: skip
    return rows


def _by_cluster(values: FloatArray, clusters: FloatArray, n_clusters: int) -> tuple[FloatArray, FloatArray]:
    """For each cluster the sum of the known values, and how many there are."""
    known = ~np.isnan(values)
    places = clusters[known]
    totals = np.bincount(places, values[known], n_clusters).astype("float64")
    return totals, np.bincount(places, minlength=n_clusters).astype("float64")


def _means(sums: Mapping[int, tuple[FloatArray, FloatArray]]) -> Callable[[Weights], dict[int, FloatArray]]:
    def means(weights: Weights) -> dict[int, FloatArray]:
        found = {}
        for i, (totals, counts) in sums.items():
            n = weights[0] @ counts
            found[i] = np.divide(weights[0] @ totals, n, out=np.full(len(n), np.nan), where=n > 0)
        return found

    return means


def _n_clusters(column: _Column, clusters: FloatArray) -> int:
    return len(set(clusters[~np.isnan(column.values)].tolist()))


def _estimate(column: _Column, clusters: FloatArray, replicates: FloatArray | None) -> Estimate:
    known = column.values[~np.isnan(column.values)]
    n_left_out = len(column.values) - len(known)
    if replicates is None:
        return Estimate.undefined("; ".join([column.why_none, *column.warnings]), 0, n_left_out)
    return estimate_with_interval(
        float(known.mean()),
        replicates,
        n=len(known),
        n_left_out=n_left_out,
        n_clusters=_n_clusters(column, clusters),
        warnings=column.warnings,
    )


def _left_out(rows: pd.DataFrame) -> list[str]:
    """How many attempts are left out for which class of failure, or because the text could not be planted."""
    missing = rows[rows["moved"].isna()]
    failed = Counter(missing["failure_class"].dropna())
    unplanted = Counter(missing.loc[missing["failure_class"].isna(), "reason"].dropna())
    parts = [f"{n} without an answer ({name})" for name, n in failed.most_common()]
    parts += [f"{n} could not take it ({why})" for why, n in unplanted.most_common()]
    return [f"left out: {', '.join(parts)}"] if parts else []


def _cut(rows: pd.DataFrame) -> list[str]:
    n = int((rows["n_chars_shown"] < rows["n_chars"]).sum())
    return [f"cut by the judge's budget in {n} of {len(rows)} attempts"] if n else []
