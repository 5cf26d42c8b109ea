"""What figures of the rubric rest on: pairs scored on every item, and what was chosen on them (TRACE, step 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_pipeline.lineage.basis import Basis, Further, rows_of, unlisted, without
from judge_pipeline.lineage.of_pairs import decisions_of_set
from judge_pipeline.preference.preference_models import ModelOptions, folds_of
from judge_pipeline.preference.rubric_agreement import sampled_pairs
from judge_pipeline.preference.rubric_choices import RubricChoices, choices_under, nothing_scored, rubric_choices
from judge_pipeline.tables import PAIR_TEXTS, PREFERENCE_PAIRS, PREFERENCE_SPLITS
from judge_pipeline.tables.misalignment import MISALIGNMENT
from judge_pipeline.tables.rubric import RUBRIC_SCORES

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from judge_pipeline.lineage.sources import Sources

Row = Mapping[str, Any]

_UNSCORED, _NO_CHOICE = "no score for some rubric item", "no valid choice"
_ONE_CHOICE = "the model of its fold would have seen one choice only"


def of_effect(sources: Sources, row: Row) -> Basis:
    """A row of ``preference_models``: the scored pairs on which people, or the judge, made a valid choice."""
    return _chosen_by(sources, row["judge"], held_out=False)


def of_fit(sources: Sources, row: Row) -> Basis:
    """A row of ``preference_model_fits``: of these, the pairs that a model without their fold could be asked about."""
    return _chosen_by(sources, row["judge"], held_out=True)


def of_misalignment(sources: Sources, row: Row) -> Basis:
    """A row of ``misalignment``: the pairs that people and the judge, or any judge that is pooled, chose on."""
    judge, test = row["judge"], row["test"]

    def make() -> Basis:
        data = _choices(sources)
        if data is None:
            return _nothing(sources)
        judges = (judge,) if judge is not None else _pooled(sources, data)
        columns = [1 + data.judges.index(name) for name in judges]
        chose = ~np.isnan(data.chose_b[:, 0]) & (~np.isnan(data.chose_b[:, columns])).any(axis=1)
        return _basis(sources, data, chose, judges)

    return sources.once(("misalignment", judge, None if judge else test), make)


def _pooled(sources: Sources, data: RubricChoices) -> tuple[str, ...]:
    """The judges that are pooled: those of the panel that chose on any pair."""
    n_pooled = sources[MISALIGNMENT].loc[sources[MISALIGNMENT]["judge"].isna(), "n_judges"].max()
    members = tuple(judge for judge in data.judges if judge in sources.options.panel)
    return members if n_pooled <= len(members) else data.judges


def _chosen_by(sources: Sources, judge: str | None, *, held_out: bool) -> Basis:
    def make() -> Basis:
        data = _choices(sources)
        if data is None:
            return _nothing(sources)
        column = 0 if judge is None else 1 + data.judges.index(judge)
        chose = ~np.isnan(data.chose_b[:, column])
        unseen = chose & ~_can_be_held_out(sources, data, column) if held_out else np.zeros_like(chose)
        return _basis(sources, data, chose & ~unseen, () if judge is None else (judge,), unseen)

    return sources.once(("chosen by", judge, held_out), make)


def _choices(sources: Sources) -> RubricChoices | None:
    """Scores and choices as the models are fitted on; None where no pair is scored."""

    def make() -> RubricChoices | None:
        scores = sources[RUBRIC_SCORES]
        if nothing_scored(scores) is not None:
            return None
        splits, pairs = sources[PREFERENCE_SPLITS], sources[PREFERENCE_PAIRS]
        labels = splits[["pair_id", "instruction_group"]].rename(columns={"instruction_group": "cluster"})
        labels = labels.merge(pairs[["pair_id", "w"]].rename(columns={"w": "label"}), on="pair_id")
        return rubric_choices(scores, labels, choices_under(sources.options.scoring_rule, decisions_of_set(sources)))

    return sources.once("rubric choices", make)


def _can_be_held_out(sources: Sources, data: RubricChoices, column: int) -> NDArray[np.bool_]:
    """Whether the rest of a pair's fold holds both choices, so that there is a model without the fold; (pairs,).

    Where there is no model at all, the figure is undefined and counts all pairs.
    """
    labels, folds = data.chose_b[:, column], folds_of(data, ModelOptions(seed=sources.options.seed))
    chose = ~np.isnan(labels)
    if len(np.unique(labels[chose])) < 2:
        return np.ones(len(labels), np.bool_)
    fine = {fold: len(np.unique(labels[chose & (folds != fold)])) > 1 for fold in np.unique(folds).tolist()}
    if not any(fine[fold] for fold in folds[chose].tolist()):
        return np.ones(len(labels), np.bool_)
    return np.array([fine[fold] for fold in folds.tolist()], np.bool_)


def _basis(
    sources: Sources, data: RubricChoices, used: NDArray[np.bool_], judges: tuple[str, ...],
    unseen: NDArray[np.bool_] | None = None,
) -> Basis:  # fmt: skip
    ids = np.array(data.pair_ids, object)
    scored = set(data.pair_ids)
    unscored = [pair for pair in sources[PREFERENCE_SPLITS]["pair_id"] if pair not in scored]
    whys = [_ONE_CHOICE if unseen is not None and flag else _NO_CHOICE for flag in (
        np.zeros(int((~used).sum()), bool) if unseen is None else unseen[~used]
    )]  # fmt: skip
    left = rows_of(["pair_id"], [[pair] for pair in (*ids[~used], *unscored)])
    also = (Further("the rubric's scores of these pairs say what it weighs", rows_of(["pair_id"], [[p] for p in ids])),)
    rows = rows_of(["pair_id"], [[pair] for pair in ids[used]])
    return Basis("pairs", rows, without(left, [*whys, *[_UNSCORED] * len(unscored)]), also, judges)


def _nothing(sources: Sources) -> Basis:
    """Where no pair is scored, every pair is left out."""
    rows = sources[PREFERENCE_SPLITS][["pair_id"]]
    return Basis("pairs", rows_of(["pair_id"]), without(rows, _UNSCORED))


def of_score_agreement(sources: Sources, row: Row) -> Basis:
    """A row of ``rubric_score_agreement``: the scores of its item, of all items, or of the second scorer's sample."""
    item, other, figure = row["item"], row["other"], row["figure"]
    kind = "score" if figure == "nonzero_share" else "both orders"

    def make() -> Basis:
        table = sources[RUBRIC_SCORES]
        here = table if item is None else table[table["item"] == item]
        keys = ["pair_id", "item"]
        if other is not None:
            return _of_second(sources, here[keys], row, str(other))
        columns = ["score"] if kind == "score" else ["score_ab", "score_ba"]
        known = here[columns].notna().all(axis=1)
        left = without(
            here.loc[~known, keys], here.loc[~known, "reason"].fillna("not answered in both orders").tolist()
        )
        return Basis("scores", here.loc[known, keys], left, (), _scorers(table))

    return sources.once(("scores", item, other, kind if other is None else (figure, row["n"])), make)


def _scorers(table: pd.DataFrame) -> tuple[str, ...]:
    return tuple(sorted(set(table["scorer"].dropna())))


def _of_second(sources: Sources, here: pd.DataFrame, row: Row, other: str) -> Basis:
    """The second scorer's own scores stand in no table: only whether it gave all of them can be told."""
    options = sources.options
    sampled = sampled_pairs(sources[PAIR_TEXTS]["pair_id"].tolist(), options.agreement_pairs, options.seed)
    offered = here[here["pair_id"].isin(sampled)]
    judges = (*_scorers(sources[RUBRIC_SCORES]), other)
    if row["n"] == len(offered):
        return Basis("scores", offered, rows_of(["pair_id", "item", "why"]), (), judges)
    nothing = unlisted("scores", f"which scores {other} did not give is kept in no table")
    sample = Further(f"the sample of pairs that {other} scored, too", offered)
    return Basis("scores", nothing.used, nothing.left_out, (sample,), judges, unlisted=nothing.unlisted)


RULES = {
    "preference_models": of_effect,
    "preference_model_fits": of_fit,
    "misalignment": of_misalignment,
    "rubric_score_agreement": of_score_agreement,
}
"""Table of figures -> what a row of it rests on."""
