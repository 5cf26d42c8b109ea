"""How workers and those who give them work are set up, once, so that both agree. Nothing of Celery is imported here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from judge_pipeline.settings.yaml_file import SettingsError

BROKER_URL = "JUDGE_PIPELINE_BROKER_URL"
"""Environment variable with the broker's URL, such as ``redis://host:6379/0``."""

RESULTS_URL = "JUDGE_PIPELINE_RESULTS_URL"
"""Environment variable with the URL where workers say how tasks ended; without it the broker's."""

QUEUES: Mapping[str, str] = MappingProxyType({"runs": "dagster", "steps": "dagster-steps"})
"""What a worker takes -> the queue that it lies in. A run that waits for its steps takes a worker's place: were both in
one queue, runs could take all places and wait for ever."""

_OPTIONS: Mapping[str, Any] = MappingProxyType(
    {
        # A task that runs is nobody else's: who it was given to is asked whether it lives (``celery_launcher``).
        "task_acks_late": False,
        "task_track_started": True,
        "result_extended": True,  # which worker it was
        # A worker that goes takes no run with it that it had not begun.
        "worker_disable_prefetch": True,
        "worker_prefetch_multiplier": 1,
        # Each task in a new process, as each run of the UI has one: configuration is read anew, memory is given back,
        # and what a run has spent is counted from nothing.
        "worker_max_tasks_per_child": 1,
        "worker_send_task_events": True,
        "broker_connection_retry_on_startup": True,
        "broker_transport_options": {"max_retries": 10, "interval_start": 0, "interval_step": 0.5, "interval_max": 5},
        "result_expires": 7 * 24 * 3600,
    }
)


@dataclass(frozen=True, slots=True)
class CelerySettings:
    """How workers are reached.

    Attributes:
        broker_env: name of the environment variable with the broker's URL.
        results_env: name of that with the URL of results.
        options: further settings of Celery, the same for those who send tasks and those who take them.
    """

    broker_env: str
    results_env: str
    options: Mapping[str, Any]


def celery_settings(environment: Mapping[str, str]) -> CelerySettings:
    """The settings of the environment.

    Raises:
        SettingsError: no broker is named.
    """
    if not environment.get(BROKER_URL):
        raise SettingsError(f"no broker is named: set {BROKER_URL}, such as redis://:password@host:6379/0")
    return CelerySettings(BROKER_URL, RESULTS_URL if environment.get(RESULTS_URL) else BROKER_URL, _OPTIONS)
