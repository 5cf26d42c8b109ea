"""What figures rest on, as their pages list it: equal rows once, long lists by numbers, over further pages."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from judge_pipeline.lineage.basis import COUNTED, LEFT_OUT, WHY, counted
from judge_pipeline.report import trace_index_page as shown

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from judge_pipeline.lineage.basis import Basis
    from judge_pipeline.lineage.figures import Figure

    Times = NDArray[np.int64]

ROWS = "rows"

FIGURES_NAMED = 6
"""Figures that a block of rows names; it says how many more there are."""

MOST_BY_ID = 60
"""Attempts or pairs that are listed by their ids; more are listed by their numbers."""

MAX_RUNS = 2_000_000
"""Runs of numbers on all pages of one contest or set, some 20 MB; further lists are left to the command."""

_AGAIN = 5
"""A list of no more is given again, and not as a link to where it stood before."""


@dataclass
class _Block:
    place: int
    page: int
    basis: Basis
    judges: Sequence[str]
    parts: Sequence[shown.BasisPart]
    figures: list[Figure] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        return f"rows-{self.place}"


class ListedBases:
    """Blocks of rows, each on its page; figures that rest on the same share one.

    Args:
        ids: the attempts or pairs, in the order of the table of all.
        address: place in that table -> address.
        times: rows -> how often each of them counts (N,), and how many further ones are read no more.
    """

    def __init__(
        self, ids: Sequence[str], address: Callable[[int], str], times: Callable[[pd.DataFrame], tuple[Times, int]]
    ) -> None:
        self._ids, self._address, self._times = ids, address, times
        self._blocks: dict[Any, _Block] = {}
        self._found: WeakKeyDictionary[Basis, dict[tuple[str, ...], _Block]] = WeakKeyDictionary()
        self._page, self._on_page, self._runs_on_page, self._left = 1, 0, 0, MAX_RUNS
        self._lists: dict[bytes, str] = {}

    def add(self, figure: Figure, basis: Basis, judges: Sequence[str]) -> str:
        """List what a figure rests on; its address.

        Args:
            figure: the figure.
            basis: what it rests on.
            judges: whose answers these are, as their pages call them.
        """
        found = self._found.setdefault(basis, {})
        if tuple(judges) not in found:
            found[tuple(judges)] = self._of_content(basis, judges)
        block = found[tuple(judges)]
        block.figures.append(figure)
        return f"{shown.page_name(ROWS, block.page)}#{block.anchor}"

    def pages(self, page_of: Callable[[str], str]) -> list[list[shown.BasisBlock]]:
        """The blocks, page by page; ``page_of`` names a judge's page."""
        found: list[list[shown.BasisBlock]] = [[] for _ in range(self._page)]
        for block in self._blocks.values():
            named = [(figure.anchor, f"{figure.words} ({figure.table})") for figure in block.figures[:FIGURES_NAMED]]
            judges = [(judge, page_of(judge)) for judge in block.judges]
            found[block.page - 1].append(
                shown.BasisBlock(
                    block.anchor, block.basis.unit, judges, block.basis.answered_too, named, len(block.figures),
                    block.parts,
                )
            )  # fmt: skip
        return [blocks for blocks in found if blocks]

    def _of_content(self, basis: Basis, judges: Sequence[str]) -> _Block:
        """The block of equal rows, whatever basis they were first of."""
        given = [(*part, *self._times(part[2])) for part in basis.parts() if len(part[2])]
        contents = [(role, words, counted(rows), _whys(rows), _digest(times)) for role, words, rows, times, _ in given]
        key = (basis.unit, tuple(judges), basis.answered_too, tuple(contents))
        if key not in self._blocks:
            self._blocks[key] = self._new(basis, judges, given)
        return self._blocks[key]

    def _new(self, basis: Basis, judges: Sequence[str], given: Sequence[Any]) -> _Block:
        if self._on_page >= shown.BLOCKS_A_PAGE or self._runs_on_page >= shown.RUNS_A_PAGE:
            self._page, self._on_page, self._runs_on_page = self._page + 1, 0, 0
        place = len(self._blocks) + 1
        parts = [self._part(f"rows-{place}-{number}", *part) for number, part in enumerate(given, 1)]
        self._on_page += 1
        self._runs_on_page += sum(part.n_runs for part in parts)
        return _Block(place, self._page, basis, judges, parts)

    def _part(
        self, anchor: str, role: str, words: str, rows: pd.DataFrame, times: Times, n_gone: int
    ) -> shown.BasisPart:
        title = {COUNTED: "Counted in n", LEFT_OUT: "Left out"}.get(role, words)
        n_subjects, digest = int(np.count_nonzero(times)), _digest(times)
        same_as = self._lists.get(digest, "") if n_subjects > _AGAIN else ""
        listed = () if same_as else tuple(self._listed(times))
        n_runs = sum(alike.n_runs for alike in listed)
        if n_runs > self._left:
            listed = ()
        elif listed:
            self._left -= n_runs
            self._lists.setdefault(digest, f"{shown.page_name(ROWS, self._page)}#{anchor}")
        return shown.BasisPart(anchor, title, counted(rows), listed, n_subjects, same_as, _whys(rows), n_gone)

    def _listed(self, times: Times) -> Iterator[shown.SubjectLinks]:
        for n in np.unique(times[times > 0]).tolist():
            places = np.flatnonzero(times == n)
            if len(places) <= MOST_BY_ID:
                ids = tuple((self._address(place), self._ids[place]) for place in places.tolist())
                yield shown.SubjectLinks(n, ids, n_runs=len(ids))
                continue
            runs, n_runs = [], 0
            for page in np.unique(places // shown.SUBJECTS_A_PAGE).tolist():
                first = page * shown.SUBJECTS_A_PAGE
                last = min(first + shown.SUBJECTS_A_PAGE, len(self._ids))
                own = _runs(places[(places >= first) & (places < last)] + 1)
                n_runs += len(own)
                address = self._address(first).partition("#")[0]
                runs.append((address, f"{first + 1}–{last}", ", ".join(own)))
            yield shown.SubjectLinks(n, runs=tuple(runs), n_runs=n_runs)


def _runs(numbers: NDArray[np.int64]) -> list[str]:
    """Ascending numbers as text, those that follow each other as a range."""
    breaks = np.flatnonzero(np.diff(numbers) != 1)
    starts, ends = numbers[np.r_[0, breaks + 1]].tolist(), numbers[np.r_[breaks, len(numbers) - 1]].tolist()
    return [str(start) if start == end else f"{start}–{end}" for start, end in zip(starts, ends, strict=True)]


def _whys(rows: pd.DataFrame) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(rows[WHY]).items())) if WHY in rows.columns else ()


def _digest(times: Times) -> bytes:
    return hashlib.sha256(times.tobytes()).digest()
