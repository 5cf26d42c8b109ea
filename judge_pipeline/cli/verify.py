"""``judge-pipeline verify``: whether a bundle's files are as they were packed, and its tables come out of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.markup import escape

from judge_pipeline.settings import Workspace
from judge_pipeline.settings.yaml_file import SettingsError

if TYPE_CHECKING:
    from judge_pipeline.orchestration.bundles.checked import Checked, State
    from judge_pipeline.orchestration.bundles.recipe import Jobs
    from judge_pipeline.orchestration.bundles.recomputing import AnswersRead
    from judge_pipeline.orchestration.verifying import Verified

_WORDS: dict[State, str] = {
    "identical": "[green]identical[/green], byte for byte",
    "same rows": "[green]the same values[/green] in a file that differs for a known reason",
    "close": "[green]close[/green]: numbers differ as little as between processors",
    "differs": "[red]differ[/red]",
    "not made": "[red]could not be made[/red] from what is in the bundle",
    "not recomputed": "[yellow]not recomputed[/yellow]: nothing is said of them",
}

_NAMED = 5


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--only-files", is_flag=True, help="Only hold the files against the manifest; make no table anew.")
@click.option("--json", "as_json", is_flag=True, help="Everything that was found, as JSON.")
def verify(file: Path, only_files: bool, as_json: bool) -> int:
    """Check the bundle FILE: every file against its manifest, and every table against what comes out of the bundle.

    No workspace, no key and no network is needed, and no judge is asked anything: answers come from the bundle, and one
    that is missing is an error. What cannot be made from what the bundle holds is listed as not recomputed, with the
    reason. The archive is a stranger's: links, paths that leave the folder, and what would fill the disk are refused.

    \b
    Exit codes: 0 nothing is wrong; 1 something is, and it says what; 2 the command was wrong.
    """
    from judge_pipeline.judging.failures import JudgingError
    from judge_pipeline.orchestration.verifying import verify_bundle

    console = Console(stderr=as_json)
    try:
        with console.status("unpacking") as status:
            found = verify_bundle(
                file,
                definitions_of,
                jobs(),
                only_files=only_files,
                say=lambda words: status.update(f"making anew: {escape(words)}"),
            )
    except JudgingError as error:
        raise SettingsError(f"{file}: {error}") from None
    if as_json:
        click.echo(json.dumps(_as_json(found), indent=1, sort_keys=True))
    else:
        _print(found, console)
    return 0 if found.is_good() else 1


def definitions_of(workspace: Workspace) -> Any:
    """The graph of a workspace; what it logs is of no use here."""
    from judge_pipeline.definitions import build_definitions

    return build_definitions(workspace)


def jobs() -> Jobs:
    """The names of the graph's jobs."""
    from judge_pipeline import definitions as graph
    from judge_pipeline.orchestration.bundles.recipe import Jobs

    return Jobs(
        read=graph.READ_CONTEST,
        judge=graph.JUDGE_CONTEST,
        report=graph.REPORT_CONTEST,
        read_set=graph.READ_PREFERENCE_SET,
        judge_set=graph.JUDGE_PREFERENCE_SET,
        rubric=graph.FIND_RUBRIC,
        report_set=graph.REPORT_PREFERENCE_SET,
        guidance=graph.MAKE_GUIDANCE,
        criteria=graph.JUDGE_BY_CRITERIA,
        report_criteria=graph.REPORT_CRITERIA,
        canary=graph.CANARY,
    )


def _as_json(found: Verified) -> dict[str, Any]:
    return {"good": found.is_good(), **asdict(found)}


def _print(found: Verified, console: Console) -> None:
    if found.facts is not None:
        what = "contest" if found.facts.kind == "contest" else "preference set"
        console.print(f"[bold]{what} {escape(found.facts.name)}[/bold], {found.facts.level}")
    for note in found.notes:
        console.print(f"[yellow]![/yellow] {escape(note)}", soft_wrap=True)
    if found.problems:
        console.print(f"[red]Files:[/red] {len(found.problems)} of {found.n_files:,} are not as they were packed")
        for problem in found.problems:
            console.print(f"  [red]✗[/red] {escape(problem)}", soft_wrap=True)
        console.print("[red]Failed.[/red] Nothing was made anew from it.")
        return
    console.print(f"Files: all {found.n_files:,} are as they were packed")
    if found.answers is not None:
        _print_answers(found.answers, console)
    _print_all("Tables", found.tables, console)
    _print_all("Pages", found.pages, console)
    for job, why in found.errors.items():
        console.print(f"  [red]✗[/red] {escape(job)}: {escape(why)}", soft_wrap=True)
    if found.not_in_bundle:
        console.print(f"Made anew, and not in the bundle: {escape(', '.join(found.not_in_bundle))}", soft_wrap=True)
    console.print("[green]Nothing is wrong.[/green]" if found.is_good() else "[red]Failed.[/red]")


def _print_answers(answers: AnswersRead, console: Console) -> None:
    """Judgments and the raw answers that they were read from."""
    if not answers.n_judgments:
        return
    differing = answers.differing
    words = f"{answers.n_read:,} of {answers.n_judgments:,} judgments read again from the raw answers of their calls"
    said = f"[red]{len(differing):,} differ[/red]" if differing else "[green]the same[/green]"
    console.print(f"Answers: {words}, {said}", soft_wrap=True)
    for differs in differing[:_NAMED]:
        console.print(f"  [red]✗[/red] {escape(differs)}", soft_wrap=True)
    if len(differing) > _NAMED:
        console.print(f"  and {len(differing) - _NAMED:,} more; --json names them all")
    if answers.n_read < answers.n_judgments:
        others = "The others answer requests of other settings, or stand in tables that were not recomputed."
        console.print(f"  {others}", soft_wrap=True)


def _print_all(what: str, checked: Sequence[Checked], console: Console) -> None:
    """The states with what is said of each table or page; of many with the same reason, some are named."""
    for state, words in _WORDS.items():
        own = [each for each in checked if each.state == state]
        if not own:
            continue
        console.print(f"{what}: {len(own)} {words}")
        by_reason: dict[str, list[str]] = {}
        for each in own:
            by_reason.setdefault("; ".join(each.said), []).append(each.path.split("/", 2)[2])
        for why, names in by_reason.items():
            if why:
                more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
                console.print(f"  {escape(', '.join(names[:_NAMED]) + more)}: {escape(why)}", soft_wrap=True)
