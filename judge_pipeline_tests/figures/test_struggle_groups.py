"""Struggle curves by group where there are none to draw."""

from __future__ import annotations

import pandas as pd
import pytest

from judge_pipeline.figures.struggle_groups import struggle_levels_figure
from judge_pipeline.tables.struggle import STRUGGLE_GROUPS


@pytest.mark.parametrize("grouped_by", ["problem_id", "participant"])
def test_too_many_groups_to_draw_are_said(grouped_by: str) -> None:
    row = dict.fromkeys(STRUGGLE_GROUPS.column_names) | {
        "order": "time", "judge": "j", "grouped_by": "all", "level": "all", "turn": 1, "statistic": "confidence",
        "value": 0.5, "n": 30, "n_left_out": 0, "n_clusters": 30,
    }  # fmt: skip
    drawn = struggle_levels_figure(pd.DataFrame([row]), grouped_by)
    assert drawn.figure is None or not drawn.figure.data
    assert "no turn has a mean confidence" in str(drawn)
