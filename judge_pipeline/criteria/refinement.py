"""Tied criteria are replaced by finer ones, in batches (CriterAlign, section 3.3, BTCR).

A tie in order AB may mean that a criterion is too coarse to show the difference. Each round asks, of every pair with
ties, for finer criteria in place of all of them at once; one check says which of these repeat another criterion, and a
second which contradict one; what is left is judged by the same judge and stands for itself. A criterion is refined at
most once: the next round takes up children that came out a tie themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from judge_pipeline.criteria.answers import NONE
from judge_pipeline.criteria.generation import same_words
from judge_pipeline.criteria.pairwise_verdicts import verdict_table, verdicts_on
from judge_pipeline.criteria.questions import (
    CONFLICT,
    DECOMPOSITION,
    ID,
    REDUNDANCY,
    ShownCriterion,
    check_rows,
    decomposition_rows,
)
from judge_pipeline.criteria.replies import Reply, replies
from judge_pipeline.tables.criteria import CHILD_VERDICTS, REFINED_CRITERIA

if TYPE_CHECKING:
    from judge_pipeline.criteria.asking import Ask, PairsToJudge
    from judge_pipeline.settings.criteria import Configuration

Check = Literal["redundancy", "conflict"]

_QUESTIONS = {"redundancy": REDUNDANCY, "conflict": CONFLICT}
_FATES = {"redundancy": ("redundant", "redundancy_unchecked"), "conflict": ("conflicting", "conflict_unchecked")}
_WORDS = {"redundancy": "says the same as", "conflict": "contradicts"}


@dataclass(frozen=True)
class Refined:
    """What refinement came to.

    Attributes:
        criteria: table REFINED_CRITERIA: every criterion that there was, and what became of it.
        child_verdicts: table CHILD_VERDICTS: the verdicts on accepted children.
    """

    criteria: pd.DataFrame
    child_verdicts: pd.DataFrame


def unrefined(criteria: pd.DataFrame) -> Refined:
    """Every generated criterion (table CRITERIA) as it is, where a configuration does not refine."""
    made = [_generated(row) for row in criteria.to_dict("records")]
    return Refined(REFINED_CRITERIA.conform(made), CHILD_VERDICTS.empty())


def refined_by_ties(
    configuration: Configuration, pairs: PairsToJudge, criteria: pd.DataFrame, verdicts: pd.DataFrame, ask: Ask
) -> Refined:
    """Rounds of refinement of what came out a tie in order AB.

    Of each pair a round asks one decomposition, one redundancy check if a child was made, and one conflict check if one
    is left. A tied parent goes when a child of it is accepted; children beyond ``max_criteria`` in force are not. An
    answer that stays invalid settles nothing: without a decomposition the parents stay, and children that could not be
    checked are not accepted.

    Args:
        configuration: ``rounds``, ``max_criteria``, ``swap_filter``, ``criteria_per_call`` and ``prompts`` decide.
        pairs: the pairs.
        criteria: table CRITERIA.
        verdicts: table CRITERION_VERDICTS.
        ask: who answers.
    """
    pools = _pools(pairs, criteria, verdicts)
    judged = []
    for round_ in range(1, configuration.rounds + 1):
        tied = {pair_id: pool.tied for pair_id, pool in pools.items() if pool.tied}
        if not tied:
            break
        _decompose(configuration, pairs, pools, round_, ask)
        for check in ("redundancy", "conflict"):
            _check(configuration, pairs, pools, check, round_, ask)
        accepted = {pair_id: pool.accept(configuration.max_criteria) for pair_id, pool in pools.items()}
        made = verdicts_on(configuration, pairs, accepted, ask, round_=round_)
        judged += made.to_dict("records")
        _take_up_ties(pools, accepted, made)
    rows = [row for pool in pools.values() for row in pool.rows.values()]
    return Refined(REFINED_CRITERIA.conform(rows), CHILD_VERDICTS.conform(judged))


@dataclass(frozen=True)
class RefinementCalls:
    """Calls of refinement by phase, verdicts on children aside (CriterAlign, Table 7)."""

    decomposition: int
    redundancy: int
    conflict: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.decomposition + self.redundancy + self.conflict


def plain_loop_calls(refined: pd.DataFrame, verdicts: pd.DataFrame, rounds: int) -> RefinementCalls:
    """What one call for each criterion would have taken: N_tie + N_sub + N_nonred (CriterAlign, A.3).

    N_tie are tied criteria that were refined, of every round; N_sub the children made of them; N_nonred those that
    passed the redundancy check.

    Args:
        refined: table REFINED_CRITERIA.
        verdicts: tables CRITERION_VERDICTS and CHILD_VERDICTS (``pairwise_verdicts.joined_verdicts``).
        rounds: of the configuration.
    """
    tied, made, left = _phases(refined, verdicts, rounds)
    return RefinementCalls(len(tied), len(made), len(left))


def batched_calls(refined: pd.DataFrame, verdicts: pd.DataFrame, rounds: int) -> RefinementCalls:
    """What the same took in batches: a call a pair and round in which there was something to ask."""
    phases = _phases(refined, verdicts, rounds)
    return RefinementCalls(*(len({(pair_id, round_) for pair_id, round_, _ in phase}) for phase in phases))


_Asked = list[tuple[str, int, str]]


def _phases(refined: pd.DataFrame, verdicts: pd.DataFrame, rounds: int) -> tuple[_Asked, _Asked, _Asked]:
    """(pair_id, round, criterion) of tied criteria that were refined, of children, and of children not redundant."""
    of_ab = verdict_table(verdicts, "AB")
    tied, made, left = [], [], []
    names = ["pair_id", "criterion", "round", "parent", "fate"]
    for pair_id, criterion, round_, parent, fate in refined[names].itertuples(index=False, name=None):
        row = of_ab.get((pair_id, criterion))
        if row is not None and row["verdict"] == "tie" and round_ < rounds:
            tied.append((pair_id, int(round_) + 1, criterion))
        if parent is not None:
            made.append((pair_id, int(round_), criterion))
            if fate not in _FATES["redundancy"]:
                left.append((pair_id, int(round_), criterion))
    return tied, made, left


@dataclass
class _Pool:
    """The criteria of one pair while they are refined.

    Attributes:
        rows: criterion -> its row of REFINED_CRITERIA; of a child that nothing is decided on yet the fate is None.
        tied: what this round refines, with tie rationales.
    """

    rows: dict[str, dict[str, Any]]
    tied: list[ShownCriterion] = field(default_factory=list)

    def in_force(self) -> list[ShownCriterion]:
        return [_shown(row) for row in self.rows.values() if row["fate"] == "kept"]

    def candidates(self) -> list[ShownCriterion]:
        return [_shown(row) for row in self.rows.values() if row["fate"] is None]

    def parents(self) -> dict[str, str]:
        return {id_: row["parent"] for id_, row in self.rows.items() if row["parent"] is not None}

    def add_children(self, answer: Mapping[str, Sequence[Mapping[str, str]]], round_: int, hash_: str | None) -> None:
        """The children in an answer, parent by parent."""
        for parent in self.tied:
            for child in answer[parent.id]:
                id_ = f"t{len(self.parents()) + 1}"
                self.rows[id_] = _row(self.rows[parent.id]["pair_id"], id_, child["text"], child["aspect"], hash_) | {
                    "parent": parent.id, "round": round_, "fate": None,
                }  # fmt: skip

    def drop(self, criterion: str, fate: str, why: str) -> None:
        self.rows[criterion] |= {"fate": fate, "why": why}

    def clashes(self, check: Check, other: str) -> bool:
        """Whether a finding stands: nothing contradicts a candidate that was dropped itself."""
        return other != NONE and (check == "redundancy" or self.rows[other]["fate"] in (None, "kept"))

    def accept(self, max_criteria: int) -> list[ShownCriterion]:
        """The candidates that come into force: of a parent the first in its place, further ones while there is room."""
        accepted = []
        for child in self.candidates():
            parent = self.rows[self.rows[child.id]["parent"]]
            if parent["fate"] != "kept" and len(self.in_force()) >= max_criteria:
                self.drop(child.id, "over_limit", f"{max_criteria} criteria are in force")
                continue
            children = "refined by" if parent["fate"] == "kept" else f"{parent['why']},"
            self.drop(parent["criterion"], "replaced", f"{children} {child.id}")
            self.rows[child.id] |= {"fate": "kept"}
            accepted.append(child)
        return accepted


def _pools(pairs: PairsToJudge, criteria: pd.DataFrame, verdicts: pd.DataFrame) -> dict[str, _Pool]:
    pools: dict[str, _Pool] = {}
    for row in criteria.to_dict("records"):
        pools.setdefault(row["pair_id"], _Pool({})).rows[row["criterion"]] = _generated(row)
    pools = {pair_id: pools[pair_id] for pair_id in pairs.in_order("AB")["pair_id"] if pair_id in pools}
    _take_up_ties(pools, {pair_id: pool.in_force() for pair_id, pool in pools.items()}, verdicts)
    return pools


def _take_up_ties(
    pools: Mapping[str, _Pool], criteria: Mapping[str, Iterable[ShownCriterion]], verdicts: pd.DataFrame
) -> None:
    """What the next round refines: those of these criteria whose verdict in order AB is a tie."""
    of_ab = verdict_table(verdicts, "AB")
    for pair_id, pool in pools.items():
        rows = [(each, of_ab[pair_id, each.id]) for each in criteria.get(pair_id, ())]
        pool.tied = [
            ShownCriterion(each.id, each.text, each.aspect, row["rationale"])
            for each, row in rows
            if row["verdict"] == "tie"
        ]


def _decompose(
    configuration: Configuration, pairs: PairsToJudge, pools: Mapping[str, _Pool], round_: int, ask: Ask
) -> None:
    tied = {pair_id: pool.tied for pair_id, pool in pools.items()}
    others = {pair_id: _others(pool) for pair_id, pool in pools.items()}
    rows = decomposition_rows(pairs, tied, others, round_, configuration.prompts)
    for pair_id, reply in _by_pair(rows, replies(ask, "decomposition", DECOMPOSITION, rows)):
        if reply.answer is not None:
            pools[pair_id].add_children(reply.answer, round_, reply.request_hash)


def _others(pool: _Pool) -> list[ShownCriterion]:
    tied = {each.id for each in pool.tied}
    return [each for each in pool.in_force() if each.id not in tied]


def _check(
    configuration: Configuration, pairs: PairsToJudge, pools: Mapping[str, _Pool], check: Check, round_: int, ask: Ask
) -> None:
    """Drop the candidates that the check finds to clash, and all of a pair whose check has no valid answer."""
    candidates = {pair_id: pool.candidates() for pair_id, pool in pools.items()}
    parents = {pair_id: pool.parents() for pair_id, pool in pools.items()}
    existing = {pair_id: pool.in_force() for pair_id, pool in pools.items()}
    rows = check_rows(pairs, check, candidates, parents, existing, round_, configuration.prompts)
    clashes, unchecked = _FATES[check]
    for pair_id, reply in _by_pair(rows, replies(ask, check, _QUESTIONS[check], rows)):
        pool = pools[pair_id]
        twins = _twins([*existing[pair_id], *candidates[pair_id]]) if check == "redundancy" else {}
        for child in candidates[pair_id]:
            if child.id in twins:
                pool.drop(child.id, clashes, f"has the same words as {twins[child.id]}")
            elif reply.answer is None:
                pool.drop(child.id, unchecked, f"the {check} check has no valid answer: {reply.failure}")
            elif pool.clashes(check, reply.answer[child.id]["other"]):
                finding = reply.answer[child.id]
                pool.drop(child.id, clashes, f"{_WORDS[check]} {finding['other']}: {finding['reason']}")


def _twins(criteria: Sequence[ShownCriterion]) -> dict[str, str]:
    """Criterion -> the first before it with the same words."""
    first: dict[str, str] = {}
    for each in criteria:
        first.setdefault(same_words(each.text), each.id)
    return {each.id: first[same_words(each.text)] for each in criteria if first[same_words(each.text)] != each.id}


def _by_pair(rows: pd.DataFrame, answered: Mapping[str, Reply]) -> list[tuple[str, Reply]]:
    return [(row["pair_id"], answered[row[ID]]) for row in rows.to_dict("records")]


def _generated(row: Mapping[Any, Any]) -> dict[str, Any]:
    made = _row(row["pair_id"], row["criterion"], row["text"], row["aspect"], row["request_hash"])
    return made | {"weight": row["weight"], "round": 0, "fate": "kept"}


def _row(pair_id: str, criterion: str, text: str, aspect: str, request_hash: str | None) -> dict[str, Any]:
    made: dict[str, Any] = dict.fromkeys(REFINED_CRITERIA.column_names)
    return made | {
        "pair_id": pair_id, "criterion": criterion, "text": text, "aspect": aspect, "request_hash": request_hash,
    }  # fmt: skip


def _shown(row: Mapping[str, Any]) -> ShownCriterion:
    return ShownCriterion(row["criterion"], row["text"], row["aspect"])
