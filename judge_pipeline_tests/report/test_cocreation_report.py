from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from judge_pipeline import tables
from judge_pipeline.estimate import Estimate
from judge_pipeline.report import page
from judge_pipeline.report.cocreation_report import cocreation_report_html, cocreation_views
from judge_pipeline.report.inputs import CocreationReportInput, ReportProvenance
from judge_pipeline.table_schema import TableError
from judge_pipeline_tests.report.made_tables import HOSTILE, MANY_JUDGES, Made, empty_tables, made_tables

PROVENANCE = ReportProvenance(
    contest="sample", fingerprint="9f2c" * 16, seed=20260401, resamples=2000, code_version="0.1.0", context="nonblind",
    title="Sample contest", prompt_hashes={"gpt-5.2": "ab" * 32}, data_versions={"attempts": "cd" * 32},
)  # fmt: skip


def parsed(given: CocreationReportInput, provenance: ReportProvenance = PROVENANCE) -> LexborHTMLParser:
    return LexborHTMLParser(cocreation_report_html(given, provenance))


@pytest.fixture(scope="module")
def demo() -> CocreationReportInput:
    return made_tables()


@pytest.fixture(scope="module")
def report(demo: CocreationReportInput) -> LexborHTMLParser:
    return parsed(demo)


@pytest.fixture(scope="module")
def hostile() -> LexborHTMLParser:
    place = {"kind": "submissions", "path": HOSTILE, "place": HOSTILE, "reason": HOSTILE, "remedy": HOSTILE}
    made = made_tables(
        Made(
            judges=(f"simulated-{HOSTILE}", HOSTILE, "unjudged"), participants=6, quarantine=[place],
            participant_name=lambda number: f"{HOSTILE}{number}", unverified={"unjudged": HOSTILE},
        )
    )  # fmt: skip
    named = replace(
        PROVENANCE, title=HOSTILE, note=HOSTILE, fingerprint=HOSTILE, code_version=HOSTILE, context=HOSTILE,
        prompt_hashes={HOSTILE: HOSTILE}, data_versions={HOSTILE: HOSTILE}, settings={HOSTILE: HOSTILE},
    )  # fmt: skip
    return parsed(made, named)


def scripts(document: LexborHTMLParser) -> list[str]:
    return [node.text(deep=True) for node in document.css("script:not([type])")]


@pytest.mark.slow
def test_the_same_input_gives_the_same_bytes(demo: CocreationReportInput) -> None:
    again = made_tables()
    assert cocreation_report_html(demo, PROVENANCE) == cocreation_report_html(again, PROVENANCE)


@pytest.mark.slow
def test_tables_made_already_give_the_same_page_and_other_tables_are_labelled_anew(demo: CocreationReportInput) -> None:
    views = cocreation_views(demo, PROVENANCE)
    html = cocreation_report_html(demo, PROVENANCE)
    assert cocreation_report_html(demo, PROVENANCE, views) == html
    assert cocreation_report_html(demo, PROVENANCE, [*views[:-1], replace(views[-1], caption="other")]) != html
    assert demo.labelled is demo.labelled
    fewer = demo.with_tables(judge_metrics=demo.judge_metrics.head(1))
    assert len(fewer.labelled.judge_metrics) == 1 < len(demo.labelled.judge_metrics)


def test_the_policy_names_each_script_by_its_hash_and_nothing_else(report: LexborHTMLParser) -> None:
    policy = report.css_first("meta[http-equiv='Content-Security-Policy']").attributes["content"] or ""
    hashes = set(re.findall(r"'sha256-([^']+)'", policy))
    assert hashes == {base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() for code in scripts(report)}
    assert len(hashes) == 3
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    script_rule = next(rule for rule in policy.split(";") if rule.strip().startswith("script-src"))
    assert "unsafe-inline" not in script_rule


PAGES_BESIDE = {"trajectories/index.html", "trace/index.html"}


def beside(target: str) -> bool:
    """Whether a link leads to a page that a run writes beside the report."""
    return target.partition("#")[0] in PAGES_BESIDE


def test_the_library_is_there_once_and_nothing_points_outside(report: LexborHTMLParser) -> None:
    assert scripts(report).count(page.plotly_js()) == 1
    for node in report.css("[src], [href], [srcset], [data], [poster], [action]"):
        target = node.attributes.get("href") or node.attributes.get("src") or ""
        assert target.startswith("#") or beside(target), node.html
    assert not report.css("link, iframe, object, embed, base, form")
    assert not re.search(r"url\(|@import", page._asset("report.css"))


def test_anchors_lead_somewhere_and_ids_are_unique(report: LexborHTMLParser) -> None:
    ids = [node.attributes["id"] for node in report.css("[id]")]
    assert len(ids) == len(set(ids))
    targets = {node.attributes["href"] or "" for node in report.css("a[href]")}
    assert {target[1:] for target in targets if not beside(target)} <= set(ids)


def test_headings_do_not_skip_levels(report: LexborHTMLParser) -> None:
    levels = [int(node.tag[1]) for node in report.css("h1, h2, h3, h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_tables_have_captions_and_scopes(report: LexborHTMLParser) -> None:
    assert len(report.css("table")) >= 9
    for table in report.css("table"):
        assert table.css_first("caption").text(strip=True)
        assert all(cell.attributes["scope"] == "col" for cell in table.css("thead th"))
        for row in table.css("tbody tr"):
            assert row.css_first("th").attributes["scope"] == "row"


def test_figures_have_captions_with_n_and_a_text_alternative(report: LexborHTMLParser) -> None:
    assert len(report.css("figure")) == 12
    sources = " ".join(node.text() for node in report.css("figcaption"))
    for number in ("2a", "2b", "3", "4", "5", "6", "7", "8", "9", "10"):
        assert f"(paper 1, Figure {number})" in sources
    for figure in report.css("figure"):
        assert "n = " in figure.css_first("figcaption").text()
        plot = figure.css_first(".plot")
        assert plot.attributes["role"] == "img"
        assert len(plot.attributes["aria-label"] or "") > 60
        assert figure.css_first("details p").text() == plot.attributes["aria-label"]


def test_table_four_holds_every_figure_with_interval_and_n(
    demo: CocreationReportInput, report: LexborHTMLParser
) -> None:
    shown = {
        row.css_first("th").text(deep=False, strip=True): row.text(separator=" ", strip=True)
        for row in report.css("#table-scores tbody tr")
    }
    for row in demo.judge_metrics.to_dict("records"):
        if row["metric"] in ("roc_auc", "pr_auc", "log_loss", "brier", "ece", "mcc_test"):
            text = shown[row["judge"]]
            value = f"{row['value']:.3f}"
            assert (value if float(value) else "0.000") in text
            assert f"[{row['ci95_low']:.2f}, {row['ci95_high']:.2f}]".replace("-0.00", "0.00") in text
            assert f"n = {row['n']}" in text
    assert all("1 clipped" in text and "plateau 0.48–0.52" in text for text in shown.values())


def test_a_reason_stands_under_the_table_and_is_marked_in_the_cell(report: LexborHTMLParser) -> None:
    notes = [node.text() for node in report.css("#table-scores .notes li")]
    assert notes == ["fewer than 50 test trajectories: the interval covers about 92%"]
    assert {node.text() for node in report.css("#table-scores td sup")} == {"1"}


@pytest.mark.slow
def test_what_holds_for_every_interval_is_said_once(demo: CocreationReportInput) -> None:
    metrics = demo.judge_metrics.assign(reason="12 clusters; read with care")
    block = parsed(replace(demo, judge_metrics=metrics)).css_first("#table-scores")
    assert not block.css("sup")
    assert "Everywhere in this table: 12 clusters; read with care." in block.text()


def test_undefined_is_a_word_with_a_reason_and_never_zero() -> None:
    document = parsed(made_tables(Made(one_class=True)))
    rows = document.css("#table-scores tbody tr")
    for row in rows:
        cell = row.css("td")[0]
        assert (cell.css_first("a") or cell).text(deep=False, strip=True) == "undefined"
        assert "undefined" in (cell.attributes["class"] or "")
    assert "only one class on test" in [node.text() for node in document.css("#table-scores .notes li")]
    assert (
        "Not drawn: no judge has a curve on test: only one class on test." in document.css_first("#figure-roc").text()
    )


@pytest.mark.slow
def test_every_simulated_embedded_or_unverified_judge_is_tagged_wherever_it_has_a_figure(
    demo: CocreationReportInput,
) -> None:
    coverage = demo.judge_coverage.assign(
        status=["stale" if judge == "simulated-sharp" else "verified" for judge in demo.judge_coverage["judge"]]
    )
    document = parsed(replace(demo, judge_coverage=coverage))
    for row in document.css("#table-scores tbody tr"):
        text = row.css_first("th").text(separator=" ", strip=True)
        assert ("simulated" in text) == text.startswith("simulated")
        assert ("embedded" in text) == text.startswith("smollm2")
        assert ("stale" in text) == text.startswith("simulated-sharp")
    data = document.css_first("#figure-data").text()
    assert "simulated-sharp (stale)" in data
    assert "smollm2-135m (embedded)" in data


@pytest.mark.slow
def test_a_metric_that_no_other_table_shows_is_not_lost(demo: CocreationReportInput) -> None:
    extra = {"judge": "simulated-sharp", "metric": "auc_of_s_algo", "split": "test", **Estimate(0.61, 15).to_row()}
    metrics = tables.JUDGE_METRICS.conform([*demo.judge_metrics.to_dict("records"), extra])
    text = parsed(replace(demo, judge_metrics=metrics)).css_first("#table-further").text(separator=" ")
    assert "auc_of_s_algo" in text
    assert "0.610" in text


def test_hostile_text_is_text(hostile: LexborHTMLParser) -> None:
    assert not hostile.css("img")
    assert len(hostile.css("script")) == 5  # two of data, three that run
    assert not any("evil" in (node.attributes.get("href") or "") for node in hostile.css("a"))
    assert not [n for n in hostile.css("*") for name in n.attributes if name.startswith("on")]
    assert hostile.css_first("h1").text() == HOSTILE
    assert HOSTILE in hostile.css_first("#table-quarantine").text()


def test_hostile_data_are_json_that_cannot_leave_its_element(hostile: LexborHTMLParser) -> None:
    for name, held in (
        ("figure", {"metrics", "reliability", "success", "survival"}),
        ("table", {"scores", "coverage"}),
    ):
        raw = hostile.css_first(f"#{name}-data").text(deep=True)
        assert not re.search(r"[<>&\u2028\u2029]", raw)
        assert set(json.loads(raw)) >= held


@pytest.mark.parametrize("text", ["</script>", "<!--<script>", "\u2028\u2029", "&lt;", "ü日本"])
def test_safe_json_keeps_the_value(text: str) -> None:
    assert json.loads(page.safe_json({text: [text]})) == {text: [text]}


@pytest.mark.slow
def test_lone_surrogates_in_a_path_do_not_break_the_page() -> None:
    place = {"kind": "submissions", "path": "a\ud800b\x00c", "place": None, "reason": "r", "remedy": "m"}
    given = replace(empty_tables(), ingest_quarantine=tables.INGEST_QUARANTINE.conform([place]))
    assert b"a b c" in cocreation_report_html(given, PROVENANCE).encode("utf-8")


@pytest.mark.slow
def test_empty_tables_give_a_page_with_reasons_and_nothing_to_draw_with() -> None:
    document = parsed(empty_tables())
    assert scripts(document) == [page._asset("tables.js")]
    assert len(document.css("figure .empty")) == len(document.css("figure")) == 26
    assert "No judge is configured" in document.css_first("#read-first").text()
    assert len(document.html or "") < 60_000


@pytest.mark.slow
def test_no_verified_judge_still_tells_of_people() -> None:
    made = Made()
    document = parsed(made_tables(replace(made, unverified=dict.fromkeys(made.judges, "its file is missing"))))
    assert "None of the 5 judges has a verified table" in document.css_first("#found").text()
    assert document.css_first("#figure-success .plot")
    assert "its file is missing" in document.css_first("#table-coverage").text()


@pytest.mark.slow
def test_repairs_and_failures_are_told_with_their_rates_and_classes() -> None:
    judges = ("gpt-5.2", "simulated-sharp", "baseline-text")
    made = made_tables(Made(judges=judges, unverified={"gpt-5.2": "its run failed"}))
    asked, recorded, _ = parsed(made).css("#table-coverage tbody tr")
    n = int(made.judge_coverage["n_in_scope"][0])
    tries, failed = n + n // 10, n // 10
    assert f"3of {n:,} ({300 / n:.1f}%)refusal: 2, invalid: 1" in _squeezed(asked)
    assert f"{failed}of {tries} ({100 * failed / tries:.1f}%)rate limit: {failed}" in _squeezed(asked)
    assert f"{n // 20}of {n} ({100 * (n // 20) / n:.1f}%)" in _squeezed(recorded)
    assert "rate limit" not in _squeezed(recorded)


def _squeezed(row: Any) -> str:
    """The text of a row without the white space between its parts."""
    return re.sub(r"\s*\n\s*", "", row.text())


@pytest.mark.slow
def test_the_papers_counts_are_shown(demo: CocreationReportInput) -> None:
    counts = {"participants": 15, "trajectories": 184, "attempts": 517, "mean": 2.81}
    named = {"counted_over": "attempts"}
    rows = [
        {"statistic": k, "label": k.title(), **named, **Estimate(float(v), 517).to_row()} for k, v in counts.items()
    ]
    document = parsed(replace(demo, contest_overview=tables.CONTEST_OVERVIEW.conform(rows)))
    shown = [" ".join(row.text(separator=" ").split()) for row in document.css("#table-overview tbody tr")]
    assert shown[:2] == ["Participants 15 517 attempts", "Trajectories 184 517 attempts"]
    assert shown[3] == "Mean 2.81 517 attempts"


@pytest.mark.slow
def test_long_tables_are_cut_and_say_so(demo: CocreationReportInput) -> None:
    places = [{"kind": "submissions", "path": f"p{k}", "place": None, "reason": "r", "remedy": "m"} for k in range(150)]
    given = replace(demo, ingest_quarantine=tables.INGEST_QUARANTINE.conform(places))
    block = parsed(given).css_first("#table-quarantine")
    assert len(block.css("tbody tr")) == 100
    assert "100 of 150 rows are shown" in block.text()


def test_provenance_is_on_the_page(report: LexborHTMLParser) -> None:
    text = report.css_first("#sources").text(separator=" ")
    for value in ("9f2c" * 16, "20260401", "2,000", "0.1.0", "ab" * 32, "cd" * 32):
        assert value in text


def test_a_table_that_breaks_its_schema_is_refused(demo: CocreationReportInput) -> None:
    with pytest.raises(TableError, match="survival"):
        replace(demo, survival=demo.survival.drop(columns=["n_at_risk"]))


@pytest.mark.slow
def test_many_judges_each_have_a_panel_and_a_row() -> None:
    document = parsed(made_tables(Made(judges=MANY_JUDGES)))
    assert len(document.css("#table-scores tbody tr")) == len(MANY_JUDGES)
    layout = json.loads(document.css_first("#figure-data").text())["roc"]["layout"]
    assert layout["meta"]["facets"]["count"] == len(MANY_JUDGES)
