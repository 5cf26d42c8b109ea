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
TOTAL = "total"


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
    """Table 7 of one configuration whose criterion judge is pairwise: counts, without intervals.

    Of one that refines in batches, what follows from its tables for the plain loop and for batches; of any that
    refines, the requests that there were, so that a plain loop that was run stands beside what it would have taken.
    """
    if configuration.refinement == "none" or configuration.criterion_judge != "pairwise" or configuration.is_monolithic:
        return []
    counted: dict[str, int] = {}
    for way, calls in zip(("plain", "btcr"), refinement_calls(judged, configuration) or (), strict=False):
        counted |= {f"{phase}_{way}": getattr(calls, phase) for phase in REFINEMENT_PHASES}
    counted |= {f"{phase}_asked": n for phase, n in _asked(judged).items()}
    n_pairs = len(judged.criteria_decisions)
    subject = Subject(TABLE, None, judged.judge, judged.configuration, None, None, "")
    return [row_of(subject._replace(figure=name), Estimate(float(n), n_pairs)) for name, n in counted.items()]


def _asked(judged: JudgedTables) -> dict[str, int]:
    """Phase -> requests that there were; nothing where they were not counted."""
    if judged.criteria_calls is None:
        return {}
    counted = dict(zip(judged.criteria_calls["stage"], judged.criteria_calls["n_requests"], strict=True))
    phases = {phase: int(counted.get(phase, 0)) for phase in REFINEMENT_PHASES if phase != TOTAL}
    return {**phases, TOTAL: sum(phases.values())}


def not_as_formula(judged: JudgedTables, configuration: Configuration) -> list[str]:
    """Where there were more requests of refinement than its tables call for, or none of those, in words.

    There may be fewer: a request that several pairs have in common is one.
    """
    calls, asked = refinement_calls(judged, configuration), _asked(judged)
    if calls is None:
        return []
    expected = {phase: getattr(calls[1], phase) for phase in asked}
    return [
        f"{judged.name}: {phase}: {found} requests, {expected[phase]} follow from its tables"
        for phase, found in asked.items()
        if phase != TOTAL and (found > expected[phase] or (not found and expected[phase]))
    ]
