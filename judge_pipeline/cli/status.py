"""``judge-pipeline status``: contests, and how far each judge is with them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable
from rich.text import Text

from judge_pipeline.settings import Workspace


@click.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where results lie (default: var/).")
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line, one for each contest and judge.")
def status(out: Path | None, as_json: bool) -> int:
    """Show every contest and, for each judge, whether its table is verified."""
    from judge_pipeline.orchestration.stored_tables import coverage_of_contests

    workspace = Workspace.find()
    workspace = replace(workspace, out_dir=out.resolve()) if out else workspace
    rows = coverage_of_contests(workspace)
    if as_json:
        for row in rows:
            click.echo(json.dumps(row, ensure_ascii=False))
        return 0
    console = Console()
    if not rows:
        console.print("No contest yet: 'judge-pipeline demo', or 'judge-pipeline run CONTEST_DIR'.")
        return 0
    for contest, of_contest in groupby(rows, key=lambda row: row["contest"]):
        console.print(_table(str(contest), list(of_contest)))
    return 0


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
