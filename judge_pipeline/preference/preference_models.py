"""What people and each judge weigh when they choose: logistic models of choices on rubric scores (TRACE, step 3).

P(B preferred) = expit(intercept + coefficients . standardized scores), with a squared penalty on the coefficients. All
models are fitted under the same resamples of pairs, so that their coefficients may be subtracted resample by resample.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.preference.rubric_choices import RubricChoices
from judge_pipeline.preference.scoring_rules import BoolArray
from judge_pipeline.statistics.bootstrap import ClusterResamples
from judge_pipeline.statistics.intervals import estimate_with_interval, standard_error
from judge_pipeline.statistics.logistic import expit
from judge_pipeline.statistics.ratio_bootstrap import Clusters, Term, replicated_ratios
from judge_pipeline.statistics.score_counts import FloatArray, IntArray
from judge_pipeline.statistics.weighted_logistic import fit_weighted_logistic
from judge_pipeline.tables.misalignment import EFFECTS, PREFERENCE_MODEL_FITS, PREFERENCE_MODELS

HIGH_VIF = 10.0
"""From this variance inflation on a coefficient says so: its item is told from others by few pairs."""

_COLLINEAR = 1e-9
_BLOCK = 512
"""Resamples whose marginal effects are computed at once."""


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How the models are made.

    Attributes:
        c: inverse strength of the penalty, scikit-learn's C.
        n_resamples: resamples of clusters of pairs.
        seed: of the resamples and of the folds.
        standardize: over ``all_pairs``, once for everybody; or ``per_annotator``, over the pairs that each chose on,
            as TRACE's public code does. Then coefficients of two are in different units.
        center: the coefficient is that of the ``full_sample``, or the ``bootstrap_mean``, as in TRACE's public code.
        n_folds: folds of the held-out accuracy.
    """

    c: float = 1.0
    n_resamples: int = 1000
    seed: int = 0
    standardize: Literal["all_pairs", "per_annotator"] = "all_pairs"
    center: Literal["full_sample", "bootstrap_mean"] = "full_sample"
    n_folds: int = 5


@dataclass(frozen=True)
class PreferenceModel:
    """The model of people's choices, or of a judge's.

    Attributes:
        judge: its name; None: people.
        chose: the pairs with a valid choice; shape (pairs,).
        labels: of these, 1 where B was chosen; shape (chosen,).
        features: standardized scores of all pairs, 0 for an item without a coefficient; shape (pairs, items).
        used: the items that have a coefficient; shape (items,).
        effects: measure -> effect of each item, NaN where undefined; shape (items,).
        replicates: measure -> the same under every resample, NaN rows for skipped ones; shape (resamples, items).
        n_clusters: clusters behind it.
        n_single_class: resamples skipped because one choice only was drawn.
        reason: why there is no model at all, or None.
    """

    judge: str | None
    chose: BoolArray
    labels: FloatArray
    features: FloatArray
    used: BoolArray
    effects: dict[str, FloatArray]
    replicates: dict[str, FloatArray]
    n_clusters: int
    n_single_class: int
    reason: str | None

    @property
    def n(self) -> int:
        """Pairs with a valid choice."""
        return len(self.labels)


def fit_models(data: RubricChoices, options: ModelOptions | None = None) -> list[PreferenceModel]:
    """The model of people, then one for each judge, all under the same resamples."""
    options = options or ModelOptions()
    plan = ClusterResamples((data.n_clusters,), options.n_resamples, options.seed)
    drawn = np.concatenate([block[0] for block in plan.blocks(options.n_resamples)])[:, data.cluster]
    names = (None, *data.judges)
    return [_model(data, name, data.chose_b[:, place], drawn, options) for place, name in enumerate(names)]


def model_tables(
    models: list[PreferenceModel], data: RubricChoices, options: ModelOptions | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tables PREFERENCE_MODELS and PREFERENCE_MODEL_FITS of the models that ``fit_models`` made with these options."""
    options = options or ModelOptions()
    effects = [row for model in models for row in _effect_rows(model, data)]
    fits = [_fit_row(model, data, options) for model in models]
    return PREFERENCE_MODELS.conform(effects), PREFERENCE_MODEL_FITS.conform(fits)


def held_out_probabilities(model: PreferenceModel, data: RubricChoices, options: ModelOptions) -> FloatArray:
    """P(B preferred) for every pair by a model that saw no pair of its fold, NaN where that has one choice only.

    Folds are of whole clusters, the same for every model. Shape (pairs,).
    """
    fold = folds_of(data, options)
    found = np.full(len(data.pair_ids), np.nan)
    if model.reason is None:
        rest = (fold[model.chose][None, :] != np.arange(options.n_folds)[:, None]).astype(np.float64)
        fitted = fit_weighted_logistic(model.features[model.chose], model.labels, rest, c=options.c)[fold]
        found = expit(fitted[:, 0] + (fitted[:, 1:] * model.features).sum(axis=1))
    return found


def variance_inflation(features: FloatArray) -> FloatArray:
    """1 / (1 - R2) of each column on the others, infinite where they determine it, NaN where it is constant.

    Args:
        features: shape (n, k).
    """
    centred = features - features.mean(axis=0)
    total = (centred**2).sum(axis=0)
    found = np.full(features.shape[1], np.nan)
    for i in np.flatnonzero(total > 0):
        others = np.delete(centred, i, axis=1)
        fitted = others @ np.linalg.lstsq(others, centred[:, i], rcond=None)[0] if others.size else 0.0
        unexplained = float(((centred[:, i] - fitted) ** 2).sum() / total[i])
        found[i] = np.inf if unexplained < _COLLINEAR else max(1.0, 1 / unexplained)
    return found


def is_separated(features: FloatArray, labels: FloatArray) -> bool:
    """Whether some plane has no label on its wrong side and some label off it: the penalty alone keeps the fit finite.

    By linear programming (Konis 2007), so quasi-complete separation is seen, too.

    Args:
        features: shape (n, k), without a column of ones.
        labels: 0 or 1, shape (n,).
    """
    from scipy.optimize import linprog

    sides = (2 * labels - 1)[:, None] * np.column_stack([np.ones(len(labels)), features])
    found = linprog(-sides.sum(axis=0), A_ub=-sides, b_ub=np.zeros(len(sides)), bounds=(-1, 1), method="highs")
    return bool(found.status == 0 and -found.fun > 1e-7)


def _model(
    data: RubricChoices, judge: str | None, chose_b: FloatArray, drawn: FloatArray, options: ModelOptions
) -> PreferenceModel:
    chose = ~np.isnan(chose_b)
    labels = chose_b[chose]
    own = data.scores[chose]
    used = np.ptp(own, axis=0) > 0 if len(own) else np.zeros(len(data.items), bool)
    basis = own if options.standardize == "per_annotator" else data.scores
    features = np.zeros_like(data.scores)
    features[:, used] = (data.scores[:, used] - basis[:, used].mean(axis=0)) / basis[:, used].std(axis=0)
    n_clusters = len(np.unique(data.cluster[chose]))
    replicates = np.full((len(drawn), 1 + len(data.items)), np.nan)
    reason = _no_model(labels, used)
    everything = np.full(1 + len(data.items), np.nan)
    if reason is None:
        columns = np.append(True, used)
        everything[columns], replicates[:, columns] = _fitted(features[:, used], chose, labels, drawn, options.c)
    n_single_class = int(np.isnan(replicates[:, 0]).sum())
    ones = np.ones((1, len(chose)))
    effects = {name: values[0] for name, values in _measured(everything[None], features, ones).items()}
    under = _measured(replicates, features, drawn)
    if options.center == "bootstrap_mean" and n_single_class < len(drawn):
        effects = {name: np.nanmean(values[~np.isnan(replicates[:, 0])], axis=0) for name, values in under.items()}
    return PreferenceModel(judge, chose, labels, features, used, effects, under, n_clusters, n_single_class, reason)


def _no_model(labels: FloatArray, used: BoolArray) -> str | None:
    if not len(labels):
        return "no pair with a valid choice and a score for every item"
    if np.ptp(labels) == 0:
        return f"{'B' if labels[0] else 'A'} was chosen on every pair"
    return None if used.any() else "every item has the same score on all pairs"


def _fitted(
    features: FloatArray, chose: BoolArray, labels: FloatArray, drawn: FloatArray, c: float
) -> tuple[FloatArray, FloatArray]:
    """Intercept and coefficients on the full sample, and under every resample."""
    own = features[chose]
    full = fit_weighted_logistic(own, labels, np.ones((1, len(labels))), c=c)[0]
    return full, fit_weighted_logistic(own, labels, np.ascontiguousarray(drawn[:, chose]), c=c)


def _measured(fitted: FloatArray, features: FloatArray, weights: FloatArray) -> dict[str, FloatArray]:
    """Every measure of the effects of fitted models, each under its weights of all pairs; shape (fits, items)."""
    coefficients = fitted[:, 1:]
    slope = np.empty(len(fitted))
    known = np.nan_to_num(fitted)
    for begin in range(0, len(fitted), _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        p = expit(known[rows, :1] + known[rows, 1:] @ features.T)
        slope[rows] = (weights[rows] * p * (1 - p)).sum(axis=1) / weights[rows].sum(axis=1)
    length = np.sqrt((known[:, 1:] ** 2).sum(axis=1))
    length[length == 0] = np.nan
    marginal, relative = coefficients * slope[:, None], coefficients / length[:, None]
    return {"coefficient": coefficients, "marginal_effect": marginal, "relative": relative}


def _effect_rows(model: PreferenceModel, data: RubricChoices) -> list[dict[str, Any]]:
    own = model.features[model.chose]
    vif = variance_inflation(own) if model.n else np.full(len(data.items), np.nan)
    left_out = len(data.pair_ids) - model.n + data.n_unscored
    rows = []
    for place, item in enumerate(data.items):
        for effect in EFFECTS:
            value, replicates = float(model.effects[effect][place]), model.replicates[effect][:, place]
            if np.isnan(value):
                why = model.reason or "the item has the same score on all pairs with a valid choice"
                estimate, se = Estimate.undefined(why, model.n, left_out), None
            else:
                estimate = estimate_with_interval(
                    value, replicates, n=model.n, n_left_out=left_out, n_clusters=model.n_clusters,
                    warnings=_vif_warnings(float(vif[place])),
                )  # fmt: skip
                se = standard_error(replicates, model.n_clusters)
            known = float(vif[place]) if np.isfinite(vif[place]) else None
            whose = {"of": "people" if model.judge is None else "judge", "judge": model.judge}
            rows.append({**whose, "item": item, "effect": effect, **estimate.to_row(), "se": se, "vif": known})
    return rows


def _vif_warnings(vif: float) -> list[str]:
    if vif < HIGH_VIF or np.isnan(vif):
        return []
    if np.isinf(vif):
        return ["other items determine this one: the penalty alone shares the effect among them"]
    return [f"variance inflation {vif:.0f}: other items nearly determine this one"]


def _fit_row(model: PreferenceModel, data: RubricChoices, options: ModelOptions) -> dict[str, Any]:
    left_out = len(data.pair_ids) - model.n + data.n_unscored
    probabilities = held_out_probabilities(model, data, options)[model.chose]
    known = ~np.isnan(probabilities)
    if model.reason is None and known.any():
        right = (known & ((probabilities > 0.5) == (model.labels == 1))).astype(np.float64)
        clusters = Clusters(data.cluster[model.chose], data.n_clusters, options.seed, options.n_resamples)
        share = replicated_ratios({"right": [Term(right, known.astype(np.float64))]}, clusters)["right"]
        n = int(known.sum())
        estimate = share.estimate(n=n, n_left_out=left_out + model.n - n, undefined="no held-out pair")
    else:
        why = model.reason or "every fold leaves pairs with one choice only"
        estimate = Estimate.undefined(why, model.n, left_out)
    return {
        "of": "people" if model.judge is None else "judge",
        "judge": model.judge,
        **estimate.to_row(),
        "floor": _floor(model, data, options),
        "n_chose_b": int(model.labels.sum()),
        "separated": None if model.reason else is_separated(model.features[model.chose], model.labels),
        "n_single_class": model.n_single_class,
        "n_resamples": len(model.replicates["coefficient"]),
    }


def folds_of(data: RubricChoices, options: ModelOptions) -> IntArray:
    """The fold of each pair, the same for every model: whole clusters, drawn by the seed; shape (pairs,)."""
    order = np.random.default_rng([options.seed, 1]).permutation(data.n_clusters)
    return np.asarray((order % options.n_folds)[data.cluster], np.int64)


def _floor(model: PreferenceModel, data: RubricChoices, options: ModelOptions) -> float | None:
    """The accuracy of choosing, in each fold, what was chosen most in the others."""
    if not model.n:
        return None
    fold = folds_of(data, options)[model.chose]
    inside = fold[None, :] == np.arange(options.n_folds)[:, None]
    of_b = (~inside) @ model.labels / np.maximum((~inside).sum(axis=1), 1)
    return float(((of_b[fold] > 0.5) == (model.labels == 1)).mean())
