"""``judge-pipeline plan``: what would be asked of each judge, and its price, before a cent is spent."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from judge_pipeline.settings import JudgesFile, System, Workspace
from judge_pipeline.settings.secrets_file import key_environment

if TYPE_CHECKING:
    from judge_pipeline.judging.plan import Plan


@click.command()
@click.argument("contest")
@click.option("--judges", help="Judges to plan for, separated by commas (default: all that are enabled).")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where results lie (default: var/).")
@click.option("--limit", type=click.IntRange(min=1), help="Plan for a stratified pilot of so many attempts only.")
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line, one for each judge.")
def plan(contest: str, judges: str | None, out: Path | None, limit: int | None, as_json: bool) -> int:
    """Show what a run would ask of each judge, its tokens and its price. Asks nothing and needs no key.

    CONTEST is a contest folder, which is read first, or the name of a contest that was read before.

    \b
    Exit codes: 0 done; 1 the data or a judge's settings failed; 2 the command was wrong.
    """
    from judge_pipeline.orchestration.judging_run import plan_judge

    workspace = Workspace.find()
    workspace = replace(workspace, out_dir=out.resolve()) if out else workspace
    listed = workspace.judges()
    enabled = [name for name in listed.names("cocreation") if listed.get(name).enabled]
    chosen = enabled if judges is None else named_judges(listed, judges)
    console = Console(stderr=as_json)
    name = _read(console, workspace, Path(contest)) if Path(contest).is_dir() else contest
    if name is None:
        return 1
    try:
        plans, without = plans_of(chosen, lambda judge: plan_judge(workspace, name, judge, limit))
    except FileNotFoundError:
        raise click.BadParameter(
            f"{contest!r} is no folder, and no contest that was read; give its folder", param_hint="CONTEST"
        ) from None
    if as_json:
        for one in plans:
            click.echo(json.dumps(asdict(one), ensure_ascii=False))
    else:
        console.print(plan_table(plans))
        for one in plans:
            console.print(f"  [dim]{escape(one.judge)}: {escape(one.basis)}[/dim]", soft_wrap=True)
            if one.n_waiting:
                console.print(
                    f"  [dim]{escape(one.judge)}: {one.n_waiting:,} more wait in batches at the provider[/dim]"
                )
            if one.cost_usd is None and listed.ceiling_usd.is_set():
                console.print(f"  [yellow]![/yellow] {escape(one.judge)}: not asked under a ceiling without a price")
            key = workspace.judges().get(one.judge).missing_key(key_environment())
            if key:
                console.print(f"  [yellow]![/yellow] {escape(one.judge)}: a run leaves it out until {key} is set")
        ceiling, cost = listed.ceiling_usd.run, sum(one.cost_usd or 0.0 for one in plans)
        if ceiling is not None and cost > ceiling:
            console.print(f"  [yellow]![/yellow] a run stops before its ceiling of {ceiling:g} USD, short of all this")
    for judge, why in without.items():
        Console(stderr=True).print(f"[red]Error:[/red] judge {escape(judge)}: {escape(why)}", soft_wrap=True)
    return 1 if without else 0


def plans_of(judges: Sequence[str], plan_one: Callable[[str], Plan]) -> tuple[list[Plan], dict[str, str]]:
    """The judges' plans, and why a judge has none: its judging will fail for the same reason, and say so."""
    from judge_pipeline.judging.failures import JudgingError

    plans, without = [], {}
    for judge in judges:
        try:
            plans.append(plan_one(judge))
        except JudgingError as error:
            without[judge] = str(error)
    return plans, without


def plan_table(plans: Sequence[Plan], title: str = "To be asked") -> RichTable:
    """The plans, a row a judge, and their sum where there are several; "unpriced" where a price is not known.

    Headings are wrapped before a number is cut. Where fewer are to be asked than are in scope and not stored, it says
    why that is.
    """
    rows = []
    for one in plans:
        cost = "unpriced" if one.cost_usd is None else f"{one.cost_usd:.4f}"
        counts = (one.n_in_scope, one.n_stored, one.n_to_ask, one.tokens_in, one.tokens_out)
        rows.append((escape(one.judge), *(f"{count:,}" for count in counts), cost))
    if len(plans) > 1:
        unpriced = sum(one.cost_usd is None for one in plans)
        cost = f"{sum(one.cost_usd or 0.0 for one in plans):.4f}" + (f" + {unpriced} unpriced" if unpriced else "")
        sums = (sum(p.n_to_ask for p in plans), sum(p.tokens_in for p in plans), sum(p.tokens_out for p in plans))
        rows.append(("together", "", "", *(f"{count:,}" for count in sums), cost))
    table = RichTable(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0), caption_justify="left")
    headings = ("judge", "in scope", "stored", "to ask", "tokens in, about", "tokens out, about", "USD, about")
    for i, heading in enumerate(headings):
        widest = max(len(word) for cell in (heading, *(row[i] for row in rows)) for word in cell.split())
        table.add_column(heading, justify="right" if i else "left", no_wrap=not i, min_width=widest if i else None)
    for row in rows:
        table.add_row(*row)
    if any(one.n_to_ask < one.n_in_scope - one.n_stored for one in plans):
        table.caption = "Fewer to ask than in scope: equal requests, a pilot, or a batch under way."
    return table


def named_judges(judges: JudgesFile, wanted: str, system: System = "cocreation") -> list[str]:
    """The judges of a system that the option --judges names, each once.

    Raises:
        click.BadParameter: it names none, or one that judges.yaml does not list for the system.
    """
    names = judges.names(system)
    chosen = [name.strip() for name in wanted.split(",") if name.strip()]
    unknown = [name for name in chosen if name not in names]
    if unknown or not chosen:
        of_system = "" if system == "cocreation" else f" with {system} among its systems"
        raise click.BadParameter(
            f"{', '.join(unknown) or 'no judge'}: not in judges.yaml{of_system}, which lists {', '.join(names)}",
            param_hint="--judges",
        )
    return list(dict.fromkeys(chosen))


def _read(console: Console, workspace: Workspace, contest_dir: Path) -> str | None:
    """Read the contest by the same job as a run; None where that failed, which is said."""
    from judge_pipeline.definitions import READ_CONTEST, build_definitions
    from judge_pipeline.orchestration.contest_folders import note_contest
    from judge_pipeline.orchestration.instance import open_instance
    from judge_pipeline.orchestration.runs import run_job

    contest = note_contest(workspace, contest_dir)
    workspace.contest(contest_dir)
    with open_instance(workspace) as instance:
        outcome = run_job(build_definitions(workspace), instance, READ_CONTEST, contest)
    for line in outcome.failed_checks:
        console.print(f"  [yellow]![/yellow] {escape(line)}")
    if outcome.error is not None:
        Console(stderr=True).print(f"[red]Error:[/red] contest {escape(contest)}: {escape(outcome.error)}")
        return None
    return contest
