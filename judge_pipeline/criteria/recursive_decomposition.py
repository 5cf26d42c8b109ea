"""Criteria that do not tell the responses apart are decomposed one by one (RRD; CriterAlign, section 3.2 and A.3).

RRD decomposes a criterion that both responses meet; made pairwise, one whose verdict is a tie. Each takes a call of its
own, and so does each check of a child: N_tie + N_sub + N_nonred calls a round, where batches (``refinement``) take
three a pair at most. Rules of what stands are the same for both (``pools``): a parent goes when a child of it is
accepted, and is decomposed at most once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from judge_pipeline.criteria.baseline_questions import (
    POINTWISE_DECOMPOSITION,
    single_check_rows,
    single_decomposition_rows,
)
from judge_pipeline.criteria.pairwise_verdicts import verdicts_on
from judge_pipeline.criteria.pointwise import answers_on, met_by_both
from judge_pipeline.criteria.pools import CHECKS, QUESTIONS, Check, Pool, pools_of, take_up, ties
from judge_pipeline.criteria.questions import DECOMPOSITION, ID, ShownCriterion
from judge_pipeline.criteria.refinement import Refined
from judge_pipeline.criteria.replies import replies
from judge_pipeline.tables.criteria import CHILD_ANSWERS, CHILD_VERDICTS, REFINED_CRITERIA

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.criteria.asking import Ask, PairsToJudge
    from judge_pipeline.settings.criteria import Configuration

_Met = dict[tuple[str, str], dict[str, str]]
_JudgeChildren = Callable[[Mapping[str, Sequence[ShownCriterion]], int], "pd.DataFrame"]


def decomposed_ties(
    configuration: Configuration, pairs: PairsToJudge, criteria: pd.DataFrame, verdicts: pd.DataFrame, ask: Ask
) -> Refined:
    """Pairwise RRD: what came out a tie in order AB is decomposed, and children are judged by the pairwise judge.

    Args:
        configuration: ``rounds``, ``max_criteria``, ``swap_filter``, ``criteria_per_call`` and ``prompts`` decide.
        pairs: the pairs.
        criteria: table CRITERIA.
        verdicts: table CRITERION_VERDICTS.
        ask: who answers.
    """

    def judge(children: Mapping[str, Sequence[ShownCriterion]], round_: int) -> pd.DataFrame:
        return verdicts_on(configuration, pairs, children, ask, round_=round_)

    made, judged = _decomposed(configuration, pairs, criteria, verdicts, judge, None, ask)
    return Refined(made, child_verdicts=CHILD_VERDICTS.conform(judged))


def decomposed_met(
    configuration: Configuration, pairs: PairsToJudge, criteria: pd.DataFrame, answers: pd.DataFrame, ask: Ask
) -> Refined:
    """Pointwise RRD: what both responses meet is decomposed, and children are judged by the pointwise judge.

    Args:
        configuration: ``rounds``, ``max_criteria``, ``criteria_per_call``, ``unanswered`` and ``prompts`` decide.
        pairs: the pairs.
        criteria: table CRITERIA.
        answers: table CRITERION_ANSWERS.
        ask: who answers.
    """

    def judge(children: Mapping[str, Sequence[ShownCriterion]], round_: int) -> pd.DataFrame:
        return answers_on(configuration, pairs, children, ask, round_=round_)

    made, judged = _decomposed(configuration, pairs, criteria, answers, judge, {}, ask)
    return Refined(made, child_answers=CHILD_ANSWERS.conform(judged))


def _decomposed(
    configuration: Configuration, pairs: PairsToJudge, criteria: pd.DataFrame, judged: pd.DataFrame,
    judge_children: _JudgeChildren, met: _Met | None, ask: Ask,
) -> tuple[pd.DataFrame, list[dict[str, object]]]:  # fmt: skip
    """Rounds of decomposition.

    Args:
        configuration: what decides.
        pairs: the pairs.
        criteria: table CRITERIA.
        judged: verdicts or answers on them.
        judge_children: accepted children, round -> verdicts or answers on them.
        met: where answers are pointwise, what both responses meet, to be filled in; None where verdicts are pairwise.
        ask: who answers.

    Returns:
        Table REFINED_CRITERIA, and the rows of verdicts or answers on children.
    """
    pools = pools_of(pairs, criteria)
    looked_at: Mapping[str, Sequence[ShownCriterion]] = {pair_id: pool.in_force() for pair_id, pool in pools.items()}
    of_children = []
    for round_ in range(1, configuration.rounds + 1):
        if met is None:
            take_up(pools, looked_at, ties(judged))
        else:
            met |= met_by_both(judged)
            take_up(pools, looked_at, dict.fromkeys(met))
        if not any(pool.open for pool in pools.values()):
            break
        _decompose(configuration, pairs, pools, met, round_, ask)
        for check in CHECKS:
            _check(configuration, pairs, pools, check, round_, ask)
        looked_at = {pair_id: pool.accept(configuration.max_criteria) for pair_id, pool in pools.items()}
        judged = judge_children(looked_at, round_)
        of_children += judged.to_dict("records")
    rows = [row for pool in pools.values() for row in pool.rows.values()]
    return REFINED_CRITERIA.conform(rows), of_children


def _decompose(
    configuration: Configuration, pairs: PairsToJudge, pools: Mapping[str, Pool], met: _Met | None, round_: int,
    ask: Ask,
) -> None:  # fmt: skip
    open_ = {pair_id: pool.open for pair_id, pool in pools.items()}
    in_force = {pair_id: pool.in_force() for pair_id, pool in pools.items()}
    rows = single_decomposition_rows(pairs, open_, in_force, met, round_, configuration.prompts)
    question = DECOMPOSITION if met is None else POINTWISE_DECOMPOSITION
    answered = replies(ask, "decomposition", question, rows)
    for row in rows.to_dict("records"):
        reply, parent = answered[row[ID]], row["parent"]
        children = () if reply.answer is None else reply.answer[parent]
        pools[row["pair_id"]].add_children(parent, children, round_, reply.request_hash)


def _check(
    configuration: Configuration, pairs: PairsToJudge, pools: Mapping[str, Pool], check: Check, round_: int, ask: Ask
) -> None:
    candidates = {pair_id: pool.candidates() for pair_id, pool in pools.items()}
    parents = {pair_id: pool.parents() for pair_id, pool in pools.items()}
    in_force = {pair_id: pool.in_force() for pair_id, pool in pools.items()}
    rows = single_check_rows(pairs, check, candidates, parents, in_force, round_, configuration.prompts)
    answered = replies(ask, check, QUESTIONS[check], rows)
    found = {(row["pair_id"], row["candidate"]): answered[row[ID]] for row in rows.to_dict("records")}
    for pair_id, pool in pools.items():
        pool.settle(check, {each.id: found[pair_id, each.id] for each in candidates[pair_id]})
