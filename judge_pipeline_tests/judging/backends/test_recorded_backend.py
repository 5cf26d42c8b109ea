"""Judge outputs collected elsewhere, read strictly."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, JudgingResult, judge_requests
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.verification import verify
from judge_pipeline.settings import RecordedJudge

IDS = [f"{i:016x}" for i in range(4)]
ROWS = [
    {"attempt_id": IDS[0], "p_ac": 0.25, "s_algo": 3, "s_robust": 2, "rationale": "off by one"},
    {"attempt_id": IDS[1], "p_ac": 1, "s_algo": None, "s_robust": None, "rationale": None},
    {"attempt_id": IDS[2], "p_ac": 0.0, "s_algo": 5, "s_robust": 1, "rationale": "quote \" comma , line\nbreak"},
    {"attempt_id": IDS[3], "p_ac": 1e-05, "s_algo": 1, "s_robust": 1, "rationale": "日本語"},
]  # fmt: skip


@pytest.fixture
def read(checkpoint: Checkpoint, context: JudgingContext, make_requests: Any) -> Any:
    def run(file: str, n: int = 4, **settings: Any) -> JudgingResult:
        judge = RecordedJudge(backend="recorded", file=file, **settings)
        return judge_requests("recorded", judge, make_requests(n), checkpoint=checkpoint, context=context)

    return run


def write(folder: Path, name: str, rows: list[dict[str, Any]]) -> str:
    path = folder / name
    if name.endswith(".csv"):
        pd.DataFrame(rows).astype({"s_algo": "Int64", "s_robust": "Int64"}).to_csv(path, index=False)
    elif name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return name


@pytest.mark.parametrize("name", ["outputs.jsonl", "outputs.csv", "outputs.parquet"])
def test_all_formats_say_the_same(read: Any, tmp_path: Path, make_requests: Any, name: str) -> None:
    result = read(write(tmp_path, name, ROWS), model="somebody's model")
    assert verify(result.outputs, make_requests(4)) == []
    assert list(result.outputs["p_ac"]) == [0.25, 1.0, 0.0, 1e-05]
    assert list(result.outputs["s_algo"].astype("object").where(result.outputs["s_algo"].notna(), None)) == [
        3,
        None,
        5,
        1,
    ]
    assert list(result.outputs["rationale"]) == [row["rationale"] for row in ROWS]
    assert set(result.outputs["model"]) == {"somebody's model"}
    assert (result.n_asked, result.n_calls, result.cost_usd) == (0, 0, None)
    assert result.outputs["request_hash"].nunique() == 4


def test_columns_are_mapped(read: Any, tmp_path: Path) -> None:
    rows = [{"id": i, "prob": 0.5, "note": "x", "attempt_id": "not this", "llm": "m1"} for i in IDS]
    columns = {"attempt_id": "id", "p_ac": "prob", "rationale": "note", "model": "llm"}
    result = read(write(tmp_path, "outputs.jsonl", rows), columns=columns)
    assert list(result.outputs["attempt_id"]) == IDS
    assert set(result.outputs["rationale"]) == {"x"}
    assert set(result.outputs["model"]) == {"m1"}


def test_missing_attempts_fail_and_further_ones_are_reported(read: Any, tmp_path: Path) -> None:
    result = read(write(tmp_path, "outputs.jsonl", [*ROWS[:2], {"attempt_id": "f" * 16, "p_ac": 0.5}]))
    assert list(result.failures["attempt_id"]) == IDS[2:]
    assert set(result.failures["class"]) == {"no_record"}
    assert "outputs.jsonl has no row for it" in result.failures["text"][0]
    assert result.notes == (f"outputs.jsonl: 1 rows are for attempts outside the scope, such as {'f' * 16}",)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"p_ac": "0.5"}, "line 2, column p_ac: '0.5' is not a number; write a plain number such as 0.85"),
        ({"p_ac": "85%"}, "line 2, column p_ac: '85%' is not a number"),
        ({"p_ac": 85}, "line 2, column p_ac: 85 is not a probability from 0 to 1"),
        ({"p_ac": -0.1}, "line 2, column p_ac: -0.1 is not a probability"),
        ({"p_ac": True}, "line 2, column p_ac: True is not a number"),
        ({"p_ac": float("nan")}, "line 2, column p_ac: nan is not a number"),
        ({"p_ac": None}, "line 2, column p_ac: None is missing"),
        ({"s_algo": 6}, "line 2, column s_algo: 6 is not an integer from 1 to 5"),
        ({"s_algo": 2.5}, "line 2, column s_algo: 2.5 is not an integer from 1 to 5"),
        ({"rationale": 7}, "line 2, column rationale: 7 is not text"),
        ({"error": "HTTP 500"}, "line 2: the recorded call failed: HTTP 500"),
    ],
)
def test_a_wrong_value_is_its_attempts_failure_with_file_row_value_and_remedy(
    read: Any, tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    result = read(write(tmp_path, "outputs.jsonl", [ROWS[0], ROWS[1] | change, *ROWS[2:]]))
    assert list(result.failures["attempt_id"]) == [IDS[1]]
    assert list(result.failures["class"]) == ["invalid"]
    assert f"outputs.jsonl, {said}" in result.failures["text"][0]
    assert len(result.outputs) == 3


def test_a_wrong_csv_value_names_its_line_though_cells_span_lines(read: Any, tmp_path: Path) -> None:
    (tmp_path / "o.csv").write_text(
        f'attempt_id,p_ac,rationale\n{IDS[0]},0.5,"two\nlines"\n{IDS[1]},85%,x\n{IDS[2]},.5,\n'
    )
    result = read("o.csv", n=3)
    assert "o.csv, line 4, column p_ac: '85%' is not a number" in result.failures["text"][0]
    assert list(result.outputs["rationale"]) == ["two\nlines", None]


def test_two_rows_for_an_attempt_are_a_failure_not_a_choice(read: Any, tmp_path: Path) -> None:
    result = read(write(tmp_path, "outputs.jsonl", [*ROWS, ROWS[0] | {"p_ac": 0.9}, ROWS[0]]))
    assert list(result.failures["attempt_id"]) == [IDS[0]]
    assert "are both for" in result.failures["text"][0]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("o.jsonl", b'{"attempt_id": "a"', r"o\.jsonl, line 1: .* is not JSON .*; write one JSON object a line"),
        ("o.jsonl", b"\n[1]\n", r"o\.jsonl, line 2: '\[1\]' is no object"),
        ("o.jsonl", b'{"attempt_id": "a"}', r"o\.jsonl: has no column 'p_ac'; it has \['attempt_id'\].*'p_ac: COLUMN'"),
        ("o.jsonl", b'{"attempt_id": 7, "p_ac": 0.5}', r"line 1, column attempt_id: 7 is no attempt_id"),
        (
            "o.jsonl",
            b'{"p_ac": 0.5}\n{"attempt_id": "a", "p_ac": 1}',
            r"line 1, column attempt_id: None is no attempt_id",
        ),
        ("o.jsonl", b"\xff\xfe", r"o\.jsonl: byte 0 is not UTF-8; save the file as UTF-8"),
        ("o.csv", b"attempt_id,p_ac\na,0.5,extra\n", r"o\.csv, line 2: has 3 cells where the header has 2"),
        ("o.csv", b"attempt_id,p_ac,p_ac\na,0.5,1\n", r"o\.csv, line 1: columns \['p_ac'\] stand twice"),
        ("o.csv", b'attempt_id,p_ac\na,"0.5\n', r"o\.csv, line \d: is not CSV"),
        ("o.parquet", b"no parquet", r"o\.parquet: is not Parquet"),
        ("o.xlsx", b"", r"o\.xlsx: cannot tell its format from '\.xlsx'; name it \.jsonl, \.csv or \.parquet"),
    ],
)
def test_a_file_that_cannot_be_read_says_what_where_and_the_remedy(
    read: Any, tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(JudgingError, match=said):
        read(name)


def test_a_missing_file_and_an_unknown_column_of_ours_are_named(read: Any, tmp_path: Path) -> None:
    with pytest.raises(
        JudgingError, match=r"recorded/none\.jsonl: there is no such file; put the recorded outputs there"
    ):
        read("recorded/none.jsonl")
    write(tmp_path, "o.jsonl", ROWS)
    with pytest.raises(JudgingError, match=r"judges\.yaml, columns: \['probability'\] are not columns of ours"):
        read("o.jsonl", columns={"probability": "p_ac"})
    with pytest.raises(JudgingError, match=r"has no column 'why'"):
        read("o.jsonl", columns={"rationale": "why"})


def test_an_empty_file_is_a_table_without_rows(read: Any, tmp_path: Path) -> None:
    (tmp_path / "o.jsonl").write_bytes(b"")
    assert set(read("o.jsonl").failures["class"]) == {"no_record"}


def test_the_hash_changes_with_the_file_and_only_then(read: Any, tmp_path: Path) -> None:
    first = read(write(tmp_path, "o.jsonl", ROWS)).outputs["request_hash"]
    assert list(read("o.jsonl").outputs["request_hash"]) == list(first)
    changed = read(write(tmp_path, "o.jsonl", [*ROWS[:3], ROWS[3] | {"p_ac": 0.5}])).outputs["request_hash"]
    assert not set(first) & set(changed)


def test_the_scope_is_taken_before_anything_is_missed(read: Any, tmp_path: Path) -> None:
    write(tmp_path, "o.jsonl", [ROWS[2]])
    result = read("o.jsonl", scope={"splits": ["test"]})
    assert (result.n_in_scope, len(result.outputs), len(result.failures)) == (1, 1, 0)


def test_progress_is_not_needed(read: Any, tmp_path: Path, context: JudgingContext) -> None:
    assert dataclasses.replace(context).progress is None
    assert len(read(write(tmp_path, "o.jsonl", ROWS)).outputs) == 4
