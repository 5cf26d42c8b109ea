"""What Dagster's records say of a run that failed: what it was, why it failed, and how to do it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from dagster import DagsterEvent, DagsterEventType, DagsterInstance, DagsterRun
from dagster._core.events import JobFailureData

from judge_pipeline.judging.backends.secrets import Scrubber
from judge_pipeline.orchestration.automation.failure_messages import FailedRun, retry_command
from judge_pipeline.orchestration.automation.reading_again import TRY_TAG, what_follows
from judge_pipeline.orchestration.bundles.secret_search import key_variables
from judge_pipeline.orchestration.contest_folders import contest_folders
from judge_pipeline.orchestration.judging_run import FAILURE_CLASSES
from judge_pipeline.orchestration.links import ui_url
from judge_pipeline.orchestration.partitions import CONTESTS, PREFERENCE_SETS
from judge_pipeline.orchestration.preference_sets import preference_folders
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.secrets_file import key_environment
from judge_pipeline.settings.yaml_file import SettingsError

_ASSET_JOB = "__ASSET_JOB"
_PARTITION_TAG = "dagster/partition"


def failed_run(workspace: Workspace, instance: DagsterInstance, run: DagsterRun) -> FailedRun:
    """What there is to say of the run; known keys are blanked in it.

    Args:
        workspace: whose folders retrying needs, and whose UI the link leads to.
        instance: where the run is recorded.
        run: it.
    """
    dimensions = dimensions_of(instance, run)
    step, classes, words = _why(instance, run)
    scrubber = Scrubber(key_environment(), *_secret_variables(workspace))
    return FailedRun(
        run.run_id,
        run_name(run),
        ", ".join(f"{name} {value}" for name, value in sorted(dimensions.items())) or None,
        step,
        classes,
        scrubber.error(words),
        retry_command(run.job_name, dimensions, _folder(workspace, dimensions)),
        f"{ui_url(workspace)}/runs/{run.run_id}",
        what_follows(run.tags.get(TRY_TAG)),
    )


def _secret_variables(workspace: Workspace) -> list[str | None]:
    """The variables that the settings call secrets, whatever their names; what cannot be read now names none."""
    names: list[str | None] = []
    with suppress(SettingsError):
        names += key_variables(workspace.judges())
    with suppress(SettingsError):
        notify = workspace.automation().notify
        names += [notify.webhook_env, notify.smtp_env]
    return names


def run_name(run: DagsterRun) -> str:
    """The run's job; of assets that were materialized one by one, their names."""
    if not run.job_name.startswith(_ASSET_JOB):
        return run.job_name
    names = sorted(key.to_user_string() for key in run.asset_selection or ())
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "") or run.job_name


def dimensions_of(instance: DagsterInstance, run: DagsterRun) -> dict[str, str]:
    """The run's partition by dimension: contest or preference_set, and judge; empty where it has none."""
    many = {
        tag.removeprefix(f"{_PARTITION_TAG}/"): value
        for tag, value in run.tags.items()
        if tag.startswith(f"{_PARTITION_TAG}/")
    }
    key = run.tags.get(_PARTITION_TAG)
    if many or key is None:
        return many
    of_sets = instance.get_dynamic_partitions(str(PREFERENCE_SETS.name))
    of_contests = instance.get_dynamic_partitions(str(CONTESTS.name))
    is_set = key in of_sets and (key not in of_contests or "preference" in run.job_name or "criteria" in run.job_name)
    return {"preference_set" if is_set else "contest": key}


def _folder(workspace: Workspace, dimensions: Mapping[str, str]) -> str | None:
    """The folder of the contest or set as one names it from the workspace's own folder."""
    if "contest" in dimensions:
        folder = contest_folders(workspace).get(dimensions["contest"])
    else:
        folder = preference_folders(workspace).get(dimensions.get("preference_set", ""))
    home = workspace.config_dir.parent
    if folder is None:
        return None
    return str(folder.relative_to(home) if folder.is_relative_to(home) else Path(folder))


def _why(instance: DagsterInstance, run: DagsterRun) -> tuple[str | None, str | None, str]:
    """Step, failure classes and words of the first step that failed, or of the run."""
    kinds = {DagsterEventType.STEP_FAILURE, DagsterEventType.RUN_FAILURE, DagsterEventType.ASSET_CHECK_EVALUATION}
    events = [entry.dagster_event for entry in instance.all_logs(run.run_id, of_type=kinds) if entry.dagster_event]
    checks = _failed_checks(events)
    for event in events:
        if event.event_type == DagsterEventType.STEP_FAILURE:
            classes, words = _of_step(event)
            return event.step_key, classes, checks or words
    words = next((_of_run(event) for event in reversed(events) if event.event_type == DagsterEventType.RUN_FAILURE), "")
    return None, None, checks or words or "it failed before any step; its page says why"


def _failed_checks(events: Sequence[DagsterEvent]) -> str:
    """What blocking checks say that did not pass: Dagster's own error only counts them."""
    failed = [
        event.asset_check_evaluation_data
        for event in events
        if event.event_type == DagsterEventType.ASSET_CHECK_EVALUATION
    ]
    return "; ".join(
        f"check {check.check_name} of {check.asset_key.to_user_string()}: {check.description or 'did not pass'}"
        for check in failed
        if not check.passed and check.blocking
    )


def _of_step(event: DagsterEvent) -> tuple[str | None, str]:
    data = event.step_failure_data
    said = data.user_failure_data
    classes = None if said is None else said.metadata.get(FAILURE_CLASSES)
    if said is not None and said.description:
        return (None if classes is None else str(classes.value)), said.description
    error = data.error
    while error is not None and error.cause is not None:
        error = error.cause
    return None, "" if error is None else error.message.strip()


def _of_run(event: DagsterEvent) -> str:
    data = event.event_specific_data  # none where somebody else marks a run as failed whose process is gone
    error = data.error if isinstance(data, JobFailureData) else None
    return error.message.strip() if error is not None else event.message or ""
