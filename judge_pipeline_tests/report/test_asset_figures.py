from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from selectolax.lexbor import LexborHTMLParser

from judge_pipeline.cocreation.trajectories import check_turn_order, success_at_turn, survival, trajectories
from judge_pipeline.figures.struggle_groups import (
    struggle_groups_figure,
    struggle_judges_figure,
    struggle_levels_figure,
)
from judge_pipeline.report.asset_figures import (
    ASSETS_WITH_FIGURES,
    LIBRARY,
    asset_figures,
    figures_markdown,
    figures_page,
)
from judge_pipeline.report.cocreation_report import cocreation_figures
from judge_pipeline.report.inputs import with_labels
from judge_pipeline.report.page import plotly_js
from judge_pipeline.tables import JUDGE_COVERAGE
from judge_pipeline_tests.browser import chromium
from judge_pipeline_tests.paper_counts_contest import paper_counts_contest
from judge_pipeline_tests.preference.made_set import made_set, measured
from judge_pipeline_tests.report.made_criteria import MadeCriteria, made_criteria
from judge_pipeline_tests.report.made_dynamics import made_dynamics
from judge_pipeline_tests.report.made_tables import empty_tables, made_tables

HOSTILE = "<script>window.ran = 1</script>|`x`](javascript:alert(1))"
PAPER = {
    "judge_curves": ("2a", "2b", "3"), "judge_metrics": ("4",), "judge_agreement": ("5",),
    "prompt_code_summary": ("6",),
    "struggle_curves": ("8",), "survival": ("9",), "success_at_turn": ("10",), "prompt_space": ("11",),
    "revisions": ("12", "13"), "churn_effects": ("12", "13"), "convergence": ("14",), "churn_summary": ("14",),
}  # fmt: skip


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    given = paper_counts_contest()
    counted = {"success_at_turn": success_at_turn(given.trajectories), "survival": survival(given.trajectories)}
    made, of_judges = made_tables(), ("judge_metrics", "judge_curves", "judge_agreement")
    judged = {name: getattr(made, name) for name in (*of_judges, "prompt_code_ned", "prompt_code_summary")}
    curves = {"struggle_curves": given.struggle_curves}
    made_of = MadeCriteria(judges=(("tiny", "embedded"),), copies=1, n_resamples=50)
    criteria = {"criteria_ablation": made_criteria(made_of).criteria_ablation}
    return {**made_dynamics(), **counted, **judged, **curves, **criteria, **measured(made_set(60))}


def page_of(asset: str, tables: dict[str, pd.DataFrame]) -> str:
    return figures_page(asset, "mini", *asset_figures(asset, tables), "abc")


@pytest.mark.slow
@pytest.mark.parametrize("asset", sorted(ASSETS_WITH_FIGURES))
def test_each_asset_draws_figures_and_says_them_in_words(asset: str, tables: dict[str, pd.DataFrame]) -> None:
    figures, views = asset_figures(asset, tables)
    assert figures and all(figure.figure is not None for figure in figures)
    html = figures_page(asset, "mini", figures, views, "abc")
    document = LexborHTMLParser(html)
    assert [node.attributes["data-figure"] for node in document.css("[data-figure]")] == [f.name for f in figures]
    assert [node.attributes["data-table"] for node in document.css("[data-table]")] == [view.name for view in views]
    assert len(html) < 1_000_000, "the drawing library lies beside the page"
    words = figures_markdown(figures, views)
    assert len(words) < 6_000
    for number in PAPER.get(asset, ()):
        assert f"(paper 1, Figure {number})" in words


@pytest.mark.slow
def test_what_the_report_shows_of_an_asset_again_is_not_drawn_again(tables: dict[str, pd.DataFrame]) -> None:
    said = {"judge": "claude", "backend": "litellm", "status": "stale", "in_panel": True, "scope": "all"}
    counts = {name: 1 for name in JUDGE_COVERAGE.column_names if name.startswith("n_")}
    coverage = pd.DataFrame([dict.fromkeys(JUDGE_COVERAGE.column_names) | said | counts])
    shown, _ = asset_figures("struggle_groups", {**tables, "judge_coverage": coverage})
    given = empty_tables().with_tables(judge_coverage=coverage, struggle_groups=tables["struggle_groups"].copy())
    groups = with_labels(given).struggle_groups
    assert groups is not None
    again = [
        struggle_groups_figure(groups),
        struggle_judges_figure(groups),
        struggle_levels_figure(groups, "problem_id"),
    ]
    assert all(one.figure is other.figure is not None for one, other in zip(again, shown, strict=False))


@pytest.mark.slow
def test_the_report_holds_the_very_figures_of_the_assets_pages(tables: dict[str, pd.DataFrame]) -> None:
    assets = ("success_at_turn", "success_curves", "survival", "survival_curves", "survival_groups", "hazards")
    shown = {figure.name: figure for asset in assets for figure in asset_figures(asset, tables)[0]}
    given = empty_tables().with_tables(**{asset: tables[asset].copy() for asset in assets})
    again = {figure.name: figure for figure in cocreation_figures(given.labelled)}
    assert len(shown) >= len(assets)
    assert [name for name in shown if shown[name].figure is not again[name].figure] == []


@pytest.mark.slow
def test_the_same_table_gives_the_same_page(tables: dict[str, pd.DataFrame]) -> None:
    for asset in ("survival_groups", "churn_effects", "prompt_space"):
        copies = {name: table.copy() for name, table in tables.items()}
        assert page_of(asset, copies) == page_of(asset, tables)


def test_the_numbers_are_those_of_the_table(tables: dict[str, pd.DataFrame]) -> None:
    first = tables["success_at_turn"].iloc[0]
    words = figures_markdown(*asset_figures("success_at_turn", tables))
    shown = f"{first['value']:.4f} | \\[{first['ci95_low']:.4f}, {first['ci95_high']:.4f}\\] | {first['n']} |"
    assert shown in words


def test_effects_give_their_correlation_to_the_figure(tables: dict[str, pd.DataFrame]) -> None:
    without = figures_markdown(*asset_figures("revisions", {"revisions": tables["revisions"]}))
    assert "Spearman" not in without
    assert "Spearman's ρ" in figures_markdown(*asset_figures("churn_effects", tables))


def test_a_struggle_curve_says_that_it_may_be_reversed_where_the_check_of_turn_order_warns(
    tables: dict[str, pd.DataFrame],
) -> None:
    curves, given = tables["struggle_curves"], paper_counts_contest()
    said = []
    for turned in (lambda table: table, _turned):
        check = check_turn_order(trajectories(turned(given.attempts), given.splits))
        words = figures_markdown(*asset_figures("struggle_curves", {"struggle_curves": turned(curves)}))
        assert ("read from right to left" in words) == (check.warning is not None)
        said.append(check.warning is not None)
    assert said == [True, False]


def _turned(table: pd.DataFrame) -> pd.DataFrame:
    last = table.groupby(["participant", "problem_id"])["turn"].transform("max")
    return table.assign(turn=last + 1 - table["turn"])


@pytest.mark.slow
def test_judges_are_called_by_their_labels(tables: dict[str, pd.DataFrame]) -> None:
    columns = {"judge": "claude", "backend": "litellm", "model": "m", "status": "stale", "reason": "r"}
    words = figures_markdown(*asset_figures("struggle_groups", {**tables, "judge_coverage": pd.DataFrame([columns])}))
    assert "claude \\(stale\\)" in words
    agreement = tables["judge_agreement"]
    said = pd.DataFrame([columns | {"judge": agreement["judge_1"].dropna().iloc[0]}])
    labelled = figures_markdown(
        *asset_figures("judge_agreement", {"judge_agreement": agreement, "judge_coverage": said})
    )
    assert "\\(stale\\)" in labelled


def test_curves_without_metrics_claim_nothing_of_them(tables: dict[str, pd.DataFrame]) -> None:
    words = figures_markdown(*asset_figures("judge_curves", tables))
    assert "test attempts a judge" in words
    assert "no judge has it" not in words and "undefined" not in words


def test_a_preference_set_s_page_is_drawn_under_the_first_rule_alone(tables: dict[str, pd.DataFrame]) -> None:
    accuracy = tables["preference_accuracy"]
    assert accuracy["rule"].unique().tolist() == ["trace", "exact"]
    alone = {**tables, "preference_accuracy": accuracy[accuracy["rule"] == "trace"]}
    assert page_of("preference_accuracy", tables) == page_of("preference_accuracy", alone)
    assert "Preference set <code>mini</code>" in page_of("preference_accuracy", tables)
    assert 'href="../preference_report.html"' in page_of("misalignment", tables)
    assert 'href="../criteria_report.html"' in page_of("criteria_ablation", tables)
    rule = "a stated rule; no person <chose>"
    figures, views = asset_figures("misalignment", tables, rule)
    html = figures_page("misalignment", "mini", figures, views, "abc", rule)
    assert "Chosen by: a stated rule; no person &lt;chose&gt;." in html
    assert "people" not in figures_markdown(figures, views)
    columns = {"judge": "first", "backend": "baseline", "model": "m", "status": "stale", "reason": "r", "family": None}
    labelled = {**tables, "pair_judge_coverage": pd.DataFrame([columns])}
    assert "first \\(baseline, stale\\)" in figures_markdown(*asset_figures("preference_accuracy", labelled))


def test_a_table_without_rows_is_said_to_have_none(tables: dict[str, pd.DataFrame]) -> None:
    for asset in sorted(ASSETS_WITH_FIGURES):
        empty = {name: table.iloc[:0] for name, table in tables.items()}
        figures, views = asset_figures(asset, empty)
        assert all(figure.figure is None for figure in figures), asset
        assert "<script src" not in figures_page(asset, "mini", figures, views, "abc")
        assert figures_markdown(figures, views).count("Not drawn\\: ") == len(figures)


def test_names_stay_text(tables: dict[str, pd.DataFrame]) -> None:
    space = tables["prompt_space"].assign(participant=lambda t: [f"{HOSTILE}{k}" for k in range(len(t))])
    groups = tables["survival_groups"].assign(level=HOSTILE)
    for asset, table in (("prompt_space", space), ("survival_groups", groups)):
        given = {**tables, asset: table}
        assert "<script>window" not in page_of(asset, given)
        words = figures_markdown(*asset_figures(asset, given))
        assert "<script" not in words.replace("\\<script", "") and "](javascript" not in words.replace("\\](", "")


@pytest.mark.slow
def test_a_browser_draws_with_the_library_beside_and_runs_nothing_else(
    tables: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    html = page_of("survival", tables)
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    (tmp_path / "bad.js").write_text("window.ran = 1", encoding="utf-8")
    smuggled = "<script src='bad.js'></script><script>window.ran = 1</script></main>"
    (tmp_path / "smuggled.html").write_text(html.replace("</main>", smuggled), encoding="utf-8")
    with chromium() as browser:
        page = browser.new_page()
        page.goto((tmp_path / "page.html").as_uri())
        page.wait_for_function("document.querySelector('[data-figure]').textContent")
        assert f"The file {LIBRARY} is not beside this page" in page.inner_text("[data-figure]")
        (tmp_path / LIBRARY).write_text(plotly_js(), encoding="utf-8")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((tmp_path / "smuggled.html").as_uri())
        page.wait_for_selector("html[data-drawn]")
        assert page.locator(".main-svg").count() > 0
        assert page.evaluate("window.ran") is None
    assert {url.split(":")[0] for url in asked} <= {"file", "blob", "data"}
