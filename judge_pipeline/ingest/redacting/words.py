"""Given words in texts: names of people, ids of participants."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

Found = tuple[int, int, str]
"""Start, end, and which of the words it is."""

_RUN = re.compile(r"[^\W_]+")
_SCRIPT_WITHOUT_BLANKS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


class Words:
    """Finds words as wholes, whatever their case; time grows with the text, not with the number of words.

    A whole word has no letter or digit beside it (``_`` and ``-`` may be: ``E001_notes.txt``). Words of scripts that
    are written without blanks are found anywhere.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._by_first_run: dict[str, list[str]] = {}
        anywhere = []
        for word in sorted({w.strip() for w in words if w.strip()}, key=lambda w: (-len(w), w)):
            run = _RUN.search(word)
            if run is None or _SCRIPT_WITHOUT_BLANKS.search(word):
                anywhere.append(word)
            else:
                self._by_first_run.setdefault(run.group().lower(), []).append(word)
        self._anywhere = re.compile("|".join(map(re.escape, anywhere)), re.IGNORECASE) if anywhere else None
        self._of_lower: Mapping[str, str] = {word.lower(): word for word in anywhere}

    def find(self, text: str) -> Iterator[Found]:
        """Where the words stand; spans may overlap."""
        if self._anywhere is not None:
            for match in self._anywhere.finditer(text):
                yield match.start(), match.end(), self._of_lower.get(match.group().lower(), match.group())
        if not self._by_first_run:
            return
        for run in _RUN.finditer(text):
            for word in self._by_first_run.get(run.group().lower(), ()):
                found = _stands_at(text, run.start(), word)
                if found is not None:
                    yield (*found, word)
                    break


def _stands_at(text: str, run_start: int, word: str) -> tuple[int, int] | None:
    before = _RUN.search(word)
    start = run_start - (before.start() if before else 0)
    end = start + len(word)
    if start < 0 or text[start:end].lower() != word.lower():
        return None
    if end < len(text) and word[-1].isalnum() and text[end].isalnum():
        return None
    return start, end
