"""Group preference, further: who judged, how judges choose beside people, and what both weigh (TRACE, section 3)."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import dagster as dg

from judge_pipeline.assets.preference import GROUP
from judge_pipeline.orchestration.partitions import PREFERENCE_SETS, any_judge_of_the_set, preference_set_of
from judge_pipeline.orchestration.table_asset import (
    FAULT,
    Check,
    Made,
    check_specs,
    code_version,
    events,
    table_asset,
    table_outs,
)
from judge_pipeline.table_schema import Table, TableError
from judge_pipeline.tables import PAIR_TEXTS, PREFERENCE_PAIRS, PREFERENCE_SPLITS
from judge_pipeline.tables.misalignment import (
    MISALIGNMENT,
    PREFERENCE_MODEL_FITS,
    PREFERENCE_MODELS,
    RUBRIC_DISAGREEMENTS,
)
from judge_pipeline.tables.pair_judging import PAIR_JUDGE_COVERAGE, PAIR_JUDGMENTS
from judge_pipeline.tables.preference_accuracy import PREFERENCE_ACCURACY, PREFERENCE_RANKS
from judge_pipeline.tables.rubric import RUBRIC_SCORES

if TYPE_CHECKING:
    from judge_pipeline.preference.rubric_models import RubricModels

_CHOICES = (
    "preference/judged_pairs.py", "preference/pair_coverage.py", "preference/pair_decisions.py",
    "preference/scoring_rules.py", "preference/verdicts.py", "statistics",
)  # fmt: skip
_ACCURACY = (
    "preference/accuracy.py", "preference/accuracy_checks.py", "preference/accuracy_differences.py",
    "preference/choice_agreement.py",
    "preference/figure_rows.py", *_CHOICES,
)  # fmt: skip
_WEIGHING = (
    "preference/rubric_models.py", "preference/rubric_choices.py", "preference/preference_models.py",
    "preference/misalignment.py", *_CHOICES,
)  # fmt: skip
_RANKED = ("acc", "acc_pc")
"""The figures that rank judges across sets."""


MISALIGNED = "misalignment"
"""The group of what people and judges weigh (TRACE, section 5)."""


@table_asset(
    PAIR_JUDGE_COVERAGE,
    group=GROUP,
    inputs=(PREFERENCE_SPLITS, PREFERENCE_PAIRS, PAIR_TEXTS),
    deps=[dg.AssetDep(PAIR_JUDGMENTS.name, partition_mapping=any_judge_of_the_set())],
    rooms=("preference/pair_coverage.py", "preference/pair_question.py"),
    partitions_def=PREFERENCE_SETS,
    checks=(
        Check(
            "a_judge_is_verified",
            "At least one judge's table is verified",
            remedy="launch judge_preference_set for a judge; pair_judge_coverage says of each why it did not judge",
            warns=True,
        ),
        Check(
            "none_stale",
            "No judge's table answers other requests than today's",
            remedy="launch judge_preference_set for the judges named: only what changed is asked, at its price",
            warns=True,
        ),
        Check(
            "none_damaged",
            "Every judge's table can be read",
            remedy="launch judge_preference_set for the judges named: the table is made anew from stored answers",
            warns=True,
        ),
    ),
)
def pair_judge_coverage(
    context: dg.AssetExecutionContext, preference_splits: Any, preference_pairs: Any, pair_texts: Any
) -> Made:
    """Reads the judges' tables that are there, and says of each judge whether its choices may be used."""
    from judge_pipeline.orchestration.pair_judging_run import PairInputs, current_pair_requests
    from judge_pipeline.preference.pair_coverage import pair_judge_coverage as build

    name = preference_set_of(context)
    facts = context.resources.workspace.pair_judge_facts(name)
    judgments: dict[str, Any] = {}
    damaged: dict[str, str] = {}
    for judge in context.resources.store.parts(PAIR_JUDGMENTS, name):
        try:
            judgments[judge] = context.resources.store.read(PAIR_JUDGMENTS, name, judge)
        except TableError as error:
            damaged[judge] = str(error)
    resource, inputs = (
        context.resources.workspace,
        PairInputs(pair_texts, preference_splits, preference_pairs[["pair_id", "w"]]),
    )
    folder = resource.preference_folder(name)
    current = current_pair_requests(resource.workspace(), name, folder, list(judgments), inputs)
    rows = build(facts, preference_splits, judgments, current, damaged)
    counts = {str(status): int(n) for status, n in rows["status"].value_counts().items()}
    stale = rows.loc[rows["status"] == "stale", ["judge", "reason"]].to_numpy().tolist()
    return Made(
        rows,
        {f"judges_{status.replace(' ', '_')}": n for status, n in counts.items()}
        | {"answers": int(rows["n_answers"].sum()), "answers_invalid": int(rows["n_invalid"].sum())},
        {
            "a_judge_is_verified": [] if counts.get("verified") else ["no judge's table is verified yet"],
            "none_stale": [f"{judge}: {reason}" for judge, reason in stale],
            "none_damaged": [f"{judge}: {reason}" for judge, reason in damaged.items()],
        },
    )


@table_asset(
    PREFERENCE_ACCURACY,
    group=GROUP,
    inputs=(PREFERENCE_PAIRS, PREFERENCE_SPLITS, PAIR_JUDGE_COVERAGE),
    rooms=_ACCURACY,
    partitions_def=PREFERENCE_SETS,
    kinds=("numpy", "parquet"),
    checks=(
        Check(
            "both_orders",
            "Every judge was asked in both orders, or all in one",
            remedy="bring the other order's choices of the judges that were asked in one; until then they are left out",
            warns=True,
        ),
        Check(
            "floors_beaten",
            "Every judge's Acc is above that of the best floor",
            remedy="read the judge's figures as those of an instrument that shows no skill here: another model or "
            "prompt, or more pairs",
            warns=True,
        ),
        Check(
            "adds_up",
            "Under trace Acc is Acc_PC times the choice share; no share is above one that it is part of",
            remedy=FAULT,
        ),
    ),
    figures=True,
)
def preference_accuracy(
    context: dg.AssetExecutionContext, preference_pairs: Any, preference_splits: Any, pair_judge_coverage: Any
) -> Made:
    """Table 2, under the set's scoring rule; judges and floors also under the other rules, to compare across papers."""
    from judge_pipeline.preference.accuracy import preference_accuracy as build
    from judge_pipeline.preference.accuracy_checks import do_not_add_up, not_above_floors
    from judge_pipeline.preference.pair_coverage import flag_unverified
    from judge_pipeline.tables.preference_accuracy import RULES

    settings = context.resources.workspace.preference(preference_set_of(context))
    decisions, one_order = _decisions(context, preference_pairs, preference_splits, pair_judge_coverage)
    shown: dict[str, Any] = {"rule": settings.scoring_rule, "seed": settings.seed, "resamples": settings.resamples}
    if decisions.empty:
        return Made(
            PREFERENCE_ACCURACY.empty(), {**shown, "judges": "none", "nothing": "no judge's choices are usable"}
        )
    rows = build(
        decisions,
        rule=settings.scoring_rule,
        seed=settings.seed,
        n_resamples=settings.resamples,
        further_rules=RULES,
    )
    return Made(
        flag_unverified(rows, pair_judge_coverage),
        {**shown, "judges": ", ".join(dict.fromkeys(decisions["judge"])), "chosen_by": settings.chosen_by},
        {
            "both_orders": [f"{judge} was asked in one order while others in both: left out" for judge in one_order],
            "floors_beaten": not_above_floors(rows, settings.scoring_rule),
            "adds_up": do_not_add_up(rows),
        },
    )


_MODELS: dict[Table, tuple[Check, ...]] = {
    PREFERENCE_MODELS: (
        Check(
            "some_items_scored",
            "Some pair has a score for every rubric item",
            remedy="launch find_rubric_of_preference_set once rubric.scorer or rubric.recorded_scores is set in "
            "preference.yaml",
            warns=True,
        ),
    ),
    PREFERENCE_MODEL_FITS: (
        Check(
            "better_than_floor",
            "The rubric predicts everybody's choices better than the floor does",
            remedy="do not read effects of items as why people choose: look for items that are missing (rubric), "
            "or bring more pairs",
            warns=True,
        ),
    ),
    MISALIGNMENT: (),
    RUBRIC_DISAGREEMENTS: (),
}
_MODELLED = (PREFERENCE_PAIRS, PREFERENCE_SPLITS, PAIR_JUDGE_COVERAGE, RUBRIC_SCORES)


@dg.multi_asset(
    name="fit_preference_models",
    outs=table_outs(_MODELS, group=MISALIGNED, rooms=_WEIGHING, kinds=("numpy", "parquet"), figures=(MISALIGNMENT,)),
    ins={table.name: dg.AssetIn() for table in _MODELLED[:-1]},
    deps=[RUBRIC_SCORES.name],
    partitions_def=PREFERENCE_SETS,
    check_specs=[spec for table, checks in _MODELS.items() for spec in check_specs(table, checks)],
    required_resource_keys={"workspace", "progress", "store"},
    description="Fits what people and each judge weigh, all under the same resamples, and tests where they differ.",
)
def fit_preference_models(context: dg.AssetExecutionContext, **tables: Any) -> Iterator[Any]:
    """Rubric scores and choices -> preference_models, preference_model_fits, misalignment, rubric_disagreements."""
    from judge_pipeline.orchestration.asset_figures import write_figures
    from judge_pipeline.orchestration.table_provenance import holds_figures, preference_provenance
    from judge_pipeline.preference.rubric_models import no_better_than_floor

    found, metadata = _rubric_models(context, tables)
    problems = {
        "some_items_scored": [found.nothing] if found.nothing else [],
        "better_than_floor": no_better_than_floor(found.fits),
    }
    version = code_version(_WEIGHING)

    def draw(rows: Any) -> dict[str, Any]:
        shown = {MISALIGNMENT.name: rows, PREFERENCE_MODELS.name: found.models}
        return write_figures(context, MISALIGNMENT.name, {**tables, **shown}, version)

    made = dict(zip(_MODELS, (found.models, found.fits, found.misalignment, found.disagreements), strict=True))
    for table, rows in made.items():
        provenance = preference_provenance(context, table, _MODELLED, version) if holds_figures(table) else None
        figures = draw if table is MISALIGNMENT else None
        yield from events(
            context, table, Made(rows, metadata, problems), _MODELS[table], table.name, provenance, figures
        )
        context.resources.progress.table(table.name, len(rows))


def _rubric_models(
    context: dg.AssetExecutionContext, tables: Mapping[str, Any]
) -> tuple["RubricModels", dict[str, Any]]:
    """All that is fitted, and what the UI should show of how."""
    from judge_pipeline.preference.preference_models import ModelOptions
    from judge_pipeline.preference.rubric_choices import choices_under
    from judge_pipeline.preference.rubric_models import rubric_models

    resource = context.resources.workspace
    settings = resource.preference(preference_set_of(context))
    pairs, splits, coverage = (tables[table.name] for table in _MODELLED[:-1])
    try:
        scores = context.resources.store.read(RUBRIC_SCORES, preference_set_of(context))
    except FileNotFoundError:  # a set without a rubric has its accuracy and a report all the same
        scores = RUBRIC_SCORES.empty()
    choices = choices_under(settings.scoring_rule, _decisions(context, pairs, splits, coverage)[0])
    labels = splits[["pair_id", "instruction_group"]].rename(columns={"instruction_group": "cluster"})
    labels = labels.merge(pairs[["pair_id", "w"]].rename(columns={"w": "label"}), on="pair_id")
    panel = resource.panel(choices["judge"].unique(), "preference")
    options = ModelOptions(
        n_resamples=settings.models.resamples,
        seed=settings.seed,
        standardize=settings.models.standardization,
        center=settings.models.coefficient,
    )
    found = rubric_models(scores, labels, choices, options, panel)
    shown = {
        "rule": settings.scoring_rule,
        "judges_pooled": ", ".join(panel) or "none",
        "seed": settings.seed,
        **settings.models.model_dump(),
    }
    return found, shown | ({"nothing": found.nothing} if found.nothing else {})


@table_asset(
    PREFERENCE_RANKS,
    group=GROUP,
    deps=[PREFERENCE_ACCURACY.name],
    partitions_def=None,
    rooms=("preference/rank_relation.py", "statistics/intervals.py"),
    kinds=("numpy", "parquet"),
    checks=(
        Check(
            "all_read",
            "The tables of every set could be read",
            remedy="launch report_preference_set for the sets named, which makes their tables anew",
            warns=True,
        ),
    ),
)
def preference_ranks(context: dg.AssetExecutionContext) -> Made:
    """Of the panel's judges, by Acc and Acc_PC under the scoring rule of preference.yaml, from what is stored."""
    import pandas as pd

    from judge_pipeline.orchestration.all_preference_sets import figures_of_judges, preference_defaults, stored_accuracy
    from judge_pipeline.preference.rank_relation import preference_ranks as build

    resource = context.resources.workspace
    workspace = resource.workspace()
    found, settings = stored_accuracy(workspace, context.resources.store), preference_defaults(workspace)
    panel = workspace.judges().panel("preference")
    parts = [
        build(figures_of_judges(found.tables, settings.scoring_rule, figure, panel), figure=figure, seed=settings.seed)
        for figure in _RANKED
    ]
    return Made(
        pd.concat(parts, ignore_index=True),
        {"sets": ", ".join(found.tables) or "none", "rule": settings.scoring_rule},
        {"all_read": [f"{name}: {why}" for name, why in found.unread.items()]},
    )


def _decisions(context: dg.AssetExecutionContext, pairs: Any, splits: Any, coverage: Any) -> tuple[Any, list[str]]:
    """The usable judges' choices beside the pairs, and the judges that were asked in one order while others in both."""
    from judge_pipeline.preference.pair_coverage import comparable, usable_judges
    from judge_pipeline.preference.pair_decisions import pair_decisions

    name, store = preference_set_of(context), context.resources.store
    read = {judge: store.read(PAIR_JUDGMENTS, name, judge) for judge in usable_judges(coverage)}
    verdicts, one_order = comparable(read)
    families = coverage[coverage["family"].notna()]
    of_family = dict(zip(families["judge"], families["family"], strict=True))
    return pair_decisions(pairs, verdicts, splits, of_family), one_order


ASSETS = [pair_judge_coverage, preference_accuracy, fit_preference_models, preference_ranks]
