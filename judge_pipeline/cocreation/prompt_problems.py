"""Which problems a prompt belongs to: by the name of its log, or because it mentions them.

Problem ids such as ``A``, ``12`` or ``sort`` are words of everyday text, so these count as mentioned only beside a word
that says so (``problem A``, ``12번 문제``, ``A. Watermelon`` at the start of a line). Ids that hold letters and digits,
or several words (``P3``, ``two-sum``), count wherever they stand. Case matters only to ids of one letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_TOKEN = re.compile(r"[A-Za-z0-9]+|[^\W_A-Za-z0-9]+")
_BEFORE = frozenset(
    ["problem", "prob", "question", "task", "exercise", "challenge", "puzzle", "問題", "问题", "题目", "題目", "문제"]
)
_AFTER = frozenset(["번", "번문제", "문제", "問題", "题", "題", "番", "問"])
_MAX_GAP = 3
"""Characters between a word that announces a problem and its id: a blank, a colon, a hash."""


@dataclass(frozen=True, slots=True)
class _Name:
    problem_id: str
    text: str
    tokens: tuple[str, ...]

    @property
    def stands_alone(self) -> bool:
        """Whether it is no everyday word."""
        joined = "".join(self.tokens)
        mixed = any(c.isdigit() for c in joined) and any(c.isalpha() for c in joined)
        return len(self.tokens) > 1 or mixed

    def is_spelt(self, text: str) -> bool:
        return len(self.text) > 1 or text == self.text


class ProblemNames:
    """The problems of a contest, to be found in texts and in the names of logs.

    Args:
        problem_ids: the contest's problems.
        problem_names: further names of problems -> problem id (contest.yaml); those of other problems are passed over.
    """

    def __init__(self, problem_ids: Iterable[str], problem_names: Mapping[str, str] | None = None) -> None:
        known = set(problem_ids)
        named = {(p, p) for p in known} | {(n, p) for n, p in (problem_names or {}).items() if p in known}
        self._by_first: dict[str, list[_Name]] = {}
        self._phrases: list[tuple[str, str]] = []
        for text, problem_id in sorted(named):
            tokens = tuple(match.group().casefold() for match in _TOKEN.finditer(text))
            if not text.isascii() and len(text) >= _MAX_GAP:
                # Scripts without blanks: such a name is no token of its own.
                self._phrases.append((text.casefold(), problem_id))
            elif tokens:
                self._by_first.setdefault(tokens[0], []).append(_Name(problem_id, text, tokens))
        for names in self._by_first.values():
            names.sort(key=lambda name: (-len(name.tokens), name.problem_id))

    def mentioned_in(self, text: str) -> frozenset[str]:
        """The problems that a text speaks of."""
        return self._found(text, anywhere=False)

    def named_in(self, log_name: str) -> frozenset[str]:
        """The problems that the name of a log holds, as words of their own."""
        return self._found(log_name, anywhere=True)

    def _found(self, text: str, *, anywhere: bool) -> frozenset[str]:
        folded = text.casefold()
        found = {problem_id for phrase, problem_id in self._phrases if phrase in folded}
        tokens = list(_TOKEN.finditer(text))
        words = [match.group().casefold() for match in tokens]
        at = 0
        while at < len(words):
            name = self._name_at(text, tokens, words, at)
            if name is not None and (anywhere or name.stands_alone or _is_announced(text, tokens, words, at, name)):
                found.add(name.problem_id)
                at += len(name.tokens)
            else:
                at += 1
        return frozenset(found)

    def _name_at(self, text: str, tokens: list[re.Match[str]], words: list[str], at: int) -> _Name | None:
        """The longest name that begins at a token."""
        for name in self._by_first.get(words[at], ()):
            end = at + len(name.tokens)
            if tuple(words[at:end]) == name.tokens and name.is_spelt(tokens[at].group()):
                gaps = (tokens[i + 1].start() - tokens[i].end() for i in range(at, end - 1))
                if all(gap <= 1 for gap in gaps):
                    return name
        return None


def _is_announced(text: str, tokens: list[re.Match[str]], words: list[str], at: int, name: _Name) -> bool:
    start, last = tokens[at].start(), at + len(name.tokens) - 1
    end = tokens[last].end()
    if at and words[at - 1] in _BEFORE and start - tokens[at - 1].end() <= _MAX_GAP:
        return True
    if last + 1 < len(words) and words[last + 1] in _AFTER and tokens[last + 1].start() - end <= 1:
        return True
    if text[start - 1 : start] == "#":
        return True
    # A heading: "A. Watermelon", "C: Sorting". A number so would be an item of any list.
    line_start = text.rfind("\n", 0, start) + 1
    is_heading = not text[line_start:start].strip(" \t*#>") and text[end : end + 1] in (".", ":", ")")
    return is_heading and not words[at].isdigit()
