"""A panel of judges taken as one judge: its figures, and whether it beats the best judge in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.judge_figures import ON_VAL, RECENTRED, JudgeFigures
from judge_pipeline.cocreation.judged_attempts import JudgedAttempts, SplitArrays
from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics import panels
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, Weights, replicate
from judge_pipeline.statistics.intervals import estimate_with_interval, holm, recentred, two_sided_p
from judge_pipeline.statistics.score_counts import FloatArray
from judge_pipeline.tables import JUDGE_PANEL_WEIGHTS, JUDGE_PANELS
from judge_pipeline.tables.evaluation import PANEL_METHODS
from judge_pipeline.tables.metric_words import METRICS

COMPARED = ("roc_auc", "pr_auc", "log_loss", "brier", "ece", "ece_debiased", "mcc_test", "balanced_accuracy", "f1")
"""Figures in which a panel is set against its best judge."""

_FIGURES = (
    "roc_auc", "pr_auc", "log_loss", "brier", "ece", "ece_debiased", "mcc_val", "threshold", "mcc_test",
    "precision", "recall", "f1", "balanced_accuracy", "accept_rate",
)  # fmt: skip
Who = tuple[str, str]
"""("judge", its name) or ("panel", the method)."""

_AT_THRESHOLD = ("mcc_val", "threshold", "mcc_test", "precision", "recall", "f1", "balanced_accuracy", "accept_rate")


def panel_weights(predictions: pd.DataFrame, *, panel: Sequence[str] | None = None) -> pd.DataFrame:
    """The stacker's coefficients, fitted on val and on nothing else; the table ``judge_panel_weights``.

    Args:
        predictions: as for ``judge_metrics``.
        panel: the judges J; all by default.

    Raises:
        PredictionError: the table fails ``check_predictions``, or a judge of ``panel`` has no row in it.
    """
    judged = JudgedAttempts.of(predictions)
    judges = judged.panel(panel)
    val = judged.splits["val"]
    p = val.p[:, [judged.judges.index(name) for name in judges]]
    complete = ~np.isnan(val.y) & ~np.isnan(p).any(axis=1)
    fitted = panels.fit_stacker(val.y[complete], p[complete])
    if len(judges) < 2:
        fitted = replace(fitted, coefficients=None, reason=_too_few(judges))
    values: Sequence[float | None] = [None] * (1 + len(judges))
    if fitted.coefficients is not None:
        values = [float(value) for value in fitted.coefficients]
    counts = {
        "n_val": fitted.n,
        "n_val_accepted": fitted.n_accepted,
        "n_left_out": len(val.y) - fitted.n,
        "reason": fitted.reason,
    }
    rows = [{"judge": judge, "value": value, **counts} for judge, value in zip((None, *judges), values, strict=True)]
    return JUDGE_PANEL_WEIGHTS.conform(rows)


def weights_that_saw_more_than_val(weights: pd.DataFrame, predictions: pd.DataFrame) -> list[str]:
    """What tells the weights from those of val alone, in words: they are fitted again with all other answers taken out.

    Args:
        weights: table JUDGE_PANEL_WEIGHTS.
        predictions: what it was made from.
    """
    of_val = predictions["split"] == "val"
    val_alone = predictions.assign(p_ac=predictions["p_ac"].where(of_val), y=predictions["y"].where(of_val))
    alone = panel_weights(val_alone, panel=[judge for judge in weights["judge"] if judge is not None])
    if weights[["judge", "value", "n_val"]].equals(alone[["judge", "value", "n_val"]]):
        return []
    return ["the stacker's coefficients are not those of val alone"]


def judge_panels(
    predictions: pd.DataFrame,
    weights: pd.DataFrame,
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
    panel: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Figures of each way to make one answer of a panel's, and their differences from its best judge.

    Each method has its own t*, chosen on val. All figures, the judges' own as well, are over the attempts that every
    judge of the panel answered; the rest are counted. Which judge is best is decided for each figure by that figure
    on val, so test does not choose its own rival. Intervals hold the stacker and every t* fixed.

    Args:
        predictions: as for ``judge_metrics``.
        weights: table JUDGE_PANEL_WEIGHTS of this panel.
        seed: seed of the bootstrap; the resamples are those of ``judge_metrics`` under the same seed.
        n_resamples: resamples behind each interval.
        panel: the judges J; all by default.

    Returns:
        table JUDGE_PANELS.

    Raises:
        PredictionError: the table fails ``check_predictions``, or a judge of ``panel`` has no row in it.
        ValueError: ``weights`` are those of another panel.
    """
    judged = JudgedAttempts.of(predictions)
    compared = _Panel.of(judged, judged.panel(panel), weights)

    def statistics(drawn: Weights) -> dict[tuple[Who, str], FloatArray]:
        return {
            (who, metric): values
            for who, figures in compared.figures.items()
            for metric, values in figures.replicates(drawn[0], drawn[1]).items()
        }

    n_observations = max(len(judged.splits[name].y) for name in ("test", "val"))
    replicates = replicate(judged.resamples(n_resamples, seed), statistics, n_observations=n_observations)
    rows: list[dict[str, Any]] = []
    for method in PANEL_METHODS:
        for metric in _FIGURES:
            estimate = compared.figure(method, metric, replicates.get((("panel", method), metric)))
            rows.append(_row(method, metric, "value", None, estimate))
    for metric in COMPARED:
        differences = {method: compared.difference(method, metric, replicates) for method in PANEL_METHODS}
        known = {method: p for method, (_, p) in differences.items() if p is not None}
        corrected = dict(zip(known, holm(list(known.values())), strict=True))
        for method, (estimate, p) in differences.items():
            row = _row(method, metric, "difference", compared.best.get(metric), estimate)
            rows.append({**row, "p_value": p, "p_holm": corrected.get(method)})
    return JUDGE_PANELS.conform(rows)


@dataclass(frozen=True)
class _Panel:
    """A panel's judges and methods on the attempts that all its judges answered.

    Attributes:
        judges: the panel, in alphabetical order.
        figures: of each judge, and of each method that exists.
        points: their values.
        best: metric -> the judge that is best in it on val.
        missing: method -> why it does not exist.
        warnings: method -> what to know about it.
        sizes: split -> attempts that all answered and that have a label, and the attempts of the split.
        notes: warnings about all figures.
    """

    judges: tuple[str, ...]
    figures: Mapping[Who, JudgeFigures]
    points: Mapping[Who, Mapping[str, float]]
    best: Mapping[str, str]
    missing: Mapping[str, str]
    warnings: Mapping[str, str]
    sizes: Mapping[str, tuple[int, int]]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, judged: JudgedAttempts, judges: tuple[str, ...], weights: pd.DataFrame) -> _Panel:
        coefficients, reason = _coefficients(weights, judges)
        columns = [judged.judges.index(name) for name in judges]
        val, test = (_with_methods(judged.splits[name], columns, coefficients) for name in ("val", "test"))
        missing: dict[str, str] = {}
        if len(judges) < 2:
            missing = dict.fromkeys(PANEL_METHODS, _too_few(judges))
        elif coefficients is None:
            missing = {"stacker": str(reason)}
        everyone = [*(("judge", name) for name in judges), *(("panel", method) for method in PANEL_METHODS)]
        figures = {
            who: JudgeFigures.of(val, test, column)
            for column, who in enumerate(everyone)
            if who[0] == "judge" or who[1] not in missing
        }
        usable = {"val": val, "test": test}
        return cls(
            judges=judges,
            figures=figures,
            points={who: of_it.points() for who, of_it in figures.items()},
            best=_best_on_val({name: JudgeFigures.of(val, val, i) for i, name in enumerate(judges)}),
            missing=missing,
            warnings={} if coefficients is None or reason is None else {"stacker": reason},
            sizes={name: (int(split.usable(0).sum()) if judges else 0, len(split.y)) for name, split in usable.items()},
            notes=() if judged.cluster_note is None else (judged.cluster_note,),
        )

    def figure(self, method: str, metric: str, replicates: FloatArray | None) -> Estimate:
        """A method's figure with its interval, or why it does not exist."""
        n, n_attempts = self.sizes["val" if metric in ON_VAL else "test"]
        if method in self.missing or replicates is None:
            return Estimate.undefined(self.missing[method], n, n_attempts - n)
        figures = self.figures["panel", method]
        value = self.points["panel", method][metric]
        if np.isnan(value):
            reason = figures.undefined_reason(metric).replace("by this judge", "by every judge of the panel")
            return Estimate.undefined(reason, n, n_attempts - n)
        if metric in RECENTRED:
            replicates = recentred(replicates, value, *RECENTRED[metric])
        return estimate_with_interval(
            value,
            replicates,
            n=n,
            n_left_out=n_attempts - n,
            n_clusters=figures.n_clusters(metric),
            warnings=[*self._about(method, metric), *figures.warnings(metric), *self.notes],
            on_grid=metric == "threshold",
        )

    def difference(
        self, method: str, metric: str, replicates: Mapping[tuple[Who, str], FloatArray]
    ) -> tuple[Estimate, float | None]:
        """A method's figure less the best judge's, with its interval and p-value, or why it does not exist."""
        n, n_attempts = self.sizes["test"]
        if method in self.missing:
            return Estimate.undefined(self.missing[method], n, n_attempts - n), None
        if metric not in self.best:
            return Estimate.undefined(f"no judge of the panel has {metric} on val", n, n_attempts - n), None
        own, rival = ("panel", method), ("judge", self.best[metric])
        for who in (own, rival):
            if np.isnan(self.points[who][metric]):
                reason = f"{who[1]}: {self.figures[who].undefined_reason(metric)}"
                return Estimate.undefined(reason, n, n_attempts - n), None
        value = self.points[own][metric] - self.points[rival][metric]
        apart = replicates[own, metric] - replicates[rival, metric]
        if metric in RECENTRED:
            low, high = RECENTRED[metric]
            apart = recentred(apart, value, low - high, high - low)
        estimate = estimate_with_interval(
            value,
            apart,
            n=n,
            n_left_out=n_attempts - n,
            n_clusters=self.figures[own].n_clusters(metric),
            warnings=[*self._about(method, metric), *self.figures[own].rare_class(metric), *self.notes],
        )
        return estimate, two_sided_p(apart, self.figures[own].n_clusters(metric))

    def _about(self, method: str, metric: str) -> list[str]:
        notes = [self.warnings[method]] if method in self.warnings else []
        if method == "stacker" and metric in _AT_THRESHOLD:
            notes.append("the stacker's t* is chosen on the attempts of val that it was fitted on")
        return notes


def _with_methods(split: SplitArrays, columns: Sequence[int], coefficients: FloatArray | None) -> SplitArrays:
    """The split with the panel's judges, then the methods, as its judges; no answer where one of the panel has none."""
    p = split.p[:, columns]
    p = np.where(np.isnan(p).any(axis=1, keepdims=True), np.nan, p)
    if not columns:
        return replace(split, p=p, scores={})
    none = np.full(len(p), np.nan)
    methods = {
        "mean": panels.mean(p),
        "median": panels.median(p),
        "logit_mean": panels.logit_mean(p),
        "stacker": none if coefficients is None else panels.stacked(p, coefficients),
    }
    return replace(split, p=np.column_stack([p, *(methods[name] for name in PANEL_METHODS)]), scores={})


def _best_on_val(on_val: Mapping[str, JudgeFigures]) -> dict[str, str]:
    """For each compared metric the judge with the best of it on val; the first by name where several are."""
    points = {name: figures.points() for name, figures in on_val.items()}
    best = {}
    for metric in COMPARED:
        sign = -1.0 if METRICS[metric].better == "lower" else 1.0
        known = {name: sign * of_judge[metric] for name, of_judge in points.items() if not np.isnan(of_judge[metric])}
        if known:
            best[metric] = max(known, key=lambda name: known[name])
    return best


def _coefficients(weights: pd.DataFrame, judges: Sequence[str]) -> tuple[FloatArray | None, str | None]:
    """The stored coefficients in the order of ``judges``, or None, and the reason that stands beside them."""
    of_judges = tuple(judge for judge in weights["judge"] if judge is not None)
    if of_judges != tuple(judges):
        raise ValueError(f"the weights are of {', '.join(of_judges) or 'no judge'}, the panel is {', '.join(judges)}")
    reason = weights["reason"].iloc[0]
    values = weights["value"].to_numpy(np.float64)
    return (None if np.isnan(values).any() else values), reason


def _row(method: str, metric: str, quantity: str, best: str | None, estimate: Estimate) -> dict[str, Any]:
    split = "val" if metric in ON_VAL else "test"
    head = {"method": method, "metric": metric, "quantity": quantity, "split": split, "best_judge": best}
    return {**head, **estimate.to_row(), "p_value": None, "p_holm": None}


def _too_few(judges: Sequence[str]) -> str:
    return f"a panel needs two judges; this one has {len(judges)}"
