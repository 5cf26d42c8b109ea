"""``judge-pipeline init``: an empty workspace with commented configuration, schemas for editors, folders for data."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from pydantic import BaseModel

from judge_pipeline.settings import ContestSettings, JudgesFile, PreferenceSettings, packaged_config_dir
from judge_pipeline.settings.automation import AutomationFile
from judge_pipeline.settings.criteria import CriteriaFile

_SAMPLE_ONLY = "\n  # Simulated, for the sample contest"
"""Begins the part of judges.yaml, up to its end, that only the sample contest has files for."""

_CONTEST_YAML = """\
# yaml-language-server: $schema=../../../assets_config/schemas/contests.schema.json
#
# What is special about this contest; every key of assets_config/contests.yaml may stand here.

# Name of the contest, for people.
title: My contest

# Zone of times that pages print without one. Null: such times stay unknown.
time_zone: null
"""

_READ_ME = """\
Put your files here:

  submissions/<participant>/[<problem>/]   saved pages (.html, .htm), .md, .txt; one feed or table for all is fine too
  prompts/<participant>/                   chat logs: exports, Markdown, plain text
  problems/                                statements, optional: <problem>.md

The folder's name is the contest's name: lower-case letters, digits, '-', '_', '.'. Then:

  judge-pipeline parse .                   see what is read, and what is set aside
  judge-pipeline run . --dry-run           see what would be asked, and its price
  judge-pipeline run .                     from raw files to the report
"""

_GIT_IGNORE = """\
# People's files, and what is made from them: not for version control.
/data/
/var/
"""

_READ_ME_OF_SETS = """\
A preference set is a folder in here: preferences of people between two responses. For a CSV of them:

  my-edits/preferences.csv   columns response_a, response_b, w (A, B or tie); optional: instruction, pair_id, category

The folder's name is the set's name: lower-case letters, digits, '-', '_', '.'. Other columns and formats are named in
a preference.yaml beside the file. Then, in the folder that 'judge-pipeline init' was given:

  judge-pipeline preference my-edits --read-only    see what is read, and what is set aside
  judge-pipeline preference my-edits --dry-run      see what would be asked, and its price
  judge-pipeline preference my-edits                from files to the report
"""


@click.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@click.option("--verbose", "-v", is_flag=True, help="Name every file that is written, not only its folder.")
def init(directory: Path, verbose: bool) -> int:
    """Lay an empty workspace in DIRECTORY: assets_config/ with comments and schemas, and folders for data.

    These are data/contests/my-contest/ and data/preference/, each with a README.txt that says what to put there. A
    .gitignore keeps them, and what is made from them, out of version control.
    Files that are already there are left as they are.
    """
    contest = directory / "data" / "contests" / "my-contest"
    preferences = directory / "data" / "preference"
    written = [
        _write(directory / ".gitignore", _GIT_IGNORE),
        *_copy_configuration(directory / "assets_config"),
        *(_write(directory / "assets_config" / "schemas" / name, text) for name, text in schemas().items()),
        _write(contest / "contest.yaml", _CONTEST_YAML),
        _write(contest / "README.txt", _READ_ME),
        _write(preferences / "README.txt", _READ_ME_OF_SETS),
    ]
    for folder in ("submissions", "prompts", "problems"):
        (contest / folder).mkdir(parents=True, exist_ok=True)
    for line in _in_words([path for path in written if path is not None], verbose=verbose):
        click.echo(line)
    name = contest.relative_to(directory).as_posix()
    click.echo(f"Next: put files into {contest} (its README.txt says where), then:")
    click.echo(f"  cd {shlex.quote(str(directory))}")
    click.echo(f"  judge-pipeline parse {name}            what is read from them, and what is set aside")
    click.echo(f"  judge-pipeline run {name} --dry-run    what would be asked, and its price")
    click.echo(f"  judge-pipeline run {name}              from raw files to the report")
    click.echo(f"For a CSV of preferences: put it into a folder of {preferences} (its README.txt says how), then:")
    click.echo("  judge-pipeline preference data/preference/my-edits --read-only")
    return 0


def _in_words(written: Sequence[Path], *, verbose: bool) -> Iterator[str]:
    """A line a file, or a line a folder with the file's name where it is the only one."""
    if verbose:
        yield from (f"wrote {path}" for path in written)
        return
    by_folder = Counter(path.parent for path in written)
    only = {path.parent: path for path in written}
    for folder, n in by_folder.items():
        yield f"wrote {only[folder]}" if n == 1 else f"wrote {n} files into {folder}"


def schemas() -> dict[str, str]:
    """File name -> JSON schema of each configuration file, for editors."""
    models: dict[str, type[BaseModel]] = {
        "judges.schema.json": JudgesFile,
        "contests.schema.json": ContestSettings,
        "preference.schema.json": PreferenceSettings,
        "criteria.schema.json": CriteriaFile,
        "automation.schema.json": AutomationFile,
    }
    return {
        name: json.dumps(model.model_json_schema(), indent=2, ensure_ascii=False) + "\n"
        for name, model in models.items()
    }


def _copy_configuration(target: Path) -> list[Path | None]:
    source = packaged_config_dir()
    files = [*sorted(source.glob("*.yaml")), *sorted((source / "prompts").glob("*.j2"))]
    files += [file for folder in ("rubrics", "guidance") for file in sorted((source / folder).glob("*.yaml"))]
    return [
        _write(target / file.relative_to(source), _without_sample(file.read_text(encoding="utf-8"))) for file in files
    ]


def _without_sample(text: str) -> str:
    own, found, _ = text.partition(_SAMPLE_ONLY)
    return f"{own.rstrip()}\n" if found else text


def _write(path: Path, text: str) -> Path | None:
    if path.exists():
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
