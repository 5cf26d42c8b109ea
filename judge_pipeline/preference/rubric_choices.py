"""Rubric scores of pairs beside what people and judges chose on them, checked and as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from judge_pipeline.preference.judged_pairs import PairError, judged_pairs
from judge_pipeline.preference.scoring_rules import SCORING_RULES
from judge_pipeline.preference.verdicts import CHOICES, A, B
from judge_pipeline.statistics.score_counts import FloatArray, IntArray

SCORES = (-1, 0, 1)
"""y_A satisfies the item better, both alike, y_B better."""


@dataclass(frozen=True)
class RubricChoices:
    """Pairs that have a score for every item, by their ids; people come before the judges.

    Attributes:
        pair_ids: the pairs, sorted.
        items: the rubric items, by first appearance.
        scores: -1, 0 or 1, shape (pairs, items).
        judges: the judges, by first appearance.
        chose_b: 1 where B was chosen, 0 where A, NaN where there is no valid choice; shape (pairs, 1 + judges).
        cluster: for each pair the index of its cluster; shape (pairs,).
        n_clusters: how many clusters.
        n_unscored: pairs that were offered and lack a score, which are left out.
    """

    pair_ids: tuple[str, ...]
    items: tuple[str, ...]
    scores: FloatArray
    judges: tuple[str, ...]
    chose_b: FloatArray
    cluster: IntArray
    n_clusters: int
    n_unscored: int


def choices_under(rule: str, decisions: pd.DataFrame) -> pd.DataFrame:
    """What each judge chose on each pair, as ``rubric_choices`` takes it.

    Under a rule of two orders: what both choose, where that is a valid choice under the rule. Under a rule of one
    order: what order AB chooses.

    Args:
        rule: a name of ``SCORING_RULES``.
        decisions: as ``judged_pairs`` takes them; or no row at all.

    Returns:
        Columns pair_id, judge, choice (A, B or missing): a row for each pair and judge.

    Raises:
        PairError: the decisions cannot be evaluated.
    """
    if decisions.empty:
        return pd.DataFrame(columns=["pair_id", "judge", "choice"], dtype=object)
    pairs, scoring = judged_pairs(decisions), SCORING_RULES[rule]
    parts = []
    for j, judge in enumerate(pairs.judges):
        ab, ba = pairs.of_judge(j)
        # A tied label is no reason to leave the judge's own choice out: which pairs count, its model decides.
        choice = scoring.decide(pairs.labels, ab, ba if scoring.two_orders else None)[2]
        valid = np.isin(ab, (A, B)) & (True if choice is None else choice)
        chosen = [CHOICES[code] if known else None for code, known in zip(ab, valid, strict=True)]
        parts.append(
            pd.DataFrame({"pair_id": pairs.pair_ids, "judge": judge, "choice": pd.Series(chosen, dtype=object)})
        )
    return pd.concat(parts, ignore_index=True)


def nothing_scored(scores: pd.DataFrame) -> str | None:
    """Why ``rubric_choices`` would find nothing, in words; None where a pair has a score for every item.

    Args:
        scores: as there.
    """
    if scores.empty:
        return "there is no rubric item"
    n_items = scores["item"].nunique()
    known = scores[scores["score"].notna()].groupby("pair_id")["item"].nunique()
    return None if (known == n_items).any() else "no pair has a score for every item"


def rubric_choices(scores: pd.DataFrame, pairs: pd.DataFrame, choices: pd.DataFrame) -> RubricChoices:
    """The three tables, joined.

    Args:
        scores: a row for each pair and item: pair_id, item, score (-1: A satisfies it better, 0, 1: B does; missing:
            not scored).
        pairs: a row for each pair: pair_id, label (A, B; tie or missing: people's model leaves it out), and, where
            pairs are drawn together, cluster (missing: the pair alone).
        choices: a row for each judge and pair: pair_id, judge, choice (A, B; tie or missing: no valid choice). What a
            valid choice is, a scoring rule says.

    Raises:
        PairError: a column that is missing, a value that is none of these, a row that stands twice, a pair that is not
            in ``pairs``, or nothing that is scored.
    """
    _check("scores", scores, ("pair_id", "item", "score"), ("pair_id", "item"))
    _check("pairs", pairs, ("pair_id", "label"), ("pair_id",))
    _check("choices", choices, ("pair_id", "judge", "choice"), ("pair_id", "judge"))
    for name, table in (("scores", scores), ("choices", choices)):
        _refuse(name, "pair_id", table["pair_id"], ~table["pair_id"].isin(pairs["pair_id"]), "in the table of pairs")
    _refuse("scores", "score", scores["score"], scores["score"].notna() & ~scores["score"].isin(SCORES), "-1, 0 or 1")
    wide = scores.pivot(index="pair_id", columns="item", values="score").astype("float64")
    items = tuple(dict.fromkeys(scores["item"]))
    wide = wide.reindex(columns=list(items)).dropna().sort_index()
    if wide.empty:
        raise PairError("no pair has a score for every item. Remedy: score the pairs, or drop items never scored")
    own = pairs.set_index("pair_id").reindex(wide.index)
    judges = tuple(dict.fromkeys(choices["judge"]))
    chosen = choices.pivot(index="pair_id", columns="judge", values="choice").reindex(wide.index, columns=list(judges))
    columns = [_chose_b("pairs", "label", own["label"])]
    columns += [_chose_b("choices", "choice", chosen[judge]) for judge in judges]
    alone = pd.Series([("pair", pair_id) for pair_id in wide.index], index=wide.index)
    stated = own["cluster"] if "cluster" in own.columns else pd.Series(None, index=wide.index, dtype="object")
    together = [pair if pd.isna(name) else ("cluster", name) for name, pair in zip(stated, alone, strict=True)]
    cluster, names = pd.factorize(pd.Series(together, dtype="object"))
    return RubricChoices(
        tuple(wide.index), items, wide.to_numpy(), judges, np.column_stack(columns), cluster.astype(np.int64),
        len(names), len(pairs) - len(wide),
    )  # fmt: skip


def _check(name: str, table: pd.DataFrame, columns: tuple[str, ...], key: tuple[str, ...]) -> None:
    missing = [column for column in columns if column not in table.columns]
    if missing:
        raise PairError(f"{name}: column(s) {', '.join(missing)} are missing. Remedy: give {', '.join(columns)}")
    twice = table[table.duplicated(list(key))]
    if len(twice):
        where = ", ".join(f"{column} {twice[column].tolist()[0]!r}" for column in key)
        raise PairError(f"{name}: {where} stands twice. Remedy: keep one row")


def _refuse(name: str, column: str, values: pd.Series, wrong: pd.Series, rule: str) -> None:
    if wrong.any():
        raise PairError(
            f"{name}: {column} {values[wrong].tolist()[0]!r} is not {rule}. Remedy: correct or drop the row"
        )


def _chose_b(name: str, column: str, values: pd.Series) -> FloatArray:
    _refuse(name, column, values, values.notna() & ~values.isin(CHOICES), f"one of {', '.join(CHOICES)}")
    return np.asarray(values.map({"A": 0.0, "B": 1.0}), np.float64)
