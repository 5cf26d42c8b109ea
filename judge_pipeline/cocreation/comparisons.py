"""What is compared in ``judge_differences``: judges with judges, with chance, with a constant, with calibration.

A comparison is a function of cluster weights like any figure: the difference under weight 1 is its value, under
resampled weights its replicates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from judge_pipeline.cocreation.agreement_figures import AgreementFigures
from judge_pipeline.cocreation.judge_figures import JudgeFigures
from judge_pipeline.cocreation.judged_attempts import JudgedAttempts, SplitArrays
from judge_pipeline.statistics.bootstrap import Weights
from judge_pipeline.statistics.discrimination import EPSILON
from judge_pipeline.statistics.ratios import ratio
from judge_pipeline.statistics.score_counts import FloatArray

COMPARED = (
    "roc_auc", "pr_auc", "log_loss", "brier", "ece", "ece_equal_mass", "ece_squared_debiased", "mcc_test",
    "balanced_accuracy", "f1",
)  # fmt: skip
"""The figures of which judges are compared."""

LEVELS = {
    "roc_auc": "chance",
    "pr_auc": "chance",
    "mcc_test": "chance",
    "balanced_accuracy": "chance",
    "log_loss": "constant",
    "brier": "constant",
    "ece_squared_debiased": "calibration",
}
"""The figures that are set against a level, and which."""

KAPPAS = ("cohen", "mean_cohen", "fleiss")
"""Agreement figures that are set against 0, the agreement that chance makes."""

FigureKey = tuple[int, bytes]
"""A judge's column, and the attempts of test that take part."""


@dataclass(frozen=True)
class Comparison:
    """One difference.

    Attributes:
        metric: which figure.
        against: ``tables.evaluation.AGAINST``.
        judge_1: the judge, the first of a pair, or None for the panel.
        judge_2: the other judge, or None.
        value: the difference on the data as they are, NaN where undefined.
        reason: why it is undefined, where it is.
        n: attempts behind it.
        n_left_out: other attempts of test.
        n_trajectories: trajectories that hold these attempts.
        n_clusters: those whose resampling says how uncertain it is (``JudgeFigures.n_clusters``).
        warnings: what to know about it.
    """

    metric: str
    against: str
    judge_1: str | None
    judge_2: str | None
    value: float
    reason: str | None
    n: int
    n_left_out: int
    n_trajectories: int
    n_clusters: int
    warnings: tuple[str, ...] = ()


class SharedFigures:
    """Each judge's figures over each set of attempts that a comparison needs, made once and resampled once a block."""

    def __init__(self, judged: JudgedAttempts) -> None:
        self.judged = judged
        self._made: dict[FigureKey, JudgeFigures] = {}
        self._points: dict[FigureKey, dict[str, float]] = {}

    def key(self, judge: int, among: NDArray[np.bool_]) -> FigureKey:
        """Where the figures of ``judge`` over the attempts of test in ``among`` are found."""
        key = (judge, among.tobytes())
        if key not in self._made:
            self._made[key] = JudgeFigures.of(self.judged.splits["val"], self.judged.splits["test"], judge, among)
        return key

    def __getitem__(self, key: FigureKey) -> JudgeFigures:
        return self._made[key]

    def points(self, key: FigureKey) -> dict[str, float]:
        """Their values on the data as they are."""
        if key not in self._points:
            self._points[key] = self._made[key].points()
        return self._points[key]

    def under(self, weights: Weights) -> dict[FigureKey, dict[str, FloatArray]]:
        """All of them under the weights of test and val."""
        return {key: judge.replicates(*weights) for key, judge in self._made.items()}


Found = Mapping[FigureKey, Mapping[str, FloatArray]]
Group = tuple[list[Comparison], Callable[[Weights, Found], list[FloatArray]]]
"""Comparisons, and their replicates in the same order, from the weights and the ``SharedFigures`` under them."""


def judge_pairs(shared: SharedFigures) -> Group:
    """``COMPARED`` for each pair of judges, over the attempts of test that both answered, each at its own t*."""
    judged, test = shared.judged, shared.judged.splits["test"]
    pairs, comparisons = [], []
    for i, j in combinations(range(len(judged.judges)), 2):
        both = test.usable(i) & test.usable(j)
        first, second = shared.key(i, both), shared.key(j, both)
        pairs.append((first, second))
        comparisons += [_of_pair(shared, metric, first, second) for metric in COMPARED]

    def replicates(_: Weights, found: Found) -> list[FloatArray]:
        return [found[first][metric] - found[second][metric] for first, second in pairs for metric in COMPARED]

    return comparisons, replicates


def _of_pair(shared: SharedFigures, metric: str, first: FigureKey, second: FigureKey) -> Comparison:
    judges = shared.judged.judges
    values = [shared.points(key)[metric] for key in (first, second)]
    reasons = [
        f"{judges[key[0]]}: {shared[key].undefined_reason(metric)}"
        for key, value in zip((first, second), values, strict=True)
        if np.isnan(value)
    ]
    names = judges[first[0]], judges[second[0]]
    n_attempts = len(shared.judged.splits["test"].y)
    return _comparison(metric, "judge", names, values[0] - values[1], "; ".join(reasons), shared[first], n_attempts)


def judges_against_levels(shared: SharedFigures) -> Group:
    """``LEVELS`` for each judge, over the attempts of test that it answered."""
    judged = shared.judged
    val, test = judged.splits["val"], judged.splits["test"]
    keys = [shared.key(judge, test.usable(judge)) for judge in range(len(judged.judges))]
    levels = [_Levels.of(val, test, judge) for judge in range(len(judged.judges))]
    comparisons = []
    for key, level in zip(keys, levels, strict=True):
        judge, reached = shared[key], level.under(None)
        for metric, against in LEVELS.items():
            value = shared.points(key)[metric]
            reason = judge.undefined_reason(metric) if np.isnan(value) else level.no_constant_reason
            names, difference = (judged.judges[key[0]], None), value - float(reached[metric][0])
            comparisons.append(_comparison(metric, against, names, difference, reason, judge, len(test.y)))

    def replicates(weights: Weights, found: Found) -> list[FloatArray]:
        reached = [level.under(weights[0]) for level in levels]
        return [found[key][metric] - of[metric] for key, of in zip(keys, reached, strict=True) for metric in LEVELS]

    return comparisons, replicates


def agreement_against_chance(judged: JudgedAttempts, panel: tuple[str, ...]) -> Group:
    """Cohen's kappa of each pair, their mean and Fleiss' kappa, against 0; nothing for fewer than two judges."""
    if len(panel) < 2:
        return [], lambda *_: []
    figures = AgreementFigures.of(judged, panel)
    points = {key: value for key, value in figures.points().items() if key[0] in KAPPAS}
    comparisons = [
        Comparison(
            key[0], "chance", key[1], key[2], value,
            figures.undefined_reason(*key) if np.isnan(value) else None,
            figures.n_items, figures.n_left_out, figures.n_clusters, figures.n_clusters,
        )
        for key, value in points.items()
    ]  # fmt: skip

    def replicates(weights: Weights, _: Found) -> list[FloatArray]:
        kappas = figures.replicates(weights[0])
        return [kappas.get(key, np.full(len(weights[0]), np.nan)) for key in points]

    return comparisons, replicates


@dataclass(frozen=True)
class _Levels:
    """What a judge without skill reaches on the attempts that one judge answered.

    Attributes:
        n: these attempts by trajectory of test.
        accepted: those of them with y = 1.
        forecast: the constant forecast, the share of accepted among labelled attempts of val; NaN without any.
    """

    n: FloatArray
    accepted: FloatArray
    forecast: float

    @classmethod
    def of(cls, val: SplitArrays, test: SplitArrays, judge: int) -> _Levels:
        usable = test.usable(judge)
        cluster, size = test.cluster[usable], test.n_clusters
        labels = val.y[~np.isnan(val.y)]
        return cls(
            n=np.bincount(cluster, minlength=size).astype(np.float64),
            accepted=np.bincount(cluster, weights=test.y[usable], minlength=size).astype(np.float64),
            forecast=float(labels.mean()) if len(labels) else np.nan,
        )

    @property
    def no_constant_reason(self) -> str:
        return "no attempt of val has a label, so there is no constant forecast"

    def under(self, weights: FloatArray | None) -> dict[str, FloatArray]:
        """Each level under cluster weights (R, clusters), shape (R,)."""
        rows = np.ones((1, len(self.n))) if weights is None else weights
        share = ratio(rows @ self.accepted, rows @ self.n)
        c = self.forecast
        clipped = min(max(c, EPSILON), 1 - EPSILON)
        return {
            "roc_auc": np.full(len(rows), 0.5),
            "pr_auc": share,
            "mcc_test": np.zeros(len(rows)),
            "balanced_accuracy": np.full(len(rows), 0.5),
            "log_loss": -share * np.log(clipped) - (1 - share) * np.log1p(-clipped),
            "brier": share * (1 - c) ** 2 + (1 - share) * c**2,
            "ece_squared_debiased": np.zeros(len(rows)),
        }


def _comparison(
    metric: str,
    against: str,
    judges: tuple[str, str | None],
    value: float,
    reason: str,
    figures: JudgeFigures,
    n_attempts: int,
) -> Comparison:
    return Comparison(
        metric=metric,
        against=against,
        judge_1=judges[0],
        judge_2=judges[1],
        value=value,
        reason=reason if np.isnan(value) else None,
        n=figures.test.n,
        n_left_out=n_attempts - figures.test.n,
        n_trajectories=figures.n_test_clusters,
        n_clusters=figures.n_clusters(metric),
        warnings=tuple(figures.rare_class(metric)),
    )
