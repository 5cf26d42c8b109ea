"""Comments of programs: how a language writes them, and where they stand in a source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

CommentMark = Literal["//", "#", "--"]
"""What opens a comment that ends with its line."""

_NAMES: Mapping[CommentMark, str] = {
    "//": """c gcc gnu clang cpp cc msvc microsoft visual objective csharp cs dotnet java openjdk kotlin scala groovy
        javascript js node nodejs ecmascript typescript ts deno bun rust go golang swift d dmd ldc dart php zig v""",
    "#": "python cpython pypy py cython mojo codon ruby crystal perl raku bash sh zsh shell awk sed julia r elixir nim",
    "--": "haskell ghc lua luajit sql sqlite mysql postgresql ada elm",
}
_MARK_OF: Mapping[str, CommentMark] = {name: mark for mark, names in _NAMES.items() for name in names.split()}

_WORD = re.compile(r"[a-z]+")

_LOOKS_LIKE: tuple[tuple[CommentMark, re.Pattern[str]], ...] = (
    ("//", re.compile(r"^\s*#\s*include\b|\bint\s+main\s*\(|\bpublic\s+(?:static|class)\b|^\s*using\s+\w+", re.M)),
    (
        "#",
        re.compile(r"^\s*(?:import|from)\s+\w+|^\s*def\s+\w+\(.*:\s*$|^\s*(?:for|while|if)\b.*:\s*$|\binput\(", re.M),
    ),
)

_SLASHES = re.compile(
    r'R"(?P<raw>[^\s()\\"]{0,16})\([\s\S]*?(?:\)(?P=raw)"|\Z)'
    r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    r"|(?P<comment>//[^\n]*|/\*[\s\S]*?(?:\*/|\Z))"
)
_HASHES = re.compile(
    r'(?P<comment>\#[^\n]*|^[ \t]*(?:"""[\s\S]*?(?:"""|\Z)|\'\'\'[\s\S]*?(?:\'\'\'|\Z)))'
    r'|"""[\s\S]*?(?:"""|\Z)|\'\'\'[\s\S]*?(?:\'\'\'|\Z)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
    re.MULTILINE,
)
_DASHES = re.compile(
    r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(?P<comment>--\[\[[\s\S]*?(?:\]\]|\Z)|\{-[\s\S]*?(?:-\}|\Z)|--[^\n]*)'
)
_COMMENT: Mapping[CommentMark, re.Pattern[str]] = {"//": _SLASHES, "#": _HASHES, "--": _DASHES}


def comment_mark(language: str | None, source: str = "") -> CommentMark | None:
    """What opens a line's comment in the language.

    Args:
        language: its name as a contest site prints it: ``C++ 20 (gcc 12.2)``, ``PyPy3``.
        source: a program in it, which tells where no language is stated.

    Returns:
        None where the language is another one (OCaml, Pascal, Brainfuck, text), or cannot be told.
    """
    if language is not None:
        if re.match(r"\s*(?:c|f)\s*#", language, re.IGNORECASE):
            return "//"
        word = _WORD.search(language.lower())
        return _MARK_OF.get(word.group()) if word else None
    return next((mark for mark, pattern in _LOOKS_LIKE if pattern.search(source)), None)


def comment_spans(source: str, language: str | None) -> list[tuple[int, int]]:
    """Start and end of each comment, marks included, in order; strings that hold a mark are none.

    A string that stands where a statement begins (a docstring) counts as a comment. Where the language has no mark
    that is known, there are none.
    """
    mark = comment_mark(language, source)
    if mark is None:
        return []
    return [match.span("comment") for match in _COMMENT[mark].finditer(source) if match.group("comment") is not None]
