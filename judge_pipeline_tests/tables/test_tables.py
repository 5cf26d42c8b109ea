from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

from judge_pipeline.table_schema import Column, Table, TableError
from judge_pipeline.tables import ALL_TABLES, SUCCESS_AT_TURN

MIXED = Table(
    "mixed",
    "One of each kind.",
    (
        Column("name", "string", "A name"),
        Column("note", "string", "A note", nullable=True),
        Column("k", "int", "A count", nullable=True, low=0),
        Column("p", "float", "A share", nullable=True, low=0, high=1),
        Column("flag", "bool", "A flag", nullable=True),
        Column("at", "instant", "An instant", nullable=True),
        Column("split", "string", "A split", nullable=True, allowed=("train", "val")),
    ),
    ("name",),
)
ROW = {"name": "a", "note": None, "k": 1, "p": 0.5, "flag": True, "at": "2026-04-01T10:00:00Z", "split": "val"}


@pytest.mark.parametrize("table", ALL_TABLES, ids=lambda table: table.name)
def test_every_table_describes_itself_and_has_an_empty_form(table: Table) -> None:
    assert table.description.endswith(".")
    assert all(column.description for column in table.columns)
    assert len({column.name for column in table.columns}) == len(table.columns)
    empty = table.empty()
    assert list(empty.columns) == table.column_names
    assert table.to_arrow(empty).schema == table.arrow_schema()


def test_names_are_unique_in_the_house() -> None:
    names = [table.name for table in ALL_TABLES]
    assert len(set(names)) == len(names)


def test_a_round_trip_through_arrow_keeps_values_and_nulls() -> None:
    rows = MIXED.conform([ROW, {**dict.fromkeys(ROW), "name": "b"}])
    back = MIXED.conform(MIXED.to_arrow(rows).to_pandas())
    assert back["name"].tolist() == ["a", "b"]
    assert back["note"].tolist() == [None, None]
    assert back["k"].isna().tolist() == [False, True]
    assert str(back["at"].dtype) == "datetime64[us, UTC]"
    pd.testing.assert_frame_equal(rows, back)


DTYPES = {
    "name": "object", "note": "object", "k": "Int64", "p": "float64", "flag": "boolean",
    "at": "datetime64[us, UTC]", "split": "object",
}  # fmt: skip


@pytest.mark.parametrize("n_rows", [0, 2])
@pytest.mark.parametrize("bare", [False, True], ids=["filled", "bare"])
def test_dtypes_are_the_schema_s_whatever_comes_and_whether_or_not_there_are_values(n_rows: int, bare: bool) -> None:
    row = dict.fromkeys(ROW) if bare else {**ROW, "k": 1.0, "p": 1, "flag": 1}
    frame = pd.DataFrame([{**row, "name": name} for name in "ab"], index=[7, 7]).head(n_rows)
    for table in (MIXED.conform(frame), MIXED.conform(MIXED.conform(frame))):
        assert table.dtypes.astype(str).to_dict() == DTYPES
        assert table.index.equals(pd.RangeIndex(n_rows))
        assert all(value is None for value in table["note"]), "a missing text is None, whatever stood for it"


def test_what_is_conformed_shares_no_values_with_what_was_given() -> None:
    frame = MIXED.conform([ROW])
    values = {
        "name": "b",
        "note": "new",
        "k": 2,
        "p": 0.25,
        "flag": False,
        "at": "2027-01-01T00:00:00Z",
        "split": "train",
    }
    before, table, other = frame.copy(), MIXED.conform(frame), MIXED.conform([values])
    for name in MIXED.column_names:
        table[name].array[0] = other[name].array[0]
    pd.testing.assert_frame_equal(table, other)
    pd.testing.assert_frame_equal(frame, before)


def test_columns_are_put_in_order() -> None:
    frame = pd.DataFrame([ROW])[["split", "at", "flag", "p", "k", "note", "name"]]
    assert list(MIXED.conform(frame).columns) == MIXED.column_names


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": None}, "column name: 1 value"),
        ({"p": 1.5}, r"column p: 1 value\(s\) are not at most 1: 1.5 \(first at name='a'\)"),
        ({"p": -0.1}, "not at least 0: -0.1"),
        ({"k": -1}, "not at least 0: -1"),
        ({"split": "test"}, r"not one of \['train', 'val'\]: 'test'"),
        ({"k": "x"}, "not of kind int"),
        ({"k": 1.5}, "not of kind int"),
        ({"note": 3}, "not of kind string"),
    ],
)
def test_a_wrong_value_is_refused_with_its_place(change: dict[str, object], message: str) -> None:
    with pytest.raises(TableError, match=message):
        MIXED.conform([{**ROW, **change}])


def test_a_missing_or_unknown_column_is_refused() -> None:
    with pytest.raises(TableError, match=r"\['name'\] are missing"):
        MIXED.conform(pd.DataFrame([ROW]).drop(columns="name"))
    with pytest.raises(TableError, match=r"\['verdict'\] are not in its schema"):
        MIXED.conform([{**ROW, "verdict": "AC"}])


def test_a_key_twice_is_refused() -> None:
    with pytest.raises(TableError, match="2 rows share a key"):
        MIXED.conform([ROW, ROW])


def test_a_missing_value_in_a_key_counts_as_a_value() -> None:
    table = Table("t", "A row.", (Column("a", "string", "a"), Column("b", "int", "b", nullable=True)), ("a", "b"))
    table.conform([{"a": "x", "b": None}, {"a": "x", "b": 1}])
    with pytest.raises(TableError, match="share a key"):
        table.conform([{"a": "x", "b": None}, {"a": "x", "b": None}])


def test_wide_tables_take_columns_of_their_prefix_only() -> None:
    wide = Table("w", "A row.", (Column("a", "string", "a"),), ("a",), open_prefix="p_ac:", open_description="p_ac")
    rows = wide.conform([{"a": "x", "p_ac:gpt": 0.5}])
    assert wide.to_arrow(rows).schema.field("p_ac:gpt").type == pa.float64()
    with pytest.raises(TableError, match="not in its schema"):
        wide.conform([{"a": "x", "p": 0.5}])


def test_a_key_that_is_no_column_is_a_mistake_in_the_schema() -> None:
    with pytest.raises(ValueError, match="not columns"):
        Table("t", "A row.", (Column("a", "string", "a"),), ("b",))


def test_estimate_columns_stand_in_metric_tables() -> None:
    assert {"value", "n", "n_left_out", "ci95_low", "ci95_high", "reason"} <= set(SUCCESS_AT_TURN.column_names)
