r"""Submissions in plain text and Markdown: front matter, lines ``key: value``, tables, fenced code; and source files.

Where a fence, a separator or a heading marks the source, it is the text between the two line breaks: a fence around
``a\nb`` holds no final newline. Where the source runs to the end of the file, it ends as the file does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from judge_pipeline.ingest.drafts import Draft
from judge_pipeline.ingest.fields import FieldName, field_of, labelled_parts
from judge_pipeline.ingest.markup import open_page
from judge_pipeline.ingest.pages import read_page
from judge_pipeline.ingest.records import UnreadableArtifact
from judge_pipeline.ingest.source_files import draft_of_source_file, is_source_file, looks_like_code

_LABELLED = re.compile(
    r"^[ \t]*(?:[-*+][ \t]+|#{1,6}[ \t]+|>[ \t]*|\d{1,2}[.)][ \t]+)?[*_`【\[]{0,3}"
    r"(?P<label>[^\W\d][^:：|*`\n]{0,40}?)[*_`】\]]{0,3}[ \t]*[:：][*_]{0,2}[ \t]*(?P<value>[^\n]*?)[ \t]*$"
)
_SPACED = re.compile(
    r"^[ \t]*(?P<label>submitted (?:at|on)|(?:judge|submission|problem|user|run)_id|結果|判定|提出日時|問題|言語|参加者"
    r"|提出番号)[ \t　]+(?P<value>\S[^\n]*?)[ \t]*$",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r"^[ \t]*(?:={4,}|-{4,}|[─━═]{4,})[ \t]*$")
_FENCE = re.compile(r"^(?P<indent> {0,3})(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*?)[ \t]*$")
_TABLE_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_NOT_SOURCE = frozenset((
    "text", "txt", "plain", "plaintext", "output", "log", "console", "input", "stdin", "stdout", "stderr",
    "diff", "json", "sh", "shell", "bash",
))  # fmt: skip

_MAX_LINE = 5000

_Code = tuple[int, int, str]
"""A block of code: its first line, the line behind it, and its text."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line with its place in the text; ``end`` is where its line break begins."""

    start: int
    end: int
    text: str


@dataclass(slots=True)
class _Event:
    """A field's value, or a block of code, and the line that it stands on."""

    line: int
    kind: FieldName | Literal["fence"]
    value: str
    info: str = ""


@dataclass(slots=True)
class _Reading:
    """What a text holds: fields and fences in order, lists in tables, the lines that are neither."""

    lines: list[_Line]
    events: list[_Event] = field(default_factory=list)
    listed: list[list[tuple[FieldName, str]]] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)


def read_text(text: str, path: str) -> list[Draft]:
    """The submissions in a text, Markdown or source file.

    Raises:
        UnreadableArtifact: it holds neither a source nor a field of a submission, or is called JSON and is none.
    """
    if path.lower().endswith((".json", ".jsonl", ".ndjson")):
        reason = "is not JSON, although its name says so; JSON that is cut off is not read as text"
        raise UnreadableArtifact(path, None, reason, "save it again, or give it the name of what it is")
    if is_source_file(text, path):
        return [draft_of_source_file(text, path)]
    reading = _read(text)
    drafts = _listed(reading) or _in_html_tables(text, reading, path) or _split(text, reading, path)
    if not drafts:
        raise UnreadableArtifact(
            path,
            None,
            "holds no submission: no source, and no line such as 'Problem: ...' or '結果: ...'",
            "put the source between ``` fences, with 'Problem:', 'Result:' and 'Submitted at:' lines above it",
        )
    return drafts


def _listed(reading: _Reading) -> list[Draft]:
    shared = _shared(reading)
    drafts = []
    for row, values in enumerate(reading.listed, start=1):
        draft = Draft(reader="markdown_list", row=row)
        for name, value in values:
            draft.set(name, value)
        drafts.append(_with_shared(draft, shared))
    return drafts


def _in_html_tables(text: str, reading: _Reading, path: str) -> list[Draft]:
    """The rows of HTML tables in Markdown; who and what all of them are about may stand in the text around."""
    if "<table" not in text.lower() or "<tr" not in text.lower():
        return []
    drafts = [draft for draft in read_page(open_page(text, path), "markdown_list") if draft.row is not None]
    return [_with_shared(draft, _shared(reading)) for draft in drafts]


def _shared(reading: _Reading) -> Draft:
    shared = Draft(reader="")
    for event in reading.events:
        if event.kind in ("participant", "problem_id"):
            shared.set(event.kind, event.value)
    return shared


def _with_shared(draft: Draft, shared: Draft) -> Draft:
    draft.participant = draft.participant or shared.participant
    draft.problem_id = draft.problem_id or shared.problem_id
    return draft


def _read(text: str) -> _Reading:
    reading = _Reading(list(_lines(text)))
    index = _front_matter(reading)
    while index < len(reading.lines):
        index = _fence(text, reading, index) or _table(reading, index) or _labelled(reading, index) or index + 1
    return reading


def _lines(text: str) -> Iterator[_Line]:
    for match in re.finditer(r"([^\r\n]*)(\r\n|\n|\r|\Z)", text):
        if match.start() < len(text):
            yield _Line(match.start(), match.end(1), match[1])


def _front_matter(reading: _Reading) -> int:
    """Reads ``---`` ... ``---`` at the top; the index of the line behind it, or 0."""
    lines = reading.lines
    if not lines or lines[0].text.strip() != "---":
        return 0
    for end in range(1, min(len(lines), 200)):
        if lines[end].text.strip() in ("---", "..."):
            for index in range(1, end):
                _labelled(reading, index)
            reading.taken.update(range(end + 1))
            return end + 1
    return 0


def _fence(text: str, reading: _Reading, index: int) -> int | None:
    """Reads a fenced block; the index of the line behind it."""
    lines = reading.lines
    opening = _FENCE.match(lines[index].text)
    if opening is None:
        return None
    mark = opening["mark"]
    closing = re.compile(rf"^ {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")
    end = next((i for i in range(index + 1, len(lines)) if closing.match(lines[i].text)), None)
    if end is None:
        if index + 1 >= len(lines):
            return None
        source, behind = text[lines[index + 1].start :], len(lines)
        reading.notes.append("the last fence is never closed; the source runs to the end of the file")
    else:
        source = text[lines[index + 1].start : lines[end - 1].end] if end > index + 1 else ""
        behind = end + 1
    reading.events.append(_Event(index, "fence", source, opening["info"].strip().split(" ")[0].lower()))
    reading.taken.update(range(index, behind))
    return behind


def _labelled(reading: _Reading, index: int) -> int | None:
    """Reads a line ``key: value``; the index of the next line."""
    text = reading.lines[index].text
    if len(text) > _MAX_LINE:
        return None
    for pattern in (_LABELLED, _SPACED):
        match = pattern.match(text)
        name = field_of(match["label"]) if match else None
        if match is None or name is None:
            continue
        parts = labelled_parts(f"{match['label']}: {match['value']}")
        reading.events.extend(_Event(index, part, _plain(value)) for part, value in parts)
        reading.taken.add(index)
        return index + 1
    return None


def _plain(value: str) -> str:
    """A value without Markdown and quotes; a link stays, since its target may hold the id."""
    value = value.strip()
    for mark in ("**", "__", "`", '"', "'", "*"):
        if len(value) > 2 * len(mark) and value.startswith(mark) and value.endswith(mark):
            value = value[len(mark) : -len(mark)].strip()
    return value


def _table(reading: _Reading, index: int) -> int | None:
    """Reads a Markdown table: a list of submissions, one submission in a row, or fields in two columns."""
    lines = reading.lines
    if index + 1 >= len(lines) or "|" not in lines[index].text or not _TABLE_RULE.match(lines[index + 1].text):
        return None
    end = index + 2
    while end < len(lines) and len(lines[end].text) <= _MAX_LINE and "|" in lines[end].text:
        end += 1
    head, *rows = [_cells(lines[i].text) for i in (index, *range(index + 2, end))]
    names = [field_of(cell) for cell in head]
    if sum(name not in (None, "other") for name in names) >= 2 and "verdict" in names and rows:
        listed = [[(n, c) for n, c in zip(names, row, strict=False) if n is not None and c] for row in rows]
        if len(rows) > 1:
            reading.listed.extend(listed)
        else:
            reading.events.extend(_Event(index + 2, name, cell) for name, cell in listed[0])
    else:
        pairs = [row for row in (head, *rows) if len(row) == 2]
        named = [(field_of(label), value) for label, value in pairs]
        reading.events.extend(_Event(index, name, value) for name, value in named if name is not None and value)
    reading.taken.update(range(index, end))
    return end


def _cells(line: str) -> list[str]:
    inside = line.strip().removeprefix("|")
    if inside.endswith("|") and not inside.endswith("\\|"):
        inside = inside[:-1]
    return [_plain(cell.replace("\\|", "|")) for cell in re.split(r"(?<!\\)\|", inside)]


def _split(text: str, reading: _Reading, path: str) -> list[Draft]:
    """One draft for each submission in the text."""
    groups = _groups(reading.events)
    if len(groups) > 1:
        shared, *own = groups if not _fences(groups[0]) else ([], *groups)
        drafts = [_draft_of([*group, *shared], reading) for group in own]
        for row, draft in enumerate(drafts, start=1):
            # Who and what it is about is said once, above the first of them.
            drafts[row - 1] = _with_shared(draft, drafts[row - 2]) if row > 1 else draft
            draft.row = row
        return drafts
    if _fences(reading.events):
        return [_draft_of(reading.events, reading)]
    code = _unfenced(text, reading)
    inside = range(0) if code is None else range(code[0], code[1])
    draft = _draft_of([event for event in reading.events if event.line not in inside], reading)
    draft.source = None if code is None else code[2]
    if draft.source is not None and len(draft.source) == len(text):
        draft = draft_of_source_file(text, path)
    if draft.source is not None and not any(e.kind == "source" and not e.value for e in reading.events):
        draft.notes.append("the source is taken by its look: no fence or label says where it begins")
    return [draft] if draft.tells_something() else []


def _fences(events: list[_Event]) -> list[_Event]:
    return [event for event in events if event.kind == "fence"]


def _groups(events: list[_Event]) -> list[list[_Event]]:
    """The events by submission, where each of several has its own fields above its own code; else all in one group.

    A new submission begins at the first field behind a code block where its verdict or id has been given before.
    """
    groups: list[list[_Event]] = [[]]
    fenced = False
    for event in events:
        if event.kind != "fence" and fenced:
            groups.append([])
        fenced = event.kind == "fence"
        groups[-1].append(event)
    full = [g for g in groups if any(e.kind == "verdict" for e in g) and _fences(g)]
    if len(full) < 2:
        return [events]
    tail = [g for g in groups if g not in full]
    # A group without code or verdict in between would be lost; then the text is not of this form.
    return full if not tail else ([groups[0], *full] if tail == [groups[0]] else [events])


def _draft_of(events: list[_Event], reading: _Reading) -> Draft:
    draft = Draft(reader="text", notes=list(reading.notes))
    for event in events:
        if event.kind != "fence":
            draft.set(event.kind, event.value)
    fences = _fences(events)
    if fences:
        best = max(fences, key=lambda e: (e.info not in _NOT_SOURCE, len(e.value)))
        draft.source = best.value
        draft.language = draft.language or best.info or None
        if len(fences) > 1:
            draft.notes.append(f"{len(fences) - 1} other fenced block(s) passed over")
    return draft


def _unfenced(text: str, reading: _Reading) -> _Code | None:
    """The source in a text without fences: behind a line ``Source:``, else the longest block that looks like code."""
    labels = [e.line for e in reading.events if e.kind == "source" and not e.value]
    if labels:
        return _block(text, reading.lines, labels[0] + 1)
    starts = [0, *(i + 1 for i, line in enumerate(reading.lines) if _SEPARATOR.match(line.text))]
    blocks = [_block(text, reading.lines, _behind_head(reading, start)) for start in starts]
    code = [block for block in blocks if block is not None and looks_like_code(block[2])]
    return max(code, key=lambda block: len(block[2]), default=None)


def _behind_head(reading: _Reading, start: int) -> int:
    """The first line from ``start`` behind the fields and labelled lines at the head of a block."""
    lines = reading.lines
    index, head = start, start
    while index < len(lines) and index - start < 60:
        text = lines[index].text
        labelled = index in reading.taken or re.match(r"^[A-Za-z_][\w ]{0,30}:\s+\S", text) is not None
        if labelled:
            head = index + 1
        elif text.strip():
            break
        index += 1
    return head


def _block(text: str, lines: list[_Line], start: int) -> _Code | None:
    """The lines from ``start`` to the next separator, without one blank line before; None where all are blank."""
    if start < len(lines) and not lines[start].text.strip():
        start += 1
    if start >= len(lines):
        return None
    end = next((i for i in range(start, len(lines)) if _SEPARATOR.match(lines[i].text)), None)
    if end == start:
        return None
    block = text[lines[start].start :] if end is None else text[lines[start].start : lines[end - 1].end]
    return (start, len(lines) if end is None else end, block) if block.strip() else None
