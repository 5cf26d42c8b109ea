"""The re-rating sheet as a file: an Excel workbook or CSV, written and read back."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell
    from openpyxl.worksheet.worksheet import Worksheet

    from judge_pipeline.cocreation.rerating import Sheet

SHOWN = ("item", "problem", "language", "statement", "prompts", "code")
ANSWERS = ("accepted?", "s_algo", "s_robust", "note")
"""Columns that people fill."""

MOST_CHARS = 32_767
"""Characters that a cell of a workbook can hold."""

_WIDTHS = {"item": 13, "problem": 12, "language": 10, "statement": 40, "prompts": 40, "code": 90, "note": 40}
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_HEADER_WITHIN = 30
_MOST_ROWS = 100_000
_SAID = {
    "yes": "yes", "y": "yes", "true": "yes", "1": "yes", "no": "no", "n": "no", "false": "no", "0": "no",
    "unsure": "unsure", "?": "unsure", "don't know": "unsure",
}  # fmt: skip

README = (
    "Re-rating of attempts",
    "",
    "Each row of the other sheets is one submission to a programming contest. Judge it from its code alone.",
    "accepted?   would the contest site accept it: yes, no, or unsure",
    "s_algo      how adequate the algorithm is, from 1 (wrong approach) to 5 (right approach)",
    "s_robust    how robust it is against edge cases and limits, from 1 to 5",
    "note        anything; it is kept with your answer",
    "",
    "Leave blank what you do not want to answer. One sheet is for one person: rename it after yourself if you like.",
    "Do not change the column item, and do not talk about items before all are done.",
    f"A cell holds {MOST_CHARS:,} characters; a longer text ends with a line that says how much was cut.",
)


class SheetError(ValueError):
    """A sheet that cannot be read back. The message names sheet, cell, value and remedy."""


@dataclass(frozen=True)
class Filled:
    """What was read back.

    Attributes:
        rows: records with item, rater, accepted, s_algo, s_robust, note; one for each item with any answer.
        blank: rater -> items left wholly blank.
    """

    rows: list[dict[str, Any]]
    blank: dict[str, int] = field(default_factory=dict)


def write_sheet(path: Path, sheet: Sheet, shown: Mapping[str, Mapping[str, str]]) -> None:
    """Write the sheet, one worksheet (.xlsx) or block of rows (.csv) for each rater.

    Args:
        path: .xlsx or .csv; replaced where it is there.
        sheet: items and orders.
        shown: item -> what people are shown: column of ``SHOWN`` -> text.
    """
    columns = [name for name in SHOWN if any(name in texts for texts in shown.values()) or name == "item"]
    if path.suffix.lower() == ".csv":
        path.write_text(_csv(sheet, shown, columns), encoding="utf-8-sig", newline="")
        return
    _workbook(sheet, shown, columns).save(path)


def read_sheet(path: Path, known_items: Iterable[str]) -> Filled:
    """What people filled in. Columns may be in any order, rows may be blank, sheets renamed.

    Args:
        path: the file.
        known_items: the items that any sheet of ours has.

    Raises:
        SheetError: it is no workbook or CSV, has no table of ours, or cells cannot be right (up to ten are named).
        OSError: the file cannot be read.
    """
    known, problems = set(known_items), list[str]()
    filled, seen = Filled([]), dict[tuple[str, str], str]()
    tables = _csv_tables(path) if path.suffix.lower() == ".csv" else _workbook_tables(path)
    n_tables = 0
    for title, rows in tables:
        header = _header(rows)
        if header is None:
            continue
        n_tables += 1
        _read_table(title, rows[header + 1 :], rows[header], header + 2, known, filled, seen, problems)
    if not n_tables:
        raise SheetError(
            f"it has no table with the columns item and {ANSWERS[0]}. Remedy: give the sheet that 'rerate make' wrote"
        )
    if problems:
        more = f"\nand {len(problems) - 10} more" if len(problems) > 10 else ""
        raise SheetError("\n".join(problems[:10]) + more)
    return filled


def _workbook(sheet: Sheet, shown: Mapping[str, Mapping[str, str]], columns: Sequence[str]) -> Any:
    from openpyxl import Workbook

    book = Workbook()
    front = book.active
    front.title = "Read me"
    front.column_dimensions["A"].width = 110
    for line in README:
        front.append([line])
    for place, order in enumerate(sheet.orders, start=1):
        _fill(book.create_sheet(f"rater {place}"), order, shown, columns)
    return book


def _fill(
    page: Worksheet, order: Sequence[str], shown: Mapping[str, Mapping[str, str]], columns: Sequence[str]
) -> None:
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    headings = [*columns, *ANSWERS]
    page.append(headings)
    for place, name in enumerate(headings, start=1):
        page.cell(1, place).font = Font(bold=True)
        page.column_dimensions[get_column_letter(place)].width = _WIDTHS.get(name, 11)
    for row, item in enumerate(order, start=2):
        for place, name in enumerate(columns, start=1):
            cell = page.cell(row, place)
            _as_text(cell, item if name == "item" else shown[item].get(name, ""))
            cell.alignment = Alignment(vertical="top", wrap_text=True)
            if name == "code":
                cell.font = Font(name="Consolas", size=9)
    page.freeze_panes = "B2"
    last = len(order) + 1
    for name, choices in (("accepted?", '"yes,no,unsure"'), ("s_algo", '"1,2,3,4,5"'), ("s_robust", '"1,2,3,4,5"')):
        rule = DataValidation(type="list", formula1=choices, allow_blank=True)
        page.add_data_validation(rule)
        letter = get_column_letter(headings.index(name) + 1)
        rule.add(f"{letter}2:{letter}{last}")


def _as_text(cell: Cell, text: str) -> None:
    """The text as a text: it can never be taken for a formula, whatever it begins with."""
    cell.value = cut(text)
    cell.data_type = "s"
    if text.startswith(_FORMULA_STARTS):
        cell.quotePrefix = True


def cut(text: str) -> str:
    """The text without what a cell cannot hold: control characters are shown as U+FFFD, and the end may be cut."""
    clean = _NOT_IN_XML.sub("\ufffd", text)
    if len(clean) <= MOST_CHARS:
        return clean
    kept = MOST_CHARS - 60
    return f"{clean[:kept]}\n[cut here: {len(clean) - kept:,} more characters]"


def _csv(sheet: Sheet, shown: Mapping[str, Mapping[str, str]], columns: Sequence[str]) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(["rater", *columns, *ANSWERS])
    for place, order in enumerate(sheet.orders, start=1):
        for item in order:
            texts = [item if name == "item" else _guarded(cut(shown[item].get(name, ""))) for name in columns]
            writer.writerow([f"rater {place}", *texts, *[""] * len(ANSWERS)])
    return out.getvalue()


def _guarded(text: str) -> str:
    """An apostrophe before what a spreadsheet would take for a formula; these columns are not read back."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


Rows = list[Sequence[Any]]


def _workbook_tables(path: Path) -> Iterator[tuple[str, Rows]]:
    from zipfile import BadZipFile

    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        book = load_workbook(path, read_only=True, data_only=True)
    except (BadZipFile, InvalidFileException, KeyError, ValueError) as error:
        raise SheetError(f"it is no workbook ({error}). Remedy: save it as .xlsx or .csv") from error
    try:
        for page in book.worksheets:
            # What the file says of its own size may be wrong after other programs saved it.
            page.reset_dimensions()
            rows = [list(row) for row in page.iter_rows(max_row=_MOST_ROWS, values_only=True)]
            yield str(page.title), list(rows)
    finally:
        book.close()


def _csv_tables(path: Path) -> Iterator[tuple[str, Rows]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        first = next((line for line in text.splitlines() if line.strip()), "")
        delimiter = max(",;\t", key=first.count)
        rows: Rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except (UnicodeDecodeError, csv.Error) as error:
        raise SheetError(f"it is no CSV in UTF-8 ({error}). Remedy: save it as CSV UTF-8 or .xlsx") from error
    yield "", rows


def _header(rows: Rows) -> int | None:
    """Which row holds the headings, from 0."""
    for place, row in enumerate(rows[:_HEADER_WITHIN]):
        if {"item", ANSWERS[0]} <= {_heading(cell) for cell in row}:
            return place
    return None


def _heading(cell: Any) -> str:
    name = "" if cell is None else " ".join(str(cell).split()).casefold()
    return "accepted?" if name == "accepted" else name


def _read_table(
    title: str, rows: Rows, header: Sequence[Any], first: int, known: set[str], filled: Filled,
    seen: dict[tuple[str, str], str], problems: list[str],
) -> None:  # fmt: skip
    columns = {_heading(cell): place for place, cell in reversed(list(enumerate(header)))}
    for number, row in enumerate(rows, start=first):
        cells = {name: row[place] if place < len(row) else None for name, place in columns.items()}
        answers = {name: cells.get(name) for name in ANSWERS}
        item = _plain(cells.get("item"))
        if not item and all(not _plain(value) for value in answers.values()):
            continue
        rater = title or _plain(cells.get("rater"))

        def fault(name: str, value: Any, what: str, number: int = number, rater: str = rater) -> None:
            place = f"{_letter(columns[name])}{number}" if title else f"row {number}, column {name}"
            problems.append(f"{f'sheet {title!r}, cell ' if title else ''}{place}: {_shown(value)} {what}")

        if not rater:
            fault("item", item, "has no rater. Remedy: say in the column rater whose answer it is")
        elif not item:
            fault("item", cells.get("item"), "is blank beside an answer. Remedy: put the item's code back")
        elif item not in known:
            fault("item", item, "is no item of a sheet of this workspace. Remedy: put the item's code back")
        elif (rater, item) in seen:
            fault("item", item, f"was rated by {rater!r} before, in {seen[rater, item]}. Remedy: keep one row")
        else:
            seen[rater, item] = f"row {number}"
            said = {
                "accepted": _accepted(answers["accepted?"], fault),
                "s_algo": _score("s_algo", answers["s_algo"], fault),
                "s_robust": _score("s_robust", answers["s_robust"], fault),
                "note": _plain(answers["note"]) or None,
            }
            if any(value is not None for value in said.values()):
                filled.rows.append({"item": item, "rater": rater, **said})
            else:
                filled.blank[rater] = filled.blank.get(rater, 0) + 1


def _accepted(value: Any, fault: Any) -> str | None:
    text = _plain(value).casefold()
    if text and text not in _SAID:
        fault("accepted?", value, "is not yes, no or unsure. Remedy: write one of these, or leave it blank")
    return _SAID.get(text)


def _score(name: str, value: Any, fault: Any) -> int | None:
    text = _plain(value)
    if not text:
        return None
    if text not in ("1", "2", "3", "4", "5"):
        fault(name, value, "is not a whole number from 1 to 5. Remedy: write one, or leave it blank")
        return None
    return int(text)


def _plain(value: Any) -> str:
    """A cell as text: 4.0 is 4, and space around it does not count."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = " ".join(str(value).split()) if not isinstance(value, str) else value.strip()
    return re.sub(r"\.0+$", "", text) if re.fullmatch(r"\d+\.0+", text) else text


def _letter(place: int) -> str:
    from openpyxl.utils import get_column_letter

    return str(get_column_letter(place + 1))


def _shown(value: Any) -> str:
    text = "(blank)" if value is None or value == "" else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
