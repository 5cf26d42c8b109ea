"""``judge-pipeline leaderboard``: judges over all contests, accuracy against cost and latency."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judge_pipeline.settings import Workspace

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.estimate import Estimate

_NAME_WIDTH = 14
"""Characters of a judge's name on one line, so that the table fits into 80 columns."""


@click.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where results lie (default: var/).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def leaderboard(out: Path | None, as_json: bool) -> int:
    """Set the judges side by side over all contests, from the stored judgments. No judge is asked.

    Makes the start page with the leaderboard anew, and prints its path. Judges whose ranks overlap are not told apart.

    \b
    Example:
      judge-pipeline leaderboard --json > leaderboard.json
    """
    from judge_pipeline.definitions import COMPARE_CONTESTS, build_definitions
    from judge_pipeline.orchestration.exports import start_page_path
    from judge_pipeline.orchestration.instance import open_instance
    from judge_pipeline.orchestration.parquet_store import EVERY_CONTEST
    from judge_pipeline.orchestration.runs import run_job
    from judge_pipeline.orchestration.stored_tables import store_of
    from judge_pipeline.report.start_page import leaderboard_json
    from judge_pipeline.tables import LEADERBOARD

    workspace = Workspace.find()
    workspace = replace(workspace, out_dir=out.resolve()) if out else workspace
    with open_instance(workspace) as instance:
        outcome = run_job(build_definitions(workspace), instance, COMPARE_CONTESTS, None)
    for line in outcome.failed_checks:
        click.echo(f"! {line}", err=True)
    if outcome.error is not None:
        click.echo(f"Error: {outcome.error}", err=True)
        return 1
    table = store_of(workspace).read(LEADERBOARD, EVERY_CONTEST)
    if as_json:
        click.echo(json.dumps({"judges": leaderboard_json(table)}, allow_nan=False, ensure_ascii=False))
        return 0
    _print(table)
    click.echo(f"All contests: {start_page_path(workspace)}")
    return 0


def _print(table: pd.DataFrame) -> None:
    from textwrap import wrap

    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from judge_pipeline.figures.estimates import metrics_by_judge
    from judge_pipeline.figures.style import clean
    from judge_pipeline.report.start_page import in_order, labels, leaderboard_findings, rank_words

    console = Console(highlight=False, markup=False, emoji=False)
    if not len(table):
        console.print("No judge has a figure in any contest yet: judge-pipeline run CONTEST_DIR makes them.")
        return
    for statement in leaderboard_findings(table):
        console.print(Text(clean(f"{statement.lead}. {statement.text}")))
    grid = Table(title="Judges over all contests", title_justify="left", box=box.SIMPLE, pad_edge=False)
    grid.padding = 0
    grid.add_column("Judge", no_wrap=True)
    for name in ("Ranks", "ROC-AUC", "MCC on test", "Brier", "US$/1k", "Latency"):
        grid.add_column(name, justify="right", no_wrap=True)
    estimates, named = metrics_by_judge(table), labels(table)
    for judge in in_order(table):
        found = estimates[judge]
        name = "\n".join(wrap(clean(named[judge]), _NAME_WIDTH))
        cells = [_accuracy(found.get(metric)) for metric in ("roc_auc", "mcc_test", "brier")]
        ranks = rank_words(table, judge).replace(" to ", "-")
        grid.add_row(*map(Text, (name, ranks, *cells, _money(found.get("cost_per_1000_usd")), _time(found))))
    console.print(grid)
    console.print(
        "Ranks: those that the data leave open (ROC-AUC, Holm). US$ for 1,000 attempts. Latency: median, 95th "
        "percentile."
    )


def _accuracy(estimate: Estimate | None) -> str:
    from judge_pipeline.figures.estimates import format_interval, format_number

    if estimate is None or estimate.value is None:
        return "undefined"
    lines = (format_number(estimate.value), format_interval(estimate.ci95, 2), f"n={estimate.n:,}")
    return "\n".join(line for line in lines if line)


def _money(estimate: Estimate | None) -> str:
    return "–" if estimate is None or estimate.value is None else f"{estimate.value:,.2f}\nn={estimate.n:,}"


def _time(found: Mapping[str, Estimate]) -> str:
    times = [found[name].value if name in found else None for name in ("latency_median_ms", "latency_p95_ms")]
    known = [f"{time:,.0f} ms" for time in times if time is not None]
    return "\n".join([*known, f"n={found['latency_median_ms'].n:,}"]) if known else "–"
