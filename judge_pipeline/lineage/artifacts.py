"""The files that a figure rests on: of its attempts, of participants' prompts, of pairs, of recorded judges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judge_pipeline.lineage.basis import COUNTED, ROLES, Basis
from judge_pipeline.lineage.sources import CONTEST, PREFERENCE_SET, MissingTableError, Sources
from judge_pipeline.tables import ATTEMPTS, JUDGE_REQUESTS, PREFERENCE_PAIRS, PROMPT_LOGS, SUBMISSION_ARTIFACTS

if TYPE_CHECKING:
    import pandas as pd

File = tuple[str, str, str]
"""Kind and name of the contest or the set, and the path relative to its folder, with ``/``."""

WITHHELD = "withheld"
"""What stands in the place of a path where raw files did not go out (a redacted bundle)."""

_OF_AN_ATTEMPT = ("attempt_id", "previous_attempt_id", "reference_attempt_id")


@dataclass(frozen=True)
class Brought:
    """Files beside those that the tables name.

    Attributes:
        recorded: judge -> the file in which its answers were brought.
        statements: problem -> the file of its statement, where judges are shown it.
    """

    recorded: Mapping[str, str] = field(default_factory=dict)
    statements: Mapping[str, str] = field(default_factory=dict)


class Files:
    """Which files lie behind which rows of one contest or set.

    Args:
        sources: its tables.
        brought: further files.

    Attributes:
        are_withheld: whether the tables name no file, since raw files did not go out.
    """

    def __init__(self, sources: Sources, brought: Brought) -> None:
        self.kind, self.name, self.brought = sources.kind, sources.name, brought
        self._of_attempt: dict[str, tuple[str, ...]] = {}
        self._participant: dict[str, str] = {}
        self._problem: dict[str, str] = {}
        self._of_trajectory: dict[tuple[str, str], list[str]] = {}
        self._prompts: dict[str, tuple[str, ...]] = {}
        self._of_pair: dict[str, str] = {}
        self.shows_prompts, self.are_withheld = True, False
        if sources.kind == CONTEST:
            self._read_contest(sources)
        elif sources.kind == PREFERENCE_SET:
            pairs = sources[PREFERENCE_PAIRS]
            self._of_pair = dict(zip(pairs["pair_id"], pairs["source_file"], strict=True))
            self.are_withheld = _all_withheld(pairs["source_file"])

    def _read_contest(self, sources: Sources) -> None:
        attempts = sources[ATTEMPTS]
        self.are_withheld = _all_withheld(attempts["path"])
        beside = {} if self.are_withheld else _sources_beside(sources)
        columns = zip(
            attempts["attempt_id"], attempts["participant"], attempts["problem_id"], attempts["path"], attempts["row"],
            strict=True,
        )  # fmt: skip
        for attempt, participant, problem, path, row in columns:
            source = beside.get((path, _number(row)))
            beside_it = source is not None and not source.startswith(f"{path}/")  # a member of an archive is in it
            self._of_attempt[attempt] = (path, str(source)) if beside_it else (path,)
            self._participant[attempt], self._problem[attempt] = participant, problem
            self._of_trajectory.setdefault((participant, problem), []).append(attempt)
        logs = sources[PROMPT_LOGS][["participant", "path"]].drop_duplicates()
        for participant, path in logs.itertuples(index=False, name=None):
            self._prompts[participant] = (*self._prompts.get(participant, ()), path)
        try:
            self.shows_prompts = bool((sources[JUDGE_REQUESTS]["context"] == "nonblind").any())
        except MissingTableError:
            self.shows_prompts = False

    def attempts_of(self, path: str) -> list[str]:
        """The attempts that were read from a file, in their order."""
        return [attempt for attempt, paths in self._of_attempt.items() if path in paths]

    def participants_of(self, path: str) -> list[str]:
        """The participants whose prompts are in a file."""
        return [name for name, paths in self._prompts.items() if path in paths]

    def pairs_of(self, path: str) -> list[str]:
        """The pairs that were read from a file."""
        return [pair for pair, file in self._of_pair.items() if file == path]

    def of_attempt(self, attempt: str) -> tuple[str, ...]:
        """The files of an attempt: its artifact, and its program's file where that is another."""
        return self._of_attempt.get(attempt, ())

    def of_pair(self, pair: str) -> tuple[str, ...]:
        """The file of a pair."""
        return (self._of_pair[pair],) if pair in self._of_pair else ()

    def prompts_of(self, participant: str) -> tuple[str, ...]:
        """The prompt logs of a participant."""
        return self._prompts.get(participant, ())

    def participant_of(self, attempt: str) -> str | None:
        """Whose attempt it is."""
        return self._participant.get(attempt)

    def all_paths(self) -> list[str]:
        """Every file that the tables name, sorted, with those that were brought beside them."""
        found = {path for paths in (*self._of_attempt.values(), *self._prompts.values()) for path in paths}
        return sorted(
            {*found, *self._of_pair.values(), *self.brought.recorded.values(), *self.brought.statements.values()}
        )

    def attempts_in(self, rows: pd.DataFrame) -> list[str]:
        """The attempts that rows are of, each once: named, or all of a trajectory, or all of a participant."""
        found: dict[str, None] = {}
        named = [name for name in _OF_AN_ATTEMPT if name in rows.columns]
        for name in named:
            found.update(dict.fromkeys(rows[name].dropna()))
        if not named and "participant" in rows.columns:
            for attempt in self._of_people(rows):
                found[attempt] = None
        return [attempt for attempt in found if attempt in self._of_attempt]

    def _of_people(self, rows: pd.DataFrame) -> Iterator[str]:
        if "problem_id" in rows.columns:
            for key in zip(rows["participant"], rows["problem_id"], strict=True):
                yield from self._of_trajectory.get(key, ())
            return
        wanted = set(rows["participant"])
        yield from (attempt for attempt, name in self._participant.items() if name in wanted)

    def behind(self, rows: pd.DataFrame, basis: Basis, *, whole: bool) -> set[str]:
        """The files behind rows of a basis; ``whole`` says that the judges' own files count, too."""
        attempts = self.attempts_in(rows)
        found = {path for attempt in attempts for path in self._of_attempt[attempt]}
        by_judges = bool(basis.judges)
        if basis.reads_prompts and (self.shows_prompts or not by_judges):
            people = {self._participant[attempt] for attempt in attempts} | set(_column(rows, "participant"))
            found |= {path for name in people for path in self.prompts_of(name)}
        found |= set(_column(rows, "path"))
        found |= {self._of_pair[pair] for pair in set(_column(rows, "pair_id")) if pair in self._of_pair}
        if "place" in rows.columns and "path" not in rows.columns:  # texts that were searched: of everybody
            found |= {path for paths in (*self._of_attempt.values(), *self._prompts.values()) for path in paths}
        if by_judges and whole:
            answered = (*basis.judges, *basis.answered_too)
            found |= {self.brought.recorded[judge] for judge in answered if judge in self.brought.recorded}
            problems = {self._problem[attempt] for attempt in attempts}
            found |= {path for problem, path in self.brought.statements.items() if problem in problems}
        return found


def files_of(basis: Basis, own: Files, others: Mapping[tuple[str, str], Files]) -> dict[File, str]:
    """Every file behind a basis, with the first of its roles; sorted by role and path.

    Args:
        basis: what a figure rests on.
        own: files of the figure's contest or set.
        others: for figures over all of them: kind and name -> their files.
    """
    found: dict[File, str] = {}
    for role, _, rows in basis.parts():
        for files, part in by_owner(rows, own, others):
            for path in files.behind(part, basis, whole=role == COUNTED and len(part) > 0):
                found.setdefault((files.kind, files.name, path), role)
    return dict(sorted(found.items(), key=lambda item: (ROLES.index(item[1]), item[0])))


def by_owner(
    rows: pd.DataFrame, own: Files, others: Mapping[tuple[str, str], Files]
) -> Iterator[tuple[Files, pd.DataFrame]]:
    """Rows with the files of the contest or the set that they are of."""
    column = next((name for name in (CONTEST, PREFERENCE_SET) if name in rows.columns), None)
    if column is None:
        yield own, rows
        return
    for name, part in rows.groupby(column, sort=True):
        if (column, str(name)) in others:
            yield others[column, str(name)], part


def _all_withheld(paths: pd.Series) -> bool:
    return len(paths) > 0 and bool((paths == WITHHELD).all())


def _sources_beside(sources: Sources) -> dict[tuple[str, int | None], str]:
    """Artifact and row -> the file of the program, where that is another."""
    rows = sources[SUBMISSION_ARTIFACTS]
    rows = rows[rows["source_path"].notna()]
    columns = zip(rows["path"], rows["row"], rows["source_path"], strict=True)
    return {(path, _number(row)): source for path, row, source in columns}


def _number(value: Any) -> int | None:
    import pandas as pd

    return None if pd.isna(value) else int(value)


def _column(rows: pd.DataFrame, name: str) -> Iterable[str]:
    return rows[name].dropna() if name in rows.columns else ()
