"""From rubric scores and judges' choices to every table of what people and judges weigh, or why there is nothing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.preference.misalignment import misalignment, rubric_disagreements
from judge_pipeline.preference.preference_models import ModelOptions, fit_models, model_tables
from judge_pipeline.preference.rubric_choices import nothing_scored, rubric_choices
from judge_pipeline.tables.misalignment import (
    EFFECTS,
    MISALIGNMENT,
    PREFERENCE_MODEL_FITS,
    PREFERENCE_MODELS,
    RUBRIC_DISAGREEMENTS,
)

_Row = dict[str, Any]


@dataclass(frozen=True)
class RubricModels:
    """What people and judges weigh.

    Attributes:
        models: table PREFERENCE_MODELS.
        fits: table PREFERENCE_MODEL_FITS.
        misalignment: table MISALIGNMENT.
        disagreements: table RUBRIC_DISAGREEMENTS.
        nothing: why all of it is undefined, or None.
    """

    models: pd.DataFrame
    fits: pd.DataFrame
    misalignment: pd.DataFrame
    disagreements: pd.DataFrame
    nothing: str | None = None


def rubric_models(
    scores: pd.DataFrame,
    pairs: pd.DataFrame,
    choices: pd.DataFrame,
    options: ModelOptions,
    panel: Collection[str] | None = None,
) -> RubricModels:
    """All four tables. Where no pair is scored, every row says so: the rows are those that there would be.

    Args:
        scores: as ``rubric_choices`` takes them: table RUBRIC_SCORES.
        pairs: pair_id, label, and cluster where pairs are drawn together.
        choices: as ``rubric_choices.choices_under`` gives them.
        options: of the models.
        panel: the judges that are pooled; all by default.

    Raises:
        PairError: a table is not as it should be.
    """
    nothing = nothing_scored(scores)
    if nothing is not None:
        return _undefined(nothing, scores, choices, len(pairs), options)
    data = rubric_choices(scores, pairs, choices)
    models = fit_models(data, options)
    effects, fits = model_tables(models, data, options)
    return RubricModels(
        effects, fits, misalignment(models, data, panel=panel), rubric_disagreements(models, data, options)
    )


def no_better_than_floor(fits: pd.DataFrame) -> list[str]:
    """Whose choices the rubric predicts no better than the floor does, in words: what they weigh is not known by it.

    Args:
        fits: table PREFERENCE_MODEL_FITS.
    """
    known = fits[fits["value"].notna() & fits["floor"].notna()]
    return [
        f"{row['judge'] if row['of'] == 'judge' else 'people'}: {row['value']:.3f} of held-out choices, floor "
        f"{row['floor']:.3f}"
        for row in known.to_dict("records")
        if row["value"] <= row["floor"]
    ]


def _undefined(
    reason: str, scores: pd.DataFrame, choices: pd.DataFrame, n_pairs: int, options: ModelOptions
) -> RubricModels:
    estimate = Estimate.undefined(reason, 0, n_pairs).to_row()
    items, judges = list(dict.fromkeys(scores["item"])), list(dict.fromkeys(choices["judge"]))
    choosers = [{"of": "people", "judge": None}, *({"of": "judge", "judge": judge} for judge in judges)]
    effects = [
        {**chooser, "item": item, "effect": effect, **estimate, "se": None, "vif": None}
        for chooser in choosers
        for item in items
        for effect in EFFECTS
    ]
    counts = {"floor": None, "n_chose_b": 0, "separated": None, "n_single_class": 0, "n_resamples": options.n_resamples}
    tests = [("trace_per_judge", judge) for judge in judges]
    tests += [("trace_pooled", None), ("paired", None), *(("paired", judge) for judge in judges)]
    nulls = dict.fromkeys(("people", "judges", "tau2", "p_value", "p_bh", "misaligned"))
    tested: list[_Row] = [
        {"effect": effect, "test": test, "judge": judge, "item": item, **estimate, **nulls, "n_judges": 0}
        for effect in EFFECTS
        for test, judge in tests
        for item in items
    ]
    return RubricModels(
        PREFERENCE_MODELS.conform(effects),
        PREFERENCE_MODEL_FITS.conform([{**chooser, **estimate, **counts} for chooser in choosers]),
        MISALIGNMENT.conform(tested),
        RUBRIC_DISAGREEMENTS.empty(),
        reason,
    )
