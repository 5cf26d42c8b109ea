"""The page in a real Chromium: it loads nothing, runs under its policy, fits a phone, prints, and stays inert."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judge_pipeline.figures.style import Facets
from judge_pipeline.report.cocreation_report import cocreation_report_html
from judge_pipeline.report.start_page import start_page_html
from judge_pipeline.tables import JUDGE_VERSIONS
from judge_pipeline_tests.report.made_tables import HOSTILE, MANY_JUDGES, Made, empty_tables, made_tables
from judge_pipeline_tests.report.test_cocreation_report import PROVENANCE
from judge_pipeline_tests.report.test_start_page import LINES, SETS, board

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium, chromium-browser or google-chrome on the PATH"),
]
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-quic",
]  # fmt: skip

TEXTS = """() => [...document.querySelectorAll('[data-figure] > div')].map((part) => {
  const frame = part.querySelector('.main-svg').getBoundingClientRect();
  return {figure: part.parentElement.dataset.figure, frame: [frame.left, frame.top, frame.right, frame.bottom],
    texts: [...part.querySelectorAll('.main-svg text')].filter((t) => t.textContent.trim()).map((t) => {
      const b = t.getBoundingClientRect();
      return [t.textContent, b.left, b.top, b.right, b.bottom];
    })};
})"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    hostile = Made(
        judges=(f"simulated-{HOSTILE}", HOSTILE, "c"), participants=20, participant_name=lambda k: f"{HOSTILE}{k}"
    )
    made = {
        "demo": (made_tables(), PROVENANCE),
        "many": (made_tables(Made(judges=MANY_JUDGES)), PROVENANCE),
        "hostile": (made_tables(hostile), replace(PROVENANCE, title=HOSTILE, note=HOSTILE)),
        "one-class": (made_tables(Made(one_class=True)), PROVENANCE),
        "empty": (empty_tables(), PROVENANCE),
    }
    written = {}
    for name, (given, provenance) in made.items():
        written[name] = folder / f"{name}.html"
        written[name].write_text(cocreation_report_html(given, provenance), encoding="utf-8", newline="")
    return written


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


def opened(browser: Any, path: Path, width: int) -> tuple[Any, list[str]]:
    """The page at a width, drawn, with everything that it asked for or complained about."""
    page = browser.new_page(viewport={"width": width, "height": 844})
    trouble: list[str] = []
    page.on("console", lambda message: trouble.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
    page.on(
        "request", lambda request: None if request.url == path.as_uri() else trouble.append(f"request: {request.url}")
    )
    page.goto(path.as_uri())
    return page, trouble


@dataclass
class View:
    """One page at one width, looked at by several tests."""

    name: str
    width: int
    page: Any
    trouble: list[str]


@pytest.fixture(
    scope="module",
    params=[("demo", 1280), ("many", 1280), ("many", 390), ("hostile", 390), ("one-class", 390), ("empty", 390)],
    ids=lambda param: f"{param[0]}-{param[1]}",
)
def view(browser: Any, pages: dict[str, Path], request: pytest.FixtureRequest) -> Iterator[View]:
    name, width = request.param
    page, trouble = opened(browser, pages[name], width)
    yield View(name, width, page, trouble)
    page.close()


def test_it_loads_nothing_and_complains_of_nothing(view: View) -> None:
    assert view.trouble == []


def test_it_fits_the_width(view: View) -> None:
    assert view.page.evaluate("document.documentElement.scrollWidth") <= view.width


def test_every_figure_is_drawn(view: View) -> None:
    drawn = view.page.evaluate(
        "[...document.querySelectorAll('[data-figure]')].map((p) => p.querySelectorAll('.main-svg').length)"
    )
    assert all(drawn)
    assert len(drawn) == {"empty": 0, "one-class": 9}.get(view.name, 12)


def check_texts(page: Any) -> int:
    """Every text of every figure stands inside its frame and on no other; returns how many there are."""
    found = page.evaluate(TEXTS)
    for part in found:
        left, top, right, bottom = part["frame"]
        for k, (text, x0, y0, x1, y1) in enumerate(part["texts"]):
            assert x0 >= left - 1 and x1 <= right + 1 and y0 >= top - 1 and y1 <= bottom + 1, (part["figure"], text)
            for other, a0, b0, a1, b1 in part["texts"][k + 1 :]:
                overlap = min(x1, a1) - max(x0, a0) > 2 and min(y1, b1) - max(y0, b0) > 3
                assert not overlap, (part["figure"], text, other)
    return sum(len(part["texts"]) for part in found)


def test_no_text_of_a_figure_is_clipped_or_runs_into_another(view: View) -> None:
    assert check_texts(view.page) > 50 or view.name == "empty"


def test_hostile_text_is_inert(browser: Any, pages: dict[str, Path]) -> None:
    page, trouble = opened(browser, pages["hostile"], 1280)
    try:
        page.evaluate(
            "const s = document.createElement('script'); s.textContent = 'window.hacked = 2'; document.body.append(s)"
        )
        assert page.evaluate("window.hacked") is None
        links = page.evaluate("[...document.querySelectorAll('a')].map((a) => a.getAttribute('href'))")
        elsewhere = {re.sub(r"#fig-[0-9a-f]{12}$", "", link) for link in links if not link.startswith("#")}
        assert elsewhere == {"trace/index.html", "trajectories/index.html"}
        assert page.evaluate("document.querySelectorAll('img, svg a').length") == 0
        assert [line for line in trouble if "Content Security Policy" not in line] == []
    finally:
        page.close()


def test_the_page_lays_panels_out_as_python_does(browser: Any, pages: dict[str, Path]) -> None:
    page, _ = opened(browser, pages["many"], 1280)
    try:
        layout = page.evaluate(
            """() => { const {layout} = document.querySelector('[data-figure=roc] > div');
            return {inner: layout.width - layout.margin.l - layout.margin.r, height: layout.height - layout.margin.t
              - layout.margin.b, facets: layout.meta.facets,
              x: layout.xaxis5.domain, y: layout.yaxis5.domain}; }"""
        )
    finally:
        page.close()
    facets = Facets(**layout["facets"])
    x_domain, y_domain = facets.domains(layout["inner"])[4]
    assert layout["x"] == pytest.approx(x_domain)
    assert layout["y"] == pytest.approx(y_domain)
    assert layout["height"] == pytest.approx(facets.inner_height(layout["inner"]))


def test_printing_redraws_to_the_page_in_parts_and_back(browser: Any, pages: dict[str, Path], tmp_path: Path) -> None:
    page, trouble = opened(browser, pages["many"], 1280)
    look = """[...document.querySelectorAll('[data-figure=metrics] > div')].map(
      (p) => [p.querySelector('.main-svg').clientWidth, p.querySelector('.main-svg').clientHeight])"""
    try:
        before = page.evaluate(look)
        page.evaluate(f"addEventListener('beforeprint', () => {{ window.printed = {look}; }})")
        page.pdf(path=str(tmp_path / "report.pdf"), prefer_css_page_size=True)
        printed = page.evaluate("window.printed")
        assert len(printed) > 1
        assert all(width == 680 and height <= 900 for width, height in printed)
        assert page.evaluate(look) == before
        assert (tmp_path / "report.pdf").stat().st_size > 50_000
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert check_texts(page) > 50
        assert trouble == []
    finally:
        page.close()


@pytest.mark.parametrize("name", ["demo", "many"])
def test_nothing_is_wider_than_the_printed_page_and_no_control_is_printed(
    browser: Any, pages: dict[str, Path], name: str
) -> None:
    page, _ = opened(browser, pages[name], 688)  # an A4 page between its margins
    try:
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate("document.documentElement.scrollWidth") <= 688, "a browser would shrink the whole report"
        controls = page.locator("button.tool, .modebar-container, details:not(.folded) > summary")
        assert controls.count() > 5
        assert not any(controls.nth(k).is_visible() for k in range(controls.count()))
        # Chromium prints no control in a head that it repeats on the next page.
        assert page.evaluate("getComputedStyle(document.querySelector('thead button')).display") == "contents"
    finally:
        page.close()


def test_it_is_drawn_again_when_the_width_changes(browser: Any, pages: dict[str, Path]) -> None:
    page, _ = opened(browser, pages["demo"], 1280)
    try:
        page.set_viewport_size({"width": 500, "height": 800})
        page.wait_for_timeout(600)  # the page waits until the width has settled
        assert page.evaluate("document.querySelector('[data-figure=roc] .main-svg').clientWidth") < 500
        assert page.evaluate("document.documentElement.scrollWidth") <= 500
    finally:
        page.close()


def test_a_figure_can_be_saved_as_an_image_under_the_policy(browser: Any, pages: dict[str, Path]) -> None:
    page, trouble = opened(browser, pages["demo"], 1280)
    try:
        url = page.evaluate(
            "Plotly.toImage(document.querySelector('[data-figure=success] > div'), {format: 'png', width: 400,"
            " height: 300})"
        )
        assert url.startswith("data:image/png;base64,")
        assert [line for line in trouble if not line.startswith(("request: data:", "request: blob:"))] == []
    finally:
        page.close()


def test_tables_sort_by_mouse_and_keyboard_and_undefined_stands_last(browser: Any, pages: dict[str, Path]) -> None:
    page, trouble = opened(browser, pages["many"], 1280)
    try:
        heading = page.locator("#table-scores thead th", has_text="ROC-AUC")
        rows = "document.querySelectorAll('#table-scores tbody tr')"
        values = f"() => [...{rows}].map((row) => parseFloat(row.cells[1].textContent))"
        given = page.evaluate(values)
        assert heading.get_attribute("aria-sort") == "none"
        heading.locator("button").click()
        assert heading.get_attribute("aria-sort") == "ascending"
        assert page.evaluate(values) == sorted(given) != given
        heading.locator("button").focus()
        page.keyboard.press("Enter")
        assert heading.get_attribute("aria-sort") == "descending"
        assert page.evaluate(values) == sorted(given, reverse=True)
        page.keyboard.press("Space")
        assert heading.get_attribute("aria-sort") == "none"
        assert page.evaluate(values) == given
        cost = page.locator("#table-coverage thead th", has_text="Cost")
        for expected_last in ("–", "–"):  # of a judge that was never asked, in either direction
            cost.locator("button").click()
            assert page.locator("#table-coverage tbody tr").last.locator("td").nth(4).inner_text() == expected_last
        assert trouble == []
    finally:
        page.close()


def test_a_table_is_saved_as_it_is_sorted_without_a_network(
    browser: Any, pages: dict[str, Path], tmp_path: Path
) -> None:
    page, trouble = opened(browser, pages["hostile"], 1280)
    try:
        page.locator("#table-scores thead th", has_text="Brier").locator("button").click()
        order = page.locator("#table-scores tbody th").all_inner_texts()
        with page.expect_download() as waiting:
            page.locator("#table-scores .tool").click()
        assert waiting.value.suggested_filename == "table-4-judges.csv"
        waiting.value.save_as(tmp_path / "saved.csv")
        table = pd.read_csv(tmp_path / "saved.csv", encoding="utf-8-sig")
        assert len(table) == len(order) == 3
        assert table["Brier score ↓"].is_monotonic_increasing
        assert [name.split(" ")[0] for name in table["Judge"]] == [name.split(" ")[0] for name in order]
        assert [line for line in trouble if "blob:" not in line] == []
    finally:
        page.close()


def test_headings_without_a_mouse_or_script_are_plain_text(browser: Any, pages: dict[str, Path]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    try:
        page.goto(pages["demo"].as_uri())
        assert page.locator("#table-scores thead button").count() == 0
        assert page.locator("#table-scores thead th").nth(1).inner_text().startswith("ROC-AUC")
    finally:
        context.close()


def test_the_methods_paragraph_is_copied_or_selected(browser: Any, pages: dict[str, Path]) -> None:
    page, trouble = opened(browser, pages["demo"], 1280)
    try:
        text = page.locator("#cite [data-text]").inner_text()
        page.evaluate("() => { navigator.clipboard.writeText = async (given) => { window.copied = given; }; }")
        page.locator("#cite .tool").click()
        assert page.evaluate("window.copied") == text
        assert page.locator("#cite .tool").inner_text() == "Copied"
        page.evaluate("() => { navigator.clipboard.writeText = async () => { throw new Error('none'); }; }")
        page.locator("#cite .tool").click()
        assert page.evaluate("getSelection().toString().trim()") == text
        assert trouble == []
    finally:
        page.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_start_page_loads_nothing_fits_and_draws(browser: Any, tmp_path: Path, width: int) -> None:
    table = board(("a", (1, 1), None), ("a-judge-of-a-long-name-2026-11-29", (2, 3), "simulated"), ("c", (2, 3), None))
    (tmp_path / "index.html").write_text(
        start_page_html(LINES, SETS, table, JUDGE_VERSIONS.empty(), "abc"), encoding="utf-8", newline=""
    )
    page, trouble = opened(browser, tmp_path / "index.html", width)
    try:
        assert trouble == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("#figure-accuracy-cost .main-svg").count() > 0
        assert check_texts(page) > 10
        page.locator("#table-leaderboard thead th", has_text="Judge").locator("button").click()
        assert page.locator("#table-leaderboard tbody th").first.inner_text().startswith("a")
    finally:
        page.close()


def test_long_tables_are_folded_up_and_printed_open(browser: Any, pages: dict[str, Path]) -> None:
    page, trouble = opened(browser, pages["many"], 1280)
    try:
        folded = page.locator("details.folded").count()
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("details.folded[open]").count() == folded
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator("details.folded[open]").count() == 0
        assert trouble == []
    finally:
        page.close()
