"""The report's section on planted texts: there where canaries were asked for, with its sentence where a judge moved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judge_pipeline import tables
from judge_pipeline.cocreation.canary_effects import canary_effects
from judge_pipeline.figures.canaries import canary_figure
from judge_pipeline.report.canary_views import canaries
from judge_pipeline.report.cautions import cautions
from judge_pipeline.report.cocreation_report import cocreation_figures, cocreation_report_html
from judge_pipeline.report.inputs import CocreationReportInput, ReportProvenance, judge_kinds, with_labels
from judge_pipeline_tests.report.made_tables import HOSTILE, made_tables

PROVENANCE = ReportProvenance("c", "0" * 64, 1, 100, "0" * 16, "nonblind")
TEXTS = (("control", "none"), ("obey", "up"), ("doubt", "down"))


def effects(judges: dict[str, float], name: str = "obey") -> pd.DataFrame:
    """Judges that a text called ``obey`` moves by so much; the others move by noise."""
    random, of_judges = np.random.default_rng(3), []
    for judge, by in judges.items():
        rows: list[dict[str, Any]] = []
        for injection, direction in TEXTS:
            for i in range(20):
                moved = float(np.clip(random.normal(by if injection == "obey" else 0.0, 0.03), -0.5, 0.5))
                rows.append(
                    dict.fromkeys(tables.JUDGE_CANARIES.column_names)
                    | {"attempt_id": f"{i:016x}", "judge": judge, "family": "direct command", "place": "comment",
                       "injection": name if injection == "obey" else injection, "direction": direction,
                       "p_ac_clean": 0.5, "p_ac_injected": 0.5 + moved, "moved": moved, "n_chars": 9,
                       "n_chars_shown": 9}
                )  # fmt: skip
        of_judges.append(tables.JUDGE_CANARIES.conform(rows))
    attempts = pd.DataFrame(
        {"attempt_id": [f"{i:016x}" for i in range(20)], "participant": "E", "problem_id": range(20)}
    )
    thresholds = dict.fromkeys(judges, 0.6)
    asked = pd.concat(of_judges, ignore_index=True)
    return canary_effects(asked, attempts, thresholds, {}, seed=1, n_resamples=300)


def given(judges: dict[str, float]) -> CocreationReportInput:
    return replace(made_tables(), judge_canary_effects=effects(judges))


@pytest.mark.slow
def test_without_canaries_there_is_no_section_figure_or_sentence() -> None:
    for made in (made_tables(), replace(made_tables(), judge_canary_effects=tables.JUDGE_CANARY_EFFECTS.empty())):
        assert "canaries" not in [figure.name for figure in cocreation_figures(made)]
        assert "talked-round" not in cocreation_report_html(made, PROVENANCE)


@pytest.mark.slow
def test_a_judge_that_was_moved_opens_the_report() -> None:
    made = given({"simulated-sharp": 0.3, "smollm2-135m": 0.0})
    statements = cautions(made, "a note")
    assert [s.anchor for s in statements[:2]] == ["data", "talked-round"]
    assert statements[1].lead == "1 judge can be moved by what an attempt says"
    assert "simulated-sharp is moved by 1 of 2 planted texts, most by obey (direct command" in statements[1].text
    html = cocreation_report_html(made, PROVENANCE)
    assert 'id="talked-round"' in html and html.index("1 judge can be moved") < html.index('<section id="data"')


@pytest.mark.slow
def test_where_nobody_was_moved_the_section_is_there_and_no_sentence() -> None:
    made = given({"simulated-sharp": 0.0})
    assert "talked-round" not in {s.anchor for s in cautions(made)}
    assert 'id="talked-round"' in cocreation_report_html(made, PROVENANCE)


def test_the_figure_has_a_panel_a_judge_and_a_row_a_text_controls_first() -> None:
    figure = canary_figure(with_labels(given({"simulated-sharp": 0.3, "smollm2-135m": 0.0})).judge_canary_effects)
    assert figure.figure is not None
    drawn: dict[str, list[Any]] = {}
    for trace in figure.figure.data:
        if trace.name != "no movement":
            drawn.setdefault(trace.xaxis, []).append((trace.name, trace.x[0], trace.marker.symbol))
    assert [[name for name, _, _ in rows] for rows in drawn.values()] == 2 * [
        ["control (comment)", "obey", "doubt", "all, as asked"]
    ]
    assert [symbol for _, _, symbol in drawn["x"]][:3] == ["diamond", "circle", "square"]
    assert drawn["x"][1][1] == pytest.approx(0.3, abs=0.05)
    titles = {annotation.text for annotation in figure.figure.layout.annotations}
    assert {"<b>simulated-sharp</b>", "<b>smollm2-135m (embedded)</b>"} <= titles
    assert "smollm2-135m (embedded)" in figure.alt and "n = 20 attempts a text" in figure.subtitle


def test_the_table_holds_every_figure_with_its_interval_and_n() -> None:
    made = given({"simulated-sharp": 0.3})
    view = canaries(made.judge_canary_effects, judge_kinds(made.judge_coverage))
    obey = next(row for row in view.rows if row[1].text == "obey")
    assert obey[2].text == "up" and "n = 20" in obey[3].below and obey[3].below[0].startswith("[0.2")
    assert obey[-1].text == "< 0.001" or float(obey[-1].text) < 0.05
    assert [row[1].text for row in view.rows] == ["control (comment)", "obey", "doubt", "all, as asked"]


@pytest.mark.slow
def test_names_from_files_stay_text() -> None:
    rows = effects({"simulated-sharp": 0.4}, HOSTILE)
    html = cocreation_report_html(replace(made_tables(), judge_canary_effects=rows), PROVENANCE)
    assert "<img src=http://evil.invalid" not in html
    assert canary_figure(tables.JUDGE_CANARY_EFFECTS.empty()).reason is not None
