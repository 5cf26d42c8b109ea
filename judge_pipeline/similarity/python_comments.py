"""Python without comments and docstrings, as the ``codebleu`` package makes it of the tokens of the standard library.

It puts the text together anew from its tokens, each at its column, so that a tab between two becomes a space and
continued lines become one. A string at the start of a statement is taken for a docstring, and so is one at column 0.
"""

from __future__ import annotations

import re
import sys
import tokenize
from collections.abc import Iterator
from io import StringIO

_TOKENIZER_IS_PYTHON = sys.version_info < (3, 12)
"""Until 3.11 the tokenizer of the standard library is written in Python, slow, and lets through what is no token."""

_MOST_STEPS = 20_000_000
"""Where a line's length times its escaped quotes is more, that tokenizer may take minutes: it looks for the end of an
open string from each of them again. It is half a second's work."""

_NOTICED = re.compile(r"""[\n#"'()\[\]{}\\$?`!]|[^\x20-\x7e]""")
_BLANKS = re.compile(" *")
_COMMENT = re.compile(r"[^\r\n]*")
_STRING = re.compile(
    r"""\"{3}[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*\"{3}|'{3}[^'\\]*(?:(?:\\[\s\S]|'(?!''))[^'\\]*)*'{3}"""
    r"""|"(?!"")[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"|'(?!'')[^'\\\n]*(?:\\[^\n][^'\\\n]*)*'"""
)
_PREFIXES = frozenset(["", "b", "br", "f", "fr", "r", "rb", "rf", "u"])


class HostileTextError(ValueError):
    """A text that is no program, but made to keep readers busy."""


def python_without_comments(source: str) -> str:
    """The program without comments and docstrings; lines that are empty then stay.

    Args:
        source: the program, without white space around it.

    Raises:
        Exception: what tokenize raises where a program cannot be tokenized.
        HostileTextError: it would take too long (until Python 3.11).
    """
    spans = _spans_to_drop(source) if _TOKENIZER_IS_PYTHON else None
    if spans is None:
        if _TOKENIZER_IS_PYTHON and any(_steps(line) > _MOST_STEPS for line in source.splitlines()):
            raise HostileTextError("a line has too many escaped quotes")
        return "".join(_parts_by_token(source))
    kept, end = [], 0
    for start, after in spans:
        kept.append(source[end:start])
        end = after
    return "".join([*kept, source[end:]])


def _steps(line: str) -> int:
    return len(line) * (line.count("\\'") + line.count('\\"'))


def _parts_by_token(source: str) -> Iterator[str]:
    before, row, column = tokenize.INDENT, -1, 0
    for kind, text, (start_row, start_column), (end_row, end_column), _ in tokenize.generate_tokens(
        StringIO(source).readline
    ):
        if start_row > row:
            column = 0
        yield " " * (start_column - column)
        is_docstring = kind == tokenize.STRING and (before in (tokenize.INDENT, tokenize.NEWLINE) or not start_column)
        if kind != tokenize.COMMENT and not is_docstring:
            yield text
        before, row, column = kind, end_row, end_column


def _spans_to_drop(source: str) -> list[tuple[int, int]] | None:
    """Where comments and docstrings stand in a program that is plain: then all else stays as it is.

    None where it is not: tabs, continued lines, characters that are no Python, brackets or indents that do not match.
    What the tokenizer makes of these is left to it. Otherwise the same comes of it, many times faster.
    """
    spans: list[tuple[int, int]] = []
    line = _Line(source)
    noticed = _NOTICED.search(source)
    while noticed:
        start, end = noticed.span()
        what = source[start]
        if what == "\n":
            end = _after(_BLANKS, source, end)
            line.begin(start + 1, end)
        elif what in "([{":
            line.depth += 1
        elif what in ")]}":
            line.depth -= 1
        elif what == "#":
            end = _after(_COMMENT, source, end)
            spans.append((start, end))
        elif what in "'\"" and (string := _STRING.match(source, start)):
            end = string.end()
            if line.is_docstring(start):
                spans.append((line.first, end))
        elif source[start : start + 2] != "!=":
            return None
        if line.depth < 0 or not line.is_indented_well:
            return None
        noticed = _NOTICED.search(source, end)
    return None if line.depth else spans


def _after(pattern: re.Pattern[str], source: str, start: int) -> int:
    match = pattern.match(source, start)
    return match.end() if match else start


class _Line:
    """The line that is being read."""

    def __init__(self, source: str) -> None:
        self.depth = 0
        """Brackets that are open."""
        self.is_indented_well = True
        self.first = 0
        """Where its first token stands."""
        self._source = source
        self._indents = [0]
        self._has_tokens = not source.startswith("#")
        self._may_document = True

    def begin(self, start: int, first: int) -> None:
        """Goes on to the line that begins at ``start`` with blanks up to ``first``."""
        had_tokens, self.first, self._may_document = self._has_tokens, first, False
        self._has_tokens = self.depth > 0 or self._source[first : first + 1] not in ("", "\n", "#")
        if self.depth or not self._has_tokens:
            return
        indent = first - start
        if indent > self._indents[-1]:
            self._indents.append(indent)
            self._may_document = True
        elif indent == self._indents[-1]:
            # After an empty line or a comment, what stands before is not the end of a statement.
            self._may_document = had_tokens
        else:
            while indent < self._indents[-1]:
                self._indents.pop()
            self.is_indented_well = indent == self._indents[-1]

    def is_docstring(self, quote: int) -> bool:
        """Whether a string, of which the first quote stands there, is taken for a docstring."""
        if self._source[self.first : quote].lower() not in _PREFIXES:
            return False
        return self._may_document or self._source[self.first - 1 : self.first] in ("", "\n")
