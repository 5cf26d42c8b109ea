"""``judge-pipeline rerate``: people judge a sample again, blinded, and are set beside the judges."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judge_pipeline.cli.evaluate import DataFailure
from judge_pipeline.settings import Workspace

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

_OUT = click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Where results lie (default: var/)."
)


@click.group()
def rerate() -> None:
    """A blinded sheet for people who judge a sample again, and what their answers say of the judges."""


@rerate.command()
@click.argument("contest")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), required=True, help=".xlsx or .csv")
@click.option("--attempts", type=click.IntRange(min=2), default=30, show_default=True, help="Attempts on the sheet.")
@click.option("--raters", type=click.IntRange(1, 20), default=2, show_default=True, help="People, each with a sheet.")
@click.option(
    "--split",
    type=click.Choice(["test", "val", "train", "all"]),
    default="test",
    show_default=True,
    help="From which attempts; t* was chosen on val, so test is the fair comparison.",
)
@click.option("--with-prompts", is_flag=True, help="Also show Q_u, as judges see it.")
@click.option("--seed", type=click.IntRange(min=0), help="Of the sample (default: the contest's).")
@_OUT
def make(
    contest: str, output: Path, attempts: int, raters: int, split: str, with_prompts: bool, seed: int | None,
    out: Path | None,
) -> int:  # fmt: skip
    """Write a sheet with a sample of CONTEST's attempts, for people to judge.

    The sample is stratified by verdict, by judges' disagreement and by their mean p_ac. The sheet holds codes, not
    attempts: no verdict, no judge, no participant. Texts are those that judges are sent, with personal data replaced.
    Which code is which attempt is kept in the results and not in the sheet. The same options make the same sheet.

    \b
    Exit codes: 0 done; 1 the data failed; 2 the command was wrong.

    \b
    Example:
      judge-pipeline rerate make my-contest --attempts 30 --raters 2 -o sheet.xlsx
    """
    from judge_pipeline.cli.rerating_sheet import write_sheet
    from judge_pipeline.orchestration.reratings import new_sheet

    if output.suffix.lower() not in (".xlsx", ".csv"):
        raise click.BadParameter(f"{output.name} does not end in .xlsx or .csv.", param_hint="--output")
    workspace = _workspace(out)
    try:
        sheet, shown, n_candidates = new_sheet(
            workspace, contest, n=attempts, n_raters=raters, split=split, with_prompts=with_prompts, seed=seed
        )
    except FileNotFoundError:
        raise click.BadParameter(
            f"{contest!r} is no contest with stored requests and predictions; 'judge-pipeline run' makes them",
            param_hint="CONTEST",
        ) from None
    write_sheet(output, sheet, shown)
    click.echo(f"{output}: sheet {sheet.name}, {len(sheet.keys)} of {n_candidates} attempts, {raters} rater(s)")
    if len(sheet.keys) < attempts:
        click.echo(f"There are only {len(sheet.keys)} attempts with code in {split}; --split all has more.")
    click.echo(f"When it is filled: judge-pipeline rerate read {output}")
    return 0


@rerate.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@_OUT
def read(file: Path, as_json: bool, out: Path | None) -> int:
    """Read a filled sheet back, keep its answers, and set people beside judges, with 95% intervals.

    What is not filled is counted. Reading a sheet again replaces what was read of it. The report of the contest shows
    the comparison when it is made anew ('judge-pipeline report CONTEST').

    \b
    Exit codes: 0 done; 1 a cell cannot be right, and the message names it; 2 the command was wrong.
    """
    from judge_pipeline.cli.rerating_sheet import SheetError, read_sheet
    from judge_pipeline.orchestration.reratings import agreement_of, keep_reratings, keys_of

    if file.suffix.lower() not in (".xlsx", ".csv"):
        raise click.BadParameter(f"{file.name} does not end in .xlsx or .csv.", param_hint="FILE")
    workspace = _workspace(out)
    keys = keys_of(workspace)
    try:
        filled = read_sheet(file, [item for table in keys.values() for item in table["item"]])
        if not filled.rows:
            raise SheetError("no row is filled. Remedy: fill the columns accepted?, s_algo, s_robust")
        contests = keep_reratings(workspace, keys, filled.rows)
    except (SheetError, OSError) as error:
        raise DataFailure(f"{click.format_filename(file)}: {error}") from error
    found = {contest: agreement_of(workspace, contest) for contest in contests}
    if as_json:
        click.echo(json.dumps(_as_json(filled.rows, filled.blank, found), allow_nan=False))
        return 0
    raters = sorted({*(row["rater"] for row in filled.rows), *filled.blank})
    for rater in raters:
        n = sum(row["rater"] == rater for row in filled.rows)
        unsure = sum(row["rater"] == rater and row["accepted"] == "unsure" for row in filled.rows)
        click.echo(f"{rater}: {n} rated ({unsure} unsure), {filled.blank.get(rater, 0)} left blank")
    _print(found)
    return 0


def _workspace(out: Path | None) -> Workspace:
    workspace = Workspace.find()
    return replace(workspace, out_dir=out.resolve()) if out else workspace


def _as_json(rows: list[dict[str, Any]], blank: dict[str, int], found: dict[str, pd.DataFrame]) -> dict[str, Any]:
    from judge_pipeline.cli.evaluation_json import estimate_of

    raters = sorted({*(row["rater"] for row in rows), *blank})
    counts = {r: {"rated": sum(row["rater"] == r for row in rows), "blank": blank.get(r, 0)} for r in raters}
    named = ("rater", "against", "other", "rated", "statistic")
    return {
        "raters": counts,
        "agreement": {
            contest: [{**{n: row[n] for n in named}, **estimate_of(row)} for row in table.to_dict("records")]
            for contest, table in found.items()
        },
    }


def _print(found: dict[str, pd.DataFrame]) -> None:
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    for contest, table in found.items():
        notes: dict[str, int] = {}
        console.print()
        console.print(_table(contest, table, notes))
        for text, number in notes.items():
            console.print(f"{number:>2} {text}")
        console.print(f"The report shows this, too: judge-pipeline report {contest}")


def _table(contest: str, rows: pd.DataFrame, notes: dict[str, int]) -> Table:
    from rich.table import Table

    from judge_pipeline.cli.evaluation_json import estimate_of
    from judge_pipeline.cli.evaluation_sections import printable
    from judge_pipeline.tables.metric_words import rerating_label

    table = Table(title=contest, box=None, padding=(0, 1, 0, 0), title_justify="left", title_style="bold")
    table.add_column("", overflow="fold")
    for heading in ("value", "95% interval", "n", "out"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    last = None
    for row in rows.to_dict("records"):
        who = f"{row['rater']} and {row['other'] if row['other'] is not None else 'the verdict'}"
        if who != last:
            table.add_row(printable(who), style="bold")
        last, estimate = who, estimate_of(row)
        reasons = estimate["reason"].split("; ") if estimate["reason"] else []
        interval = estimate["ci95"]
        table.add_row(
            f"  {rerating_label(row['statistic'], row['rated'])}",
            "undefined" if estimate["value"] is None else f"{estimate['value']:.4f}",
            "" if interval is None else f"{interval[0]:.4f} to {interval[1]:.4f}",
            str(estimate["n"]),
            str(estimate["n_left_out"]),
            " ".join(str(notes.setdefault(printable(text), len(notes) + 1)) for text in reasons),
        )
    return table
