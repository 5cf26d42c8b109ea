"""Why values are null, for many rows at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd


def first_reason(n_rows: int, reasons: Sequence[tuple[Any, Any]]) -> pd.Series:
    """For each row the words of the first condition that holds there; None where none does.

    Args:
        n_rows: how many rows.
        reasons: conditions (booleans, a row each) with their words: one text for all rows, or a text or None a row.

    Returns:
        An object Series with the index 0..n-1.
    """
    words: np.ndarray = np.full(n_rows, None, dtype=object)
    for condition, said in reversed(list(reasons)):
        holds = np.asarray(condition, dtype=bool)
        words[holds] = said if isinstance(said, str) else np.asarray(said, dtype=object)[holds]
    return pd.Series(words, dtype="object")
