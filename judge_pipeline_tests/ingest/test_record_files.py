from __future__ import annotations

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.ingest.record_files import Record, read_records
from judge_pipeline.ingest.records import UnreadableArtifact


def parquet(rows: list[dict[str, object]]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue()


def values(data: bytes, path: str, list_key: str | None = None) -> list[dict[str, object]]:
    found = list(read_records(data, path, list_key))
    assert all(isinstance(record, Record) for record in found), found
    return [dict(record.values) for record in found]


ROWS = [
    {"id": "007", "text": "a\nb", "more": [{"role": "user", "content": "é"}]},
    {"id": "1e5", "text": "", "more": []},
]


def test_json_lists_json_lines_and_parquet_give_the_same_records() -> None:
    lines = "\n".join(json.dumps(row) for row in ROWS).encode()
    assert values(lines, "x.jsonl") == ROWS
    assert values(json.dumps(ROWS).encode(), "x.json") == ROWS
    assert values(json.dumps({"comparisons": ROWS}).encode(), "x.json", "comparisons") == ROWS
    assert values(parquet(ROWS), "x.parquet") == ROWS


@given(st.lists(st.tuples(st.text("ab,;\"\n é'", max_size=6), st.text("01.e", max_size=4)), min_size=1, max_size=5))
def test_cells_of_csv_are_the_text_that_they_are(rows: list[tuple[str, str]]) -> None:
    import csv

    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(["first", "second"])
    writer.writerows([(a + "x", b) for a, b in rows])
    read = values(out.getvalue().encode(), "x.csv")
    assert [(row["first"], row["second"]) for row in read] == [(a + "x", b) for a, b in rows]


def test_a_fault_costs_its_row_and_names_the_place() -> None:
    found = list(read_records(b"a,b\n1,2,3\n4,5\n6\n", "x.csv"))
    assert isinstance(found[0], UnreadableArtifact)
    assert "x.csv, row 1 (line 2): has 3 cells, the header has 2" in str(found[0])
    assert [dict(r.values) for r in found[1:] if isinstance(r, Record)] == [{"a": "4", "b": "5"}, {"a": "6", "b": None}]
    assert [r.place for r in found[1:] if isinstance(r, Record)] == ["row 2 (line 3)", "row 3 (line 4)"]


def test_lines_that_are_no_json_and_a_last_one_cut_off_are_set_aside() -> None:
    found = list(read_records(b'{"a": 1}\n{oops}\n{"a": 2}\n{"a": 3}\n{"a": ', "x.jsonl"))
    assert [r.values["a"] for r in found if isinstance(r, Record)] == [1, 2, 3]
    assert [r.place for r in found if isinstance(r, UnreadableArtifact)] == ["line 2", "line 5"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is empty"),
        (b"a,a\n1,2\n", "names 'a' more than once"),
        (b"PAR1 and no more", "is no whole Parquet file"),
        (b'{"a": [1', "is not JSON"),
        (b"just a line", "has a first line \\('just a line'\\) and no rows"),
    ],
)
def test_files_that_cannot_be_read_say_why_and_what_to_do(data: bytes, why: str) -> None:
    with pytest.raises(UnreadableArtifact, match=why) as caught:
        list(read_records(data, "x.data" if not data.startswith(b"a,") else "x.csv"))
    assert caught.value.remedy


def test_what_json_cannot_hold_is_made_plain() -> None:
    found = values(b'[{"a": NaN, "b": "\\ud800"}]', "x.json")
    assert found == [{"a": None, "b": "\ufffd"}]
    assert values(parquet([{"a": b"caf\xc3\xa9", "b": 1.5}]), "x.parquet") == [{"a": "café", "b": 1.5}]
