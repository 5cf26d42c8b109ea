"""The re-rating sheet: blinded, harmless to open, and read back whatever people's programs made of it."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from openpyxl import Workbook, load_workbook
from sklearn.metrics import roc_auc_score

from judge_pipeline.cli.main import main
from judge_pipeline.cli.rerating_sheet import MOST_CHARS, SheetError, cut, read_sheet, write_sheet
from judge_pipeline.cocreation.rerating import make_sheet
from judge_pipeline.orchestration.forgetting import forget
from judge_pipeline.orchestration.reratings import agreement_of, stored_reratings
from judge_pipeline.orchestration.stored_tables import report_tables, store_of
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import ATTEMPTS, PREDICTIONS, RERATING_KEYS, RERATINGS

IDS = [f"{i:016x}" for i in range(12)]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    sheet = make_sheet("mini", IDS, 2, seed=1)
    code = {item: {"problem": "P", "code": f"int x{i};"} for i, item in enumerate(sheet.keys["item"])}
    write_sheet(tmp_path / "sheet.xlsx", sheet, code)
    return tmp_path / "sheet.xlsx"


def items() -> list[str]:
    return list(make_sheet("mini", IDS, 2, seed=1).keys["item"])


def edited(path: Path, change: Callable[[object], None]) -> Path:
    workbook = load_workbook(path)
    for page in workbook.worksheets[1:]:
        change(page)
    workbook.save(path)
    return path


def column(page: object, name: str) -> int:
    return [cell.value for cell in page[1]].index(name) + 1


def test_a_sheet_that_was_reordered_renamed_and_saved_by_another_program_is_read_the_same(tmp_path: Path) -> None:
    """Columns in another order, further columns, blank rows, a title above, and values as programs write them."""
    workbook, codes = Workbook(), items()
    page = workbook.active
    page.title = "Ann"
    rows = [
        ["Ratings by Ann"], [], ["note", "my own", "S_ALGO", "Item", "accepted? ", "s_robust"],
        ["fine", 1, 4.0, codes[0], "Yes ", None], [], ["", "", "3", f" {codes[1]} ", "YES", "2.0"],
        [None, None, None, codes[2], True, None], [None, None, None, codes[3], "FALSE", 5],
        [None, None, None, codes[4], "Unsure", None], [None, "x", None, codes[5], "  ", None],
    ]  # fmt: skip
    for row in rows:
        page.append(row)
    workbook.save(tmp_path / "filled.xlsx")
    filled = read_sheet(tmp_path / "filled.xlsx", codes)
    found = {row["item"]: row for row in filled.rows}
    assert [found[code]["accepted"] for code in codes[:5]] == ["yes", "yes", "yes", "no", "unsure"]
    assert found[codes[0]] == {
        "item": codes[0], "rater": "Ann", "accepted": "yes", "s_algo": 4, "s_robust": None, "note": "fine",
    }  # fmt: skip
    assert (found[codes[1]]["s_algo"], found[codes[1]]["s_robust"]) == (3, 2)
    assert filled.blank == {"Ann": 1}


def test_a_sheet_as_it_was_written_has_nothing_filled(book: Path) -> None:
    filled = read_sheet(book, items())
    assert filled.rows == []
    assert filled.blank == {"rater 1": 12, "rater 2": 12}


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("accepted?", "maybe", "sheet 'rater 1', cell D4: 'maybe' is not yes, no or unsure"),
        ("s_algo", 6, "cell E4: 6 is not a whole number from 1 to 5"),
        ("s_robust", 2.5, "cell F4: 2.5 is not a whole number"),
        ("item", "S000000-99", "cell A4: 'S000000-99' is no item of a sheet"),
    ],
)
def test_a_wrong_cell_is_named_with_sheet_value_and_remedy(book: Path, name: str, value: object, told: str) -> None:
    def change(page: object) -> None:
        page.cell(4, column(page, "note")).value = "x"
        page.cell(4, column(page, name)).value = value

    with pytest.raises(SheetError) as found:
        read_sheet(edited(book, change), items())
    assert told in str(found.value)
    assert "Remedy: " in str(found.value)


def test_an_item_that_stands_twice_or_is_gone_is_refused(book: Path) -> None:
    def twice(page: object) -> None:
        page.cell(5, 1).value = page.cell(4, 1).value

    with pytest.raises(SheetError, match="rated by 'rater 1' before, in row 4"):
        read_sheet(edited(book, twice), items())

    def gone(page: object) -> None:
        page.cell(5, 1).value = None
        page.cell(5, column(page, "accepted?")).value = "yes"

    with pytest.raises(SheetError, match="blank beside an answer"):
        read_sheet(edited(book, gone), items())


def test_what_is_no_sheet_says_so(tmp_path: Path) -> None:
    for name, content, told in (
        ("a.xlsx", b"no zip", "it is no workbook"),
        ("a.csv", b"x,y\n1,2\n", "no table with the columns item"),
        ("b.csv", b"\xff\xfe\x00", "no CSV in UTF-8"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(SheetError, match=told):
            read_sheet(tmp_path / name, items())


HOSTILE = ["=1+1", "+cmd|' /C calc'!A0", "-1", "@SUM(A1)", "\t=2", "int a;\x00\x1b", "x" * 40_000, '=HYPERLINK("u")']


@pytest.mark.parametrize("suffix", [".xlsx", ".csv"])
def test_code_is_shown_as_text_whatever_it_begins_with(tmp_path: Path, suffix: str) -> None:
    sheet = make_sheet("mini", IDS[: len(HOSTILE)], 1, seed=1)
    shown = {item: {"code": code} for item, code in zip(sheet.keys["item"], HOSTILE, strict=True)}
    path = tmp_path / f"sheet{suffix}"
    write_sheet(path, sheet, shown)
    if suffix == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as file:
            texts = {row["item"]: row["code"] for row in csv.DictReader(file)}
        assert not any(text.startswith(("=", "+", "-", "@", "\t", "\r")) for text in texts.values())
    else:
        page = load_workbook(path)["rater 1"]
        cells = {page.cell(row, 1).value: page.cell(row, 2) for row in range(2, page.max_row + 1)}
        assert {cell.data_type for cell in cells.values()} == {"s"}
        texts = {item: cell.value for item, cell in cells.items()}
        assert texts[sheet.keys["item"][0]] == "=1+1"
        assert cells[sheet.keys["item"][0]].quotePrefix
    longest = texts[sheet.keys["item"][6]]
    assert len(longest) <= MOST_CHARS
    assert longest.endswith("[cut here: 7,293 more characters]")
    assert read_sheet(path, list(sheet.keys["item"])).blank == {"rater 1": len(HOSTILE)}


def test_a_text_that_just_fits_is_whole() -> None:
    assert cut("x" * MOST_CHARS) == "x" * MOST_CHARS
    assert len(cut("x" * (MOST_CHARS + 1))) < MOST_CHARS


@pytest.fixture
def home(copy_of_reported_home: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A contest that was judged and measured."""
    for name in ("JUDGE_PIPELINE_HOME", "JUDGE_PIPELINE_OUT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(copy_of_reported_home)
    return Workspace.find({}, copy_of_reported_home)


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["judge-pipeline", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.mark.slow
def test_from_the_sheet_to_the_report_and_to_forgetting(
    home: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "rerate", "make", "mini", "--attempts", "10", "--split", "all", "-o", "s.xlsx") == 0
    told = capsys.readouterr().out
    assert "10 of" in told
    raw = Path("s.xlsx").read_bytes()
    keys = store_of(home).read(RERATING_KEYS, "mini")
    attempts = store_of(home).read(ATTEMPTS, "mini").set_index("attempt_id")
    # Blinded: no id of an attempt, no participant, no verdict, no judge in any cell.
    cells = [
        str(cell)
        for page in load_workbook("s.xlsx").worksheets[1:]
        for row in page.iter_rows(values_only=True)
        for cell in row
        if cell is not None
    ]
    for attempt in keys["attempt_id"]:
        assert not any(attempt in cell for cell in cells)
        assert attempt.encode() not in raw
    assert not any(participant in cell for participant in set(attempts["participant"]) for cell in cells)
    assert not any(word in cells for word in ("AC", "WA", "TLE", "RE", "sharp", "text"))
    # The same options make the same sheet.
    assert call(monkeypatch, "rerate", "make", "mini", "--attempts", "10", "--split", "all", "-o", "t.xlsx") == 0
    assert store_of(home).read(RERATING_KEYS, "mini").equals(keys)
    attempt_of = dict(zip(keys["item"], keys["attempt_id"], strict=True))

    def fill(page: object) -> None:
        for row in range(2, page.max_row + 1):
            y = attempts.loc[attempt_of[page.cell(row, 1).value], "y"]
            page.cell(row, column(page, "accepted?")).value = "yes" if y == 1 else "no"
            page.cell(row, column(page, "note")).value = "said so"
        if page.title == "rater 2":
            page.cell(3, column(page, "accepted?")).value = None

    edited(Path("s.xlsx"), fill)
    capsys.readouterr()
    assert call(monkeypatch, "rerate", "read", "s.xlsx", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["raters"] == {"rater 1": {"rated": 10, "blank": 0}, "rater 2": {"rated": 10, "blank": 0}}
    by_name = {(r["rater"], r["against"], r["other"], r["statistic"]): r for r in found["agreement"]["mini"]}
    verdict = by_name["rater 1", "verdict", None, "raw_agreement"]
    assert (verdict["value"], verdict["n"]) == (1.0, 10)
    assert by_name["rater 2", "verdict", None, "raw_agreement"]["n_left_out"] == 1
    sharp = store_of(home).read(PREDICTIONS, "mini").query("judge == 'sharp'").set_index("attempt_id")
    rated = sharp.loc[keys["attempt_id"]]
    auc = roc_auc_score(attempts.loc[rated.index, "y"].astype(int), rated["p_ac"])
    assert by_name["rater 1", "judge", "sharp", "roc_auc"]["value"] == pytest.approx(auc)
    # Reading again replaces; the report shows it.
    assert call(monkeypatch, "rerate", "read", "s.xlsx") == 0
    assert "rater 1: 10 rated (0 unsure), 0 left blank" in capsys.readouterr().out
    assert len(stored_reratings(home, "mini")) == 20
    assert call(monkeypatch, "report", "mini") == 0
    page = (home.out_dir / "reports" / "mini" / "cocreation_report.html").read_text(encoding="utf-8")
    assert "People beside judges" in page
    pd.testing.assert_frame_equal(report_tables(home, "mini").rerating_agreement, agreement_of(home, "mini"))
    # Who withdraws is gone from the key and from what people said.
    gone = attempts.loc[keys["attempt_id"][0], "participant"]
    theirs = set(attempts.index[attempts["participant"] == gone])
    forget(home, "mini", gone, "2026-11-30")
    for table in (RERATING_KEYS, RERATINGS):
        left = store_of(home).read(table, "mini")
        assert len(left)
        assert not theirs & set(left["attempt_id"])


@pytest.mark.slow
def test_faults_of_the_command_and_of_the_file(
    home: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "rerate", "make", "nobody", "-o", "s.xlsx") == 2
    assert call(monkeypatch, "rerate", "make", "mini", "-o", "s.doc") == 2
    assert call(monkeypatch, "rerate", "make", "mini", "--split", "all", "--raters", "1", "-o", "s.csv") == 0
    assert call(monkeypatch, "rerate", "read", "s.csv") == 1
    assert "no row is filled" in capsys.readouterr().err
    text = Path("s.csv").read_text(encoding="utf-8-sig")
    Path("s.csv").write_text(text.replace(",,,\n", ",maybe,,\n", 1).replace(os.linesep, "\n"), encoding="utf-8")
    assert not store_of(home).path(RERATINGS, "mini").is_file()
    assert len(store_of(home).read(PREDICTIONS, "mini"))
