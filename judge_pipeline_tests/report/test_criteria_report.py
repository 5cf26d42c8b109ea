"""The criteria report: what it says follows from its tables, and it says what it cannot say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from judge_pipeline.figures.criteria_calls import criteria_calls_figure
from judge_pipeline.figures.criteria_gains import criteria_gains_figure
from judge_pipeline.figures.criteria_skew import criteria_skew_figure
from judge_pipeline.report.criteria_cautions import criteria_cautions
from judge_pipeline.report.criteria_findings import criteria_findings
from judge_pipeline.report.criteria_inputs import CriteriaReportInput, GuidanceShown
from judge_pipeline.report.criteria_pairs import choose, criteria_examples, criterion_lines
from judge_pipeline.report.criteria_report import criteria_report_html, criteria_views
from judge_pipeline.report.inputs import JudgeKind
from judge_pipeline.report.table_files import table_files
from judge_pipeline.report.view import View
from judge_pipeline.settings.criteria import Configuration
from judge_pipeline.tables.criteria import CONSISTENT_EVIDENCE
from judge_pipeline.tables.criteria_ablation import CRITERIA_ABLATION, CRITERIA_ASPECTS, JudgedTables
from judge_pipeline_tests.criteria.made_ablation import CONFIGURATIONS
from judge_pipeline_tests.report.led_home import n_led_home
from judge_pipeline_tests.report.made_criteria import MadeCriteria, made_criteria, provenance
from judge_pipeline_tests.report.made_tables import HOSTILE

pytestmark = pytest.mark.slow

JUDGE, WEAK = "scripted-judge", "tiny"


@pytest.fixture(scope="module")
def given() -> CriteriaReportInput:
    return made_criteria(MadeCriteria(copies=2, n_resamples=1000))


def views(given: CriteriaReportInput) -> dict[str, View]:
    return {view.name: view for view in criteria_views(given, provenance())}


def said(statements: list[Any], lead: str) -> str:
    found = [f"{each.lead}. {each.text}" for each in statements if lead in each.lead]
    assert len(found) == 1, [each.lead for each in statements]
    return found[0]


def ablation_with(given: CriteriaReportInput, change: Callable[[pd.DataFrame], pd.DataFrame]) -> CriteriaReportInput:
    assert given.criteria_ablation is not None
    return replace(given, criteria_ablation=CRITERIA_ABLATION.conform(change(given.criteria_ablation.copy())))


def test_the_same_input_gives_the_same_page_and_each_anchor_is_there(given: CriteriaReportInput) -> None:
    page = criteria_report_html(given, provenance())
    assert page == criteria_report_html(given, provenance())
    for statement in (*criteria_findings(given), *criteria_cautions(given, provenance())):
        assert f'id="{statement.anchor}"' in page, statement
    for name in ("table-paper-1", "table-paper-2", "table-paper-4", "table-paper-6", "table-paper-7", "figure-gains-2"):
        assert f'id="{name}"' in page, name
    assert "60.4" not in page and "66.3" not in page  # no number of the paper


def test_each_figure_leads_to_its_own_trace(given: CriteriaReportInput) -> None:
    assert given.criteria_ablation is not None and given.criteria_aspects is not None
    tables = [(CRITERIA_ABLATION, given.criteria_ablation), (CRITERIA_ASPECTS, given.criteria_aspects)]
    shown = criteria_views(given, provenance())
    assert n_led_home(shown, "criteria_trace", tables) > 200
    assert not [view.name for view in shown for row in view.rows for cell in row if cell.estimate and not cell.link]


def test_a_gain_is_called_one_only_where_its_test_says_so(given: CriteriaReportInput) -> None:
    found = said(criteria_findings(given), f"{JUDGE}: full gains")
    row = _row(given, JUDGE, "gain_over_monolithic")
    assert f"+{100 * row['value']:.1f} points" in found and "Scripted, not a model: the gain was put in." in found
    assert f"n = {row['n']}" in found

    def untold(table: pd.DataFrame) -> pd.DataFrame:
        return table.assign(p_holm=table["p_holm"].where(table["p_holm"].isna(), 0.2))

    without = said(criteria_findings(ablation_with(given, untold)), f"{JUDGE}: no gain of full is shown")
    assert "p = 0.200 after Holm" in without


def _row(given: CriteriaReportInput, judge: str, figure: str) -> dict[str, Any]:
    table = given.criteria_ablation
    assert table is not None
    rows = table[(table["judge"] == judge) & (table["configuration"] == "full") & (table["figure"] == figure)]
    (row,) = rows[rows["paper_table"].isna() & rows["category"].isna()].to_dict("records")
    return dict(row)


def test_the_embedded_model_is_called_too_weak_and_its_stages_are_not_looked_into(given: CriteriaReportInput) -> None:
    leads = [each.lead for each in criteria_findings(given)]
    weak = [lead for lead in leads if lead.startswith(f"{WEAK} (embedded)")]
    assert len(weak) == 2 and len(leads) > 8
    assert "too weak to gain" in said(criteria_findings(given), f"{WEAK} (embedded): no gain")
    cautions = criteria_cautions(given, provenance())
    assert WEAK in said(cautions, "Embedded judge: too weak to gain")
    assert JUDGE in said(cautions, "Scripted: not a model") and WEAK not in said(cautions, "Scripted: not a model")
    assert said(cautions, "The labels are not people's choices")
    assert not any("people's" in each.lead for each in criteria_cautions(given, provenance("people")))


def test_a_loss_is_called_a_loss(given: CriteriaReportInput) -> None:
    def mirrored(table: pd.DataFrame) -> pd.DataFrame:
        gain = table["figure"] == "gain_over_monolithic"
        low, high = -table["ci95_high"], -table["ci95_low"]
        return table.assign(
            value=table["value"].where(~gain, -table["value"]), ci95_low=table["ci95_low"].where(~gain, low),
            ci95_high=table["ci95_high"].where(~gain, high),
        )  # fmt: skip

    assert "-" in said(criteria_findings(ablation_with(given, mirrored)), f"{JUDGE}: full loses")


def test_tables_of_the_paper_hold_rows_gains_and_what_each_took(given: CriteriaReportInput) -> None:
    found = views(given)
    rows = found["paper-2"].rows
    assert [row[0].text for row in rows] == ["Monolithic", "Pairwise", "+ BTCR", "+ SCF", "+ HPAG"] * 2
    assert rows[0][3].text == "–" and rows[4][1].tags == ("scripted: not a model",)
    assert "over pairwise-scf" in rows[4][4].below and rows[0][5].text == "1.0"
    assert [row[1].text for row in found["paper-4"].rows] == ["people.yaml"] * 2
    assert len(found["paper-6"].rows) == 2 * 2 * 5 and found["paper-6"].folded
    assert {row[2].text for row in found["paper-7"].rows} == {"pairwise-btcr", "pairwise-scf", "full"}
    total = [row for row in found["paper-7"].rows if row[0].text == "All calls of refinement"]
    assert all(float(row[3].text.replace(",", "")) > float(row[4].text.replace(",", "")) for row in total)
    files = table_files(found.values())
    assert "paper-1.csv" in files and "'+ BTCR" in files["paper-2.csv"]  # no cell is run as a formula


def test_what_was_not_made_is_said_with_what_to_run(given: CriteriaReportInput) -> None:
    bare = CriteriaReportInput(given.preference_pairs, [], CONFIGURATIONS)
    page = criteria_report_html(bare, provenance())
    assert "Nothing measured" in page and "No pair can be shown" in page and "Tables not made" in page
    assert "Materialize the asset criteria_ablation for sample-pairs" in page
    some = replace(given, criteria_ablation=None, criteria_aspects=None, decisive_criteria=None, pair_texts=None)
    assert set(some.missing) == {"criteria_ablation", "criteria_aspects", "decisive_criteria", "pair_texts"}
    assert "Not made yet: criteria_ablation" in criteria_report_html(some, provenance())


def test_pairs_are_chosen_by_the_rule_that_is_stated(given: CriteriaReportInput) -> None:
    own = given.of_judge(JUDGE)
    plain, full = own["monolithic"], own["full"]
    labels = dict(zip(given.preference_pairs["pair_id"], given.preference_pairs["w"], strict=True))
    before, after = (dict(each.criteria_decisions[["pair_id", "decision"]].to_numpy()) for each in (plain, full))
    evidence = full.consistent_evidence
    assert evidence is not None
    filtered = evidence[~evidence["kept"].astype(bool)]["pair_id"].value_counts().to_dict()
    mended = [p for p in after if after[p] == labels[p] != before[p]]
    chosen = choose(given, plain, full)
    first = sorted(mended, key=lambda p: (-filtered.get(p, 0), p))[:2]
    assert [pair for pair, why in chosen if why.startswith("mended")] == first
    assert len({pair for pair, _ in chosen}) == len(chosen) <= 5
    assert all(before[p] == labels[p] != after[p] for p, why in chosen if why.startswith("spoiled"))
    shown = criteria_examples(given)
    assert [each.anchor for each in shown] == [f"pair-{n}" for n in range(1, len(shown) + 1)]
    assert {each.judge for each in shown} == {JUDGE, f"{WEAK} (embedded)"}


def test_a_pair_shows_each_criterion_once_with_what_became_of_it(given: CriteriaReportInput) -> None:
    full = given.of_judge(JUDGE)["full"]
    assert full.refined_criteria is not None and full.consistent_evidence is not None
    for pair in full.criteria_decisions["pair_id"]:
        lines = criterion_lines(full, pair)
        own = full.refined_criteria[full.refined_criteria["pair_id"] == pair]
        assert sorted(line.id for line in lines) == sorted(own["criterion"])
        kept = full.consistent_evidence[full.consistent_evidence["pair_id"] == pair].set_index("criterion")["kept"]
        for place, line in enumerate(lines):
            if line.state in ("evidence", "filtered"):
                assert bool(kept[line.id]) == (line.state == "evidence")
                ab, ba = (order.said for order in line.orders if order is not None)
                assert (ab == ba) == (line.state == "evidence") and ("flips" in line.why) == (ab != ba)
            if line.parent is not None:  # a child stands under its parent
                above = [each.id for each in lines[:place]]
                assert line.parent in above
    decided = criteria_examples(given)[0]
    rows = full.criteria_decisions.set_index("pair_id")
    assert decided.full.said == rows.loc[decided.pair_id, "decision"]
    n = int((full.consistent_evidence[full.consistent_evidence["pair_id"] == decided.pair_id]["kept"]).sum())
    assert n == sum(line.state == "evidence" for line in decided.criteria)


def test_pointwise_answers_are_shown_for_each_response(given: CriteriaReportInput) -> None:
    base = given.of_judge(JUDGE)["full"]
    assert base.refined_criteria is not None
    first = base.refined_criteria.iloc[[0]].assign(fate="kept")
    pair, criterion = first[["pair_id", "criterion"]].iloc[0]
    answers = [
        {"pair_id": pair, "criterion": criterion, "response": side, "met": met, "rationale": f"as {side}",
         "failure_class": None if met is not None else "not_json", "failure": None, "request_hash": None}
        for side, met in (("A", True), ("B", None))
    ]  # fmt: skip
    own = JudgedTables(
        JUDGE, "rrd", base.criteria_decisions, refined_criteria=first, criterion_answers=pd.DataFrame(answers),
        consistent_evidence=CONSISTENT_EVIDENCE.empty(),
    )  # fmt: skip
    (line,) = criterion_lines(own, pair)
    assert [order.said for order in line.orders if order] == ["yes", "invalid"] and line.why == "counts"
    assert line.rationale == "as A"


def test_hostile_text_is_text_everywhere(given: CriteriaReportInput) -> None:
    made = MadeCriteria(
        judges=((JUDGE, "litellm"),), copies=1, hostile=True, configurations=("monolithic", "full"), n_resamples=100
    )
    hostile = made_criteria(made)
    page = criteria_report_html(hostile, replace(provenance(), title=HOSTILE, note=HOSTILE))
    assert HOSTILE not in page
    assert page.count("<script") == criteria_report_html(given, provenance()).count("<script")


def test_the_full_configuration_is_the_one_with_most_parts(given: CriteriaReportInput) -> None:
    one = replace(given, judged=[own for own in given.judged if own.judge == JUDGE])
    assert one.full_of(JUDGE) == "full" and one.monolithic_of(JUDGE) == "monolithic"
    less = replace(one, judged=[own for own in one.judged if own.configuration in ("pairwise", "pairwise-btcr")])
    assert less.full_of(JUDGE) == "pairwise-btcr" and less.monolithic_of(JUDGE) is None
    assert "Nothing to gain over" in [each.lead for each in criteria_cautions(less, provenance())]
    plain = replace(one, judged=one.judged[:1])
    assert plain.full_of(JUDGE) is None and criteria_examples(plain) == []
    gone = replace(one, configurations={"monolithic": Configuration(generator="none", refinement="none")})
    assert gone.full_of(JUDGE) is None
    assert "Configurations that are gone" in [each.lead for each in criteria_cautions(gone, provenance())]


def test_leaks_old_guidance_and_few_resamples_are_warnings(given: CriteriaReportInput) -> None:
    shown = [
        GuidanceShown("a.yaml", "", ("j@full",), None, "3 pairs among the guidance's records are not of split train"),
        replace(given.guidance[0], outdated=(f"{JUDGE}@full",)),
    ]
    where = replace(provenance(), resamples=100)
    cautions = criteria_cautions(replace(given, guidance=shown), where)
    assert "a.yaml: 3 pairs among" in said(cautions, "Guidance that may not be used")
    assert f"{JUDGE}@full was judged with other" in said(cautions, "Judged with other guidance")
    assert "With 100 resamples no p of 8 rows" in said(cautions, "Too few resamples")
    assert not any("resamples" in each.lead for each in criteria_cautions(given, provenance()))
    page = criteria_report_html(replace(given, guidance=shown), where)
    assert "May not be used." in page and page.count("Leak check: no pair that is judged") == 1


def test_floors_of_more_pairs_than_were_judged_are_a_warning(given: CriteriaReportInput) -> None:
    def more(ablation: pd.DataFrame) -> pd.DataFrame:
        return ablation.assign(n=ablation["n"] + 5 * ablation["configuration"].isna())

    lead = "Not every pair was judged"
    assert not any(each.lead == lead for each in criteria_cautions(given, provenance()))
    assert "floors are of all" in said(criteria_cautions(ablation_with(given, more), provenance()), lead)


def test_figures_without_anything_to_draw_say_why() -> None:
    empty = CRITERIA_ABLATION.empty()
    for figure in (
        criteria_gains_figure(empty, "j", "gains-1", "j"), criteria_skew_figure(empty, {}),
        criteria_calls_figure(empty, "j", "costs-1", "j"),
    ):  # fmt: skip
        assert figure.figure is None and figure.reason


def test_figures_draw_a_marker_for_each_value_with_its_interval(given: CriteriaReportInput) -> None:
    table = given.criteria_ablation
    assert table is not None
    kind = JudgeKind(JUDGE, "litellm", False, True, "judged", None)
    gains = criteria_gains_figure(table, JUDGE, "gains-1", kind.label).figure
    markers = [trace for trace in gains.data if trace.mode == "markers"]
    assert len(markers) == 5 + 4
    full = _row(given, JUDGE, "acc")
    (drawn,) = [trace for trace in markers if trace.xaxis == "x" and trace.name == "full"]
    assert drawn.x[0] == full["value"] and drawn.error_x.array[0] == pytest.approx(full["ci95_high"] - full["value"])
    skew = criteria_skew_figure(table, {JUDGE: JUDGE, WEAK: WEAK}).figure
    assert len([trace for trace in skew.data if trace.mode == "markers"]) == 2 * 2 * 2 * 2
    calls = criteria_calls_figure(table, JUDGE, "costs-1", JUDGE)
    assert [label for label, _ in calls.key] == list(CONFIGURATIONS)
    points = [trace for trace in calls.figure.data if trace.mode == "markers"]
    assert points[0].x[0] == 1.0 and points[0].y[0] == pytest.approx(
        next(r["value"] for r in table.to_dict("records") if r["judge"] == JUDGE and r["configuration"] == "monolithic")
    )
