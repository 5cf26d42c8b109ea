"""``judge-pipeline status``: contests, and how far each judge is with them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

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
    table = RichTable(box=None, padding=(0, 2, 0, 0))
    for heading in ("contest", "judge", "status", "judged", "in scope", "USD", "why"):
        table.add_column(heading, justify="right" if heading in ("judged", "in scope", "USD") else "left")
    for row in rows:
        cost = row["cost_usd"]
        table.add_row(
            escape(str(row["contest"])),
            escape(str(row["judge"] or "–")),
            escape(str(row["status"])),
            str(row["n_judged"]),
            str(row["n_in_scope"]),
            "–" if cost is None else f"{cost:.4f}",
            escape(str(row["reason"] or "")),
        )
    console.print(table)
    return 0
