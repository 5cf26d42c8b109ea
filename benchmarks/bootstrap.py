"""2,000 cluster-bootstrap resamples of every figure of 4 judges on 100,000 attempts, against a loop over scikit-learn.

Two judges answer with two decimals, as LLM judges do, and two with probabilities that never repeat, as a fitted model
does. Both sides compute every figure that has an interval, of each judge and of their agreement, on the same resamples
of whole trajectories: ours from the weights, the peer by calling scikit-learn (and numpy, where scikit-learn has no
such figure) on the repeated rows. Both are timed by processor time on one thread, ours on all resamples and the peer
on a few, scaled; on these few the values must agree or the run fails. The peer searches the threshold with one sorted
pass instead of 101 calls of matthews_corrcoef a judge, which would make it many times slower.

    python benchmarks/bootstrap.py [--resamples 2000] [--peer-resamples 3] [--attempts 100000]
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sklearn import metrics as sk
from threadpoolctl import threadpool_limits

from judge_pipeline.cocreation.agreement_figures import AgreementFigures
from judge_pipeline.cocreation.judge_figures import JudgeFigures
from judge_pipeline.cocreation.judged_attempts import JudgedAttempts
from judge_pipeline.statistics.bootstrap import ClusterResamples, Weights, replicate

TARGET = 20.0
MEMORY_TARGET_GB = 4.0
N_BINS = 15
DECIMALS = (2, 2, None, None)
"""Decimals of each judge's answers; None for all that a float has."""
TOLERANCE = 1e-9
"""Sums of 100,000 terms, added in another order, differ by about 1e-13 relatively."""

Values = dict[tuple[Any, ...], float]


def main() -> int:
    """Runs the comparison; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--resamples", type=int, default=2000)
    parser.add_argument("--peer-resamples", type=int, default=3, help="resamples that the peer computes")
    parser.add_argument("--attempts", type=int, default=100_000, help="labelled attempts of test; a tenth more of val")
    given = parser.parse_args()
    judged = JudgedAttempts.of(made_predictions(given.attempts))
    val, test = judged.splits["val"], judged.splits["test"]
    print(f"{len(judged.judges)} judges x {len(test.y)} attempts in {test.n_clusters} trajectories; val {len(val.y)}")
    plan = ClusterResamples((test.n_clusters, val.n_clusters), given.resamples, seed=0)
    threadpool_limits(1)
    started = time.process_time()
    ours = _ours(judged, plan)
    seconds_ours = time.process_time() - started
    peak_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(f"ours         {seconds_ours:9.1f} s for {given.resamples} resamples, {len(ours)} figures each")
    seconds_peer = _compare_with_peer(judged, plan, ours, given.peer_resamples) * given.resamples
    print(f"scikit-learn {seconds_peer:9.1f} s, scaled from {given.peer_resamples} resamples; the values agree")
    print(f"peak memory of the process after our part: {peak_gb:.2f} GB (limit {MEMORY_TARGET_GB:g} GB)")
    ratio = seconds_peer / seconds_ours
    print(f"ratio {ratio:.2f} target {TARGET:g}")
    return 0 if ratio >= TARGET and peak_gb < MEMORY_TARGET_GB else 1


def made_predictions(n_attempts: int) -> pd.DataFrame:
    """Clustered predictions of 4 judges: trajectories of 1 to 10 attempts, a tenth as many of val as of test."""
    rng = np.random.default_rng(5)
    parts = [_made_split(rng, "test", n_attempts), _made_split(rng, "val", n_attempts // 10)]
    return pd.concat(parts, ignore_index=True)


def _made_split(rng: np.random.Generator, split: str, n: int) -> pd.DataFrame:
    sizes = np.minimum(rng.geometric(0.45, n), 10)
    trajectory = np.repeat(np.arange(n), sizes)[:n]
    ease = rng.normal(size=n)[trajectory]
    y = (rng.random(n) < _sigmoid(0.5 + ease)).astype(int)
    parts = []
    for judge, decimals in enumerate(DECIMALS):
        p_ac = _sigmoid(0.8 * y + ease + rng.normal(size=n))
        parts.append(
            pd.DataFrame(
                {
                    "attempt_id": [f"{split}-{i}" for i in range(n)],
                    "judge": f"judge-{judge}",
                    "p_ac": p_ac if decimals is None else np.round(p_ac, decimals),
                    "y": y,
                    "split": split,
                    "participant": [f"{split}-{u}" for u in trajectory],
                    "problem_id": "A",
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _ours(judged: JudgedAttempts, plan: ClusterResamples) -> dict[tuple[Any, ...], np.ndarray]:
    val, test = judged.splits["val"], judged.splits["test"]
    figures = {name: JudgeFigures.of(val, test, i) for i, name in enumerate(judged.judges)}
    agreement = AgreementFigures.of(judged, judged.judges)

    def statistics(weights: Weights) -> dict[tuple[Any, ...], np.ndarray]:
        found: dict[tuple[Any, ...], np.ndarray] = {
            (name, metric): values
            for name, judge in figures.items()
            for metric, values in judge.replicates(*weights).items()
        }
        return found | agreement.replicates(weights[0])

    return replicate(plan, statistics, n_observations=len(test.y))


def _compare_with_peer(
    judged: JudgedAttempts, plan: ClusterResamples, ours: dict[tuple[Any, ...], np.ndarray], n: int
) -> float:
    """Seconds that the peer takes for one resample, after its values were held against ours."""
    val, test = judged.splits["val"], judged.splits["test"]
    part = ClusterResamples(plan.n_clusters, n, plan.seed)
    test_weights, val_weights = (np.concatenate(rows) for rows in zip(*part.blocks(1), strict=True))
    thresholds = [_best_threshold(val.y, val.p[:, j]) for j in range(len(judged.judges))]
    seconds = 0.0
    for resample in range(n):
        started = time.process_time()
        rows = np.repeat(np.arange(len(test.y)), test_weights[resample][test.cluster].astype(int))
        val_rows = np.repeat(np.arange(len(val.y)), val_weights[resample][val.cluster].astype(int))
        peer: Values = {}
        for j, name in enumerate(judged.judges):
            found = _peer_judge(test.y[rows], test.p[rows, j], val.y[val_rows], val.p[val_rows, j], thresholds[j])
            peer |= {(name, metric): value for metric, value in found.items()}
        decisions = test.p[rows] >= np.array([t for t, _ in thresholds])
        peer |= _peer_agreement(judged.judges, decisions)
        seconds += time.process_time() - started
        _refuse_differences(peer, {key: float(values[resample]) for key, values in ours.items()})
    return seconds / n


def _refuse_differences(peer: Values, ours: Values) -> None:
    if peer.keys() != ours.keys():
        raise SystemExit(f"not the same figures: {sorted(map(str, peer.keys() ^ ours.keys()))}")
    for key, value in peer.items():
        if not abs(value - ours[key]) <= TOLERANCE * max(1.0, abs(value)):
            raise SystemExit(f"{key}: scikit-learn {value!r}, ours {ours[key]!r}")


def _peer_judge(
    y: np.ndarray, p: np.ndarray, val_y: np.ndarray, val_p: np.ndarray, threshold: tuple[float, float]
) -> dict[str, float]:
    """Every figure of one judge on one resample."""
    t = threshold[0]
    decisions = p >= t
    chosen, _ = _best_threshold(val_y, val_p)
    return {
        "roc_auc": sk.roc_auc_score(y, p),
        "pr_auc": sk.average_precision_score(y, p),
        "log_loss": sk.log_loss(y, p),
        "brier": sk.brier_score_loss(y, p),
        **_calibration(y, p),
        "mcc_val": sk.matthews_corrcoef(val_y, val_p >= t),
        "threshold": chosen,
        "mcc_test": sk.matthews_corrcoef(y, decisions),
        "mcc_test_reselected": sk.matthews_corrcoef(y, p >= chosen),
        "precision": sk.precision_score(y, decisions),
        "recall": sk.recall_score(y, decisions),
        "f1": sk.f1_score(y, decisions),
        "balanced_accuracy": sk.balanced_accuracy_score(y, decisions),
        "accept_rate": float(decisions.mean()),
    }


def _best_threshold(y: np.ndarray, p: np.ndarray) -> tuple[float, float]:
    """t* and its MCC over the grid i / 100, from two sorted arrays."""
    grid = np.arange(101) / 100
    fn, tn = (np.searchsorted(np.sort(p[y == label]), grid, side="left") for label in (1, 0))
    tp, fp = (y == 1).sum() - fn, (y == 0).sum() - tn
    with np.errstate(invalid="ignore"):
        mcc = (tp * tn - fp * fn) / np.sqrt(1.0 * (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    best = int(np.argmax(np.nan_to_num(mcc, nan=-2) >= np.nanmax(mcc) - 1e-12))
    return float(grid[best]), float(mcc[best])


def _calibration(y: np.ndarray, p: np.ndarray) -> dict[str, float]:
    """Calibration errors by numpy; scikit-learn has none of them."""
    n = len(y)
    width = np.maximum(np.searchsorted(np.arange(N_BINS + 1) / N_BINS, p, side="left") - 1, 0)
    _, place, count = np.unique(p, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - count
    mass = (rank * N_BINS // n)[place]
    by_width, by_mass = (
        [np.bincount(bins, part, N_BINS) for part in (np.ones(n), y, p)] for bins in (width, mass)
    )  # fmt: skip
    ece, ece_equal_mass = (float(np.abs(sums[1] - sums[2]).sum() / n) for sums in (by_width, by_mass))
    size, accepted, scores = (sums[by_mass[0] >= 2] for sums in by_mass)
    share = accepted / size
    gap = ((accepted - scores) / size) ** 2 - share * (1 - share) / (size - 1)
    squared = float((size * gap).sum() / size.sum())
    with np.errstate(invalid="ignore"):
        shares, means = (np.nan_to_num(part / by_width[0]) for part in by_width[1:])
    return {
        "ece": ece,
        "ece_equal_mass": ece_equal_mass,
        "ece_debiased": max(squared, 0.0) ** 0.5,
        "ece_squared_debiased": squared,
        "brier_reliability": float((by_width[0] * (means - shares) ** 2).sum() / n),
        "brier_resolution": float((by_width[0] * (shares - y.mean()) ** 2).sum() / n),
        "brier_uncertainty": float(y.mean() * (1 - y.mean())),
        "brier_within_variance": float(np.mean((p - means[width]) ** 2)),
        "brier_within_covariance": float(2 * np.mean((p - means[width]) * (y - shares[width]))),
    }


def _peer_agreement(judges: tuple[str, ...], decisions: np.ndarray) -> Values:
    pairs = list(combinations(range(len(judges)), 2))
    kappa = {(i, j): float(sk.cohen_kappa_score(decisions[:, i], decisions[:, j])) for i, j in pairs}
    raw = {(i, j): float(sk.accuracy_score(decisions[:, i], decisions[:, j])) for i, j in pairs}
    found: Values = {("cohen", judges[i], judges[j]): value for (i, j), value in kappa.items()}
    found |= {("raw_agreement", judges[i], judges[j]): value for (i, j), value in raw.items()}
    accepted = decisions.mean(axis=0)
    for i, j in pairs:
        found["prevalence_index", judges[i], judges[j]] = float(accepted[i] + accepted[j] - 1)
        found["bias_index", judges[i], judges[j]] = float(accepted[i] - accepted[j])
    for place, name in enumerate(judges):
        own = [pair for pair in pairs if place in pair]
        found["judge_mean_cohen", name, None] = float(np.mean([kappa[pair] for pair in own]))
        found["raw_agreement", name, None] = float(np.mean([raw[pair] for pair in own]))
        found["prevalence", name, None] = float(accepted[place])
    found["mean_cohen", None, None] = float(np.mean(list(kappa.values())))
    found["prevalence", None, None] = float(accepted.mean())
    accepts = decisions.sum(axis=1)
    counts = np.column_stack([accepts, len(judges) - accepts]).astype(float)
    observed = (counts * (counts - 1)).sum() / (len(judges) * (len(judges) - 1) * len(counts))
    by_chance = float(((counts.sum(axis=0) / counts.sum()) ** 2).sum())
    found["fleiss", None, None] = float((observed - by_chance) / (1 - by_chance))
    found["raw_agreement", None, None] = float(observed)
    return found


if __name__ == "__main__":
    sys.exit(main())
