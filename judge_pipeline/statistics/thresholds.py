"""Decisions at a threshold, and the choice of the threshold on the validation split (paper 1, eq. 18-20)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judge_pipeline.statistics.ratios import ratio
from judge_pipeline.statistics.score_counts import FloatArray, IntArray, ScoreCounts

GRID: FloatArray = np.arange(101) / 100
"""The thresholds that may be chosen: i / 100 as that division, so that p = 0.35 is accepted at t = 0.35."""

TIE = 1e-12
"""MCC values closer than this are the same: equal fractions may differ in their last bit."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """Weighted confusion counts, arrays of one shape: accept is positive, and y = 1 is true."""

    tp: FloatArray
    fp: FloatArray
    fn: FloatArray
    tn: FloatArray


@dataclass(frozen=True, slots=True)
class Threshold:
    """The threshold chosen on val.

    Attributes:
        index: its place in the grid.
        value: t*, the smallest threshold of the grid that reaches the best MCC.
        mcc: that MCC.
        plateau_low: t* again, where the run of grid thresholds with the best MCC begins.
        plateau_high: where that run ends; any threshold between serves val as well.
    """

    index: int
    value: float
    mcc: float
    plateau_low: float
    plateau_high: float


def confusion_at(counts: ScoreCounts, thresholds: FloatArray) -> Confusion:
    """Confusion counts where p >= t is accepted (eq. 18), for thresholds of shape (T,); arrays of shape (R, T)."""
    first_accepted = np.searchsorted(counts.scores, thresholds, side="left")
    fn = counts.accepted_below[:, first_accepted]
    tn = counts.rejected_below[:, first_accepted]
    return Confusion(tp=counts.n_accepted[:, None] - fn, fp=counts.n_rejected[:, None] - tn, fn=fn, tn=tn)


def mcc(confusion: Confusion) -> FloatArray:
    """Matthews correlation coefficient (eq. 20). NaN where labels or decisions are constant, where it is 0 / 0."""
    c = confusion
    margins = (c.tp + c.fp) * (c.tp + c.fn) * (c.tn + c.fp) * (c.tn + c.fn)
    return ratio(c.tp * c.tn - c.fp * c.fn, np.sqrt(margins))


def precision(confusion: Confusion) -> FloatArray:
    """Share of accepted decisions that are right. NaN where nothing is accepted."""
    return ratio(confusion.tp, confusion.tp + confusion.fp)


def recall(confusion: Confusion) -> FloatArray:
    """Share of accepted attempts that are found. NaN where no attempt is accepted by the contest site."""
    return ratio(confusion.tp, confusion.tp + confusion.fn)


def f1(confusion: Confusion) -> FloatArray:
    """2 TP / (2 TP + FP + FN). NaN where neither label nor decision accepts anything."""
    return ratio(2 * confusion.tp, 2 * confusion.tp + confusion.fp + confusion.fn)


def balanced_accuracy(confusion: Confusion) -> FloatArray:
    """Mean of the two classes' recalls. NaN where one class is missing."""
    return (recall(confusion) + ratio(confusion.tn, confusion.tn + confusion.fp)) / 2


def accept_rate(confusion: Confusion) -> FloatArray:
    """Share of attempts that the decisions accept. NaN without weight."""
    c = confusion
    return ratio(c.tp + c.fp, c.tp + c.fp + c.fn + c.tn)


def best_indices(curves: FloatArray) -> IntArray:
    """The first index that reaches each row's best MCC, for curves of shape (R, T); -1 where a row is all NaN."""
    filled = np.where(np.isnan(curves), -np.inf, curves)
    best = filled.max(axis=1, keepdims=True)
    first = np.argmax(filled >= best - TIE, axis=1)
    return np.where(np.isfinite(best[:, 0]), first, -1).astype(np.int64)


def select_threshold(val: ScoreCounts) -> Threshold | None:
    """t* (eq. 19) for the first row of weights; None where no threshold of the grid has an MCC.

    That is so where val has one class only, or where every grid threshold accepts all attempts or none.
    """
    curve = mcc(confusion_at(val, GRID))[0]
    index = int(best_indices(curve[None])[0])
    if index < 0:
        return None
    reaches = np.nan_to_num(curve, nan=-np.inf) >= curve[index] - TIE
    after = np.flatnonzero(~reaches[index:])
    last = index + int(after[0]) - 1 if len(after) else len(GRID) - 1
    return Threshold(index, float(GRID[index]), float(curve[index]), float(GRID[index]), float(GRID[last]))


def no_threshold_reason(val: ScoreCounts) -> str:
    """Why ``select_threshold`` found none."""
    one_class = val.one_class_reason()
    if one_class is not None:
        return f"no threshold can be chosen on val: {one_class}"
    return "no threshold can be chosen on val: every threshold of the grid accepts all attempts or none"


def mcc_reason(confusion: Confusion) -> str | None:
    """Why MCC does not exist for the first value of ``confusion``; None where it does."""
    tp, fp, fn, tn = (float(part.flat[0]) for part in (confusion.tp, confusion.fp, confusion.fn, confusion.tn))
    if tp + fp + fn + tn == 0:
        return "no attempt has both a label and an answer"
    if tp + fn == 0 or tn + fp == 0:
        return f"MCC is 0/0: only one class, all labels are y = {0 if tp + fn == 0 else 1}"
    if tp + fp == 0 or tn + fn == 0:
        return f"MCC is 0/0: constant decisions, all attempts are {'rejected' if tp + fp == 0 else 'accepted'}"
    return None
