"""What the commands that go from raw files to a report share: whom to ask, judge after judge, what went wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from judge_pipeline.cli.asking import failed, show_left_out
from judge_pipeline.cli.plan import named_judges, plan_table
from judge_pipeline.settings import JudgesFile, System, Workspace
from judge_pipeline.settings.secrets_file import key_environment
from judge_pipeline.settings.yaml_file import SettingsError

if TYPE_CHECKING:
    from judge_pipeline.cli.terminal import TerminalProgress
    from judge_pipeline.judging.plan import Plan
    from judge_pipeline.orchestration.runs import JobOutcome

DEMO_BACKENDS = ("embedded", "baseline", "recorded")
"""Backends that need no key: the judges of a demo."""

_VERIFIED = ": verified: "
"""In the line of a failed check: that not all in scope were answered."""


@dataclass
class Asked:
    """What came of asking judges.

    Attributes:
        failed: judge -> why its job failed.
        waiting: judges whose answers are still being made at the provider.
    """

    failed: dict[str, str] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)


def workspace_at(out: Path | None) -> Workspace:
    """The workspace, writing into ``out`` where that is given."""
    workspace = Workspace.find()
    return replace(workspace, out_dir=out.resolve()) if out else workspace


def judges_to_ask(
    judges: JudgesFile, wanted: str | None, folder: Path, system: System, folder_words: str
) -> tuple[list[str], dict[str, str]]:
    """The judges to ask, and why others are left out; a judge that is wanted by name is never left out in silence.

    Args:
        judges: judges.yaml.
        wanted: the option --judges; None: all of the system that are enabled and have their key or file.
        folder: where recorded judges' files lie.
        system: what the judges are asked for.
        folder_words: what the folder is called.

    Raises:
        click.BadParameter: a judge that is wanted is not listed for the system.
        SettingsError: the key of a judge that is wanted is not set.
    """
    from judge_pipeline.orchestration.left_out import why_left_out

    if wanted is None:
        names = judges.names(system)
        reasons = {name: why_left_out(judges.get(name), folder, key_environment(), folder_words) for name in names}
        return [n for n in names if not reasons[n]], {name: why for name, why in reasons.items() if why}
    chosen = named_judges(judges, wanted, system)
    for name in chosen:
        key = judges.get(name).missing_key(key_environment())
        if key:
            raise SettingsError(f"judge {name!r} needs its key: set the environment variable {key}, then run again")
    return chosen, {}


def demo_judges(judges: JudgesFile, folder: Path, system: System) -> list[str]:
    """The system's judges that need no key, and have their file in the folder where they are recorded."""
    from judge_pipeline.orchestration.left_out import why_left_out

    return [
        name
        for name in judges.names(system)
        if judges.get(name).backend in DEMO_BACKENDS and why_left_out(judges.get(name), folder, {}) is None
    ]


def show_plan(console: Console, plans: Sequence[Plan], left_out: Mapping[str, str]) -> None:
    """Print what would be asked of each judge and its price, and who is left out."""
    console.print(plan_table(plans))
    show_left_out(console, left_out)


def ask_judges(
    console: Console,
    progress: TerminalProgress,
    judges: Sequence[str],
    ask: Callable[[str], JobOutcome],
    doing: str = "Judging",
    pilots: Collection[str] = (),
) -> Asked:
    """Run each judge's job; one that fails does not stop the others, and is named with what is wrong.

    Args:
        console: where it is said.
        progress: the line of progress, which ends with each judge.
        judges: their names, in the order in which they are asked.
        ask: runs the job of one judge.
        doing: what is done with a judge, in words.
        pilots: judges that are to be asked a pilot only.
    """
    asked = Asked()
    for judge in judges:
        console.print(f"[bold]{doing}[/bold] {escape(judge)}")
        outcome = ask(judge)
        progress.stop()
        for line in outcome.failed_checks:
            if judge in pilots and _VERIFIED in line:
                # It was wanted so, and is no warning; what to do would be to ask without a limit.
                console.print(f"  [dim]· a pilot: {escape(line.partition(' To do: ')[0])}[/dim]", soft_wrap=True)
            else:
                print_checks(console, [line])
        if outcome.error is not None:
            asked.failed[judge] = outcome.error
            failed(f"judge {judge}", outcome.error)
        elif outcome.waiting is not None:
            asked.waiting.append(judge)
            console.print(f"  [yellow]…[/yellow] {escape(judge)}: {escape(outcome.waiting)}", soft_wrap=True)
    return asked


def print_checks(console: Console, failed_checks: Sequence[str]) -> None:
    """Print the checks that did not pass."""
    for line in failed_checks:
        console.print(f"  [yellow]![/yellow] {escape(line)}", soft_wrap=True)


def make_start_page(console: Console, run: Callable[..., JobOutcome]) -> None:
    """Make the page that lists all reports anew; where that fails, which is said, each report is there all the same.

    Args:
        console: where it is said.
        run: ``orchestration.runs.run_job`` over the command's graph.
    """
    from judge_pipeline.definitions import COMPARE_CONTESTS

    outcome = run(COMPARE_CONTESTS, None)
    print_checks(console, outcome.failed_checks)
    if outcome.error is not None:
        failed("start page", outcome.error)


def print_start_page(console: Console, workspace: Workspace) -> None:
    """Say where the page that lists all reports lies, if there is one."""
    from judge_pipeline.orchestration.exports import start_page_path

    page = start_page_path(workspace)
    if page.is_file():
        console.print(f"All reports: {page}", soft_wrap=True)


def print_failed(console: Console, asked: Asked) -> int:
    """Name the judges that failed, if any; the exit code."""
    if asked.failed:
        console.print(
            f"[red]Failed:[/red] {escape(', '.join(asked.failed))}. The errors above say why. What was answered is "
            "kept: run again once they are mended."
        )
    return 1 if asked.failed else 0
