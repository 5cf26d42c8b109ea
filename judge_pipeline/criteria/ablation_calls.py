"""What configurations took: requests, calls, tokens and money, and what batches save (CriterAlign, Table 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from judge_pipeline.criteria.ablation_rows import Row, Subject, row_of
from judge_pipeline.criteria.pairwise_verdicts import joined_verdicts
from judge_pipeline.criteria.refinement import RefinementCalls, batched_calls, plain_loop_calls
from judge_pipeline.estimate import Estimate
from judge_pipeline.tables.criteria import CHILD_VERDICTS
from judge_pipeline.tables.criteria_ablation import CALL_FIGURES, REFINEMENT_PHASES

if TYPE_CHECKING:
    from judge_pipeline.settings.criteria import Configuration
    from judge_pipeline.tables.criteria_ablation import JudgedTables

TABLE = "7"


def call_rows(judged: JudgedTables) -> list[Row]:
    """Totals over all pairs and stages, and the same a pair; stored answers and stages in common are included.

    So a row says what its configuration takes alone, whatever others share with it. Totals have no interval.
    """
    if judged.criteria_calls is None:
        return []
    rows, n = [], len(judged.criteria_decisions)
    for name in CALL_FIGURES:
        total = _total(judged.criteria_calls[name], n)
        value = None if total.value is None or not n else total.value / n
        a_pair = Estimate(value, n, 0, None, total.reason if n else "no pair was decided")
        for figure, estimate in ((name, total), (f"{name}_per_pair", a_pair)):
            subject = Subject(None, None, judged.judge, judged.configuration, None, None, figure)
            rows.append(row_of(subject, estimate))
    return rows


def _total(values: pd.Series, n: int) -> Estimate:
    unknown = int(values.isna().sum())
    if not len(values):
        return Estimate.undefined("no stage was counted", n)
    if unknown:
        which = "any stage" if unknown == len(values) else f"{unknown} of {len(values)} stages"
        return Estimate.undefined(f"not known of {which}", n)
    return Estimate(float(values.sum()), n)


def refinement_calls(
    judged: JudgedTables, configuration: Configuration
) -> tuple[RefinementCalls, RefinementCalls] | None:
    """Calls of refinement one by one, N_tie + N_sub + N_nonred, and in batches; None where nothing was refined so.

    Args:
        judged: its criteria and verdicts are looked at.
        configuration: its settings.
    """
    if configuration.refinement != "btcr" or judged.refined_criteria is None or judged.criterion_verdicts is None:
        return None
    children = CHILD_VERDICTS.empty() if judged.child_verdicts is None else judged.child_verdicts
    verdicts = joined_verdicts(judged.criterion_verdicts, children)
    refined, rounds = judged.refined_criteria, configuration.rounds
    return plain_loop_calls(refined, verdicts, rounds), batched_calls(refined, verdicts, rounds)


def saving_rows(judged: JudgedTables, configuration: Configuration) -> list[Row]:
    """Table 7 of one configuration: counts, without intervals."""
    calls = refinement_calls(judged, configuration)
    if calls is None:
        return []
    rows, n = [], len(judged.criteria_decisions)
    for way, counted in zip(("plain", "btcr"), calls, strict=True):
        for phase in REFINEMENT_PHASES:
            subject = Subject(TABLE, None, judged.judge, judged.configuration, None, None, f"{phase}_{way}")
            rows.append(row_of(subject, Estimate(float(getattr(counted, phase)), n)))
    return rows


def not_as_formula(judged: JudgedTables, configuration: Configuration) -> list[str]:
    """Where the calls that were counted are not those that the tables ask for, in words."""
    calls = refinement_calls(judged, configuration)
    if calls is None or judged.criteria_calls is None:
        return []
    counted = dict(zip(judged.criteria_calls["stage"], judged.criteria_calls["n_requests"], strict=True))
    wrong = []
    for phase in REFINEMENT_PHASES:
        expected, found = getattr(calls[1], phase), counted.get(phase, 0)
        if phase != "total" and expected != found:
            wrong.append(f"{judged.name}: {phase}: {found} requests, {expected} follow from its tables")
    return wrong
