"""Calibration maps of each judge, fitted on val only, and each judge's figures on test before and after them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.judge_figures import RECENTRED, class_clusters, rare_class_note
from judge_pipeline.cocreation.judged_attempts import JudgedAttempts
from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics import calibration, discrimination
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, Weights, replicate
from judge_pipeline.statistics.calibration_maps import Parameters, apply_map, fit_map, parameter_names
from judge_pipeline.statistics.intervals import FEWEST_CLUSTERS, estimate_with_interval, recentred
from judge_pipeline.statistics.score_counts import FloatArray, SortedScores
from judge_pipeline.tables import JUDGE_CALIBRATION, JUDGE_CALIBRATION_MAPS
from judge_pipeline.tables.evaluation import CALIBRATION_MAPS

_METRICS = {
    "log_loss": discrimination.log_loss,
    "brier": discrimination.brier,
    "ece": calibration.ece,
    "ece_debiased": calibration.ece_debiased,
    "roc_auc": discrimination.roc_auc,
}
_BEFORE = "none"

Key = tuple[str, str, str, str]
"""judge, map, metric, quantity."""


def calibration_maps(predictions: pd.DataFrame, *, panel: Sequence[str] | None = None) -> pd.DataFrame:
    """Every map of every judge, fitted on the labelled answers of val and on nothing else; ``judge_calibration_maps``.

    A map that cannot be fitted (val too small, one class, too few distinct answers) has its parameters as null, with
    the reason.

    Args:
        predictions: as for ``judge_metrics``.
        panel: the judges to fit maps for; all by default.

    Raises:
        PredictionError: the table fails ``check_predictions``, or a judge of ``panel`` has no row in it.
    """
    judged = JudgedAttempts.of(predictions)
    val = judged.splits["val"]
    rows: list[dict[str, Any]] = []
    for judge in judged.panel(panel):
        column = judged.judges.index(judge)
        usable = val.usable(column)
        for name in CALIBRATION_MAPS:
            fitted = fit_map(name, val.y[usable], val.p[usable, column])
            counts = {"n_val": fitted.n, "n_val_accepted": fitted.n_accepted, "reason": fitted.reason}
            for parameter, knot in fitted.parameters or parameter_names(name):
                value = None if fitted.parameters is None else fitted.parameters[parameter, knot]
                rows.append(
                    {"judge": judge, "map": name, "parameter": parameter, "knot": knot, "value": value, **counts}
                )
    return JUDGE_CALIBRATION_MAPS.conform(rows)


def maps_that_saw_more_than_val(maps: pd.DataFrame, predictions: pd.DataFrame) -> list[str]:
    """Judges whose maps are not those of val alone, in words: they are fitted again without the other splits.

    Args:
        maps: table JUDGE_CALIBRATION_MAPS.
        predictions: what it was made from.
    """
    alone = _values(calibration_maps(predictions[predictions["split"] == "val"]))
    found = _values(maps)
    wrong = {key[0] for key in found.keys() | alone.keys() if found.get(key) != alone.get(key)}
    return [f"{judge}: its maps are not those of val alone" for judge in sorted(wrong)]


def judge_calibration(
    predictions: pd.DataFrame,
    maps: pd.DataFrame,
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
    panel: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Figures on test of p_ac as answered and after each map, and the change; the table ``judge_calibration``.

    Intervals hold the fitted maps fixed, as those of ``judge_metrics`` hold t*: they speak of this map on new attempts.
    The change is paired: before and after are taken under the same resamples.

    Args:
        predictions: as for ``judge_metrics``.
        maps: table JUDGE_CALIBRATION_MAPS of these judges.
        seed: seed of the bootstrap; the resamples are those of ``judge_metrics`` under the same seed.
        n_resamples: resamples behind each interval.
        panel: the judges to report; all by default.

    Raises:
        PredictionError: the table fails ``check_predictions``, or a judge of ``panel`` has no row in it.
        ValueError: ``maps`` lacks a judge.
    """
    judged = JudgedAttempts.of(predictions)
    judges = [_Calibrated.of(judged, maps, name) for name in judged.panel(panel)]

    def statistics(weights: Weights) -> dict[Key, FloatArray]:
        return {key: values for judge in judges for key, values in judge.figures(weights[0]).items()}

    n_observations = len(judged.splits["test"].y)
    replicates = replicate(judged.resamples(n_resamples, seed), statistics, n_observations=n_observations)
    rows = []
    for judge in judges:
        notes = judged.notes(judged.judges.index(judge.name), "test")
        points = judge.figures(None)
        for key in judge.rows():
            estimate = judge.estimate(key, points.get(key), replicates.get(key), notes)
            name, map_name, metric, quantity = key
            rows.append({"judge": name, "map": map_name, "metric": metric, "quantity": quantity, **estimate.to_row()})
    return JUDGE_CALIBRATION.conform(rows)


@dataclass(frozen=True)
class _Calibrated:
    """One judge's answers on test, as they are and after each map that could be fitted.

    Attributes:
        name: the judge.
        scores: map -> sorted answers; ``none`` is as answered.
        reasons: map -> why it could not be fitted, or what to know about it.
        n_attempts: attempts of test.
        n_clusters: trajectories that hold a usable answer.
        classes: those that hold one of a rejected attempt, and one of an accepted attempt.
    """

    name: str
    scores: dict[str, SortedScores]
    reasons: dict[str, str]
    n_attempts: int
    n_clusters: int
    classes: tuple[int, int]

    @classmethod
    def of(cls, judged: JudgedAttempts, maps: pd.DataFrame, name: str) -> _Calibrated:
        test = judged.splits["test"]
        column = judged.judges.index(name)
        usable = test.usable(column)
        y, p, cluster = test.y[usable], test.p[usable, column], test.cluster[usable]
        scores, reasons = {_BEFORE: SortedScores(y, p, cluster)}, {}
        for map_name in CALIBRATION_MAPS:
            parameters, reason = _parameters(maps, name, map_name)
            if reason is not None:
                reasons[map_name] = reason
            if parameters is not None:
                scores[map_name] = SortedScores(y, apply_map(map_name, parameters, p), cluster)
        classes = class_clusters(y, cluster)
        return cls(name, scores, reasons, len(test.y), len(np.unique(cluster)), classes)

    def rows(self) -> list[Key]:
        """Every row of the judge, in order: each metric as answered, then after each map, and its change."""
        found: list[Key] = []
        for metric in _METRICS:
            found.append((self.name, _BEFORE, metric, "value"))
            found += [(self.name, m, metric, quantity) for m in CALIBRATION_MAPS for quantity in ("value", "change")]
        return found

    def figures(self, weights: FloatArray | None) -> dict[Key, FloatArray]:
        """The figures of every map that exists, under cluster weights (R, clusters); each (R,)."""
        counts = {name: scores.count(weights) for name, scores in self.scores.items()}
        found: dict[Key, FloatArray] = {}
        for metric, figure in _METRICS.items():
            before = figure(counts[_BEFORE])
            found[self.name, _BEFORE, metric, "value"] = before
            for name in counts.keys() - {_BEFORE}:
                after = figure(counts[name])
                found[self.name, name, metric, "value"] = after
                found[self.name, name, metric, "change"] = after - before
        return found

    def estimate(self, key: Key, point: FloatArray | None, replicates: FloatArray | None, notes: list[str]) -> Estimate:
        """A row's estimate, or why it does not exist."""
        _, map_name, metric, quantity = key
        n = self.scores[_BEFORE].n
        n_left_out = self.n_attempts - n
        if point is None or replicates is None:
            return Estimate.undefined(self.reasons[map_name], n, n_left_out)
        value = float(point[0])
        if np.isnan(value):
            return Estimate.undefined(self._undefined_reason(metric), n, n_left_out)
        if metric in RECENTRED:
            low, high = RECENTRED[metric]
            replicates = recentred(replicates, value, low if quantity == "value" else low - high, high)
        warnings = [self.reasons[map_name]] if map_name in self.reasons else []
        n_clusters = self.n_clusters
        if metric == "roc_auc":
            warnings += rare_class_note(self.classes, n_clusters)
            n_clusters = min(self.classes) if min(self.classes) < FEWEST_CLUSTERS else n_clusters
        return estimate_with_interval(
            value,
            replicates,
            n=n,
            n_left_out=n_left_out,
            n_clusters=n_clusters,
            warnings=[*warnings, *self._clipped(metric, map_name), *notes],
        )

    def _clipped(self, metric: str, map_name: str) -> list[str]:
        clipped = float(discrimination.n_clipped(self.scores[map_name].count())[0])
        if metric != "log_loss" or not clipped:
            return []
        return [f"{clipped:g} of the probabilities are 0 or 1 and were clipped by {discrimination.EPSILON:.1e}"]

    def _undefined_reason(self, metric: str) -> str:
        one_class = self.scores[_BEFORE].count().one_class_reason()
        if one_class is not None and (metric == "roc_auc" or not self.scores[_BEFORE].n):
            return one_class
        return f"none of {calibration.N_BINS} bins of equal mass holds two attempts"


def _values(maps: pd.DataFrame) -> dict[tuple[str, str, str, int], float]:
    """The parameters that exist, by judge, map, parameter and knot."""
    known = maps[maps["value"].notna()]
    keys = known[["judge", "map", "parameter", "knot"]].itertuples(index=False, name=None)
    return dict(zip(keys, known["value"], strict=True))


def _parameters(maps: pd.DataFrame, judge: str, name: str) -> tuple[Parameters | None, str | None]:
    """The stored parameters of a judge's map, or None, and the reason that stands beside them."""
    rows = maps[(maps["judge"] == judge) & (maps["map"] == name)]
    if not len(rows):
        raise ValueError(f"judge {judge} has no {name} map; fit calibration_maps on these predictions")
    reason = rows["reason"].iloc[0]
    if rows["value"].isna().any():
        return None, reason
    keys = zip(rows["parameter"], rows["knot"].astype(int), strict=True)
    return dict(zip(keys, rows["value"].astype(float), strict=True)), reason
