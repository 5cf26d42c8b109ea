"""Differences between judges on the pairs that both were asked about, under the same resamples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judge_pipeline.preference.figure_rows import Figure, Row, Subject, figure_rows
from judge_pipeline.preference.judged_pairs import JudgedPairs
from judge_pipeline.preference.scoring_rules import BoolArray, Scores, ScoringRule
from judge_pipeline.statistics.ratio_bootstrap import Clusters, Term

_Shares = dict[str, tuple[BoolArray, BoolArray]]
"""Figure -> the pairs in its numerator and in its denominator."""


def difference_rows(pairs: JudgedPairs, rule: ScoringRule, scores: Sequence[Scores], clusters: Clusters) -> list[Row]:
    """The first judge's Acc, Acc_PC and consistent share less the second's, for every two judges."""
    rows: list[Row] = []
    shares = [_shares(pairs, j, of) for j, of in enumerate(scores)]
    for i, first in enumerate(pairs.judges):
        figures = {}
        for j in range(i + 1, len(pairs.judges)):
            for name in shares[i].keys() & shares[j].keys():
                subject = Subject("difference", first, pairs.judges[j], None, name)
                figures[subject] = _difference(name, (scores[i], scores[j]), (shares[i][name], shares[j][name]))
        rows += figure_rows(rule.name, dict(sorted(figures.items(), key=lambda item: _place(pairs, item[0]))), clusters)
    return rows


def _place(pairs: JudgedPairs, subject: Subject) -> tuple[int, str]:
    return pairs.judges.index(str(subject.other)), subject.figure


def _shares(pairs: JudgedPairs, judge: int, scores: Scores) -> _Shares:
    found: _Shares = {"acc": (scores.right, scores.counted)}
    if scores.choice is not None:
        found["acc_pc"] = (scores.right & scores.choice, scores.choice)
    ab, ba = pairs.of_judge(judge)
    if ba is not None:
        found["consistent_share"] = (scores.offered & (ab == ba) & (ab >= 0), scores.offered)
    return found


def _difference(
    name: str, scores: tuple[Scores, Scores], shares: tuple[tuple[BoolArray, BoolArray], tuple[BoolArray, BoolArray]]
) -> Figure:
    """Acc on the pairs that count for both; Acc_PC on each one's valid choices among the pairs asked of both."""
    (right_1, of_1), (right_2, of_2) = shares
    both = of_1 & of_2 if name == "acc" else scores[0].offered & scores[1].offered
    terms = [Term(right_1 & both, of_1 & both), Term(right_2 & both, of_2 & both, -1.0)]
    n, n_pairs = int(both.sum()), len(both)
    why = "no pair counts for both" if not np.any(both) else "one of the two has no valid choice"
    return Figure(terms, n, n_pairs - n, why, (), 0.0)
