"""How the embedded model's token probabilities become an answer: the model scores one, it does not write it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

RATIONALE = "scored from token probabilities"
"""The rationale of every answer: the model gives none."""


@dataclass(frozen=True)
class Scoring:
    """How answers are scored.

    Attributes:
        questions: the questions that the prompt template must ask, each in a part ``--- question: NAME ---``, in order;
            None where the template may ask any.
        words: the two words whose probabilities are compared, in lower case.
        answer: question -> share of the first word, for all of them -> the answer's fields.
        parameters: what says how it is scored, as part of a call's identity.
    """

    questions: tuple[str, ...] | None
    words: tuple[str, str]
    answer: Callable[[Mapping[str, float]], dict[str, Any]]
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def share(self, top: Iterable[tuple[str, float]]) -> float | None:
        """P(first word) / P(either word) from (token, log-probability) pairs; None where neither is among them."""
        return share_of(top, *self.words)


def share_of(top: Iterable[tuple[str, float]], word: str, other: str) -> float | None:
    """P(word) / (P(word) + P(other)) from (token, log-probability) pairs; None where neither is among them.

    Spellings of a word (" Yes", "yes", "YES") are added up; any other token, such as "y", counts for neither.
    """
    found = {word: 0.0, other: 0.0}
    for token, log_probability in top:
        name = token.strip().lower()
        if name in found:
            found[name] += math.exp(log_probability)
    both = found[word] + found[other]
    return found[word] / both if both > 0 else None


def share_of_yes(top: Iterable[tuple[str, float]]) -> float | None:
    """P(yes) / (P(yes) + P(no)); see :func:`share_of`."""
    return share_of(top, "yes", "no")


def rubric_score(share: float) -> int:
    """A share from 0 to 1 as a rubric score: 1 + floor(5 * share), at most 5; so five equal bins."""
    return min(5, 1 + math.floor(5 * share))


def _judgment(shares: Mapping[str, float]) -> dict[str, Any]:
    return {
        "p_ac": shares["p_ac"],
        "s_algo": rubric_score(shares["s_algo"]),
        "s_robust": rubric_score(shares["s_robust"]),
        "rationale": RATIONALE,
    }


JUDGMENT_SCORING = Scoring(("p_ac", "s_algo", "s_robust"), ("yes", "no"), _judgment)
"""p_ac is the share of yes for "accepted?"; s_algo and s_robust are five equal bins of it for the rubric questions."""
