"""The 36 test items behind Table IV's MCC and Table V, as facts.md rebuilds them: y and four decisions, x count."""

from __future__ import annotations

from typing import Any

import pandas as pd

JUDGES = ("Claude", "DeepSeek", "Gemini", "OpenAI")
THRESHOLDS = {"Claude": 0.01, "DeepSeek": 0.81, "Gemini": 0.99, "OpenAI": 0.04}
PATTERNS = {
    "11110": 11, "11111": 8, "11101": 1, "01111": 5, "01110": 4,
    "00010": 2, "01000": 2, "00110": 1, "01010": 1, "01011": 1,
}  # fmt: skip
MCC = {"Claude": 0.33710, "DeepSeek": 0.50000, "Gemini": 0.13484, "OpenAI": 0.07559}
COHEN = {
    ("Claude", "DeepSeek"): 0.37500,
    ("DeepSeek", "Gemini"): 0.37500,
    ("DeepSeek", "OpenAI"): 0.15000,
    ("Claude", "OpenAI"): 0.12195,
    ("Gemini", "OpenAI"): 0.02439,
    ("Claude", "Gemini"): -0.09091,
}
MEAN_COHEN = 0.15924
JUDGE_MEAN_COHEN = {"DeepSeek": 0.30000, "Claude": 0.13535, "Gemini": 0.10283, "OpenAI": 0.09878}
FLEISS = 0.06962


def predictions() -> pd.DataFrame:
    """Predictions whose thresholds, chosen on val, are the published ones and give the published decisions on test.

    An accepting judge answers exactly its threshold, a rejecting one half a grid step less: ``>=`` and the grid's
    arithmetic both matter.
    """
    rows: list[dict[str, Any]] = []
    patterns = [pattern for pattern, count in PATTERNS.items() for _ in range(count)]
    for number, pattern in enumerate(patterns):
        for judge, decision in zip(JUDGES, pattern[1:], strict=True):
            rows.append(_row(f"t{number:02}", judge, decision == "1", int(pattern[0]), "test", f"E{number % 18:03}"))
    for number in range(8):
        for judge in JUDGES:
            rows.append(_row(f"v{number:02}", judge, number % 2 == 1, number % 2, "val", f"E{number:03}"))
    return pd.DataFrame(rows)


def _row(attempt_id: str, judge: str, accepts: bool, y: int, split: str, participant: str) -> dict[str, Any]:
    p_ac = THRESHOLDS[judge] - (0.0 if accepts else 0.005)
    return {
        "attempt_id": attempt_id,
        "judge": judge,
        "p_ac": p_ac,
        "y": y,
        "split": split,
        "participant": participant,
        "problem_id": f"{split}-problem",
    }
