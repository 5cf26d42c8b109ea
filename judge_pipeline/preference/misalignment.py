"""Where judges weigh a rubric item otherwise than people: the paper's two tests, and one that knows both are estimates.

The paper holds a judge's coefficient, and the judges' pooled one, against the people's as if that were known exactly.
It is estimated from as few pairs as theirs, so both tests find misalignment where there is none far more often than in
5% of items. Ours resamples pairs, people and judges together, and looks at the difference.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.preference.preference_models import ModelOptions, PreferenceModel, held_out_probabilities
from judge_pipeline.preference.rubric_choices import RubricChoices
from judge_pipeline.statistics.intervals import estimate_with_interval, standard_error, two_sided_p
from judge_pipeline.statistics.meta_analysis import Pooled, paule_mandel
from judge_pipeline.statistics.score_counts import FloatArray
from judge_pipeline.tables.misalignment import EFFECTS, MISALIGNMENT, RUBRIC_DISAGREEMENTS

LEVEL = 0.05
_ANTI_CONSERVATIVE = "takes the people's effect as known, so it finds too much"

_Row = dict[str, Any]


def misalignment(
    models: Sequence[PreferenceModel],
    data: RubricChoices,
    effects: Sequence[str] = tuple(EFFECTS),
    panel: Collection[str] | None = None,
) -> pd.DataFrame:
    """Every test of every item; table MISALIGNMENT.

    Args:
        models: of ``preference_models.fit_models``: people's first.
        data: what they were fitted on.
        effects: the measures to compare, keys of ``tables.misalignment.EFFECTS``. A judge that weighs items as people
            do but is twice as decisive differs in most coefficients, and in no relative effect.
        panel: the judges that are pooled; all by default.
    """
    rows: list[_Row] = []
    members, of_panel = _of_panel(models, data, panel)
    for effect in effects:
        pooled = [_pooled(members[1:], effect, place) for place in range(len(data.items))]
        rows += [*_paper_each_rows(models, data, effect), *_paper_pooled_rows(members, of_panel, effect, pooled)]
        families = [_pooled_rows(members, of_panel, effect, pooled)]
        families += [_paired_rows(models[0], model, data, effect) for model in models[1:]]
        for family in families:
            _correct(family, len(models[0].replicates[effect]))
            rows += family
    return MISALIGNMENT.conform(rows)


def rubric_disagreements(
    models: Sequence[PreferenceModel], data: RubricChoices, options: ModelOptions | None = None
) -> pd.DataFrame:
    """The pairs on which a judge chose other than people, and what the rubric says of them; table RUBRIC_DISAGREEMENTS.

    A disagreement is explained where models that did not see the pair choose as their own side did, both. Where the
    rubric says nothing, they do so as often as both choose as the other side did (``reversed``): the rubric explains
    as many disagreements as the first exceed the second.

    Args:
        models: of ``fit_models`` with these options.
        data: what they were fitted on.
        options: of the models, for the folds.
    """
    options = options or ModelOptions()
    held_out = [held_out_probabilities(model, data, options) for model in models]
    rows: list[_Row] = []
    for place, model in enumerate(models[1:], start=1):
        of_people, of_judge = data.chose_b[:, 0], data.chose_b[:, place]
        push = model.effects["coefficient"] * model.features - models[0].effects["coefficient"] * models[0].features
        for pair in np.flatnonzero(~np.isnan(of_people) & ~np.isnan(of_judge) & (of_people != of_judge)):
            p_people, p_judge = float(held_out[0][pair]), float(held_out[place][pair])
            known = not (np.isnan(p_people) or np.isnan(p_judge))
            as_own = ((p_people > 0.5) == of_people[pair], (p_judge > 0.5) == of_judge[pair])
            toward = push[pair] * (2 * of_judge[pair] - 1)
            most = _most(toward)
            rows.append({
                "pair_id": data.pair_ids[pair],
                "judge": model.judge,
                "label": "AB"[int(of_people[pair])],
                "choice": "AB"[int(of_judge[pair])],
                "p_b_people": p_people,
                "p_b_judge": p_judge,
                "explained": bool(as_own[0] and as_own[1]) if known else None,
                "reversed": not (as_own[0] or as_own[1]) if known else None,
                "item": None if most is None else data.items[most],
                "push": None if most is None else float(toward[most]),
            })  # fmt: skip
    return RUBRIC_DISAGREEMENTS.conform(rows)


def _most(toward: FloatArray) -> int | None:
    """The item that speaks most for the disagreement; None where none does."""
    if np.isnan(toward).all() or np.nanmax(toward) <= 0:
        return None
    return int(np.nanargmax(toward))


def _of_panel(
    models: Sequence[PreferenceModel], data: RubricChoices, panel: Collection[str] | None
) -> tuple[Sequence[PreferenceModel], RubricChoices]:
    """People's model and those of the panel's judges, and the data without the others."""
    if panel is None:
        return models, data
    places = [place for place, judge in enumerate(data.judges) if judge in panel]
    columns = data.chose_b[:, [0, *(1 + place for place in places)]]
    members = [models[0], *(models[1 + place] for place in places)]
    return members, replace(data, judges=tuple(data.judges[place] for place in places), chose_b=columns)


def _pooled(judges: Sequence[PreferenceModel], effect: str, item: int) -> Pooled:
    """The judges' effect of an item, with bootstrap variances."""
    effects = np.array([model.effects[effect][item] for model in judges], np.float64)
    errors = [standard_error(model.replicates[effect][:, item], model.n_clusters) for model in judges]
    return paule_mandel(effects, np.array([np.nan if se is None else se**2 for se in errors], np.float64))


def _paper_each_rows(models: Sequence[PreferenceModel], data: RubricChoices, effect: str) -> list[_Row]:
    """The judge's percentile interval against the people's effect, as published."""
    rows = []
    for model in models[1:]:
        for place, item in enumerate(data.items):
            people, own = models[0].effects[effect][place], model.effects[effect][place]
            replicates = model.replicates[effect][:, place]
            defined = replicates[~np.isnan(replicates)] - people
            estimate, misaligned = _nothing(models[0], model, data), None
            if not np.isnan(people - own) and len(defined) > 1:
                low, high = (float(end) for end in np.quantile(defined, [0.025, 0.975]))
                n, left_out = _counts(models[0], model, data)
                estimate = Estimate(float(own - people), n, left_out, (low, high), _ANTI_CONSERVATIVE)
                misaligned = not low <= 0 <= high
            rows.append(
                _row(effect, "trace_per_judge", model.judge, item, estimate, people, own, misaligned=misaligned)
            )
    return rows


def _paper_pooled_rows(
    models: Sequence[PreferenceModel], data: RubricChoices, effect: str, pooled: Sequence[Pooled]
) -> list[_Row]:
    """The pooled effect less the people's, over the pooled effect's standard error, as published."""
    from scipy.special import ndtr

    rows = []
    for place, (item, pool) in enumerate(zip(data.items, pooled, strict=True)):
        people = models[0].effects[effect][place]
        estimate, p_value = _nothing(models[0], None, data, pool), None
        if pool.mean is not None and pool.se is not None and not np.isnan(people):
            interval = pool.estimate().ci95
            assert interval is not None
            n, left_out = _counts(models[0], None, data)
            ends = (interval[0] - float(people), interval[1] - float(people))
            reason = "; ".join(part for part in (_ANTI_CONSERVATIVE, pool.reason) if part)
            estimate = Estimate(pool.mean - float(people), n, left_out, ends, reason)
            p_value = float(2 * ndtr(-abs(pool.mean - people) / pool.se))
        row = _row(effect, "trace_pooled", None, item, estimate, people, pool.mean, pool=pool, p_value=p_value)
        rows.append({**row, "misaligned": None if p_value is None else p_value < LEVEL})
    return rows


def _pooled_rows(
    models: Sequence[PreferenceModel], data: RubricChoices, effect: str, pooled: Sequence[Pooled]
) -> list[_Row]:
    """The pooled effect less the people's under the same resamples of pairs, the weights of judges held fixed.

    In a resample in which a judge has no model, the others carry its weight.
    """
    rows = []
    for place, (item, pool) in enumerate(zip(data.items, pooled, strict=True)):
        people = models[0].effects[effect][place]
        estimate, p_value = _nothing(models[0], None, data, pool), None
        if pool.mean is not None and not np.isnan(people):
            of_judges = np.stack([model.replicates[effect][:, place] for model in models[1:]], axis=1)
            there = np.where(np.isnan(of_judges), 0.0, pool.weights)
            total = there.sum(axis=1)
            sums = (there * np.nan_to_num(of_judges)).sum(axis=1)
            means = np.divide(sums, total, out=np.full(len(total), np.nan), where=total > 0)
            warnings = [pool.reason] if pool.reason else []
            estimate, p_value = _paired(models[0], None, data, pool.mean, means, effect, place, warnings)
        rows.append(_row(effect, "paired", None, item, estimate, people, pool.mean, pool=pool, p_value=p_value))
    return rows


def _paired_rows(people: PreferenceModel, judge: PreferenceModel, data: RubricChoices, effect: str) -> list[_Row]:
    """A judge's effect less the people's under the same resamples."""
    rows = []
    for place, item in enumerate(data.items):
        known, own = people.effects[effect][place], judge.effects[effect][place]
        estimate, p_value = _nothing(people, judge, data), None
        if not np.isnan(known - own):
            replicates = judge.replicates[effect][:, place]
            estimate, p_value = _paired(people, judge, data, float(own), replicates, effect, place, [])
        rows.append(_row(effect, "paired", judge.judge, item, estimate, known, own, p_value=p_value))
    return rows


def _paired(
    people: PreferenceModel, judge: PreferenceModel | None, data: RubricChoices,
    value: float, replicates: FloatArray, effect: str, item: int, warnings: Sequence[str],
) -> tuple[Estimate, float | None]:  # fmt: skip
    """The difference with its interval and p-value; ``judge`` None: of all judges."""
    n, left_out = _counts(people, judge, data)
    n_clusters = people.n_clusters if judge is None else min(people.n_clusters, judge.n_clusters)
    differences = replicates - people.replicates[effect][:, item]
    estimate = estimate_with_interval(
        value - float(people.effects[effect][item]), differences,
        n=n, n_left_out=left_out, n_clusters=n_clusters, warnings=warnings,
    )  # fmt: skip
    return estimate, two_sided_p(differences, n_clusters)


def _counts(people: PreferenceModel, judge: PreferenceModel | None, data: RubricChoices) -> tuple[int, int]:
    """Pairs that people and the judge, or any judge, chose on, and the others."""
    of_judges = judge.chose if judge is not None else (~np.isnan(data.chose_b[:, 1:])).any(axis=1)
    n = int((people.chose & of_judges).sum())
    return n, len(data.pair_ids) + data.n_unscored - n


def _nothing(
    people: PreferenceModel, judge: PreferenceModel | None, data: RubricChoices, pool: Pooled | None = None
) -> Estimate:
    why = people.reason and f"people: {people.reason}"
    why = why or (judge.reason if judge is not None else None) or (pool.reason if pool is not None else None)
    why = why or "the item has the same score on all pairs that people, or the judge, chose on"
    return Estimate.undefined(why, *_counts(people, judge, data))


def _row(
    effect: str, test: str, judge: str | None, item: str, estimate: Estimate, people: float, own: float | None,
    pool: Pooled | None = None, p_value: float | None = None, misaligned: bool | None = None,
) -> _Row:  # fmt: skip
    return {
        "effect": effect,
        "test": test,
        "judge": judge,
        "item": item,
        **estimate.to_row(),
        "people": people,
        "judges": own,
        "n_judges": 1 if pool is None else pool.n,
        "tau2": None if pool is None else pool.tau2,
        "p_value": p_value,
        "p_bh": None,
        "misaligned": misaligned,
    }


def _correct(rows: Sequence[_Row], n_resamples: int) -> None:
    """Corrects the p-values of the items, which are looked at together (Benjamini and Hochberg 1995), and decides."""
    from scipy.stats import false_discovery_control

    tested = [row for row in rows if row["p_value"] is not None]
    if not tested:
        return
    needed = 2 * len(tested) / LEVEL
    few = f"{n_resamples} resamples: an item alone cannot pass the correction; ask for more than {needed:.0f}"
    for row, p_bh in zip(tested, false_discovery_control([row["p_value"] for row in tested]), strict=True):
        row.update(p_bh=float(p_bh), misaligned=bool(p_bh < LEVEL))
        if n_resamples < needed:
            row["reason"] = "; ".join(part for part in (row["reason"], few) if part)
