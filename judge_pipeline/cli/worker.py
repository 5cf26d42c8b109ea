"""``judge-pipeline worker``: takes runs from a broker and executes them on this machine."""

from __future__ import annotations

import os
import socket
import sys
from itertools import chain

import click

from judge_pipeline.settings import Workspace


@click.command()
@click.option(
    "--at-once", default=1, show_default=True, type=click.IntRange(min=1), help="How many, each in its own process."
)
@click.option("--name", help="What it is called in runs' logs.  [default: worker]")
@click.option(
    "--takes",
    default="runs",
    show_default=True,
    type=click.Choice(["runs", "steps"]),
    help="Whole runs; or single steps, of runs whose executor is celery, such as shards.",
)
def worker(at_once: int, name: str | None, takes: str) -> None:
    """Take runs from the broker in JUDGE_PIPELINE_BROKER_URL and execute them here, until stopped.

    For a cluster: dagster.yaml must name the launcher that gives runs to workers (deploy/dagster.yaml does). All
    workers need the same data folder, JUDGE_PIPELINE_STORE_URL and JUDGE_PIPELINE_CHECKPOINT_URL. Ctrl-C or SIGTERM
    lets the runs that are under way end first.
    """
    from judge_pipeline.orchestration.celery_settings import QUEUES, celery_settings
    from judge_pipeline.orchestration.instance import dagster_environment, open_instance

    workspace = Workspace.find()
    workspace.judges()
    celery_settings(os.environ)
    with open_instance(workspace):
        pass
    os.environ |= dagster_environment(workspace)
    called = f"{name or 'worker'}@{socket.gethostname()}"
    click.echo(f"{called} takes {takes}, {at_once} at once", err=True)
    options = {"--concurrency": str(at_once), "--queues": QUEUES[takes], "--hostname": called, "--loglevel": "WARNING"}
    celery = [sys.executable, "-m", "celery", "--app", "judge_pipeline.orchestration.celery_app", "--quiet", "worker"]
    os.execv(sys.executable, [*celery, *chain.from_iterable(options.items())])
