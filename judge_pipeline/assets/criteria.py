"""Group criteria: pairs judged criterion by criterion; a partition is a judge under a configuration, and a set.

``criteria`` -> ``criterion_verdicts`` and ``criterion_answers`` -> ``refined_criteria`` with ``child_verdicts`` and
``child_answers`` -> ``consistent_evidence`` -> ``criteria_decisions``; ``criteria_calls`` counts what they took. Each
asks its own stage only. A stage that a configuration has not gives an empty table, and says so.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg

from judge_pipeline.orchestration.criteria_run import CriteriaStage, criteria_stage
from judge_pipeline.orchestration.partitions import guidance_of, set_by_judge
from judge_pipeline.orchestration.table_asset import Check, Made, check_specs, events, table_outs
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import PAIR_TEXTS, PREFERENCE_SPLITS
from judge_pipeline.tables.criteria import (
    CHILD_ANSWERS,
    CHILD_VERDICTS,
    CONSISTENT_EVIDENCE,
    CRITERIA,
    CRITERIA_CALLS,
    CRITERIA_DECISIONS,
    CRITERION_ANSWERS,
    CRITERION_VERDICTS,
    REFINED_CRITERIA,
)
from judge_pipeline.tables.guidance import GUIDANCE

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.criteria.refinement import Refined

GROUP = "criteria"

_PACKAGE = Path(__file__).resolve().parent.parent
_METHOD = tuple(
    f"criteria/{file.name}"
    for file in sorted((_PACKAGE / "criteria").glob("*.py"))
    if not file.name.startswith(("ablation", "guidance_"))
)
ROOMS = (*_METHOD, "preference/pair_question.py", "preference/verdicts.py", "judging")
"""What the tables are computed in: how guidance is made and what is made of decisions are not among it."""

Tables = Mapping[str, Any]
StageFunction = Callable[[CriteriaStage, Tables], Mapping[Table, Made]]

_ALL_VALID = "Every answer of the judge is valid"
_CONTRADICTS = (
    "look at these pairs in the report: the judge contradicts itself with the order of responses, and decides here "
    "without evidence"
)
_AGAIN = "launch judge_by_criteria again for this partition: only what has no valid answer is asked for"


def assets(judges: Sequence[str], keys: Sequence[str], configuration_sha256: str) -> list[dg.AssetsDefinition]:
    """The assets over ``judge@configuration`` x preference_set.

    Args:
        judges: the judges that serve the criteria system: the keys of guidance.
        keys: the partition keys (``criteria_run.configured_judges``).
        configuration_sha256: part of their code version.
    """
    partitions, guidance = set_by_judge(keys), dg.AssetDep(GUIDANCE.name, partition_mapping=guidance_of(judges, keys))
    return [
        _stage_asset(partitions, [guidance], configuration_sha256, name, outs, upstream, stage)
        for name, stage, upstream, outs in _STAGES
    ]


def _stage_asset(
    partitions: dg.MultiPartitionsDefinition, deps: Sequence[dg.AssetDep], configuration_sha256: str, name: str,
    outs: Mapping[Table, tuple[Check, ...]], upstream: Sequence[Table], stage: StageFunction,
) -> dg.AssetsDefinition:  # fmt: skip
    @dg.multi_asset(
        name=name,
        outs=table_outs(
            outs, group=GROUP, rooms=ROOMS, kinds=("litellm", "parquet"),
            further_code_version=configuration_sha256[:16],
        ),
        ins={table.name: dg.AssetIn() for table in (PAIR_TEXTS, PREFERENCE_SPLITS, *upstream)},
        deps=deps,
        partitions_def=partitions,
        check_specs=[spec for table, checks in outs.items() for spec in check_specs(table, checks)],
        required_resource_keys={"workspace", "progress", "store", "spending", "launch"},
        description=stage.__doc__,
    )  # fmt: skip
    def run(context: dg.AssetExecutionContext, **tables: Any) -> Iterator[Any]:
        with criteria_stage(context, tables[PAIR_TEXTS.name], tables[PREFERENCE_SPLITS.name], upstream) as running:
            made = stage(running, tables)
            shown = running.metadata()
        for table, own in made.items():
            told = Made(own.rows, {**own.metadata, **shown}, own.problems)
            yield from events(context, table, told, outs[table], table.name, running.given.provenance)
            context.resources.progress.table(table.name, len(own.rows))

    return run


def _criteria(stage: CriteriaStage, tables: Tables) -> dict[Table, Made]:
    """Generates criteria for each pair of split val, one call a pair; none for a monolithic judge."""
    from judge_pipeline.criteria.method import generate

    made = generate(stage.configuration, stage.pairs, stage.ask)
    metadata = {"repeated_criteria_left_out": made.n_duplicates, **_no_stage(stage, "criteria", made.criteria)}
    problems = [f"{pair_id}: {reply.failure_class}: {reply.failure}" for pair_id, reply in made.failures.items()]
    return {CRITERIA: Made(made.criteria, metadata, {"every_pair_has_criteria": problems})}


def _verdicts(stage: CriteriaStage, tables: Tables) -> dict[Table, Made]:
    """Judges each criterion: pairwise in both orders or one, or pointwise, as the configuration says."""
    from judge_pipeline.criteria.method import answer_criteria, judge_criteria

    given = stage.configuration, stage.pairs, tables[CRITERIA.name], stage.ask
    verdicts, answers = judge_criteria(*given), answer_criteria(*given)
    return {
        CRITERION_VERDICTS: _judged(stage, "pairwise verdicts", verdicts),
        CRITERION_ANSWERS: _judged(stage, "pointwise answers", answers),
    }


def _refined(stage: CriteriaStage, tables: Tables) -> dict[Table, Made]:
    """Refines criteria by which responses come out alike, and judges what is accepted in their place."""
    from judge_pipeline.criteria.method import refine

    criteria, verdicts, answers = (tables[table.name] for table in (CRITERIA, CRITERION_VERDICTS, CRITERION_ANSWERS))
    made = refine(stage.configuration, stage.pairs, criteria, verdicts, answers, stage.ask)
    fates = made.criteria["fate"].value_counts().sort_index()
    metadata = {"rounds": stage.configuration.rounds, **{f"criteria_{fate}": int(n) for fate, n in fates.items()}}
    unchecked = made.criteria[made.criteria["fate"].str.endswith("_unchecked")]
    problems = [f"{row['pair_id']}, {row['criterion']}: {row['why']}" for row in unchecked.to_dict("records")]
    weighing = made.criteria[made.criteria["weight_failure_class"].notna()].drop_duplicates("weight_request_hash")
    unweighed = [f"{row['pair_id']}: {row['weight_failure']}" for row in weighing.to_dict("records")]
    return {
        REFINED_CRITERIA: Made(
            made.criteria,
            metadata | _no_stage(stage, "criteria", made.criteria),
            {"every_child_checked": problems, "every_weight_valid": unweighed},
        ),
        CHILD_VERDICTS: _judged(stage, "verdicts on children", made.child_verdicts),
        CHILD_ANSWERS: _judged(stage, "answers to children", made.child_answers),
    }


def _evidence(stage: CriteriaStage, tables: Tables) -> dict[Table, Made]:
    """Keeps the verdicts that are the same in both orders, where the configuration filters by them. Asks nothing."""
    from judge_pipeline.criteria.method import gather

    made = gather(stage.configuration, _as_refined(tables), tables[CRITERION_VERDICTS.name])
    n_kept = int(made["kept"].sum())
    metadata = {"kept": n_kept, "filtered": len(made) - n_kept, **_no_stage(stage, "pairwise evidence", made)}
    without = sorted(set(made["pair_id"]) - set(made.loc[made["kept"].astype("bool"), "pair_id"]))
    problems = {"every_pair_has_evidence": [f"{pair_id}: every verdict is filtered out" for pair_id in without]}
    return {CONSISTENT_EVIDENCE: Made(made, metadata, problems)}


def _decisions(stage: CriteriaStage, tables: Tables) -> dict[Table, Made]:
    """Decides on each pair: by a final judge over the evidence, by weighted sums, or in one call without criteria."""
    from judge_pipeline.criteria.method import decide

    evidence, answers = tables[CONSISTENT_EVIDENCE.name], tables[CRITERION_ANSWERS.name]
    made = decide(stage.configuration, stage.pairs, _as_refined(tables), evidence, answers, stage.ask)
    counts = made["decision"].fillna("invalid").value_counts().sort_index()
    metadata = {f"decisions_{name}": int(n) for name, n in counts.items()}
    metadata["without_evidence"] = int((made["decided_by"] == "no_evidence").sum())
    return {CRITERIA_DECISIONS: Made(made, metadata, {"all_valid": _invalid(made)})}


def _as_refined(tables: Tables) -> "Refined":
    """What refinement came to, from its stored tables."""
    from judge_pipeline.criteria.refinement import Refined

    stored = {table.name: tables[table.name] for table in (CHILD_VERDICTS, CHILD_ANSWERS) if table.name in tables}
    return Refined(tables[REFINED_CRITERIA.name], **stored)


def _judged(stage: CriteriaStage, what: str, rows: "pd.DataFrame") -> Made:
    return Made(rows, _no_stage(stage, what, rows), {"all_valid": _invalid(rows)})


def _invalid(rows: "pd.DataFrame") -> list[str]:
    """The invalid answers of a table, each call once."""
    failed = rows[rows["failure_class"].notna()].drop_duplicates("request_hash")
    return [f"{row['pair_id']}: {row['failure_class']}: {row['failure']}" for row in failed.to_dict("records")]


def _no_stage(stage: CriteriaStage, what: str, rows: "pd.DataFrame") -> dict[str, str]:
    """Why a table is empty, where it is."""
    if len(rows):
        return {}
    if what in _has_not(stage):
        return {"note": f"configuration {stage.by.name} has no {what}"}
    return {"note": f"there are no {what}"}


def _has_not(stage: CriteriaStage) -> list[str]:
    """What the configuration has not, in words."""
    own = stage.configuration
    if own.is_monolithic:
        return ["criteria", "pairwise verdicts", "pointwise answers", "verdicts on children", "answers to children",
                "pairwise evidence"]  # fmt: skip
    pairwise = own.criterion_judge == "pairwise"
    none = ["pointwise answers", "answers to children"] if pairwise else [
        "pairwise verdicts", "verdicts on children", "pairwise evidence"
    ]  # fmt: skip
    return none + (["verdicts on children", "answers to children"] if own.refinement == "none" else [])


def _calls(stage: CriteriaStage, tables: Tables) -> dict[Table, Made]:
    """Counts what every stage took over all runs. Asks nothing: it goes over the stored answers."""
    from judge_pipeline.orchestration.criteria_calls import counted_calls

    made = counted_calls(stage)
    metadata = {name: int(made[name].sum()) for name in ("n_requests", "n_calls", "n_invalid")}
    return {CRITERIA_CALLS: Made(made, metadata)}


_VALID = (Check("all_valid", _ALL_VALID, remedy=_AGAIN, warns=True),)

_STAGES: tuple[tuple[str, StageFunction, tuple[Table, ...], Mapping[Table, tuple[Check, ...]]], ...] = (
    ("generate_criteria", _criteria, (), {
        CRITERIA: (
            Check("every_pair_has_criteria", "Every pair has a valid answer of the generator", _AGAIN, warns=True),
        ),
    }),
    ("judge_criteria", _verdicts, (CRITERIA,), {CRITERION_VERDICTS: _VALID, CRITERION_ANSWERS: _VALID}),
    ("refine_criteria", _refined, (CRITERIA, CRITERION_VERDICTS, CRITERION_ANSWERS), {
        REFINED_CRITERIA: (
            Check("every_child_checked", "Every child was checked by a valid answer", _AGAIN, warns=True),
            Check("every_weight_valid", "Every pair's criteria were weighed by a valid answer", _AGAIN, warns=True),
        ),
        CHILD_VERDICTS: _VALID,
        CHILD_ANSWERS: _VALID,
    }),
    ("keep_consistent_evidence", _evidence, (REFINED_CRITERIA, CRITERION_VERDICTS, CHILD_VERDICTS), {
        CONSISTENT_EVIDENCE: (
            Check("every_pair_has_evidence", "Every pair has evidence left", remedy=_CONTRADICTS, warns=True),
        ),
    }),
    ("decide_by_criteria", _decisions, (
        REFINED_CRITERIA, CONSISTENT_EVIDENCE, CRITERION_ANSWERS, CHILD_ANSWERS,
    ), {
        CRITERIA_DECISIONS: _VALID,
    }),
    ("count_calls", _calls, (CRITERIA_DECISIONS,), {CRITERIA_CALLS: ()}),
)  # fmt: skip
