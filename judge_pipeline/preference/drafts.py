"""What an importer hands over for a row: a draft of a pair, that it is left out by a setting, or what is at fault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Turn = tuple[str, str]
"""Who speaks (user, assistant, system, tool), and what is said."""

BOTH_BAD = "both_bad"
"""A choice of people that is a tie: both responses are bad."""

_FLIPPED = {"A": "B", "B": "A"}


class LeftOut(Exception):  # noqa: N818 - the name says what happens to the row; it is no error
    """A row that is left out, by a setting or since the format holds no pair there.

    Attributes:
        reason: why, in the words that its count is shown under.
        setting: the setting that decides it; None where it is left out whatever is set.
    """

    def __init__(self, reason: str, setting: str | None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.setting = setting


class Faulty(ValueError):  # noqa: N818 - as above: what a row is
    """A row that no pair can be made of.

    Attributes:
        field: the column or key at fault.
        value: what it holds.
        reason: what is wrong with it.
        remedy: what to do.
    """

    def __init__(self, field: str, value: Any, reason: str, remedy: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.value = value
        self.reason = reason
        self.remedy = remedy


class NoColumn(Faulty):
    """A row without columns that its pair needs: where all rows of a file lack them, the file is at fault.

    Attributes:
        missing: the columns, as the file should call them.
        there: the columns that the row has.
    """

    def __init__(self, missing: Sequence[str], there: Sequence[str]) -> None:
        self.missing = tuple(missing)
        self.there = tuple(there)
        are = "is no column" if len(self.missing) == 1 else "are no columns"
        has = ", ".join(name if len(name) <= 40 else f"{name[:37]}..." for name in self.there[:30])
        more = f" and {len(self.there) - 30} more" if len(self.there) > 30 else ""
        super().__init__(
            ", ".join(self.missing),
            None,
            f"{are} of this file",
            f"the file has {has}{more}; name what is meant in source.columns of preference.yaml",
        )


@dataclass(slots=True)
class PairDraft:
    """A pair as an importer read it from one row; ``tables.PREFERENCE_PAIRS`` says what the fields are.

    Attributes:
        w: A, B, tie or ``BOTH_BAD``; None where it follows from ``votes``.
        chooser: the annotator of ``votes`` whose choice ``w`` is, where it is one's.
        pair_id: the source's id, or None.
        vote_of: rows with the same value hold votes on one pair, and become one.
        no_majority: what becomes of votes without a majority.
        swapped: whether the responses stand in another order than in the source.
    """

    response_a: str
    response_b: str
    w: str | None
    pair_id: str | None = None
    instruction: str | None = None
    prior_turns: Sequence[Turn] = ()
    prefix: str | None = None
    suffix: str | None = None
    code_to_edit: str | None = None
    category: str | None = None
    language: str | None = None
    natural_language: str | None = None
    evidence_a: Mapping[str, Any] = field(default_factory=dict)
    evidence_b: Mapping[str, Any] = field(default_factory=dict)
    aspects: Mapping[str, str] = field(default_factory=dict)
    votes: dict[str, str] = field(default_factory=dict)
    chooser: str | None = None
    split: str | None = None
    model_a: str | None = None
    model_b: str | None = None
    vote_of: str | None = None
    no_majority: str = "leave_out"
    swapped: bool = False
    notes: list[str] = field(default_factory=list)

    def swap(self) -> None:
        """Exchange the responses and all that is said of one or the other."""
        self.response_a, self.response_b = self.response_b, self.response_a
        self.model_a, self.model_b = self.model_b, self.model_a
        self.evidence_a, self.evidence_b = self.evidence_b, self.evidence_a
        self.w = flipped(self.w)
        self.votes = {annotator: flipped(vote) or vote for annotator, vote in self.votes.items()}
        self.aspects = {aspect: flipped(said) or said for aspect, said in self.aspects.items()}
        self.swapped = not self.swapped


def flipped(choice: str | None) -> str | None:
    """The choice after the responses are exchanged; what is neither A nor B stays."""
    return _FLIPPED.get(choice, choice) if choice is not None else None


def majority(votes: Mapping[str, str]) -> str | None:
    """The choice that has more votes than every other one; None where there is none.

    Votes for ``BOTH_BAD`` count as votes for a tie.
    """
    counts: dict[str, int] = {}
    for vote in votes.values():
        choice = "tie" if vote == BOTH_BAD else vote
        counts[choice] = counts.get(choice, 0) + 1
    most = max(counts.values(), default=0)
    best = [choice for choice, n in counts.items() if n == most]
    return best[0] if len(best) == 1 else None
