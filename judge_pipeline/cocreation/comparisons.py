"""What is compared in ``judge_differences``: judges with judges, with chance, with a constant, with calibration.

A comparison is a function of cluster weights like any figure: the difference under weight 1 is its value, under
resampled weights its replicates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

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

Replicates = dict[str, FloatArray]


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


Group = tuple[list[Comparison], Callable[[Weights], list[FloatArray]]]
"""Comparisons, and their replicates under the weights of test and val, in the same order."""


def judge_pairs(judged: JudgedAttempts) -> Group:
    """``COMPARED`` for each pair of judges, over the attempts of test that both answered, each at its own t*."""
    val, test = judged.splits["val"], judged.splits["test"]
    made: dict[tuple[int, bytes], JudgeFigures] = {}

    def figures(judge: int, other: int) -> tuple[int, bytes]:
        both = test.usable(judge) & test.usable(other)
        key = (judge, both.tobytes())
        if key not in made:
            made[key] = JudgeFigures.of(val, test, judge, both)
        return key

    pairs = [(figures(i, j), figures(j, i)) for i, j in combinations(range(len(judged.judges)), 2)]
    points = {key: judge.points() for key, judge in made.items()}
    comparisons = []
    for first, second in pairs:
        names = judged.judges[first[0]], judged.judges[second[0]]
        for metric in COMPARED:
            reasons = [
                f"{name}: {made[key].undefined_reason(metric)}"
                for name, key in zip(names, (first, second), strict=True)
                if np.isnan(points[key][metric])
            ]
            difference = points[first][metric] - points[second][metric]
            comparisons.append(
                _comparison(metric, "judge", names, difference, "; ".join(reasons), made[first], len(test.y))
            )

    def replicates(weights: Weights) -> list[FloatArray]:
        found = {key: judge.replicates(*weights) for key, judge in made.items()}
        return [found[first][metric] - found[second][metric] for first, second in pairs for metric in COMPARED]

    return comparisons, replicates


def judges_against_levels(judged: JudgedAttempts) -> Group:
    """``LEVELS`` for each judge, over the attempts of test that it answered."""
    val, test = judged.splits["val"], judged.splits["test"]
    made = [JudgeFigures.of(val, test, judge) for judge in range(len(judged.judges))]
    levels = [_Levels.of(val, test, judge) for judge in range(len(judged.judges))]
    comparisons = []
    for name, judge, level in zip(judged.judges, made, levels, strict=True):
        points, reached = judge.points(), level.under(None)
        for metric, against in LEVELS.items():
            difference = points[metric] - float(reached[metric][0])
            reason = judge.undefined_reason(metric) if np.isnan(points[metric]) else level.no_constant_reason
            comparisons.append(_comparison(metric, against, (name, None), difference, reason, judge, len(test.y)))

    def replicates(weights: Weights) -> list[FloatArray]:
        found = []
        for judge, level in zip(made, levels, strict=True):
            figures, reached = judge.replicates(*weights), level.under(weights[0])
            found += [figures[metric] - reached[metric] for metric in LEVELS]
        return found

    return comparisons, replicates


def agreement_against_chance(judged: JudgedAttempts, panel: tuple[str, ...]) -> Group:
    """Cohen's kappa of each pair, their mean and Fleiss' kappa, against 0; nothing for fewer than two judges."""
    if len(panel) < 2:
        return [], lambda _: []
    figures = AgreementFigures.of(judged, panel)
    points = {key: value for key, value in figures.points().items() if key[0] in KAPPAS}
    comparisons = [
        Comparison(
            key[0], "chance", key[1], key[2], value,
            figures.undefined_reason(*key) if np.isnan(value) else None,
            figures.n_items, figures.n_left_out, figures.n_clusters,
        )
        for key, value in points.items()
    ]  # fmt: skip

    def replicates(weights: Weights) -> list[FloatArray]:
        found = figures.replicates(weights[0])
        return [found.get(key, np.full(len(weights[0]), np.nan)) for key in points]

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

    def under(self, weights: FloatArray | None) -> Replicates:
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
    )
