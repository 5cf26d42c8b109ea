"""SPOJ: status lists, whole or a fragment that begins in the middle of a row.

Cells are told by their class, so a fragment without headings reads as well. A bare number is the score of a scored
problem; the result is then the code in the cell's ``status`` attribute. Times have no zone.
"""

from __future__ import annotations

import re
from typing import Any

from judge_pipeline.ingest.drafts import Draft
from judge_pipeline.ingest.links import participant_in_link, problem_in_link
from judge_pipeline.ingest.markup import Page

_BY_STATUS = {
    "15": "AC", "14": "WA", "13": "TLE", "12": "RE", "11": "CE", "20": "IE",
    **dict.fromkeys(("0", "1", "2", "3", "4", "5", "6", "7"), "PENDING"),
}  # fmt: skip
"""The ``status`` attribute of a result cell; below 10 it is not judged yet."""


def recognises(page: Page) -> bool:
    """Whether the page is a status list of SPOJ."""
    return "statusres_" in page.text and "sproblem" in page.text


def read(page: Page) -> list[Draft]:
    """The submissions on the page; a row that the file begins or ends within is read as far as its result is there."""
    drafts: list[Draft] = []
    for result in page.tree.css("td.statusres"):
        draft = Draft(reader="spoj", row=len(drafts) + 1)
        cells = {
            name: cell for cell in result.parent.css("td") for name in (cell.attributes.get("class") or "").split()
        }
        draft.submission_id = (result.attributes.get("id") or "").removeprefix("statusres_") or None
        draft.participant = _id(cells.get("suser"), participant_in_link)
        draft.problem_id = _id(cells.get("sproblem"), problem_in_link)
        draft.language = _shown(cells.get("slang"))
        draft.timestamp_raw = _shown(cells.get("status_sm"))
        _take_result(draft, result)
        drafts.append(draft)
    return drafts


def _id(cell: Any, read_id: Any) -> str | None:
    link = cell.css_first("a") if cell is not None else None
    return (read_id(link.attributes.get("href") or "") or _shown(cell)) if link is not None else _shown(cell)


def _shown(cell: Any) -> str | None:
    return (" ".join(cell.text(deep=True, separator=" ").split()) or None) if cell is not None else None


def _take_result(draft: Draft, cell: Any) -> None:
    """The result's words without the links for editing beside them."""
    for beside in cell.css("span.small"):
        note = next((a.attributes["note"] for a in beside.css("[note]") if a.attributes.get("note")), "")
        at = re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", note)
        if at is not None and draft.timestamp_raw is None:
            draft.timestamp_raw = at[0]
        beside.decompose()
    draft.verdict_raw = _shown(cell)
    if draft.verdict_raw is not None and re.fullmatch(r"\d+(?:\.\d+)?", draft.verdict_raw):
        draft.verdict = _BY_STATUS.get((cell.attributes.get("status") or "").strip(), "UNKNOWN")
        draft.notes.append("the result is a score; the verdict is by the cell's status code")
