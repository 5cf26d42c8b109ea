"""How much people revise: medians and means of churn and convergence, by group (paper 1, VI-B5 to VI-B8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csc_matrix

from judge_pipeline.estimate import Estimate
from judge_pipeline.ingest.turns import natural_key
from judge_pipeline.similarity.languages import programming_language
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, ClusterResamples, Weights, replicate
from judge_pipeline.statistics.intervals import estimate_with_interval
from judge_pipeline.statistics.ratios import ratio
from judge_pipeline.statistics.score_counts import FloatArray, IntArray
from judge_pipeline.statistics.weighted_order import Medians
from judge_pipeline.tables.revision import CHURN_SUMMARY

LAST_TURN = 10
"""Turns after this one are one level."""

_GROUP = ["participant", "problem_id"]
_WORDS = {1: "accepted", 0: "rejected"}

Key = tuple[str, str, str, str]
"""measure, grouped_by, level, statistic"""


@dataclass(frozen=True)
class _Level:
    """The values of one measure at one level of a grouping."""

    measure: str
    grouped_by: str
    level: str
    values: FloatArray
    """Those that are known."""
    cluster: IntArray
    n_left_out: int
    reason: str
    """Why values are unknown, most often."""
    warnings: tuple[str, ...]


def churn_summary(
    revisions: pd.DataFrame,
    convergence: pd.DataFrame,
    attempts: pd.DataFrame,
    trajectories: pd.DataFrame,
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
) -> pd.DataFrame:
    """The table ``churn_summary``.

    Turns after the tenth are taken together; languages are told apart without version and compiler; the outcome of a
    revision is its label before and after, that of an attempt its label. A level in which nothing is known has a row
    with the reason given most often.

    Args:
        revisions: table REVISIONS.
        convergence: table CONVERGENCE.
        attempts: table ATTEMPTS, for languages and labels of attempts in ``convergence``.
        trajectories: table TRAJECTORIES, for who solved what.
        seed: seed of the bootstrap, whose clusters are trajectories.
        n_resamples: resamples behind each interval.
    """
    solved = trajectories[trajectories["solved"].astype(bool)]
    rows: list[dict[str, Any]] = []
    for order in dict.fromkeys([*revisions["order"], *convergence["order"]]):
        changes = revisions_with_levels(revisions[revisions["order"] == order], solved)
        near = convergence_with_levels(convergence[convergence["order"] == order], attempts)
        for levels in (list(_levels_of_revisions(changes)), list(_levels_of_convergence(near))):
            rows += [{"order": order, **row} for row in _figures(levels, seed, n_resamples)]
    return CHURN_SUMMARY.conform(rows)


def revisions_with_levels(revisions: pd.DataFrame, solved: pd.DataFrame) -> pd.DataFrame:
    """The revisions with a column for each grouping: all, turn, language, outcome, solved (all in words).

    Args:
        revisions: table REVISIONS of one order.
        solved: the rows of TRAJECTORIES that are solved.
    """
    known = pd.MultiIndex.from_frame(solved[_GROUP])
    is_solved = pd.MultiIndex.from_frame(revisions[_GROUP]).isin(known)
    before, after = (_words(revisions[name]) for name in ("y_before", "y_after"))
    return revisions.assign(
        all="all",
        turn=_turn_words(revisions["turn"]),
        language=_language_words(revisions["language"]),
        outcome=before + " to " + after,
        solved=np.where(is_solved, "solved", "unsolved"),
    )


def convergence_with_levels(convergence: pd.DataFrame, attempts: pd.DataFrame) -> pd.DataFrame:
    """The same of table CONVERGENCE of one order: all, turn, language, outcome; the last two are of ATTEMPTS."""
    of = attempts.set_index("attempt_id")[["language", "y"]].reindex(convergence["attempt_id"]).reset_index(drop=True)
    return convergence.reset_index(drop=True).assign(
        all="all",
        turn=_turn_words(convergence["turn"]).reset_index(drop=True),
        language=_language_words(of["language"]),
        outcome=_words(of["y"]),
    )


def _words(labels: pd.Series) -> pd.Series:
    return labels.astype("object").map(_WORDS).fillna("undecided")


def _turn_words(turns: pd.Series) -> pd.Series:
    text = turns.astype("Int64").astype("object").astype(str)
    return text.where((turns <= LAST_TURN).to_numpy(bool), f"after {LAST_TURN}")


def _language_words(languages: pd.Series) -> pd.Series:
    words = {name: programming_language(name) or name for name in languages.dropna().unique()}
    return languages.map(words).astype("object").fillna("not stated")


def _levels_of_revisions(table: pd.DataFrame) -> Iterator[_Level]:
    for measure in ("code_ned", "codebleu_churn", "prompt_ned", "prompt_code_ned"):
        groupings = ("all", "turn", "language", "outcome", "solved")
        yield from _levels(table, measure, measure, f"{measure}_reason", groupings)


def _levels_of_convergence(table: pd.DataFrame) -> Iterator[_Level]:
    groupings = ("all", "turn", "language", "outcome")
    yield from _levels(table, "convergence", "codebleu", "reason", groupings)
    others = table[~table["is_reference"].astype(bool)]
    yield from _levels(others, "convergence_without_reference", "codebleu", "reason", groupings)


def _levels(
    table: pd.DataFrame, measure: str, column: str, reason: str, groupings: tuple[str, ...]
) -> Iterator[_Level]:
    cluster = table.groupby(_GROUP, sort=True).ngroup().to_numpy(np.int64)
    values = table[column].to_numpy(np.float64)
    known = ~np.isnan(values)
    short = table["short"].fillna(False).to_numpy(bool) & ("codebleu" in column)
    for grouped_by in groupings:
        codes, names = pd.factorize(table[grouped_by])
        for level in sorted(names, key=natural_key):
            here = codes == names.get_loc(level)
            used = here & known
            n_short = int((used & short).sum())
            warnings = (f"{n_short} of these have a program of fewer than 4 tokens",) if n_short else ()
            unknown = table.loc[here & ~known, reason]
            why = str(unknown.mode().iloc[0]) if len(unknown) else ""
            left_out = int((here & ~known).sum())
            yield _Level(measure, grouped_by, str(level), values[used], cluster[used], left_out, why, warnings)


def _figures(levels: list[_Level], seed: int, n_resamples: int) -> Iterator[dict[str, Any]]:
    """The median and the mean of each level, with intervals from the same resamples."""
    known = [level for level in levels if len(level.values)]
    points: Mapping[Key, FloatArray] = {}
    replicates: Mapping[Key, FloatArray] = {}
    if known:
        n_clusters = 1 + max(int(level.cluster.max()) for level in known)
        statistics = _Statistics(known, n_clusters)
        points = statistics((np.ones((1, n_clusters)),))
        plan = ClusterResamples((n_clusters,), n_resamples, seed)
        replicates = replicate(plan, statistics, n_observations=n_clusters)
    for level in levels:
        for statistic in ("median", "mean"):
            key = (level.measure, level.grouped_by, level.level, statistic)
            if key not in points:
                estimate = Estimate.undefined(level.reason, 0, level.n_left_out)
            else:
                estimate = estimate_with_interval(
                    float(points[key][0]), replicates[key], n=len(level.values), n_left_out=level.n_left_out,
                    n_clusters=len(np.unique(level.cluster)), warnings=level.warnings,
                )  # fmt: skip
            names = ("measure", "grouped_by", "level", "statistic")
            yield {**dict(zip(names, key, strict=True)), **estimate.to_row()}


class _Statistics:
    """Every figure of the levels as a function of the clusters' weights."""

    def __init__(self, levels: list[_Level], n_clusters: int) -> None:
        self._names = [(level.measure, level.grouped_by, level.level) for level in levels]
        self._medians = Medians([(level.values, level.cluster) for level in levels], n_clusters)
        # Most clusters are in few levels.
        shape = (n_clusters, len(levels))
        at = (
            np.concatenate([level.cluster for level in levels]),
            np.repeat(np.arange(len(levels)), [len(level.values) for level in levels]),
        )
        self._sums = csc_matrix((np.concatenate([level.values for level in levels]), at), shape=shape)
        self._counts = csc_matrix((np.ones(len(at[0])), at), shape=shape)

    def __call__(self, weights: Weights) -> Mapping[Key, FloatArray]:
        means = ratio(weights[0] @ self._sums, weights[0] @ self._counts)
        medians = self._medians.under(weights[0])
        figures: dict[Key, FloatArray] = {}
        for i, name in enumerate(self._names):
            figures[*name, "median"], figures[*name, "mean"] = medians[:, i], means[:, i]
        return figures
