"""What a page shows as tables and as labelled lines, with the links in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from judge_pipeline.ingest.fields import FieldName, field_of, labelled_parts
from judge_pipeline.ingest.markup import Page

_MAX_CELL_CHARS = 2000
_MAX_ROWS = 200_000
_MAX_COLUMNS = 200

_BLOCK_TAGS = frozenset((
    "p", "div", "li", "tr", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "dt", "dd", "ul", "ol", "dl", "table",
    "section", "article", "header", "footer", "form", "body", "main", "nav", "aside", "center", "tbody", "caption",
))  # fmt: skip


_NOT_READ = frozenset(("select", "option", "button", "nav", "datalist"))
"""What a page offers to choose or to do says nothing about a submission."""

_FORM_WITHIN = 12
"""Nor does what stands right in a form; but some sites put a form around the whole page."""


_PLAIN_TAGS = frozenset(("br", "b", "strong", "i", "em", "sub", "tbody", "tr"))
"""Elements of which no attribute matters."""


@dataclass(slots=True)
class Cell:
    """A table's cell.

    Attributes:
        text: its text on one line.
        head: whether it is a ``<th>``.
        links: target and text of each link in it.
        titles: titles, and times and pictures in words, in it (sites put the long form of a verdict there).
        classes: the classes of it and of what is in it.
        attributes: its own attributes.
        span: how many columns it covers.
    """

    text: str
    head: bool = False
    links: list[tuple[str, str]] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    span: int = 1


@dataclass(slots=True)
class Grid:
    """A table: its rows of cells."""

    rows: list[list[Cell]]


@dataclass(frozen=True, slots=True)
class ListedRow:
    """One data row of a table with headings: the cell of each field, and all its cells."""

    fields: dict[FieldName, Cell]
    cells: list[Cell]


@dataclass(slots=True)
class Line:
    """A line of visible text, the links in it, and the tag that it stands in."""

    text: str
    links: list[tuple[str, str]]
    tag: str


def grids_of(page: Page) -> list[Grid]:
    """The page's tables in order; rows of a table within a cell belong to the inner table only."""
    grids: dict[int, Grid] = {}
    for number, row in enumerate(page.tree.css("tr")):
        if number >= _MAX_ROWS:
            page.notes.append(f"only the first {_MAX_ROWS} table rows are read")
            break
        table = _table_around(row)
        cells = [_cell(node) for node in row.iter(include_text=False) if node.tag in ("td", "th")]
        if cells:
            grids.setdefault(table.mem_id if table is not None else 0, Grid([])).rows.append(cells)
    return list(grids.values())


def listed_rows(grid: Grid) -> tuple[set[FieldName], list[ListedRow]]:
    """The fields that a table's headings name and its data rows, cells found by heading; none without headings."""
    for index, row in enumerate(grid.rows[:8]):
        columns = _columns(row)
        names = [field_of(cell.text) if not cell.text or len(cell.text) <= 60 else None for cell in columns]
        known = {name for name in names if name not in (None, "other", "source")}
        if len(known) >= 2 and all(not re.search(r"\d{3}", cell.text) for cell in row):
            data = [r for r in grid.rows[index + 1 :] if _columns_match(r, len(columns))]
            rows = [_by_heading(names, cells) for cells in data if not _repeats(cells, row)]
            return {name for name in names if name is not None}, _without_counters(rows)
    return set(), []


def labelled_pairs(grid: Grid) -> list[tuple[FieldName, Cell]]:
    """Fields of a table that has a label and a value in each row."""
    pairs: list[tuple[FieldName, Cell]] = []
    for row in grid.rows:
        cells = [cell for cell in row if cell.text or cell.links]
        for cell in cells:
            parts = [(name, value) for name, value in labelled_parts(cell.text) if value]
            pairs += [(name, replace(cell, text=v, links=[x for x in cell.links if x[1] in v])) for name, v in parts]
        for label, value in zip(cells[::2], cells[1::2], strict=False):
            name = field_of(label.text.rstrip(":： ")) if len(label.text) <= 60 else None
            if name is not None and (label.head or len(cells) in (2, 4)) and not value.head:
                pairs.append((name, value))
    return pairs


def visible_lines(page: Page) -> Iterator[Line]:
    """The page's visible text, a line for each stretch within one block-level element."""
    body = page.tree.body
    if body is None:
        return
    current: Line | None = None
    owner: Any = None
    for node, around in _with_surroundings(body):
        if node is None:
            if current is not None:
                yield current
            current = None
            continue
        text = " ".join((node.text_content or "").split())
        if not text:
            continue
        if current is None or around.block is not owner:
            if current is not None:
                yield current
            current, owner = Line("", [], around.tag), around.block
        current.text = f"{current.text} {text}".strip()
        if around.link is not None:
            current.links.append((around.link, text))
    if current is not None:
        yield current


class _Around(NamedTuple):
    """What a text stands in: its block and that block's tag, and the target of the link around it."""

    block: Any
    tag: str
    link: str | None

    def inside(self, node: Any, tag: str) -> _Around:
        """The same for what stands in ``node``; a block within a link is a part of that link, too."""
        if tag == "a":
            return _Around(self.block, self.tag, node.attributes.get("href") or None)
        return _Around(node, tag, self.link) if tag in _BLOCK_TAGS else self


def _with_surroundings(body: Any) -> Iterator[tuple[Any, _Around]]:
    """Texts in order, each with what it stands in, and None for a line break; every element is looked at once."""
    around = _Around(body, "body", None)
    above: list[tuple[Any, _Around, int]] = []
    form = 0  # how many levels up the next form is; 0: none that matters
    node = body.child
    while node is not None:
        tag = node.tag
        child = None
        if tag == "-text":
            if not 0 < form <= _FORM_WITHIN:
                yield node, around
        elif tag == "br":
            yield None, around
        elif tag not in _NOT_READ:
            child = node.child
        if child is not None:
            above.append((node, around, form))
            around = around.inside(node, tag)
            form = 1 if tag == "form" else form + (form > 0)
            node = child
            continue
        following = node.next
        while following is None and above:
            node, around, form = above.pop()
            following = node.next
        node = following


def _table_around(row: Any) -> Any:
    parent = row.parent
    while parent is not None and parent.tag != "table":
        parent = parent.parent
    return parent


def _cell(node: Any) -> Cell:
    attributes = {name: value or "" for name, value in node.attributes.items()}
    span = attributes.get("colspan", "1").strip()
    cell = Cell(
        text="",
        head=node.tag == "th",
        attributes=attributes,
        span=min(max(int(span[:4]), 1), 100) if span.isascii() and span.isdigit() else 1,
        classes=attributes.get("class", "").split(),
        titles=[attributes["title"]] if attributes.get("title") else [],
    )
    child = node.child
    if child is None or (child.tag == "-text" and child.next is None):
        cell.text = _one_line([] if child is None else [child.text_content or ""])
        return cell
    texts: list[str] = []
    for inside in node.traverse(include_text=True):
        if inside.tag == "-text":
            texts.append(inside.text_content or "")
        elif inside.tag not in _PLAIN_TAGS and inside.mem_id != node.mem_id:
            _look_inside(cell, inside)
        if len(texts) > _MAX_CELL_CHARS:
            break
    cell.text = _one_line(texts)
    return cell


def _one_line(texts: list[str]) -> str:
    return " ".join(" ".join(texts)[: 4 * _MAX_CELL_CHARS].split())[:_MAX_CELL_CHARS]


def _look_inside(cell: Cell, node: Any) -> None:
    """Takes links, titles and classes of an element within a cell."""
    attributes = node.attributes
    href = attributes.get("href")
    if href and node.tag == "a":
        cell.links.append((href, " ".join(node.text(deep=True, separator=" ").split())))
    for name in ("title", "data-original-title", "datetime", "alt"):
        if attributes.get(name):
            cell.titles.append(attributes[name])
    if attributes.get("class"):
        cell.classes.extend(attributes["class"].split())


def _columns(row: list[Cell]) -> list[Cell]:
    """The row's cells by column: a cell that spans several stands in the first of them, blanks in the others."""
    columns: list[Cell] = []
    for cell in row[:_MAX_COLUMNS]:
        columns.append(cell)
        columns.extend(Cell("") for _ in range(cell.span - 1))
    return columns[:_MAX_COLUMNS]


def _columns_match(row: list[Cell], width: int) -> bool:
    """Whether a row may be data: not a note that spans the table."""
    return len(row) > 1 or (len(row) == 1 and width == 1)


def _repeats(row: list[Cell], heading: list[Cell]) -> bool:
    return [cell.text for cell in row] == [cell.text for cell in heading]


def _by_heading(names: list[FieldName | None], row: list[Cell]) -> ListedRow:
    columns = _columns(row)
    extra = len(columns) - len(names)
    if extra > 0 and all(not cell.text for cell in columns[:extra]):
        # A column without heading in front, for a checkbox.
        columns = columns[extra:]
    fields: dict[FieldName, Cell] = {}
    for name, cell in zip(names, columns, strict=False):
        if name is not None and (cell.text or cell.links or cell.titles) and name not in fields:
            fields[name] = cell
    if "timestamp" in names:
        fields.pop("time", None)  # the run's time then
    return ListedRow(fields, row)


def _without_counters(rows: list[ListedRow]) -> list[ListedRow]:
    """Takes away a column "#" that only counts the rows."""
    ids = [row.fields["submission_id"].text for row in rows if "submission_id" in row.fields]
    first = ids[0] if ids else ""
    counts_up = first in ("0", "1") and ids == [str(int(first) + i) for i in range(len(ids))]
    if len(ids) != len(rows) or not counts_up:
        return rows
    return [ListedRow({k: v for k, v in row.fields.items() if k != "submission_id"}, row.cells) for row in rows]
