"""``judge-pipeline preference``: a preference set's folder -> pairs, splits, profile, by the same job as the UI."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judge_pipeline.settings import Workspace

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table

_FIGURES = {
    "instructions": "Different instructions",
    "natural_languages": "Natural languages",
    "programming_languages": "Programming languages",
    "context_chars": "Context, characters",
    "output_chars": "Response, characters",
    "code_lines": "Code, lines",
    "edit_distance_lines": "Edit distance, lines",
    "with_instruction": "With an instruction",
    "with_file_context": "With a file",
    "with_code_to_edit": "With code to edit",
    "ties": "Ties",
    "chose_first_in_source": "Chose the source's first",
    "same_response": "Same response twice",
}
"""The figures of the profile that are shown, by their names for people."""


@click.command()
@click.argument("set_dir", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where to write (default: var/).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def preference(set_dir: Path, out: Path | None, as_json: bool) -> int:
    """Read the preference set in SET_DIR: pairs of responses, splits, profile. No judge is asked.

    SET_DIR holds files of pairs and, optionally, preference.yaml, which says what format they have. Its name is the
    set's name. What is left out, swapped and set aside is counted; what is set aside is named with what to do.

    \b
    Example:
      judge-pipeline preference data/preference/my-edits

    Exit codes: 0 done; 1 no pair could be read, or the settings are wrong; 2 the command was wrong.
    """
    from judge_pipeline.definitions import READ_PREFERENCE_SET, build_definitions
    from judge_pipeline.orchestration.instance import open_instance
    from judge_pipeline.orchestration.preference_sets import note_preference_set
    from judge_pipeline.orchestration.runs import run_job
    from judge_pipeline.orchestration.stored_tables import store_of
    from judge_pipeline.tables import DATASET_PROFILE, PREFERENCE_PAIRS, PREFERENCE_SELECTION, PREFERENCE_SPLITS

    workspace = Workspace.find()
    workspace = replace(workspace, out_dir=out.resolve()) if out else workspace
    settings = workspace.preference(set_dir)
    name = note_preference_set(workspace, set_dir)
    with open_instance(workspace) as instance:
        outcome = run_job(build_definitions(workspace), instance, READ_PREFERENCE_SET, name)
    _say(outcome.failed_checks)
    if outcome.error is not None:
        click.echo(f"Error: preference set {name}: {outcome.error}", err=True)
        return 1
    store = store_of(workspace)
    tables = {
        t: store.read(t, name) for t in (PREFERENCE_PAIRS, PREFERENCE_SELECTION, PREFERENCE_SPLITS, DATASET_PROFILE)
    }
    found = {
        "set": name,
        "title": settings.title,
        "chosen_by": settings.chosen_by,
        "choices": _counts(tables[PREFERENCE_PAIRS]["w"]),
        "splits": _counts(tables[PREFERENCE_SPLITS]["split"]),
        "rows": _records(tables[PREFERENCE_SELECTION]),
        "profile": _records(tables[DATASET_PROFILE]),
    }
    if as_json:
        click.echo(json.dumps(found, allow_nan=False, ensure_ascii=False))
    else:
        _print(found, store.path(PREFERENCE_PAIRS, name))
    return 0


def _say(failed_checks: tuple[str, ...]) -> None:
    from judge_pipeline.figures.style import clean

    for line in failed_checks:
        click.echo(f"! {clean(line)}", err=True)


def _counts(values: pd.Series) -> dict[str, int]:
    return {str(value): int(n) for value, n in sorted(values.value_counts().items())}


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as plain JSON values; what is missing is null."""
    plain = table.astype(object).where(table.notna(), None)
    return [{str(key): value for key, value in row.items()} for row in plain.to_dict("records")]


def _print(found: dict[str, Any], pairs_file: Path) -> None:
    from rich.console import Console

    from judge_pipeline.figures.style import clean

    console = Console(highlight=False, markup=False, emoji=False)
    choices = ", ".join(f"{choice} {n}" for choice, n in found["choices"].items())
    splits = ", ".join(f"{split} {n}" for split, n in found["splits"].items())
    console.print(f"{clean(found['title'] or found['set'])}: {sum(found['choices'].values())} pairs", style="bold")
    console.print(f"Chosen by: {clean(found['chosen_by'])}. Choices: {choices}. Splits: {splits}.")
    console.print(_rows_table(found["rows"]))
    _print_profile(console, found["profile"])
    console.print(f"Pairs: {pairs_file}", soft_wrap=True)


def _rows_table(rows: list[dict[str, Any]]) -> Table:
    from rich import box
    from rich.table import Table

    from judge_pipeline.figures.style import clean

    table = Table(title="What became of the files' rows", box=box.SIMPLE_HEAD, title_justify="left")
    for heading, justify in (("Rows", "right"), ("", "left"), ("Why", "left"), ("Setting", "left"), ("File", "left")):
        table.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]  # one of rich's words
    for row in rows:
        effect = row["effect"].replace("_", " ")
        table.add_row(f"{row['n']:,}", effect, row["reason"], row["setting"] or "", clean(row["source_file"]))
    return table


def _print_profile(console: Console, profile: list[dict[str, Any]]) -> None:
    from rich import box
    from rich.table import Table

    by_name = {(row["figure"], row["statistic"]): row for row in profile if row["level"] is None}
    table = Table(title="Profile", box=box.SIMPLE_HEAD, title_justify="left")
    for heading in ("", "All", "p50", "p95"):
        table.add_column(heading, justify="left" if not heading else "right")
    reasons = []
    for figure, words in _FIGURES.items():
        cells = [by_name.get((figure, statistic)) for statistic in ("count", "share", "p50", "p95")]
        reasons += [f"{words}: {row['reason']}." for row in cells if row is not None and row["value"] is None][:1]
        count, share, p50, p95 = map(_shown, cells)
        table.add_row(words, count or (f"{share} %" if share else ""), p50, p95)
    console.print(table)
    for reason in reasons:
        console.print(reason, soft_wrap=True)


def _shown(row: dict[str, Any] | None) -> str:
    """A figure for the table: shares in percent, empty where there is none."""
    if row is None:
        return ""
    if row["value"] is None:
        return "–"
    return f"{100 * row['value']:.1f}" if row["statistic"] == "share" else f"{row['value']:,.0f}"
