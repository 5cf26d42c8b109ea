from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judge_pipeline.cocreation.prompt_code import prompt_code_ned, prompt_code_summary
from judge_pipeline.tables import PROMPT_CODE_NED


def requests(*rows: tuple[str, str, str, str]) -> pd.DataFrame:
    """(attempt, split, prompt, source)."""
    frame = pd.DataFrame(rows, columns=["attempt_id", "split", "prompt_text", "source_code"])
    return frame.assign(context="nonblind")


def attempts(*ids: str) -> pd.DataFrame:
    return pd.DataFrame({"attempt_id": ids, "participant": [f"E{i}" for i in ids], "problem_id": "P"})


def test_only_test_attempts_with_both_texts_have_a_distance() -> None:
    given = requests(
        ("a", "train", "x", "y"), ("b", "test", "kitten", "sitting"), ("c", "test", "", "y"), ("d", "test", "x", "")
    )
    found = prompt_code_ned(given, attempts(*"abcd")).set_index("attempt_id")
    assert list(found.index) == ["b", "c", "d"]
    assert found.loc["b", "ned"] == 3 / 7
    assert found.loc["c", "reason"] == "the participant has no prompts"
    assert found.loc["d", "reason"] == "the source is empty"
    blind = prompt_code_ned(given.assign(context="blind"), attempts(*"abcd"))
    assert blind["ned"].isna().all() and blind["reason"].str.contains("blind").all()


def made(values: np.ndarray, groups: np.ndarray) -> pd.DataFrame:
    return PROMPT_CODE_NED.conform(
        [
            {"attempt_id": f"{k:016x}", "participant": f"E{g}", "problem_id": "P", "n_prompt_chars": 9,
             "n_source_chars": 9, "ned": float(v), "reason": None}
            for k, (v, g) in enumerate(zip(values, groups, strict=True))
        ]
    )  # fmt: skip


def test_mean_and_sd_are_numpys_and_their_intervals_hold_them() -> None:
    rng = np.random.default_rng(0)
    values, groups = rng.uniform(0.9, 1, 60), np.repeat(np.arange(30), 2)
    found = prompt_code_summary(made(values, groups), seed=1, n_resamples=400).set_index("statistic")
    assert found.loc["mean", "value"] == pytest.approx(values.mean(), abs=1e-12)
    assert found.loc["sd", "value"] == pytest.approx(values.std(ddof=1), abs=1e-12)
    for name in ("mean", "sd"):
        assert found.loc[name, "ci95_low"] < found.loc[name, "value"] < found.loc[name, "ci95_high"]
        assert found.loc[name, "n"] == 60


def test_one_attempt_has_a_mean_and_no_spread_and_none_has_neither() -> None:
    one = prompt_code_summary(made(np.array([0.9]), np.array([0])), seed=0, n_resamples=10).set_index("statistic")
    assert one.loc["mean", "value"] == pytest.approx(0.9)
    assert pd.isna(one.loc["sd", "value"]) and "one attempt" in one.loc["sd", "reason"]
    none = prompt_code_summary(PROMPT_CODE_NED.empty(), seed=0)
    assert none["value"].isna().all() and none["reason"].notna().all()
