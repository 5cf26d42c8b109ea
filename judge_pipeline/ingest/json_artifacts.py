"""JSON that holds submissions: dumps of contest sites' APIs, and lists of objects with the usual keys."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from judge_pipeline.ingest import feeds
from judge_pipeline.ingest.drafts import Draft
from judge_pipeline.ingest.fields import field_of
from judge_pipeline.ingest.records import UnreadableArtifact
from judge_pipeline.ingest.sites import aoj, leetcode

_SOURCE_KEYS = ("source_code", "sourceCode", "source", "code", "program")
_LISTS = ("submissions", "submissionRecords", "data", "result", "results", "items", "records")
_NO_SUBMISSIONS = (
    "is JSON, but of no form that holds submissions and is known",
    "export submissions as objects with keys such as problem, user, verdict, language, submitted_at, source_code",
)


def looks_like_json(text: str) -> bool:
    """Whether a text is meant as JSON or as a line of JSON each."""
    return re.match(r"[\ufeff\s]*(?:\{\s*[\"}]|\[\s*[\"{\[\]\d-])", text[:4096]) is not None


def load_json(text: str, path: str) -> tuple[Any, list[str]]:
    """The document, or the list of the documents of a text that holds one a line; and what is to be noted.

    A last line that is cut off is left out and noted, as feeds are saved while they grow.

    Raises:
        UnreadableArtifact: it is no JSON; the place says where.
    """
    try:
        return json.loads(text), []
    except RecursionError:
        raise UnreadableArtifact(path, None, "is JSON nested too deep", "export it anew") from None
    except ValueError as error:
        whole_error = error
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    documents = []
    for number, line in lines:
        try:
            documents.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            if len(documents) < 2:
                raise _no_json(path, whole_error) from None
            if number == lines[-1][0]:
                return documents, [f"line {number}, the last, is cut off"]
            raise UnreadableArtifact(path, f"line {number}", f"is not JSON ({error})", "export it anew") from None
    return documents, []


def read_json(text: str, path: str) -> list[Draft]:
    """The submissions in a JSON text, numbered from 1 where it is a list.

    Raises:
        UnreadableArtifact: it is no JSON, or of a form that is not known.
    """
    document, notes = load_json(text, path)
    drafts = _drafts(document, path)
    for draft in drafts:
        draft.notes.extend(notes)
    return drafts


def _drafts(document: Any, path: str) -> list[Draft]:
    if feeds.is_feed(document):
        return feeds.read_feed(document)
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
