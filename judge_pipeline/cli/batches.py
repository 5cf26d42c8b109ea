"""``judge-pipeline batches``: what waits in batches at providers; collect it, or cancel it."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from judge_pipeline.settings import Workspace
from judge_pipeline.settings.yaml_file import SettingsError

if TYPE_CHECKING:
    from judge_pipeline.judging.batches.advancing import Seen
    from judge_pipeline.judging.batches.store import BatchRow


@click.command()
@click.argument("contest")
@click.option("--judges", help="Judges to look at, separated by commas (default: all).")
@click.option("--collect", is_flag=True, help="Collect what has ended, by the same job as the UI.")
@click.option("--wait", is_flag=True, help="Wait until all have ended, further tries included, and collect them.")
@click.option("--every", type=click.FloatRange(min=0), default=60.0, show_default=True, help="Seconds between looks.")
@click.option("--cancel", is_flag=True, help="Ask the providers to stop. What they have answered is still collected.")
@click.option("--all", "show_all", is_flag=True, help="Show batches that are over, too.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where results lie (default: var/).")
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line, one for each batch.")
def batches(
    contest: str, judges: str | None, collect: bool, wait: bool, every: float, cancel: bool, show_all: bool,
    out: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Show the batches of CONTEST (its folder or name) at the judges' providers.

    Asks each provider once how far its batches are. Collecting asks for nothing that was not in a batch before; it
    leaves the report as it is: 'judge-pipeline run' makes it anew.

    \b
    Exit codes: 0 done, or still waiting; 1 a provider or a judge failed; 2 the command was wrong.
    """
    from judge_pipeline.judging.failures import JudgingError

    if cancel and (collect or wait):
        raise click.BadParameter("--cancel goes with neither --collect nor --wait: cancel first, then collect")
    workspace = Workspace.find()
    workspace = replace(workspace, out_dir=out.resolve()) if out else workspace
    name = Path(contest).resolve().name if Path(contest).is_dir() else contest
    wanted = None if judges is None else {judge.strip() for judge in judges.split(",") if judge.strip()}
    command = _Batches(workspace, name, wanted, Console(stderr=as_json))
    try:
        if cancel:
            code = command.cancel()
        elif collect or wait:
            code = command.collect(every if wait else None)
        else:
            code = 0
        seen = command.look()
    except JudgingError as error:
        raise SettingsError(str(error)) from None
    rows = [each.row for each in seen]
    if show_all:
        rows = command.over() + rows
    if as_json:
        for row in rows:
            click.echo(json.dumps(asdict(row), ensure_ascii=False))
    else:
        command.show(rows)
    return max(code, command.tell(seen))


class _Batches:
    """The batches of one contest, of the judges that are wanted."""

    def __init__(self, workspace: Workspace, contest: str, judges: set[str] | None, console: Console) -> None:
        self._workspace = workspace
        self._contest = contest
        self._judges = judges
        self._console = console

    def look(self) -> list[Seen]:
        """The open batches as they are now."""
        from judge_pipeline.orchestration.open_batches import look_at_batches

        return [each for each in look_at_batches(self._workspace, self._contest) if self._wanted(each.row)]

    def over(self) -> list[BatchRow]:
        """The batches that are collected, or were never started."""
        from judge_pipeline.orchestration.open_batches import batches_of

        rows = batches_of(self._workspace, self._contest, only_open=False)
        return [row for row in rows if not row.is_open and self._wanted(row)]

    def cancel(self) -> int:
        """Cancel the open batches."""
        from judge_pipeline.orchestration.open_batches import batches_of, cancel_batches

        rows = [row for row in batches_of(self._workspace, self._contest) if self._wanted(row)]
        waits = "[dim]A run is asking one of the judges; waiting for it[/dim]"
        for each in cancel_batches(self._workspace, rows, lambda: self._console.print(waits)):
            self._console.print(f"{escape(_name(each.row))}: {escape(each.problem or '')}", soft_wrap=True)
        return 0

    def collect(self, every: float | None) -> int:
        """Collect what has ended; with ``every``, look again after so many seconds until nothing is open."""
        code, brought = 0, set[str]()
        while True:
            seen = self.look()
            judges = [judge for judge in dict.fromkeys(each.row.judge for each in seen) if _is_due(seen, judge)]
            code = self._run(judges) if judges else code
            if every is None or code:
                return code
            due = {each.row.token for each in seen if each.row.judge in judges}
            if due - brought:
                brought |= due
                continue  # there may be nothing left to wait for
            if not seen:
                return code
            if all(each.problem is not None and not each.may_pass for each in seen):
                return 1
            done = sum(each.row.n_completed or 0 for each in seen)
            total = sum(each.row.n_requests for each in seen)
            self._console.print(f"[dim]{done:,} of {total:,} done; looking again in {every:g} s[/dim]")
            time.sleep(every)

    def _run(self, judges: Sequence[str]) -> int:
        from judge_pipeline.definitions import JUDGE_CONTEST, build_definitions
        from judge_pipeline.orchestration.instance import open_instance
        from judge_pipeline.orchestration.judging_run import COLLECT_TAG
        from judge_pipeline.orchestration.runs import run_job

        code = 0
        definitions = build_definitions(self._workspace)
        with open_instance(self._workspace) as instance:
            for judge in judges:
                outcome = run_job(definitions, instance, JUDGE_CONTEST, self._contest, judge, {COLLECT_TAG: "cli"})
                if outcome.error is not None:
                    code = 1
                    text = f"[red]Error:[/red] judge {escape(judge)}: {escape(outcome.error)}"
                    Console(stderr=True).print(text, soft_wrap=True)
                else:
                    words = outcome.waiting or "collected; 'judge-pipeline run' makes the report anew"
                    self._console.print(f"{escape(judge)}: {escape(words)}", soft_wrap=True)
        return code

    def show(self, rows: Sequence[BatchRow]) -> None:
        """The batches as a table."""
        if not rows:
            self._console.print(f"No batch of {escape(self._contest)} is open.")
            return
        table = RichTable(title="Batches (UTC)", title_justify="left", box=None, padding=(0, 2, 0, 0))
        for heading, justify in (
            ("judge", "left"), ("since", "left"), ("requests", "right"), ("done", "right"), ("failed", "right"),
            ("USD, about", "right"), ("state", "left"),
        ):  # fmt: skip
            table.add_column(heading, justify=justify, no_wrap=heading != "state", overflow="fold")  # type: ignore[arg-type]
        for row in rows:
            table.add_row(*(escape(cell) for cell in _cells(row)))
        self._console.print(table)

    def tell(self, seen: Sequence[Seen]) -> int:
        """Say what could not be looked at; 1 where there was any."""
        troubled = [each for each in seen if each.problem is not None]
        for each in troubled:
            text = f"[red]Error:[/red] {escape(_name(each.row))}: {escape(str(each.problem))}"
            Console(stderr=True).print(text, soft_wrap=True)
        return 1 if troubled else 0

    def _wanted(self, row: BatchRow) -> bool:
        return self._judges is None or row.judge in self._judges


def _is_due(seen: Sequence[Seen], judge: str) -> bool:
    """Whether a run would bring one of the judge's batches forward."""
    from judge_pipeline.judging.backends.litellm_batches import ENDED

    own = [each.row for each in seen if each.row.judge == judge and each.problem is None]
    return any(row.state != "submitted" or row.status in ENDED for row in own)


def _cells(row: BatchRow) -> tuple[str, ...]:
    cost = "unpriced" if row.set_aside_usd is None else f"{row.set_aside_usd:.4f}"
    state = row.state if row.state != "submitted" else f"{row.status} ({row.batch_id})"
    done, failed = (_count(value) for value in (row.n_completed, row.n_failed))
    since = (row.submitted_at or row.prepared_at)[:16].replace("T", " ")
    words = f"{state}: {row.error}" if row.error else state
    return row.judge, since, f"{row.n_requests:,}", done, failed, cost, words


def _count(value: Any) -> str:
    return "–" if value is None else f"{value:,}"


def _name(row: BatchRow) -> str:
    return f"{row.judge}, batch {row.batch_id or row.token}"
