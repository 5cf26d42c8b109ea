"""``judge-pipeline report``: make a contest's report anew from what is stored, without asking any judge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from judge_pipeline.settings import Workspace

if TYPE_CHECKING:
    from judge_pipeline.report.inputs import CocreationReportInput, ReportProvenance


@click.command()
@click.argument("contest")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where results lie (default: var/).")
@click.option(
    "--figures",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write each figure as an image into this folder (needs the extra images and Chromium).",
)
@click.option(
    "--format", "form", type=click.Choice(["png", "svg"]), default="png", show_default=True, help="Of the images."
)
@click.option(
    "--tables",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write each table as .csv and .tex into this folder.",
)
@click.option("--methods", is_flag=True, help="Print what was done with these data, in words that can be cited.")
@click.option("--trajectories", is_flag=True, help="Write a page for every trajectory, however many there are.")
@click.option(
    "--trajectory",
    nargs=2,
    metavar="PARTICIPANT PROBLEM",
    help="Write the page of this trajectory, whether or not it is among those that a run makes.",
)
def report(
    contest: str,
    out: Path | None,
    figures: Path | None,
    form: Literal["png", "svg"],
    tables: Path | None,
    methods: bool,
    trajectories: bool,
    trajectory: tuple[str, str] | None,
) -> int:
    """Make the report of CONTEST anew from the stored judgments, and print its path. No judge is asked.

    \b
    Examples:
      judge-pipeline report my-contest --figures figures --format svg
      judge-pipeline report my-contest --tables tables
      judge-pipeline report my-contest --methods > methods.txt
      judge-pipeline report my-contest --trajectories
    """
    from judge_pipeline.definitions import COMPARE_CONTESTS, REPORT_CONTEST, build_definitions
    from judge_pipeline.orchestration.contest_folders import contest_folders
    from judge_pipeline.orchestration.exports import report_path
    from judge_pipeline.orchestration.instance import open_instance
    from judge_pipeline.orchestration.provenance import provenance_of
    from judge_pipeline.orchestration.resources import WorkspaceResource
    from judge_pipeline.orchestration.runs import run_job
    from judge_pipeline.orchestration.stored_tables import report_tables, store_of

    workspace = Workspace.find()
    workspace = replace(workspace, out_dir=out.resolve()) if out else workspace
    known = contest_folders(workspace)
    if contest not in known:
        raise click.BadParameter(
            f"no contest {contest!r}; there are: {', '.join(known) or 'none yet'}", param_hint="CONTEST"
        )
    with open_instance(workspace) as instance:
        definitions = build_definitions(workspace)
        outcome = run_job(definitions, instance, REPORT_CONTEST, contest)
        for line in outcome.failed_checks:
            click.echo(f"! {line}", err=True)
        if outcome.error is not None:
            click.echo(f"Error: contest {contest}: {outcome.error}", err=True)
            return 1
        over_all = run_job(definitions, instance, COMPARE_CONTESTS, None)
        if over_all.error is not None:  # the contest's own report is made all the same
            click.echo(f"Error: start page: {over_all.error}", err=True)
        provenance = provenance_of(instance, WorkspaceResource.of(workspace), store_of(workspace), contest)
    # With --methods the paragraph alone goes to standard output, so that it can be sent into a file.
    click.echo(str(report_path(workspace, contest)), err=methods)
    given = report_tables(workspace, contest)
    if tables is not None:
        _write_tables(given, provenance, tables)
    if figures is not None:
        _write_figures(given, figures, form)
    if trajectories:
        _write_pages(workspace, contest, provenance.code_version, None)
    if trajectory:
        _write_pages(workspace, contest, provenance.code_version, trajectory)
    if methods:
        _print_methods(given, provenance)
    return 0


def _write_tables(given: CocreationReportInput, provenance: ReportProvenance, folder: Path) -> None:
    from judge_pipeline.orchestration.exports import write_files
    from judge_pipeline.report.cocreation_report import cocreation_views
    from judge_pipeline.report.table_files import table_files

    written = write_files(folder, table_files(cocreation_views(given, provenance)))
    click.echo(f"{len(written)} files of tables in {folder}", err=True)


def _write_figures(given: CocreationReportInput, folder: Path, form: Literal["png", "svg"]) -> None:
    """Raises click.ClickException with the remedy where images cannot be made here."""
    from judge_pipeline.figures.images import ImageError, images
    from judge_pipeline.orchestration.exports import write_files
    from judge_pipeline.report.cocreation_report import cocreation_figures

    drawn = cocreation_figures(given.labelled)
    click.echo(f"Drawing {sum(figure.figure is not None for figure in drawn)} figures ...", err=True)
    try:
        written = write_files(folder, images(drawn, form))
    except ImageError as error:
        raise click.ClickException(str(error)) from None
    for figure in drawn:
        if figure.figure is None:
            click.echo(f"Not drawn: {figure.title}: {figure.reason}", err=True)
    click.echo(f"{len(written)} figures in {folder}", err=True)


def _write_pages(workspace: Workspace, contest: str, code_version: str, only: tuple[str, str] | None) -> None:
    """Raises click.BadParameter where there is no such trajectory."""
    from judge_pipeline.orchestration.trajectory_pages import NoSuchTrajectoryError, pages_dir, write_pages

    try:
        written = write_pages(workspace, contest, code_version, only)
    except NoSuchTrajectoryError as error:
        raise click.BadParameter(str(error), param_hint="--trajectory") from None
    where = (
        str(written[0]) if only else f"{len(written)} pages, listed in {pages_dir(workspace, contest) / 'index.html'}"
    )
    click.echo(f"Trajectories: {where}", err=True)


def _print_methods(given: CocreationReportInput, provenance: ReportProvenance) -> None:
    from judge_pipeline.report.methods_paragraph import methods_paragraph

    click.echo(methods_paragraph(given, provenance))
