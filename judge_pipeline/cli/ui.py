"""``judge-pipeline ui``: the Dagster UI, on loopback, over this workspace."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from judge_pipeline.settings import Workspace


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; others can reach 0.0.0.0.")
@click.option("--port", default=3000, show_default=True, type=click.IntRange(1, 65535), help="Port to listen on.")
def ui(host: str, port: int) -> None:
    """Start the Dagster UI (and its daemon) with every contest and preference set as a partition.

    Where there is no contest yet, the sample contest is offered. Stop it with Ctrl-C.
    """
    from judge_pipeline.cli.run import sample_contest
    from judge_pipeline.orchestration.contest_folders import contest_folders, note_contest
    from judge_pipeline.orchestration.instance import dagster_home, open_instance
    from judge_pipeline.orchestration.preference_sets import preference_folders

    workspace = Workspace.find()
    workspace.judges()
    if not contest_folders(workspace):
        note_contest(workspace, sample_contest())
    with open_instance(workspace):
        pass
    click.echo(f"Contests: {', '.join(contest_folders(workspace))}")
    if sets := preference_folders(workspace):
        click.echo(f"Preference sets: {', '.join(sets)}")
    click.echo(f"UI: http://{host}:{port}  (Ctrl-C stops it)")
    home = workspace.config_dir.parent
    os.environ |= {
        "DAGSTER_HOME": str(dagster_home(workspace)),
        "JUDGE_PIPELINE_HOME": str(home),
        "JUDGE_PIPELINE_OUT": str(workspace.out_dir),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "DAGSTER_DISABLE_TELEMETRY": "1",
    }
    target = _target(home)
    # Dagster would advise on every start to use a command of another package.
    quiet = ["-W", "ignore:Function `dev_command` is superseded"]
    command = [sys.executable, *quiet, "-m", "dagster", "dev", *target, "--host", host, "--port", str(port)]
    os.execv(sys.executable, command)


def _target(home: Path) -> list[str]:
    file = home / "workspace.yaml"
    return ["--workspace", str(file)] if file.is_file() else ["--module-name", "judge_pipeline.definitions"]
