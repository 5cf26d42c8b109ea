"""JSON that holds submissions: dumps of contest sites' APIs, and lists of objects with the usual keys."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from judge_pipeline.ingest import feeds
from judge_pipeline.ingest.column_names import columns_of, tells_submissions
from judge_pipeline.ingest.column_tables import RowReader, TableContext
from judge_pipeline.ingest.drafts import Draft
from judge_pipeline.ingest.fields import field_of
from judge_pipeline.ingest.records import UnreadableArtifact
from judge_pipeline.ingest.sites import aoj, leetcode
from judge_pipeline.settings import ContestSettings

_SOURCE_KEYS = ("source_code", "sourceCode", "source", "code", "program")
_LISTS = ("submissions", "submissionRecords", "data", "result", "results", "items", "records")
_NO_SUBMISSIONS = (
    "is JSON, but of no form that holds submissions and is known",
    "export submissions as objects with keys such as problem, user, verdict, language, submitted_at, source_code",
)


def looks_like_json(text: str) -> bool:
    """Whether a text is meant as JSON or as a line of JSON each."""
    return re.match(r"[\ufeff\s]*(?:\{\s*[\"}]|\[\s*[\"{\[\]\d-])", text[:4096]) is not None


@dataclass(slots=True)
class Loaded:
    """A JSON text as Python objects.

    Attributes:
        document: the document, or the list of the documents of a text that holds one a line.
        lines: the number of the line of each document; None where the text is one document.
        notes: what is to be said of all that it holds.
        aside: the lines that are no JSON.
    """

    document: Any
    lines: list[int] | None = None
    notes: list[str] = field(default_factory=list)
    aside: list[UnreadableArtifact] = field(default_factory=list)


def load_json(text: str, path: str) -> Loaded:
    """The document, or the documents of a text that holds one a line.

    A last line that is cut off is left out and noted, as feeds are saved while they grow. Other lines that are no JSON
    are set aside, as long as most are.

    Raises:
        UnreadableArtifact: it is no JSON; the place says where.
    """
    try:
        return Loaded(json.loads(text))
    except RecursionError:
        raise UnreadableArtifact(path, None, "is JSON nested too deep", "export it anew") from None
    except ValueError as error:
        whole_error = error
    loaded = Loaded([], [])
    documents, numbers = loaded.document, loaded.lines or []
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    for number, line in lines:
        try:
            documents.append(json.loads(line))
            numbers.append(number)
        except (ValueError, RecursionError) as error:
            if number == lines[-1][0]:
                loaded.notes.append(f"line {number}, the last, is cut off")
            else:
                why = f"is not JSON ({error}); it begins {line[:60]!r}"
                loaded.aside.append(UnreadableArtifact(path, f"line {number}", why, "mend or remove the line"))
            if len(loaded.aside) > 3 + len(documents):
                break
    if len(documents) < 2 or len(documents) <= len(loaded.aside):
        raise _no_json(path, whole_error)
    loaded.lines = numbers
    return loaded


def read_json(text: str, context: TableContext) -> Iterator[Draft | UnreadableArtifact]:
    """The submissions in a JSON text, numbered from 1 where it is a list, and the lines that are set aside.

    Raises:
        UnreadableArtifact: it is no JSON, or of a form that is not known.
    """
    loaded = load_json(text, context.path)
    if is_table(loaded, context.settings):
        yield from loaded.aside
        yield from _rows(text, loaded, context)
        return
    if loaded.aside and not feeds.is_feed(loaded.document):
        raise loaded.aside[0]
    yield from loaded.aside
    drafts = _drafts(loaded.document, context.path)
    if loaded.aside:
        missing = ", ".join(str(aside.place) for aside in loaded.aside[:10])
        loaded.notes.append(f"{missing} cannot be read: what it changes is not known")
    for draft in drafts:
        draft.notes.extend(loaded.notes)
    yield from drafts


def is_table(loaded: Loaded, settings: ContestSettings) -> bool:
    """Whether documents are rows of a table: objects one a line, or objects with columns that contest.yaml names."""
    items = loaded.document
    if not isinstance(items, list) or feeds.is_feed(items) or not items or not isinstance(items[0], Mapping):
        return False
    names = _names_in(items)
    mapped = bool(set(settings.columns.values()) & set(names))
    special = any(aoj.is_record(item) for item in items[:20]) or leetcode.is_dump(items)
    return mapped or (loaded.lines is not None and not special and tells_submissions(columns_of(names, {})))


def _names_in(items: list[Any]) -> list[str]:
    """The keys of the first objects, each once, in their order."""
    return list(dict.fromkeys(str(key) for item in items[:200] if isinstance(item, Mapping) for key in item))


def _rows(text: str, loaded: Loaded, context: TableContext) -> Iterator[Draft | UnreadableArtifact]:
    reader = RowReader(_names_in(loaded.document), context)
    for number, (place, item) in enumerate(_numbered(text, loaded), start=1):
        if isinstance(item, Mapping):
            draft = reader.read(number, place, {key: _written(value) for key, value in item.items()})
            if isinstance(draft, Draft):
                draft.notes.extend(loaded.notes)
            yield draft
        else:
            yield UnreadableArtifact(context.path, place, f"is no JSON object: {str(item)[:60]!r}", "write one a row")


def _numbered(text: str, loaded: Loaded) -> Iterator[tuple[str, Any]]:
    """The rows with their places, and numbers as they are written: 1e5 and 1.50 are ids that Python would change."""
    as_written: dict[str, Any] = {"parse_int": str, "parse_float": str, "parse_constant": str}
    if loaded.lines is None:
        for number, item in enumerate(json.loads(text, **as_written), start=1):
            yield f"row {number}", item
        return
    lines = text.split("\n")
    for number, line in enumerate(loaded.lines, start=1):
        yield f"row {number} (line {line})", json.loads(lines[line - 1], **as_written)


def _written(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _drafts(document: Any, path: str) -> list[Draft]:
    if feeds.is_feed(document):
        return feeds.read_feed(document, path)
    if leetcode.is_dump(document):
        return leetcode.read_dump(document)
    if isinstance(document, Mapping):
        if not _is_submission(document):
            inner = next((document[name] for name in _LISTS if isinstance(document.get(name), list)), None)
            if inner is None:
                raise UnreadableArtifact(path, None, *_NO_SUBMISSIONS)
            return _of_list(inner, path)
        return [_draft_of(document)]
    if isinstance(document, list):
        return _of_list(document, path)
    raise UnreadableArtifact(path, None, *_NO_SUBMISSIONS)


def _no_json(path: str, error: ValueError) -> UnreadableArtifact:
    place = f"line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else None
    return UnreadableArtifact(path, place, f"is not JSON ({error})", "export it anew; it may have been cut off")


def _of_list(items: list[Any], path: str) -> list[Draft]:
    if items and not any(_is_submission(item) for item in items):
        raise UnreadableArtifact(path, None, *_NO_SUBMISSIONS)
    drafts = []
    for row, item in enumerate(items, start=1):
        draft = _draft_of(item) if _is_submission(item) else Draft("json", notes=["the entry is no submission"])
        draft.row = row
        drafts.append(draft)
    return drafts


def _is_submission(item: Any) -> bool:
    """Whether an object has the keys of a submission: a source or a verdict, and a problem, id or participant."""
    if aoj.is_record(item):
        return True
    if not isinstance(item, Mapping):
        return False
    names = {field_of(key) for key, value in item.items() if isinstance(key, str) and _scalar(value)}
    told = any(isinstance(item.get(key), str) for key in _SOURCE_KEYS) or "verdict" in names
    return told and bool(names & {"problem_id", "participant", "submission_id"})


def _draft_of(item: Mapping[str, Any]) -> Draft:
    if aoj.is_record(item):
        return aoj.draft_of(item)
    draft = Draft("json")
    draft.source = next((item[key] for key in _SOURCE_KEYS if isinstance(item.get(key), str)), None)
    for key, value in item.items():
        name = field_of(key) if isinstance(key, str) else None
        if name not in (None, "source", "other") and _scalar(value):
            draft.set(name, str(value))
    return draft


def _scalar(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool) and value != ""
