"""The one place that assembles the Dagster Definitions.

``build_definitions`` returns fresh Definitions, so that tests and the command line override parts by keyword.
``defs`` is what workspace.yaml loads.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Any

import dagster as dg

from judge_pipeline.assets import (
    anchors,
    canaries,
    comparison,
    contest,
    criteria,
    criteria_report,
    dynamics,
    guidance,
    judges,
    pair_judging,
    preference,
    preference_measurement,
    preference_report,
    reports,
    requests,
    reratings,
    rubric,
    trace_pages,
)
from judge_pipeline.judging.money import RunSpending
from judge_pipeline.orchestration.asset_labels import labelled
from judge_pipeline.orchestration.automation.anchor_schedule import anchor_schedule
from judge_pipeline.orchestration.automation.batch_sensor import batch_sensor
from judge_pipeline.orchestration.automation.chain import contest_chain, preference_chain
from judge_pipeline.orchestration.automation.notifying import notifying_sensor
from judge_pipeline.orchestration.automation.retrying import retry_job, retry_schedule
from judge_pipeline.orchestration.automation.watching import watch_sensor
from judge_pipeline.orchestration.criteria_run import configured_judges, criteria_judges
from judge_pipeline.orchestration.dagsters_database import keep_looking_after_runs, waiting_runs
from judge_pipeline.orchestration.executors import configured_executor
from judge_pipeline.orchestration.guidance_run import guidance_configuration_sha256
from judge_pipeline.orchestration.judging_configuration import configuration_sha256
from judge_pipeline.orchestration.launch_forms import LAUNCH, Launch
from judge_pipeline.orchestration.openlineage_sensor import openlineage_sensor
from judge_pipeline.orchestration.parquet_store import ParquetStore
from judge_pipeline.orchestration.resources import Progress, SilentProgress, WorkspaceResource
from judge_pipeline.orchestration.sharded_jobs import SHARDED, after_shards_sensor, sharded_jobs
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import criteria as criteria_tables

READ_PREFERENCE_SET, JUDGE_PREFERENCE_SET = "read_preference_set", "judge_preference_set"
FIND_RUBRIC, PREFERENCE_PAGE = "find_rubric_of_preference_set", "write_preference_report"
REPORT_PREFERENCE_SET, COMPARE_PREFERENCE_SETS = "report_preference_set", "compare_preference_sets"
MAKE_GUIDANCE, JUDGE_BY_CRITERIA = "make_guidance_for_judge", "judge_by_criteria"
REPORT_CRITERIA = "report_criteria"
READ_CONTEST, JUDGE_CONTEST, REPORT_CONTEST = "read_contest", "judge_contest", "report_contest"
CANARY, COMPARE_CONTESTS, ANCHOR = "canary", "compare_contests", "anchor"

CHAINS = (
    contest_chain(READ_CONTEST, JUDGE_CONTEST, REPORT_CONTEST, COMPARE_CONTESTS),
    preference_chain(
        READ_PREFERENCE_SET,
        JUDGE_PREFERENCE_SET,
        FIND_RUBRIC,
        REPORT_PREFERENCE_SET,
        COMPARE_PREFERENCE_SETS,
        PREFERENCE_PAGE,
    ),
)
"""The jobs that follow a new or changed folder."""


def build_definitions(
    workspace: Workspace | None = None, progress: Progress | None = None, spending: RunSpending | None = None
) -> dg.Definitions:
    """The whole graph for a workspace.

    Args:
        workspace: where things lie; found from the environment and the current folder where it is not given.
        progress: somebody to tell how far the work is; nobody where it is not given.
        spending: what is spent on judges; counted from nothing where it is not given.

    Raises:
        SettingsError: judges.yaml is missing or wrong.
    """
    workspace = workspace or Workspace.find()
    names = workspace.judges().names("cocreation")
    store = ParquetStore(root=str(workspace.store_dir / "tables"))
    jobs, sharded = _jobs(), sharded_jobs(names, workspace.judges().names("preference"))
    again = retry_job(CHAINS, lambda: definitions)
    definitions = dg.Definitions(
        assets=_assets(workspace, names),
        jobs=[*jobs, *sharded, again],
        schedules=[anchor_schedule(workspace, ANCHOR), retry_schedule(workspace, CHAINS, again)],
        sensors=[
            *(watch_sensor(workspace, chain, jobs) for chain in CHAINS),
            batch_sensor(workspace, JUDGE_CONTEST),
            notifying_sensor(workspace),
            openlineage_sensor(),
            after_shards_sensor(sharded, [job for job in jobs if job.name in SHARDED]),
        ],
        resources={
            # Fixed, so that a launch form shows nothing but what a person may say.
            "workspace": waiting_runs(WorkspaceResource.of(workspace)),
            "store": dg.ResourceDefinition.hardcoded_resource(store),
            "io_manager": dg.IOManagerDefinition.hardcoded_io_manager(store),
            # One a load of these definitions: a command, or a run's own process in the UI.
            "spending": dg.ResourceDefinition.hardcoded_resource(spending or RunSpending()),
            LAUNCH: Launch(),
            "progress": dg.ResourceDefinition.hardcoded_resource(progress or SilentProgress()),
        },
        executor=configured_executor(),
    )
    return definitions


def _assets(workspace: Workspace, judge_names: list[str]) -> list[Any]:
    judged = judges.assets(judge_names, configuration_sha256(workspace))
    asked = [
        *canaries.assets(judge_names, configuration_sha256(workspace)),
        *anchors.assets(judge_names, configuration_sha256(workspace)),
    ]
    of_pairs = workspace.judges().names("preference")
    pairs = [
        *preference.ASSETS,
        pair_judging.pair_judgments_asset(of_pairs, configuration_sha256(workspace, "preference")),
        *preference_measurement.ASSETS,
        *rubric.ASSETS,
        *preference_report.ASSETS,
    ]
    by_criteria = criteria_judges(workspace)
    guided = [
        guidance.guidance_asset(by_criteria, guidance_configuration_sha256(workspace)),
        *criteria.assets(by_criteria, configured_judges(workspace), configuration_sha256(workspace, "criteria")),
        *criteria_report.ASSETS,
    ]
    after = [*dynamics.ASSETS, *reratings.ASSETS, *reports.ASSETS, *comparison.ASSETS]
    every = [*contest.ASSETS, *requests.ASSETS, *judged, *asked, *after, *pairs, *guided]
    return labelled([*every, *trace_pages.ASSETS], workspace.automation().links.owners)


def _jobs() -> list[Any]:
    over_all = dg.AssetSelection.assets("leaderboard", "judge_versions", "start_page")
    return [*_contest_jobs(over_all), *_preference_jobs(over_all), *_criteria_jobs()]


def _contest_jobs(over_all: dg.AssetSelection) -> list[Any]:
    read = (
        "read_contest_folder", "participant_contexts", "splits", "judge_requests", "redaction_counts",
        "verdict_word_counts",
    )  # fmt: skip
    first = dg.AssetSelection.assets("submission_artifacts", "prompt_logs", "attempts", "ingest_quarantine", *read[1:])
    judged = dg.AssetSelection.assets("judge_outputs", "judge_repeats")
    roots = ("judge_coverage", "trajectories", "prompt_code_ned", "prompt_windows")
    last = dg.AssetSelection.assets(*roots).downstream() - over_all
    return [
        dg.define_asset_job(
            READ_CONTEST,
            first,
            description="Raw files of one contest -> attempts, contexts, splits, judge requests.",
        ),
        dg.define_asset_job(
            JUDGE_CONTEST,
            judged,
            description="One judge's judgments of one contest; asks only for what is not stored yet.",
        ),
        dg.define_asset_job(
            CANARY,
            dg.AssetSelection.assets("judge_canaries"),
            description="How far planted texts move one judge: asks it, and costs money. In no other job.",
        ),
        dg.define_asset_job(
            ANCHOR,
            dg.AssetSelection.assets("anchor_runs"),
            description="The anchor set of one contest, asked of one judge again: costs money. In no other job.",
        ),
        dg.define_asset_job(
            REPORT_CONTEST,
            last,
            description="Predictions, metrics, dynamics and the report of one contest, from the judges that are there.",
        ),
        dg.define_asset_job(
            COMPARE_CONTESTS,
            over_all,
            description="Judges over all contests, their versions side by side, and the start page. No partition.",
        ),
    ]


def _preference_jobs(over_all: dg.AssetSelection) -> list[Any]:
    read_pairs = dg.AssetSelection.assets(
        "preference_pairs", "preference_quarantine", "preference_selection", "preference_splits", "dataset_profile",
        "pair_texts", "pair_redaction_counts",
    )  # fmt: skip
    over_sets = dg.AssetSelection.assets("preference_ranks", "rubric_themes", "rubric_theme_summary")
    return [
        dg.define_asset_job(
            READ_PREFERENCE_SET,
            read_pairs,
            description="Raw files of one preference set -> pairs, splits, profile, and what judges are shown.",
        ),
        dg.define_asset_job(
            JUDGE_PREFERENCE_SET,
            dg.AssetSelection.assets("pair_judgments"),
            description="One judge's choices on one preference set, in both orders; asks only for what is not stored.",
        ),
        dg.define_asset_job(
            FIND_RUBRIC,
            dg.AssetSelection.assets("rubric_proposals", "rubric", "rubric_scores", "rubric_score_agreement"),
            description="The rubric of one preference set, and its scores; asks only for what is not stored.",
        ),
        dg.define_asset_job(
            REPORT_PREFERENCE_SET,
            dg.AssetSelection.assets("pair_judge_coverage").downstream() - over_sets - over_all,
            description="Accuracy, models, misalignment and report of one preference set, from judges that are there.",
        ),
        dg.define_asset_job(
            COMPARE_PREFERENCE_SETS,
            over_sets,
            description="Ranks of judges over all preference sets. No partition.",
        ),
        dg.define_asset_job(
            PREFERENCE_PAGE,
            dg.AssetSelection.assets("preference_report"),
            description="The report of one preference set once more, now that what is over all sets was made.",
        ),
    ]


def _criteria_jobs() -> list[Any]:
    return [
        dg.define_asset_job(
            MAKE_GUIDANCE,
            dg.AssetSelection.assets("guidance_records", "guidance"),
            description="What one judge is told of people's choices, from training pairs of one preference set.",
        ),
        dg.define_asset_job(
            JUDGE_BY_CRITERIA,
            dg.AssetSelection.assets(*(table.name for table in criteria_tables.TABLES)),
            description="One judge under one configuration, on one preference set; asks only for what is not stored.",
        ),
        dg.define_asset_job(
            REPORT_CRITERIA,
            dg.AssetSelection.assets(
                "criteria_ablation", "criteria_aspects", "decisive_criteria", "criteria_report", "criteria_trace_pages"
            ),
            description="What judging by criteria gains on one preference set, from what is stored. Asks no judge.",
        ),
    ]


@dg.definitions
@cache
def defs() -> dg.Definitions:
    """The code location. Made when Dagster asks: a command that imports this module builds one for its workspace."""
    logging.getLogger("judge_pipeline").setLevel(logging.INFO)
    keep_looking_after_runs()
    return build_definitions()
