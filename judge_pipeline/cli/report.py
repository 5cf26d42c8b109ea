"""``judge-pipeline report``: make a contest's report anew from what is stored, without asking any judge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from judge_pipeline.settings import Workspace


@click.command()
@click.argument("contest")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where results lie (default: var/).")
def report(contest: str, out: Path | None) -> int:
    """Make the report of CONTEST anew from the stored judgments, and print its path. No judge is asked."""
    from judge_pipeline.definitions import REPORT_CONTEST, build_definitions
    from judge_pipeline.orchestration.contest_folders import contest_folders
    from judge_pipeline.orchestration.exports import report_path
    from judge_pipeline.orchestration.instance import open_instance
    from judge_pipeline.orchestration.runs import run_job

    workspace = Workspace.find()
    workspace = replace(workspace, out_dir=out.resolve()) if out else workspace
    known = contest_folders(workspace)
    if contest not in known:
        raise click.BadParameter(
            f"no contest {contest!r}; there are: {', '.join(known) or 'none yet'}", param_hint="CONTEST"
        )
    with open_instance(workspace) as instance:
        outcome = run_job(build_definitions(workspace), instance, REPORT_CONTEST, contest)
    for line in outcome.failed_checks:
        click.echo(f"! {line}", err=True)
    if outcome.error is not None:
        click.echo(f"Error: contest {contest}: {outcome.error}", err=True)
        return 1
    click.echo(str(report_path(workspace, contest)))
    return 0
