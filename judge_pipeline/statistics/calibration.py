"""Calibration: expected calibration error in three forms, and the bins of the reliability diagram.

ECE in its plug-in form is biased upward, the more so the fewer attempts a bin holds: 36 attempts in 15 bins give a
large ECE to a judge that is perfectly calibrated. The debiased form stands beside it for that reason.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judge_pipeline.statistics.ratios import ratio, wilson_interval
from judge_pipeline.statistics.score_counts import FloatArray, IntArray, ScoreCounts

N_BINS = 15
"""Bins of eq. 17 (paper 1, Table III)."""

HAIR = 1e-12
"""Relative rounding allowed where a share of all weight is compared with whole weights."""


@dataclass(frozen=True, slots=True)
class BinSums:
    """Weighted sums in each bin, shape (R, bins): attempts, accepted attempts, and the scores' sum."""

    n: FloatArray
    accepted: FloatArray
    scores: FloatArray


@dataclass(frozen=True, slots=True)
class ReliabilityBins:
    """The non-empty bins of a reliability diagram, shape (bins,).

    Attributes:
        low: lower edge of the bin (open, but closed at 0).
        high: upper edge of the bin (closed).
        n: attempts in the bin.
        mean_score: mean p_ac in the bin, conf(b) of eq. 17.
        accepted_share: share of accepted attempts, acc(b) of eq. 17.
        ci95_low: lower end of the Wilson interval of the accepted share.
        ci95_high: upper end of the same.
    """

    low: FloatArray
    high: FloatArray
    n: FloatArray
    mean_score: FloatArray
    accepted_share: FloatArray
    ci95_low: FloatArray
    ci95_high: FloatArray


def bin_edges(n_bins: int = N_BINS) -> FloatArray:
    """Edges of equal-width bins over [0, 1], each computed as i / n_bins so that 0.2, 0.4, ... are edges exactly."""
    edges: FloatArray = np.arange(n_bins + 1) / n_bins
    return edges


def equal_width_bin(scores: FloatArray, n_bins: int = N_BINS) -> IntArray:
    """Index of the bin (lo, hi] of each score, the first bin closed on both sides; shape of ``scores``."""
    return np.maximum(np.searchsorted(bin_edges(n_bins), scores, side="left") - 1, 0).astype(np.int64)


def bin_starts(scores: FloatArray, n_bins: int = N_BINS) -> IntArray:
    """Where in ascending ``scores`` each equal-width bin begins that holds any of them; shape (bins,)."""
    return np.flatnonzero(np.diff(equal_width_bin(scores, n_bins), prepend=-1)).astype(np.int64)


def ece(counts: ScoreCounts, n_bins: int = N_BINS) -> FloatArray:
    """ECE (paper 1, eq. 17) over equal-width bins (lo, hi], the first closed on both sides. NaN without weight."""
    return _plug_in(_equal_width_sums(counts, n_bins), counts.n)


def ece_equal_mass(counts: ScoreCounts, n_bins: int = N_BINS) -> FloatArray:
    """ECE over bins of equal weight (Nguyen and O'Connor 2015): what eq. 17 gives when no bin is nearly empty.

    Of n attempts ordered by score, the attempt of rank i (from 0) belongs to bin floor(i n_bins / n); equal scores
    stay together in the bin of the first of them, so the figure does not depend on the order of rows. NaN without
    weight.
    """
    return _plug_in(_equal_mass_sums(counts, n_bins), counts.n)


def squared_gap_debiased(counts: ScoreCounts, n_bins: int = N_BINS) -> FloatArray:
    """Mean squared gap between accepted share and mean score over equal-mass bins, without its upward bias.

    In a bin of n_b attempts with accepted share q the squared gap is too large by about the variance of q, so
    q (1 - q) / (n_b - 1) is taken off (Ferro and Fricker 2012; Kumar, Liang and Ma 2019, Definition 5.2). May be
    negative: about half the time for a calibrated judge. Bins of one attempt have no variance and are left out; NaN
    where no bin holds two.
    """
    sums = _equal_mass_sums(counts, n_bins)
    n = np.where(sums.n >= 2, sums.n, 0.0)
    share = np.nan_to_num(ratio(sums.accepted, n))
    gap = np.nan_to_num(ratio(sums.accepted - sums.scores, n))
    variance = np.nan_to_num(ratio(share * (1 - share), np.maximum(n - 1, 0.0)))
    return ratio((n * (gap**2 - variance)).sum(axis=1), n.sum(axis=1))


def ece_debiased(counts: ScoreCounts, n_bins: int = N_BINS) -> FloatArray:
    """Root of ``squared_gap_debiased``, 0 where that is negative: ECE_debias of Roelofs et al. (2022).

    A root mean square, in units of probability; eq. 17 is a mean of absolute gaps, never larger over the same bins.
    0 says that the gaps are no wider than chance makes them. NaN where no bin holds two attempts.
    """
    root: FloatArray = np.sqrt(np.maximum(squared_gap_debiased(counts, n_bins), 0.0))
    return root


def reliability_bins(counts: ScoreCounts, n_bins: int = N_BINS) -> ReliabilityBins:
    """The bins of eq. 17 that hold any attempt, for the first row of weights; their n add up to all attempts."""
    index = np.unique(equal_width_bin(counts.scores, n_bins))
    sums = _equal_width_sums(counts, n_bins)
    n, accepted = sums.n[0], sums.accepted[0]
    low, high = wilson_interval(accepted, n)
    edges = bin_edges(n_bins)
    return ReliabilityBins(
        low=edges[index],
        high=edges[index + 1],
        n=n,
        mean_score=ratio(sums.scores[0], n),
        accepted_share=ratio(accepted, n),
        ci95_low=low,
        ci95_high=high,
    )


def _plug_in(sums: BinSums, n: FloatArray) -> FloatArray:
    # n_b |acc - conf| is |sum of labels - sum of scores|, which needs no division by the bin's count.
    return ratio(np.abs(sums.accepted - sums.scores).sum(axis=1), n)


def _equal_width_sums(counts: ScoreCounts, n_bins: int) -> BinSums:
    """Sums over the bins in which some score lies; scores ascend, so each bin is one run of columns."""
    edges = np.append(bin_starts(counts.scores, n_bins), len(counts.scores))
    return BinSums(
        n=np.diff(counts.weight_below[:, edges], axis=1),
        accepted=np.diff(counts.accepted_below[:, edges], axis=1),
        scores=np.diff(counts.scores_below[:, edges], axis=1),
    )


def _equal_mass_sums(counts: ScoreCounts, n_bins: int) -> BinSums:
    """Sums over the bins of equal weight, which begin elsewhere in each row."""
    edges = _mass_edges(counts.weight_below, n_bins)
    return BinSums(
        n=np.diff(np.take_along_axis(counts.weight_below, edges, axis=1), axis=1),
        accepted=np.diff(np.take_along_axis(counts.accepted_below, edges, axis=1), axis=1),
        scores=np.diff(np.take_along_axis(counts.scores_below, edges, axis=1), axis=1),
    )


def _mass_edges(weight_below: FloatArray, n_bins: int) -> IntArray:
    """For each row, the first column at which floor(n_bins * weight below / all weight) reaches 0, 1, ..., n_bins.

    Weights of a bootstrap are whole numbers, so a weight below that reaches k / n_bins of all weight is at least
    that less a hair, and one that does not is below it by more: no edge depends on rounding.
    """
    shares = weight_below[:, -1:] * np.arange(n_bins + 1) / n_bins * (1 - HAIR)
    rows = zip(weight_below, shares, strict=True)
    edges = np.array([np.searchsorted(below, share) for below, share in rows], np.int64).reshape(-1, n_bins + 1)
    edges[:, 0], edges[:, -1] = 0, weight_below.shape[1] - 1
    return edges
