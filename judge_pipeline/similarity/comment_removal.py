"""Programs without comments, as the ``codebleu`` package makes them before it parses.

Its ways are kept, also where one would do otherwise, since what is parsed decides the syntax term: Python is put
together anew from its tokens, at their columns (so that a tab between tokens becomes a space, and continued lines
become one), strings at the start of a statement are taken for docstrings, and a program that cannot be tokenized
stays as it is. Elsewhere a comment becomes a space, and so does whatever looks like one. Ruby stays as it is.
"""

from __future__ import annotations

import re
import tokenize
from io import StringIO

_COMMENT_OR_STRING = re.compile(
    r"""//[^\n]*|/\*[\s\S]*?\*/|(?P<kept>'(?:\\[\s\S]|[^\\'])*'|"(?:\\[\s\S]|[^\\"])*")""",
)


def without_comments(source: str, grammar: str) -> str:
    """The program without comments and empty lines.

    Args:
        source: the program.
        grammar: a value of ``languages.GRAMMARS``.
    """
    if grammar == "ruby":
        return source
    if grammar != "python":
        return _without_empty_lines(_COMMENT_OR_STRING.sub(lambda match: match["kept"] or " ", source))
    try:
        return _without_empty_lines(_python_without_comments(source))
    except Exception:  # noqa: BLE001 - tokenize raises several kinds; whichever it is, the package goes on with the source
        return source


def _python_without_comments(source: str) -> str:
    parts: list[str] = []
    before, row, column = tokenize.INDENT, -1, 0
    for kind, text, (start_row, start_column), (end_row, end_column), _ in tokenize.generate_tokens(
        StringIO(source).readline
    ):
        if start_row > row:
            column = 0
        parts.append(" " * (start_column - column))
        is_docstring = kind == tokenize.STRING and (before in (tokenize.INDENT, tokenize.NEWLINE) or not start_column)
        if kind != tokenize.COMMENT and not is_docstring:
            parts.append(text)
        before, row, column = kind, end_row, end_column
    return "".join(parts)


def _without_empty_lines(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if line.strip())
