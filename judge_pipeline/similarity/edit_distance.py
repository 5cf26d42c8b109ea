"""Normalized edit distance (paper 1, eq. 29), of one pair and of many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd


def normalized_edit_distance(first: str, second: str) -> float:
    """NED = LD / max(1, length of the longer), over Unicode code points; 0 for equal texts, two empty ones included.

    LD is Levenshtein's distance: the fewest insertions, deletions and substitutions of one character each.
    """
    from rapidfuzz.distance import Levenshtein

    distance: int = Levenshtein.distance(first, second)
    return distance / max(1, len(first), len(second))


def normalized_edit_distances(
    first: Sequence[str | None], second: Sequence[str | None], *, workers: int = -1
) -> pd.DataFrame:
    """NED of each pair of texts, computed outside Python on several cores.

    Args:
        first: a text of each pair; None where there is none. A NaN, as pandas keeps a missing text, is none, too.
        second: the other text of each pair.
        workers: threads at work; -1 for all cores.

    Returns:
        Columns ``ned`` (float64; NaN where a text is missing) and ``reason`` (why it is NaN, else None), a row a pair
        in the given order. A character is a code point, and so is a lone surrogate.

    Raises:
        ValueError: the two sequences are not equally long.
    """
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein

    if len(first) != len(second):
        raise ValueError(f"{len(first)} texts cannot be paired with {len(second)}")
    n_missing = np.array(
        [(not isinstance(a, str)) + (not isinstance(b, str)) for a, b in zip(first, second, strict=True)], np.int64
    )
    known = [(a, b) for a, b in zip(first, second, strict=True) if isinstance(a, str) and isinstance(b, str)]
    ned = np.full(len(first), np.nan)
    if known:
        firsts, seconds = zip(*known, strict=True)
        # As distances: these, divided here, are the same to the last bit as those of normalized_edit_distance.
        distances = process.cpdist(firsts, seconds, scorer=Levenshtein.distance, workers=workers, dtype=np.int64)
        ned[n_missing == 0] = distances / [max(1, len(a), len(b)) for a, b in known]
    reasons = np.array([None, "one of the two texts is missing", "both texts are missing"], object)
    return pd.DataFrame({"ned": ned, "reason": reasons[n_missing]})
