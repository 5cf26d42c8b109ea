from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline import tables
from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.prompt_code import bin_edges, prompt_code_figure
from judge_pipeline_tests.report.made_tables import made_tables


def test_the_bars_hold_every_attempt_and_the_mean_stands_with_its_interval() -> None:
    made = made_tables()
    drawn = prompt_code_figure(made.prompt_code_ned, made.prompt_code_summary)
    bars = next(t for t in drawn.figure.data if t.name == "attempts")
    assert sum(bars.y) == len(made.prompt_code_ned)
    mean = made.prompt_code_summary.iloc[0]
    assert next(t for t in drawn.figure.data if t.name == "mean").x[0] == mean["value"]
    box = next(t for t in drawn.figure.data if t.name == "interval")
    assert (min(box.x), max(box.x)) == (mean["ci95_low"], mean["ci95_high"])
    assert f"Mean {mean['value']:.4f} [" in drawn.alt


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_every_value_falls_into_a_bin(values: list[float]) -> None:
    edges = bin_edges(np.array(values))
    assert np.histogram(values, edges)[0].sum() == len(values)
    assert len(edges) <= 51 and edges[-1] == 1


@pytest.mark.parametrize("reason", ["judges saw no prompts (context: blind)", "the participant has no prompts"])
def test_nothing_to_draw_says_why(reason: str) -> None:
    rows = [{"statistic": name, **Estimate.undefined(reason, 0, 4).to_row()} for name in ("mean", "sd")]
    drawn = prompt_code_figure(tables.PROMPT_CODE_NED.empty(), tables.PROMPT_CODE_SUMMARY.conform(rows))
    assert drawn.reason == reason
    assert "never made" in prompt_code_figure(None, None).reason
