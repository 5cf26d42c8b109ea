"""Which figures a file, an attempt or a pair touched: the way back, by the same rules as the way home."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge_pipeline.lineage.artifacts import File, Files, by_owner, files_of
from judge_pipeline.lineage.basis import ROLES, Basis
from judge_pipeline.lineage.figures import Figure
from judge_pipeline.lineage.rules import basis_of
from judge_pipeline.lineage.sources import CONTEST, Sources

if TYPE_CHECKING:
    import pandas as pd

Subject = tuple[str, str, str]
"""Kind and name of the contest or the set, and the attempt or the pair."""

SourcesOf = Callable[[str, str], Sources]
FilesOf = Callable[[str, str], Files]


@dataclass(frozen=True, slots=True)
class Touched:
    """A figure, and what the file or subject is to it: a role of ``basis.ROLES``."""

    figure: Figure
    role: str


class Reach:
    """What figures rest on, each basis looked at once.

    Args:
        sources: kind and name -> the tables.
        files: kind and name -> which files lie behind which rows.
        everything: kind and name of every contest and set.
    """

    def __init__(self, sources: SourcesOf, files: FilesOf, everything: Iterable[tuple[str, str]]) -> None:
        self._sources, self._files = sources, files
        self._everything = list(everything)
        self._files_of: dict[Basis, dict[File, str]] = {}
        self._subjects_of: dict[Basis, dict[Subject, str]] = {}

    def basis(self, figure: Figure) -> Basis:
        """What a figure rests on."""
        return basis_of(self._sources(figure.kind, figure.of), figure.table, figure.row)

    def files(self, figure: Figure) -> dict[File, str]:
        """The files behind a figure, each with its role."""
        basis = self.basis(figure)
        if basis not in self._files_of:
            self._files_of[basis] = files_of(basis, self._files(figure.kind, figure.of), self._others(figure))
        return self._files_of[basis]

    def subjects(self, figure: Figure) -> dict[Subject, str]:
        """The attempts and pairs behind a figure, each with its role."""
        basis = self.basis(figure)
        if basis not in self._subjects_of:
            own = self._files(figure.kind, figure.of)
            found: dict[Subject, str] = {}
            for role, _, rows in basis.parts():
                for files, part in by_owner(rows, own, self._others(figure)):
                    for name in _subjects_in(files, part):
                        found.setdefault((files.kind, files.name, name), role)
            self._subjects_of[basis] = found
        return self._subjects_of[basis]

    def _others(self, figure: Figure) -> Mapping[tuple[str, str], Files]:
        if figure.of:
            return {}
        return {key: self._files(*key) for key in self._everything}


def touched_by_file(reach: Reach, figures: Iterable[Figure], file: File) -> list[Touched]:
    """The figures that a file is behind, in their order."""
    return [Touched(figure, role) for figure in figures if (role := reach.files(figure).get(file)) is not None]


def touched_by_subject(reach: Reach, figures: Iterable[Figure], subject: Subject) -> list[Touched]:
    """The figures that an attempt or a pair is behind, in their order."""
    return [Touched(figure, role) for figure in figures if (role := reach.subjects(figure).get(subject)) is not None]


def by_role(touched: Iterable[Touched]) -> dict[str, list[Figure]]:
    """The figures by role, in the order of roles."""
    found: dict[str, list[Figure]] = {role: [] for role in ROLES}
    for each in touched:
        found[each.role].append(each.figure)
    return found


def _subjects_in(files: Files, rows: pd.DataFrame) -> Iterable[str]:
    if files.kind == CONTEST:
        return files.attempts_in(rows)
    return [str(pair) for pair in rows["pair_id"].unique()] if "pair_id" in rows.columns else ()
