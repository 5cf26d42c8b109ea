"""Group preference, the rubric: found, edited by people, scored, and held against itself and other sets (TRACE)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import dagster as dg

from judge_pipeline.orchestration.partitions import PREFERENCE_SETS, preference_set_of
from judge_pipeline.orchestration.table_asset import Check, Made, check_specs, events, table_asset, table_outs
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import PAIR_TEXTS, PREFERENCE_PAIRS, PREFERENCE_SPLITS
from judge_pipeline.tables.misalignment import MISALIGNMENT
from judge_pipeline.tables.rubric import (
    RUBRIC,
    RUBRIC_PROPOSALS,
    RUBRIC_SCORE_AGREEMENT,
    RUBRIC_SCORES,
    RUBRIC_THEME_SUMMARY,
    RUBRIC_THEMES,
)

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.preference.rubric_discovery import Discovery
    from judge_pipeline.preference.rubric_file import InForce
    from judge_pipeline.settings.preference import RubricSettings

_SCORING = (
    "preference/rubric_answers.py", "preference/rubric_items.py", "preference/rubric_pairs.py",
    "preference/rubric_questions.py", "preference/rubric_scores.py", "judging",
)  # fmt: skip
_FINDING = (
    "preference/rubric_discovery.py", "preference/rubric_file.py", "preference/rubric_merge.py",
    "preference/preference_models.py", "preference/rubric_choices.py", "statistics/weighted_logistic.py", *_SCORING,
)  # fmt: skip

GROUP = "rubric"
_FOUND: dict[Table, tuple[Check, ...]] = {
    RUBRIC_PROPOSALS: (
        Check(
            "every_batch_answered",
            "Every batch of pairs has a valid answer",
            remedy="launch find_rubric_of_preference_set again: only what has no valid answer is asked for",
            warns=True,
        ),
        Check(
            "whole_pairs_shown",
            "No pair was too long to be shown whole (rubric.pair_chars)",
            remedy="raise rubric.pair_chars in preference.yaml as far as the proposer's context goes, or leave it so",
            warns=True,
        ),
    ),
    RUBRIC: (
        Check(
            "some_items",
            "The rubric has an item",
            remedy="name a file of items in rubric.human_items or a judge in rubric.proposer of preference.yaml",
            warns=True,
        ),
        Check(
            "proposer_can_write",
            "Who is named to propose and merge can write items",
            remedy="name a judge that writes free text in rubric.proposer and rubric.merger of preference.yaml",
            warns=True,
        ),
        Check(
            "edit_is_of_this_rubric",
            "A person's edit is of the rubric that is found now",
            remedy="compare both files; delete the edit to take what is found now, or edit that and put it in its "
            "place",
            warns=True,
        ),
    ),
}


@dg.multi_asset(
    name="find_rubric",
    outs=table_outs(_FOUND, group=GROUP, rooms=_FINDING),
    ins={table.name: dg.AssetIn() for table in (PREFERENCE_PAIRS, PREFERENCE_SPLITS, PAIR_TEXTS)},
    partitions_def=PREFERENCE_SETS,
    check_specs=[spec for table, checks in _FOUND.items() for spec in check_specs(table, checks)],
    required_resource_keys={"workspace", "progress", "store", "spending", "launch"},
    description="People's items, and those that judges find in batches of pairs; a person's edit goes before both.",
)
def find_rubric(
    context: dg.AssetExecutionContext, preference_pairs: Any, preference_splits: Any, pair_texts: Any
) -> Iterator[Any]:
    """Pairs -> rubric_proposals, rubric; and the rubric's file, for a person to edit."""
    from judge_pipeline.orchestration.rubric_run import (
        discovered,
        editable_file,
        rubric_asking,
        rubric_in_files,
        too_weak,
    )
    from judge_pipeline.preference.rubric_items import human_items, proposals_table, rubric_table
    from judge_pipeline.settings.rubrics import read_human_rubric

    name, resource = preference_set_of(context), context.resources.workspace
    settings, workspace = resource.preference(name), resource.workspace()
    choices = preference_splits.rename(columns={"instruction_group": "cluster"})
    choices = choices.merge(preference_pairs[["pair_id", "w"]].rename(columns={"w": "label"}), on="pair_id")
    with rubric_asking(context, name, settings) as asking:
        file = settings.rubric.human_items
        human = human_items(None if file is None else read_human_rubric(workspace.config_dir, file))
        found = discovered(asking, pair_texts, choices, human)
        force = rubric_in_files(workspace, name, resource.preference_folder(name), found.items)
        weak = too_weak(workspace, settings)
    metadata = {
        "file": dg.MetadataValue.path(str(editable_file(workspace, name))),
        **_shown(settings.rubric, found, force),
        **asking.tally.metadata(),
    }
    problems = _finding_problems(found, force, weak)
    made = {RUBRIC_PROPOSALS: proposals_table(found.proposals), RUBRIC: rubric_table(force.items)}
    for table, rows in made.items():
        yield from events(context, table, Made(rows, metadata, problems), _FOUND[table], table.name)
        context.resources.progress.table(table.name, len(rows))


_FROM = {"found": "as found", "edited": "a person's edit of the file", "brought": "rubric.yaml of the set's folder"}


def _shown(settings: "RubricSettings", found: "Discovery", force: "InForce") -> dict[str, Any]:
    """How the rubric came about, for the UI."""
    origins = [item.origin for item in force.items]
    asked = settings.model_dump(include={"human_items", "proposer", "merger", "scorer", "at_most", "batch_pairs"})
    return {
        "rubric_from": _FROM[force.source],
        **{f"items_{origin}": origins.count(origin) for origin in sorted(set(origins))},
        "found_items_left_out": "; ".join(force.removed) or "none",
        **{name: "none" if value is None else value for name, value in asked.items()},
        "splits": ", ".join(settings.splits),
        "rounds": found.rounds,
        "batches": found.n_batches,
        "proposals": len(found.proposals),
        "proposals_dropped": sum(proposal.item is None for proposal in found.proposals),
        **({"notes": "\n".join(found.notes)} if found.notes else {}),
    }


def _finding_problems(found: "Discovery", force: "InForce", weak: str | None) -> dict[str, list[str]]:
    outdated = "the file is an edit of another rubric than is found now, which stands beside it; delete it to take that"
    return {
        "every_batch_answered": [note for note in found.notes if "has no valid answer" in note],
        "whole_pairs_shown": [f"{found.n_cut} pairs of batches are shown in part"] if found.n_cut else [],
        "some_items": [] if force.items else ["neither people's items nor generated ones: set rubric.human_items"],
        "proposer_can_write": [weak] if weak else [],
        "edit_is_of_this_rubric": [outdated] if force.outdated else [],
    }


@table_asset(
    RUBRIC_SCORES,
    group=GROUP,
    inputs=(PAIR_TEXTS, RUBRIC),
    rooms=("preference/recorded_rubric_scores.py", *_SCORING),
    partitions_def=PREFERENCE_SETS,
    resources=("spending", "launch"),
    checks=(
        Check(
            "a_judge_scores",
            "rubric.scorer names a judge, or rubric.recorded_scores a file",
            remedy="name a judge in rubric.scorer or a file in rubric.recorded_scores of preference.yaml, and "
            "launch find_rubric_of_preference_set",
            warns=True,
        ),
        Check(
            "all_scored",
            "Every pair has a score for every item",
            remedy="launch find_rubric_of_preference_set again: only what is missing is asked for",
            warns=True,
        ),
    ),
)
def rubric_scores(context: dg.AssetExecutionContext, pair_texts: Any, rubric: Any) -> Made:
    """Asks rubric.scorer about every pair in both orders, some items a call; asks only for what is not stored."""
    from judge_pipeline.orchestration.rubric_run import (
        NO_SCORER,
        recorded_scores,
        rubric_asking,
        score_requests_of,
        scored,
    )
    from judge_pipeline.preference.rubric_questions import Answers
    from judge_pipeline.preference.rubric_scores import rubric_scores as build

    name = preference_set_of(context)
    settings = context.resources.workspace.preference(name)
    scorer, file = settings.rubric.scorer, settings.rubric.recorded_scores
    notes: tuple[str, ...] = ()
    with rubric_asking(context, name, settings) as asking:
        if file is not None:
            read = recorded_scores(asking, file, pair_texts, rubric)
            rows, notes = read.rows, read.notes
        elif scorer is None:
            asked = score_requests_of(asking, pair_texts, rubric, settings.rubric.items_per_call)
            rows = build(asked, Answers({}), scorer=None).assign(reason=NO_SCORER)
        else:
            rows = scored(asking, scorer, "scorer", pair_texts, rubric)
    metadata = {
        "scorer": scorer or file or "none",
        **({"notes": "\n".join(notes)} if notes else {}),
        "two_orders": settings.rubric.two_orders,
        **_counts(rows),
        **asking.tally.metadata(),
    }
    gone = rows["reason"].dropna()
    missing = [f"{len(gone)} of {len(rows)} scores are missing; the first: {gone.tolist()[0]}"] if len(gone) else []
    return Made(rows, metadata, {"a_judge_scores": [] if scorer or file else [NO_SCORER], "all_scored": missing})


def _counts(rows: "pd.DataFrame") -> dict[str, int]:
    """Scores by their value, and how many items differ by order."""
    counts = rows["score"].value_counts()
    both = rows.dropna(subset=["score_ab", "score_ba"])
    return {
        "y_a_satisfies_it_better": int(counts.get(-1, 0)),
        "both_alike": int(counts.get(0, 0)),
        "y_b_satisfies_it_better": int(counts.get(1, 0)),
        "not_scored": int(rows["score"].isna().sum()),
        "orders_differ": int((both["score_ab"] != both["score_ba"]).sum()),
    }


@table_asset(
    RUBRIC_SCORE_AGREEMENT,
    group=GROUP,
    inputs=(PAIR_TEXTS, PREFERENCE_SPLITS, RUBRIC, RUBRIC_SCORES),
    rooms=("preference/rubric_agreement.py", "statistics", *_SCORING),
    partitions_def=PREFERENCE_SETS,
    resources=("spending", "launch"),
    kinds=("numpy", "parquet"),
    checks=(
        Check(
            "a_second_judge_scores",
            "rubric.second_scorer names a judge",
            remedy="name another judge in rubric.second_scorer of preference.yaml, and launch "
            "find_rubric_of_preference_set",
            warns=True,
        ),
    ),
)
def rubric_score_agreement(
    context: dg.AssetExecutionContext, pair_texts: Any, preference_splits: Any, rubric: Any, rubric_scores: Any
) -> Made:
    """Of both orders, and of rubric.second_scorer on a seeded sample; pairs of one instruction are drawn together."""
    from judge_pipeline.orchestration.rubric_run import rubric_asking, scored
    from judge_pipeline.preference.rubric_agreement import rubric_score_agreement as build
    from judge_pipeline.preference.rubric_agreement import sampled_pairs

    name = preference_set_of(context)
    settings = context.resources.workspace.preference(name)
    second = settings.rubric.second_scorer
    sampled = sampled_pairs(pair_texts["pair_id"].tolist(), settings.rubric.agreement_pairs, settings.seed)
    with rubric_asking(context, name, settings) as asking:
        rows = RUBRIC_SCORES.empty()
        if second is not None:
            texts = pair_texts[pair_texts["pair_id"].isin(sampled)]
            rows = scored(asking, second, "second_scorer", texts, rubric)
    clusters = preference_splits.set_index("pair_id")["instruction_group"]
    found = build(rubric_scores, rows, clusters, seed=settings.seed, n_resamples=settings.resamples)
    metadata = {
        "second_scorer": second or "none",
        "pairs_sampled": len(sampled) if second else 0,
        "seed": settings.seed,
        "resamples": settings.resamples,
        **asking.tally.metadata(),
    }
    nobody = "rubric.second_scorer names no judge: how far scores can be relied on is known from the two orders only"
    return Made(found, metadata, {"a_second_judge_scores": [] if second else [nobody]})


_OVER_SETS: dict[Table, tuple[Check, ...]] = {
    RUBRIC_THEMES: (
        Check(
            "all_read",
            "The tables of every set could be read",
            remedy="launch report_preference_set for the sets named, which makes their tables anew",
            warns=True,
        ),
        Check(
            "every_item_has_a_theme",
            "Every item of every set is of some theme",
            remedy="add words of these items to a theme of assets_config/rubrics/themes.yaml, and launch "
            "compare_preference_sets",
            warns=True,
        ),
    ),
    RUBRIC_THEME_SUMMARY: (),
}


@dg.multi_asset(
    name="gather_rubric_themes",
    outs=table_outs(_OVER_SETS, group=GROUP, rooms=("preference/rubric_themes.py",)),
    deps=[RUBRIC.name, MISALIGNMENT.name],
    check_specs=[spec for table, checks in _OVER_SETS.items() for spec in check_specs(table, checks)],
    required_resource_keys={"workspace", "progress", "store"},
    description="Which themes the rubrics of all sets share, and on which of them judges differ from people.",
)
def gather_rubric_themes(context: dg.AssetExecutionContext) -> Iterator[Any]:
    """Rubrics and misalignment of all sets -> rubric_themes, rubric_theme_summary; themes are those of themes.yaml."""
    from judge_pipeline.orchestration.rubric_run import stored_rubrics
    from judge_pipeline.preference.rubric_themes import rubric_themes, theme_summary
    from judge_pipeline.settings.rubrics import read_themes

    workspace = context.resources.workspace.workspace()
    themes, found = read_themes(workspace.config_dir), stored_rubrics(workspace, context.resources.store)
    rows = rubric_themes(found.rubrics, found.misalignments, themes)
    summary = theme_summary(rows, themes)
    with_criterion = summary[summary["criterion"].notna()]
    metadata = {
        "sets": ", ".join(found.rubrics) or "none",
        "themes": len(summary),
        "themes_with_a_criterion": len(with_criterion),
        "misaligned_of_these": int(with_criterion["misaligned"].fillna(False).sum()),
        "misaligned_of_these_by_trace": int(with_criterion["misaligned_by_trace"].fillna(False).sum()),
    }
    alone = rows[rows["theme"].isna()]
    problems = {
        "all_read": [f"{name}: {why}" for name, why in found.unread.items()],
        "every_item_has_a_theme": [f"{row['preference_set']}: {row['title']}" for row in alone.to_dict("records")],
    }
    for table, made in {RUBRIC_THEMES: rows, RUBRIC_THEME_SUMMARY: summary}.items():
        yield from events(context, table, Made(made, metadata, problems), _OVER_SETS[table], table.name)
        context.resources.progress.table(table.name, len(made))


ASSETS = [find_rubric, rubric_scores, rubric_score_agreement, gather_rubric_themes]
