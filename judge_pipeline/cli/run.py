"""``judge-pipeline run`` and ``demo``: a contest from raw files to the report, by the same jobs as the UI's."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import click
from rich.console import Console
from rich.markup import escape

from judge_pipeline.cli.plan import named_judges, plan_table, plans_of
from judge_pipeline.cli.terminal import TerminalProgress
from judge_pipeline.settings import JudgesFile, Workspace, check_slug
from judge_pipeline.settings.yaml_file import SettingsError

SAMPLE_CONTEST = "sample-contest"
DEMO_BACKENDS = ("embedded", "baseline", "recorded")


@click.command()
@click.argument("contest_dir", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where to write (default: var/).")
@click.option(
    "--judges", help="Judges to ask, separated by commas (default: all that are enabled and have their key or file)."
)
@click.option("--limit", type=click.IntRange(min=1), help="Ask for a stratified pilot of so many attempts only.")
@click.option("--dry-run", is_flag=True, help="Read the contest, print what would be asked and its price, ask nothing.")
def run(contest_dir: Path, out: Path | None, judges: str | None, limit: int | None, dry_run: bool) -> int:
    """Take the contest in CONTEST_DIR from raw files to its report.

    CONTEST_DIR holds submissions/<participant>/[<problem>/]..., prompts/<participant>/... and, optionally,
    contest.yaml. Its name is the contest's name. What a judge has answered is kept: running again asks only for what
    is new, and a run that was stopped goes on where it was. What is asked in batches (setting batch) is answered by
    tomorrow: the run submits it, says so and ends, and the next one collects it.

    \b
    Exit codes: 0 done, or waiting for batches; 1 the data or a judge failed; 2 the command was wrong.
    """
    workspace = _workspace(out)
    try:
        check_slug(contest_dir.resolve().name, "contest folder name")
    except SettingsError as error:
        raise click.BadParameter(str(error), param_hint="CONTEST_DIR") from None
    chosen, left_out = _chosen(workspace.judges(), judges, contest_dir)
    return run_contest(workspace, contest_dir, chosen, left_out=left_out, limit=limit, dry_run=dry_run)


@click.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where to write (default: var/).")
def demo(out: Path | None) -> int:
    """Run the sample contest with judges that need no key: embedded, baseline and recorded (simulated) ones.

    It ends with the headline figures and the path of the report. A second run asks nothing again.
    """
    workspace = _workspace(out)
    judges = workspace.judges()
    chosen = [name for name in judges.names() if judges.get(name).backend in DEMO_BACKENDS and judges.get(name).enabled]
    return run_contest(workspace, sample_contest(), chosen)


def sample_contest() -> Path:
    """The folder of the contest that comes with the package."""
    return Path(__file__).resolve().parent.parent / "samples" / "contests" / SAMPLE_CONTEST


def run_contest(
    workspace: Workspace,
    contest_dir: Path,
    judges: Sequence[str],
    *,
    left_out: Mapping[str, str] = MappingProxyType({}),
    limit: int | None = None,
    dry_run: bool = False,
) -> int:
    """Read, judge, evaluate, report; returns the exit code. The judges that are left out are named with the reason."""
    from judge_pipeline.definitions import (
        COMPARE_CONTESTS,
        JUDGE_CONTEST,
        READ_CONTEST,
        REPORT_CONTEST,
        build_definitions,
    )
    from judge_pipeline.orchestration.contest_folders import note_contest
    from judge_pipeline.orchestration.instance import open_instance
    from judge_pipeline.orchestration.judging_run import LIMIT_TAG
    from judge_pipeline.orchestration.runs import run_job

    console = Console()
    progress = TerminalProgress(console)
    contest = note_contest(workspace, contest_dir)
    workspace.contest(contest_dir)
    definitions = build_definitions(workspace, progress)
    with open_instance(workspace) as instance:
        console.print(f"[bold]Reading[/bold] {escape(contest)}")
        outcome = run_job(definitions, instance, READ_CONTEST, contest)
        _print_checks(console, outcome.failed_checks)
        if outcome.error is not None:
            return _failed(console, f"contest {contest}", outcome.error)
        plans, without_plan = plans_of(workspace, contest, judges, limit)
        console.print(plan_table(plans))
        for judge, why in left_out.items():
            console.print(f"[dim]Left out: {escape(judge)} ({escape(why)})[/dim]", soft_wrap=True)
        if dry_run:
            for judge, why in without_plan.items():
                _failed(console, f"judge {judge}", why)
            return 1 if without_plan else 0
        failed = {}
        waiting = []
        tags = {} if limit is None else {LIMIT_TAG: str(limit)}
        for judge in judges:
            console.print(f"[bold]Judging[/bold] {escape(judge)}")
            outcome = run_job(definitions, instance, JUDGE_CONTEST, contest, judge, tags)
            progress.stop()
            _print_checks(console, outcome.failed_checks)
            if outcome.error is not None:
                failed[judge] = outcome.error
                _failed(console, f"judge {judge}", outcome.error)
            elif outcome.waiting is not None:
                waiting.append(judge)
                console.print(f"  [yellow]…[/yellow] {escape(judge)}: {escape(outcome.waiting)}", soft_wrap=True)
        console.print("[bold]Measuring[/bold]")
        outcome = run_job(definitions, instance, REPORT_CONTEST, contest)
        _print_checks(console, outcome.failed_checks)
        if outcome.error is not None:
            return _failed(console, f"contest {contest}", outcome.error)
        over_all = run_job(definitions, instance, COMPARE_CONTESTS, None)
        _print_checks(console, over_all.failed_checks)
        if over_all.error is not None:
            _failed(console, "start page", over_all.error)  # the contest's own report is made all the same
    _print_result(console, workspace, contest)
    if waiting:
        console.print(
            f"[yellow]Waiting:[/yellow] {escape(', '.join(waiting))}. What came back by now is in the report; "
            f"'judge-pipeline batches {escape(contest)}' says how far the rest is.",
            soft_wrap=True,
        )
    if failed:
        console.print(
            f"[red]Failed:[/red] {escape(', '.join(failed))}. The errors above say why. What was answered is kept: run "
            "again once they are mended."
        )
    return 1 if failed else 0


def _workspace(out: Path | None) -> Workspace:
    workspace = Workspace.find()
    return replace(workspace, out_dir=out.resolve()) if out else workspace


def _chosen(judges: JudgesFile, wanted: str | None, contest_dir: Path) -> tuple[list[str], dict[str, str]]:
    """The judges to ask, and why others are left out; a judge that is wanted by name is never left out in silence."""
    from judge_pipeline.orchestration.left_out import why_left_out

    names = judges.names("cocreation")
    if wanted is None:
        reasons = {name: why_left_out(judges.get(name), contest_dir, os.environ) for name in names}
        return [n for n in names if not reasons[n]], {name: why for name, why in reasons.items() if why}
    chosen = named_judges(judges, wanted)
    for name in chosen:
        key = judges.get(name).missing_key(os.environ)
        if key:
            raise SettingsError(f"judge {name!r} needs its key: set the environment variable {key}, then run again")
    return list(dict.fromkeys(chosen)), {}


def _print_checks(console: Console, failed_checks: Sequence[str]) -> None:
    for line in failed_checks:
        console.print(f"  [yellow]![/yellow] {escape(line)}", soft_wrap=True)


def _failed(console: Console, what: str, error: str) -> int:
    Console(stderr=True).print(f"[red]Error:[/red] {escape(what)}: {escape(error)}", soft_wrap=True)
    return 1


def _print_result(console: Console, workspace: Workspace, contest: str) -> None:
    from judge_pipeline.orchestration.exports import report_path, start_page_path
    from judge_pipeline.orchestration.stored_tables import report_tables
    from judge_pipeline.report.headline import headline, headline_tables

    console.print()
    for table in headline_tables(headline(report_tables(workspace, contest))):
        console.print(table)
    console.print(f"Report: {report_path(workspace, contest)}", soft_wrap=True)
    if start_page_path(workspace).is_file():
        console.print(f"All contests: {start_page_path(workspace)}", soft_wrap=True)
