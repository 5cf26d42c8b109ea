"""The preference report in a real Chromium: it loads nothing, fits a phone, its figures can be read, and it prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge_pipeline.report.preference_report import preference_report_html
from judge_pipeline_tests.browser import chromium
from judge_pipeline_tests.report.looked_at import check_prints_whole, check_side_by_side, n_figures_drawn
from judge_pipeline_tests.report.made_preference import (
    HOSTILE_JUDGES,
    MANY_JUDGES,
    MadeSet,
    made_preference,
    provenance,
)
from judge_pipeline_tests.report.made_tables import HOSTILE
from judge_pipeline_tests.report.test_browser import opened

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("browser")]

MADE = {
    "many": MadeSet(judges=MANY_JUDGES, copies=3, n_items=12, n_resamples=60),
    "hostile": MadeSet(judges=HOSTILE_JUDGES, copies=1, n_items=4, n_resamples=60, hostile=True),
}

RESPONSES = """[...document.querySelectorAll('#pair-1 .response')].map((r) => {
  const {left, top, right, bottom} = r.getBoundingClientRect(); return {left, top, right, bottom}; })"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("preference")
    written = {}
    for name, made in MADE.items():
        where = replace(provenance(made), title=HOSTILE, note=HOSTILE) if name == "hostile" else provenance(made)
        written[name] = folder / f"{name}.html"
        written[name].write_text(preference_report_html(made_preference(made), where), encoding="utf-8", newline="")
    return written


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.mark.parametrize(("name", "width"), [("many", 1200), ("many", 420), ("hostile", 420)])
def test_it_loads_nothing_fits_the_width_and_can_be_read(
    browser: Any, pages: dict[str, Path], name: str, width: int
) -> None:
    page, trouble = opened(browser, pages[name], width)
    try:
        assert n_figures_drawn(page, width, 100) == 9 or name == "hostile"
        check_side_by_side(*page.evaluate(RESPONSES), width)
        if width > 760:
            shown, whole = page.evaluate(
                "(({clientWidth, scrollWidth}) => [clientWidth, scrollWidth])"
                "(document.querySelector('#table-misaligned-items .scroll'))"
            )
            assert whole <= shown, "the table of misalignment can be read without scrolling it"
        assert trouble == []
    finally:
        page.close()


def test_it_prints_with_nothing_cut_off(browser: Any, pages: dict[str, Path], tmp_path: Path) -> None:
    check_prints_whole(browser, pages["many"], tmp_path, 100)
