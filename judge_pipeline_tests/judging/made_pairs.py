"""Small pairs to ask judges about."""

from __future__ import annotations

import pandas as pd

from judge_pipeline.preference.pair_question import pair_rows
from judge_pipeline.settings.preference import PairJudging
from judge_pipeline.tables.preference import PAIR_TEXTS

INSTRUCTION = "Sort the list."


def rows_of(n: int, longest: int = 1) -> pd.DataFrame:
    """n pairs in both orders; the last pair's second response has ``longest`` characters."""
    texts = PAIR_TEXTS.conform(
        [
            dict.fromkeys(PAIR_TEXTS.column_names)
            | {"pair_id": f"p{i}", "instruction": INSTRUCTION, "response_a": f"sorted({i})"}
            | {"response_b": "x" * longest if i == n - 1 else f"x{i}.sort()"}
            for i in range(n)
        ]
    )
    splits = pd.DataFrame({"pair_id": texts["pair_id"], "split": "val"})
    return pair_rows("set", texts, splits, PairJudging())
