"""A saved page, taken apart so that code in it cannot disturb it.

Code in ``<pre>`` is cut out of the text before any HTML parser sees it: parsers lose ``#include <map>`` and
``i<n;i++`` where a page holds them raw, and a ``<pre>`` that is never closed swallows what follows. What remains, the
skeleton, is parsed by lexbor (selectolax), after its nesting has been found to be bounded.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

from judge_pipeline.ingest.records import UnreadableArtifact

MAX_PAGE_CHARS = 24_000_000
"""Longer pages are set aside."""

MAX_BLOCKS = 20_000
"""Of more blocks of code on a page the further ones are not looked at."""

MAX_DEPTH = 3000
"""Markup nested deeper is set aside: parsers take time that grows with its square, or crash."""

_REGION = re.compile(r"<(?P<name>pre|xmp|textarea|script|style|noscript|code)(?P<attrs>(?:\s[^<>]*)?)>|<!--", re.I)
_ENDS_CODE = (
    r"</(?:div|td|tr|table|tbody|body|html|section|article|main|form|center|dd)\s*>"
    r"|<(?:script|footer|form|/?body)\b[^<>]*>"
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

_IN_QUOTES = re.compile(r"\"[^\"\n]*\"|(?<=[(=,+\[\s])'[^'\n]*'")
_LINES_OF_PAGE = re.compile(
    r"^[ \t]*</?(td|tr|table|div|script|pre|span|form|ul|li|body|head|th|tbody)\b[^<>\n]*>", re.I | re.M
)
_TAGS_OF_SOURCE = re.compile(r"<pre[\s>]", re.I)
_MOST_PAGE_LINES = 400
_CUT_TAG = re.compile(r"</?[A-Za-z]?[^<>]*\Z")

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
    page = _Taker(text).apart()
    # As many tags as that must be there at all before they can be nested so deep.
    depth = _depth(page.skeleton) if page.skeleton.count("<") > MAX_DEPTH else 0
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
    head = _IN_QUOTES.sub("", head)  # a program that prints a page has its tags in strings
    tags = list(_PAGE_TAG.finditer(head))
    names = {tag[1].lower() for tag in tags}
    if len(names) >= 3 and 10 * sum(tag.end() - tag.start() for tag in tags) > len(head):
        return True
    return _is_rest_of_page(text)


def _is_rest_of_page(text: str) -> bool:
    """Whether a text is the rest of a page whose beginning is cut off, maybe within a script: many lines begin with its
    tags, and a ``<pre>`` is there."""
    if _TAGS_OF_SOURCE.search(text) is None:
        return False
    lines = [match[1].lower() for match in islice(_LINES_OF_PAGE.finditer(text), _MOST_PAGE_LINES)]
    return len(lines) >= 5 and len(set(lines)) >= 3


class _Taker:
    """Takes a text apart from its beginning to its end, once: each place is looked for from one list of places."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.page = Page(text, "", [], [])
        self.kept: list[str] = []
        self._places: dict[str, tuple[list[int], list[int]]] = {}

    def apart(self) -> Page:
        at = 0
        while (match := _REGION.search(self.text, at)) is not None:
            self.kept.append(self.text[at : match.start()])
            if match[0] == "<!--":
                end = self.text.find("-->", match.end())
                at = len(self.text) if end < 0 else end + 3
            else:
                at = self._region(match)
        self.kept.append(self.text[at:])
        skeleton = "".join(self.kept)
        cut = skeleton.rfind("<")
        # A tag that the file ends within would be shown as text.
        self.page.skeleton = skeleton[:cut] if cut >= 0 and _CUT_TAG.match(skeleton, cut) else skeleton
        return self.page

    def _region(self, match: re.Match[str]) -> int:
        """Takes a region out; where the text goes on behind it."""
        name = match["name"].lower()
        if name in ("script", "style", "noscript"):
            start, end = self._next(rf"</{name}\s*>", match.end())
            if name == "script":
                self.page.scripts.append(self.text[match.end() : start])
            return end
        if name == "pre" and re.compile(r"\s{0,200}<pre[\s>]", re.I).match(self.text, match.end()):
            return match.end()  # only a wrapper around the block itself
        stop, behind, closed = self._block_end(name, match.end())
        inner = self.text[match.end() : stop]
        if name == "code" and not closed:
            # Not a block then, but a stray tag; what follows is the page.
            return match.end()
        if len(self.page.blocks) < MAX_BLOCKS:
            self.page.blocks.append(Block(_KIND_OF[name], match["attrs"] or "", inner, closed))
        if not closed and len(self.page.notes) < 10:
            self.page.notes.append(f"<{name}> is never closed; the source is what follows it")
        if name == "code":
            self.kept.append(html.escape(_plain(inner[:300])))
        elif name == "pre":
            self.kept.append("<br>")
        return behind

    def _block_end(self, name: str, start: int) -> tuple[int, int, bool]:
        """Where a block's inner text ends, where the page goes on, and whether a closing tag ends it."""
        length = len(self.text)
        close = rf"</{name}\s*>"
        end, behind = self._next(close, start)
        again, _ = self._next(rf"<{name}(?:\s[^<>]*)?>", start)
        while end < min(again, length) and self._in_quotes(start, end, behind):
            end, behind = self._next(close, behind)
        if end < length and not (name == "pre" and again < end):
            return end, behind, True
        cut, _ = self._next(_ENDS_CODE, start)
        stop = min(cut, again, length)
        return stop, stop, False

    def _in_quotes(self, start: int, end: int, behind: int) -> bool:
        """Whether a closing tag stands within a string of raw code: ``puts("</pre>");``."""
        line_start = max(self.text.rfind("\n", max(start, end - 500), end) + 1, start, end - 500)
        before, after = self.text[line_start:end], self.text[behind : behind + 200].split("\n", 1)[0]
        return any(before.count(q) % 2 == 1 and re.match(rf"[^{q}<]*{q}\s*[);,+]", after) for q in "\"'")

    def _next(self, pattern: str, start: int) -> tuple[int, int]:
        """Where the next match of a pattern begins and ends; the text's length where there is none."""
        if pattern not in self._places:
            found = [match.span() for match in re.finditer(pattern, self.text, re.I)]
            self._places[pattern] = [begin for begin, _ in found], [end for _, end in found]
        begins, ends = self._places[pattern]
        index = bisect_left(begins, start)
        return (begins[index], ends[index]) if index < len(begins) else (len(self.text), len(self.text))


def _plain(inner: str) -> str:
    return html.unescape(re.sub(r"</?[A-Za-z][^<>]*>", "", inner))


def _depth(skeleton: str) -> int:
    """An upper bound of how deep the markup is nested: opened and not yet closed, of the tags that must be closed."""
    depth = deepest = 0
    for match in _DEEPENING.finditer(skeleton):
        depth = max(depth - 1, 0) if match[1] else depth + 1
        deepest = max(deepest, depth)
    return deepest
