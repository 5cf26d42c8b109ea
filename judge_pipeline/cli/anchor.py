"""``judge-pipeline anchor``: whether judges say now what they said at first about the same attempts."""

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

DRIFTED = 3
"""Exit code: a judge has drifted."""


@click.command()
@click.argument("contest")
@click.option(
    "--judges", help="Judges to ask, separated by commas (default: all that are enabled, have their key, can be asked)."
)
@click.option("--period", help="Name of the period, such as 2026-11 (default: today's date, UTC).")
@click.option("--dry-run", is_flag=True, help="Print what would be asked and its price, ask nothing.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where results lie (default: var/).")
def anchor(contest: str, judges: str | None, period: str | None, dry_run: bool, out: Path | None) -> int:
    """Ask judges about the anchor set of CONTEST again, and tell whether they have drifted since the first period.

    CONTEST is the name of a contest that was read before (by run or plan), or its folder; 'anchor' in its contest.yaml
    says which attempts. Each is asked about anew in each period, and costs what the plan says; within a period nothing
    is asked twice. The report is made anew with what came of it. No other figure of a judge changes.

    \b
    Exit codes: 0 done, no drift told; 1 the data or a judge failed; 2 the command was wrong; 3 a judge has drifted.
    """
    from judge_pipeline.orchestration.anchor_run import CANNOT_DRIFT, NO_PERIOD, is_period, plan_anchor, today

    workspace = Workspace.find()
    workspace = replace(workspace, out_dir=out.resolve()) if out else workspace
    name, console = contest_name(contest), Console()
    period = today() if period is None else period
    if not is_period(period):
        raise click.BadParameter(f"{period!r} {NO_PERIOD}", param_hint="--period")
    cannot = dict.fromkeys(("recorded", "baseline"), CANNOT_DRIFT)
    chosen, left_out = chosen_judges(workspace.judges(), judges, cannot)
    askable, all_can = show_plans(
        console, contest, chosen, left_out, lambda judge: plan_anchor(workspace, name, judge, period)
    )
    if dry_run or not askable:
        return 0 if all_can else 1
    code = _ask(console, workspace, name, askable, period)
    return code if all_can or code == DRIFTED else 1


def _ask(console: Console, workspace: Workspace, contest: str, judges: Sequence[str], period: str) -> int:
    """Ask each judge, make figures and report anew, print what came of it."""
    from judge_pipeline.definitions import ANCHOR, REPORT_CONTEST, build_definitions
    from judge_pipeline.orchestration.anchor_run import PERIOD_TAG
    from judge_pipeline.orchestration.exports import report_path
    from judge_pipeline.orchestration.instance import open_instance
    from judge_pipeline.orchestration.runs import run_job
    from judge_pipeline.orchestration.stored_tables import store_of
    from judge_pipeline.tables import ANCHOR_FIGURES

    progress = TerminalProgress(console)
    definitions = build_definitions(workspace, progress)
    code = 0
    with open_instance(workspace) as instance:
        for judge in judges:
            console.print(f"[bold]Asking[/bold] {escape(judge)}")
            outcome = run_job(definitions, instance, ANCHOR, contest, judge, {PERIOD_TAG: period})
            progress.stop()
            unanswered = [line for line in outcome.failed_checks if "all_answered" in line]
            code = said(console, f"judge {judge}", unanswered, outcome.error) or code or int(bool(unanswered))
        console.print("[bold]Measuring[/bold]")
        outcome = run_job(definitions, instance, REPORT_CONTEST, contest)
        if outcome.error is not None:
            return failed(f"contest {contest}", outcome.error)
    figures = store_of(workspace).read(ANCHOR_FIGURES, contest)
    console.print()
    code = _conclude(console, figures[figures["judge"].isin(judges)]) or code
    console.print(f"Report: {report_path(workspace, contest)}", soft_wrap=True)
    return code


def _conclude(console: Console, figures: pd.DataFrame) -> int:
    """Print each judge's figures by period and the verdict in words; ``DRIFTED`` where a judge has drifted."""
    from judge_pipeline.report.anchor_words import drifted, not_drifted

    for judge in dict.fromkeys(figures["judge"]):
        console.print(period_table(figures, str(judge)))
    drift = drifted(figures)
    for sentence in drift:
        console.print(f"[yellow]![/yellow] {escape(sentence)}.", soft_wrap=True)
    for sentence in not_drifted(figures):
        console.print(f"{escape(sentence)}.", soft_wrap=True)
    return DRIFTED if drift else 0


def period_table(figures: pd.DataFrame, judge: str) -> RichTable:
    """A judge's figures by period, oldest first: value, change since the first period with its interval, p.

    Args:
        figures: table ANCHOR_FIGURES.
        judge: the judge.
    """
    from judge_pipeline.figures.estimates import format_interval, format_number, p_words
    from judge_pipeline.report.anchor_words import changed, rows_by_metric
    from judge_pipeline.tables.metric_words import metric_label

    table = RichTable(title=f"{judge}: by period", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("figure", "period", "value", "change", "95% interval", "p (Holm)", "n"):
        table.add_column(heading, justify="left" if heading in ("figure", "period") else "right", no_wrap=True)
    for metric, period, value, change, p_holm in rows_by_metric(figures, judge):
        moved = "–" if change is None or change.value is None else changed(replace(change, ci95=None), 3)
        table.add_row(
            metric_label(metric),
            escape(period),
            "–" if value.value is None else format_number(value.value, 3),
            moved,
            "–" if change is None or change.ci95 is None else escape(format_interval(change.ci95, 3)),
            "–" if p_holm is None else p_words(p_holm).removeprefix("p ").removeprefix("= "),
            f"{value.n if change is None else change.n:,}",
        )
    return table
