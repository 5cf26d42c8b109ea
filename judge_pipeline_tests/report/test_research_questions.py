from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from judge_pipeline.cocreation.trajectories import success_at_turn, survival
from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.estimates import format_number
from judge_pipeline.report.cautions import Statement
from judge_pipeline.report.cocreation_report import cocreation_report_html, cocreation_views
from judge_pipeline.report.inputs import CocreationReportInput
from judge_pipeline.report.question_words import figure_words, open_words, over_clusters, side
from judge_pipeline.report.research_questions import research_questions
from judge_pipeline.report.table_files import table_files
from judge_pipeline.tables.metric_words import METRICS
from judge_pipeline_tests.paper_counts_contest import paper_counts_contest
from judge_pipeline_tests.report.made_dynamics import made_dynamics
from judge_pipeline_tests.report.made_tables import Made, empty_tables, made_tables
from judge_pipeline_tests.report.test_cocreation_report import PROVENANCE

CLUSTERED = ("survival_groups", "success_curves", "pattern_groups")
DRAWN = (
    "churn_effects", "revision_gains", "churn_summary", "struggle_groups", "success_at_turn", "judge_metrics",
    "judge_agreement", *CLUSTERED,
)  # fmt: skip
"""Tables whose estimates are replaced by drawn ones."""

FEW_CLUSTERS = "3 clusters: fewer than 5 give no 95% interval, so its ends are the least and the greatest value"
FIXED = {"95", "9", "0", "0.5", "1", "0.001"}
"""Numbers of the sentences themselves: 95% intervals, eq. 9, null values, the reference's own CodeBLEU, p < 0.001."""


@lru_cache
def whole() -> CocreationReportInput:
    """The tables of the contest with the paper's counts, judged by the judges of another."""
    c = paper_counts_contest()
    return replace(
        made_tables(), trajectories=c.trajectories, struggle_curves=c.struggle_curves,
        success_at_turn=success_at_turn(c.trajectories), survival=survival(c.trajectories), **made_dynamics(),
    )  # type: ignore[arg-type]  # fmt: skip


def unjudged() -> CocreationReportInput:
    """The tables of one participant whom nobody judged."""
    return made_tables(Made(judges=(), participants=1))


@lru_cache
def slim() -> CocreationReportInput:
    """The same without most rows that no answer rests on, so that many can be drawn in a short time."""
    tables = whole()
    groups, curves, revised = tables.struggle_groups, tables.success_curves, tables.revisions
    assert groups is not None and curves is not None and revised is not None
    return replace(
        tables, struggle_groups=groups[groups["judge"].isna() & (groups["turn"] == 1)],
        success_curves=curves[(curves["time_unit"] == "turns") & (curves["grouped_by"] == "all")],
        revisions=revised[revised["prompt_ned_reason"].notna()], survival_curves=None, convergence=None, hazards=None,
        trajectory_patterns=None,
    )  # fmt: skip


def statements(tables: CocreationReportInput) -> dict[str, list[Statement]]:
    return {question.key: list(question.answers) for question in research_questions(tables)}


def numbers_of(tables: CocreationReportInput) -> set[str]:
    """Every number that a table holds, as sentences write numbers; and the counts of rows that are sums of columns."""
    found = set(FIXED)

    def add(value: float) -> None:
        for decimals in range(4):
            found.add(format_number(value, decimals).lstrip("-"))
            found.add(format_number(100 * value, decimals).lstrip("-"))
        if value == round(value):
            found.add(f"{int(value):,}".lstrip("-"))

    for name in tables.schemas():
        frame = getattr(tables, name)
        if frame is None:
            continue
        for column in frame.select_dtypes("number"):
            for value in pd.unique(frame[column].dropna().to_numpy(np.float64)):
                add(float(value))
        for column in frame.select_dtypes(["object", "string"]):
            for value in frame[column].dropna().unique():
                found.update(re.findall(r"\d[\d,.]*\d|\d", str(value)))
    add(float(len(tables.judge_coverage)))
    add(float((tables.judge_coverage["status"] == "verified").sum()))
    for column in ("n_in_scope", "n_judged", "n_repaired"):
        add(float(tables.judge_coverage[column].sum()))
    t = tables.trajectories
    before, after = (int(t[f"n_rejected_{when}_first_ac"].sum()) for when in ("before", "after"))
    solved = t[t["solved"].astype(bool)]
    timed = t["time_turns"].notna()
    for value in (
        before, after, before + after, len(t), len(solved), timed.sum(), (~timed).sum(), timed.sum() - t["event"].sum(),
        (t["n_turns"] > 1).sum(), (solved["n_rejected_after_first_ac"] > 0).sum(), t["event"].sum(),
    ):  # fmt: skip
        add(float(value))
    pairs = tables.judge_agreement[tables.judge_agreement["statistic"] == "cohen"]
    for value in range(max(len(pairs), len(tables.judge_coverage)) + 1):
        add(float(value))  # how many judges, or pairs, of those that there are
    return found


def said_numbers(statement: Statement) -> list[str]:
    text = f"{statement.lead}. {statement.text}"
    for word in ("Fleiss' κ", "1 − CodeBLEU", "RQ", "EQ"):
        text = text.replace(word, "")
    return [number.rstrip(".,") for number in re.findall(r"(?<![A-Za-z\w.])\d[\d,]*(?:\.\d+)?", text)]


@st.composite
def estimates(draw: st.DrawFn) -> dict[str, object]:
    """Columns of an estimate: a value or none, an interval or none, on any side of 0 and of one half."""
    n = draw(st.integers(0, 400))
    if n == 0 or draw(st.integers(0, 9)) == 0:
        return {**Estimate.undefined("one class on test", n).to_row(), "cluster_low": None, "cluster_high": None}
    low, value, high = sorted(draw(st.lists(st.floats(-1, 1), min_size=3, max_size=3)))
    reason = FEW_CLUSTERS if draw(st.integers(0, 5)) == 0 else None
    ends = None if draw(st.integers(0, 5)) == 0 else (low, high)
    row = Estimate(value, n, draw(st.integers(0, 40)), ends, reason).to_row()
    clusters = (low, high) if draw(st.booleans()) and ends else (None, None)
    return {**row, "cluster_low": clusters[0], "cluster_high": clusters[1]}


def with_drawn(tables: CocreationReportInput, data: st.DataObject) -> CocreationReportInput:
    """The same tables with drawn estimates in the rows that answers may rest on; others are taken from a few."""
    few = [data.draw(estimates()) for _ in range(12)]
    changed = {}
    for name in DRAWN:
        frame = getattr(tables, name)
        take = np.random.default_rng(data.draw(st.integers(0, 999))).integers(0, len(few), len(frame))
        columns = ["value", "n", "n_left_out", "ci95_low", "ci95_high", "reason"]
        columns += ["cluster_low", "cluster_high"] if name in CLUSTERED else []
        drawn = pd.DataFrame([few[i] for i in take], columns=columns)
        changed[name] = frame.reset_index(drop=True).assign(**{column: drawn[column] for column in columns})
    return replace(tables, **changed)


@pytest.mark.slow
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_number_that_no_table_holds(data: st.DataObject) -> None:
    tables = with_drawn(slim(), data)
    allowed = numbers_of(tables)
    for answers in statements(tables).values():
        for statement in answers:
            assert not [number for number in said_numbers(statement) if number not in allowed], statement


@pytest.mark.slow
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_nothing_is_claimed_that_an_interval_does_not_bear_out(data: st.DataObject) -> None:
    tables = with_drawn(slim(), data)
    found = statements(tables)
    gains = tables.revision_gains
    assert gains is not None
    rows = gains[(gains["kind"] == "rewrite less incremental fix") & (gains["statistic"] == "accepted_after_rejection")]
    for measure, statement in zip(("code_ned", "codebleu_churn"), found["RQ2"][1:3], strict=True):
        sides = {_side(row) for row in rows[rows["measure"] == measure].to_dict("records")}
        assert ("more often than" in statement.lead) == (sides == {1})
        assert ("less often than" in statement.lead) == (sides == {-1})
    effects = tables.churn_effects
    assert effects is not None
    spearman = effects[effects["statistic"] == "spearman"]
    for key, place, progress, revisions, measures in (
        ("RQ2", 0, "delta_y", "after_rejection", ["code_ned", "codebleu_churn"]),
        ("EQ2", -1, "delta_p_mean", "all", ["code_ned", "codebleu_churn", "prompt_ned"]),
    ):
        here = spearman[(spearman["progress"] == progress) & (spearman["revisions"] == revisions)]
        each = [_side(row) for row in here[here["measure"].isin(measures)].to_dict("records")]
        statement = found[key][place]
        assert statement.text.count("larger ones go with more") == each.count(1)
        assert statement.text.count("larger ones go with less") == each.count(-1)
        assert ("more progress" in statement.lead) == (set(each) == {1})
    auc = tables.judge_metrics[tables.judge_metrics["metric"] == "roc_auc"].to_dict("records")
    above = sum(_side(row, 0.5) == 1 for row in auc)
    assert ("judges rank better than chance" in found["EQ3"][0].lead) == (above > 0)
    assert not above or f"{above} of" in found["EQ3"][0].lead
    agreeing = [s for s in found["RQ3"] if "Judges agree more" in s.lead]
    fleiss = tables.judge_agreement[tables.judge_agreement["statistic"].isin(["fleiss", "mean_cohen"])]
    assert not agreeing or 1 in {_side(row) for row in fleiss.to_dict("records")}


def _side(row: dict[str, object], null: float = 0.0) -> int | None:
    """By hand: whether the interval lies above, holds, or lies below; None where it is none of 95%."""
    low, high, reason = row["ci95_low"], row["ci95_high"], row["reason"]
    if pd.isna(row["value"]) or pd.isna(low) or pd.isna(high) or "give no 95%" in str(reason):
        return None
    return 1 if float(low) > null else -1 if float(high) < null else 0  # type: ignore[arg-type]


def test_the_papers_counts_are_answered() -> None:
    found = {key: " ".join(f"{s.lead}. {s.text}" for s in answers) for key, answers in statements(whole()).items()}
    assert list(found) == ["RQ1", "EQ1", "RQ2", "EQ2", "RQ3", "EQ3"]
    assert "85.3% [79.5%, 89.7%] (n = 184) of trajectories were solved by turn 1, 86.4%" in found["RQ1"]
    assert "Of the 159 that were solved, 157 were solved by turn 1. With turns reversed, 72.3%" in found["RQ1"]
    assert "Of 136 rejected attempts in solved trajectories, 8 come before" in found["EQ1"]
    assert "In 31 of 159 solved ones" in found["EQ1"] and "159 were solved, 25 are censored" in found["EQ1"]
    assert "is not settled" in found["RQ2"] and "n = 8, few" in found["RQ2"]
    assert "prompt churn (NED) n = 143, 190 left out (most often: nothing was asked" in found["EQ2"]


def test_an_interval_that_holds_the_null_is_called_open_and_few_clusters_are_none() -> None:
    assert open_words(Estimate(0.3, 20, 0, (-0.1, 0.6))) == "the interval holds 0, so this is open"
    few = Estimate(0.3, 20, 0, (0.1, 0.6), FEW_CLUSTERS)
    assert side(few) is None and "none of 95%" in open_words(few)
    assert figure_words(Estimate(0.5, 7)) == "0.50 (no interval) (n = 7, few)"
    assert figure_words(Estimate.undefined("one class", 3)) == "undefined (one class)"
    row = {**Estimate(0.5, 9, 0, (0.1, 0.9)).to_row(), "cluster_low": 0.3, "cluster_high": None}
    assert over_clusters(row).ci95 == (0.1, 0.9)


@pytest.mark.parametrize("make", [empty_tables, made_tables, unjudged])
def test_what_is_missing_is_said(make: Callable[[], CocreationReportInput]) -> None:
    for answers in statements(make()).values():
        assert answers
        for statement in answers:
            assert "None" not in statement.text and "nan" not in statement.text.split()
            assert statement.text.endswith(".")


@pytest.mark.slow
@pytest.mark.parametrize("make", [whole, empty_tables, made_tables])
def test_every_answer_leads_to_a_place_of_the_page(make: Callable[[], CocreationReportInput]) -> None:
    tables = make()
    document = LexborHTMLParser(cocreation_report_html(tables, PROVENANCE))
    section = document.css_first("#questions")
    assert section is not None
    assert len(section.css("li")) == sum(map(len, statements(tables).values()))
    for link in section.css("a"):
        assert document.css_first(link.attributes["href"] or "") is not None, link.html


def test_answers_are_a_file_too() -> None:
    files = table_files(cocreation_views(whole(), PROVENANCE))
    assert "RQ1" in files["research-questions.csv"] and "EQ3" in files["research-questions.tex"]


def test_metrics_that_sentences_name_exist() -> None:
    assert {"brier", "log_loss", "ece", "mcc_val", "mcc_test", "mcc_test_reselected"} <= set(METRICS)
