"""``judge-pipeline preference``: a preference set's folder -> pairs, judges' choices, rubric, figures and report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from judge_pipeline.cli.judged_run import judges_to_ask, workspace_at
from judge_pipeline.cli.set_folder import set_folder
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.judge_parts import MOST_SHARDS


@click.command()
@click.argument("set_dir", type=click.Path(file_okay=False, path_type=Path))
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where to write (default: var/).")
@click.option(
    "--judges", help="Judges to ask, separated by commas (default: all that are enabled and have their key or file)."
)
@click.option("--limit", type=click.IntRange(min=1), help="Ask for so many pairs only, drawn by the seed.")
@click.option("--dry-run", is_flag=True, help="Read the set, print what would be asked and its price, ask nothing.")
@click.option(
    "--shards",
    type=click.IntRange(1, MOST_SHARDS),
    help="Cut what each judge is asked into so many parts, asked by processes side by side (default: judges.yaml).",
)
@click.option("--read-only", is_flag=True, help="Read the set and show what was read. No judge is asked.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def preference(
    set_dir: Path, out: Path | None, judges: str | None, limit: int | None, dry_run: bool, read_only: bool,
    as_json: bool, shards: int | None,
) -> int:  # fmt: skip
    """Take the preference set in SET_DIR from its files to its report: whether judges choose as people do, and why.

    SET_DIR holds files of pairs and, optionally, preference.yaml, which says what format they have. Its name is the
    set's name, which may stand in the folder's place where the set lies in data/preference/ or was read before. What is
    left out, swapped and set aside is counted; what is set aside is named with what to do. Every judge is asked about
    each pair in both orders. What it has answered is kept: running again asks only for what is new, and a run that was
    stopped goes on where it was.

    \b
    Examples:
      judge-pipeline preference data/preference/my-edits --read-only
      judge-pipeline preference data/preference/my-edits --dry-run
      judge-pipeline preference data/preference/my-edits --judges gpt-5,baseline-length --limit 20

    Exit codes: 0 done; 1 no pair could be read, the settings are wrong, or a judge failed; 2 the command was wrong.
    """
    from judge_pipeline.cli.preference_run import PreferenceRun, run_preference_set

    workspace = workspace_at(out)
    set_dir = set_folder(workspace, set_dir)
    if read_only:
        return _read(workspace, set_dir, as_json)
    console = Console(stderr=as_json)
    chosen, left_out = judges_to_ask(workspace.judges(), judges, set_dir, "preference", "the set's folder")
    wanted = PreferenceRun(chosen, left_out, limit=limit, dry_run=dry_run, named=judges is not None, shards=shards)
    outcome = run_preference_set(workspace, set_dir, wanted, console)
    if as_json and outcome.found is not None:
        click.echo(json.dumps(outcome.found, allow_nan=False, ensure_ascii=False))
    return outcome.code


def _read(workspace: Workspace, set_dir: Path, as_json: bool) -> int:
    """Read the set alone, by the same job as the UI."""
    from judge_pipeline.cli.asking import failed
    from judge_pipeline.cli.preference_reading import print_reading, what_was_read
    from judge_pipeline.definitions import READ_PREFERENCE_SET, build_definitions
    from judge_pipeline.figures.style import clean
    from judge_pipeline.orchestration.instance import open_instance
    from judge_pipeline.orchestration.preference_sets import note_preference_set
    from judge_pipeline.orchestration.runs import run_job
    from judge_pipeline.orchestration.stored_tables import store_of
    from judge_pipeline.tables import PREFERENCE_PAIRS

    settings = workspace.preference(set_dir)
    name = note_preference_set(workspace, set_dir)
    with open_instance(workspace) as instance:
        outcome = run_job(build_definitions(workspace), instance, READ_PREFERENCE_SET, name)
    for line in outcome.failed_checks:
        click.echo(f"! {clean(line)}", err=True)
    if outcome.error is not None:
        return failed(f"preference set {name}", outcome.error)
    store = store_of(workspace)
    found: dict[str, Any] = what_was_read(store, name, settings)
    if as_json:
        click.echo(json.dumps(found, allow_nan=False, ensure_ascii=False))
    else:
        print_reading(Console(highlight=False), found, store.path(PREFERENCE_PAIRS, name))
    return 0
