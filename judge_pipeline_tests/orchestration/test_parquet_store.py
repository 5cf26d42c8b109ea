from __future__ import annotations

import gc
import hashlib
import warnings
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from judge_pipeline.orchestration import parquet_store
from judge_pipeline.orchestration.parquet_store import ParquetStore, parquet_bytes
from judge_pipeline.table_schema import TableError
from judge_pipeline.tables import JUDGE_OUTPUTS, SUCCESS_AT_TURN

ROWS = [
    {
        "turn": 1,
        "n_solved": 3,
        "value": 0.5,
        "n": 6,
        "n_left_out": 0,
        "ci95_low": None,
        "ci95_high": 0.7,
        "reason": None,
    }
]


@pytest.fixture
def store(tmp_path: Path) -> ParquetStore:
    return ParquetStore(root=str(tmp_path / "tables"))


def test_what_is_written_is_read_back(store: ParquetStore) -> None:
    path = store.write(SUCCESS_AT_TURN, ROWS, "spring")
    assert path.name == "spring.parquet"
    pd.testing.assert_frame_equal(store.read(SUCCESS_AT_TURN, "spring"), SUCCESS_AT_TURN.conform(ROWS))
    assert pq.read_schema(path).names == SUCCESS_AT_TURN.column_names


def test_the_same_rows_give_the_same_bytes() -> None:
    assert parquet_bytes(SUCCESS_AT_TURN, ROWS) == parquet_bytes(SUCCESS_AT_TURN, SUCCESS_AT_TURN.conform(ROWS))


def test_a_missing_table_says_what_to_do(store: ParquetStore) -> None:
    with pytest.raises(FileNotFoundError, match=r"success_at_turn of spring is not there .* materialize its asset"):
        store.read(SUCCESS_AT_TURN, "spring")


def test_a_failed_write_leaves_the_old_file_and_no_rest(store: ParquetStore) -> None:
    path = store.write(SUCCESS_AT_TURN, ROWS, "spring")
    before = path.read_bytes()
    with pytest.raises(TableError):
        store.write(SUCCESS_AT_TURN, [{**ROWS[0], "turn": 0}], "spring")
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_parts_are_the_judges_of_a_contest(store: ParquetStore) -> None:
    assert store.parts(JUDGE_OUTPUTS, "spring") == []
    for judge in ("b.1", "a"):
        store.write(JUDGE_OUTPUTS, JUDGE_OUTPUTS.empty(), "spring", judge)
    store.write(JUDGE_OUTPUTS, JUDGE_OUTPUTS.empty(), "autumn", "c")
    assert store.parts(JUDGE_OUTPUTS, "spring") == ["a", "b.1"]


@pytest.mark.parametrize("key", ["../x", "a/b", "", ".."])
def test_a_partition_key_cannot_leave_the_store(store: ParquetStore, key: str) -> None:
    with pytest.raises(ValueError, match="cannot be a file name"):
        store.write(SUCCESS_AT_TURN, ROWS, key)
    with pytest.raises(FileNotFoundError, match="is not there"):
        store.read(SUCCESS_AT_TURN, key)


@pytest.mark.parametrize("content", [b"", b"PAR1 half", None])
def test_a_damaged_or_foreign_file_is_named_with_the_remedy(store: ParquetStore, content: bytes | None) -> None:
    path = store.write(SUCCESS_AT_TURN, ROWS, "spring")
    if content is None:
        pd.DataFrame({"turn": [1]}).to_parquet(path)
    else:
        path.write_bytes(content)
    with pytest.raises(TableError, match=r"spring\.parquet cannot be read as table success_at_turn.*materialize"):
        store.read(SUCCESS_AT_TURN, "spring")


@pytest.mark.slow
def test_a_large_table_is_written_in_parts_and_read_back_whole(
    store: ParquetStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_store, "ROWS_IN_GROUP", 3)
    monkeypatch.setattr(parquet_store, "MAX_BYTES_IN_MEMORY", 100)
    rows = SUCCESS_AT_TURN.conform([{**ROWS[0], "turn": turn} for turn in range(1, 9)])
    made = parquet_store.table_file(SUCCESS_AT_TURN, rows)
    path = store.write(SUCCESS_AT_TURN, made, "spring")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == made.sha256
    made.stream.close()
    with warnings.catch_warnings(action="error"):
        assert store.write(SUCCESS_AT_TURN, rows, "spring").read_bytes() == parquet_store.parquet_bytes(
            SUCCESS_AT_TURN, rows
        )
        gc.collect()
    assert pq.ParquetFile(path).num_row_groups == 3
    pd.testing.assert_frame_equal(store.read(SUCCESS_AT_TURN, "spring"), rows)


def test_a_file_keeps_what_it_was_made_from_and_its_rows_are_read_as_before(store: ParquetStore) -> None:
    provenance = {"code": "abc", "judges": {"日本": {"model": None}}, "seed": 7}
    made = [parquet_store.table_file(SUCCESS_AT_TURN, ROWS, given) for given in (provenance, dict(provenance), None)]
    assert made[0].sha256 == made[1].sha256 != made[2].sha256
    path = store.write(SUCCESS_AT_TURN, made[0], "spring")
    assert store.provenance(SUCCESS_AT_TURN, "spring") == provenance
    assert b"judge_pipeline.provenance" in (pq.read_schema(path).metadata or {})
    pd.testing.assert_frame_equal(store.read(SUCCESS_AT_TURN, "spring"), SUCCESS_AT_TURN.conform(ROWS))
    store.write(SUCCESS_AT_TURN, ROWS, "spring")
    assert store.provenance(SUCCESS_AT_TURN, "spring") is None
