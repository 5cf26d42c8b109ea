"""How far rubric scores can be relied on: the same in both orders, and the same by a second scorer on a sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.preference.rubric_choices import SCORES
from judge_pipeline.statistics.agreement import ONE_LABEL, cohen_of_tables, raw_agreement_of_tables
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, ClusterResamples, Weights, replicate
from judge_pipeline.statistics.ratings import MISSING, RatingCounts
from judge_pipeline.statistics.ratio_bootstrap import Clusters, Replicated, Term, replicated_ratios
from judge_pipeline.statistics.score_counts import FloatArray, IntArray
from judge_pipeline.tables.rubric import RUBRIC_SCORE_AGREEMENT

_Row = dict[str, Any]
_STATISTICS = {"raw_agreement": raw_agreement_of_tables, "cohen": cohen_of_tables}


def sampled_pairs(pair_ids: Sequence[str], n: int, seed: int) -> list[str]:
    """The pairs that a second scorer scores, sorted: ``n`` of them, all where there are fewer."""
    names = sorted(pair_ids)
    order = np.random.default_rng([seed, 2]).permutation(len(names))
    return sorted(names[place] for place in order[:n])


def rubric_score_agreement(
    scores: pd.DataFrame, second: pd.DataFrame, clusters: pd.Series, *, seed: int, n_resamples: int = N_RESAMPLES
) -> pd.DataFrame:
    """Table RUBRIC_SCORE_AGREEMENT, for each item and for all items together.

    Without a second scorer's name (``other`` null): ``raw_agreement`` and ``cohen`` of the answers in order AB with
    those in order BA, both in terms of y_A and y_B, and the share of scores other than 0. With it: the same of the
    scores of both on the sampled pairs, and the share of the second scorer's scores other than 0. Pairs are drawn with
    all that belongs to their cluster.

    Args:
        scores: table RUBRIC_SCORES.
        second: the same of the second scorer, on a sample of the pairs; empty: there is none.
        clusters: pair_id -> what it is drawn together with.
        seed: of the resamples.
        n_resamples: how many.
    """
    own = _Scored(scores, clusters, seed, n_resamples)
    rows = own.rows(None, own.table["score_ab"], own.table["score_ba"], own.table["score"])
    if len(second):
        other = second["scorer"].tolist()[0]
        both = second.merge(scores[["pair_id", "item", "score"]], on=["pair_id", "item"], suffixes=("", "_of_first"))
        sample = _Scored(both, clusters, seed, n_resamples)
        rows += sample.rows(other, both["score_of_first"], both["score"], both["score"])
    return RUBRIC_SCORE_AGREEMENT.conform(rows)


class _Scored:
    """Scores of pairs on items, and how they are resampled."""

    def __init__(self, table: pd.DataFrame, clusters: pd.Series, seed: int, n_resamples: int) -> None:
        self.table = table
        index, names = pd.factorize(table["pair_id"].map(clusters))
        self._clusters = Clusters(index.astype(np.int64), len(names), seed, n_resamples)
        self._items = list(dict.fromkeys(table["item"]))

    def rows(self, other: str | None, first: pd.Series, then: pd.Series, shown: pd.Series) -> list[_Row]:
        """The figures of each item and of all; ``shown`` are the scores whose share other than 0 is told."""
        codes = np.column_stack([_codes(first), _codes(then)])
        known = shown.notna().to_numpy(bool)
        nonzero = known & (shown.fillna(0).to_numpy(np.int64) != 0)
        found: list[_Row] = []
        for item in (None, *self._items):
            of = np.ones(len(self.table), bool) if item is None else (self.table["item"] == item).to_numpy(bool)
            figures = self._agreement(np.where(of[:, None], codes, MISSING), of)
            figures["nonzero_share"] = self._share(nonzero & of, known & of, of)
            found += [
                {"item": item, "other": other, "figure": name, **estimate.to_row()}
                for name, estimate in figures.items()
            ]
        return found

    def _agreement(self, codes: IntArray, of: Any) -> dict[str, Estimate]:
        counts = RatingCounts(codes, len(SCORES), self._clusters.index, self._clusters.n)
        plan = ClusterResamples((self._clusters.n,), self._clusters.n_resamples, self._clusters.seed)

        def statistics(weights: Weights) -> dict[str, FloatArray]:
            tables = counts.pair_tables(weights[0])[:, 0]
            return {name: of_tables(tables) for name, of_tables in _STATISTICS.items()}

        drawn = replicate(plan, statistics, n_observations=self._clusters.n)
        both = (codes != MISSING).all(axis=1)
        n, n_clusters = int(both.sum()), len(np.unique(self._clusters.index[both]))
        why = ONE_LABEL if n else "no pair has both scores"
        return {
            name: Replicated(float(of_tables(counts.pair_tables()[:, 0])[0]), drawn[name], n_clusters).estimate(
                n=n, n_left_out=int(of.sum()) - n, undefined=why
            )
            for name, of_tables in _STATISTICS.items()
        }

    def _share(self, nonzero: Any, known: Any, of: Any) -> Estimate:
        share = replicated_ratios({"share": [Term(nonzero, known)]}, self._clusters)["share"]
        n = int(known.sum())
        return share.estimate(n=n, n_left_out=int(of.sum()) - n, undefined="no pair has a score")


def _codes(scores: pd.Series) -> IntArray:
    """Scores as places in ``SCORES``, ``MISSING`` where there is none."""
    return np.asarray(scores.map({score: place for place, score in enumerate(SCORES)}).fillna(MISSING), np.int64)
