"""AtCoder: lists of submissions and pages of one submission, in English and Japanese.

A page as the server sent it prints times with their zone. In a page that a browser saved, a script has turned them into
the time of whoever saved it, without a zone; such times stay unknown. The same browser leaves in ``#submission-code``
only the lines that were on the screen; the whole source is in the block for the copy button.
"""

from __future__ import annotations

from judge_pipeline.ingest.drafts import Draft
from judge_pipeline.ingest.fields import FieldName
from judge_pipeline.ingest.grids import Cell
from judge_pipeline.ingest.markup import Page
from judge_pipeline.ingest.pages import read_page
from judge_pipeline.ingest.verdicts import read_verdict


def recognises(page: Page) -> bool:
    """Whether the page is of AtCoder's present site."""
    if page.meta.get("og:site_name", "").lower() == "atcoder":
        return True
    return "/submissions/" in page.text and "/tasks/" in page.text and "/contests/" in page.text


def read(page: Page) -> list[Draft]:
    """The submissions on the page."""
    return read_page(page, "atcoder", _cell)


def _cell(draft: Draft, name: FieldName, cell: Cell) -> bool:
    if name != "verdict":
        return False
    draft.set("verdict", cell.text)
    if draft.verdict_raw is not None and read_verdict(draft.verdict_raw, {})[0] == "UNKNOWN":
        verdict = next((v for title in cell.titles if (v := read_verdict(title, {})[0]) != "UNKNOWN"), None)
        if verdict is not None:
            draft.verdict = verdict
            draft.notes.append(f"verdict {verdict} by the long form beside it")
    return True
