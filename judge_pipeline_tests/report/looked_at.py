"""What holds of every page in a browser, whatever it reports: it fits, its figures are drawn, and it prints whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from judge_pipeline_tests.report.test_browser import check_texts, opened

_WIDE = """[...document.querySelectorAll('table, pre, figure')].filter((e) => e.getBoundingClientRect().right > 690)
  .map((e) => (e.caption || e).textContent.slice(0, 60))"""


def n_figures_drawn(page: Any, width: int, n_texts: int) -> int:
    """How many figures there are, all drawn, on a page that fits the width and can be read; nothing foreign ran."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    drawn = page.evaluate(
        "[...document.querySelectorAll('[data-figure]')].map((p) => p.querySelectorAll('.main-svg').length)"
    )
    assert all(drawn)
    assert check_texts(page) > n_texts
    assert page.evaluate("window.hacked") is None and page.evaluate("document.querySelectorAll('img').length") == 0
    return len(drawn)


def check_side_by_side(first: dict[str, float], second: dict[str, float], width: int) -> None:
    """Two boxes stand beside each other where there is room, and one below the other on a phone."""
    if width > 760:
        assert first["top"] == second["top"] and first["right"] < second["left"]
    else:
        assert first["left"] == second["left"] and first["bottom"] < second["top"]


def check_prints_whole(browser: Any, file: Path, folder: Path, n_texts: int) -> None:
    """The page on A4: nothing is wider than the paper between its margins, and a PDF comes of it."""
    page, trouble = opened(browser, file, 688)
    try:
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert check_texts(page) > n_texts
        assert page.evaluate(_WIDE) == []
        page.pdf(path=str(folder / "report.pdf"), prefer_css_page_size=True)
        assert (folder / "report.pdf").stat().st_size > 50_000
        assert trouble == []
    finally:
        page.close()
