"""What an argument of ``judge-pipeline trace`` names in a workspace, and its trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from judge_pipeline.lineage.figures import Figure, named, names_like
from judge_pipeline.lineage.sources import CONTEST, PREFERENCE_SET
from judge_pipeline.lineage.targets import ATTEMPT, FIGURE, FILE, SHA256, Target, plain_path
from judge_pipeline.orchestration.traced_settings import SETTINGS_FILES, has_settings, trace_of_settings
from judge_pipeline.orchestration.traced_sources import contest_or_set
from judge_pipeline.orchestration.tracing import Trace, Tracer

_SHOWN = 20

Scope = Sequence[tuple[str, str]]
"""Kind and name of the contests and sets that are looked at."""


class NotNamedError(LookupError):
    """Nothing, or more than one thing, is named; the message says what there is, and how to name one."""


@dataclass(frozen=True)
class Asked:
    """What was asked for, and where to look.

    Attributes:
        target: what.
        contest: the contest, where one is named.
        preference_set: the set, where one is named.
        judges: judges whose figure it is.
        where: column -> value of the figure's row.
        table: the table that the figure stands in.
    """

    target: Target
    contest: str | None = None
    preference_set: str | None = None
    judges: tuple[str, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)
    table: str | None = None

    @property
    def is_narrowed(self) -> bool:
        """Whether a contest or a set is named: then figures over all of them are not meant."""
        return self.contest is not None or self.preference_set is not None


def trace(tracer: Tracer, asked: Asked) -> Trace:
    """The trace of what is asked for.

    Raises:
        NotNamedError: nothing has the name, or several things have it.
        SettingsError: the contest or the set was not read.
        JudgingError: the checkpoint cannot be read.
        MissingTableError: a table that is needed is damaged.
    """
    scope = contest_or_set(tracer.traced, asked.contest, asked.preference_set)
    target = asked.target
    if target.kind == ATTEMPT and (found := _attempts(tracer, scope, target.text)):
        return tracer.of_attempt(_one(found, f"attempt {target.text}", "--contest"), target.text)
    if target.kind == SHA256:
        return _of_sha256(tracer, scope, target.text)
    if target.kind == FILE:
        return _of_path(tracer, scope, target.text)
    if target.kind != FIGURE:
        if pairs := _pairs(tracer, scope, target.text):
            return tracer.of_pair(_one(pairs, f"pair {target.text}", "--set"), target.text)
        if files := _files_called(tracer, scope, target.text):
            return _of_file(tracer, _one_file(files, target.text))
    return tracer.of_figure(_figure(tracer, scope, asked))


def _figure(tracer: Tracer, scope: Scope, asked: Asked) -> Figure:
    figures = tracer.figures(scope if asked.is_narrowed else None)
    figures = [figure for figure in figures if asked.table in (None, figure.table)]
    found = named(figures, asked.target.text, asked.judges, asked.where)
    if found.found is not None:
        return found.found
    unread = "".join(f"\n  not read: {table}: {why}" for table, why in tracer.unread.items())
    if found.candidates:
        lines = [f"  {figure.id}{_of(figure)}" for figure in found.candidates[:_SHOWN]]
        more = len(found.candidates) - len(lines)
        lines += [f"  and {more:,} more"] if more else []
        raise NotNamedError(
            f"{asked.target.text!r} fits {len(found.candidates):,} figures. Name one of them, or narrow it down with "
            "--judge, --table, --split, --where COLUMN=VALUE, --contest or --set:\n" + "\n".join(lines) + unread
        )
    known = sorted({figure.table for figure in figures})
    raise NotNamedError(
        f"{asked.target.text!r} with these conditions is no figure, attempt, pair or file of what was read."
        f"{_what_comes_near(figures, asked)} Tables of figures that there are: "
        f"{', '.join(known) or 'none: run a contest first'}{unread}{_not_looked_at(tracer)}"
    )


def _what_comes_near(figures: Sequence[Figure], asked: Asked) -> str:
    """Which condition is too much, or what is called nearly so, as a sentence; "" where there is nothing."""
    without = named(figures, asked.target.text).candidates
    if without:
        given = [f"--judge {judge}" for judge in asked.judges]
        given += [f"--where {name}={value}" for name, value in asked.where.items()]
        judges = sorted({judge for figure in without for judge in figure.judges})
        of = f", which are of {', '.join(judges)}" if asked.judges and judges else ""
        return f" {len(without):,} figures have that name{of}, and none of them fits {' '.join(given)}."
    near = names_like(figures, asked.target.text)
    return f" Called like it: {', '.join(near)}." if near else ""


def _not_looked_at(tracer: Tracer) -> str:
    """What may hold what was not found, as further lines."""
    return "".join(
        f"\n  not looked at: {kind.replace('_', ' ')} {name}: its tables are kept, but its folder is gone"
        for kind, name in tracer.traced.without_folder()
    )


def _of(figure: Figure) -> str:
    return f"  ({figure.of})" if figure.of else "  (over all)"


def _attempts(tracer: Tracer, scope: Scope, attempt: str) -> list[str]:
    return [name for kind, name in scope if kind == CONTEST and tracer.about(kind, name, attempt)]


def _pairs(tracer: Tracer, scope: Scope, pair: str) -> list[str]:
    return [name for kind, name in scope if kind == PREFERENCE_SET and tracer.about(kind, name, pair)]


def _one(found: Sequence[str], what: str, option: str) -> str:
    if len(found) > 1:
        raise NotNamedError(f"{what} is in {', '.join(found)}: name one with {option}")
    return found[0]


def _of_path(tracer: Tracer, scope: Scope, text: str) -> Trace:
    """The trace of a path: relative to a contest's or set's folder, or to where one stands."""
    found = []
    for kind, name in scope:
        paths = set(_paths(tracer, kind, name))
        folder = tracer.traced.folder(kind, name)
        given = Path(text) if Path(text).is_absolute() else Path.cwd() / text
        inside = given.resolve().is_relative_to(folder.resolve())
        candidates = {text, *([plain_path(str(given.resolve().relative_to(folder.resolve())))] if inside else [])}
        found += [(kind, name, path) for path in sorted(candidates & paths)]
    if not found:
        raise NotNamedError(
            f"{text}: nothing that is stored was read from such a file. Give its path relative to the contest's or the "
            "set's folder, as the tables have it; what was set aside is in the table ingest_quarantine"
            f"{_not_looked_at(tracer)}"
        )
    return _of_file(tracer, _one_file(list(dict.fromkeys(found)), text))


def _of_file(tracer: Tracer, file: tuple[str, str, str]) -> Trace:
    kind, name, path = file
    return trace_of_settings(tracer, kind, name) if path == SETTINGS_FILES[kind] else tracer.of_file(kind, name, path)


def _paths(tracer: Tracer, kind: str, name: str) -> list[str]:
    """Every file that the tables name, and the file of settings."""
    own = [SETTINGS_FILES[kind]] if has_settings(tracer, kind, name) else []
    return [*own, *tracer.traced.files(kind, name).all_paths()]


def _files_called(tracer: Tracer, scope: Scope, name: str) -> list[tuple[str, str, str]]:
    """The files of the name, in whichever folder."""
    return [
        (kind, of, path) for kind, of in scope for path in _paths(tracer, kind, of) if path.rpartition("/")[2] == name
    ]


def _one_file(found: Sequence[tuple[str, str, str]], what: str, kind: str = "name") -> tuple[str, str, str]:
    if len(found) > 1:
        listed = "\n".join(f"  {path}  ({name})" for _, name, path in found[:_SHOWN])
        raise NotNamedError(f"{what!r} is the {kind} of {len(found)} files. Give the path of one of them:\n{listed}")
    return found[0]


def _of_sha256(tracer: Tracer, scope: Scope, sha256: str) -> Trace:
    """The trace of the file with these bytes, then or now; or of what else has the hash."""
    files = [state for state in tracer.states.with_sha256(sha256) if (state.kind, state.of) in scope]
    if files:
        keys = [(state.kind, state.of, state.path) for state in files]
        return tracer.of_file(*_one_file(keys, sha256, "sha256"))
    for kind, name in scope:
        if kind == CONTEST and (attempt := _attempt_with(tracer, name, sha256)):
            return tracer.of_attempt(name, attempt)
    raise NotNamedError(
        f"{sha256}: no file that the tables name has or had these bytes, and no program, request or judgment has the "
        f"hash{_not_looked_at(tracer)}"
    )


def _attempt_with(tracer: Tracer, contest: str, sha256: str) -> str | None:
    """The attempt whose program, request or judgment has the hash; the first of several with one program."""
    from judge_pipeline.lineage.sources import MissingTableError
    from judge_pipeline.tables import ATTEMPTS, JUDGE_REQUESTS, PREDICTIONS

    sources = tracer.traced.sources(CONTEST, contest)
    for table, column in (
        (ATTEMPTS, "source_sha256"),
        (JUDGE_REQUESTS, "request_sha256"),
        (PREDICTIONS, "request_hash"),
    ):
        try:
            rows = sources[table]
        except MissingTableError:
            continue
        found = rows.loc[rows[column] == sha256, "attempt_id"]
        if len(found):
            return str(found.iloc[0])
    return None
