"""Codeforces: status lists and pages of one submission, in English and Russian.

Times are in the zone that the page states: a meta tag ``utc_offset`` and the server's time in the footer, ``UTC+3``
behind each time on newer ones. The verdict's class tells where its words do not (they change for holidays).
"""

from __future__ import annotations

import re

from judge_pipeline.ingest.drafts import Draft
from judge_pipeline.ingest.fields import FieldName
from judge_pipeline.ingest.grids import Cell
from judge_pipeline.ingest.markup import Page
from judge_pipeline.ingest.pages import read_page
from judge_pipeline.ingest.times import fixed_zone
from judge_pipeline.ingest.verdicts import read_verdict

_SERVER_TIME = re.compile(r"Server time:.{0,300}?UTC\s*([+-]\d{1,2}(?::\d\d|\.5)?)", re.S)


def recognises(page: Page) -> bool:
    """Whether the page is of Codeforces: it names itself so, or holds that site's source block and links."""
    names = f"{page.meta.get('og:site_name', '')} {page.title}".lower()
    return "codeforces" in names or ("program-source-text" in page.text and "/problem/" in page.text)


def read(page: Page) -> list[Draft]:
    """The submissions on the page."""
    drafts = read_page(page, "codeforces", _cell)
    offset = page.meta.get("utc_offset") or next(iter(_SERVER_TIME.findall(page.text[-20_000:])), None)
    zone = fixed_zone(f"UTC{offset}", "the page's own zone") if offset else None
    for draft in drafts:
        draft.zone = zone
    return drafts


def _cell(draft: Draft, name: FieldName, cell: Cell) -> bool:
    if name != "verdict":
        return False
    draft.set("verdict", cell.text)
    if draft.verdict_raw is not None and read_verdict(draft.verdict_raw, {})[0] == "UNKNOWN":
        known = {"verdict-accepted": "AC", "verdict-waiting": "PENDING"}
        draft.verdict = next((known[c] for c in cell.classes if c in known), None)
        if draft.verdict is not None:
            draft.notes.append(f"verdict {draft.verdict} by the page's markup, not by its words")
    return True
