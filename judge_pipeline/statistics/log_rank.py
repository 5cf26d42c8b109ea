"""The log-rank test between groups, for independent times and for times in clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judge_pipeline.statistics.ratios import ratio
from judge_pipeline.statistics.score_counts import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class LogRank:
    """A test that the groups' times have one distribution.

    Attributes:
        chi2: the statistic, None where its variance is singular.
        degrees: groups less 1.
        p_value: of chi2 with ``degrees`` degrees of freedom, None with it.
        p_clustered: allowing for clusters; None where they are too few, or the variance is singular.
        reason: why chi2 is None.
        clustered_reason: why p_clustered is None.
    """

    chi2: float | None
    degrees: int
    p_value: float | None
    p_clustered: float | None
    reason: str | None
    clustered_reason: str | None


def log_rank(time: ArrayLike, event: ArrayLike, group: ArrayLike, cluster: ArrayLike) -> LogRank:
    """The k-sample log-rank test, and the same with a variance from sums over clusters.

    ``p_value`` takes the times as independent (hypergeometric variance). ``p_clustered`` takes only the clusters as
    independent: each cluster's sum of score residuals (Lin and Wei 1989) is one observation, and the mean of these is
    tested by Hotelling's T2 with its F distribution, so that few clusters are paid for.

    Args:
        time: shape (G,), ties allowed.
        event: whether success was observed at that time, shape (G,).
        group: index of each one's group, 0 to k - 1, each present, k >= 2; shape (G,).
        cluster: index of each one's cluster, shape (G,).
    """
    solved, groups = np.asarray(event, np.bool_), np.asarray(group, np.int64)
    distinct, place = np.unique(np.asarray(time), return_inverse=True)
    k, shape = int(groups.max()) + 1, (len(distinct), int(groups.max()) + 1)
    ends = np.bincount(place * k + groups, minlength=shape[0] * k).reshape(shape).astype(np.float64)
    events = np.bincount((place * k + groups)[solved], minlength=shape[0] * k).reshape(shape).astype(np.float64)
    at_risk = ends.sum(axis=0) - np.cumsum(ends, axis=0) + ends
    n, d = at_risk.sum(axis=1), events.sum(axis=1)
    share = at_risk / n[:, None]
    score = (events - d[:, None] * share).sum(axis=0)[:-1]
    weight = ratio(d * (n - d), n - 1)
    weight[n == 1] = 0.0
    variance = np.diag(weight @ share) - (share * weight[:, None]).T @ share
    chi2 = _quadratic(score, variance[:-1, :-1])
    if chi2 is None:
        reason = "no event is informative" if not weight.any() else "a group was never at risk together with the others"
        return LogRank(None, k - 1, None, None, reason, reason)
    residuals = _score_residuals(place, solved, groups, share, ratio(d, n))
    p_clustered, why = _hotelling(residuals[:, :-1], np.asarray(cluster, np.int64))
    from scipy.special import chdtrc

    return LogRank(chi2, k - 1, float(chdtrc(k - 1, chi2)), p_clustered, None, why)


def _quadratic(score: FloatArray, variance: FloatArray) -> float | None:
    if np.linalg.matrix_rank(variance, hermitian=True) < len(score):
        return None
    return float(score @ np.linalg.solve(variance, score))


def _score_residuals(
    place: IntArray, solved: np.ndarray, groups: IntArray, share: FloatArray, hazard: FloatArray
) -> FloatArray:
    """What each time adds to observed less expected events of each group, shape (G, k); its sum is the score."""
    own = np.zeros((len(place), share.shape[1]))
    own[np.arange(len(place)), groups] = 1.0
    expected = np.cumsum(hazard)[place][:, None] * own - np.cumsum(hazard[:, None] * share, axis=0)[place]
    return np.asarray(solved[:, None] * (own - share[place]) - expected, np.float64)


def _hotelling(residuals: FloatArray, cluster: IntArray) -> tuple[float | None, str | None]:
    """p of "the clusters' mean is 0", or why there is none."""
    from scipy.special import fdtrc

    index = np.unique(cluster, return_inverse=True)[1]
    n_clusters, degrees = int(index.max()) + 1, residuals.shape[1]
    if n_clusters <= degrees + 1:
        return None, f"{n_clusters} clusters are too few for {degrees} degrees of freedom"
    sums = np.stack([np.bincount(index, weights=column, minlength=n_clusters) for column in residuals.T], axis=1)
    total = sums.sum(axis=0)
    centred = sums - total / n_clusters
    variance = n_clusters / (n_clusters - 1) * centred.T @ centred
    squared = _quadratic(total, variance)
    if squared is None:
        return None, "the variance between clusters is singular"
    scale = (n_clusters - degrees) / (degrees * (n_clusters - 1))
    return float(fdtrc(degrees, n_clusters - degrees, squared * scale)), None
