"""The pairs of an ablation as arrays: labels, categories, groups, and what each configuration decided on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judge_pipeline.preference.verdicts import INVALID, NOT_ASKED, TIE, A, B, codes_of
from judge_pipeline.statistics.ratio_bootstrap import Clusters
from judge_pipeline.statistics.score_counts import FloatArray, IntArray

if TYPE_CHECKING:
    from judge_pipeline.preference.scoring_rules import BoolArray
    from judge_pipeline.tables.criteria_ablation import JudgedTables


@dataclass(frozen=True)
class AblationPairs:
    """The validation pairs of a set, sorted by id, so that resamples do not depend on the order of rows.

    Attributes:
        pair_ids: the pairs.
        labels: what was chosen, codes of ``preference.verdicts``; both bad is a tie. Shape (pairs,).
        categories: category of each, "" where it has none.
        longer: A or B, whichever response is longer; INVALID where they are equally long. Shape (pairs,).
        clusters: groups of identical instruction, drawn together.
    """

    pair_ids: tuple[str, ...]
    labels: IntArray
    categories: tuple[str, ...]
    longer: IntArray
    clusters: Clusters

    @cached_property
    def places(self) -> dict[str, int]:
        """pair_id -> its place."""
        return {pair_id: place for place, pair_id in enumerate(self.pair_ids)}

    def of_category(self, category: str | None) -> BoolArray:
        """Which pairs are of a category; all for None."""
        if category is None:
            return np.ones(len(self.pair_ids), np.bool_)
        return np.array([own == category for own in self.categories], np.bool_)

    def named_categories(self) -> list[str]:
        """The categories that pairs have, sorted."""
        return sorted({category for category in self.categories if category})

    def decided(self, judged: JudgedTables) -> IntArray:
        """A configuration's decisions, codes of ``preference.verdicts``: INVALID, or NOT_ASKED without a row."""
        return self.placed(judged.criteria_decisions[["pair_id", "decision"]])

    def placed(self, chosen: pd.DataFrame) -> IntArray:
        """Columns pair_id and decision as codes in the order of the pairs; NOT_ASKED where a pair has no row."""
        codes = np.full(len(self.pair_ids), NOT_ASKED, np.int64)
        known = chosen[chosen["pair_id"].isin(self.places)]
        if len(known):
            codes[[self.places[pair_id] for pair_id in known["pair_id"]]] = codes_of(known["decision"])
        return codes

    def counts(self, rows: pd.DataFrame) -> FloatArray:
        """How many rows (column pair_id) each pair has; shape (pairs,)."""
        own = rows["pair_id"].map(self.places).dropna().astype("int64")
        return np.bincount(own, minlength=len(self.pair_ids)).astype(np.float64)


def ablation_pairs(pairs: pd.DataFrame, splits: pd.DataFrame, seed: int, n_resamples: int) -> AblationPairs:
    """The pairs of split val.

    Args:
        pairs: table PREFERENCE_PAIRS.
        splits: table PREFERENCE_SPLITS.
        seed: seed of the resamples.
        n_resamples: how many.
    """
    groups = splits.loc[splits["split"] == "val", ["pair_id", "instruction_group"]]
    own = pairs.merge(groups, on="pair_id").sort_values("pair_id", kind="stable", ignore_index=True)
    index, known = pd.factorize(own["instruction_group"])
    lengths = [own[name].str.len().fillna(0).to_numpy(np.int64) for name in ("response_a", "response_b")]
    longer = np.select([lengths[0] > lengths[1], lengths[1] > lengths[0]], [A, B], INVALID).astype(np.int64)
    return AblationPairs(
        tuple(own["pair_id"]),
        codes_of(own["w"]),
        tuple("" if pd.isna(category) else str(category) for category in own["category"]),
        longer,
        Clusters(index.astype(np.int64), len(known), seed, n_resamples),
    )


def majority(a: FloatArray, b: FloatArray) -> IntArray:
    """Which side more verdicts are for; a tie where as many are for each, also where none is for either."""
    return np.select([a > b, b > a], [A, B], TIE).astype(np.int64)
