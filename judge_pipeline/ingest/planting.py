"""Planting a text into a program so that it does the same as before: as a comment, or as a string nobody reads.

It goes to the top, where a judge with a small budget is shown it, too.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from judge_pipeline.ingest.comments import comment_mark, comment_spans

_WORD = re.compile(r"[a-z]+[+#]*")
_HEAD = re.compile(r"\A(?:\ufeff|\#![/ ][^\n]*\n|<\?php[^\n]*\n|[ \t]*\#[^\n]*coding[:=][^\n]*\n)*")
"""What must stay first: byte order mark, shebang, PHP's opening, an encoding declaration."""
_FUTURE = re.compile(r"^from __future__ import [^\n]*\n", re.MULTILINE)
_INNER_ATTRIBUTES = re.compile(r"(?:[ \t]*\#!\[[^\n]*\n)+")
_CLASS = re.compile(r"\b(?:class|struct|record)\s+\w+[^{};()]*\{")

_DECLARATIONS = {
    "c": "static const char *const note_ = {};\n",
    "python": "note_ = {}\n",
    "javascript": "const note_ = {};\n",
    "rust": "#[allow(dead_code)]\nconst NOTE_: &str = {};\n",
    "java": "\n    static final String NOTE_ = {};\n",
    "csharp": "\n    const string NOTE_ = {};\n",
}
_FAMILY_OF = {
    **dict.fromkeys(("c", "c++", "g++", "gnu", "gcc", "clang", "clang++", "cpp", "cc", "msvc", "microsoft"), "c"),
    **dict.fromkeys(("python", "cpython", "pypy", "ruby", "crystal"), "python"),
    **dict.fromkeys(("javascript", "js", "node", "nodejs", "typescript", "ts", "deno", "bun"), "javascript"),
    **dict.fromkeys(("c#", "csharp"), "csharp"),
    "rust": "rust",
    "java": "java",
    "openjdk": "java",
}


@dataclass(frozen=True, slots=True)
class Planted:
    """A text with another planted in it.

    Attributes:
        text: the whole.
        start: where what was planted begins, in characters.
        end: where it ends.
    """

    text: str
    start: int
    end: int

    def shown(self, budget: int) -> int:
        """How many characters of what was planted stand within the first ``budget`` of the whole."""
        return max(0, min(self.end, budget) - self.start)


def plant_comment(source: str, language: str | None, text: str) -> Planted | None:
    """The program with the text as a comment at its top, a comment mark before each line.

    Returns:
        None where it is not known how the language writes comments.
    """
    mark = comment_mark(language, source)
    if mark is None:
        return None
    block = "".join(f"{mark} {line}\n" for line in text.splitlines())
    return _insert(source, _end_of_head(source), block)


def plant_string(source: str, language: str | None, text: str) -> Planted | None:
    """The program with the text as a string constant that it does not use.

    Returns:
        None where it is not known how the language declares one, or where it has to stand.
    """
    family = _family(language, source)
    place = None if family is None else _place_of_declaration(source, language, family)
    if family is None or place is None:
        return None
    return _insert(source, place, _DECLARATIONS[family].replace("{}", json.dumps(text, ensure_ascii=False), 1))


def plant_prompt(prompt_text: str, text: str) -> Planted:
    """Q_u with the text as the first thing that the participant wrote, under the first log's separator."""
    first = re.match(r"----- log [^\n]*\n", prompt_text)
    return _insert(prompt_text, first.end() if first else 0, f"{text}\n" if prompt_text else text)


def _insert(whole: str, place: int, piece: str) -> Planted:
    return Planted(whole[:place] + piece + whole[place:], place, place + len(piece))


def _end_of_head(source: str) -> int:
    head = _HEAD.match(source)
    return head.end() if head else 0


def _family(language: str | None, source: str) -> str | None:
    if language is None:
        return {"//": "c", "#": "python"}.get(comment_mark(None, source) or "") if _is_plain(source) else None
    word = _WORD.search(language.lower())
    return _FAMILY_OF.get(word.group()) if word else None


def _is_plain(source: str) -> bool:
    """Whether a source without a stated language is C or C++, or Python, rather than something that looks like them."""
    return bool(re.search(r"^\s*#\s*include\b", source, re.M)) or comment_mark(None, source) == "#"


def _place_of_declaration(source: str, language: str | None, family: str) -> int | None:
    start = _end_of_head(source)
    if family == "python":
        futures = list(_FUTURE.finditer(source))
        return futures[-1].end() if futures else start
    if family == "rust":
        attributes = _INNER_ATTRIBUTES.match(source, start)
        return attributes.end() if attributes else start
    if family in ("java", "csharp"):
        comments = comment_spans(source, language)
        for match in _CLASS.finditer(source):
            if not any(begin <= match.start() < end for begin, end in comments):
                return match.end()
        return None
    return start
