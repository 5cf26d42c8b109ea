"""Which attempts people judge again, and what they are called on the sheet."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judge_pipeline.statistics.score_counts import FloatArray
from judge_pipeline.tables.reratings import RERATING_KEYS

_SPREAD_BINS = (0.2, 0.5)
_MEAN_BINS = (1 / 3, 2 / 3)


@dataclass(frozen=True)
class Sheet:
    """What is put before people.

    Attributes:
        name: begins the code of each item; the same choices make the same sheet.
        keys: table RERATING_KEYS of this sheet.
        orders: for each rater the items in the order that this rater sees.
    """

    name: str
    keys: pd.DataFrame
    orders: tuple[tuple[str, ...], ...]


def sample_for_rerating(predictions: pd.DataFrame, candidates: Sequence[str], n: int, seed: int) -> list[str]:
    """At most ``n`` of the candidates, stratified by verdict, by judges' disagreement and by their mean p_ac.

    Each stratum has its share of the sample (largest remainders), so plain figures of the sample speak of all
    candidates. Strata: y (or none), max - min of p_ac over judges below 0.2, below 0.5 or above, mean p_ac by thirds;
    attempts that no judge answered are strata of their own.

    Args:
        predictions: table PREDICTIONS, or a long prediction table with attempt_id, p_ac and y.
        candidates: attempts that may be drawn.
        seed: of the draw.
    """
    rng = np.random.default_rng([seed, len("rerating")])
    known = predictions[predictions["attempt_id"].isin(candidates)]
    answered = known.groupby("attempt_id").agg(low=("p_ac", "min"), high=("p_ac", "max"), mean=("p_ac", "mean"))
    labels = known.drop_duplicates("attempt_id").set_index("attempt_id")["y"]
    strata: dict[str, list[str]] = {}
    for attempt in sorted(set(candidates)):
        strata.setdefault(_stratum(attempt, answered, labels), []).append(attempt)
    names, total = sorted(strata), sum(map(len, strata.values()))
    shares = np.array([len(strata[name]) for name in names]) * min(n, total) / max(total, 1)
    drawn: list[str] = []
    for name, k in zip(names, _whole(shares, min(n, total), rng), strict=True):
        members = strata[name]
        drawn += [members[i] for i in rng.permutation(len(members))[:k]]
    return sorted(drawn)


def make_sheet(contest: str, attempt_ids: Sequence[str], n_raters: int, seed: int) -> Sheet:
    """The attempts under codes that say nothing of them, in an order of each rater's own.

    The codes follow a shuffled order, so that neither the order of attempts nor their ids can be read from them.
    """
    ids = sorted(attempt_ids)
    name = "S" + hashlib.sha256("\n".join([contest, str(seed), str(n_raters), *ids]).encode()).hexdigest()[:6]
    rng = np.random.default_rng([seed, int(name[1:], 16)])
    shuffled = [ids[i] for i in rng.permutation(len(ids))]
    codes = [f"{name}-{place:0{len(str(len(ids)))}d}" for place in range(1, len(ids) + 1)]
    rows = [{"sheet": name, "item": code, "attempt_id": each} for code, each in zip(codes, shuffled, strict=True)]
    orders = tuple(tuple(codes[i] for i in rng.permutation(len(codes))) for _ in range(n_raters))
    return Sheet(name, RERATING_KEYS.conform(rows), orders)


def _stratum(attempt: str, answered: pd.DataFrame, labels: pd.Series) -> str:
    y = labels.get(attempt)
    label = "none" if y is None or pd.isna(y) else str(int(y))
    if attempt not in answered.index:
        return f"{label}/not answered"
    row = answered.loc[attempt]
    spread = int(np.searchsorted(_SPREAD_BINS, float(row["high"] - row["low"]), side="right"))
    return f"{label}/{spread}/{int(np.searchsorted(_MEAN_BINS, float(row['mean']), side='right'))}"


def _whole(shares: FloatArray, total: int, rng: np.random.Generator) -> list[int]:
    """Whole numbers near the shares that sum to ``total``: largest remainders, ties drawn by lot."""
    floors = np.floor(shares).astype(int)
    order = np.lexsort((rng.random(len(shares)), floors - shares))
    floors[order[: total - int(floors.sum())]] += 1
    return [int(k) for k in floors]
