"""Two files of one table: what is the same, what is close, and that every difference is told with its row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.orchestration.bundles.checked import Checked, explained
from judge_pipeline.orchestration.bundles.comparing import compare_files, compare_rows
from judge_pipeline.orchestration.bundles.facts import BundleFacts
from judge_pipeline.orchestration.bundles.recomputing import ledger_before
from judge_pipeline.orchestration.parquet_store import table_file
from judge_pipeline.table_schema import Column, Table

FIGURES = Table(
    "figures",
    "A table of this test.",
    (
        Column("judge", "string", "Judge"),
        Column("value", "float", "Value", nullable=True),
        Column("n", "int", "n", True),
    ),
    ("judge",),
)
ROWS = [{"judge": "a", "value": 0.5, "n": 3}, {"judge": "b", "value": None, "n": None}]
FULL = BundleFacts("contest", "mini", "full", "0.1.0", "c0de")


def written(path: Path, rows: list[dict[str, object]], provenance: dict[str, object] | None = None) -> Path:
    path.write_bytes(table_file(FIGURES, rows, provenance).data())
    return path


def compared(tmp_path: Path, rows: list[dict[str, object]], was: object = None, now: object = None):  # type: ignore[no-untyped-def]
    before = written(tmp_path / "a.parquet", ROWS, was)  # type: ignore[arg-type]
    return compare_files(before, written(tmp_path / "b.parquet", rows, now), ("judge",))  # type: ignore[arg-type]


def test_the_same_rows_are_identical(tmp_path: Path) -> None:
    assert compared(tmp_path, ROWS).verdict == "identical"


def test_what_a_file_says_that_it_was_made_from_is_told(tmp_path: Path) -> None:
    found = compared(tmp_path, ROWS, {"data": {"attempts": "1"}, "code": "x"}, {"data": {"attempts": "2"}, "code": "x"})
    assert (found.verdict, found.made_from) == ("same rows", ("data.attempts",))
    assert found.differences == ("made from another data.attempts: 1 in the bundle, 2 anew",)


@pytest.mark.parametrize(
    ("change", "verdict", "said"),
    [
        ({"value": 0.5 + 1e-12}, "close", "column value: 1 of 2 rows differ (a)"),
        (
            {"value": 0.501},
            "differs",
            "column value: 1 of 2 rows differ (a); the first is 0.5 in the bundle, 0.501 anew",
        ),
        ({"value": None}, "differs", "column value"),
        ({"n": 4}, "differs", "column n"),
        ({"judge": "c"}, "differs", "column judge"),
    ],
)
def test_a_value_that_differs_is_told_with_its_row(
    tmp_path: Path, change: dict[str, object], verdict: str, said: str
) -> None:
    found = compared(tmp_path, [ROWS[0] | change, ROWS[1]])
    assert found.verdict == verdict
    assert found.differences[0].startswith(said.replace("(a)", "(c)") if "judge" in change else said)


def test_a_missing_and_a_further_row_are_named(tmp_path: Path) -> None:
    found = compared(tmp_path, [ROWS[0]])
    assert found.verdict == "differs"
    assert found.differences == ("2 rows in the bundle, 1 anew; only in the bundle: b",)


def test_other_columns_and_damaged_files_are_told(tmp_path: Path) -> None:
    other = Table(
        "figures", "Another.", (Column("judge", "string", "J"), Column("value", "int", "V", True)), ("judge",)
    )
    (tmp_path / "b.parquet").write_bytes(table_file(other, [{"judge": "a", "value": 1}]).data())
    found = compare_files(written(tmp_path / "a.parquet", ROWS), tmp_path / "b.parquet", ("judge",))
    assert found.differences == (
        "column n is int64 in the bundle, nothing anew; column value is double in the bundle, int64 anew",
    )
    (tmp_path / "b.parquet").write_bytes(b"no table")
    assert compare_files(tmp_path / "a.parquet", tmp_path / "b.parquet", ()).verdict == "differs"


VALUES = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False), st.just(0.1))


@settings(max_examples=40)
@given(st.lists(st.tuples(VALUES, st.sampled_from(["x", "y", None])), min_size=1, max_size=8), st.data())
def test_one_changed_value_is_always_found(rows: list[tuple[float | None, str | None]], data: st.DataObject) -> None:
    table = pd.DataFrame({"value": pd.array([r[0] for r in rows], dtype="float64"), "word": [r[1] for r in rows]})
    assert compare_rows(table, table.copy(), ()) == ("same rows", [])
    at = data.draw(st.integers(0, len(rows) - 1))
    other = table.copy()
    other.loc[at, "word"] = "z"
    verdict, said = compare_rows(table, other, ())
    assert verdict == "differs"
    assert said[0].startswith(f"column word: 1 of {len(rows)} rows differ (row {at + 1});")
    moved = table.copy()
    before = table["value"][at]
    moved.loc[at, "value"] = 1.0 if pd.isna(before) or before == 0 else -before
    assert compare_rows(table, moved, ())[0] == "differs"


@pytest.mark.parametrize(("there", "here"), [(np.inf, 3.0), (3.0, np.inf), (np.inf, -np.inf), (1e308, -1e308)])
def test_what_is_without_bound_is_close_to_nothing_else(there: float, here: float) -> None:
    table, other = pd.DataFrame({"value": [there, np.inf]}), pd.DataFrame({"value": [here, np.inf]})
    assert compare_rows(table, table.copy(), ()) == ("same rows", [])
    assert compare_rows(table, other, ())[0] == "differs"


def test_what_is_explained_and_what_is_not() -> None:
    tables = [
        Checked("var/tables/attempts/mini.parquet", "differs", ("column y",)),
        Checked("var/tables/metrics/mini.parquet", "same rows", (), ("data.attempts", "code")),
        Checked("var/tables/curves/mini.parquet", "same rows", (), ("judges.j.model",)),
        Checked("var/tables/overview/mini.parquet", "same rows", (), ("data.contest folder",)),
    ]

    def states(facts: BundleFacts, *, same_code: bool = True) -> list[str]:
        return [each.state for each in explained(tables, facts, same_code=same_code)]

    assert states(FULL) == ["differs", "same rows", "differs", "differs"]
    partly = BundleFacts("contest", "mini", "full", "0.1.0", "c0de", withheld={"attempts": "why"})
    assert states(partly) == ["differs", "same rows", "differs", "same rows"]
    assert states(FULL, same_code=False) == ["differs", "same rows", "same rows", "same rows"]


def test_the_ledger_before_a_run_lacks_what_the_run_assigned() -> None:
    """Of one of an earlier version; one that says what decided is taken whole."""
    ledger = pd.DataFrame({"participant": ["u", "u", "v"], "problem_id": ["p", "q", "p"], "split": ["test"] * 3})
    splits = ledger.assign(assigned_by=["ledger", "seed", "ledger"]).iloc[:2]
    says = ledger.assign(assigned_by=["ledger", "seed", "seed"])
    assert ledger_before(says, splits, ["participant", "problem_id"]).equals(says)
    ledger["assigned_by"] = "ledger"
    before = ledger_before(ledger, splits, ["participant", "problem_id"])
    assert before[["participant", "problem_id"]].to_numpy().tolist() == [["u", "p"], ["v", "p"]]
