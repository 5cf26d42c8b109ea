"""``judge-pipeline run`` and ``demo``: a contest from raw files to the report, by the same jobs as the UI's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

import click
from rich.console import Console
from rich.markup import escape

from judge_pipeline.cli.asking import failed
from judge_pipeline.cli.judged_run import (
    ask_judges,
    demo_judges,
    judges_to_ask,
    make_start_page,
    print_checks,
    print_failed,
    print_start_page,
    show_plan,
    workspace_at,
)
from judge_pipeline.cli.plan import plans_of
from judge_pipeline.cli.sharded_run import ShardedJudging
from judge_pipeline.cli.terminal import TerminalProgress
from judge_pipeline.settings import Workspace, check_slug
from judge_pipeline.settings.judge_parts import MOST_SHARDS
from judge_pipeline.settings.yaml_file import SettingsError

SAMPLE_CONTEST = "sample-contest"


@click.command()
@click.argument("contest_dir", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where to write (default: var/).")
@click.option(
    "--judges", help="Judges to ask, separated by commas (default: all that are enabled and have their key or file)."
)
@click.option("--limit", type=click.IntRange(min=1), help="Ask for a stratified pilot of so many attempts only.")
@click.option("--dry-run", is_flag=True, help="Read the contest, print what would be asked and its price, ask nothing.")
@click.option(
    "--shards",
    type=click.IntRange(1, MOST_SHARDS),
    help="Cut what each judge is asked into so many parts, asked by processes side by side (default: judges.yaml).",
)
def run(
    contest_dir: Path, out: Path | None, judges: str | None, limit: int | None, dry_run: bool, shards: int | None
) -> int:
    """Take the contest in CONTEST_DIR from raw files to its report.

    CONTEST_DIR holds submissions/<participant>/[<problem>/]..., prompts/<participant>/... and, optionally,
    contest.yaml. Its name is the contest's name. What a judge has answered is kept: running again asks only for what
    is new, and a run that was stopped goes on where it was. What is asked in batches (setting batch) is answered by
    tomorrow: the run submits it, says so and ends, and the next one collects it.

    \b
    Exit codes: 0 done, or waiting for batches; 1 the data or a judge failed; 2 the command was wrong.
    """
    workspace = workspace_at(out)
    try:
        check_slug(contest_dir.resolve().name, "contest folder name")
    except SettingsError as error:
        raise click.BadParameter(str(error), param_hint="CONTEST_DIR") from None
    chosen, left_out = judges_to_ask(workspace.judges(), judges, contest_dir, "cocreation", "the contest folder")
    return run_contest(workspace, contest_dir, chosen, left_out=left_out, limit=limit, dry_run=dry_run, shards=shards)


@click.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where to write (default: var/).")
@click.option("--preference", is_flag=True, help="The sample preference set in place of the sample contest.")
@click.option("--criteria", is_flag=True, help="The same set, criterion by criterion, with a scripted judge.")
def demo(out: Path | None, preference: bool, criteria: bool) -> int:
    """Run the sample contest with judges that need no key: embedded, baseline and recorded (simulated) ones.

    It ends with the headline figures and the path of the report. A second run asks nothing again. With --preference it
    does so for the sample preference set, in which a stated rule chose and no person. With --criteria it judges the
    pairs of that set criterion by criterion, with a scripted judge: no model, but a rule with known faults.
    """
    workspace = workspace_at(out)
    if criteria:
        from judge_pipeline.cli.criteria_demo import demo_criteria

        return demo_criteria(workspace)
    if preference:
        from judge_pipeline.cli.preference_run import demo_preference

        return demo_preference(workspace)
    return run_contest(workspace, sample_contest(), demo_judges(workspace.judges(), sample_contest(), "cocreation"))


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
    shards: int | None = None,
) -> int:
    """Read, judge, evaluate, report; returns the exit code. The judges that are left out are named with the reason."""
    from judge_pipeline.definitions import (
        JUDGE_CONTEST,
        READ_CONTEST,
        REPORT_CONTEST,
        build_definitions,
    )
    from judge_pipeline.judging.money import RunSpending
    from judge_pipeline.orchestration.contest_folders import note_contest
    from judge_pipeline.orchestration.instance import open_instance
    from judge_pipeline.orchestration.judging_run import LIMIT_TAG, plan_judge
    from judge_pipeline.orchestration.runs import run_job

    console = Console()
    progress = TerminalProgress(console)
    contest = note_contest(workspace, contest_dir)
    workspace.contest(contest_dir)
    spending = RunSpending()
    definitions = build_definitions(workspace, progress, spending)
    with open_instance(workspace) as instance:
        console.print(f"[bold]Reading[/bold] {escape(contest)}")
        outcome = run_job(definitions, instance, READ_CONTEST, contest)
        print_checks(console, outcome.failed_checks)
        if outcome.error is not None:
            return failed(f"contest {contest}", outcome.error)
        plans, without_plan = plans_of(judges, lambda judge: plan_judge(workspace, contest, judge, limit))
        show_plan(console, plans, left_out)
        if dry_run:
            for judge, why in without_plan.items():
                failed(f"judge {judge}", why)
            return 1 if without_plan else 0
        tags = {} if limit is None else {LIMIT_TAG: str(limit)}
        sharded = ShardedJudging(workspace, definitions, instance, spending, shards, "contest", console, plans)
        asked = ask_judges(
            console, progress, judges, lambda judge: sharded.judge(JUDGE_CONTEST, contest, judge, tags),
            pilots=() if limit is None else judges,
        )  # fmt: skip
        console.print("[bold]Measuring[/bold]")
        outcome = run_job(definitions, instance, REPORT_CONTEST, contest)
        print_checks(console, outcome.failed_checks)
        if outcome.error is not None:
            return failed(f"contest {contest}", outcome.error)
        make_start_page(console, partial(run_job, definitions, instance))
    _print_result(console, workspace, contest)
    if asked.waiting:
        console.print(
            f"[yellow]Waiting:[/yellow] {escape(', '.join(asked.waiting))}. What came back by now is in the report; "
            f"'judge-pipeline batches {escape(contest)}' says how far the rest is.",
            soft_wrap=True,
        )
    return print_failed(console, asked)


def _print_result(console: Console, workspace: Workspace, contest: str) -> None:
    from judge_pipeline.orchestration.exports import report_path
    from judge_pipeline.orchestration.stored_tables import report_tables
    from judge_pipeline.report.headline import headline, headline_tables

    console.print()
    for table in headline_tables(headline(report_tables(workspace, contest))):
        console.print(table)
    console.print(f"Report: {report_path(workspace, contest)}", soft_wrap=True)
    print_start_page(console, workspace)
