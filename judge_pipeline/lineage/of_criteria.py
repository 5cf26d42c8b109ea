"""What figures of judging by criteria rest on: pairs that a configuration decided, and its verdicts (CriterAlign)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_pipeline.criteria.ablation_accuracy import Decided, decided_by
from judge_pipeline.criteria.ablation_pairs import AblationPairs, ablation_pairs
from judge_pipeline.lineage.basis import Basis, rows_of, without
from judge_pipeline.lineage.sources import MissingTableError
from judge_pipeline.preference.verdicts import CHOICES, TIE
from judge_pipeline.tables import PREFERENCE_PAIRS, PREFERENCE_SPLITS
from judge_pipeline.tables.criteria_ablation import CALL_FIGURES, CALL_SAVINGS, SKEW_FIGURES, JudgedTables

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from judge_pipeline.lineage.sources import Sources

Row = Mapping[str, Any]

_CALLS = {*CALL_FIGURES, *(f"{name}_per_pair" for name in CALL_FIGURES), *CALL_SAVINGS}
_NOT_DECIDED = "not decided under the configuration, or under the other"


def of_ablation(sources: Sources, row: Row) -> Basis:
    """A row of ``criteria_ablation``: the validation pairs decided, or decided by both, or the verdicts on criteria."""
    judge, name, against = row["judge"], row["configuration"], row["against"]
    category, figure = row["category"], row["figure"]
    if name is None:
        return sources.once(("floor", category), lambda: _of_floor(_pairs(sources), category))
    if figure in _CALLS:
        return sources.once(("calls", judge, name), lambda: _of_calls(_judged(sources, judge, name)))
    if figure in SKEW_FIGURES:
        return _of_skew(sources, judge, name, figure)

    def make() -> Basis:
        pairs = _pairs(sources)
        here = pairs.of_category(category)
        there = _decided(sources, judge, name).there & here
        if against is not None:
            there = there & _decided(sources, judge, against).there
        return _of_pairs(pairs, there, here & ~there, _NOT_DECIDED, judge)

    return sources.once(("decided", judge, name, against, category), make)


def _pairs(sources: Sources) -> AblationPairs:
    """The validation pairs as the figures are computed from; resamples do not matter here."""
    return sources.once(
        "ablation pairs", lambda: ablation_pairs(sources[PREFERENCE_PAIRS], sources[PREFERENCE_SPLITS], 0, 1)
    )


def _judged(sources: Sources, judge: str, name: str) -> JudgedTables:
    def make() -> JudgedTables:
        found: dict[str, Any] = {}
        for table, schema in JudgedTables.schemas().items():
            try:
                found[table] = sources.of_judge(schema, f"{judge}@{name}")
            except MissingTableError:
                if table == "criteria_decisions":
                    raise
        return JudgedTables(judge, name, **found)

    return sources.once(("judged", judge, name), make)


def _decided(sources: Sources, judge: str, name: str) -> Decided:
    return sources.once(("own", judge, name), lambda: decided_by(_pairs(sources), _judged(sources, judge, name)))


def _of_floor(pairs: AblationPairs, category: str | None) -> Basis:
    here = pairs.of_category(category)
    return _of_pairs(pairs, here, np.zeros_like(here), "", None)


def _of_calls(judged: JudgedTables) -> Basis:
    rows = judged.criteria_decisions[["pair_id"]]
    return Basis("pairs", rows, rows_of(["pair_id", "why"]), (), (judged.judge,))


def _of_pairs(
    pairs: AblationPairs, used: NDArray[np.bool_], left: NDArray[np.bool_], why: str, judge: str | None
) -> Basis:
    ids = np.array(pairs.pair_ids, object)
    rows = [rows_of(["pair_id"], [[pair] for pair in ids[of]]) for of in (used, left)]
    return Basis("pairs", rows[0], without(rows[1], why), (), () if judge is None else (judge,))


def _of_skew(sources: Sources, judge: str, name: str, figure: str) -> Basis:
    """Table 6: verdicts before and after filtering, their majorities, and the labels of the pairs that have any."""

    def make() -> Basis:
        pairs, judged = _pairs(sources), _judged(sources, judge, name)
        own = _in_force(pairs, judged)
        kept = own[own["kept"].astype("bool")]
        before, after = (_told(rows) for rows in (own, kept))
        if figure.startswith("criterion_"):
            if figure.endswith("_change"):
                return _verdicts(after, _less(before, after), "removed by filtering", judge)
            rows, told = (own, before) if figure.endswith("_before") else (kept, after)
            return _verdicts(told, _less(rows, told), "insufficient, or invalid", judge)
        if figure == "removed_share":
            return _verdicts(own, own.iloc[:0], "", judge)
        if figure == "majority_skew_change":
            with_any, base = (pairs.counts(rows) > 0 for rows in (after, before))
            return _of_pairs(pairs, with_any, base & ~with_any, "no verdict is kept", judge)
        rows = {"majority_before": before, "majority_after": after}.get(_stage(figure), own)
        with_any = pairs.counts(rows) > 0
        return _of_pairs(pairs, with_any, ~with_any, "no such verdict", judge)

    return sources.once(("skew", judge, name, figure), make)


def _stage(figure: str) -> str:
    level, _, rest = figure.partition("_")
    return f"{level}_{rest.rpartition('_')[2]}"


def _told(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["verdict"].isin(CHOICES)]


def _less(rows: pd.DataFrame, taken: pd.DataFrame) -> pd.DataFrame:
    return rows[~rows.index.isin(taken.index)]


def _in_force(pairs: AblationPairs, judged: JudgedTables) -> pd.DataFrame:
    """The evidence on validation pairs; no row where nothing was filtered."""
    evidence = judged.consistent_evidence
    if evidence is None:
        return rows_of(["pair_id", "criterion", "aspect", "verdict", "kept"])
    return evidence[evidence["pair_id"].isin(pairs.places)].reset_index(drop=True)


def _verdicts(used: pd.DataFrame, left: pd.DataFrame, why: str, judge: str) -> Basis:
    keys = ["pair_id", "criterion"]
    return Basis("verdicts", used[keys].reset_index(drop=True), without(left[keys], why), (), (judge,))


def of_aspect(sources: Sources, row: Row) -> Basis:
    """A row of ``criteria_aspects``: the verdicts on criteria of the aspect that its share is of."""
    judge, name, aspect, figure = row["judge"], row["configuration"], row["aspect"], row["figure"]

    def make() -> Basis:
        pairs, judged = _pairs(sources), _judged(sources, judge, name)
        in_force = _in_force(pairs, judged)
        evidence = in_force[in_force["kept"].astype("bool")]
        own = evidence[evidence["aspect"] == aspect]
        if figure == "majority_gain":
            seen = pairs.counts(in_force) > 0
            return _of_pairs(pairs, seen, ~seen, "no criterion in force", judge)
        if figure == "agreement":
            told = own[own["verdict"].isin(["A", "B"])]
            tied = np.array([pairs.labels[pairs.places[pair]] == TIE for pair in told["pair_id"]], np.bool_)
            return _verdicts(told[~tied], told[tied], "people call the pair a tie", judge)
        whole = {
            "evidence_share": evidence,
            "kept_share": in_force[in_force["aspect"] == aspect],
        }.get(figure, own)
        return _verdicts(whole, whole.iloc[:0], "", judge)

    return sources.once(("aspect", judge, name, aspect, figure), make)


RULES = {"criteria_ablation": of_ablation, "criteria_aspects": of_aspect}
"""Table of figures -> what a row of it rests on."""
