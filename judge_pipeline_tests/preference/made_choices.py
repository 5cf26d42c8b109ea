"""Pairs with rubric scores, and choices drawn from known weights of each item."""

from __future__ import annotations

import numpy as np

from judge_pipeline.preference.rubric_choices import RubricChoices


def made_choices(
    people: np.ndarray, judges: np.ndarray, n: int, seed: int, valid: float = 1.0
) -> tuple[RubricChoices, np.ndarray]:
    """The choices, and P(B) of people and each judge, shape (pairs, 1 + judges).

    Args:
        people: weight of each item on its standardized scores, shape (items,).
        judges: of each judge, shape (judges, items).
        n: pairs.
        seed: of everything.
        valid: share of pairs on which a judge has a valid choice.
    """
    rng = np.random.default_rng(seed)
    scores = rng.choice([-1.0, 0.0, 1.0], size=(n, len(people)), p=[0.3, 0.4, 0.3])
    weights = np.vstack([people, judges])
    p = 1 / (1 + np.exp(-(scores / np.sqrt(0.6)) @ weights.T))
    chose_b = (rng.random(p.shape) < p).astype(float)
    gaps = rng.random(p.shape) >= valid
    gaps[:, 0] = False
    chose_b[gaps] = np.nan
    items = tuple(f"item {i}" for i in range(len(people)))
    names = tuple(f"judge {j}" for j in range(len(judges)))
    pair_ids = tuple(f"p{i:04d}" for i in range(n))
    return RubricChoices(pair_ids, items, scores, names, chose_b, np.arange(n), n, 0), p
