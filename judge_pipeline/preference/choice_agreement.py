"""Agreement of judges with each other and with each annotator, and of annotators' majority with the user (Table 2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judge_pipeline.estimate import Estimate
from judge_pipeline.preference.figure_rows import Figure, Row, Subject, figure_rows, row_of
from judge_pipeline.preference.judged_pairs import JudgedPairs
from judge_pipeline.preference.scoring_rules import BoolArray, Scores, ScoringRule
from judge_pipeline.preference.verdicts import CHOICES, INVALID, TIE
from judge_pipeline.statistics.agreement import ONE_LABEL, cohen_of_tables, raw_agreement_of_tables
from judge_pipeline.statistics.bootstrap import ClusterResamples, Weights, replicate
from judge_pipeline.statistics.krippendorff import NO_VARIATION, alpha_of_coincidences
from judge_pipeline.statistics.ratings import RatingCounts
from judge_pipeline.statistics.ratio_bootstrap import Clusters, Replicated, Term
from judge_pipeline.statistics.score_counts import FloatArray, IntArray

ANNOTATORS = "annotators' majority"
MOST_ANNOTATORS = 30
"""How many annotators are compared with judges and with each other."""

_STATISTICS = {"raw_agreement": raw_agreement_of_tables, "cohen": cohen_of_tables}


def annotator_name(name: str) -> str:
    """What an annotator is called in the table, so that no judge is taken for one."""
    return f"annotator {name}"


def agreement_rows(pairs: JudgedPairs, rule: ScoringRule, clusters: Clusters) -> list[Row]:
    """Raw agreement and Cohen's kappa of every two raters, and Krippendorff's alpha (nominal) of all judges.

    A judge's rating of a pair is the answer that both its orders give, ties included; pairs without it are left out.
    All pairs count, whatever people chose on them. Of more than ``MOST_ANNOTATORS`` annotators those with most votes
    are compared: where every user of a service is one, thousands have a vote or two each.
    """
    shown = most_voting(pairs.votes)
    raters = (*pairs.judges, *(annotator_name(pairs.annotators[place]) for place in shown))
    ratings = np.column_stack([pairs.choices(), pairs.votes[:, shown]])
    rows: list[Row] = []
    for i in range(len(raters) - 1):
        others = range(i + 1, len(raters))
        counts = [RatingCounts(ratings[:, [i, j]], len(CHOICES), clusters.index, clusters.n) for j in others]
        for j, (name, estimate) in _pair_estimates(counts, ratings, i, clusters):
            rows.append(row_of(rule.name, Subject("agreement", raters[i], raters[j], None, name), estimate))
    if len(pairs.judges) > 1:
        alpha = _alpha(ratings[:, : len(pairs.judges)], clusters)
        rows.append(row_of(rule.name, Subject("panel", None, None, None, "krippendorff"), alpha))
    return rows


def _pair_estimates(
    counts: Sequence[RatingCounts], ratings: IntArray, first: int, clusters: Clusters
) -> list[tuple[int, tuple[str, Estimate]]]:
    def statistics(weights: Weights) -> dict[tuple[int, str], FloatArray]:
        tables = [of.pair_tables(weights[0])[:, 0] for of in counts]
        return {(k, name): of(table) for k, table in enumerate(tables) for name, of in _STATISTICS.items()}

    plan = ClusterResamples((clusters.n,), clusters.n_resamples, clusters.seed)
    drawn = replicate(plan, statistics, n_observations=clusters.n)
    found = []
    for (k, name), replicates in drawn.items():
        other = first + 1 + k
        both = (ratings[:, first] >= 0) & (ratings[:, other] >= 0)
        value = float(_STATISTICS[name](counts[k].pair_tables()[:, 0])[0])
        figure = Replicated(value, replicates, len(np.unique(clusters.index[both])))
        why = ONE_LABEL if both.any() else "no pair has a choice of both"
        found.append((other, (name, figure.estimate(n=int(both.sum()), n_left_out=int((~both).sum()), undefined=why))))
    return found


def _alpha(ratings: IntArray, clusters: Clusters) -> Estimate:
    counts = RatingCounts(ratings, len(CHOICES), clusters.index, clusters.n)
    plan = ClusterResamples((clusters.n,), clusters.n_resamples, clusters.seed)
    drawn = replicate(
        plan, lambda weights: {0: alpha_of_coincidences(counts.coincidences(weights[0]), "nominal")},
        n_observations=clusters.n,
    )  # fmt: skip
    paired = (ratings >= 0).sum(axis=1) >= 2
    value = float(alpha_of_coincidences(counts.coincidences(), "nominal")[0])
    figure = Replicated(value, drawn[0], len(np.unique(clusters.index[paired])))
    why = NO_VARIATION if paired.any() else "no pair has a choice of two judges"
    return figure.estimate(n=int(paired.sum()), n_left_out=int((~paired).sum()), undefined=why)


def most_voting(votes: IntArray) -> IntArray:
    """The places of the at most ``MOST_ANNOTATORS`` annotators with most votes, ascending; the first of equal ones.

    Args:
        votes: codes, INVALID where an annotator did not vote; shape (pairs, annotators).
    """
    by_votes = np.argsort(-(votes >= 0).sum(axis=0), kind="stable")
    return np.sort(by_votes[:MOST_ANNOTATORS]).astype(np.int64)


def majority_of(votes: IntArray) -> IntArray:
    """For each pair the choice that more annotators made than any other; INVALID where there is none.

    Args:
        votes: codes, INVALID where an annotator did not vote; shape (pairs, annotators).
    """
    counts = (votes[:, :, None] == np.arange(len(CHOICES))).sum(axis=1)
    most = counts.max(axis=1)
    alone = (counts == most[:, None]).sum(axis=1) == 1
    return np.where(alone & (most > 0), counts.argmax(axis=1), INVALID).astype(np.int64)


def people_rows(pairs: JudgedPairs, rule: ScoringRule, scores: Sequence[Scores], clusters: Clusters) -> list[Row]:
    """The human rows of Table 2: whether annotators' majority is what the user chose, and by how much that is better
    than the best judge; none without votes.
    """
    if not pairs.annotators:
        return []
    majority = majority_of(pairs.votes)
    voted = (pairs.votes >= 0).any(axis=1)
    of_rule = voted & (rule.ties | (pairs.labels != TIE))
    overlap = of_rule & (majority >= 0)
    agrees = overlap & (majority == pairs.labels)
    n, left_out = int(overlap.sum()), int((voted & ~overlap).sum())
    undecided = int((of_rule & ~overlap).sum())
    notes = [f"{undecided} pairs have votes and no majority"] if undecided else []
    n_annotators = len(pairs.annotators)
    if n_annotators > MOST_ANNOTATORS:
        notes.append(f"agreement is told of the {MOST_ANNOTATORS} of {n_annotators} annotators with most votes")
    if n and agrees.sum() == n:
        notes.append("the label may be this very majority: then this says nothing")
    people = [Term(agrees, overlap)]
    why = "no pair has a majority of annotators"
    figures = {
        Subject("people", ANNOTATORS, None, None, "majority_user_agreement"): Figure(
            people, n, left_out, why, tuple(notes)
        )
    }
    figures |= _improvements(pairs, scores, people, overlap, Figure((), n, left_out, why, tuple(notes)))
    return figure_rows(rule.name, figures, clusters)


def _improvements(
    pairs: JudgedPairs, scores: Sequence[Scores], people: list[Term], overlap: BoolArray, like: Figure
) -> dict[Subject, Figure]:
    """Less the Acc of the judge with the best one: over all its pairs, as the paper has it, and over the same pairs."""
    known = [j for j, of in enumerate(scores) if of.counted.any()]
    if not known:
        return {}
    best = max(known, key=lambda j: (scores[j].right.sum() / scores[j].counted.sum(), -j))
    right, counted = scores[best].right, scores[best].counted
    notes = (*like.warnings, "the best judge is the best on these very pairs, which flatters it")
    found = {}
    for name, of in (("improvement_over_best", counted), ("improvement_on_same_pairs", counted & overlap)):
        terms = [*people, Term(right & of, of, -1.0)]
        subject = Subject("people", ANNOTATORS, pairs.judges[best], None, name)
        found[subject] = Figure(terms, like.n, like.n_left_out, like.undefined, notes, 0.0)
    return found
