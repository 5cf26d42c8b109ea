"""People beside judges: agreement of each person with each judge, with the verdict, and with each other person."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics import discrimination
from judge_pipeline.statistics.agreement import cohen_of_tables, raw_agreement_of_tables, weighted_cohen_of_tables
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, ClusterResamples, replicate
from judge_pipeline.statistics.gwet import ac1_of_tables
from judge_pipeline.statistics.intervals import estimate_with_interval
from judge_pipeline.statistics.score_counts import FloatArray, SortedScores
from judge_pipeline.tables.reratings import RERATING_AGREEMENT

_DECISION = {"raw_agreement": raw_agreement_of_tables, "cohen": cohen_of_tables, "gwet_ac1": ac1_of_tables}
_SCORE = {
    "cohen_quadratic": lambda tables: weighted_cohen_of_tables(tables, 2),
    "raw_agreement": raw_agreement_of_tables,
}
_SAID = {"yes": 1.0, "no": 0.0}
SCORES = ("s_algo", "s_robust")


def rerating_agreement(
    reratings: pd.DataFrame,
    predictions: pd.DataFrame,
    attempts: pd.DataFrame,
    thresholds: Mapping[str, float | None],
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
) -> pd.DataFrame:
    """Agreement on re-rated attempts with 95% intervals (cluster bootstrap by trajectory); ``rerating_agreement``.

    A judge's decision is taken at its t*, a person's is yes or no; unsure and blank are left out and counted. Scores
    are compared by quadratically weighted kappa. ``roc_auc`` takes the person's answer as the label of the judge's
    p_ac. A person who rated an attempt on several sheets counts with the last sheet by name.
    A judge that gives no score at all is not compared on it.

    Args:
        reratings: table RERATINGS.
        predictions: long table with attempt_id, judge, p_ac, and s_algo and s_robust where there are any.
        attempts: table with attempt_id, participant, problem_id and y.
        thresholds: judge -> t*, None where there is none.
        seed: seed of the bootstrap.
        n_resamples: resamples behind each interval.
    """
    rated = reratings.sort_values("sheet", kind="stable").drop_duplicates(["rater", "attempt_id"], keep="last")
    raters = sorted(set(rated["rater"]))
    if not raters:
        return RERATING_AGREEMENT.empty()
    people = _People(rated, attempts)
    pairs = [pair for rater in raters for pair in people.with_judges(rater, predictions, thresholds)]
    pairs += [people.with_verdict(rater) for rater in raters]
    pairs += [pair for first, second in combinations(raters, 2) for pair in people.with_person(first, second)]
    resamples = ClusterResamples((people.n_clusters,), n_resamples, seed)
    replicates = replicate(
        resamples,
        lambda weights: {
            (place, name): values
            for place, pair in enumerate(pairs)
            for name, values in pair.figures(weights[0]).items()
        },
        n_observations=len(people.ids),
    )
    rows: list[dict[str, Any]] = []
    for place, pair in enumerate(pairs):
        for name, value in pair.points(people.n_clusters).items():
            estimate = pair.estimate(name, value, replicates[place, name])
            rows.append({**pair.of, "statistic": name, **estimate.to_row()})
    return RERATING_AGREEMENT.conform(rows)


@dataclass(frozen=True)
class _Pair:
    """Two ratings of the same attempts, as functions of the weights of trajectories.

    Attributes:
        of: rater, against, other, rated.
        figures: weights (R, clusters) -> statistic -> (R,).
        n: attempts that both rated.
        n_left_out: attempts on the person's sheets that are not among them.
        n_clusters: trajectories that hold the n.
        reason: why nothing can be compared at all, where that is so.
    """

    of: dict[str, Any]
    figures: Callable[[FloatArray], dict[str, FloatArray]]
    n: int
    n_left_out: int
    n_clusters: int
    reason: str | None = None

    def points(self, n_clusters: int) -> dict[str, float]:
        return {name: float(values[0]) for name, values in self.figures(np.ones((1, n_clusters))).items()}

    def estimate(self, name: str, value: float, replicates: FloatArray) -> Estimate:
        if np.isnan(value):
            return Estimate.undefined(self.reason or self._undefined(name), self.n, self.n_left_out)
        return estimate_with_interval(
            value, replicates, n=self.n, n_left_out=self.n_left_out, n_clusters=self.n_clusters
        )

    def _undefined(self, name: str) -> str:
        if not self.n:
            return "no attempt was rated by both"
        return (
            "the person gave only one answer" if name == "roc_auc" else "0/0: both give every attempt one same answer"
        )


class _People:
    """What people said, over all re-rated attempts in one order."""

    def __init__(self, rated: pd.DataFrame, attempts: pd.DataFrame) -> None:
        known = attempts.drop_duplicates("attempt_id").set_index("attempt_id")
        self.rated = rated[rated["attempt_id"].isin(known.index)]
        self.ids = sorted(set(self.rated["attempt_id"]))
        of = known.reindex(self.ids)
        keys = list(zip(of["participant"], of["problem_id"], strict=True))
        places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        self.cluster = np.array([places[key] for key in keys], np.int64)
        self.n_clusters = len(places)
        self.y = _floats(of["y"])

    def with_judges(self, rater: str, predictions: pd.DataFrame, thresholds: Mapping[str, float | None]) -> list[_Pair]:
        pairs = []
        said = self._said(rater)
        for judge, rows in predictions.groupby("judge", sort=True):
            of_judge = rows.set_index("attempt_id").reindex(self.ids)
            p = _floats(of_judge["p_ac"])
            t = thresholds.get(str(judge))
            decided = np.full(len(p), np.nan) if t is None else np.where(np.isnan(p), np.nan, p >= t)
            why = None if t is not None else "the judge has no threshold, so it decides nothing"
            named = {"rater": rater, "against": "judge", "other": str(judge)}
            pairs.append(self._labels({**named, "rated": "decision"}, rater, said, decided, 2, _DECISION, why))
            pairs.append(self._auc({**named, "rated": "p_ac"}, rater, said, p))
            for score in (s for s in SCORES if s in rows.columns and rows[s].notna().any()):
                mine, its = self._score(rater, score), _floats(of_judge[score])
                pairs.append(self._labels({**named, "rated": score}, rater, mine - 1, its - 1, 5, _SCORE))
        return pairs

    def with_verdict(self, rater: str) -> _Pair:
        of = {"rater": rater, "against": "verdict", "other": None, "rated": "decision"}
        return self._labels(of, rater, self._said(rater), self.y, 2, _DECISION)

    def with_person(self, first: str, second: str) -> list[_Pair]:
        named = {"rater": first, "against": "person", "other": second}
        said = self._said(first), self._said(second)
        pairs = [self._labels({**named, "rated": "decision"}, first, *said, 2, _DECISION)]
        for score in SCORES:
            given = self._score(first, score) - 1, self._score(second, score) - 1
            pairs.append(self._labels({**named, "rated": score}, first, *given, 5, _SCORE))
        return pairs

    def _of(self, rater: str, column: str) -> pd.Series:
        mine = self.rated[self.rated["rater"] == rater].set_index("attempt_id")[column]
        return mine.reindex(self.ids)

    def _said(self, rater: str) -> FloatArray:
        return _floats(self._of(rater, "accepted").map(_SAID))

    def _score(self, rater: str, score: str) -> FloatArray:
        return _floats(self._of(rater, score))

    def _counts(self, rater: str, both: Any) -> tuple[int, int, int]:
        on_sheet = int((self.rated["rater"] == rater).sum())
        return int(both.sum()), on_sheet - int(both.sum()), len(np.unique(self.cluster[both]))

    def _labels(
        self, of: dict[str, Any], rater: str, first: FloatArray, second: FloatArray, n_labels: int,
        figures: Mapping[str, Callable[[FloatArray], FloatArray]], why: str | None = None,
    ) -> _Pair:  # fmt: skip
        both = ~np.isnan(first) & ~np.isnan(second)
        cells = (first[both] * n_labels + second[both]).astype(np.int64)
        sums = np.zeros((self.n_clusters, n_labels**2))
        np.add.at(sums, (self.cluster[both], cells), 1.0)

        def under(weights: FloatArray) -> dict[str, FloatArray]:
            tables = (weights @ sums).reshape(len(weights), n_labels, n_labels)
            return {name: figure(tables) for name, figure in figures.items()}

        return _Pair(of, under, *self._counts(rater, both), reason=why)

    def _auc(self, of: dict[str, Any], rater: str, said: FloatArray, p: FloatArray) -> _Pair:
        both = ~np.isnan(said) & ~np.isnan(p)
        scores = SortedScores(said[both], p[both], self.cluster[both])

        def under(weights: FloatArray) -> dict[str, FloatArray]:
            return {"roc_auc": discrimination.roc_auc(scores.count(weights))}

        return _Pair(of, under, *self._counts(rater, both))


def _floats(values: pd.Series) -> FloatArray:
    floats: FloatArray = values.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
    return floats
