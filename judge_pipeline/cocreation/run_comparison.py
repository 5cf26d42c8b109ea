"""Two runs on the same attempts: every figure of a judge before and after, paired (``judge-pipeline compare``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge_pipeline.cocreation.agreement_figures import AgreementFigures
from judge_pipeline.cocreation.comparisons import FigureKey, SharedFigures
from judge_pipeline.cocreation.difference_rows import (
    TESTED,
    Basis,
    Replicates,
    as_side,
    correct_over_figures,
    difference_row,
)
from judge_pipeline.cocreation.judge_figures import METRICS, ON_VAL, JudgeFigures
from judge_pipeline.cocreation.judged_attempts import SplitArrays
from judge_pipeline.cocreation.two_runs import SPENDING, SPENDING_COLUMNS, Pair, TwoRuns, new_name, old_name
from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, Weights, replicate
from judge_pipeline.statistics.intervals import estimate_with_interval
from judge_pipeline.statistics.ratios import ratio
from judge_pipeline.statistics.score_counts import FloatArray
from judge_pipeline.tables import SPLITS
from judge_pipeline.tables.run_comparison import RUN_AGREEMENT, RUN_COUNTS, RUN_DIFFERENCES, RUN_FLIPS

_AGREEMENT = ("cohen", "raw_agreement", "bias_index")


@dataclass(frozen=True)
class RunComparison:
    """What two runs say of the same attempts.

    Attributes:
        differences: table RUN_DIFFERENCES.
        agreement: table RUN_AGREEMENT.
        flips: table RUN_FLIPS.
        counts: table RUN_COUNTS.
        only_old: judges of the old run that were compared with nothing.
        only_new: judges of the new run that were compared with nothing.
        n_labels_filled: attempts whose label only one of the runs had, and which count with it.
    """

    differences: pd.DataFrame
    agreement: pd.DataFrame
    flips: pd.DataFrame
    counts: pd.DataFrame
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    n_labels_filled: int

    def drops(self, metrics: Sequence[str] = TESTED, margin: float = 0.0) -> pd.DataFrame:
        """The rows of ``differences`` that are worse beyond their interval, and by more than ``margin``."""
        rows = self.differences
        dropped = rows["metric"].isin(metrics) & (rows["change"] == "drop") & (rows["value"].abs() > margin)
        return rows[dropped].reset_index(drop=True)

    def undecided(self, metrics: Sequence[str] = TESTED) -> pd.DataFrame:
        """The rows of ``differences`` that have no value or no interval, so that a drop could not be seen."""
        rows = self.differences
        return rows[rows["metric"].isin(metrics) & (rows["change"] == "undefined")].reset_index(drop=True)


def compare_runs(
    old: pd.DataFrame,
    new: pd.DataFrame,
    pairs: Sequence[Pair] | None = None,
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
) -> RunComparison:
    """Every figure of ``judge_metrics`` in both runs, over the attempts of test that both answered; new less old.

    Each side decides at its own t*, chosen on all that it answered on val and held fixed. Both sides share resamples,
    so intervals are of paired differences. p-values invert them; Holm corrects over ``TESTED`` within each pair.

    Args:
        old: long prediction table, as for ``judge_metrics``; cost_usd and latency_ms are compared where known.
        new: the same of the new run.
        pairs: judges to compare, the old run's first; by default each judge with itself.
        seed: seed of the bootstrap.
        n_resamples: resamples behind each interval.

    Raises:
        PredictionError: see ``TwoRuns.of``.
    """
    runs = TwoRuns.of(old, new, pairs)
    compared = _ComparedPairs(runs)
    test, val = runs.judged.splits["test"], runs.judged.splits["val"]
    replicates = replicate(
        runs.judged.resamples(n_resamples, seed), compared.under, n_observations=max(len(test.y), len(val.y))
    )
    differences: list[dict[str, Any]] = []
    agreement: list[dict[str, Any]] = []
    for pair in runs.pairs:
        rows = compared.difference_rows(pair, replicates)
        correct_over_figures(rows)
        differences += rows
        agreement += compared.agreement_rows(pair, replicates)
    return RunComparison(
        differences=RUN_DIFFERENCES.conform(differences),
        agreement=RUN_AGREEMENT.conform(agreement),
        flips=RUN_FLIPS.conform([row for pair in runs.pairs for row in compared.flip_rows(pair)]),
        counts=RUN_COUNTS.conform([row for pair in runs.pairs for row in compared.count_rows(pair)]),
        only_old=runs.only_old,
        only_new=runs.only_new,
        n_labels_filled=runs.n_filled,
    )


class _ComparedPairs:
    """The figures of each pair as functions of cluster weights, and their rows."""

    def __init__(self, runs: TwoRuns) -> None:
        self.runs, self.judged = runs, runs.judged
        self.test, self.val = runs.judged.splits["test"], runs.judged.splits["val"]
        self.shared = SharedFigures(runs.judged)
        self.keys = {pair: self._keys(pair) for pair in runs.pairs}
        self.decided = {
            pair: AgreementFigures.of(runs.judged, (old_name(pair[0]), new_name(pair[1]))) for pair in runs.pairs
        }
        self.spending = {pair: self._spending(pair) for pair in runs.pairs}

    def _keys(self, pair: Pair) -> tuple[FigureKey, FigureKey]:
        i, j = self.runs.columns(pair)
        both = self.test.usable(i) & self.test.usable(j)
        return self.shared.key(i, both), self.shared.key(j, both)

    def _spending(self, pair: Pair) -> dict[str, _Spending]:
        i, j = self.runs.columns(pair)
        both = self.test.usable(i) & self.test.usable(j)
        frame, found = self.runs.predictions, {}
        for metric, column in zip(SPENDING, SPENDING_COLUMNS, strict=True):
            if column not in frame.columns:
                continue
            sides = []
            for name in (old_name(pair[0]), new_name(pair[1])):
                rows = frame[frame["judge"] == name].set_index("attempt_id")[column]
                sides.append(rows.reindex(self.test.attempt_ids).to_numpy(dtype=np.float64, na_value=np.nan))
            found[metric] = _Spending.of(sides[0], sides[1], both, self.test)
        return found

    def under(self, weights: Weights) -> dict[tuple[Any, ...], FloatArray]:
        """All figures under the weights of test and val, by pair, side and metric."""
        found = self.shared.under(weights)
        values: dict[tuple[Any, ...], FloatArray] = {}
        for pair, keys in self.keys.items():
            for side, key in zip(("old", "new"), keys, strict=True):
                values |= {(pair, side, metric): of for metric, of in found[key].items()}
            for metric, spending in self.spending[pair].items():
                values |= {(pair, side, metric): of for side, of in spending.under(weights[0]).items()}
            agreement = self.decided[pair].replicates(weights[0])
            values |= {(pair, "agreement", key[0]): of for key, of in agreement.items() if key[0] in _AGREEMENT}
        return values

    def difference_rows(self, pair: Pair, replicates: Replicates) -> list[dict[str, Any]]:
        sides = [self.shared[key] for key in self.keys[pair]]
        values = [
            self.shared.points(key) | side.stability(replicates[pair, name, "threshold"])
            for key, side, name in zip(self.keys[pair], sides, ("old", "new"), strict=True)
        ]
        rows = [
            difference_row(
                pair, metric, (values[0][metric], values[1][metric]), replicates, self._basis(pair, metric, sides)
            )
            for metric in METRICS
        ]
        for metric, spending in self.spending[pair].items():
            rows.append(difference_row(pair, metric, spending.points(), replicates, spending.basis(len(self.test.y))))
        return rows

    def _basis(self, pair: Pair, metric: str, sides: Sequence[JudgeFigures]) -> Basis:
        notes = [] if self.judged.cluster_note is None else [self.judged.cluster_note]
        reasons = [side.undefined_reason(metric) for side in sides]
        n_clusters = min(side.n_clusters(metric) for side in sides)
        if metric not in ON_VAL:
            notes = [*sides[0].rare_class(metric), *notes]
            n, n_trajectories = sides[0].test.n, sides[0].n_test_clusters
            return Basis("test", n, len(self.test.y) - n, n_trajectories, n_clusters, notes, reasons)
        i, j = self.runs.columns(pair)
        n = int((self.val.usable(i) & self.val.usable(j)).sum())
        if sides[0].val.n != n or sides[1].val.n != n:
            notes.append(
                f"each side chose t* on what it answered of val: {sides[0].val.n} and {sides[1].val.n} attempts"
            )
        n_trajectories = min(side.n_val_clusters for side in sides)
        return Basis("val", n, len(self.val.y) - n, n_trajectories, n_clusters, notes, reasons)

    def agreement_rows(self, pair: Pair, replicates: Replicates) -> list[dict[str, Any]]:
        figures, rows = self.decided[pair], []
        names = figures.judges
        for key, value in figures.points().items():
            if key[0] not in _AGREEMENT or key[1:] != names:
                continue
            if np.isnan(value):
                estimate = Estimate.undefined(
                    as_side(figures.undefined_reason(*key)), figures.n_items, figures.n_left_out
                )
            else:
                estimate = estimate_with_interval(
                    value, replicates[pair, "agreement", key[0]], n=figures.n_items, n_left_out=figures.n_left_out,
                    n_clusters=figures.n_clusters, warnings=figures.warnings(*key),
                )  # fmt: skip
            rows.append({"old_judge": pair[0], "new_judge": pair[1], "statistic": key[0], **estimate.to_row()})
        return rows

    def flip_rows(self, pair: Pair) -> list[dict[str, Any]]:
        """Attempts of test that both answered and decided differently; with and without label."""
        thresholds = [self.shared[key].threshold for key in self.keys[pair]]
        if thresholds[0] is None or thresholds[1] is None:
            return []
        i, j = self.runs.columns(pair)
        p_old, p_new = self.test.p[:, i], self.test.p[:, j]
        old, new = p_old >= thresholds[0].value, p_new >= thresholds[1].value
        flipped = np.flatnonzero(~np.isnan(p_old) & ~np.isnan(p_new) & (old != new))
        return [
            {
                "old_judge": pair[0],
                "new_judge": pair[1],
                "attempt_id": str(self.test.attempt_ids[at]),
                "y": None if np.isnan(self.test.y[at]) else int(self.test.y[at]),
                "old_p_ac": float(p_old[at]),
                "new_p_ac": float(p_new[at]),
                "old_accepts": bool(old[at]),
                "new_accepts": bool(new[at]),
                "flip": _flip(float(self.test.y[at]), bool(new[at])),
            }
            for at in flipped
        ]

    def count_rows(self, pair: Pair) -> list[dict[str, Any]]:
        i, j = self.runs.columns(pair)
        thresholds = [self.shared[key].threshold for key in self.keys[pair]]
        rows = []
        for split in SPLITS:
            arrays = self.judged.splits[split]
            old, new = ~np.isnan(arrays.p[:, i]), ~np.isnan(arrays.p[:, j])
            row = {
                "old_judge": pair[0],
                "new_judge": pair[1],
                "split": split,
                "n_both": int((old & new).sum()),
                "n_labelled": int((old & new & ~np.isnan(arrays.y)).sum()),
                "n_only_old": int((old & ~new).sum()),
                "n_only_new": int((new & ~old).sum()),
                "n_neither": int((~old & ~new).sum()),
            }
            for side, threshold in zip(("old", "new"), thresholds, strict=True):
                row[f"{side}_threshold"] = None if threshold is None else threshold.value
            rows.append(row)
        return rows


@dataclass(frozen=True)
class _Spending:
    """A cost or a latency of both sides, summed by trajectory of test, over attempts where both are known."""

    n: FloatArray
    sums: tuple[FloatArray, FloatArray]
    n_clusters: int
    n_known: tuple[int, int]

    @classmethod
    def of(cls, old: FloatArray, new: FloatArray, both: NDArray[np.bool_], test: SplitArrays) -> _Spending:
        known = both & ~np.isnan(old) & ~np.isnan(new)
        cluster = test.cluster[known]

        def by_cluster(values: FloatArray) -> FloatArray:
            return np.bincount(cluster, weights=values, minlength=test.n_clusters).astype(np.float64)

        return cls(
            n=by_cluster(np.ones(len(cluster))),
            sums=(by_cluster(old[known]), by_cluster(new[known])),
            n_clusters=len(np.unique(cluster)),
            n_known=(int((both & ~np.isnan(old)).sum()), int((both & ~np.isnan(new)).sum())),
        )

    def under(self, weights: FloatArray) -> dict[str, FloatArray]:
        return {
            side: ratio(weights @ sums, weights @ self.n) for side, sums in zip(("old", "new"), self.sums, strict=True)
        }

    def points(self) -> tuple[float, float]:
        found = self.under(np.ones((1, len(self.n))))
        return float(found["old"][0]), float(found["new"][0])

    def basis(self, n_attempts: int) -> Basis:
        n = int(self.n.sum())
        reasons = [
            f"the {side} run knows it of {count} compared attempts, and of none both do"
            for side, count in zip(("old", "new"), self.n_known, strict=True)
        ]
        return Basis("test", n, n_attempts - n, self.n_clusters, self.n_clusters, [], reasons)


def _flip(y: float, accepts_now: bool) -> str:
    if np.isnan(y):
        return "unlabelled"
    return "mended" if accepts_now == bool(y) else "broken"
