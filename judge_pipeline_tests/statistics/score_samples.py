"""Random labels and scores of the kinds that judges give: continuous, on a grid, with exact 0 and 1, heavily tied."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

GRID_SCORES = [i / 20 for i in range(21)] + [0.35, 0.41, 0.47, 1 / 3, 1e-300, 1 - 1e-16]


def samples(seed: int, n: int) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    rng = np.random.default_rng(seed)
    continuous = rng.random(n)
    kinds = [
        continuous,
        np.round(continuous, 2),
        np.round(continuous, 1),
        rng.choice([0.0, 0.05, 0.95, 1.0], n),
        np.full(n, 0.7),
    ]
    labels = (rng.random(n) < rng.choice([0.1, 0.5, 0.9])).astype(float)
    return [(labels, scores) for scores in kinds]


labelled_scores = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from(GRID_SCORES), st.integers(0, 3)), min_size=1, max_size=40
)
"""(label, score, weight) triples."""
