"""`judge-pipeline parse`: what is read from pages, feeds and chat logs, and what is set aside and why."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from judge_pipeline.settings import ContestSettings, Workspace

if TYPE_CHECKING:
    from rich.table import Table

    from judge_pipeline.ingest.prompt_logs import PromptMessage
    from judge_pipeline.ingest.records import SubmissionRecord, UnreadableArtifact
    from judge_pipeline.ingest.submissions import ArtifactRead

Kind = Literal["submissions", "prompts"]
Row = dict[str, Any]

_FOLDERS: tuple[Kind, Kind] = ("submissions", "prompts")
_NO_ARTIFACTS = ("contest.yaml", "problems")
"""What lies in a contest folder beside its artifacts."""


@dataclass(slots=True)
class _Outcome:
    """What came of all files: how many were read, what was set aside, and the rows for the tables."""

    read: int = 0
    aside: int = 0
    rows: dict[Kind, list[Row]] = field(default_factory=lambda: {"submissions": [], "prompts": []})


@dataclass(slots=True)
class _Held:
    """What an argument's files gave, by file: a submission's source may lie in another file than the list of it."""

    messages: dict[str, list[Row]] = field(default_factory=dict)
    records: list[SubmissionRecord] = field(default_factory=list)
    aside: list[UnreadableArtifact] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Found:
    """A file: what it is called, where it lies, its bytes or why there are none."""

    path: str
    location: str
    data: bytes | UnreadableArtifact


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="PATH...")
@click.option("--kind", type=click.Choice(_FOLDERS), help="What the files are. Default: by folder, else by content.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object a line instead of tables.")
@click.option("--time-zone", metavar="ZONE", help="Zone of times that are printed without one, such as Asia/Tokyo.")
@click.pass_context
def parse(ctx: click.Context, paths: tuple[Path, ...], kind: Kind | None, as_json: bool, time_zone: str | None) -> None:
    """Show what is read from submission pages, feeds and chat logs.

    PATH is a file or a folder, read with all that lies below it. In a contest folder, files are what submissions/ and
    prompts/ say, its contest.yaml applies, and problems/ and what lies beside these folders is passed over.

    \b
    A submission: path, row, reader, problem_id, participant, verdict, verdict_raw, language, submitted_at,
                  timestamp_raw, submission_id, source_sha256, source_lines, source_path, notes
    A message:    path, conversation, order, role, text_sha256, at, notes

    What cannot be read is said on stderr, with the reason and what to do. Exit codes: 0 something was read,
    1 nothing could be, 2 the command was wrong.
    """
    _check_zone(time_zone)
    outcome = _Outcome()
    for argument in paths:
        settings, held = _settings(argument, time_zone), _Held()
        for found in _files(argument, kind):
            _take(found, kind, settings, outcome, held)
        _join(argument, held, outcome, as_json)
    if not as_json:
        _print_tables(outcome)
    if outcome.aside:
        click.echo(f"{outcome.read} file(s) read, {outcome.aside} set aside", err=True)
    if not outcome.read:
        if not outcome.aside:
            click.echo(f"Error: no files in {', '.join(map(str, paths))}; name a file or a folder with files", err=True)
        ctx.exit(1)


def _check_zone(name: str | None) -> None:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    if name is not None:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise click.BadParameter(
                f"{name!r} is not a time zone; use a name such as Asia/Tokyo or UTC", param_hint="--time-zone"
            ) from None


def _settings(argument: Path, time_zone: str | None) -> ContestSettings:
    """The settings of the contest folder that the argument is or lies in, else the defaults; the option goes before."""
    here = argument.resolve()
    folder = next((d for d in (here, *here.parents) if (d / "contest.yaml").is_file()), here)
    settings = Workspace.find().contest(folder)
    return settings if time_zone is None else settings.model_copy(update={"time_zone": time_zone})


def _files(argument: Path, kind: Kind | None) -> Iterator[_Found]:
    """The files of an argument; of a contest folder, those of the kind asked for, and never its settings."""
    from judge_pipeline.ingest.contest_folder import contest_files, file_name, files_under, read_file
    from judge_pipeline.ingest.records import UnreadableArtifact

    base = argument.resolve()
    if argument.is_dir():
        is_contest = any((argument / name).is_dir() for name in _FOLDERS)
        only = kind is not None and (argument / kind).is_dir()
        for path, data in contest_files(argument, kind) if kind is not None and only else files_under(argument):
            # Beside submissions/ and prompts/ lie notes and settings of the contest, which are neither.
            if not (is_contest and ("/" not in path or path.split("/")[0] in _NO_ARTIFACTS)):
                yield _Found(path, f"{base.as_posix()}/{path}", data)
        return
    name = file_name(argument.name)
    try:
        yield _Found(name, base.as_posix(), read_file(argument, name))
    except UnreadableArtifact as unreadable:
        yield _Found(name, base.as_posix(), unreadable)


def _take(found: _Found, kind: Kind | None, settings: ContestSettings, outcome: _Outcome, held: _Held) -> None:
    """Reads one file, and holds what it gave."""
    from judge_pipeline.ingest.records import UnreadableArtifact
    from judge_pipeline.ingest.submissions import ArtifactRead

    try:
        if isinstance(found.data, UnreadableArtifact):
            raise found.data
        read = _read(found, found.data, kind or _kind_by_folder(found.location), settings)
    except UnreadableArtifact as unreadable:
        held.aside.append(unreadable)
        return
    outcome.read += 1
    if isinstance(read, ArtifactRead):
        held.messages[found.path] = []
        held.records += read.records
        held.aside += read.aside
        nothing = None if read.records or read.aside else "submissions"
    else:
        held.messages[found.path] = read
        nothing = None if read else "messages"
    if nothing:
        click.echo(f"{found.path}: read, and holds no {nothing}", err=True)


def _join(argument: Path, held: _Held, outcome: _Outcome, as_json: bool) -> None:
    """Puts sources to the submissions that other files list, and shows what there is then, in the order of files."""
    from judge_pipeline.ingest.beside import opener
    from judge_pipeline.ingest.joined_sources import join_records

    folder = argument if argument.is_dir() else argument.parent
    records, aside = join_records(held.records, held.aside, opener(folder))
    submissions: dict[str, list[Row]] = {}
    for record in records:
        submissions.setdefault(record.path, []).append(_submission_row(record))
    for path, messages in held.messages.items():
        _show(messages, "prompts", outcome, as_json)
        _show(submissions.get(path, []), "submissions", outcome, as_json)
    outcome.aside += len(aside)
    for unreadable in aside:
        click.echo(f"set aside: {unreadable}", err=True)


def _show(rows: list[Row], kind: Kind, outcome: _Outcome, as_json: bool) -> None:
    if not as_json:
        outcome.rows[kind].extend(rows)
        return
    for row in rows:
        click.echo(json.dumps(row, ensure_ascii=False).encode("utf-8"))


def _kind_by_folder(location: str) -> Kind | None:
    parts = location.split("/")[:-1]
    return next((name for part in reversed(parts) for name in _FOLDERS if part == name), None)


def _read(found: _Found, data: bytes, kind: Kind | None, settings: ContestSettings) -> ArtifactRead | list[Row]:
    """The submissions of a file, or the rows of its messages. Of a file that no folder tells of, both readers are
    asked, and the surer one believed.

    Raises:
        UnreadableArtifact: it cannot be read.
    """
    from judge_pipeline.ingest.prompt_logs import read_prompt_log
    from judge_pipeline.ingest.records import UnreadableArtifact
    from judge_pipeline.ingest.submissions import read_artifact

    if not data.strip():
        raise UnreadableArtifact(found.path, None, "is empty", "save it again")
    if kind == "prompts":
        return [_message_row(message) for message in read_prompt_log(data, found.path)]
    try:
        read = read_artifact(data, found.path, settings, found.location)
    except UnreadableArtifact as no_submission:
        if kind == "submissions":
            raise
        try:
            return [_message_row(message) for message in read_prompt_log(data, found.path)]
        except UnreadableArtifact as no_log:
            reason = f"no submission ({no_submission.reason}) and no chat log ({no_log.reason})"
            raise UnreadableArtifact(found.path, no_log.place, reason, "say which it is with --kind") from None
    if kind is None and not read.aside and not any(map(_surely_submission, read.records)):
        with contextlib.suppress(UnreadableArtifact):
            return [_message_row(message) for message in read_prompt_log(data, found.path)]
    return read


_SURE = ("source_file", "table", "zip_export", "zip_member")


def _surely_submission(record: SubmissionRecord) -> bool:
    """Whether a record says more than that a file holds code, as chats do, too."""
    return record.verdict != "UNKNOWN" or record.submission_id is not None or record.reader in _SURE


def _submission_row(record: SubmissionRecord) -> Row:
    return {
        "path": record.path,
        "row": record.row,
        "reader": record.reader,
        "problem_id": record.problem_id,
        "participant": record.participant,
        "verdict": record.verdict,
        "verdict_raw": record.verdict_raw,
        "language": record.language,
        "submitted_at": _iso(record.submitted_at),
        "timestamp_raw": record.timestamp_raw,
        "submission_id": record.submission_id,
        "source_sha256": record.source_sha256,
        "source_lines": record.source_lines,
        "source_path": record.source_path,
        "notes": list(record.notes),
    }


def _message_row(message: PromptMessage) -> Row:
    return {
        "path": message.path,
        "conversation": message.conversation,
        "order": message.order,
        "role": message.role,
        "text_sha256": message.text_sha256,
        "at": _iso(message.at),
        "notes": list(message.notes),
    }


def _iso(instant: datetime | None) -> str | None:
    return None if instant is None else instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _print_tables(outcome: _Outcome) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console()
    for kind in _FOLDERS:
        rows = outcome.rows[kind]
        by_path: dict[str, list[Row]] = {}
        for row in rows:
            by_path.setdefault(row["path"], []).append(row)
        for path, some in by_path.items():
            console.print(f"[bold]{escape(_cell(path))}[/bold]", highlight=False)
            console.print(_table(some, kind))
            for note in dict.fromkeys(note for row in some for note in row["notes"]):
                console.print(f"  [dim]{escape(_cell(note))}[/dim]", highlight=False)


_COLUMNS: dict[Kind, tuple[str, ...]] = {
    "submissions": (
        "row", "participant", "problem_id", "verdict", "language", "submitted_at", "submission_id", "source_lines",
    ),
    "prompts": ("conversation", "order", "role", "at"),
}  # fmt: skip


def _table(rows: list[Row], kind: Kind) -> Table:
    """The rows of one file; columns that are empty throughout are left out."""
    from rich.box import SIMPLE
    from rich.table import Table
    from rich.text import Text

    columns = [name for name in _COLUMNS[kind] if any(row[name] is not None for row in rows)]
    table = Table(*(name.replace("_", " ") for name in columns), box=SIMPLE, pad_edge=False)
    for row in rows:
        table.add_row(*(Text(_cell(row[name])) for name in columns))
    return table


def _cell(value: Any) -> str:
    """A value for the terminal: what cannot be printed, such as an escape sequence, is replaced."""
    return "" if value is None else "".join(char if char.isprintable() else "\ufffd" for char in str(value))
