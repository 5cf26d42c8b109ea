"""CSV and TSV: a cell is the text that it is, and a fault costs its row."""

from __future__ import annotations

import csv
import io
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.ingest.delimited import read_rows

_cell = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=12)


@settings(deadline=None)
@given(
    st.lists(st.lists(st.one_of(_cell, st.sampled_from(['"', 'a"b', "x\r\ny", "\r", "\n", ",", ";", "007"])),
                      min_size=1, max_size=4), max_size=6),
    st.sampled_from(",\t;"),
    st.sampled_from(["\r\n", "\n", "\r"]),
)  # fmt: skip
def test_what_csv_writes_is_read_back(rows: list[list[str]], mark: str, end: str) -> None:
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=mark, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    read = list(read_rows(stream.getvalue(), mark))
    assert [row.cells for row in read] == [row for row in rows if any(row)]
    assert all(row.fault is None for row in read)


def test_a_quote_that_is_never_closed_costs_its_row() -> None:
    lines = list(read_rows('a,b\n1,"x\n2,y\n', ","))
    assert [(row.line, row.cells, row.fault is None) for row in lines] == [
        (1, ["a", "b"], True), (2, [], False), (3, ["2", "y"], True),
    ]  # fmt: skip


def test_quotes_that_never_close_take_bounded_time() -> None:
    start = time.monotonic()
    rows = list(read_rows('x,"y\n' * 200_001, ","))
    list(read_rows('"' * 1_000_001, ","))
    list(read_rows('a,"b"c\n' * 50_000, ","))
    assert rows[-1].fault is not None
    assert time.monotonic() - start < 20


@settings(deadline=None)
@given(st.text(st.sampled_from('a,"\r\n;\t\0'), max_size=60))
def test_any_text_gives_rows_or_faults(text: str) -> None:
    for row in read_rows(text, ","):
        assert row.fault is not None or any(row.cells)
