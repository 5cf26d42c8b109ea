"""A saved page, taken apart so that code in it cannot disturb it.

Code in ``<pre>`` is cut out of the text before any HTML parser sees it: parsers lose ``#include <map>`` and
``i<n;i++`` where a page holds them raw, and a ``<pre>`` that is never closed swallows what follows. What remains, the
skeleton, is parsed by lexbor (selectolax), after its nesting has been found to be bounded.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from judge_pipeline.ingest.records import UnreadableArtifact

MAX_PAGE_CHARS = 24_000_000
"""Longer pages are set aside."""

MAX_DEPTH = 3000
"""Markup nested deeper is set aside: parsers take time that grows with its square, or crash."""

_REGION = re.compile(r"<(?P<name>pre|xmp|textarea|script|style|noscript|code)(?P<attrs>(?:\s[^<>]*)?)>|<!--", re.I)
_ENDS_CODE = re.compile(
    r"</(?:div|td|tr|table|tbody|body|html|section|article|main|form|center|dd)\s*>|<(?:script|footer|form|/?body)\b[^<>]*>",
    re.I,
)
_DEEPENING = re.compile(
    r"<(/?)(?!(?:br|hr|img|input|meta|link|col|wbr|p|li|td|th|tr|dt|dd|option|tbody|thead)\b)[A-Za-z]"
)
_LOOSE_CELLS = re.compile(r"<(table|tr|td|th|tbody)\b", re.I)

_BEGINS_PAGE = re.compile(
    r"<(?:!doctype\s+html|!--|\?xml|(?:html|head|body|meta|title|link|script|style|table|thead|tbody|tr|td|th|div|pre|p|span|h[1-6]"
    r"|center|ul|ol|li|dl|dt|section|article|main|header|footer|nav|form|font|a|b|br|hr|strong|small)\b[^<>]*>)",
    re.I,
)
_PAGE_TAG = re.compile(
    r"</?(html|head|body|meta|title|table|tr|td|th|div|pre|p|script|link|ul|li|span|a)\b[^<>\n]*>", re.I
)

_KIND_OF = {"pre": "pre", "xmp": "pre", "textarea": "textarea", "code": "code"}


@dataclass(frozen=True, slots=True)
class Block:
    """A place in a page that may hold a source.

    Attributes:
        kind: pre, code or textarea.
        attrs: the tag's attributes as text.
        inner: what stands in it, as the page holds it.
        closed: whether its closing tag is there.
    """

    kind: str
    attrs: str
    inner: str
    closed: bool


@dataclass
class Page:
    """A page taken apart.

    Attributes:
        text: the page's text.
        skeleton: the text without comments, scripts, styles and blocks of code.
        blocks: the blocks, in order.
        scripts: the contents of the scripts, in order.
        notes: what was odd about it.
    """

    text: str
    skeleton: str
    blocks: list[Block]
    scripts: list[str]
    notes: list[str] = field(default_factory=list)

    @cached_property
    def tree(self) -> Any:
        """The skeleton as parsed by lexbor."""
        from selectolax.lexbor import LexborHTMLParser

        skeleton = self.skeleton
        first = _LOOSE_CELLS.search(skeleton)
        if first is not None and first[1].lower() != "table":
            # The head is cut off; without a table around them, cells would be thrown away.
            rows = {"tr": "<table>", "tbody": "<table>"}.get(first[1].lower(), "<table><tr>")
            skeleton = f"{skeleton[: first.start()]}{rows}{skeleton[first.start() :]}"
        return LexborHTMLParser(skeleton)

    @cached_property
    def meta(self) -> dict[str, str]:
        """``name`` or ``property`` of each meta tag, in lower case, and its content; the first of each."""
        found: dict[str, str] = {}
        for node in self.tree.css("meta"):
            attributes = node.attributes
            name = attributes.get("name") or attributes.get("property")
            if name and attributes.get("content"):
                found.setdefault(name.lower(), attributes["content"])
        return found

    @cached_property
    def title(self) -> str:
        """The page's title, on one line."""
        node = self.tree.css_first("title")
        return " ".join(node.text().split()) if node is not None else ""


def open_page(text: str, path: str) -> Page:
    """Takes a page apart.

    Raises:
        UnreadableArtifact: it is too long, or nested too deep to be a page that a contest site made.
    """
    if len(text) > MAX_PAGE_CHARS:
        raise UnreadableArtifact(
            path,
            None,
            f"is a page of {len(text)} characters; more than {MAX_PAGE_CHARS} are not read",
            "save the submission's own page, without attachments",
        )
    page = _apart(text)
    depth = _depth(page.skeleton)
    if depth > MAX_DEPTH:
        raise UnreadableArtifact(
            path, None, f"is nested {depth} tags deep, which no contest site's page is", "save the page again"
        )
    return page


def looks_like_page(text: str) -> bool:
    """Whether a text is HTML: it begins or ends with a tag of a page, or tags make up a good part of its beginning.

    The extension does not count: downloaders save pages as ``.cpp``, and half-saved pages begin anywhere.
    """
    head = text[:20_000].lstrip("\ufeff \t\r\n")
    if _BEGINS_PAGE.match(head):
        return True
    if re.search(r"</(?:html|body)\s*>\s*\Z", text[-300:], re.I):
        return True
    if re.match(r"#{1,6} |---\s*\n|[-*] |\*\*|> |```", head):
        return False  # Markdown, in which tags may stand
    tags = list(_PAGE_TAG.finditer(head))
    names = {tag[1].lower() for tag in tags}
    return len(names) >= 3 and 10 * sum(tag.end() - tag.start() for tag in tags) > len(head)


def _apart(text: str) -> Page:
    kept: list[str] = []
    page = Page(text, "", [], [])
    at = 0
    while (match := _REGION.search(text, at)) is not None:
        kept.append(text[at : match.start()])
        if match[0] == "<!--":
            end = text.find("-->", match.end())
            at = len(text) if end < 0 else end + 3
            continue
        at = _region(text, match, page, kept)
    kept.append(text[at:])
    page.skeleton = "".join(kept)
    return page


def _region(text: str, match: re.Match[str], page: Page, kept: list[str]) -> int:
    """Takes a region out; where the text goes on behind it."""
    name = match["name"].lower()
    if name in ("script", "style", "noscript"):
        end = re.compile(rf"</{name}\s*>", re.I).search(text, match.end())
        inner = text[match.end() : end.start() if end else len(text)]
        if name == "script":
            page.scripts.append(inner)
        return end.end() if end else len(text)
    inner_end, behind, closed = _block_end(text, name, match.end())
    inner = text[match.end() : inner_end]
    if name == "code" and not closed:
        # Not a block then, but a stray tag; what follows is the page.
        return match.end()
    page.blocks.append(Block(_KIND_OF[name], match["attrs"] or "", inner, closed))
    if not closed:
        page.notes.append(f"<{name}> is never closed; the source is what follows it")
    if name == "code":
        kept.append(html.escape(_plain(inner[:300])))
    elif name == "pre":
        kept.append("<br>")
    return behind


def _block_end(text: str, name: str, start: int) -> tuple[int, int, bool]:
    """Where a block's inner text ends, where the page goes on, and whether a closing tag ends it."""
    close = re.compile(rf"</{name}\s*>", re.I)
    end = close.search(text, start)
    while end is not None and _in_quotes(text, start, end, close):
        end = close.search(text, end.end())
    again = re.compile(rf"<{name}(?:\s[^<>]*)?>", re.I).search(text, start, end.start() if end else len(text))
    if end is not None and (again is None or not text[start : again.start()].strip() or name != "pre"):
        return end.start(), end.end(), True
    limit = again.start() if again is not None else len(text)
    cut = _ENDS_CODE.search(text, start, limit)
    stop = cut.start() if cut is not None else limit
    return stop, stop, False


def _in_quotes(text: str, start: int, end: re.Match[str], close: re.Pattern[str]) -> bool:
    """Whether a closing tag stands within a string of raw code: ``puts("</pre>");``."""
    line_start = max(text.rfind("\n", start, end.start()) + 1, start)
    before, behind = text[line_start : end.start()], text[end.end() : end.end() + 200].split("\n", 1)[0]
    if not any(before.count(q) % 2 == 1 and re.match(rf"[^{q}<]*{q}\s*[);,+]", behind) for q in "\"'"):
        return False
    following = close.search(text, end.end())
    upto = following.start() if following is not None else len(text)
    return re.search(r"<pre\b", text[end.end() : upto], re.I) is None


def _plain(inner: str) -> str:
    return html.unescape(re.sub(r"</?[A-Za-z][^<>]*>", "", inner))


def _depth(skeleton: str) -> int:
    """An upper bound of how deep the markup is nested: opened and not yet closed, of the tags that must be closed."""
    depth = deepest = 0
    for match in _DEEPENING.finditer(skeleton):
        depth = max(depth - 1, 0) if match[1] else depth + 1
        deepest = max(deepest, depth)
    return deepest
