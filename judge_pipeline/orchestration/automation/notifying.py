"""The sensor that tells people of runs that failed: by webhook, by e-mail, or both.

Whom a run's failure was told stands in a tag of the run, so that a sensor whose cursor was lost or turned back tells
nothing twice; the cursor only says from where to look. What could not be sent is tried again at the next look.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import dagster as dg
from dagster import DagsterEventType, DagsterInstance, DagsterRun, RunsFilter, RunStatusChangeRecordsFilter

from judge_pipeline.orchestration.automation.failed_runs import failed_run
from judge_pipeline.orchestration.automation.failure_messages import FailedRun, Message, messages
from judge_pipeline.orchestration.automation.living import COMMAND_LINE, STARTED_BY_TAG
from judge_pipeline.orchestration.automation.look import Look
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.automation import NotifySettings
from judge_pipeline.settings.secrets_file import key_environment
from judge_pipeline.settings.yaml_file import SettingsError

if TYPE_CHECKING:
    from judge_pipeline.orchestration.automation.sending import Channel

NAME = "notify_of_failures"

TOLD_TAG = "judge_pipeline/told"
"""Tag of a run that failed: the channels by which people were told, or which refused to take it."""

REFUSED = "(refused)"

MOST_READ = 200
"""Failures looked at by one look; the next one goes on."""

_SECONDS_OF_SENDING = 20.0


def notifying_sensor(workspace: Workspace) -> dg.SensorDefinition:
    """The sensor; it runs by itself, and does nothing until a webhook or a mail server is set.

    It logs what a look came to where the look before came to something else: each look logs to the terminal, too.
    """
    logged: str | None = None

    @dg.sensor(
        name=NAME,
        minimum_interval_seconds=workspace.automation().notify.interval_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Tells of failed runs by webhook or e-mail: what failed, why, and how to retry it. "
        "Nobody is told until a variable that automation.yaml names under notify is set.",
    )
    def notify_of_failures(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        nonlocal logged
        look = look_for_failures(workspace, context.instance, context.cursor, key_environment())
        context.update_cursor(look.cursor)
        if look.words != logged:
            context.log.info(look.words)
            logged = look.words
        return dg.SkipReason(look.words)

    return notify_of_failures


def look_for_failures(
    workspace: Workspace, instance: DagsterInstance, cursor: str | None, environment: Mapping[str, str]
) -> Look:
    """Tell of the runs that failed since the cursor, and of those that could not be told before.

    Args:
        workspace: the settings, and the folders that retrying needs.
        instance: where runs are recorded.
        cursor: of the last look; None at the first, which tells of what fails from then on.
        environment: where addresses are read.
    """
    from judge_pipeline.orchestration.automation.sending import channels

    settings = workspace.automation().notify
    try:
        ways = channels(settings, environment)
    except SettingsError as error:
        return Look(cursor or _newest(instance), str(error))
    if not ways:
        return Look(_newest(instance), f"nobody is told: neither {settings.webhook_env} nor {settings.smtp_env} is set")
    if cursor is None or not cursor.isdecimal():
        return Look(_newest(instance), "runs that fail from now on are told")
    # It is ahead of the records where these were restored from a backup, and it was not.
    failures, last = _failures_after(instance, min(int(cursor), int(_newest(instance))))
    told = {run.run_id: _told(run) for _, run in failures}
    to_tell = [
        failed_run(workspace, instance, run)
        for _, run in failures
        if not all(way.name in told[run.run_id] for way in ways)
    ]
    words, deadline = [], time.monotonic() + _SECONDS_OF_SENDING
    for way in ways:
        runs = [run for run in to_tell if way.name not in told[run.run_id]]
        sent = _send(way, runs, settings, deadline)
        for run_id, how in sent.told.items():
            told[run_id][way.name] = how
            instance.add_run_tags(run_id, {TOLD_TAG: _in_tag(told[run_id])})
        words += [f"{way.name}: told of {len(sent.told)} of {len(runs)} failed runs", *sent.problems]
    waiting = [at for at, run in failures if not all(way.name in told[run.run_id] for way in ways)]
    reached = min(waiting) - 1 if waiting else last
    return Look(str(reached), "; ".join(words) if to_tell else "no further run has failed")


@dataclass(slots=True)
class _Sent:
    """Runs that one channel need not be told of again, with how that went (empty: well); and what went wrong."""

    told: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def _send(way: Channel, runs: Sequence[FailedRun], settings: NotifySettings, deadline: float) -> _Sent:
    """Send what there is to tell. The first message that cannot be sent ends it: the next look tries again."""
    from judge_pipeline.orchestration.automation.sending import NotSentError

    sent = _Sent()
    for message in messages(runs, settings.most_messages, with_words=settings.words):
        if time.monotonic() > deadline:
            sent.problems.append("the rest follows at the next look")
            break
        try:
            refusal = _refusal(way, message)
        except NotSentError as error:
            sent.problems.append(f"{error}; tried again at the next look")
            break
        if refusal is not None:
            ids = ", ".join(run.run_id for run in message.runs)
            sent.problems.append(f"{refusal}, with and without words why, and is not told of {ids}")
        sent.told |= {run.run_id: "" if refusal is None else REFUSED for run in message.runs}
    return sent


def _refusal(way: Channel, message: Message) -> str | None:
    """Send a message; where the other side does not take it, one of the names alone. Why it takes neither, if so."""
    from judge_pipeline.orchestration.automation.sending import NotSentError

    try:
        way.send(message)
    except NotSentError as error:
        if not error.refused:
            raise
        (bare,) = messages(message.runs, 1, with_words=False)
        try:
            way.send(bare)
        except NotSentError as again:
            if not again.refused:
                raise
            return str(again)
    return None


def _failures_after(instance: DagsterInstance, cursor: int) -> tuple[list[tuple[int, DagsterRun]], int]:
    """The runs that failed, each with the id of that event, oldest first, and the last id that was looked at.

    Without those of the command line, which tells itself what failed.
    """
    wanted = RunStatusChangeRecordsFilter(DagsterEventType.RUN_FAILURE, after_storage_id=cursor)
    records = instance.fetch_run_status_changes(wanted, limit=MOST_READ, ascending=True).records
    ids = list({record.run_id for record in records})
    runs = {run.run_id: run for run in instance.get_runs(RunsFilter(run_ids=ids))} if ids else {}
    found = [(record.storage_id, runs[record.run_id]) for record in records if record.run_id in runs]
    last = max((record.storage_id for record in records), default=cursor)
    return [(at, run) for at, run in found if run.tags.get(STARTED_BY_TAG) != COMMAND_LINE], last


def _newest(instance: DagsterInstance) -> str:
    records = instance.fetch_run_status_changes(DagsterEventType.RUN_FAILURE, limit=1).records
    return str(records[0].storage_id if records else 0)


def _told(run: DagsterRun) -> dict[str, str]:
    """Channel -> how telling it went, from the run's tag."""
    said = [each.partition(" ") for each in run.tags.get(TOLD_TAG, "").split(", ") if each]
    return {name: how for name, _, how in said}


def _in_tag(told: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {how}".strip() for name, how in told.items())
