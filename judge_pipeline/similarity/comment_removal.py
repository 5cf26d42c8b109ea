"""Programs without comments, as the ``codebleu`` package makes them before it parses.

Its ways are kept, also where one would do otherwise, since what is parsed decides the syntax term. In most languages
a comment becomes a space, and so does whatever looks like one. Python that cannot be tokenized stays as it is, and so
does Ruby.
"""

from __future__ import annotations

import re

from judge_pipeline.similarity.python_comments import python_without_comments

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
        return _without_empty_lines(python_without_comments(source))
    except Exception:  # noqa: BLE001 - tokenize raises several kinds; whichever it is, the package goes on with the source
        return source


def _without_empty_lines(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if line.strip())
