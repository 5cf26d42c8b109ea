from __future__ import annotations

from dataclasses import replace

import pytest
from selectolax.lexbor import LexborHTMLParser

from judge_pipeline import tables
from judge_pipeline.report.cocreation_report import cocreation_report_html
from judge_pipeline.report.inputs import CocreationReportInput
from judge_pipeline.report.methods_paragraph import methods_paragraph
from judge_pipeline_tests.report.made_tables import HOSTILE, Made, empty_tables, made_tables
from judge_pipeline_tests.report.test_cocreation_report import PROVENANCE


@pytest.fixture(scope="module")
def made() -> CocreationReportInput:
    return made_tables(Made(judges=("gpt-5.2", "simulated-sharp", "smollm2-135m", "off"), unverified={"off": "no key"}))


def test_it_states_data_splits_judges_thresholds_intervals_and_versions(made: CocreationReportInput) -> None:
    said = methods_paragraph(made, PROVENANCE)
    n = {split: int((made.trajectories["split"] == split).sum()) for split in ("train", "val", "test")}
    assert f"{n['train']} for training, {n['val']} for validation (val) and {n['test']} for testing" in said
    assert "gpt-5.2 (model provider/gpt-5.2, prompt sha256 abababababab, " in said
    assert "simulated-sharp (simulated: its outputs were made up" in said
    assert "embedded model" in said and "does not judge" in said
    assert "off" not in said.replace("off a", ""), "a judge without a figure is in none of them"
    assert "gpt-5.2 0.50, simulated-sharp 0.50" in said
    brier = made.judge_metrics.query("metric == 'brier'").iloc[0]
    assert f"taken on the {brier['n']} labelled attempts of test" in said
    assert "2,000 resamples, seed 20260401" in said
    assert "code 0.1.0" in said and "sha256 9f2c9f2c9f2c9f2c" in said
    assert "\n" not in said


def test_what_no_table_holds_is_not_claimed(made: CocreationReportInput) -> None:
    said = methods_paragraph(made, PROVENANCE)
    assert "Holm" not in said and "Calibration maps" not in said
    bare = methods_paragraph(replace(made, judge_metrics=tables.JUDGE_METRICS.empty()), PROVENANCE)
    assert "No judge has a figure." in bare
    assert "bootstrap" not in bare and "threshold" not in bare
    nothing = methods_paragraph(empty_tables(), PROVENANCE)
    assert "Kaplan-Meier" not in nothing and "trajectories were split" not in nothing


def test_an_unverified_judge_is_named_so(made: CocreationReportInput) -> None:
    coverage = made.judge_coverage.copy()
    coverage.loc[coverage["judge"] == "gpt-5.2", ["status", "reason"]] = ["unverified", "3 of 9 attempts missing"]
    said = methods_paragraph(replace(made, judge_coverage=coverage), PROVENANCE)
    assert "not verified: 3 of 9 attempts missing" in said


@pytest.mark.slow
def test_the_page_holds_it_as_text_whatever_names_say() -> None:
    hostile = made_tables(Made(judges=(HOSTILE, "b"), participants=20))
    named = replace(PROVENANCE, title=HOSTILE)
    page = LexborHTMLParser(cocreation_report_html(hostile, named))
    assert page.css_first("#cite [data-text]").text() == methods_paragraph(hostile, named)
    assert not page.css("#cite img")
