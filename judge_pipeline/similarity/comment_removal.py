"""Programs without comments, as the ``codebleu`` package makes them before it parses.

Its ways are kept in its languages, also where one would do otherwise, since what is parsed decides the syntax term. In
most of them a comment becomes a space, and so does whatever looks like one. Python that cannot be tokenized stays as it
is, and so does Ruby. In languages that the package does not know, the grammar says what is a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from judge_pipeline.similarity.grammars import comments_query, new_parser
from judge_pipeline.similarity.languages import PACKAGE_GRAMMARS
from judge_pipeline.similarity.python_comments import python_without_comments

_CLOSED = {
    "/*": r"/\*[\s\S]*?\*/",
    "'": r"'(?:\\[\s\S]|[^\\'])*'",
    '"': r'"(?:\\[\s\S]|[^\\"])*"',
}


def without_comments(source: str, grammar: str) -> str:
    """The program without comments and empty lines.

    Args:
        source: the program, without lone surrogates.
        grammar: a value of ``languages.GRAMMARS``.
    """
    if grammar == "ruby":
        return source
    if grammar not in PACKAGE_GRAMMARS:
        return _without_empty_lines(_without_comment_nodes(source.encode(), grammar))
    if grammar != "python":
        return _without_empty_lines("".join(_without_slashed_comments(source)))
    try:
        return _without_empty_lines(python_without_comments(source))
    except Exception:  # noqa: BLE001 - tokenize raises several kinds; whichever it is, the package goes on with the source
        return source


def _without_comment_nodes(source: bytes, grammar: str) -> str:
    """The program with a space in the place of each comment."""
    from tree_sitter import QueryCursor

    found = QueryCursor(comments_query(grammar)).captures(new_parser(grammar).parse(source).root_node)
    parts, end = [], 0
    for start, stop in sorted((node.start_byte, node.end_byte) for node in found.get("comment", [])):
        if start >= end:  # else it lies within the one before
            parts += [source[end:start], b" "]
            end = stop
    return b"".join([*parts, source[end:]]).decode()


def _without_slashed_comments(source: str) -> Iterator[str]:
    """What stands between comments, and a space for each."""
    unclosed: frozenset[str] = frozenset()
    start = position = 0
    while position <= len(source):
        for match in _pattern(unclosed).finditer(source, position):
            if match["unclosed"]:
                # Nor is any later one of its kind closed. Looked for again at each, its end would take quadratic time.
                unclosed, position = unclosed | {match["unclosed"]}, match.end()
                break
            if match.group().startswith("/"):
                yield source[start : match.start()]
                yield " "
                start = match.end()
        else:
            break
    yield source[start:]


@lru_cache
def _pattern(unclosed: frozenset[str]) -> re.Pattern[str]:
    """Comments and literals, and the beginnings of those not closed, but for kinds that are known to be so."""
    kinds = [kind for kind in _CLOSED if kind not in unclosed]
    beginnings = "|".join(map(re.escape, kinds)) or r"(?!)"
    return re.compile("|".join([r"//[^\n]*", *(_CLOSED[kind] for kind in kinds), f"(?P<unclosed>{beginnings})"]))


def _without_empty_lines(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if line.strip())
