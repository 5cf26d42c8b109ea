"""``judge-pipeline canary``: whether judges can be talked round by what they judge, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from judge_pipeline.cli.asking import chosen_judges, contest_name, failed, said, show_plans
from judge_pipeline.cli.terminal import TerminalProgress
from judge_pipeline.settings import Workspace

if TYPE_CHECKING:
    import pandas as pd


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
    from judge_pipeline.orchestration.canary_run import CANNOT_BE_ASKED, plan_canaries

    workspace = Workspace.find()
    workspace = replace(workspace, out_dir=out.resolve()) if out else workspace
    name, console = contest_name(contest), Console()
    chosen, left_out = chosen_judges(workspace.judges(), judges, {"recorded": CANNOT_BE_ASKED})
    askable, all_can = show_plans(
        console, contest, chosen, left_out, lambda judge: plan_canaries(workspace, name, judge, attempts)
    )
    if dry_run or not askable:
        return 0 if all_can else 1
    code = _ask(console, workspace, name, askable, attempts)
    return code if all_can else 1


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
            code = said(console, f"judge {judge}", outcome.failed_checks, outcome.error) or code
            code = code or int(any("all_answered" in line for line in outcome.failed_checks))
        console.print("[bold]Measuring[/bold]")
        outcome = run_job(definitions, instance, REPORT_CONTEST, contest)
        if outcome.error is not None:
            return failed(f"contest {contest}", outcome.error)
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
