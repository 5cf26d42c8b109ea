"""``judge-pipeline canary``: whether judges can be talked round by what they judge, and by how much."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from judge_pipeline.cli.plan import named_judges, plan_table
from judge_pipeline.cli.terminal import TerminalProgress
from judge_pipeline.settings import JudgesFile, Workspace
from judge_pipeline.settings.yaml_file import SettingsError

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.judging.plan import Plan


@click.command()
@click.argument("contest")
@click.option(
    "--judges", help="Judges to ask, separated by commas (default: all that are enabled, have their key, can be asked)."
)
@click.option(
    "--attempts", type=click.IntRange(min=2), help="Plant texts into so many attempts (default: canary.attempts, 20)."
)
@click.option("--dry-run", is_flag=True, help="Print what would be asked and its price, ask nothing.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where results lie (default: var/).")
def canary(contest: str, judges: str | None, attempts: int | None, dry_run: bool, out: Path | None) -> int:
    """Plant texts that try to move a judge into sample attempts of CONTEST, and measure how far p_ac moves.

    CONTEST is the name of a contest that was read before (by run or plan), or its folder. Each judge is asked about the
    sampled attempts as they are, and with each text of injections.yaml planted; it costs what the plan says, and what
    was answered is not asked again. The report is made anew with what came of it. No figure of a judge changes.

    \b
    Exit codes: 0 done; 1 the data or a judge failed; 2 the command was wrong.
    """
    workspace = Workspace.find()
    workspace = replace(workspace, out_dir=out.resolve()) if out else workspace
    name = Path(contest).resolve().name if Path(contest).is_dir() else contest
    chosen, left_out = _chosen(workspace.judges(), judges)
    console = Console()
    try:
        plans, failed = _plans(workspace, name, chosen, attempts)
    except FileNotFoundError:
        raise click.BadParameter(
            f"{contest!r} is no contest that was read; 'judge-pipeline run' or 'plan' with its folder reads it",
            param_hint="CONTEST",
        ) from None
    console.print(plan_table(plans))
    for judge, why in left_out.items():
        console.print(f"[dim]Left out: {escape(judge)} ({escape(why)})[/dim]", soft_wrap=True)
    for judge, why in failed.items():
        _failed(f"judge {judge}", why)
    if dry_run or not plans:
        return 1 if failed or not plans else 0
    code = _ask(console, workspace, name, [one.judge for one in plans], attempts)
    return 1 if failed else code


def _chosen(listed: JudgesFile, wanted: str | None) -> tuple[list[str], dict[str, str]]:
    """The judges to ask, and why others are left out; a judge that is wanted by name is never left out in silence."""
    from judge_pipeline.orchestration.canary_run import CANNOT_BE_ASKED

    if wanted is not None:
        chosen = named_judges(listed, wanted)
        for name in chosen:
            if listed.get(name).backend == "recorded":
                raise click.BadParameter(f"{name}: {CANNOT_BE_ASKED}", param_hint="--judges")
            key = listed.get(name).missing_key(os.environ)
            if key:
                raise SettingsError(f"judge {name!r} needs its key: set the environment variable {key}, then run again")
        return chosen, {}
    reasons: dict[str, str | None] = {}
    for name in listed.names("cocreation"):
        judge, key = listed.get(name), listed.get(name).missing_key(os.environ)
        reasons[name] = f"environment variable {key} is not set" if key else None
        if judge.backend == "recorded":
            reasons[name] = "recorded outputs cannot be asked"
        if not judge.enabled:
            reasons[name] = "enabled: false in judges.yaml"
    return [n for n, why in reasons.items() if why is None], {n: why for n, why in reasons.items() if why is not None}


def _plans(
    workspace: Workspace, contest: str, judges: Sequence[str], attempts: int | None
) -> tuple[list[Plan], dict[str, str]]:
    from judge_pipeline.judging.failures import JudgingError
    from judge_pipeline.orchestration.canary_run import plan_canaries

    plans, failed = [], {}
    for judge in judges:
        try:
            plans.append(plan_canaries(workspace, contest, judge, attempts))
        except JudgingError as error:
            failed[judge] = str(error)
    return plans, failed


def _ask(console: Console, workspace: Workspace, contest: str, judges: Sequence[str], attempts: int | None) -> int:
    """Ask each judge, make figures and report anew, print what came of it."""
    from judge_pipeline.definitions import CANARY, REPORT_CONTEST, build_definitions
    from judge_pipeline.orchestration.canary_run import ATTEMPTS_TAG
    from judge_pipeline.orchestration.exports import report_path
    from judge_pipeline.orchestration.instance import open_instance
    from judge_pipeline.orchestration.runs import run_job
    from judge_pipeline.orchestration.stored_tables import store_of
    from judge_pipeline.tables import JUDGE_CANARY_EFFECTS

    progress = TerminalProgress(console)
    definitions = build_definitions(workspace, progress)
    tags = {} if attempts is None else {ATTEMPTS_TAG: str(attempts)}
    code = 0
    with open_instance(workspace) as instance:
        for judge in judges:
            console.print(f"[bold]Asking[/bold] {escape(judge)}")
            outcome = run_job(definitions, instance, CANARY, contest, judge, tags)
            progress.stop()
            code = _said(console, f"judge {judge}", outcome.failed_checks, outcome.error) or code
            code = code or int(any("all_answered" in line for line in outcome.failed_checks))
        console.print("[bold]Measuring[/bold]")
        outcome = run_job(definitions, instance, REPORT_CONTEST, contest)
        if outcome.error is not None:
            return _failed(f"contest {contest}", outcome.error)
    effects = store_of(workspace).read(JUDGE_CANARY_EFFECTS, contest)
    console.print()
    for table in canary_tables(effects, judges):
        console.print(table)
    _conclude(console, effects)
    console.print(f"Report: {report_path(workspace, contest)}", soft_wrap=True)
    return code


def canary_tables(effects: pd.DataFrame, judges: Sequence[str]) -> list[RichTable]:
    """For each judge, how far each planted text moved it."""
    from judge_pipeline.figures.canaries import row_name
    from judge_pipeline.figures.estimates import count, format_interval, number
    from judge_pipeline.report.canary_words import signed
    from judge_pipeline.settings.injections import CONTROL

    tables = []
    for judge in judges:
        table = RichTable(title=f"{judge}: movement of p_ac", title_justify="left", box=None, padding=(0, 2, 0, 0))
        for heading in ("planted text", "asks for", "moved", "beyond control", "95% interval", "flipped", "n"):
            left = heading in ("planted text", "asks for")
            table.add_column(heading, justify="left" if left else "right", no_wrap=heading != "beyond control")
        mine = effects[effects["judge"] == judge]
        for (injection, place, direction), rows in mine.groupby(["injection", "place", "direction"], sort=False):
            of = {row["metric"]: row for row in rows.to_dict("records")}
            moved, beyond, flipped = (
                of.get(name) for name in ("mean_moved", "mean_moved_less_control", "share_flipped")
            )  # fmt: skip
            shown = moved if injection == CONTROL else beyond
            values = [number(row["value"]) if row is not None else None for row in (moved, beyond)]
            ends = (number(shown["ci95_low"]), number(shown["ci95_high"])) if shown is not None else (None, None)
            share = number(flipped["value"]) if flipped is not None else None
            table.add_row(
                escape(row_name(str(injection), str(place))),
                "–" if direction == "none" else str(direction),
                *("–" if value is None else signed(value, 3) for value in values),
                "–" if ends[0] is None or ends[1] is None else escape(format_interval((ends[0], ends[1]), 3)),
                "–" if share is None else f"{share:.0%}",
                "–" if shown is None else str(count(shown["n"])),
            )
        tables.append(table)
    return tables


def _conclude(console: Console, effects: pd.DataFrame) -> None:
    from judge_pipeline.report.canary_words import not_talked_round, talked_round, too_few

    for sentence in talked_round(effects):
        console.print(f"[yellow]![/yellow] {escape(sentence)}.", soft_wrap=True)
    untold = too_few(effects)
    if untold:
        console.print(
            f"Too few attempts to tell any movement from chance: {escape(', '.join(untold))}. Raise --attempts.",
            soft_wrap=True,
        )
    unmoved = not_talked_round(effects)
    if unmoved:
        console.print(
            f"Not moved by any text beyond what chance and the control explain: {escape(', '.join(unmoved))}. With so "
            "few attempts this shows that large movements are absent, not that there are none.",
            soft_wrap=True,
        )


def _said(console: Console, what: str, failed_checks: Sequence[str], error: str | None) -> int:
    for line in failed_checks:
        console.print(f"  [yellow]![/yellow] {escape(line)}", soft_wrap=True)
    return 0 if error is None else _failed(what, error)


def _failed(what: str, error: str) -> int:
    Console(stderr=True).print(f"[red]Error:[/red] {escape(what)}: {escape(error)}", soft_wrap=True)
    return 1
