"""The criteria report in a real Chromium: it loads nothing, fits a phone, can be read, and prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge_pipeline.report.criteria_report import criteria_report_html
from judge_pipeline_tests.browser import chromium
from judge_pipeline_tests.report.looked_at import check_prints_whole, check_side_by_side, n_figures_drawn
from judge_pipeline_tests.report.made_criteria import MadeCriteria, made_criteria, provenance
from judge_pipeline_tests.report.made_tables import HOSTILE
from judge_pipeline_tests.report.test_browser import opened

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("browser")]

MADE = {
    "plain": MadeCriteria(copies=1, n_resamples=100),
    "hostile": MadeCriteria(judges=(("scripted-judge", "litellm"),), copies=1, hostile=True, n_resamples=100),
}

DECISIONS = """[...document.querySelectorAll('#pair-1 .decision')].map((d) => {
  const {left, top, right, bottom} = d.getBoundingClientRect(); return {left, top, right, bottom}; })"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("criteria")
    written = {}
    for name, made in MADE.items():
        where = replace(provenance(), title=HOSTILE, note=HOSTILE) if name == "hostile" else provenance()
        written[name] = folder / f"{name}.html"
        written[name].write_text(criteria_report_html(made_criteria(made), where), encoding="utf-8", newline="")
    return written


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.mark.parametrize(("name", "width"), [("plain", 1200), ("plain", 420), ("hostile", 420)])
def test_it_loads_nothing_fits_the_width_and_can_be_read(
    browser: Any, pages: dict[str, Path], name: str, width: int
) -> None:
    page, trouble = opened(browser, pages[name], width)
    try:
        assert n_figures_drawn(page, width, 50) == (5 if name == "plain" else 3)
        check_side_by_side(*page.evaluate(DECISIONS), width)
        assert trouble == []
    finally:
        page.close()


def test_it_prints_with_nothing_cut_off(browser: Any, pages: dict[str, Path], tmp_path: Path) -> None:
    check_prints_whole(browser, pages["plain"], tmp_path, 50)
