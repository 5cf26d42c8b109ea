"""The terms of CodeBLEU between two programs, equal to those of the ``codebleu`` package."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judge_pipeline.similarity.multiset import IntArray
from judge_pipeline.similarity.program import Program

SMOOTHING = 0.1
"""Added to an order's matches where there are none (method 1 of Chen and Cherry, as in NLTK)."""

KEYWORD_WEIGHT, OTHER_WEIGHT = 1.0, 0.2
"""What a token counts in the weighted n-gram term."""

_WEIGHTED_REFERENCE_LENGTH = 2
"""What the package takes for the reference's length in its weighted term: that of a list of two entries, tokens and
weights. So this term has no brevity penalty for candidates of two tokens and more: it is a recall."""


class Terms(NamedTuple):
    """The three terms that the paper uses; CodeBLEU with weights (1/3, 1/3, 1/3, 0) is their mean."""

    ngram: float
    weighted_ngram: float
    syntax: float


def terms(reference: Program, candidate: Program) -> Terms:
    """How much of the reference the candidate holds; not the same when the two change places.

    Args:
        reference: a program with at least one token.
        candidate: a program with at least one token, in the same grammar.
    """
    precisions: list[tuple[float, float]] = []
    recalls: list[tuple[float, float]] = []
    for order, (wanted, made) in enumerate(zip(reference.n_grams, candidate.n_grams, strict=True)):
        matches = wanted.counts.clip(max=wanted.counts_in(made))
        n_matches = int(matches.sum())
        precisions.append((n_matches, max(1, made.size)))
        if order:
            recalls.append((n_matches, max(1, wanted.size)))
        else:
            is_keyword = reference.is_keyword
            recalls.append((_weight(matches, is_keyword), max(1.0, _weight(wanted.counts, is_keyword))))
    wanted, made = reference.sub_trees, candidate.sub_trees
    n_found = int(wanted.counts[wanted.counts_in(made) > 0].sum())
    return Terms(
        _bleu(precisions, reference.n_tokens, candidate.n_tokens),
        _bleu(recalls, _WEIGHTED_REFERENCE_LENGTH, candidate.n_tokens),
        n_found / wanted.size,
    )


def _weight(counts: IntArray, is_keyword: NDArray[np.bool_]) -> float:
    """What tokens count together. Whole numbers are added, so that no order of tokens changes the last bit."""
    n_keywords = int(counts[is_keyword].sum())
    return KEYWORD_WEIGHT * n_keywords + OTHER_WEIGHT * (int(counts.sum()) - n_keywords)


def _bleu(shares: Sequence[tuple[float, float]], reference_length: int, candidate_length: int) -> float:
    """Geometric mean of the shares (matches, out of how many), times the brevity penalty; 0 where no token matches."""
    if not shares[0][0]:
        return 0.0
    logs = [math.log((matches or SMOOTHING) / total) / len(shares) for matches, total in shares]
    brevity = 1.0 if candidate_length > reference_length else math.exp(1 - reference_length / candidate_length)
    return brevity * math.exp(math.fsum(logs))
