"""``judge-pipeline checkpoint``: copy what judges have answered from one checkpoint to another."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table as RichTable

from judge_pipeline.settings.yaml_file import SettingsError

if TYPE_CHECKING:
    from judge_pipeline.judging.checkpoint.copying import Copied

_COLUMNS = ("table", "source", "copied", "there before", "different")


@click.group()
def checkpoint() -> None:
    """What judges have answered and is paid for: the checkpoint."""


@checkpoint.command("copy")
@click.argument("from_url")
@click.argument("to_url")
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line, one for each table.")
def copy(from_url: str, to_url: str, as_json: bool) -> int:
    """Copy what the checkpoint FROM_URL holds and TO_URL does not: requests, answers, every call, batches.

    The URLs are sqlite:////folder/checkpoint.sqlite or postgresql://user@host/database. What TO_URL has stays as it is,
    so that copying can be interrupted and begun again. In the end all rows are looked up once more.

    \b
    Exit codes: 0 all of it is there; 1 it cannot be copied; 2 the command was wrong.
    """
    from judge_pipeline.judging.checkpoint.copying import copy_checkpoint
    from judge_pipeline.judging.failures import JudgingError

    console = Console(stderr=True)
    try:
        with console.status("copying") as status:
            copied = copy_checkpoint(
                from_url, to_url, lambda table, done, of: status.update(f"{table}: {done:,} of {of:,} rows")
            )
    except JudgingError as error:
        raise SettingsError(str(error)) from None
    if as_json:
        for each in copied:
            click.echo(json.dumps(asdict(each)))
    else:
        _show(copied)
    return 0


def _show(copied: list[Copied]) -> None:
    shown = RichTable(*_COLUMNS[:1])
    for name in _COLUMNS[1:]:
        shown.add_column(name, justify="right")
    for each in copied:
        counts = (each.n_source, each.n_copied, each.n_source - each.n_copied, each.n_different)
        shown.add_row(each.table, *(f"{count:,}" for count in counts))
    console = Console()
    console.print(shown)
    if any(each.n_different for each in copied):
        console.print("Where the two differ, the target keeps what it has.")
