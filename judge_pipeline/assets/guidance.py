"""Group criteria, first: guidance by people's preferences, from a set's training pairs alone (CriterAlign, HPAG)."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import dagster as dg

from judge_pipeline.orchestration.launch_forms import GuidanceForm, fields_of, form_of
from judge_pipeline.orchestration.partitions import judge_of, preference_set_of, set_by_judge
from judge_pipeline.orchestration.table_asset import FAULT, Check, Made, check_specs, events, table_outs
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import PAIR_TEXTS, PREFERENCE_PAIRS, PREFERENCE_SPLITS
from judge_pipeline.tables.guidance import GUIDANCE, GUIDANCE_RECORDS

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.orchestration.guidance_run import GuidanceMade

GROUP = "criteria"

_ROOMS = (
    "criteria/guidance_file.py", "criteria/guidance_questions.py", "criteria/guidance_records.py",
    "criteria/guidance_subset.py", "criteria/guidance_synthesis.py", "criteria/guidance_tables.py",
    "criteria/decisions.py", "criteria/questions.py", "criteria/replies.py", "preference/pair_question.py",
    "preference/rubric_pairs.py", "judging",
)  # fmt: skip

_MADE: dict[Table, tuple[Check, ...]] = {
    GUIDANCE_RECORDS: (
        Check("train_only", "Every record is of a pair of split train", remedy=FAULT, blocking=True),
        Check(
            "all_usable",
            "Every record has the judge's decision and a reconstructed reason",
            remedy="launch make_guidance_for_judge again, which asks for what has no valid answer; what stays left "
            "out is not shown to the synthesizer",
            warns=True,
        ),
    ),
    GUIDANCE: (
        Check(
            "no_judged_pair",
            "No pair that is judged, and none with the instruction of one, is among the records",
            remedy="name other guidance in criteria.yaml: a file that was made of other pairs, or null to "
            "synthesize it from this set's split train",
            blocking=True,
        ),
        Check(
            "synthesizers_can_write",
            "Who is named to synthesize guidance can write it",
            remedy="name a judge that can write free text as guidance.synthesizer of the configuration in "
            "criteria.yaml",
            warns=True,
        ),
        Check(
            "all_parts_answered",
            "The general part and every category have a valid answer",
            remedy="launch make_guidance_for_judge again, which asks for the rest; or name another "
            "guidance.synthesizer in criteria.yaml",
            warns=True,
        ),
        Check(
            "all_records_fit",
            "Every usable record was shown to the synthesizer (guidance_tokens)",
            remedy="raise guidance_tokens in criteria.yaml as far as the synthesizer's context goes, or leave it: "
            "what is shown is drawn evenly",
            warns=True,
        ),
    ),
}


def guidance_asset(judges: Sequence[str], configuration_sha256: str) -> dg.AssetsDefinition:
    """The step that makes ``guidance_records`` and ``guidance`` over judge x preference_set.

    Args:
        judges: the judges that serve the criteria system.
        configuration_sha256: see ``guidance_run.guidance_configuration_sha256``; part of the code version.
    """

    @dg.multi_asset(
        name="make_guidance",
        outs=table_outs(
            _MADE,
            group=GROUP,
            rooms=_ROOMS,
            kinds=("litellm", "parquet"),
            further_code_version=configuration_sha256[:16],
        ),
        ins={table.name: dg.AssetIn() for table in (PREFERENCE_PAIRS, PREFERENCE_SPLITS, PAIR_TEXTS)},
        partitions_def=set_by_judge(judges),
        check_specs=[spec for table, checks in _MADE.items() for spec in check_specs(table, checks)],
        required_resource_keys={"workspace", "progress", "store", "spending", "launch"},
        config_schema=fields_of(GuidanceForm),
        description="Where people and the judge part on training pairs, and what stages are told of it: frozen files.",
    )
    def make_guidance(
        context: dg.AssetExecutionContext, preference_pairs: Any, preference_splits: Any, pair_texts: Any
    ) -> Iterator[Any]:
        """Pairs of split train -> guidance_records, guidance; and a frozen file for each synthesizer."""
        from judge_pipeline.criteria.guidance_records import training_pairs
        from judge_pipeline.criteria.guidance_tables import guidance_table, records_table
        from judge_pipeline.orchestration.guidance_run import asks_of, configurations_of, make_guidance
        from judge_pipeline.orchestration.set_asking import set_asking
        from judge_pipeline.settings.preference import PairJudging

        name, judge = preference_set_of(context), judge_of(context)
        resource = context.resources.workspace
        workspace, settings = resource.workspace(), resource.preference(name)
        with set_asking(context, name, settings) as asking:
            criteria = workspace.criteria()
            shown = PairJudging(
                may_tie=True, context_chars=criteria.context_chars, response_chars=criteria.response_chars
            )
            training = training_pairs(name, preference_pairs, preference_splits, pair_texts, shown)
            named = tuple(form_of(context, GuidanceForm).configurations) or configurations_of(context.run.tags)
            found = make_guidance(workspace, judge, training, preference_splits, settings.seed, asks_of(asking), named)
        records = records_table(found.made, found.records)
        metadata = {**_shown(found, len(training.texts)), **asking.tally.metadata()}
        problems = _problems(found, records, preference_splits)
        for table, rows in {GUIDANCE_RECORDS: records, GUIDANCE: guidance_table(found.made)}.items():
            yield from events(context, table, Made(rows, metadata, problems), _MADE[table], table.name)
            context.resources.progress.table(table.name, len(rows))

    return make_guidance


def _shown(found: "GuidanceMade", n_train: int) -> dict[str, Any]:
    """How the guidance came about, for the UI."""
    shown: dict[str, Any] = {"training_pairs": n_train, "synthesizers": ", ".join(found.records) or "none asked for"}
    for each in found.made:
        name = each.between.synthesizer
        shown |= {f"{name}_records_shown": len(each.shown.get(None, ()))}
        if each.file is not None:
            path = dg.MetadataValue.path(str(found.files[name]))
            categories = ", ".join(each.file.categories) or "none has records enough"
            shown |= {f"{name}_file": path, f"{name}_categories": categories}
    return shown


def _problems(found: "GuidanceMade", records: "pd.DataFrame", splits: "pd.DataFrame") -> dict[str, list[str]]:
    from judge_pipeline.criteria.guidance_tables import NO_ROOM

    split_of = splits.set_index("pair_id")["split"]
    outside = sorted({pair_id for pair_id in records["pair_id"] if split_of.get(pair_id) != "train"})
    left_out = records.dropna(subset=["why_left_out"])
    counts = left_out.groupby(["synthesizer", "why_left_out"], sort=True).size()
    words = {
        why: [f"{who}: {n} records left out, since {why}" for (who, why_), n in counts.items() if why_ == why]
        for why in left_out["why_left_out"].unique()
    }
    return {
        "train_only": [f"{pair_id} is not of split train" for pair_id in outside],
        "all_usable": [each for why, said in words.items() if why != NO_ROOM for each in said],
        "no_judged_pair": list(found.leaks),
        "synthesizers_can_write": list(found.cannot_write),
        "all_parts_answered": [
            f"{each.between.synthesizer}, {category or 'shared by all tasks'}: {why}"
            for each in found.made
            for category, why in each.failures.items()
        ],
        "all_records_fit": words.get(NO_ROOM, []),
    }
