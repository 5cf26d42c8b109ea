"""Simulated judges with scores, who leave some attempts unanswered."""

from __future__ import annotations

import numpy as np
import pandas as pd

JUDGES = ("a", "b", "c")


def simulated(seed: int, n_groups: int = 80, gaps: float = 0.15) -> pd.DataFrame:
    """Judges with scores; some answers are missing."""
    rng = np.random.default_rng(seed)
    rows = []
    for group in range(n_groups):
        for turn in range(int(rng.integers(1, 4))):
            ease = rng.normal()
            y = int(rng.random() < 1 / (1 + np.exp(-ease)))
            for judge in JUDGES:
                if rng.random() < gaps:
                    continue
                seen = ease + y + rng.normal()
                score = [int(np.clip(np.round(3 + seen + rng.normal() / 2), 1, 5)) for _ in range(2)]
                p_ac = float(np.round(1 / (1 + np.exp(-seen)), 2))
                rows.append((f"{group}-{turn}", judge, p_ac, *score, y, ("val", "test")[group % 2], f"E{group}", "P"))
    columns = ["attempt_id", "judge", "p_ac", "s_algo", "s_robust", "y", "split", "participant", "problem_id"]
    return pd.DataFrame(rows, columns=columns)
