r"""The source inside a ``<pre>``: tags that are markup taken away, code that looks like tags left alone, decoded once.

Saved pages hold code in three ways, and a block says itself which one it is:

- *encoded*: every ``<`` of the code is ``&lt;``; all tags are markup (highlighting), all entities are decoded;
- *raw*: a downloader wrote the code as it was; a ``<`` that belongs to no pair of known tags gives it away. Then only
  tags with attributes are markup, and an entity is decoded only where its character does not stand in the block as it
  is (a block with raw ``&&`` that holds ``&#39;`` but no ``'`` had its apostrophes escaped and nothing else);
- *line by line*: each line in an element of its own (``<li>``, ``<tr>``, ``<div>``), with line numbers beside it.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

_TAG = re.compile(r"<(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9-]*)(?P<attrs>(?:\s[^<>]{0,2000})?)(?P<slash>/?)>")
_ATTRS = re.compile(r"""(?:\s+[A-Za-z_:@][\w:.@-]*(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+))?)*\s*""")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_BARE_AMPERSAND = re.compile(r"&(?!(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)")

_VOID = frozenset(("br", "wbr", "hr", "img", "input", "col"))
_LINES = frozenset(("li", "tr", "div", "p"))
_DROPPED = frozenset(("button", "svg", "script", "style", "textarea", "clipboard-copy"))
_KNOWN = _VOID | _LINES | _DROPPED | frozenset((
    "span", "a", "b", "i", "em", "strong", "font", "u", "s", "code", "ol", "ul", "table", "tbody", "thead", "td", "th",
    "ins", "del", "mark", "sub", "sup", "small", "big", "tt", "kbd", "var", "samp", "pre", "label", "section", "nobr",
    "colgroup", "figure", "article", "path", "cite", "abbr", "center",
))  # fmt: skip

_INLINE = _KNOWN - _VOID - _LINES - _DROPPED

_GUTTER = re.compile(
    r"(?:ln|lno|num|lineno|linenos|(?:[\w-]*[-_])?(?:lineno|linenos|line-?num(?:ber)?s?|gutter|ln-num(?:ber)?s?|ln-n|blob-num"
    r"|row-?num(?:ber)?s?)(?:[-_][\w-]*)?)",
    re.I,
)
"""A class that a line number's element bears, as a whole word."""
_CLASS = re.compile(r"""\bclass\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.I)
_COPY = re.compile(r"copy|clipboard|\bbtn\b|toolbar", re.I)
_NUMBERS = re.compile(r"[\s\d.:|]*")

_ACE_LINE = re.compile(r"<div[^<>]*\bace_line\b[^<>]*>(.*?)</div>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class CodeText:
    """The source in a block.

    Attributes:
        text: the source.
        notes: what was taken away or could not be told.
        whole: whether all of it is there; an editor saved from the screen holds the visible lines only.
    """

    text: str
    notes: tuple[str, ...] = ()
    whole: bool = True


@dataclass(slots=True)
class _Tag:
    start: int
    end: int
    name: str
    closing: bool
    attrs: str
    partner: int | None = None
    markup: bool = False


def code_text(inner: str, *, preformatted: bool = True) -> CodeText:
    r"""The source in a block's raw inner text.

    Args:
        inner: what stands between ``<pre>`` and ``</pre>``, as the page holds it. One line break right behind the
            opening tag is not content (HTML Standard, 13.2.6.4.7); line ends are kept as they are.
        preformatted: whether line breaks in it count (``<pre>``), or only ``<br>`` makes lines (``<code>`` elsewhere).
    """
    if editor_lines := _ACE_LINE.findall(inner):
        lines = [code_text(line).text for line in editor_lines]
        return CodeText(
            "\n".join(lines), ("the editor was saved from the screen: only its visible lines are there",), False
        )
    inner = _unwrapped(re.sub(r"\A(?:\r\n|\n|\r)", "", inner))
    plain = _without_inline_markup(inner) if preformatted else None
    if plain is not None:
        return _numberless(html_decoded(plain) if not _BARE_AMPERSAND.search(plain) else _decoded_raw(plain, plain), [])
    tags = _tags(inner)
    rest = _without(inner, tags)
    raw = "<" in rest
    if raw:
        # A downloader's page: highlighting has attributes, what has none is code that looks like a tag.
        for tag in tags:
            opening = tags[tag.partner] if tag.closing and tag.partner is not None else tag
            tag.markup = tag.partner is not None and bool(opening.attrs.strip())
        rest = _without(inner, tags)
    strict = not raw and not _BARE_AMPERSAND.search(rest)
    text, notes = _assembled(inner, tags, preformatted)
    return _numberless(html_decoded(text) if strict else _decoded_raw(text, rest), notes)


def _numberless(decoded: str, notes: list[str]) -> CodeText:
    numberless = without_line_numbers(decoded)
    if numberless is not None:
        notes = [*notes, "line numbers removed"]
        decoded = numberless
    return CodeText(decoded, tuple(dict.fromkeys(notes)))


def _without_inline_markup(inner: str) -> str | None:
    """What most blocks are, fast: a text in which all that looks like a tag is paired and only highlights.

    None where anything else is in it (raw ``<``, lines in elements, gutters, buttons), which takes a closer look.
    """
    pieces = _TAG.split(inner)
    text = "".join(pieces[::5])
    names = set(pieces[2::5])
    if "<" in text or not names <= _INLINE or not all(map(_highlights_only, set(pieces[3::5]))):
        return None
    steps = [(name, -1 if close else 1) for close, name in zip(pieces[1::5], pieces[2::5], strict=True)]
    for name in names:
        depths = list(accumulate(step for of, step in steps if of == name))
        if min(depths) < 0 or depths[-1] != 0:
            return None
    return text


def html_decoded(text: str) -> str:
    """The text with its entities decoded once; only those that end in a semicolon, as code is full of ``&``."""
    ampersands = text.count("&")
    if not ampersands:
        return text
    if ampersands == sum(text.count(entity) for entity, _ in _FREQUENT):
        # Nothing but these: replaced one after the other, the ampersand last, none is decoded twice.
        for entity, char in _FREQUENT:
            text = text.replace(entity, char)
        return text
    return _ENTITY.sub(_decoded_entity, text)


_FREQUENT = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#39;", "'"), ("&#x27;", "'"), ("&amp;", "&"))


def _decoded_entity(match: re.Match[str]) -> str:
    return _unescaped(match[0])


_unescaped = lru_cache(maxsize=4096)(html.unescape)
"""Blocks hold few entities many times."""


def without_line_numbers(text: str) -> str | None:
    """The text without a gutter, where each of its lines (at least three) begins with its number; else None."""
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines = lines[:-1]
    found = [re.match(r"[ \t]*(\d{1,6})(?=$|[^\w])", line) for line in lines]
    if len(lines) < 3 or any(m is None or int(m[1]) != i for i, m in enumerate(found, start=1)):
        return None
    rests = [line[m.end() :] for line, m in zip(lines, found, strict=True) if m is not None]
    separated = _without_separator([m.end() for m in found if m is not None], rests)
    return None if separated is None else "\n".join(separated) + ("\n" if text.endswith("\n") else "")


def _without_separator(widths: list[int], rests: list[str]) -> list[str] | None:
    """What is behind line numbers and what separates them from the code; None where nothing common does."""
    filled = [(width, rest) for width, rest in zip(widths, rests, strict=True) if rest.strip()]
    if not filled:
        return None
    for separator in (r"[ \t]*(?:[|│:][ \t]?|[.)][ \t])", r"\t"):
        if all(re.match(separator, rest) for _, rest in filled):
            return [re.sub(rf"\A(?:{separator})", "", rest, count=1) for rest in rests]
    if not all(rest.startswith(" ") for _, rest in filled):
        return None
    # Numbers set to one width: the code begins in one column. Else one and the same run of blanks follows each.
    blanks = [len(rest) - len(rest.lstrip(" ")) for _, rest in filled]
    column = min(width + blank for (width, _), blank in zip(filled, blanks, strict=True))
    aligned = len(set(widths)) == 1 or column >= max(widths) + 1
    if aligned:
        return [rest[max(column - width, 0) :] for width, rest in zip(widths, rests, strict=True)]
    fewest = min(blanks)
    return [rest[fewest:] for rest in rests]


def _unwrapped(inner: str) -> str:
    """The inner text without ``<code>`` elements that only wrap it."""
    for _ in range(4):
        match = re.fullmatch(r"\s*(?:<span></span>)?<(code|samp|tt)(?:\s[^<>]*)?>(.*)</\1\s*>\s*", inner, re.S | re.I)
        if match is None or re.search(rf"</{match[1]}\s*>", match[2], re.I):
            return inner
        inner = match[2]
    return inner


def _tags(inner: str) -> list[_Tag]:
    """What has the form of a known tag, paired; pairs and void elements are taken for markup."""
    tags: list[_Tag] = []
    open_by_name: dict[str, list[int]] = {}
    for match in _TAG.finditer(inner):
        close, name, attrs, _ = match.groups()
        name = name.lower()
        if name not in _KNOWN or not (attrs == "" or _are_attributes(attrs)):
            continue
        index = len(tags)
        tag = _Tag(match.start(), match.end(), name, close == "/", attrs)
        tags.append(tag)
        if name in _VOID:
            tag.markup = not tag.closing
        elif not tag.closing:
            open_by_name.setdefault(name, []).append(index)
        elif open_by_name.get(name):
            tag.partner = open_by_name[name].pop()
            tags[tag.partner].partner = index
            tag.markup = tags[tag.partner].markup = True
    return tags


def _without(inner: str, tags: list[_Tag]) -> str:
    parts, at = [], 0
    for tag in tags:
        if tag.markup:
            parts.append(inner[at : tag.start])
            at = tag.end
    parts.append(inner[at:])
    return "".join(parts)


def _decoded_raw(text: str, rest: str) -> str:
    """Decodes the entities of which the character does not stand in the block as it is."""
    bare_ampersand = _BARE_AMPERSAND.search(rest) is not None

    def decode(match: re.Match[str]) -> str:
        char = html.unescape(match[0])
        stands = bare_ampersand if char == "&" else char in rest
        return match[0] if stands else char

    return _ENTITY.sub(decode, text)


def _assembled(inner: str, tags: list[_Tag], preformatted: bool) -> tuple[str, list[str]]:
    """The text without markup, gutters and buttons; elements that hold a line each are joined by line breaks."""
    out = _Assembly(preformatted)
    at, skip_to = 0, -1
    for index, tag in enumerate(tags):
        if not tag.markup or index <= skip_to:
            continue
        out.add(inner[at : tag.start])
        at = tag.end
        if tag.name in _VOID:
            out.add_break(tag.name)
        elif not tag.closing and tag.partner is not None:
            note = _why_dropped(tag, inner, tags[tag.partner].start)
            if note is not None:
                out.notes.append(note)
                skip_to, at = tag.partner, tags[tag.partner].end
            elif tag.name in _LINES:
                out.open_line()
        elif tag.closing and tag.name in _LINES:
            out.close_line()
    out.add(inner[at:])
    return out.text(), out.notes


def _why_dropped(tag: _Tag, inner: str, end: int) -> str | None:
    """Why an element that ends there is no part of the source; None where it is one."""
    if tag.name in _DROPPED:
        return "a button or the like removed" if tag.name == "button" else f"<{tag.name}> in the source removed"
    if tag.name in ("ol", "ul", "table", "tbody", "thead", "tr", "code", "pre", "li"):
        return None
    gutter, copy = _is_gutter_class(tag.attrs), _is_copy_button(tag.attrs)
    if not (gutter or copy):
        return None
    shown = re.sub(r"<[^<>]*>", "", inner[tag.end : min(end, tag.end + 20_000)])
    if gutter and end - tag.end <= 20_000 and _NUMBERS.fullmatch(html_decoded(shown)):
        return "line numbers removed" if shown.strip() else "an empty gutter removed"
    return "a button or the like removed" if copy and len(shown) <= 20 else None


def _highlights_only(attrs: str) -> bool:
    return attrs == "" or (_are_attributes(attrs) and not _is_gutter_class(attrs) and not _is_copy_button(attrs))


@lru_cache(maxsize=4096)
def _are_attributes(attrs: str) -> bool:
    return _ATTRS.fullmatch(attrs) is not None


@lru_cache(maxsize=4096)
def _is_copy_button(attrs: str) -> bool:
    return _COPY.search(attrs) is not None


@lru_cache(maxsize=4096)
def _is_gutter_class(attrs: str) -> bool:
    match = _CLASS.search(attrs)
    names = (match[1] or match[2] or match[3] or "").split() if match else []
    return any(_GUTTER.fullmatch(name) for name in names)


class _Assembly:
    """Text gathered from a block, line by line where elements hold the lines."""

    def __init__(self, preformatted: bool) -> None:
        self.notes: list[str] = []
        self._preformatted = preformatted
        self._frames: list[list[str]] = [[]]
        self._has_lines: list[bool] = [False]
        self._lines: list[str] = []
        self._plain: list[str] = []

    def add(self, text: str) -> None:
        if text:
            self._frames[-1].append(text)
            self._plain.append(text)

    def add_break(self, name: str) -> None:
        if name == "br":
            self.add("\n")

    def open_line(self) -> None:
        self._flush_loose()
        self._has_lines[-1] = True
        self._frames.append([])
        self._has_lines.append(False)

    def close_line(self) -> None:
        if len(self._frames) == 1:
            return
        leaf = not self._has_lines.pop()
        text = "".join(self._frames.pop())
        if leaf:
            self._lines.append(re.sub(r"\r?\n\Z", "", text))
        elif text.strip():
            self._lines.append(text)

    def _flush_loose(self) -> None:
        """Text between line elements: blank space is layout, anything else is a line of its own."""
        loose = "".join(self._frames[-1])
        if loose.strip():
            self._lines.append(re.sub(r"\A\r?\n|\r?\n\Z", "", loose))
        self._frames[-1].clear()

    def text(self) -> str:
        plain = "".join(self._plain)
        while len(self._frames) > 1:
            self.close_line()
        self._flush_loose()
        joined = "\n".join(self._lines) if len(self._lines) > 1 else plain
        if self._preformatted:
            return joined
        return re.sub(r"\n[ \t]*\r?\n", "\n", joined) if "\n" in joined else joined
