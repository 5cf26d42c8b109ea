"""Saved pages of contest sites, whatever the site: lists of submissions, and pages of one submission.

The generic reader takes what a page shows: tables with known headings, labelled values, and the longest ``<pre>``
(else ``<code>``) as the source. A site's layout (``sites/``) adds what only that site's pages say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from judge_pipeline.ingest.code_blocks import CodeText, code_text, html_decoded
from judge_pipeline.ingest.drafts import Draft
from judge_pipeline.ingest.fields import FieldName, field_of, labelled_parts
from judge_pipeline.ingest.grids import (
    Cell,
    Grid,
    Line,
    ListedRow,
    grids_of,
    labelled_pairs,
    listed_rows,
    visible_lines,
)
from judge_pipeline.ingest.links import participant_in_link, problem_in_link, submission_in_link
from judge_pipeline.ingest.markup import Block, Page
from judge_pipeline.ingest.source_files import looks_like_code
from judge_pipeline.ingest.times import Zone, read_time
from judge_pipeline.ingest.verdicts import read_verdict

_HINT = re.compile(
    r"source|program|submission|code|prettyprint|highlight|hljs|lang-|language-|brush|linenums|listing", re.I
)
_EXACT = re.compile(r"for[-_]copy|raw[-_]?source", re.I)
_OTHER = re.compile(r"input|output|compil|error|sample|stdin|stdout|answer|checker|expected|diff|log\b", re.I)
_TITLE_ID = re.compile(r"(?:submission|solution|提出|run)\s*(?:id\s*)?[#＃:]?\s*(\d{3,})", re.I)
_SAVED_FROM = re.compile(r"<!--\s[^>]{0,400}?\burl(?:=\(\d+\)|:)\s*(https?://[^\s>]+)", re.I)
"""Where a browser, or SingleFile, says that it saved the page from."""
_NO_SUBMISSIONS = re.compile(r"提出(?:が|は)ありません|\bno submissions?\b", re.I)


_ONLY_FINISHED = frozenset(("ready", "done", "finished", "judged", "completed", "complete", "evaluated"))
"""What a state may be beside the result that it says is there."""
_ANY_ZONE = Zone(UTC, "nowhere")
_ABOUT = re.compile(r"submi|solution|source|code|run\b|提出|解答|提交", re.I)
"""A heading that says whose submission it stands over, and of which problem."""


@dataclass(frozen=True, slots=True)
class Source:
    """The source found on a page, and how sure that is."""

    text: str
    notes: tuple[str, ...]
    hinted: bool


SiteCell = Callable[[Draft, FieldName, Cell], bool]
"""A site's own way with a cell: takes the field into the draft and says True, or leaves it to the generic way."""


def read_page(page: Page, reader: str = "page", site_cell: SiteCell | None = None) -> list[Draft]:
    """The submissions on a page.

    Args:
        page: the page taken apart.
        reader: the reader's name on the rows.
        site_cell: how the site's cells are read where that differs.

    Returns:
        A draft for each row of a list of submissions (numbered from 1), else one for the page's own submission, else
        none.
    """
    grids = grids_of(page)
    lists = [rows for grid in grids if (rows := _submission_list(grid)) is not None]
    rows = [row for listed in lists for row in listed]
    source = find_source(page)
    detail = _detail(page, grids, reader, site_cell, bool(rows) and _says_all(rows[0], source))
    own = source is not None and (len(rows) <= 1 or (source.hinted and detail.verdict_raw is not None))
    if rows and not own:
        return [_of_row(row, number, reader, site_cell, detail) for number, row in enumerate(rows, start=1)]
    if rows and source is not None:
        detail = _completed(_of_row(rows[0], None, reader, site_cell, None), detail) if len(rows) == 1 else detail
    if source is not None:
        detail.source = source.text
        detail.notes.extend(source.notes)
    if lists and not rows and source is None:
        return []
    _identify(page, detail)
    told = detail.verdict_raw is not None or detail.timestamp_raw is not None
    if source is not None and not (told or source.hinted or looks_like_code(source.text)):
        return []  # a statement's sample, say
    return [detail] if detail.tells_something() else []


def has_empty_list(page: Page) -> bool:
    """Whether a page is a list of submissions in which there is none."""
    if _NO_SUBMISSIONS.search(" ".join(line.text for line in visible_lines(page))):
        return True
    listed = [rows for grid in grids_of(page) if (rows := _submission_list(grid)) is not None]
    return bool(listed) and not any(listed)


def find_source(page: Page) -> Source | None:
    """The source on a page: the longest ``<pre>``, one that names itself source before others; else ``<code>``.

    An editor saved from the screen, which holds its visible lines only, is taken where nothing else is there.
    """
    texts = [(block, code_text(block.inner)) for block in _joined_editor_lines(page.blocks) if block.kind == "pre"]
    best = max((item for item in texts if not _is_gutter(item[1].text)), key=_rank, default=None)
    if best is not None and best[1].text.strip():
        block, code = best
        notes = [*code.notes, *(page.notes if not block.closed else [])]
        return Source(code.text, tuple(notes), _rank(best)[1] >= 1)
    for kind in ("code", "textarea"):
        found = [b for b in page.blocks if b.kind == kind]
        fallback = [code_text(b.inner, preformatted="\n" in b.inner) for b in found]
        if kind == "textarea":
            fallback = [CodeText(html_decoded(b.inner)) for b in found]
        longest = max(fallback, key=lambda code: len(code.text), default=None)
        if longest is not None and _may_be_program(longest.text):
            return Source(longest.text, (*longest.notes, f"source from <{kind}>, as there is no <pre>"), False)
    return None


def _rank(item: tuple[Block, CodeText]) -> tuple[int, int, int]:
    block, code = item
    attrs = block.attrs + " " + " ".join(re.findall(r"\A\s*<code([^<>]*)>", block.inner))
    hint = 2 if _EXACT.search(attrs) else 1 if _HINT.search(attrs) else 0
    if _OTHER.search(attrs):
        hint = -1
    return int(code.whole), hint, len(code.text)


def _is_gutter(text: str) -> bool:
    """Whether a block holds nothing but the numbers 1, 2, 3, ..."""
    numbers = text.split()
    return bool(numbers) and numbers == [str(i + 1) for i in range(len(numbers))]


def _may_be_program(text: str) -> bool:
    return "\n" in text.strip() or (looks_like_code(text) and re.search(r"[;{}=]|\w\(", text) is not None)


def _joined_editor_lines(blocks: Iterable[Block]) -> list[Block]:
    """Blocks, those that hold one line each of an editor (CodeMirror) joined into one."""
    lines: list[str] = []
    others: list[Block] = []
    for block in blocks:
        if "CodeMirror-line" in block.attrs:
            lines.append(block.inner.replace("\u200b", ""))
        else:
            others.append(block)
    if lines:
        others.append(Block("pre", ' class="code"', "\n".join(lines), True))
    return others


def _submission_list(grid: Grid) -> list[ListedRow] | None:
    """The rows of a table of submissions; None where a table is something else."""
    names, rows = listed_rows(grid)
    about = names & {"problem_id", "participant", "submission_id", "timestamp"}
    if "verdict" in names and about - {"submission_id"}:
        # A table of test cases has a number and a result, too.
        return [row for row in rows if "verdict" in row.fields or _links_to_submission(row)]
    if "problem_id" in names and "timestamp" in names:
        return [row for row in rows if "timestamp" in row.fields or _links_to_submission(row)]
    return None


def _links_to_submission(row: ListedRow) -> bool:
    return any(submission_in_link(url) for cell in row.cells for url, _ in cell.links)


def _of_row(row: ListedRow, number: int | None, reader: str, site_cell: SiteCell | None, shared: Draft | None) -> Draft:
    draft = Draft(reader=reader, row=number)
    for name, cell in row.fields.items():
        take_cell(draft, name, cell, site_cell)
    if draft.submission_id is None or not draft.submission_id.isalnum():
        found = next((i for cell in row.cells for url, _ in cell.links if (i := submission_in_link(url))), None)
        data_id = next((cell.attributes["data-id"] for cell in row.cells if cell.attributes.get("data-id")), None)
        draft.submission_id = found or data_id or draft.submission_id
    if shared is not None:
        draft.participant = draft.participant or shared.participant
        draft.problem_id = draft.problem_id or shared.problem_id
        draft.zone = shared.zone
    return draft


def take_cell(draft: Draft, name: FieldName, cell: Cell, site_cell: SiteCell | None = None) -> None:
    """Takes a cell's value into the draft: the id in its link before the name that it shows."""
    if site_cell is not None and site_cell(draft, name, cell):
        return
    if cell.titles and name in ("verdict", "timestamp", "time"):
        _take_title(draft, name, cell)
    id_in = {"problem_id": problem_in_link, "participant": participant_in_link, "submission_id": submission_in_link}
    reads_id = id_in.get(name)
    url = next((url for url, _ in cell.links if reads_id is not None and reads_id(url)), None)
    draft.set(name, cell.text, url)


def _take_title(draft: Draft, name: FieldName, cell: Cell) -> None:
    """Takes a verdict or a time from what stands behind the shown text, where that text does not say it.

    A verdict shown as a picture or a number only; a time shown as "3 hours ago".
    """
    if name == "verdict":
        shown = draft.verdict_raw or cell.text
        if draft.verdict is None and not any(char.isalpha() for char in shown):
            verdict = next((v for title in cell.titles if (v := read_verdict(title, {})[0]) != "UNKNOWN"), None)
            if verdict is not None:
                draft.set("verdict", cell.text or cell.titles[0])
                draft.verdict = verdict
                draft.notes.append(f"verdict {verdict} by what stands behind {cell.text!r}")
    elif draft.timestamp_raw is None and read_time(cell.text, _ANY_ZONE).instant is None:
        title = next((title for title in cell.titles if read_time(title, _ANY_ZONE).instant is not None), None)
        if title is not None:
            draft.set("timestamp", title)
            draft.notes.append(f"time by what stands behind {cell.text[:40]!r}")


def _says_all(row: ListedRow, source: Source | None) -> bool:
    """Whether a row of a list leaves nothing to be looked for in the text around it."""
    wanted: set[FieldName] = {"problem_id", "participant", "verdict", "timestamp"}
    return wanted <= row.fields.keys() and (source is None or "language" in row.fields)


def _detail(page: Page, grids: list[Grid], reader: str, site_cell: SiteCell | None, complete: bool) -> Draft:
    """What a page says of one submission: labelled values in tables, then in lines where more may be said there."""
    draft = Draft(reader=reader)
    for grid in grids:
        for name, cell in labelled_pairs(grid):
            if name != "verdict" or not (draft.verdict_raw or cell.text.casefold() in _ONLY_FINISHED):
                take_cell(draft, name, cell, site_cell)
    for name, line in [] if complete else _labelled_lines(page):
        if name == "verdict" and (draft.verdict_raw is not None or line.text.casefold() in _ONLY_FINISHED):
            continue
        take_cell(draft, name, Cell(line.text, links=line.links))
    return draft


def _labelled_lines(page: Page) -> list[tuple[FieldName, Line]]:
    """``label: value`` in the visible text, also where the value is the next line (``<dt>``, a label of its own)."""
    found: list[tuple[FieldName, Line]] = []
    pending: FieldName | None = None
    for line in visible_lines(page):
        if line.tag in ("td", "th"):
            pending = None
            continue
        parts = labelled_parts(line.text)
        if not parts and line.tag == "dt" and (name := field_of(line.text)) is not None:
            parts = [(name, "")]
        if pending is not None and not parts:
            found.append((pending, line))
        pending = parts[-1][0] if parts and not parts[-1][1] else None
        found.extend((name, Line(value, _within(line.links, value), line.tag)) for name, value in parts if value)
    return found


def _within(links: list[tuple[str, str]], value: str) -> list[tuple[str, str]]:
    """The links that stand in a part of a line."""
    return [(url, text) for url, text in links if text in value]


def _completed(draft: Draft, other: Draft) -> Draft:
    for name in (
        "participant",
        "problem_id",
        "verdict_raw",
        "verdict",
        "language",
        "timestamp_raw",
        "submission_id",
        "zone",
    ):
        if getattr(draft, name) is None:
            setattr(draft, name, getattr(other, name))
    return draft


def _identify(page: Page, draft: Draft) -> None:
    """Id and problem from the page's title and its own address, where nothing else has said them."""
    urls = [*_SAVED_FROM.findall(page.text[:4096])[:1], page.meta.get("og:url", "")]
    urls += [node.attributes.get("href") or "" for node in page.tree.css("link[rel=canonical]")[:1]]
    urls += [node.attributes.get("data-a2a-url") or "" for node in page.tree.css("[data-a2a-url]")[:1]]
    heads = [page.title, page.meta.get("og:title", ""), *(_heads(page))]
    if draft.submission_id is None:
        by_title = next((match[1] for head in heads if (match := _TITLE_ID.search(head))), None)
        draft.submission_id = by_title or next((i for url in urls if (i := submission_in_link(url))), None)
    links = [link.attributes.get("href") or "" for link in page.tree.css("h1 a, h2 a, h3 a")[:20] if _is_about(link)]
    if draft.participant is None:
        draft.participant = next((i for url in links if (i := participant_in_link(url))), None)
    if draft.problem_id is None:
        draft.problem_id = next((i for url in (*urls, *links) if (i := problem_in_link(url))), None)


def _is_about(link: Any) -> bool:
    return link.parent is not None and _ABOUT.search(link.parent.text(deep=True)[:300]) is not None


def _heads(page: Page) -> list[str]:
    return [node.text(deep=True)[:200] for node in page.tree.css("h1, h2, h3, .h1, .h2")[:20]]
