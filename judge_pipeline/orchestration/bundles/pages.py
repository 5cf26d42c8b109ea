"""Whether two report pages are alike but for some of their tables, which one of them may do without."""

from __future__ import annotations

import json
import re
from collections.abc import Collection

_TABLE_DATA = "script#table-data"


def alike_but_for(theirs: str, ours: str, views: Collection[str]) -> bool:
    """Whether two pages are the same once the tables of some views are taken out, with what else tells of them.

    That is what a page saves of them, and its words where a table was not made, which lead to what to run (#missing).

    Args:
        theirs: the one page as HTML.
        ours: the other.
        views: names of the views (``View.name``).
    """
    return _without(theirs, views) == _without(ours, views)


def _without(html: str, views: Collection[str]) -> tuple[str, object]:
    """The page without the tables, and what it saves of the others."""
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(html)
    for table in page.css("[data-table]"):
        if table.attributes["data-table"] in views:
            table.decompose()
    for words in page.css("li, p.empty"):
        if words.css_first("a[href='#missing']") is not None:
            words.decompose()
    saved: object = None
    if (data := page.css_first(_TABLE_DATA)) is not None:
        try:
            saved = json.loads(data.text())
        except ValueError:  # not a page of ours: it is compared as it stands
            return html, None
        if isinstance(saved, dict):
            saved = {name: own for name, own in saved.items() if name not in views}
        data.decompose()
    return re.sub(r"\s+", " ", str(page.html)), saved
