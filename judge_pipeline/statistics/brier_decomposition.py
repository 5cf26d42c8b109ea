"""The Brier score taken apart over the bins of ECE, so that the parts add up to it exactly.

Murphy's (1973) reliability - resolution + uncertainty is exact only where all scores of a bin are equal. With the
variance of scores and their covariance with labels within bins (Stephenson, Coelho and Jolliffe 2008) it always is:

    Brier = reliability - resolution + uncertainty + within_variance - within_covariance
"""

from __future__ import annotations

import numpy as np

from judge_pipeline.statistics.calibration import N_BINS, bin_starts
from judge_pipeline.statistics.ratios import ratio
from judge_pipeline.statistics.score_counts import FloatArray, ScoreCounts

PARTS = (
    "brier_reliability",
    "brier_resolution",
    "brier_uncertainty",
    "brier_within_variance",
    "brier_within_covariance",
)


def brier_decomposition(counts: ScoreCounts, n_bins: int = N_BINS) -> dict[str, FloatArray]:
    """The five parts over equal-width bins, by the names of ``PARTS``; each of shape (R,), NaN without weight.

    With n_b attempts in bin b, of mean score f_b and accepted share o_b, and the share o of all:

    - ``brier_reliability``: mean over attempts of (f_b - o_b)^2; 0 for a calibrated judge.
    - ``brier_resolution``: mean of (o_b - o)^2; 0 where every bin has the same share, up to the uncertainty.
    - ``brier_uncertainty``: o (1 - o), the Brier score of the constant answer o.
    - ``brier_within_variance``: mean of (p - f_b)^2.
    - ``brier_within_covariance``: twice the mean of (p - f_b) (y - o_b).
    """
    starts = bin_starts(counts.scores, n_bins)
    if not len(starts):
        return dict.fromkeys(PARTS, np.full(len(counts.accepted), np.nan))
    edges = np.append(starts, len(counts.scores))
    n, accepted = (np.diff(below[:, edges], axis=1) for below in (counts.weight_below, counts.accepted_below))
    scores = np.diff(counts.scores_below[:, edges], axis=1)
    weighted = (counts.accepted + counts.rejected) * counts.scores
    squares = np.add.reduceat(np.multiply(weighted, counts.scores, out=weighted), starts, axis=1)
    scores_of_accepted = np.add.reduceat(np.multiply(counts.accepted, counts.scores, out=weighted), starts, axis=1)
    total = counts.n
    # A bin without weight has every sum 0, and adds nothing to any part.
    mean_score, share = np.nan_to_num(ratio(scores, n)), np.nan_to_num(ratio(accepted, n))
    base = np.nan_to_num(ratio(counts.n_accepted, total))
    sums = (
        (n * (mean_score - share) ** 2).sum(axis=1),
        (n * (share - base[:, None]) ** 2).sum(axis=1),
        total * base * (1 - base),
        (squares - n * mean_score**2).sum(axis=1),
        2 * (scores_of_accepted - n * mean_score * share).sum(axis=1),
    )
    return {name: ratio(part, total) for name, part in zip(PARTS, sums, strict=True)}
