from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pandas as pd
import pytest
from selectolax.lexbor import LexborHTMLParser

from judge_pipeline.orchestration.trace_pages_of_set import PreferencePages
from judge_pipeline.preference.accuracy import preference_accuracy
from judge_pipeline.preference.scoring_rules import SCORING_RULES
from judge_pipeline.report.preference_findings import preference_findings
from judge_pipeline.report.preference_inputs import PreferenceReportInput, labelled
from judge_pipeline.report.preference_report import preference_report_html, preference_views
from judge_pipeline.report.table_files import table_files
from judge_pipeline.table_schema import TableError
from judge_pipeline.tables.preference import PREFERENCE_PAIRS
from judge_pipeline_tests.report.led_home import n_led_home
from judge_pipeline_tests.report.made_preference import (
    HOSTILE_JUDGES,
    ITEMS,
    SETTINGS,
    MadeSet,
    made_preference,
    provenance,
)
from judge_pipeline_tests.report.made_tables import HOSTILE

DEMO = MadeSet(unverified={"simulated-selene": "3 pairs have no row in order BA"})
PROVENANCE = replace(provenance(), rules={name: rule.words for name, rule in SCORING_RULES.items()})
BARE = MadeSet(judges=("simulated-gpt", "length"), copies=1, n_items=3, one_order=True, votes=False, n_resamples=100)


@pytest.fixture(scope="module")
def demo() -> PreferenceReportInput:
    return made_preference(DEMO)


@pytest.fixture(scope="module")
def report(demo: PreferenceReportInput) -> LexborHTMLParser:
    return LexborHTMLParser(preference_report_html(demo, PROVENANCE))


@pytest.fixture(scope="module")
def hostile() -> LexborHTMLParser:
    made = MadeSet(hostile=True, copies=1, judges=HOSTILE_JUDGES, n_items=3, n_resamples=100)
    named = replace(
        PROVENANCE, title=HOSTILE, note=HOSTILE, chosen_by=f"no person: {HOSTILE}", fingerprint=HOSTILE,
        prompt_hashes={HOSTILE: HOSTILE}, data_versions={HOSTILE: HOSTILE}, settings={HOSTILE: HOSTILE},
    )  # fmt: skip
    return LexborHTMLParser(preference_report_html(made_preference(made), named))


@pytest.fixture(scope="module")
def bare() -> LexborHTMLParser:
    return LexborHTMLParser(preference_report_html(made_preference(BARE), PROVENANCE))


def text_of(document: LexborHTMLParser, css: str) -> str:
    found = document.css_first(css)
    return re.sub(r"\s+", " ", found.text(separator=" "))


def rows_of(document: LexborHTMLParser, table: str) -> dict[str, str]:
    """First line of the row's heading -> all text of the row."""
    return {
        row.css_first("th").text(deep=False, strip=True): re.sub(r"\s+", " ", row.text(separator=" "))
        for row in document.css(f"#table-{table} tbody tr")
    }


def test_the_page_stands_alone_and_its_anchors_lead_somewhere(report: LexborHTMLParser) -> None:
    ids = [node.attributes["id"] for node in report.css("[id]")]
    assert len(ids) == len(set(ids))
    for node in report.css("[src], [href]"):
        target = node.attributes.get("href") or node.attributes.get("src") or ""
        inside = target.startswith("#") and target[1:] in ids
        assert inside or target.partition("#")[0] == "preference_trace/index.html", node.html
    assert not report.css("link, iframe, object, embed, base, form")
    levels = [int(node.tag[1]) for node in report.css("h1, h2, h3, h4")]
    assert levels.count(1) == 1 and all(b - a <= 1 for a, b in pairwise(levels))
    policy = report.css_first("meta[http-equiv='Content-Security-Policy']").attributes["content"] or ""
    assert policy.startswith("default-src 'none'; script-src 'sha256-")


def test_each_figure_leads_to_its_own_trace_whatever_its_judge_and_item_are_called(demo: PreferenceReportInput) -> None:
    tables = [
        (schema, getattr(demo, name))
        for name, schema in demo.schemas().items()
        if name in PreferencePages.headline and name != "dataset_profile"
    ]
    assert any(kind.label != judge for judge, kind in demo.kinds.items())
    views = preference_views(labelled(demo), PROVENANCE)
    assert n_led_home(views, "preference_trace", tables) > 200
    unled = {view.name for view in views for row in view.rows for cell in row if cell.estimate and not cell.link}
    assert unled <= {"ranks"}, "ranks are over all sets"


@pytest.mark.slow
def test_the_same_input_gives_the_same_bytes(demo: PreferenceReportInput) -> None:
    assert preference_report_html(demo, PROVENANCE) == preference_report_html(replace(demo), PROVENANCE)


def test_that_no_person_chose_stands_at_the_head_at_the_foot_and_on_every_printed_page(
    report: LexborHTMLParser, demo: PreferenceReportInput
) -> None:
    assert "No person chose." in text_of(report, ".chosen")
    assert SETTINGS.chosen_by in text_of(report, ".chosen") and SETTINGS.chosen_by in text_of(report, "footer")
    assert "@bottom-left" in report.css_first("style").text()
    assert "The labels are not people's choices" in text_of(report, "#read-first")
    assert report.css_first("#figure-misalignment-coefficient").text().count("What the labels and judges weigh")
    bare = PreferenceReportInput(demo.preference_pairs)
    people = LexborHTMLParser(preference_report_html(bare, replace(PROVENANCE, chosen_by="People")))
    assert not people.css(".chosen") and "@bottom-left" not in people.css_first("style").text()
    assert "not people's choices" not in people.text()
    some = LexborHTMLParser(preference_report_html(bare, replace(PROVENANCE, chosen_by="two developers")))
    assert text_of(some, ".chosen").strip() == "Who chose: two developers."
    assert "not people's choices" not in some.text()


def test_table_2_holds_every_figure_of_every_judge_beside_the_rule(
    demo: PreferenceReportInput, report: LexborHTMLParser
) -> None:
    shown = rows_of(report, "table-2")
    accuracy = demo.preference_accuracy
    assert accuracy is not None
    own = accuracy[(accuracy["of"] == "judge") & accuracy["category"].isna()]
    wanted = own[own["figure"].isin(("acc", "acc_pc", "gap", "choice_share", "consistent_share", "valid_share"))]
    assert set(shown) == set(wanted["name"]) == {"simulated-gpt", "simulated-claude", "simulated-llama",
                                                 "simulated-grm", "length"}  # fmt: skip
    for row in wanted.to_dict("records"):
        assert f"{row['value']:.3f}" in shown[row["name"]]
        assert f"[{row['ci95_low']:.2f}, {row['ci95_high']:.2f}]" in shown[row["name"]].replace("-0.00", "0.00")
        assert f"n = {row['n']}" in shown[row["name"]]
    assert SCORING_RULES["trace"].words in text_of(report, "#table-table-2")
    families = [row.css_first("th .below").text() for row in report.css("#table-table-2 tbody tr")]
    assert len(families) - 1 == sum(a == b for a, b in pairwise(families)) + len(set(families)) - 1
    levels = text_of(report, "#table-levels")
    for words in ("always A", "the longer response", "general-purpose", "Majority-user agreement", "The same, same"):
        assert words in levels


def test_findings_say_the_numbers_of_the_tables(demo: PreferenceReportInput, report: LexborHTMLParser) -> None:
    accuracy, tested = demo.preference_accuracy, demo.misalignment
    assert accuracy is not None and tested is not None
    said = text_of(report, "#found")
    acc = accuracy[(accuracy["of"] == "judge") & (accuracy["figure"] == "acc") & accuracy["category"].isna()]
    best = acc.loc[acc[acc["name"] != "length"]["value"].idxmax()]
    assert acc["ci95_low"].max() < 0.5, "every judge is below always B"
    assert (
        "No judge is shown to be above the best floor. Of judges, " in said and "most often" not in said.split(".")[0]
    )
    assert f"Of judges, {best['name']} has the highest Acc: " in said
    low, high = best["ci95_low"], best["ci95_high"]
    assert f"Acc {100 * best['value']:.1f}% [{100 * low:.1f}, {100 * high:.1f}], n = {best['n']} pairs" in said
    pooled = tested[(tested["effect"] == "coefficient") & tested["judge"].isna()]
    ours = pooled[(pooled["test"] == "paired") & pooled["misaligned"].fillna(False).astype(bool)]
    assert len(ours) and f"{len(ours)} of 8 rubric items are weighed otherwise" in said
    papers = int(pooled.loc[pooled["test"] == "trace_pooled", "misaligned"].sum())
    assert f"which is anti-conservative, names {papers}." in said
    most = ours.loc[ours["value"].abs().idxmax()]
    assert f"{ITEMS[most['item']][0]} {most['value']:+.2f}" in said
    paired = tested[(tested["test"] == "paired") & tested["judge"].isna() & tested["item"].isin(ours["item"])]
    wide = paired.set_index(["item", "effect"])
    also = {
        effect: sum(
            bool(wide.loc[(item, effect), "misaligned"])
            and wide.loc[(item, effect), "value"] * wide.loc[(item, "coefficient"), "value"] > 0
            for item in ours["item"]
        )
        for effect in ("marginal_effect", "relative")
    }
    assert (
        f"of these {len(ours)}, {also['marginal_effect']} by average marginal effect and {also['relative']} by" in said
    )


def lead_of(given: PreferenceReportInput, raised: dict[str, float]) -> str:
    """The first finding where the Acc of these judges has a value and an interval around it, and all others 0.2."""
    assert given.preference_accuracy is not None
    table = given.preference_accuracy.copy()
    own = (table["of"] == "judge") & (table["figure"] == "acc") & table["category"].isna()
    for name in table.loc[own, "name"].unique():
        value = raised.get(name, 0.2)
        ends = [value, value - 0.05, value + 0.05]
        table.loc[own & (table["name"] == name), ["value", "ci95_low", "ci95_high"]] = ends
    found = preference_findings(labelled(replace(given, preference_accuracy=table)), PROVENANCE)[0]
    return f"{found.lead}. {found.text}"


@pytest.mark.slow
def test_a_judge_is_named_first_where_it_is_above_the_best_floor_and_a_baseline_never_beside_judges(
    demo: PreferenceReportInput,
) -> None:
    assert lead_of(demo, {"simulated-gpt": 0.9}).startswith(
        "simulated-gpt chooses as labelled most often of the judges"
    )
    both = lead_of(demo, {"simulated-gpt": 0.9, "length": 0.95})
    assert both.startswith("simulated-gpt chooses as labelled most often of the judges")
    only_baseline = lead_of(demo, {"length": 0.95, "simulated-gpt": 0.3})
    assert only_baseline.startswith("No judge is shown to be above the best floor. Of judges, simulated-gpt has")


def test_a_judge_that_is_not_verified_is_named_with_its_reason_and_in_no_example(report: LexborHTMLParser) -> None:
    assert "1 of 6 judges not verified" in text_of(report, "#read-first")
    assert "3 pairs have no row in order BA" in rows_of(report, "coverage")["simulated-selene"]
    assert "simulated-selene" not in text_of(report, "#examples")


def test_judges_carry_their_tags_wherever_they_are_named(report: LexborHTMLParser) -> None:
    for table in ("table-2", "biases", "model-fits", "coefficients"):
        assert "baseline" in rows_of(report, table)["length"], table
    assert '"length (baseline)"' in report.css_first("#figure-data").text()


def test_the_papers_tests_are_called_what_they_are(report: LexborHTMLParser, demo: PreferenceReportInput) -> None:
    table = report.css_first("#table-misaligned-items")
    headings = [re.sub(r"\s+", " ", node.text()).strip() for node in table.css("thead th")]
    assert any(heading.startswith("Paper's (anti-conservative)") for heading in headings)
    assert "Benjamini-Hochberg" in table.text()
    tested = demo.misalignment
    assert tested is not None
    ours = tested[(tested["effect"] == "coefficient") & (tested["test"] == "paired") & tested["judge"].isna()]
    order = ours.assign(far=ours["value"].abs()).sort_values("far", ascending=False, kind="stable")["item"]
    shown = rows_of(report, "misaligned-items")
    assert list(shown) == [ITEMS[item][0] for item in order]
    alone = tested[
        (tested["effect"] == "coefficient") & (tested["test"] == "trace_per_judge") & tested["judge"].notna()
    ]
    for item, rows in alone[alone["misaligned"].notna()].groupby("item"):
        assert f"per judge: {rows['misaligned'].astype(bool).sum()} of {len(rows)}" in shown[ITEMS[item][0]]
    assert len(rows_of(report, "coefficients")) == 6
    assert "floor 0." in rows_of(report, "coefficients")["the labels"]


def test_what_the_rubric_is_and_how_far_its_scores_hold(report: LexborHTMLParser) -> None:
    rows = rows_of(report, "rubric")
    assert list(rows) == [title for title, *_ in list(ITEMS.values())[:8]]
    assert "long, with parts that nobody needs" in rows["Brevity"] and "written by people" in rows["Brevity"]
    assert "found in round 1" in rows["Comments and docstrings"]
    reliability = rows_of(report, "score-reliability")
    assert next(iter(reliability)) == "all items" and len(reliability) == 9
    assert "simulated-second-scorer" in text_of(report, "#table-score-reliability")
    assert "readability" in text_of(report, "#table-themes") and "other-pairs" in text_of(report, "#table-themes")


@pytest.mark.slow
def test_scores_that_nobody_made_are_said_to_be_none(demo: PreferenceReportInput) -> None:
    assert demo.rubric_scores is not None
    nobody = demo.rubric_scores.assign(scorer=None, score=None, score_ab=None, score_ba=None, reason="no scorer")
    document = LexborHTMLParser(preference_report_html(replace(demo, rubric_scores=nobody), PROVENANCE))
    said = text_of(document, "#table-score-reliability")
    n = len(nobody)
    assert "Scored by nobody" in said and f"{n:,} of {n:,} scores could not be had" in said
    assert "no score 100%" in text_of(document, "#figure-rubric-scores")
    assert "have no score" in text_of(document, "#pair-1")


def test_disagreements_add_up(demo: PreferenceReportInput, report: LexborHTMLParser) -> None:
    table = demo.rubric_disagreements
    assert table is not None
    shown = rows_of(report, "disagreements")
    for judge, rows in table.groupby("judge"):
        cells = shown["length (baseline)" if judge == "length" else judge]
        known = rows[rows["explained"].notna()]
        net = int(known["explained"].sum() - known["reversed"].sum())
        assert f" {len(rows)} " in cells and f" {net} " in cells and f"{100 * net / len(known):.0f}% of" in cells


def test_tables_that_were_not_made_are_named_with_what_to_run(demo: PreferenceReportInput) -> None:
    document = LexborHTMLParser(preference_report_html(PreferenceReportInput(demo.preference_pairs), PROVENANCE))
    assert list(rows_of(document, "missing")) == [*list(PreferenceReportInput.schemas())[1:], "pair_judgments"]
    for section, table in (
        ("set", "dataset_profile"), ("judges", "pair_judge_coverage"), ("choosing", "preference_accuracy"),
        ("rubric", "rubric_scores"), ("weigh", "misalignment"), ("explained", "rubric_disagreements"),
        ("examples", "pair_texts"), ("set-aside", "preference_quarantine"),
    ):  # fmt: skip
        assert table in text_of(document, f"#{section} .empty"), section
    assert "judge-pipeline preference FOLDER" in text_of(document, "#table-missing")
    assert "the asset misalignment for sample-pairs in the UI" in text_of(document, "#table-missing")
    assert "Tables not made" in text_of(document, "#read-first") and "No judge measured" in text_of(document, "#found")
    assert not document.css("figure")


@pytest.mark.slow
def test_what_was_set_aside_is_shown_with_what_it_holds(demo: PreferenceReportInput, report: LexborHTMLParser) -> None:
    assert "The first: pairs.jsonl, line 43, w holds 'C'." in text_of(report, "#read-first")
    assert "holds 'C'" in text_of(report, "#table-quarantine")
    assert demo.preference_quarantine is not None
    whole = demo.preference_quarantine.assign(place=None, value=None)
    page = LexborHTMLParser(preference_report_html(replace(demo, preference_quarantine=whole), PROVENANCE))
    assert "The first: pairs.jsonl, w." in text_of(page, "#read-first") and "holds" not in text_of(page, "#set-aside")


def test_one_order_and_small_numbers_are_said(bare: LexborHTMLParser) -> None:
    said = text_of(bare, "#read-first")
    assert "One order only" in said and "Small numbers" in said and "42 pairs of" in said
    assert "decision_ba" in text_of(bare, "#figure-position-bias")


@pytest.mark.slow
def test_labels_that_lean_to_one_side_are_said_to(demo: PreferenceReportInput) -> None:
    pairs = demo.preference_pairs.assign(w=["A" if place % 5 else "B" for place in range(len(demo.preference_pairs))])
    said = text_of(LexborHTMLParser(preference_report_html(PreferenceReportInput(pairs), PROVENANCE)), "#read-first")
    assert "Labels lean to A. 79.8% of 168 untied labels are A." in said
    assert "Labels lean" not in text_of(LexborHTMLParser(preference_report_html(demo, PROVENANCE)), "#read-first")


def test_a_table_of_another_shape_is_refused(demo: PreferenceReportInput) -> None:
    with pytest.raises(TableError, match="rubric"):
        PreferenceReportInput(demo.preference_pairs, rubric=demo.preference_pairs)


def test_hostile_text_is_text(hostile: LexborHTMLParser) -> None:
    assert not hostile.css("img")
    assert len(hostile.css("script")) == 5  # two of data, three that run
    assert not any("evil" in (node.attributes.get("href") or "") for node in hostile.css("a"))
    assert not [n for n in hostile.css("*") for name in n.attributes if name.startswith("on")]
    assert hostile.css_first("h1").text() == HOSTILE
    assert HOSTILE in hostile.css_first("#examples pre").text()
    assert "evil" not in hostile.css_first("style").text()


def test_tables_are_exported_with_all_their_rows(demo: PreferenceReportInput) -> None:
    given = labelled(demo)
    files = table_files(preference_views(given, PROVENANCE))
    assert {"table-2.csv", "table-2.tex", "misaligned-items.csv", "disagreement-pairs.csv"} <= set(files)
    assert given.rubric_disagreements is not None
    pairs = given.rubric_disagreements["pair_id"].nunique()
    assert files["disagreement-pairs.csv"].count("\n") == 1 + pairs


def test_the_chooser_is_people_only_where_the_set_says_so() -> None:
    said: dict[str, Any] = {
        "people": (True, False, "people"),
        " People ": (True, False, "people"),
        "a stated rule; no person chose": (False, True, "the labels"),
        "No one: a model": (False, True, "the labels"),
        "two developers": (False, False, "the labels"),
    }
    for chosen_by, expected in said.items():
        found = replace(PROVENANCE, chosen_by=chosen_by)
        assert (found.by_people, found.by_nobody, found.chooser) == expected


def test_a_judge_without_one_steady_choice_is_not_passed_over_where_the_order_costs_others_nothing() -> None:
    decisions = pd.DataFrame(
        [(f"p{i}", judge, "AB"[i % 2], "A", ba) for i in range(6) for judge, ba in (("first", "B"), ("steady", "A"))],
        columns=["pair_id", "judge", "label", "decision_ab", "decision_ba"],
    )
    said = preference_findings(
        PreferenceReportInput(
            PREFERENCE_PAIRS.empty(), preference_accuracy=preference_accuracy(decisions, n_resamples=20)
        ),
        PROVENANCE,
    )
    [costs] = [statement.text for statement in said if statement.lead == "What the order costs"]
    assert costs.endswith(
        "nothing for steady; no choice is the same in both orders, so that there is no Acc_PC, for first."
    )
