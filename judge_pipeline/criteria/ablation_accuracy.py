"""Accuracy of configurations and what each gains over another, on the same pairs (CriterAlign, Tables 1-5 and 8).

Acc is the share of pairs whose one decision (A, B or tie) is the label, both bad being a tie, as BigCodeReward counts;
an invalid decision is wrong. A gain is the difference of two Accs on the pairs that both decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judge_pipeline.criteria.ablation_pairs import AblationPairs
from judge_pipeline.criteria.ablation_rows import Subject
from judge_pipeline.preference.figure_rows import Figure
from judge_pipeline.preference.verdicts import CHOICES, INVALID, NOT_ASKED, TIE, A, B
from judge_pipeline.statistics.ratio_bootstrap import Term
from judge_pipeline.tables.criteria_ablation import FLOORS

if TYPE_CHECKING:
    from judge_pipeline.preference.scoring_rules import BoolArray
    from judge_pipeline.statistics.score_counts import IntArray
    from judge_pipeline.tables.criteria_ablation import JudgedTables

NOT_DECIDED = "no pair was decided"


@dataclass(frozen=True)
class Decided:
    """A configuration's decisions beside the labels; arrays of shape (pairs,).

    Attributes:
        choice: codes of ``preference.verdicts``.
        there: the pair was decided, validly or not.
        right: the decision is the label.
        without_evidence: the rule for pairs without evidence decided.
    """

    choice: IntArray
    there: BoolArray
    right: BoolArray
    without_evidence: BoolArray


def decided_by(pairs: AblationPairs, judged: JudgedTables) -> Decided:
    """What one configuration decided."""
    choice = pairs.decided(judged)
    there = choice != NOT_ASKED
    rows = judged.criteria_decisions
    empty = pairs.counts(rows[rows["decided_by"] == "no_evidence"]) > 0
    return Decided(choice, there, there & (choice == pairs.labels), empty)


def accuracy_figures(pairs: AblationPairs, judged: JudgedTables, own: Decided) -> dict[Subject, Figure]:
    """Acc over all pairs and by category, and how decisions come out."""

    def subject(figure: str, category: str | None = None) -> Subject:
        return Subject(None, None, judged.judge, judged.configuration, None, category, figure)

    figures = {subject("acc"): acc_figure(own)}
    for category in pairs.named_categories():
        figures[subject("acc", category)] = acc_figure(own, pairs.of_category(category))
    invalid = own.there & (own.choice == INVALID)
    figures[subject("invalid_share")] = _share(invalid, own.there)
    figures[subject("no_evidence_share")] = _share(own.without_evidence & own.there, own.there)
    skew = [Term(own.choice == A, own.there), Term(own.choice == B, own.there, -1.0)]
    n = int(own.there.sum())
    figures[subject("decision_skew")] = Figure(skew, n, len(own.there) - n, NOT_DECIDED)
    return figures


def acc_figure(own: Decided, here: BoolArray | None = None) -> Figure:
    """Acc on the pairs that were decided, of those that ``here`` says; all by default."""
    among = np.ones(len(own.there), np.bool_) if here is None else here
    invalid = int((own.there & among & (own.choice == INVALID)).sum())
    notes = (f"{invalid} invalid decisions count as wrong",) if invalid else ()
    return _share(own.right & among, own.there & among, notes, here)


def change_figures(
    pairs: AblationPairs, judged: JudgedTables, own: Decided, monolithic: str, other: Decided
) -> dict[Subject, Figure]:
    """What a configuration does otherwise than the judge's monolithic one; Acc gains are mended less spoiled.

    Args:
        pairs: the pairs.
        judged: the configuration.
        own: its decisions.
        monolithic: the monolithic configuration.
        other: its decisions.
    """
    both = own.there & other.there
    subject = Subject(None, None, judged.judge, judged.configuration, monolithic, None, "")
    parts = {
        "changed_share": own.choice != other.choice,
        "mended_share": own.right & ~other.right,
        "spoiled_share": other.right & ~own.right,
    }
    figures = {subject._replace(figure=name): _share(part & both, both) for name, part in parts.items()}
    gain = subject._replace(figure="gain_over_monolithic")
    figures[gain] = gain_figure(own, other)
    for category in pairs.named_categories():
        figures[gain._replace(category=category)] = gain_figure(own, other, pairs.of_category(category))
    return figures


def gain_figure(own: Decided, other: Decided, here: BoolArray | None = None) -> Figure:
    """Acc of one less Acc of the other on the pairs that both decided, tested against no gain."""
    among = np.ones(len(own.there), np.bool_) if here is None else here
    both = own.there & other.there & among
    n = int(both.sum())
    terms = [Term(own.right & both, both), Term(other.right & both, both, -1.0)]
    return Figure(terms, n, int(among.sum()) - n, "no pair was decided by both", (), 0.0)


def floor_figures(pairs: AblationPairs) -> dict[Subject, Figure]:
    """Acc of what needs no judgment, on all pairs and by category; the most frequent label is that of all pairs."""
    most = int(np.bincount(pairs.labels, minlength=len(CHOICES)).argmax()) if len(pairs.labels) else TIE
    chosen: Mapping[str, IntArray | int] = dict(
        zip(FLOORS, (A, B, TIE, most, np.where(pairs.longer == INVALID, TIE, pairs.longer)), strict=True)
    )
    figures = {}
    for name, choice in chosen.items():
        right = pairs.labels == choice
        for category in (None, *pairs.named_categories()):
            here = pairs.of_category(category)
            notes = ("equally long: tie",) if name == FLOORS[-1] and (pairs.longer[here] == INVALID).any() else ()
            figures[Subject(None, None, name, None, None, category, "acc")] = _share(right & here, here, notes, here)
    return figures


def _share(part: BoolArray, whole: BoolArray, notes: tuple[str, ...] = (), here: BoolArray | None = None) -> Figure:
    n, offered = int(whole.sum()), len(whole) if here is None else int(here.sum())
    return Figure([Term(part, whole)], n, offered - n, NOT_DECIDED, notes)
