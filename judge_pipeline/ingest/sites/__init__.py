"""Contest sites of which the pages' layout is known, one module a site; each was written against saved pages.

A site's module has ``recognises(page)`` and ``read(page)``. Recognition is by what the page says of itself, not by its
file's name. A page that no module recognises is read by the generic reader.
"""

from __future__ import annotations

from types import ModuleType

from judge_pipeline.ingest.markup import Page


def site_of(page: Page) -> ModuleType | None:
    """The module that recognises the page; None where none does."""
    from judge_pipeline.ingest.sites import atcoder, codeforces, kattis, leetcode, spoj

    return next((site for site in (codeforces, atcoder, leetcode, spoj, kattis) if site.recognises(page)), None)
