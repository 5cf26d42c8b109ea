"""Whether judges choose as people do: accuracy, position and length bias, families and floors (TRACE, Table 2)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd

from judge_pipeline.preference.accuracy_differences import difference_rows
from judge_pipeline.preference.choice_agreement import agreement_rows, people_rows
from judge_pipeline.preference.figure_rows import Figure, Row, Subject, figure_rows, with_holm
from judge_pipeline.preference.judged_pairs import JudgedPairs, PairError, judged_pairs
from judge_pipeline.preference.scoring_rules import SCORING_RULES, BoolArray, Scores, ScoringRule
from judge_pipeline.preference.verdicts import CHOICES, INVALID, NOT_ASKED, TIE, A, B
from judge_pipeline.statistics.bootstrap import N_RESAMPLES
from judge_pipeline.statistics.ratio_bootstrap import Clusters, Term
from judge_pipeline.statistics.score_counts import IntArray
from judge_pipeline.tables.preference_accuracy import PREFERENCE_ACCURACY

ONE_ORDER = "needs both orders, and there is no decision in order BA (decision_ba)"
SEEN_IN_ONE_ORDER = "one order only: what a judge owes to the place of a response is not seen"
OF_A_CATEGORY = ("acc", "acc_pc", "consistent_share", "first_slot_share")
OF_A_FAMILY = ("acc", "acc_pc", "gap", "first_slot_share")


def preference_accuracy(
    decisions: pd.DataFrame,
    *,
    rule: str = "trace",
    seed: int = 0,
    n_resamples: int = N_RESAMPLES,
    further_rules: Collection[str] = (),
) -> pd.DataFrame:
    """Every figure of how judges choose beside people, under one scoring rule; table PREFERENCE_ACCURACY.

    Intervals: cluster bootstrap over pairs, or over clusters of pairs where the decisions state them, the same draws
    for all judges. p-values are two-sided, and corrected (Holm) over the rows of one figure.

    Args:
        decisions: as ``judged_pairs`` takes them.
        rule: a name of ``SCORING_RULES``.
        seed: seed of the bootstrap.
        n_resamples: resamples behind each interval.
        further_rules: rules whose figures of judges and floors over all pairs follow, so that numbers can be set beside
            those of other papers; the rest of the table is of ``rule`` alone.

    Raises:
        PairError: the decisions cannot be evaluated, or no rule has such a name.
    """
    for name in (rule, *further_rules):
        if name not in SCORING_RULES:
            raise PairError(f"no scoring rule is called {name!r}. Remedy: one of {', '.join(SCORING_RULES)}")
    pairs = judged_pairs(decisions)
    clusters = Clusters(pairs.cluster, pairs.n_clusters, seed, n_resamples)
    rows = _all_rows(pairs, SCORING_RULES[rule], clusters)
    for name in dict.fromkeys(further_rules):
        if name != rule:
            rows += _judges_and_floors(pairs, SCORING_RULES[name], clusters)
    return PREFERENCE_ACCURACY.conform(rows)


def _all_rows(pairs: JudgedPairs, scoring: ScoringRule, clusters: Clusters) -> list[Row]:
    rule = scoring.name
    scores = [scoring.score(pairs.labels, *pairs.of_judge(j)) for j in range(len(pairs.judges))]
    rows: list[Row] = []
    of_judges: list[Mapping[str, Figure]] = []
    for j, judge in enumerate(pairs.judges):
        of_judges.append(judge_figures(pairs, scoring, scores[j], j))
        figures = {Subject("judge", judge, None, None, name): figure for name, figure in of_judges[j].items()}
        rows += figure_rows(rule, {**figures, **_by_category(pairs, scoring, scores[j], j)}, clusters)
    rows += figure_rows(rule, _families(pairs, of_judges), clusters)
    rows += figure_rows(rule, _floors(pairs, scoring), clusters)
    rows += difference_rows(pairs, scoring, scores, clusters)
    rows += agreement_rows(pairs, scoring, clusters)
    rows += people_rows(pairs, scoring, scores, clusters)
    return with_holm(rows)


def _judges_and_floors(pairs: JudgedPairs, scoring: ScoringRule, clusters: Clusters) -> list[Row]:
    figures: dict[Subject, Figure] = {}
    for j, judge in enumerate(pairs.judges):
        scores = scoring.score(pairs.labels, *pairs.of_judge(j))
        of_judge = judge_figures(pairs, scoring, scores, j)
        figures |= {Subject("judge", judge, None, None, name): figure for name, figure in of_judge.items()}
    return with_holm(figure_rows(scoring.name, {**figures, **_floors(pairs, scoring)}, clusters))


def judge_figures(
    pairs: JudgedPairs, rule: ScoringRule, scores: Scores, judge: int, among: BoolArray | None = None
) -> dict[str, Figure]:
    """The figures of one judge.

    Args:
        pairs: the pairs.
        rule: the scoring rule.
        scores: the judge's answers under it.
        judge: the judge's place.
        among: which pairs to look at; all by default.
    """
    here = np.ones(len(pairs.labels), np.bool_) if among is None else among
    ab, ba = pairs.of_judge(judge)
    offered, counted = scores.offered & here, scores.counted & here
    total, n_offered = int(here.sum()), int(offered.sum())
    notes = _left_out_notes(pairs, rule, ab, here)
    seen = (*notes, SEEN_IN_ONE_ORDER) if ba is None and rule.two_orders else notes
    n = int(counted.sum())
    acc = Figure([Term(scores.right & here, counted)], n, total - n, "no pair counts under the rule", seen)
    figures = {"acc": acc, **_of_choices(rule, scores, here, acc, notes, both=ba is not None)}
    for name, share in _of_both_orders(ab, ba).items():
        terms = [] if share is None else [Term(share & offered, offered)]
        why = ONE_ORDER if share is None else "no pair was asked of the judge"
        figures[name] = Figure(terms, n_offered if terms else 0, total - (n_offered if terms else 0), why, notes)
    figures["first_slot_share"] = _first_slot(ab, ba, here, total, _not_asked_notes(ab, here))
    return {**figures, **_length_figures(pairs, ab, ba, offered, total, notes)}


def _left_out_notes(pairs: JudgedPairs, rule: ScoringRule, ab: IntArray, here: BoolArray) -> tuple[str, ...]:
    notes = list(_not_asked_notes(ab, here))
    tied = 0 if rule.ties else int((here & (ab != NOT_ASKED) & (pairs.labels == TIE)).sum())
    if tied:
        notes.append(f"{_pairs(tied)} that people call a tie {_of_number(tied, 'is', 'are')} left out")
    return tuple(notes)


def _not_asked_notes(ab: IntArray, here: BoolArray) -> tuple[str, ...]:
    n = int((here & (ab == NOT_ASKED)).sum())
    return (f"{_pairs(n)} of other judges {_of_number(n, 'has', 'have')} no row of this one",) if n else ()


def _pairs(n: int) -> str:
    return f"{n} {_of_number(n, 'pair', 'pairs')}"


def _of_number(n: int, one: str, more: str) -> str:
    return one if n == 1 else more


def _of_choices(
    rule: ScoringRule, scores: Scores, here: BoolArray, acc: Figure, notes: tuple[str, ...], *, both: bool
) -> dict[str, Figure]:
    """Acc_PC, its distance from Acc, and the share of pairs that it rests on."""
    total = int(here.sum())
    if scores.choice is None:
        why = ONE_ORDER if rule.two_orders and not both else f"the rule {rule.name} looks at one order"
        return {name: Figure([], 0, total, why) for name in ("acc_pc", "gap", "choice_share")}
    choice, offered = scores.choice & here, scores.offered & here
    n, n_offered = int(choice.sum()), int(offered.sum())
    kept = Term(scores.right & choice, choice)
    why = "no choice is valid and the same in both orders"
    return {
        "acc_pc": Figure([kept], n, total - n, why, notes),
        "gap": Figure([kept, *(Term(t.numerator, t.denominator, -1.0) for t in acc.terms)], acc.n, acc.n_left_out, why),
        "choice_share": Figure([Term(choice, offered)], n_offered, total - n_offered, "no pair was asked", notes),
    }


def _of_both_orders(ab: IntArray, ba: IntArray | None) -> dict[str, BoolArray | None]:
    if ba is None:
        return {"consistent_share": None, "valid_share": None}
    return {"consistent_share": (ab == ba) & (ab >= 0), "valid_share": (ab >= 0) & (ba >= 0)}


def _first_slot(ab: IntArray, ba: IntArray | None, here: BoolArray, total: int, notes: tuple[str, ...]) -> Figure:
    """A in order AB and B in order BA, of all answers that choose; 0.5 where the place of a response is nothing.

    Counts answers, two for each of the ``total`` pairs, whatever people chose on them: also of those they call a tie.
    """
    if ba is None:
        return Figure([], 0, 2 * total, f"{ONE_ORDER}; what is first and what is better are one thing")
    first = ((ab == A).astype(float) + (ba == B)) * here
    answers = (np.isin(ab, (A, B)).astype(float) + np.isin(ba, (A, B))) * here
    n = int(answers.sum())
    return Figure([Term(first, answers)], n, 2 * total - n, "no answer chooses A or B", notes, 0.5)


def _length_figures(
    pairs: JudgedPairs, ab: IntArray, ba: IntArray | None, offered: BoolArray, total: int, notes: tuple[str, ...]
) -> dict[str, Figure]:
    """The share of answers that choose the longer response, and that less people's on the same answers' pairs.

    Counts answers, one for each order of the ``total`` pairs.
    """
    longer = longer_response(pairs)
    if not (longer >= 0).any():
        return {}
    sides = [ab] if ba is None else [ab, ba]
    usable = offered & (longer >= 0)
    answers = sum(np.isin(side, (A, B)).astype(float) for side in sides) * usable
    picks = sum((side == longer).astype(float) for side in sides) * usable
    untied = pairs.labels != TIE
    against = answers * untied
    bias = [Term(picks * untied, against), Term(against * (pairs.labels == longer), against, -1.0)]
    n, n_bias, n_answers = int(answers.sum()), int(against.sum()), total * len(sides)
    why = "no answer chooses between responses of different length"
    return {
        "longer_share": Figure([Term(picks, answers)], n, n_answers - n, why, notes),
        "length_bias": Figure(bias, n_bias, n_answers - n_bias, why, notes, 0.0),
    }


def longer_response(pairs: JudgedPairs) -> IntArray:
    """For each pair which response is longer, A or B; INVALID where they are equally long or a length is unknown."""
    a, b = pairs.lengths.T
    return np.select([a > b, b > a], [A, B], INVALID).astype(np.int64)


def _by_category(pairs: JudgedPairs, rule: ScoringRule, scores: Scores, judge: int) -> dict[Subject, Figure]:
    figures = {}
    categories = np.array([category or "" for category in pairs.categories], object)
    for category in sorted({name for name in pairs.categories if name is not None}):
        found = judge_figures(pairs, rule, scores, judge, categories == category)
        for name in OF_A_CATEGORY:
            figures[Subject("judge", pairs.judges[judge], None, category, name)] = found[name]
    return figures


def _families(pairs: JudgedPairs, of_judges: list[Mapping[str, Figure]]) -> dict[Subject, Figure]:
    """The mean over a family's judges."""
    figures = {}
    for family in dict.fromkeys(pairs.families.values()):
        members = [of for name, of in zip(pairs.judges, of_judges, strict=True) if pairs.families.get(name) == family]
        for name in OF_A_FAMILY:
            of = [member[name] for member in members]
            shares = [Term(t.numerator, t.denominator, t.factor / len(of)) for figure in of for t in figure.terms]
            terms = shares if all(figure.terms for figure in of) else []
            why = "a judge of the family has no such figure"
            n, left_out = sum(figure.n for figure in of), sum(figure.n_left_out for figure in of)
            mean_of = f"mean of {len(of)} judges" if len(of) > 1 else "one judge"
            figures[Subject("family", family, None, None, name)] = Figure(terms, n, left_out, why, (mean_of,))
    return figures


def _floors(pairs: JudgedPairs, rule: ScoringRule) -> dict[Subject, Figure]:
    """Acc of what needs no judgment; every judge should be above all of them."""
    n_pairs = len(pairs.labels)
    labels = pairs.labels if rule.ties else pairs.labels[pairs.labels != TIE]
    counts = np.bincount(labels, minlength=len(CHOICES))
    everyone = np.arange(len(CHOICES))[:, None] * np.ones(n_pairs, np.int64)
    longer = longer_response(pairs)
    floors = {"always A": (everyone[A], everyone[A]), "always B": (everyone[B], everyone[B])}
    floors["always the first shown"] = (everyone[A], everyone[B])
    if (longer >= 0).any():
        floors["the longer response"] = (longer, longer)
    floors["the most frequent label"] = (everyone[int(counts.argmax())],) * 2
    figures = {}
    for name, (ab, ba) in floors.items():
        scores = rule.score(pairs.labels, ab, None if pairs.ba is None else ba)
        n = int(scores.counted.sum())
        figures[Subject("floor", name, None, None, "acc")] = Figure(
            [Term(scores.right, scores.counted)], n, n_pairs - n, "no pair counts under the rule"
        )
    return figures
