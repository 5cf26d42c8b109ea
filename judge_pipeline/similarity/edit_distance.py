"""Normalized edit distance (paper 1, eq. 29)."""

from __future__ import annotations


def normalized_edit_distance(first: str, second: str) -> float:
    """NED = LD / max(1, length of the longer), over Unicode code points; 0 for equal texts, two empty ones included.

    LD is Levenshtein's distance: the fewest insertions, deletions and substitutions of one character each.
    """
    from rapidfuzz.distance import Levenshtein

    distance: int = Levenshtein.distance(first, second)
    return distance / max(1, len(first), len(second))
