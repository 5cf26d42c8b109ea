"""Where a run's steps are executed: chosen by ``JUDGE_PIPELINE_EXECUTOR``, so that the code is the same everywhere."""

from __future__ import annotations

import os
from collections.abc import Mapping

import dagster as dg

from judge_pipeline.orchestration.celery_settings import QUEUES, celery_settings
from judge_pipeline.settings.yaml_file import SettingsError

EXECUTOR = "JUDGE_PIPELINE_EXECUTOR"
"""Environment variable that names the executor; without it ``in_process``."""

EXECUTORS = ("in_process", "multiprocess", "celery")


def run_of_steps(run_id: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """The run, 32 hexadecimal digits, where its steps may be executed in processes of their own; None where not.

    Args:
        run_id: Dagster's.
        environment: where the executor is named.
    """
    name = environment.get(EXECUTOR) or EXECUTORS[0]
    return None if name == "in_process" else run_id.replace("-", "")


def configured_executor(environment: Mapping[str, str] = os.environ) -> dg.ExecutorDefinition:
    """The executor of the graph's jobs.

    ``in_process``: all steps of a run in the run's own process. A new process a step costs seconds, and judging is
    asynchronous inside it; so this is right on a cluster, too, where whole runs go to workers (``celery_launcher``).
    ``multiprocess``: a process a step, on this machine. ``celery``: a task a step, for workers that take steps
    (``judge-pipeline worker --takes steps``), whose process is told the tables by way of the store alone.

    Raises:
        SettingsError: there is no such executor, or its packages or its broker are missing.
    """
    name = environment.get(EXECUTOR) or EXECUTORS[0]
    if name == "in_process":
        return dg.in_process_executor
    if name == "multiprocess":
        return dg.multiprocess_executor
    if name != "celery":
        raise SettingsError(f"{EXECUTOR}={name!r} is no executor; give one of {', '.join(EXECUTORS)}")
    try:
        from dagster_celery import celery_executor
    except ImportError:
        raise SettingsError(f"{EXECUTOR}=celery needs more packages: install judge-pipeline[cluster]") from None
    settings = celery_settings(environment)
    # The URLs may hold passwords, and a run's configuration is shown: they are named here, and read where used.
    return celery_executor.configured(
        {
            "broker": {"env": settings.broker_env},
            "backend": {"env": settings.results_env},
            "config_source": {**settings.options, "task_default_queue": QUEUES["steps"]},
        },
        name="celery",
    )
