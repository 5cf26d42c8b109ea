"""The sensor that sends runs that have ended to an OpenLineage receiver. Off until OPENLINEAGE_URL is set."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import dagster as dg
from dagster import DagsterEventType, DagsterInstance, RunStatusChangeRecordsFilter

from judge_pipeline.orchestration.automation.look import Look
from judge_pipeline.settings.secrets_file import key_environment

if TYPE_CHECKING:
    from openlineage.client.event_v2 import RunEvent

NAME = "send_openlineage_events"

URL, ENDPOINT, API_KEY = "OPENLINEAGE_URL", "OPENLINEAGE_ENDPOINT", "OPENLINEAGE_API_KEY"
NAMESPACE, DISABLED = "OPENLINEAGE_NAMESPACE", "OPENLINEAGE_DISABLED"
"""The variables by which OpenLineage's own clients are set up."""

SECONDS_BETWEEN_LOOKS = 30
MOST_RUNS = 25
"""Runs sent by one look; the next one goes on."""

_SUCCESS: Literal[DagsterEventType.RUN_SUCCESS] = DagsterEventType.RUN_SUCCESS
_FAILURE: Literal[DagsterEventType.RUN_FAILURE] = DagsterEventType.RUN_FAILURE
_CANCELED: Literal[DagsterEventType.RUN_CANCELED] = DagsterEventType.RUN_CANCELED
_ENDS = (_SUCCESS, _FAILURE, _CANCELED)
_REFUSALS = (400, 413, 422)
_NO_RETRY = {"total": 0, "status_forcelist": []}
"""The next look is the retry."""

_TIMEOUT_SECONDS, _SECONDS_OF_SENDING = 5.0, 30.0

Send = Callable[["RunEvent"], object]


def openlineage_sensor() -> dg.SensorDefinition:
    """The sensor; it runs by itself, and does nothing until OPENLINEAGE_URL is set."""

    @dg.sensor(
        name=NAME,
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Sends each run that has ended, with its steps and tables, to an OpenLineage receiver. Sends "
        f"nothing until {URL} is set.",
    )
    def send_openlineage_events(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        look = look_for_ended_runs(context.instance, context.cursor, key_environment())
        context.update_cursor(look.cursor)
        return dg.SkipReason(look.words)

    return send_openlineage_events


def look_for_ended_runs(instance: DagsterInstance, cursor: str | None, environment: Mapping[str, str]) -> Look:
    """Send the runs that ended since the cursor, oldest first; the first that cannot be sent is where the next begins.

    A run that was sent, but for its last event, is sent again as a whole: its events have the same ids and times.

    Args:
        instance: where runs are recorded.
        cursor: of the last look; None at the first, which sends what ends from then on.
        environment: where the receiver's address and key are read.
    """
    if not environment.get(URL) or environment.get(DISABLED, "").strip().lower() == "true":
        return Look(_newest(instance), f"nothing is sent: {URL} is not set, or {DISABLED} is true")
    newest, after = _newest(instance), _positions(cursor)
    if after is None:
        return Look(newest, "runs that end from now on are sent")
    # A cursor is ahead of the records where these were restored from a backup, and it was not.
    after = {kind: min(at, int(json.loads(newest)[kind])) for kind, at in after.items()}
    try:
        send = _sender(environment)
    except ImportError:
        return Look(cursor or "", "openlineage-python is not installed: pip install 'judge-pipeline[openlineage]'")
    n_sent, problems, deadline = 0, list[str](), time.monotonic() + _SECONDS_OF_SENDING
    for at, kind, run_id in _ended_after(instance, after):
        if time.monotonic() > deadline:
            break
        try:
            _send_run(instance, run_id, environment.get(NAMESPACE) or "judge_pipeline", send)
            n_sent += 1
        except OSError as error:  # requests' errors are of this kind
            answer = getattr(error, "response", None)
            words = type(error).__name__ if answer is None else f"the receiver answered {answer.status_code}"
            if answer is None or answer.status_code not in _REFUSALS:
                problems.append(f"{run_id} could not be sent ({words}); tried again at the next look")
                break
            problems.append(f"{run_id} is not taken ({words}), and is left out")
        after[kind] = at
    return Look(
        json.dumps(after), "; ".join([f"sent {n_sent} runs" if n_sent else "no further run is sent", *problems])
    )


def _send_run(instance: DagsterInstance, run_id: str, namespace: str, send: Send) -> None:
    """Send a run's events. A run that was deleted meanwhile, or never began, is nothing to send."""
    from judge_pipeline.orchestration.openlineage_events import events_of_run
    from judge_pipeline.orchestration.openlineage_records import run_facts, table_columns
    from judge_pipeline.tables import ALL_TABLES

    run = instance.get_run_by_id(run_id)
    facts = run_facts(instance, run) if run is not None else None
    if facts is None:
        return
    for event in events_of_run(facts, namespace, table_columns(ALL_TABLES)):
        send(event)


def _sender(environment: Mapping[str, str]) -> Send:
    """What sends an event and fails loudly: OpenLineageClient adds facets of its own, and may go on after a failure."""
    from openlineage.client.transport.http import HttpConfig, HttpTransport

    config: dict[str, Any] = {"url": environment[URL], "timeout": _TIMEOUT_SECONDS, "retry": _NO_RETRY}
    if environment.get(ENDPOINT):
        config["endpoint"] = environment[ENDPOINT]
    if environment.get(API_KEY):
        config["auth"] = {"type": "api_key", "apiKey": environment[API_KEY]}
    transport = HttpTransport(HttpConfig.from_dict(config))
    return transport.emit


def _ended_after(instance: DagsterInstance, after: Mapping[str, int]) -> list[tuple[int, str, str]]:
    """Id of the event, its kind, and the run; the oldest ``MOST_RUNS``."""
    found = []
    for kind in _ENDS:
        wanted = RunStatusChangeRecordsFilter(kind, after_storage_id=after[kind.value])
        records = instance.fetch_run_status_changes(wanted, limit=MOST_RUNS, ascending=True).records
        found += [(record.storage_id, kind.value, record.run_id) for record in records]
    return sorted(found)[:MOST_RUNS]


def _positions(cursor: str | None) -> dict[str, int] | None:
    try:
        found = json.loads(cursor or "")
        return {kind.value: int(found[kind.value]) for kind in _ENDS}
    except (ValueError, TypeError, KeyError):
        return None


def _newest(instance: DagsterInstance) -> str:
    newest = {kind.value: instance.fetch_run_status_changes(kind, limit=1).records for kind in _ENDS}
    return json.dumps({kind: records[0].storage_id if records else 0 for kind, records in newest.items()})
