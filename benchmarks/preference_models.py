"""1,000 bootstrap fits of 13 judges' preference models, 500 pairs x 20 items, against a loop over scikit-learn.

Both fit the same penalized logistic regressions on the same resamples of pairs: ours all resamples of a judge at once,
the peer one after the other with ``LogisticRegression`` (lbfgs, same penalty) and sample weights. The peer is timed at
its default tolerance, where it is fastest, on a part that is scaled; at that tolerance its coefficients are only good
to about 1e-3, so they are compared with those of tight fits, which must agree to 1e-6 or the run fails.

    python benchmarks/preference_models.py [--resamples 1000] [--peer-fits 200]
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from judge_pipeline.statistics.bootstrap import ClusterResamples
from judge_pipeline.statistics.weighted_logistic import fit_weighted_logistic

N_JUDGES, N_PAIRS, N_ITEMS = 13, 500, 20
TARGET = 10.0
TOLERANCE = 1e-6


def main() -> int:
    """Runs the comparison; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--peer-fits", type=int, default=200, help="fits that the peer is timed on")
    given = parser.parse_args()
    features, choices = made_choices()
    plan = ClusterResamples((N_PAIRS,), given.resamples, seed=0)
    weights = np.concatenate([block[0] for block in plan.blocks(given.resamples)])
    threadpool_limits(1)
    started = time.process_time()
    ours = [fit_weighted_logistic(features, labels, weights) for labels in choices]
    seconds_ours = time.process_time() - started
    n_fits = N_JUDGES * given.resamples
    print(f"ours         {seconds_ours:8.2f} s for {n_fits:,} fits of {N_PAIRS} pairs x {N_ITEMS} items")
    timed = [(fit % N_JUDGES, fit // N_JUDGES) for fit in range(min(given.peer_fits, n_fits))]
    started = time.process_time()
    loose = [_peer(features, choices[judge], weights[draw], 1e-4) for judge, draw in timed]
    seconds_peer = (time.process_time() - started) * n_fits / len(timed)
    print(f"scikit-learn {seconds_peer:8.2f} s, scaled from {len(timed)} fits at its default tolerance")
    tight = [_peer(features, choices[judge], weights[draw], 1e-10) for judge, draw in timed]
    mine = [ours[judge][draw] for judge, draw in timed]
    worst = float(np.abs(np.array(mine) - np.array(tight)).max())
    default = float(np.abs(np.array(loose) - np.array(tight)).max())
    print(f"largest difference from tight fits: ours {worst:.1e} (limit {TOLERANCE:g}), the default's {default:.1e}")
    ratio = seconds_peer / seconds_ours
    print(f"ratio {ratio:.2f} target {TARGET:g}")
    return 0 if ratio >= TARGET and worst <= TOLERANCE else 1


def made_choices() -> tuple[np.ndarray, list[np.ndarray]]:
    """Standardized rubric scores (pairs, items), and for each judge its choices."""
    rng = np.random.default_rng(7)
    scores = rng.choice([-1.0, 0.0, 1.0], size=(N_PAIRS, N_ITEMS), p=[0.3, 0.4, 0.3])
    features = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    weights = rng.normal(0, 0.4, (N_JUDGES, N_ITEMS))
    p = 1 / (1 + np.exp(-features @ weights.T))
    return features, list((rng.random(p.shape) < p).astype(float).T)


def _peer(features: np.ndarray, labels: np.ndarray, weights: np.ndarray, tolerance: float) -> np.ndarray:
    model = LogisticRegression(C=1.0, solver="lbfgs", tol=tolerance, max_iter=10_000)
    model.fit(features, labels, sample_weight=weights)
    return np.append(model.intercept_, model.coef_[0])


if __name__ == "__main__":
    sys.exit(main())
