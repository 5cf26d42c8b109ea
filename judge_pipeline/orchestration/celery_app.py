"""The Celery application of workers: ``judge-pipeline worker`` starts it.

The broker's URL comes from the environment and is written nowhere; dagster-celery's own command would write it to a
file. It takes whole runs (``celery_launcher``) and single steps (``executors``).
"""

from __future__ import annotations

import importlib
import os
from multiprocessing import current_process
from typing import Any

from celery import Celery
from celery._state import _set_task_join_will_block
from celery.signals import worker_init, worker_process_init
from dagster_celery.make_app import make_app
from dagster_celery.tasks import create_execute_job_task, create_resume_job_task, create_task

from judge_pipeline.orchestration.celery_settings import celery_settings

_HEAVY = ("pandas", "pyarrow.parquet", "scipy.stats", "sklearn.linear_model", "litellm", "s3fs", "psycopg2")
"""What runs import that does not depend on configuration, and takes seconds."""


def worker_app() -> Celery:
    """The application, with every task that dagster-celery sends."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else litellm asks the network when it is loaded
    settings = celery_settings(os.environ)
    urls = {"broker": os.environ[settings.broker_env], "backend": os.environ[settings.results_env]}
    app: Celery = make_app(urls)  # type: ignore[no-untyped-call]
    app.conf.update(settings.options)
    for create in (create_task, create_execute_job_task, create_resume_job_task):
        create(app)
    return app


@worker_init.connect  # type: ignore[untyped-decorator]
def import_before_runs(**_: Any) -> None:
    """Load once what every run needs: the processes of runs are forked from this one."""
    for module in _HEAVY:
        importlib.import_module(module)


@worker_process_init.connect  # type: ignore[untyped-decorator]
def may_give_work_away(**_: Any) -> None:
    """Let the process of a run start others, as the multiprocess executor does, and wait for tasks, as Celery's does.

    Celery forbids both: tasks that wait for tasks can stand still for ever. Here these lie in a queue of their own.
    """
    current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    _set_task_join_will_block(False)


app = worker_app()
