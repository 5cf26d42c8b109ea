"""What the commands that ask judges further questions share: whom to ask, what it would cost, what went wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape

from judge_pipeline.cli.plan import named_judges, plan_table
from judge_pipeline.orchestration.left_out import SWITCHED_OFF
from judge_pipeline.settings import JudgesFile
from judge_pipeline.settings.secrets_file import key_environment
from judge_pipeline.settings.yaml_file import SettingsError

if TYPE_CHECKING:
    from judge_pipeline.judging.plan import Plan


def contest_name(contest: str) -> str:
    """The contest that an argument names: itself, or a folder's name."""
    return Path(contest).resolve().name if Path(contest).is_dir() else contest


def chosen_judges(
    listed: JudgesFile, wanted: str | None, cannot: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """The judges to ask, and why others are left out; a judge that is wanted by name is never left out in silence.

    Args:
        listed: judges.yaml.
        wanted: the option --judges; None: all that are enabled, have their key and can be asked.
        cannot: backends whose judges cannot be asked, and why.

    Raises:
        click.BadParameter: a judge that is wanted is not listed, or cannot be asked.
        SettingsError: the key of a judge that is wanted is not set.
    """
    chosen = listed.names("cocreation") if wanted is None else named_judges(listed, wanted)
    left_out: dict[str, str] = {}
    for name in chosen:
        judge, key = listed.get(name), listed.get(name).missing_key(key_environment())
        if judge.backend in cannot:
            left_out[name] = cannot[judge.backend]
            if wanted is not None:
                raise click.BadParameter(f"{name}: {left_out[name]}", param_hint="--judges")
        elif key and wanted is not None:
            raise SettingsError(f"judge {name!r} needs its key: set the environment variable {key}, then run again")
        elif not judge.enabled and wanted is None:
            left_out[name] = SWITCHED_OFF
        elif key:
            left_out[name] = f"environment variable {key} is not set"
    return [name for name in chosen if name not in left_out], left_out


def show_plans(
    console: Console, contest: str, judges: Sequence[str], left_out: Mapping[str, str], plan: Callable[[str], Plan]
) -> tuple[list[str], bool]:
    """Print what each judge would be asked and its price; who can be asked, and whether all of them can.

    Raises:
        click.BadParameter: the contest was never read.
    """
    from judge_pipeline.judging.failures import JudgingError

    plans, errors = [], {}
    try:
        for judge in judges:
            try:
                plans.append(plan(judge))
            except JudgingError as error:
                errors[judge] = str(error)
    except FileNotFoundError:
        raise click.BadParameter(
            f"{contest!r} is no contest that was read; 'judge-pipeline run' or 'plan' with its folder reads it",
            param_hint="CONTEST",
        ) from None
    if plans:
        console.print(plan_table(plans))
    show_left_out(console, left_out)
    for judge, why in errors.items():
        failed(f"judge {judge}", why)
    return [one.judge for one in plans], bool(plans) and not errors


def show_left_out(console: Console, left_out: Mapping[str, str]) -> None:
    """Print who is not asked: each judge with its reason, and those that are switched off together."""
    off = [judge for judge, why in left_out.items() if why == SWITCHED_OFF]
    lines = [f"Left out: {judge} ({why})" for judge, why in left_out.items() if why != SWITCHED_OFF]
    if off:
        lines.append(f"Left out: {len(off)} switched off in judges.yaml: {', '.join(off)}")
    for line in lines:
        console.print(f"[dim]{escape(line)}[/dim]", soft_wrap=True)


def said(console: Console, what: str, failed_checks: Sequence[str], error: str | None) -> int:
    """Print a job's failed checks and its error; 1 where it has one."""
    for line in failed_checks:
        console.print(f"  [yellow]![/yellow] {escape(line)}", soft_wrap=True)
    return 0 if error is None else failed(what, error)


def failed(what: str, error: str) -> int:
    """Print an error; always 1."""
    Console(stderr=True).print(f"[red]Error:[/red] {escape(what)}: {escape(error)}", soft_wrap=True)
    return 1
