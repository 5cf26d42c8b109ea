"""A contest's acceptance rate from a judge's answers everywhere and the labels of val alone, beside the truth.

A team that has few verdicts and many judgments is simulated: the labels of train and test are hidden from every method
and used for the truth alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.judge_figures import JudgeFigures
from judge_pipeline.cocreation.judged_attempts import JudgedAttempts
from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics import prediction_powered, thresholds
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, Weights, replicate
from judge_pipeline.statistics.intervals import estimate_with_interval
from judge_pipeline.statistics.prediction_powered import ClusteredMeans
from judge_pipeline.statistics.ratios import ratio
from judge_pipeline.statistics.score_counts import FloatArray
from judge_pipeline.tables import ACCEPTANCE_RATES
from judge_pipeline.tables.evaluation import RATE_METHODS

_SPLITS = ("test", "val", "train")
_Y, _P, _D, _TP, _TN = range(5)
_FROM_DECISIONS = ("judge_decisions", "rogan_gladen")
_FROM_LABELS = ("labels_only", "ppi", "ppi_plus_plus", "rogan_gladen")
_BOTH_PARTS = ("ppi", "ppi_plus_plus", "rogan_gladen")


def acceptance_rates(
    predictions: pd.DataFrame, *, seed: int, n_resamples: int = N_RESAMPLES, panel: Sequence[str] | None = None
) -> pd.DataFrame:
    """Estimates of the share of accepted attempts, judge by judge; the table ``acceptance_rates``.

    Over the attempts that have a label and the judge's answer: those of val are labelled, those of train and test are
    not. Trajectories are resampled within each split. An estimate outside [0, 1] is null, and its reason says where it
    lies; an interval that reaches beyond is cut, and the reason says so.

    Args:
        predictions: as for ``judge_metrics``.
        seed: seed of the bootstrap; the draws of val and test are those of ``judge_metrics`` under the same seed.
        n_resamples: resamples behind each interval.
        panel: the judges to report; all by default.

    Raises:
        PredictionError: the table fails ``check_predictions``, or a judge of ``panel`` has no row in it.
    """
    judged = JudgedAttempts.of(predictions)
    judges = {name: _AnsweredAttempts.of(judged, judged.judges.index(name)) for name in judged.panel(panel)}

    def statistics(weights: Weights) -> dict[tuple[str, str], FloatArray]:
        drawn = dict(zip(_SPLITS, weights, strict=True))
        return {
            (name, method): values for name, judge in judges.items() for method, values in judge.rates(drawn).items()
        }

    n_observations = max(len(judged.splits[split].y) for split in _SPLITS)
    replicates = replicate(judged.resamples(n_resamples, seed, _SPLITS), statistics, n_observations=n_observations)
    rows: list[dict[str, Any]] = []
    for name, judge in judges.items():
        facts = judge.facts()
        for method in RATE_METHODS:
            notes = judged.notes(judged.judges.index(name), *(("val",) if method == "labels_only" else _SPLITS))
            estimate = judge.estimate(method, replicates[name, method], notes)
            row = {"judge": name, "method": method, **estimate.to_row(), **facts}
            rows.append({**row, **judge.beside(method)})
    return ACCEPTANCE_RATES.conform(rows)


@dataclass(frozen=True)
class _AnsweredAttempts:
    """One judge's answers to labelled attempts, as sums by cluster in each split.

    Attributes:
        means: split -> means of y, p_ac, decision at t*, true acceptance, true rejection.
        n: split -> attempts with label and answer.
        n_clusters: split -> trajectories that hold one.
        n_attempts: split -> all its attempts.
        no_threshold_reason: why there are no decisions, where that is so.
    """

    means: Mapping[str, ClusteredMeans]
    n: Mapping[str, int]
    n_clusters: Mapping[str, int]
    n_attempts: Mapping[str, int]
    no_threshold_reason: str | None

    @classmethod
    def of(cls, judged: JudgedAttempts, judge: int) -> _AnsweredAttempts:
        figures = JudgeFigures.of(judged.splits["val"], judged.splits["test"], judge)
        t = np.nan if figures.threshold is None else figures.threshold.value
        means, n, n_clusters = {}, {}, {}
        for name in _SPLITS:
            split = judged.splits[name]
            usable = split.usable(judge)
            y, p = split.y[usable], split.p[usable, judge]
            accepts = np.where(np.isnan(t), np.nan, (p >= t).astype(np.float64))
            columns = np.column_stack([y, p, accepts, y * accepts, (1 - y) * (1 - accepts)])
            means[name] = ClusteredMeans(columns, split.cluster[usable], split.n_clusters)
            n[name], n_clusters[name] = int(usable.sum()), len(np.unique(split.cluster[usable]))
        no_threshold = thresholds.no_threshold_reason(figures.val_counts) if figures.threshold is None else None
        n_attempts = {name: len(judged.splits[name].y) for name in _SPLITS}
        return cls(means, n, n_clusters, n_attempts, no_threshold)

    def rates(self, weights: Mapping[str, FloatArray] | None) -> dict[str, FloatArray]:
        """Every method's estimate under cluster weights by split, each (R,); NaN where undefined."""
        on_val = None if weights is None else weights["val"]
        val = self.means["val"].means(on_val)
        others, everywhere = self._pooled(("test", "train"), weights), self._pooled(_SPLITS, weights)
        tuning = self._tuning(weights)
        sensitivity, specificity = _sensitivity_specificity(self.means["val"].totals(on_val))
        return {
            "labels_only": val[:, _Y],
            "judge_mean": everywhere[:, _P],
            "judge_decisions": everywhere[:, _D],
            "ppi": prediction_powered.ppi_mean(val[:, _Y], val[:, _P], others[:, _P], 1.0),
            "ppi_plus_plus": prediction_powered.ppi_mean(val[:, _Y], val[:, _P], others[:, _P], tuning),
            "rogan_gladen": prediction_powered.rogan_gladen(everywhere[:, _D], sensitivity, specificity),
        }

    def facts(self) -> dict[str, Any]:
        """What stands beside every method: the truth, and how many attempts are labelled and not."""
        truth = float(self._pooled(_SPLITS, None)[0, _Y])
        n_unlabelled = self.n["test"] + self.n["train"]
        return {
            "truth": None if np.isnan(truth) else truth,
            "n_labelled": self.n["val"],
            "n_unlabelled": n_unlabelled,
            "power_tuning": None,
            "sensitivity": None,
            "specificity": None,
        }

    def beside(self, method: str) -> dict[str, float | None]:
        """What a method was computed with."""
        if method == "ppi":
            return {"power_tuning": 1.0}
        if method == "ppi_plus_plus":
            return {"power_tuning": _or_none(self._tuning(None))}
        if method == "rogan_gladen":
            sensitivity, specificity = _sensitivity_specificity(self.means["val"].totals())
            return {"sensitivity": _or_none(sensitivity), "specificity": _or_none(specificity)}
        return {}

    def estimate(self, method: str, replicates: FloatArray, notes: list[str]) -> Estimate:
        """A method's estimate with its interval, or why it does not exist."""
        splits = ("val",) if method == "labels_only" else _SPLITS
        n = sum(self.n[split] for split in splits)
        n_left_out = sum(self.n_attempts[split] for split in splits) - n
        value = float(self.rates(None)[method][0])
        if np.isnan(value):
            return Estimate.undefined(self._undefined_reason(method), n, n_left_out)
        if not 0 <= value <= 1:
            reason = f"the estimate is {value:.4f}, outside [0, 1]: too few labels for this judge's errors"
            return Estimate.undefined(reason, n, n_left_out)
        labelled, everywhere = self.n_clusters["val"], sum(self.n_clusters.values())
        estimate = estimate_with_interval(
            value,
            replicates,
            n=n,
            n_left_out=n_left_out,
            # What rests on labels is as uncertain as the few trajectories that have them.
            n_clusters=labelled if method in _FROM_LABELS else everywhere,
            warnings=[*self._warnings(method), *notes],
        )
        return _cut(estimate)

    def _pooled(self, splits: Sequence[str], weights: Mapping[str, FloatArray] | None) -> FloatArray:
        """Means over several splits together, shape (R, 5)."""
        totals = [self.means[name].totals(None if weights is None else weights[name]) for name in splits]
        together = np.sum(totals, axis=0)
        return ratio(together[:, :-1], together[:, -1:])

    def _tuning(self, weights: Mapping[str, FloatArray] | None) -> FloatArray:
        val, on_val = self.means["val"], None if weights is None else weights["val"]
        return prediction_powered.power_tuning(
            val.covariance(_Y, _P, on_val), val.covariance(_P, _P, on_val), self._variance_elsewhere(weights)
        )

    def _variance_elsewhere(self, weights: Mapping[str, FloatArray] | None) -> FloatArray:
        """Variance of the mean p_ac over train and test together, whose trajectories are sampled apart."""
        parts = [(self.means[name], None if weights is None else weights[name]) for name in ("test", "train")]
        sizes = [means.totals(drawn)[:, -1] for means, drawn in parts]
        total = sizes[0] + sizes[1]
        variance = np.zeros(len(total))
        for (means, drawn), size in zip(parts, sizes, strict=True):
            # A split without attempts has no variance and no weight.
            own = np.where(size > 0, means.covariance(_P, _P, drawn), 0.0)
            variance = variance + np.nan_to_num(ratio(size, total)) ** 2 * own
        return variance

    def _undefined_reason(self, method: str) -> str:
        unlabelled = self.n["test"] + self.n["train"]
        if method in _FROM_LABELS and not self.n["val"]:
            return "no attempt of val has both a label and an answer by this judge"
        if method in _BOTH_PARTS and not unlabelled:
            return "this judge answered no attempt of train or test that has a label"
        if not self.n["val"] + unlabelled:
            return "no attempt has both a label and an answer by this judge"
        if method in _FROM_DECISIONS and self.no_threshold_reason is not None:
            return self.no_threshold_reason
        if method == "rogan_gladen":
            beside = self.beside(method)
            sensitivity, specificity = _shown(beside["sensitivity"]), _shown(beside["specificity"])
            return (
                f"sensitivity {sensitivity} and specificity {specificity} on val do not add up to more than 1: "
                "decisions no better than a coin cannot be corrected"
            )
        return "lambda needs two trajectories with answers in each split that has any"

    def _warnings(self, method: str) -> list[str]:
        if method == "rogan_gladen":
            return ["sensitivity and specificity are taken on val, where t* was chosen, which flatters them"]
        if method == "ppi_plus_plus" and float(self._tuning(None)[0]) == 0:
            return ["lambda is 0: on val the answers do not go with the labels, and the labels stand alone"]
        return []


def _sensitivity_specificity(val: FloatArray) -> tuple[FloatArray, FloatArray]:
    """From the totals of val, shape (R, 6); each (R,), NaN where its class is missing.

    From whole numbers, so that 1 is exactly 1.
    """
    return ratio(val[:, _TP], val[:, _Y]), ratio(val[:, _TN], val[:, -1] - val[:, _Y])


def _cut(estimate: Estimate) -> Estimate:
    """The estimate with its interval cut to [0, 1], and a reason that says so where it was."""
    if estimate.ci95 is None:
        return estimate
    low, high = estimate.ci95
    beyond = [f"{end:.4f}" for end in (low, high) if not 0 <= end <= 1]
    if not beyond:
        return estimate
    note = f"the interval reached {' and '.join(beyond)} and is cut to [0, 1]"
    reason = note if estimate.reason is None else f"{estimate.reason}; {note}"
    return Estimate(estimate.value, estimate.n, estimate.n_left_out, (max(low, 0.0), min(high, 1.0)), reason)


def _shown(rate: float | None) -> str:
    return "(undefined: one class)" if rate is None else f"{rate:.3f}"


def _or_none(value: FloatArray) -> float | None:
    return None if np.isnan(value[0]) else float(value[0])
