"""``judge-pipeline bundle``: one archive of what the figures of a contest or a preference set rest on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from judge_pipeline.cli.judged_run import workspace_at
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.bundle import LEVELS, Level

if TYPE_CHECKING:
    from judge_pipeline.orchestration.bundles.facts import Kind
    from judge_pipeline.orchestration.bundling import PreparedBundle


@click.command()
@click.argument("contest", required=False)
@click.option("--set", "preference_set", metavar="NAME", help="Instead of CONTEST: a preference set, with criteria.")
@click.option(
    "--to", type=click.Path(dir_okay=False, path_type=Path), help="The archive (default: NAME-audit-LEVEL.zip, here)."
)
@click.option(
    "--level",
    type=click.Choice(LEVELS),
    help="How much goes out (default: setting bundle of contest.yaml or preference.yaml, which is redacted).",
)
@click.option("--list", "only_list", is_flag=True, help="Say what would be in it and how large, and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="What was written, or would be, as JSON.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where results lie (default: var/).")
def bundle(
    contest: str | None,
    preference_set: str | None,
    to: Path | None,
    level: Level | None,
    only_list: bool,
    as_json: bool,
    out: Path | None,
) -> int:
    """Pack what the figures of CONTEST rest on into one archive, to hand to whoever audits them.

    Configuration, prompts, requests and answers, tables, the splits ledger, report pages, versions, and a manifest with
    the sha256 of every file (for sha256sum -c, and as an RO-Crate). 'judge-pipeline verify FILE' checks it anywhere.

    With --level redacted (the default) there are no raw files in it, people stand under pseudonyms, and texts are those
    that judges were sent. With --level full there is everything, with names, but for who has withdrawn. Keys and
    passwords are looked for in every byte: where one is found, nothing is written.

    \b
    Exit codes: 0 written, or listed; 1 it cannot be made; 2 the command was wrong.
    """
    if (contest is None) == (preference_set is None):
        raise click.UsageError("name a CONTEST, or a preference set with --set NAME")
    name = contest or preference_set or ""
    kind: Kind = "contest" if contest is not None else "preference_set"
    workspace, console = workspace_at(out), Console(stderr=as_json)
    with _prepared(workspace, kind, name, level, console) as prepared:
        if only_list:
            _show(prepared, console, as_json)
            return 0
        target = (to or Path(f"{name}-audit-{prepared.facts.level}.zip")).resolve()
        _write(prepared, target, console, as_json)
    return 0


@contextmanager
def _prepared(
    workspace: Workspace, kind: Kind, name: str, level: Level | None, console: Console
) -> Iterator[PreparedBundle]:
    from judge_pipeline.orchestration.bundling import folder_of, level_of, prepared_bundle

    chosen = level or level_of(workspace, kind, folder_of(workspace, kind, name))
    with console.status(f"looking at {escape(name)}") as status:
        made: AbstractContextManager[PreparedBundle]
        if chosen == "full":
            made = prepared_bundle(workspace, kind, name)
        else:
            from judge_pipeline.cli.verify import definitions_of, jobs
            from judge_pipeline.orchestration.redacted_bundle import redacted_bundle

            say = lambda words: status.update(f"made anew under pseudonyms: {escape(words)}")  # noqa: E731
            made = redacted_bundle(workspace, kind, name, definitions_of, jobs(), say)
        with made as prepared:
            status.stop()
            yield prepared


def _write(prepared: PreparedBundle, target: Path, console: Console, as_json: bool) -> None:
    from judge_pipeline.orchestration.bundles.archive import write_archive

    with console.status("packing") as status:
        written = write_archive(
            target, prepared.members, prepared.facts, prepared.published, prepared.search,
            lambda done, of: status.update(f"packing: {_size(done)} of {_size(of)}"),
        )  # fmt: skip
    if as_json:
        found = {
            "file": str(written.path),
            "files": written.n_files,
            "bytes": written.n_bytes,
            "sha256": written.sha256,
        }
        click.echo(json.dumps({**found, **_facts(prepared)}, indent=1, sort_keys=True))
        return
    console.print(f"[bold]{escape(str(written.path))}[/bold]", soft_wrap=True)
    console.print(f"{written.n_files:,} files, {_size(written.n_bytes)}, sha256 {written.sha256}", soft_wrap=True)
    _print_facts(prepared, console)
    console.print(f"To check it, anywhere: judge-pipeline verify {escape(written.path.name)}", soft_wrap=True)


def _show(prepared: PreparedBundle, console: Console, as_json: bool) -> None:
    files = [{"path": m.path, "role": m.role, "bytes": m.n_bytes()} for m in prepared.members]
    if as_json:
        click.echo(json.dumps({"files": files, **_facts(prepared)}, indent=1, sort_keys=True))
        return
    from judge_pipeline.orchestration.bundles.members import ROLES

    counts: Counter[str] = Counter(str(file["role"]) for file in files)
    shown = RichTable("what", "for", box=None)
    for column in ("files", "size"):
        shown.add_column(column, justify="right")
    for role, words in ROLES.items():
        if counts[role]:
            size = sum(m.n_bytes() for m in prepared.members if m.role == role)
            shown.add_row(role, words, f"{counts[role]:,}", _size(size))
    total = sum(m.n_bytes() for m in prepared.members)
    shown.add_row("together", "before packing", f"{len(files):,}", _size(total))
    console.print(shown)
    _print_facts(prepared, console)
    console.print("Each file: --list --json. Nothing was written.")


def _facts(prepared: PreparedBundle) -> dict[str, Any]:
    facts = prepared.facts
    return {
        "kind": facts.kind,
        "name": facts.name,
        "level": facts.level,
        "withheld": dict(facts.withheld),
        **facts.extra,
    }


def _print_facts(prepared: PreparedBundle, console: Console) -> None:
    facts = prepared.facts
    if facts.level == "full":
        console.print(
            "[yellow]Full:[/yellow] it holds names and texts of people as they are. Give it to nobody who may not have "
            "them; --level redacted has pseudonyms.",
            soft_wrap=True,
        )
    reasons = dict.fromkeys(facts.withheld.values())
    for why in reasons:
        names = ", ".join(name for name, own in facts.withheld.items() if own == why)
        console.print(f"  [yellow]taken as they are[/yellow] {escape(names)}: {escape(why)}", soft_wrap=True)
    for line in facts.extra.get("notes", ()):
        console.print(f"  [yellow]![/yellow] {escape(str(line))}", soft_wrap=True)


def _size(n_bytes: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:,.0f} {unit}" if unit == "B" else f"{n_bytes:,.1f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:,.1f} TB"
