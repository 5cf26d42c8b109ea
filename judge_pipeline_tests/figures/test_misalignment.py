from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from judge_pipeline.figures.misalignment import MAX_ITEMS, misalignment_figure
from judge_pipeline.preference.misalignment import misalignment
from judge_pipeline.preference.preference_models import ModelOptions, fit_models, model_tables
from judge_pipeline_tests.preference.made_choices import made_choices

FEW = ModelOptions(n_resamples=1000)


def tables(n_items: int = 4) -> tuple[pd.DataFrame, pd.DataFrame]:
    people = np.linspace(0.6, -0.6, n_items)
    judges = np.tile(people, (4, 1))
    judges[:, 1] += 1.0
    data, _ = made_choices(people, judges, 300, seed=1)
    data = replace(data, items=("<b>tests", *data.items[1:]))
    models = fit_models(data, FEW)
    return model_tables(models, data, FEW)[0], misalignment(models, data)


@pytest.mark.slow
def test_items_stand_by_divergence_with_both_effects_and_their_intervals() -> None:
    models, tested = tables()
    drawn = misalignment_figure(models, tested)
    ours = tested[(tested["effect"] == "coefficient") & (tested["test"] == "paired") & tested["judge"].isna()]
    expected = ours.set_index("item")["value"].abs().sort_values(ascending=False).index.tolist()
    texts = [a.text for a in drawn.figure.layout.annotations]
    assert texts[0] == expected[0] == "item 1"
    assert texts[::2] == [item.replace("<b>", "&lt;b&gt;") for item in expected]
    assert texts[1].startswith("★ +") and not any(text.startswith("★") for text in texts[3::2])
    traces = {trace.name: trace for trace in drawn.figure.data}
    row = models[(models["of"] == "people") & (models["effect"] == "coefficient")].set_index("item").loc["item 1"]
    people = traces["people"]
    assert people.x[0] == row["value"]
    assert people.x[0] - people.error_x.arrayminus[0] == pytest.approx(row["ci95_low"])
    pooled = ours.set_index("item").loc[expected, "judges"].tolist()
    assert list(traces["judges, pooled"].x) == pytest.approx(pooled)
    assert len(traces["a judge"].x) == 4 * 4
    assert "n = 300 pairs, 4 judges" in drawn.subtitle and "<b>tests: people" in drawn.alt
    assert "by our paired test: 1 of 4 items" in drawn.notes[0]


@pytest.mark.slow
def test_any_measure_is_drawn_and_what_is_not_drawn_is_counted() -> None:
    models, tested = tables(MAX_ITEMS + 2)
    drawn = misalignment_figure(models, tested, "marginal_effect")
    assert drawn.name == "misalignment-marginal-effect"
    assert "2 of 18 items are not drawn: those that differ least." in drawn.notes
    assert len({trace.name for trace in drawn.figure.data}) == len(drawn.figure.data) == 4


def test_nothing_to_draw_says_why() -> None:
    data, _ = made_choices(np.ones(2), np.zeros((0, 2)), 50, seed=6)
    models = fit_models(data, FEW)
    drawn = misalignment_figure(model_tables(models, data, FEW)[0], misalignment(models, data))
    assert drawn.figure is None and drawn.reason == "there is nothing to pool"
