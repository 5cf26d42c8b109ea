"""Pairs as a model is shown them to find or score a rubric: cut to a budget, what was cut is said and counted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

CONTEXT = ("instruction", "prior_turns", "prefix", "code_to_edit", "suffix")
"""The texts of a pair's context, in the order in which they are shown."""

RESPONSES = ("response_a", "response_b")

_SLOTS = ("first", "second")
_KEEPS_END = ("prefix", "prior_turns")
"""What stands before the place in question is cut at its beginning."""


@dataclass(frozen=True, slots=True)
class ShownPair:
    """What a model is shown of a pair.

    Attributes:
        pair_id: the pair.
        texts: text by the names of ``CONTEXT`` and ``RESPONSES``, the absent ones left out.
        cut: how many characters of a text are not shown, of those that were cut.
    """

    pair_id: str
    texts: Mapping[str, str]
    cut: Mapping[str, int]

    def shown(self, first: str = "response_a") -> dict[str, Any]:
        """The pair with its responses as first and second, as plain JSON values.

        Args:
            first: which of ``RESPONSES`` stands first.
        """
        places = {name: name for name in CONTEXT} | {name: _SLOTS[name != first] for name in RESPONSES}
        return {
            "context": {name: self.texts[name] for name in CONTEXT if name in self.texts},
            **{places[name]: self.texts[name] for name in RESPONSES},
            "chars_cut": {places[name]: chars for name, chars in self.cut.items()},
        }


def shown_pairs(texts: pd.DataFrame, budget_chars: int) -> list[ShownPair]:
    """Pairs cut to a budget each.

    The budget is shared so that no text is cut below an equal share of what the shorter ones leave over; both responses
    are therefore cut to the same length.

    Args:
        texts: rows of table PAIR_TEXTS.
        budget_chars: characters of a pair.
    """
    return [_shown(row, budget_chars) for row in texts.to_dict("records")]


def _shown(row: Mapping[Any, Any], budget_chars: int) -> ShownPair:
    texts = {name: row[name] for name in (*CONTEXT, *RESPONSES) if isinstance(row[name], str) and row[name]}
    texts |= {name: texts.get(name, "") for name in RESPONSES}
    if "prior_turns" in texts:
        texts["prior_turns"] = _turns(texts["prior_turns"])
    allowed = share_out([len(text) for text in texts.values()], budget_chars)
    kept = {name: cut_text(name, text, size) for (name, text), size in zip(texts.items(), allowed, strict=True)}
    cut = {name: len(texts[name]) - len(text) for name, text in kept.items() if len(text) < len(texts[name])}
    return ShownPair(row["pair_id"], kept, cut)


def share_out(lengths: Sequence[int], budget: int) -> list[int]:
    """How much of each text is kept, at most ``budget`` together: none is cut below an equal share of what is left.

    Texts longer than that share are all cut to one length.
    """
    if sum(lengths) <= budget:
        return list(lengths)
    left, cap = budget, 0
    for place, length in enumerate(sorted(lengths)):
        cap = left // (len(lengths) - place)
        if length > cap:
            break
        left -= length
    return [min(length, cap) for length in lengths]


def _turns(text: str) -> str:
    return "\n\n".join(f"{turn['role']}: {turn['content']}" for turn in json.loads(text))


def cut_text(name: str, text: str, size: int) -> str:
    """The text, at most so long; what stands before the place in question loses its beginning, all else its end."""
    if len(text) <= size:
        return text
    return text[len(text) - size :] if name in _KEEPS_END else text[:size]
