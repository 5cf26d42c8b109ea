"""Tied criteria are replaced by finer ones, in batches (CriterAlign, section 3.3, BTCR).

A tie in order AB may mean that a criterion is too coarse to show the difference. Each round asks, of every pair with
ties, for finer criteria in place of all of them at once; one check says which of these repeat another criterion, and a
second which contradict one; what is left is judged by the same judge and stands for itself. A criterion is refined at
most once: the next round takes up children that came out a tie themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from judge_pipeline.criteria.pairwise_verdicts import verdict_table, verdicts_on
from judge_pipeline.criteria.pools import CHECKS, FATES, QUESTIONS, Check, Pool, generated_row, pools_of, take_up, ties
from judge_pipeline.criteria.questions import DECOMPOSITION, ID, check_rows, decomposition_rows
from judge_pipeline.criteria.replies import replies
from judge_pipeline.tables.criteria import CHILD_ANSWERS, CHILD_VERDICTS, REFINED_CRITERIA

if TYPE_CHECKING:
    from judge_pipeline.criteria.asking import Ask, PairsToJudge
    from judge_pipeline.settings.criteria import Configuration


@dataclass(frozen=True)
class Refined:
    """What refinement came to.

    Attributes:
        criteria: table REFINED_CRITERIA: every criterion that there was, and what became of it.
        child_verdicts: table CHILD_VERDICTS: the verdicts on accepted children.
        child_answers: table CHILD_ANSWERS: the same of a pointwise criterion judge.
    """

    criteria: pd.DataFrame
    child_verdicts: pd.DataFrame = field(default_factory=CHILD_VERDICTS.empty)
    child_answers: pd.DataFrame = field(default_factory=CHILD_ANSWERS.empty)


def unrefined(criteria: pd.DataFrame) -> Refined:
    """Every generated criterion (table CRITERIA) as it is, where a configuration does not refine."""
    return Refined(REFINED_CRITERIA.conform([generated_row(row) for row in criteria.to_dict("records")]))


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
    pools = pools_of(pairs, criteria)
    take_up(pools, {pair_id: pool.in_force() for pair_id, pool in pools.items()}, ties(verdicts))
    judged = []
    for round_ in range(1, configuration.rounds + 1):
        if not any(pool.open for pool in pools.values()):
            break
        _decompose(configuration, pairs, pools, round_, ask)
        for check in CHECKS:
            _check(configuration, pairs, pools, check, round_, ask)
        accepted = {pair_id: pool.accept(configuration.max_criteria) for pair_id, pool in pools.items()}
        made = verdicts_on(configuration, pairs, accepted, ask, round_=round_)
        judged += made.to_dict("records")
        take_up(pools, accepted, ties(made))
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
            if fate not in FATES["redundancy"]:
                left.append((pair_id, int(round_), criterion))
    return tied, made, left


def _decompose(
    configuration: Configuration, pairs: PairsToJudge, pools: Mapping[str, Pool], round_: int, ask: Ask
) -> None:
    tied = {pair_id: pool.open for pair_id, pool in pools.items()}
    others = {pair_id: pool.others() for pair_id, pool in pools.items()}
    rows = decomposition_rows(pairs, tied, others, round_, configuration.prompts)
    answered = replies(ask, "decomposition", DECOMPOSITION, rows)
    for row in rows.to_dict("records"):
        pool, reply = pools[row["pair_id"]], answered[row[ID]]
        children = reply.answer or {}
        for parent in pool.open:
            pool.add_children(parent.id, children.get(parent.id, ()), round_, reply.request_hash)


def _check(
    configuration: Configuration, pairs: PairsToJudge, pools: Mapping[str, Pool], check: Check, round_: int, ask: Ask
) -> None:
    candidates = {pair_id: pool.candidates() for pair_id, pool in pools.items()}
    parents = {pair_id: pool.parents() for pair_id, pool in pools.items()}
    existing = {pair_id: pool.in_force() for pair_id, pool in pools.items()}
    rows = check_rows(pairs, check, candidates, parents, existing, round_, configuration.prompts)
    answered = replies(ask, check, QUESTIONS[check], rows)
    for row in rows.to_dict("records"):
        pair_id = row["pair_id"]
        pools[pair_id].settle(check, dict.fromkeys((each.id for each in candidates[pair_id]), answered[row[ID]]))
