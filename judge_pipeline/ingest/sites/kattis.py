"""Kattis: a user's list of submissions, the list on a problem's page, and rows of either.

Cells are told by their ``data-type``, so a fragment without headings reads as well. A row of test cases stands below
each submission and says nothing more of it. On a problem's page, only the link to the user's own list says whose
submissions these are and of which problem.
"""

from __future__ import annotations

import re
from typing import Any

from judge_pipeline.ingest.drafts import Draft
from judge_pipeline.ingest.fields import FieldName
from judge_pipeline.ingest.links import participant_in_link, problem_in_link, submission_in_link
from judge_pipeline.ingest.markup import Page
from judge_pipeline.ingest.pages import find_source

_ROW = re.compile(r"<tr\b[^<>]*\bdata-submission-id=", re.I)
_OWN_LIST = re.compile(r"/users/(?P<user>[^/]+)/submissions/(?P<problem>[A-Za-z0-9._-]+)/?(?:\?|#|$)")
_FIELDS: tuple[tuple[str, FieldName], ...] = (
    ("time", "timestamp"), ("date", "timestamp"), ("status", "verdict"), ("lang", "language"),
)  # fmt: skip


def recognises(page: Page) -> bool:
    """Whether the page holds Kattis' rows of submissions."""
    return _ROW.search(page.text) is not None and 'data-type="status"' in page.text and "is-status" in page.text


def read(page: Page) -> list[Draft]:
    """The submissions on the page; the source goes to its submission where the page holds one of each."""
    rows = page.tree.css("tr[data-submission-id]")
    drafts = [_draft_of(row, number) for number, row in enumerate(rows, start=1)]
    user, problem = _of_page(page)
    for draft in drafts:
        draft.participant = draft.participant or user
        draft.problem_id = draft.problem_id or problem
    source = find_source(page) if len(drafts) == 1 else None
    if source is not None and source.hinted:
        drafts[0].row = None
        drafts[0].source = source.text
        drafts[0].notes.extend(source.notes)
    return drafts


def _draft_of(row: Any, number: int) -> Draft:
    draft = Draft(reader="kattis", row=number)
    cells = {cell.attributes.get("data-type") or "": cell for cell in row.css("td")}
    urls = [url for link in row.css("a") if (url := link.attributes.get("href"))]
    linked = next((found for url in urls if (found := submission_in_link(url))), None)
    draft.submission_id = row.attributes.get("data-submission-id") or linked
    draft.participant = next((found for url in urls if (found := participant_in_link(url))), None)
    for kind, name in _FIELDS:
        if kind in cells:
            draft.set(name, _shown(cells[kind]))
    if "problem" in cells:
        link = cells["problem"].css_first("a[href]")
        draft.set("problem_id", _shown(cells["problem"]), link.attributes.get("href") if link is not None else None)
    else:
        draft.problem_id = next((found for url in urls if (found := problem_in_link(url))), None)
    return draft


def _of_page(page: Page) -> tuple[str | None, str | None]:
    """The user and the problem of the user's own list that the page links to; None where it links to several."""
    found = {
        (match["user"], match["problem"])
        for link in page.tree.css("a[href]")
        if (match := _OWN_LIST.search(link.attributes.get("href") or ""))
    }
    return found.pop() if len(found) == 1 else (None, None)


def _shown(cell: Any) -> str:
    return " ".join(cell.text(deep=True, separator=" ").split())
