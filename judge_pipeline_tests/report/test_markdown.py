from __future__ import annotations

import re

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from judge_pipeline.report.markdown import MAX_CELL_CHARS, escape, preview

RENDERER = MarkdownIt("commonmark", {"linkify": True}).enable(["table", "strikethrough"])
NASTY = [
    "</script><img src=x onerror=alert(1)>",
    "a | b\n| --- |\n# heading",
    "![pixel](http://evil.invalid/x.png) [click](javascript:alert(1)) <http://evil.invalid>",
    "```python\nprint(1)\n```",
    "**bold** _it_ ~~gone~~ `code` &lt;b&gt; \\| \\\\",
    "https://evil.invalid www.evil.invalid me@evil.invalid $x$",
    "- item\n1. item\n> quote",
]


def tokens(markdown: str) -> list[Token]:
    found: list[Token] = []
    for token in RENDERER.parse(markdown):
        found += [token, *(token.children or [])]
    return found


def cells(markdown: str) -> list[list[str]]:
    """The texts of the rendered table's body, row by row, as an independent Markdown parser reads them."""
    rows: list[list[str]] = []
    stream = RENDERER.parse(markdown)
    for k, token in enumerate(stream):
        if token.type == "tr_open":
            rows.append([])
        if token.type in ("td_open", "th_open"):
            rows[-1].append("".join(child.content for child in stream[k + 1].children or []))
    return rows[1:]


def test_nasty_cells_stay_text() -> None:
    shown = preview(pd.DataFrame({"code": NASTY}), n=20)
    assert {token.type for token in tokens(shown)} <= {
        "table_open", "table_close", "thead_open", "thead_close", "tbody_open", "tbody_close", "tr_open", "tr_close",
        "th_open", "th_close", "td_open", "td_close", "inline", "text", "text_special", "paragraph_open",
        "paragraph_close",
    }  # fmt: skip
    expected = [[text.replace("\n", " ")[: MAX_CELL_CHARS - 1]] for text in NASTY]
    assert [[cell.removesuffix("…")[: MAX_CELL_CHARS - 1]] for (cell,) in cells(shown)] == expected


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=200))
def test_any_text_is_read_back_as_it_was(text: str) -> None:
    shown = preview(pd.DataFrame({"x": [text]}))
    (row,) = cells(shown)
    expected = "".join(c if c.isprintable() else " " for c in text)
    expected = expected if len(expected) <= MAX_CELL_CHARS else expected[: MAX_CELL_CHARS - 1] + "…"
    assert row[0] == expected.strip()
    assert not {"image", "link_open", "html_inline", "html_block", "code_inline"} & {t.type for t in tokens(shown)}


def test_no_automatic_link_can_form() -> None:
    shown = escape("see https://evil.invalid or me@evil.invalid")
    assert not re.search(r"https?://|[a-z]@[a-z]", shown)


def test_size_and_what_is_left_out_are_said() -> None:
    shown = preview(pd.DataFrame({f"c{k}": range(12) for k in range(30)}), n=5)
    assert "12 row(s), 30 column(s); the first 5 rows are shown. Columns not shown: 6." in shown
    assert len(cells(shown)) == 5


def test_missing_values_are_empty_cells_and_empty_tables_are_tables() -> None:
    frame = pd.DataFrame({"a": [None, "x"], "b": [float("nan"), 0.123456789], "c": pd.array([None, 3], dtype="Int64")})
    assert cells(preview(frame)) == [["", "", ""], ["x", "0.123457", "3"]]
    assert cells(preview(pd.DataFrame({"a": []}))) == []
    assert preview(pd.DataFrame()) == "0 row(s), 0 column(s)"
