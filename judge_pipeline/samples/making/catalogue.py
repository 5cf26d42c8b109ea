"""The problems and programs of the sample contest, read from ``problems/`` and ``programs/``.

A program is a whole source file. An edit turns a right program into one with a mistake that a person might make; a
neutral change leaves the verdict as it is. Edits are exact replacements of text, so that what was changed can be read
in ``programs/<id>/edits.toml``, and two edits that touch the same text simply do not go together.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

MAKING = Path(__file__).parent
LANGUAGES = {".c": "C", ".cpp": "C++", ".java": "Java", ".py": "Python"}


class CatalogueError(ValueError):
    """A file of the catalogue contradicts another. The message names the file and the entry."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of the contest.

    Attributes:
        problem_id: P01 to P10.
        title: its English title.
        title_ja: its Japanese title.
        time_limit_s: processor time a program may take for one test, in seconds.
        memory_limit_mb: memory it may take, in mebibytes.
        statement: the statement in Markdown.
    """

    problem_id: str
    title: str
    title_ja: str
    time_limit_s: float
    memory_limit_mb: int
    statement: str

    @property
    def tests(self) -> list[tuple[Path, Path]]:
        """The tests in order: input file and file with the right output."""
        folder = MAKING / "problems" / self.problem_id / "tests"
        return [(path, path.with_suffix(".out")) for path in sorted(folder.glob("*.in"))]


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of mistake in one problem, with how somebody would explain it.

    Attributes:
        name: its name, unique within the problem.
        en: the explanation in English.
        ja: the explanation in Japanese.
        slip: whether a compiler or the first run tells at once, so that it lasts one attempt.
    """

    name: str
    en: str
    ja: str
    slip: bool


@dataclass(frozen=True, slots=True)
class Change:
    """An edit or a neutral change.

    Attributes:
        name: the fault that it brings, or what the neutral change does.
        replacements: pairs (text, its replacement); a text ending in ``$`` stands at the end of the source.
        prepend: text to put before the source.
        needs: texts that the source must hold for the change to make sense.
        avoid: texts that it must not hold.
        first_only: whether the first occurrence is replaced where there are several.
    """

    name: str
    replacements: tuple[tuple[str, str], ...]
    prepend: str = ""
    needs: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    first_only: bool = False

    def apply(self, text: str) -> str | None:
        """The changed source, or None where the change does not fit it."""
        if any(need not in text for need in self.needs) or any(word in text for word in self.avoid):
            return None
        for old, new in self.replacements:
            if old.endswith("$"):
                if not text.endswith(old[:-1]):
                    return None
                text = text[: -len(old) + 1] + new
            elif text.count(old) == 1 or (self.first_only and old in text):
                text = text.replace(old, new, 1)
            else:
                return None
        return self.prepend + text


@dataclass(frozen=True, slots=True)
class Program:
    """A program, right as it stands unless it is a wrong approach.

    Attributes:
        problem_id: the problem it is for.
        name: its file name.
        language: C, C++, Java or Python.
        text: the source.
        wrong: the fault of its approach, or None for a right program.
        edits: the mistakes that can be put into it.
    """

    problem_id: str
    name: str
    language: str
    text: str
    wrong: Fault | None
    edits: tuple[Change, ...]

    @property
    def key(self) -> str:
        """Its name among all programs."""
        return f"{self.problem_id}/{self.name}"

    def source(self, changes: Iterable[Change]) -> str | None:
        """The source with the changes in the given order, or None where they do not go together."""
        text: str | None = self.text
        for change in changes:
            text = change.apply(text) if text is not None else None
        return text


@cache
def problems() -> dict[str, Problem]:
    """All problems by id, in order."""
    found = {}
    for folder in sorted((MAKING / "problems").iterdir()):
        settings = tomllib.loads((folder / "problem.toml").read_text(encoding="utf-8"))
        statement = (folder / "statement.md").read_text(encoding="utf-8")
        found[folder.name] = Problem(problem_id=folder.name, statement=statement, **settings)
    return found


@cache
def faults(problem_id: str) -> dict[str, Fault]:
    """The faults of a problem by name."""
    entries = _edits_file(problem_id)["fault"]
    return {name: Fault(name, entry["en"], entry["ja"], entry.get("slip", False)) for name, entry in entries.items()}


@cache
def programs(problem_id: str) -> dict[str, Program]:
    """The programs of a problem by file name, in alphabetical order.

    Raises:
        CatalogueError: an edit names a program or a fault that is not there, or does not fit its program.
    """
    folder, settings = MAKING / "programs" / problem_id, _edits_file(problem_id)
    known = faults(problem_id)
    found = {}
    for path in sorted(folder.iterdir()):
        if path.suffix not in LANGUAGES:
            continue
        text = path.read_text(encoding="utf-8")
        entries = [entry for entry in settings["edit"] if entry["program"] == path.name]
        edits = tuple(Change(entry["fault"], _pairs(entry)) for entry in entries)
        for edit in edits:
            if edit.name not in known or edit.apply(text) is None:
                raise CatalogueError(f"{folder / 'edits.toml'}: edit {edit.name!r} does not fit {path.name}")
        wrong = settings.get("program", {}).get(path.name, {}).get("fault")
        language = LANGUAGES[path.suffix]
        found[path.name] = Program(problem_id, path.name, language, text, known[wrong] if wrong else None, edits)
    strangers = {entry["program"] for entry in settings["edit"]} - found.keys()
    if strangers:
        raise CatalogueError(f"{folder / 'edits.toml'}: no such programs: {', '.join(sorted(strangers))}")
    return found


@cache
def neutral_changes(language: str) -> tuple[Change, ...]:
    """The changes that leave a program of this language as right or wrong as it is."""
    entries = tomllib.loads((MAKING / "programs" / "neutral.toml").read_text(encoding="utf-8"))
    suffix = next(suffix for suffix, name in LANGUAGES.items() if name == language)
    return tuple(
        Change(
            entry["en"],
            _pairs(entry),
            prepend=entry.get("prepend", ""),
            needs=tuple(entry.get("needs", ())),
            avoid=tuple(entry.get("avoid", ())),
            first_only=entry.get("first", False),
        )
        for entry in entries[suffix.removeprefix(".")]
    )


def _pairs(entry: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((old, new) for old, new in entry.get("change", ()))


@cache
def _edits_file(problem_id: str) -> dict[str, Any]:
    return tomllib.loads((MAKING / "programs" / problem_id / "edits.toml").read_text(encoding="utf-8"))
