"""The figures of one judge as functions of cluster weights, and why any of them may not exist.

A point estimate is the figures under weight 1; a bootstrap is the same figures under resampled weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge_pipeline.cocreation.judged_attempts import SplitArrays
from judge_pipeline.statistics import calibration, discrimination, thresholds
from judge_pipeline.statistics.brier_decomposition import PARTS, brier_decomposition
from judge_pipeline.statistics.intervals import FEWEST_CLUSTERS
from judge_pipeline.statistics.score_counts import FloatArray, IntArray, ScoreCounts, SortedScores

_OF_SCORES = {
    "roc_auc": discrimination.roc_auc,
    "pr_auc": discrimination.average_precision,
    "log_loss": discrimination.log_loss,
    "brier": discrimination.brier,
    "ece": calibration.ece,
    "ece_equal_mass": calibration.ece_equal_mass,
    "ece_debiased": calibration.ece_debiased,
    "ece_squared_debiased": calibration.squared_gap_debiased,
}
_OF_DECISIONS = {
    "mcc_test": thresholds.mcc,
    "precision": thresholds.precision,
    "recall": thresholds.recall,
    "f1": thresholds.f1,
    "balanced_accuracy": thresholds.balanced_accuracy,
    "accept_rate": thresholds.accept_rate,
}
TWO_CLASSES = ("roc_auc", "pr_auc", "balanced_accuracy")
"""Figures that compare accepted with rejected attempts."""

OF_BOTH_CLASSES = (*TWO_CLASSES, "mcc_test", "mcc_test_reselected", "mcc_val", "threshold")
"""Figures that are as uncertain as the rarer class: many accepted attempts do not make up for two rejected ones."""

STABILITY = ("threshold_in_plateau", "threshold_stability")
"""Shares of the resamples of val that choose much the same threshold."""

STABLE_WITHIN = 0.05
"""A resample's threshold this close to t* counts as the same for ``threshold_stability``."""

ON_VAL = ("mcc_val", "threshold", "threshold_plateau_low", "threshold_plateau_high", *STABILITY)
RECENTRED = {
    "ece": (0.0, 1.0),
    "ece_equal_mass": (0.0, 1.0),
    "ece_debiased": (0.0, 1.0),
    "ece_squared_debiased": (-np.inf, 1.0),
    "brier_reliability": (0.0, 1.0),
    "brier_resolution": (0.0, 0.25),
    "brier_uncertainty": (0.0, 0.25),
    "brier_within_variance": (0.0, 1.0),
    "brier_within_covariance": (-np.inf, np.inf),
}
"""Figures that repeated rows shift, and the range of each: their replicates are moved back onto the value."""

METRICS = (
    "roc_auc", "pr_auc", "log_loss", "log_loss_n_clipped", "brier", *PARTS, "ece", "ece_equal_mass", "ece_debiased",
    "ece_squared_debiased", "mcc_val", "threshold", "threshold_plateau_low", "threshold_plateau_high", *STABILITY,
    "mcc_test", "mcc_test_reselected", "precision", "recall", "f1", "balanced_accuracy", "accept_rate",
)  # fmt: skip
"""Every figure of a judge, in the order of the tables."""


@dataclass(frozen=True)
class JudgeFigures:
    """One judge's usable answers on val and test, and the threshold chosen on val.

    Attributes:
        test: sorted answers on test, by cluster of test.
        val: sorted answers on val, by cluster of val.
        threshold: t*, or None.
        test_counts: the counts of test under weight 1.
        val_counts: the counts of val under weight 1.
        n_test_clusters: trajectories of test in which this judge has a usable answer.
        n_val_clusters: the same on val.
        test_classes: trajectories of test that hold such an attempt that is rejected, and one that is accepted.
        val_classes: the same on val.
    """

    test: SortedScores
    val: SortedScores
    threshold: thresholds.Threshold | None
    test_counts: ScoreCounts
    val_counts: ScoreCounts
    n_test_clusters: int
    n_val_clusters: int
    test_classes: tuple[int, int]
    val_classes: tuple[int, int]

    @classmethod
    def of(
        cls, val: SplitArrays, test: SplitArrays, judge: int, among: NDArray[np.bool_] | None = None
    ) -> JudgeFigures:
        """The figures of the judge in column ``judge`` of the arrays, on test only over the attempts in ``among``."""
        on_test = test.usable(judge) if among is None else test.usable(judge) & among
        on_val = val.usable(judge)
        test_scores, val_scores = _sorted_scores(test, judge, on_test), _sorted_scores(val, judge, on_val)
        val_counts = val_scores.count()
        return cls(
            test=test_scores,
            val=val_scores,
            threshold=thresholds.select_threshold(val_counts) if val_scores.n else None,
            test_counts=test_scores.count(),
            val_counts=val_counts,
            n_test_clusters=len(np.unique(test.cluster[on_test])),
            n_val_clusters=len(np.unique(val.cluster[on_val])),
            test_classes=class_clusters(test.y[on_test], test.cluster[on_test]),
            val_classes=class_clusters(val.y[on_val], val.cluster[on_val]),
        )

    def n_clusters(self, metric: str) -> int:
        """Trajectories whose resampling says how uncertain ``metric`` is.

        All of the split; those of the rarer class where they are fewer than ``FEWEST_CLUSTERS``. Resampling one
        trajectory that holds all rejected attempts moves no AUC, whatever the number of the others.
        """
        clusters, classes = self._clusters(metric)
        rarer = min(classes, default=clusters)
        return rarer if rarer < FEWEST_CLUSTERS else clusters

    def rare_class(self, metric: str) -> list[str]:
        """What to know about ``metric`` where few trajectories hold one of the two classes."""
        clusters, classes = self._clusters(metric)
        return rare_class_note(classes, clusters) if classes else []

    def _clusters(self, metric: str) -> tuple[int, tuple[int, int] | tuple[()]]:
        """The trajectories of the metric's split, and of each class where the metric depends on that."""
        on_val = metric in ON_VAL
        clusters = self.n_val_clusters if on_val else self.n_test_clusters
        classes = self.val_classes if on_val else self.test_classes
        if metric == "recall":  # of accepted attempts alone
            return clusters, (clusters, classes[1])
        return clusters, classes if metric in OF_BOTH_CLASSES else ()

    def points(self) -> dict[str, float]:
        """Every figure of ``METRICS`` but those of ``STABILITY``, in that order, NaN where undefined."""
        t = self.threshold
        figures = self._figures(self.test_counts, self.val_counts)
        values = {name: float(figures[name][0]) for name in figures}
        values["log_loss_n_clipped"] = float(discrimination.n_clipped(self.test_counts)[0])
        values["threshold_plateau_low"] = np.nan if t is None else t.plateau_low
        values["threshold_plateau_high"] = np.nan if t is None else t.plateau_high
        return {name: values[name] for name in METRICS if name in values}

    def stability(self, chosen: FloatArray) -> dict[str, float]:
        """The figures of ``STABILITY``, from the thresholds that the resamples of val chose, shape (R,).

        NaN without t*, without a second trajectory to resample, or where no resample has a threshold. Resamples
        without one are skipped.
        """
        t, found = self.threshold, chosen[~np.isnan(chosen)]
        if t is None or not len(found) or self.n_val_clusters < 2:
            return dict.fromkeys(STABILITY, np.nan)
        # The grid's steps are 0.01, so half a step separates "within" from "beyond" whatever the rounding.
        half_step = 0.005
        in_plateau = (found > t.plateau_low - half_step) & (found < t.plateau_high + half_step)
        near = np.abs(found - t.value) < STABLE_WITHIN + half_step
        return dict(zip(STABILITY, (float(in_plateau.mean()), float(near.mean())), strict=True))

    def replicates(self, test_weights: FloatArray, val_weights: FloatArray) -> dict[str, FloatArray]:
        """The figures that have an interval, under cluster weights of shapes (R, test) and (R, val); each (R,)."""
        return self._figures(self.test.count(test_weights), self.val.count(val_weights))

    def _figures(self, test: ScoreCounts, val: ScoreCounts) -> dict[str, FloatArray]:
        figures = {name: function(test) for name, function in _OF_SCORES.items()} | brier_decomposition(test)
        undefined = np.full(len(test.accepted), np.nan)
        for name in (*_OF_DECISIONS, "mcc_val", "threshold", "mcc_test_reselected"):
            figures[name] = undefined
        if self.threshold is None:
            return figures
        at = np.array([self.threshold.value])
        decided = thresholds.confusion_at(test, at)
        for name, figure in _OF_DECISIONS.items():
            figures[name] = figure(decided)[:, 0]
        curve = thresholds.mcc(thresholds.confusion_at(val, thresholds.GRID))
        figures["mcc_val"] = curve[:, self.threshold.index]
        chosen = thresholds.best_indices(curve)
        figures["threshold"] = _pick(thresholds.GRID[None].repeat(len(chosen), axis=0), chosen)
        on_test = thresholds.mcc(thresholds.confusion_at(test, thresholds.GRID))
        figures["mcc_test_reselected"] = _pick(on_test, chosen)
        return figures

    def warnings(self, metric: str) -> list[str]:
        """What to know about a point estimate of ``metric`` that exists."""
        return [*self._about_value(metric), *self.rare_class(metric)]

    def _about_value(self, metric: str) -> list[str]:
        if metric == "ece_debiased":
            return self._zero_is_no_proof()
        clipped = float(discrimination.n_clipped(self.test_counts)[0])
        if metric != "log_loss" or not clipped:
            return []
        return [
            f"{clipped:g} of the probabilities are 0 or 1 and were clipped by {discrimination.EPSILON:.1e}, "
            "and each of them that is wrong adds 36 to the sum"
        ]

    def _zero_is_no_proof(self) -> list[str]:
        squared = float(calibration.squared_gap_debiased(self.test_counts)[0])
        if squared > 0:
            return []
        return [
            f"0 stands for a squared gap of {squared:.4f} after chance is taken off (ece_squared_debiased): at this n "
            "the gaps are no wider than chance makes them, which does not show that the judge is calibrated"
        ]

    def undefined_reason(self, metric: str) -> str:
        """Why the point estimate of ``metric`` does not exist."""
        if metric in ON_VAL:
            return self._undefined_on_val()
        one_class = self.test_counts.one_class_reason()
        if not self.test.n:
            return "no attempt of test has both a label and an answer by this judge"
        if metric in TWO_CLASSES and one_class is not None:
            return one_class
        if metric in ("ece_debiased", "ece_squared_debiased"):
            return f"none of {calibration.N_BINS} bins of equal mass holds two attempts"
        if self.threshold is None:
            return thresholds.no_threshold_reason(self.val_counts)
        confusion = thresholds.confusion_at(self.test_counts, np.array([self.threshold.value]))
        reasons = {
            "precision": f"no attempt of test is accepted at t* = {self.threshold.value:g}",
            "recall": "no attempt of test is accepted by the contest site",
            "f1": "no attempt of test is accepted, neither by the contest site nor at t*",
        }
        return reasons.get(metric) or thresholds.mcc_reason(confusion) or "0/0"

    def _undefined_on_val(self) -> str:
        if self.threshold is None:
            return thresholds.no_threshold_reason(self.val_counts)
        return "val cannot be resampled: it needs two trajectories, and resamples in which a threshold exists"


def class_clusters(y: FloatArray, cluster: IntArray) -> tuple[int, int]:
    """Clusters that hold an attempt of y = 0, and of y = 1."""
    return len(np.unique(cluster[y == 0])), len(np.unique(cluster[y == 1]))


def rare_class_note(classes: tuple[int, int], n_clusters: int) -> list[str]:
    """What to know where fewer than ``FEWEST_CLUSTERS`` trajectories hold one of the classes (``class_clusters``)."""
    n_rarer = min(classes)
    if not 0 < n_rarer < min(FEWEST_CLUSTERS, n_clusters):
        return []
    which = "rejected" if classes[0] == n_rarer else "accepted"
    some = f"{n_rarer} of {n_clusters} trajectories hold{'s' if n_rarer == 1 else ''} {which} attempts"
    return [f"only {some}, and this figure is as uncertain as these are few"]


def _sorted_scores(split: SplitArrays, judge: int, usable: NDArray[np.bool_]) -> SortedScores:
    return SortedScores(split.y[usable], split.p[usable, judge], split.cluster[usable])


def _pick(curves: FloatArray, index: IntArray) -> FloatArray:
    """curves[r, index[r]], NaN where index[r] is -1."""
    taken = np.take_along_axis(curves, np.maximum(index, 0)[:, None], axis=1)[:, 0]
    return np.where(index >= 0, taken, np.nan)
