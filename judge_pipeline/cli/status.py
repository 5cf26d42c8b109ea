"""``judge-pipeline status``: contests and preference sets, and how far each judge is with them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable
from rich.text import Text

from judge_pipeline.orchestration.left_out import SWITCHED_OFF
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.yaml_file import SettingsError

if TYPE_CHECKING:
    from judge_pipeline.judging.batches.store import BatchRow


@click.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where results lie (default: var/).")
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line, one for each contest or set and judge.")
def status(out: Path | None, as_json: bool) -> int:
    """Show every contest and preference set: for each judge, whether its table is verified; of a set, its report."""
    from judge_pipeline.orchestration.stored_tables import coverage_of_contests, coverage_of_preference_sets

    workspace = Workspace.find()
    workspace = replace(workspace, out_dir=out.resolve()) if out else workspace
    rows, of_sets = coverage_of_contests(workspace), coverage_of_preference_sets(workspace)
    waiting = _waiting(workspace)
    if as_json:
        for row in rows:
            n_waiting = sum(batch.n_requests for batch in waiting if _is_of(batch, row))
            click.echo(json.dumps({**row, "n_waiting": n_waiting}, ensure_ascii=False))
        for row in of_sets:
            click.echo(json.dumps(row, ensure_ascii=False))
        return 0
    console = Console()
    if not rows and not of_sets:
        console.print(
            "No contest and no preference set yet: 'judge-pipeline demo', 'judge-pipeline run CONTEST_DIR', or "
            "'judge-pipeline preference SET_DIR'."
        )
        return 0
    for contest, of_contest in groupby(rows, key=lambda row: row["contest"]):
        console.print(_table(str(contest), list(of_contest)))
        for batch in (each for each in waiting if each.contest == contest):
            console.print(f"  [yellow]…[/yellow] {escape(_in_words(batch))}", soft_wrap=True)
    for name, of_set in groupby(of_sets, key=lambda row: row["preference_set"]):
        _print_set(console, str(name), list(of_set))
    return 0


def _print_set(console: Console, name: str, rows: Sequence[Mapping[str, object]]) -> None:
    """One preference set: its judges but for those that are switched off, and its reports."""
    shown = [row for row in rows if row["reason"] != SWITCHED_OFF]
    console.print(_table(f"{name} (preference set)", shown))
    if len(shown) < len(rows):
        console.print(f"  [dim]{len(rows) - len(shown)} more are switched off in judges.yaml[/dim]")
    by_criteria = rows[0]["criteria_report"]
    if rows[0]["report"] or not by_criteria:
        console.print(f"  Report: {escape(str(rows[0]['report'] or 'none yet'))}", soft_wrap=True)
    if by_criteria:
        console.print(f"  Criterion by criterion: {escape(str(by_criteria))}", soft_wrap=True)


def _waiting(workspace: Workspace) -> list[BatchRow]:
    """The open batches, as they were last seen; no provider is asked."""
    from judge_pipeline.judging.failures import JudgingError
    from judge_pipeline.orchestration.open_batches import batches_of

    try:
        return batches_of(workspace)
    except JudgingError as error:
        raise SettingsError(str(error)) from None


def _is_of(batch: BatchRow, row: Mapping[str, object]) -> bool:
    return (batch.contest, batch.judge) == (row["contest"], row["judge"])


def _in_words(batch: BatchRow) -> str:
    since = (batch.submitted_at or batch.prepared_at)[:16].replace("T", " ")
    return (
        f"{batch.judge}: {batch.n_requests:,} requests wait in a batch since {since} UTC "
        f"({batch.status or batch.state}); 'judge-pipeline batches {batch.contest}' asks how far it is"
    )


def _table(contest: str, rows: Sequence[Mapping[str, object]]) -> RichTable:
    """One contest's judges; long reasons wrap in the last column, so that names stay whole in 80 columns."""
    table = RichTable(title=Text(contest, "bold"), title_justify="left", box=None, padding=(0, 2, 0, 0))
    table.add_column("judge", no_wrap=True)
    table.add_column("judged", no_wrap=True, justify="right")
    table.add_column("USD", no_wrap=True, justify="right")
    table.add_column("status")
    for row in rows:
        cost, reason = row["cost_usd"], row["reason"]
        table.add_row(
            escape(str(row["judge"] or "–")),
            f"{row['n_judged']} of {row['n_in_scope']}" if row["judge"] else "–",
            "–" if cost is None else f"{cost:.4f}",
            escape(f"{row['status']}: {reason}" if reason else str(row["status"])),
        )
    return table
