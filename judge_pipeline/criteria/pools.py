"""The criteria of a pair while they are refined: what stands, what is to be refined, and why a child does not stand.

Batches (``refinement``) and the loop that takes criteria one by one (``recursive_decomposition``) refine by the same
rules: only how many calls they make differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from judge_pipeline.criteria.answers import NONE
from judge_pipeline.criteria.generation import same_words
from judge_pipeline.criteria.pairwise_verdicts import verdict_table
from judge_pipeline.criteria.questions import CONFLICT, REDUNDANCY, ShownCriterion
from judge_pipeline.tables.criteria import REFINED_CRITERIA

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.criteria.asking import PairsToJudge
    from judge_pipeline.criteria.replies import Reply

Check = Literal["redundancy", "conflict"]

CHECKS: tuple[Check, ...] = ("redundancy", "conflict")

QUESTIONS = {"redundancy": REDUNDANCY, "conflict": CONFLICT}

FATES = {"redundancy": ("redundant", "redundancy_unchecked"), "conflict": ("conflicting", "conflict_unchecked")}
"""Check -> what becomes of a child that clashes, and of one that the check has no valid answer on."""

_WORDS = {"redundancy": "says the same as", "conflict": "contradicts"}


@dataclass
class Pool:
    """The criteria of one pair while they are refined.

    Attributes:
        rows: criterion -> its row of REFINED_CRITERIA; of a child that nothing is decided on yet the fate is None.
        open: what this round refines, with the rationales of ties.
    """

    rows: dict[str, dict[str, Any]]
    open: list[ShownCriterion] = field(default_factory=list)

    def in_force(self) -> list[ShownCriterion]:
        """The criteria that stand."""
        return [_shown(row) for row in self.rows.values() if row["fate"] == "kept"]

    def replaced(self) -> list[ShownCriterion]:
        """The criteria that children took the place of: their words told nothing, and tell nothing again."""
        return [_shown(row) for row in self.rows.values() if row["fate"] == "replaced"]

    def others(self) -> list[ShownCriterion]:
        """The criteria that stand and are not refined in this round."""
        refined = {each.id for each in self.open}
        return [each for each in self.in_force() if each.id not in refined]

    def candidates(self) -> list[ShownCriterion]:
        """The children that nothing is decided on yet."""
        return [_shown(row) for row in self.rows.values() if row["fate"] is None]

    def parents(self) -> dict[str, str]:
        """Child -> its parent, of all children."""
        return {id_: row["parent"] for id_, row in self.rows.items() if row["parent"] is not None}

    def add_children(self, parent: str, children: Sequence[Mapping[str, str]], round_: int, hash_: str | None) -> None:
        """Add the children in an answer; their ids are t1, t2, ... of the pair."""
        for child in children:
            id_ = f"t{len(self.parents()) + 1}"
            self.rows[id_] = _row(self.rows[parent]["pair_id"], id_, child["text"], child["aspect"], hash_) | {
                "parent": parent, "round": round_, "fate": None,
            }  # fmt: skip

    def settle(self, check: Check, reply_on: Mapping[str, Reply]) -> None:
        """Drop the candidates that a check finds to clash, and those that it has no valid answer on.

        Args:
            check: which of the two.
            reply_on: candidate -> the reply that says of it.
        """
        clashes, unchecked = FATES[check]
        candidates = self.candidates()
        twins = _twins([*self.in_force(), *self.replaced(), *candidates]) if check == "redundancy" else {}
        for child in candidates:
            reply = reply_on[child.id]
            if child.id in twins:
                self._drop(child.id, clashes, f"has the same words as {twins[child.id]}")
            elif reply.answer is None:
                self._drop(child.id, unchecked, f"the {check} check has no valid answer: {reply.failure}")
            elif self._clashes(check, reply.answer[child.id]["other"]):
                finding = reply.answer[child.id]
                self._drop(child.id, clashes, f"{_WORDS[check]} {finding['other']}: {finding['reason']}")

    def accept(self, max_criteria: int) -> list[ShownCriterion]:
        """The candidates that come into force: of a parent the first in its place, further ones while there is room."""
        accepted = []
        for child in self.candidates():
            parent = self.rows[self.rows[child.id]["parent"]]
            if parent["fate"] != "kept" and len(self.in_force()) >= max_criteria:
                self._drop(child.id, "over_limit", f"{max_criteria} criteria are in force")
                continue
            children = "refined by" if parent["fate"] == "kept" else f"{parent['why']},"
            self._drop(parent["criterion"], "replaced", f"{children} {child.id}")
            self.rows[child.id] |= {"fate": "kept"}
            accepted.append(child)
        return accepted

    def _drop(self, criterion: str, fate: str, why: str) -> None:
        self.rows[criterion] |= {"fate": fate, "why": why}

    def _clashes(self, check: Check, other: str) -> bool:
        """Whether a finding stands: nothing contradicts a candidate that was dropped itself."""
        return other != NONE and (check == "redundancy" or self.rows[other]["fate"] in (None, "kept"))


def pools_of(pairs: PairsToJudge, criteria: pd.DataFrame) -> dict[str, Pool]:
    """pair_id -> its generated criteria (table CRITERIA), in the order of pairs; a pair without any has no pool."""
    pools: dict[str, Pool] = {}
    for row in criteria.to_dict("records"):
        pools.setdefault(row["pair_id"], Pool({})).rows[row["criterion"]] = generated_row(row)
    return {pair_id: pools[pair_id] for pair_id in pairs.in_order("AB")["pair_id"] if pair_id in pools}


def take_up(
    pools: Mapping[str, Pool], criteria: Mapping[str, Iterable[ShownCriterion]],
    alike: Mapping[tuple[str, str], str | None],
) -> None:  # fmt: skip
    """What the next round refines: those of these criteria by which the responses are alike.

    Args:
        pools: the pools.
        criteria: pair_id -> the criteria that are looked at; a criterion is refined at most once.
        alike: (pair_id, criterion) -> why, of every criterion by which the responses are alike.
    """
    for pair_id, pool in pools.items():
        pool.open = [
            ShownCriterion(each.id, each.text, each.aspect, alike[pair_id, each.id])
            for each in criteria.get(pair_id, ())
            if (pair_id, each.id) in alike
        ]


def ties(verdicts: pd.DataFrame) -> dict[tuple[str, str], str | None]:
    """(pair_id, criterion) -> the rationale of a tie in order AB; table CRITERION_VERDICTS or CHILD_VERDICTS."""
    return {key: row["rationale"] for key, row in verdict_table(verdicts, "AB").items() if row["verdict"] == "tie"}


def generated_row(row: Mapping[Any, Any]) -> dict[str, Any]:
    """A row of CRITERIA as one of REFINED_CRITERIA."""
    made = _row(row["pair_id"], row["criterion"], row["text"], row["aspect"], row["request_hash"])
    return made | {"weight": row["weight"], "round": 0, "fate": "kept"}


def _twins(criteria: Sequence[ShownCriterion]) -> dict[str, str]:
    """Criterion -> the first before it with the same words."""
    first: dict[str, str] = {}
    for each in criteria:
        first.setdefault(same_words(each.text), each.id)
    return {each.id: first[same_words(each.text)] for each in criteria if first[same_words(each.text)] != each.id}


def _row(pair_id: str, criterion: str, text: str, aspect: str, request_hash: str | None) -> dict[str, Any]:
    made: dict[str, Any] = dict.fromkeys(REFINED_CRITERIA.column_names)
    return made | {
        "pair_id": pair_id, "criterion": criterion, "text": text, "aspect": aspect, "request_hash": request_hash,
    }  # fmt: skip


def _shown(row: Mapping[str, Any]) -> ShownCriterion:
    return ShownCriterion(row["criterion"], row["text"], row["aspect"])
