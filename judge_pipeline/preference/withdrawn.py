"""Keeping out of a preference set the pairs and annotators that were withdrawn, though its files may hold them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from judge_pipeline.preference.drafts import BOTH_BAD, PairDraft, majority
from judge_pipeline.preference.pair_question import pair_key, set_key

PAIR_WITHDRAWN = "the pair was withdrawn"
ONLY_CHOICE_WITHDRAWN = "its only choice is of an annotator who withdrew"

_OF_A_PAIR = re.compile(r"[0-9a-f]{16}/[0-9a-f]{16}")
"""What ids of one pair's requests begin with (``pair_question.pair_key``)."""

_AGAIN = re.compile(r" \(\d+\)$")
"""Behind the name of an annotator who voted on a pair before."""


def _nobody(_name: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """What was withdrawn from a set, as questions: the names themselves are kept nowhere.

    Attributes:
        pair: whether the pair of an id was withdrawn.
        annotator: whether the annotator of a name withdrew.
    """

    pair: Callable[[str], bool] = _nobody
    annotator: Callable[[str], bool] = _nobody

    def by(self, voter: str) -> bool:
        """Whether a vote is of an annotator who withdrew; further votes on a pair have a number behind the name."""
        return self.annotator(voter) or self.annotator(_AGAIN.sub("", voter))

    def take_votes(self, draft: PairDraft) -> str | None:
        """Take the votes of those who withdrew out of a draft; why the pair has to go, or None.

        Where the choice was one of theirs, it becomes that of the other votes' majority.
        """
        theirs = [voter for voter in draft.votes if self.by(voter)]
        if not theirs:
            return None
        draft.w = None if draft.chooser in theirs or _is_of(theirs, draft.w, draft.votes) else draft.w
        for voter in theirs:
            del draft.votes[voter]
        return ONLY_CHOICE_WITHDRAWN if draft.w is None and not draft.votes else None


def is_about_pairs(request_id: str) -> bool:
    """Whether an id of the checkpoint is of something asked about a preference set, not of a contest's attempt."""
    return "/" in request_id


def asked_about(request_ids: Iterable[str], preference_set: str, pair_ids: Collection[str]) -> frozenset[str]:
    """The ids of what was asked about pairs of a set: each one's own, and what was asked about several pairs together.

    The latter (batches of pairs, merges of what was found in them) go with any pair: a rubric is found anew from what
    is left. Where no pair is given there is none.

    Args:
        request_ids: ids of the checkpoint.
        preference_set: the set.
        pair_ids: its pairs.
    """
    if not pair_ids:
        return frozenset()
    own = {pair_key(preference_set, pair_id) for pair_id in pair_ids}
    start = f"{set_key(preference_set)}/"
    found = set()
    for request_id in request_ids:
        if request_id.startswith(start):
            key = "/".join(request_id.split("/")[:2])
            if key in own or not _OF_A_PAIR.fullmatch(key):
                found.add(request_id)
    return frozenset(found)


def without_votes(pairs: pd.DataFrame, withdrawn: Withdrawn) -> tuple[pd.DataFrame, frozenset[str]]:
    """Stored pairs without the votes of annotators who withdrew.

    Where the choice is the majority of votes that include theirs, it becomes that of the others' majority, if there is
    one. Whether it was made from these votes, only the set's files say: a run reads them anew.

    Args:
        pairs: table PREFERENCE_PAIRS.
        withdrawn: who withdrew.

    Returns:
        The table without the pairs whose only choice was theirs, and the ids of these.
    """
    gone: set[str] = set()
    changed = pairs[["w", "votes"]].astype(object)
    for place, pair_id, w, text in pairs[["pair_id", "w", "votes"]].itertuples(name=None):
        votes = json.loads(text) if isinstance(text, str) else {}
        rest = {voter: vote for voter, vote in votes.items() if not withdrawn.by(voter)}
        if len(rest) < len(votes):
            w_of_rest = majority(rest) if w == majority(votes) else None
            changed.loc[place] = [w_of_rest or w, json.dumps(rest, ensure_ascii=False) if rest else None]
            gone |= {str(pair_id)} if not rest and w in votes.values() else set()
    both_bad = pairs["both_bad"] & changed["w"].eq("tie")
    kept = pairs.assign(w=changed["w"], votes=changed["votes"], both_bad=both_bad)
    return kept[~kept["pair_id"].isin(gone)].reset_index(drop=True), frozenset(gone)


def _is_of(theirs: list[str], w: str | None, votes: dict[str, Any]) -> bool:
    """Whether a stated choice can only be theirs: nobody else voted, and it is what they voted for."""
    choices = {"tie" if votes[voter] == BOTH_BAD else votes[voter] for voter in theirs}
    return len(theirs) == len(votes) and ("tie" if w == BOTH_BAD else w) in choices
