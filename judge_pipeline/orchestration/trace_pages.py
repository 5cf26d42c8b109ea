"""Pages that lead a report's figures home, in a folder beside it, made from what is stored.

What the pages of contests (``trace_pages_of_contest``) and of preference sets (``trace_pages_of_set``) have in common.
The folder lies in that of the report, which a withdrawal removes as a whole.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judge_pipeline.lineage.basis import reconcile
from judge_pipeline.orchestration.trace_lists import ROWS, ListedBases
from judge_pipeline.orchestration.whole_files import write_whole
from judge_pipeline.report import trace_index_page as shown
from judge_pipeline.report.trace_anchor import INDEX
from judge_pipeline.report.trace_page import figure_value, number
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import ALL_TABLES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from judge_pipeline.lineage.basis import Basis
    from judge_pipeline.lineage.figures import Figure
    from judge_pipeline.orchestration.tracing import Tracer

FILES = "files"

_TABLES = {table.name: table for table in ALL_TABLES}


@dataclass(frozen=True)
class WrittenPages:
    """Pages that were written, the index last.

    Attributes:
        files: the pages.
        sha256: of all of them.
        problems: figures whose counts do not add up, and why.
    """

    files: Sequence[Path]
    sha256: str
    problems: Sequence[str]


def trace_folder(workspace: Workspace, name: str, words: shown.PageWords) -> Path:
    """Where the trace pages of a contest or a set lie."""
    return workspace.store_dir / "reports" / name / words.folder


def write_pages(pages: TracePages, code_version: str) -> WrittenPages:
    """Write the pages, the index last; pages that are there no more, of other judges and of longer lists, are removed.

    Args:
        pages: what they show.
        code_version: for their foot.

    Raises:
        MissingTableError: a table that all of it rests on is not there, or is damaged.
    """
    folder, digest = trace_folder(pages.tracer.workspace, pages.of, pages.words), hashlib.sha256()
    files = []
    for name, html in _made(pages, code_version):
        data = html.encode("utf-8", "replace")
        digest.update(data)
        files.append(write_whole(folder / name, data))
    for file in folder.glob("*.html"):
        if file not in files:
            file.unlink()
    return WrittenPages(files, digest.hexdigest(), pages.problems)


def _made(pages: TracePages, code_version: str) -> Iterator[tuple[str, str]]:
    """File name and HTML of every page, one at a time: of large sets they are many."""
    n_judgments: dict[str, int] = {}
    for judge in pages.judges:
        for page in pages.of_judge(judge):
            n_judgments[judge] = page.place.n_all
            name = shown.page_name(page.place.stem, page.place.number)
            yield name, shown.trace_judge_html(page, code_version, pages.chosen_by)
    tables = list(pages.tables())
    parts = pages.parts()
    for _, of_part in parts:
        for part in of_part:
            name = shown.page_name(part.place.stem, part.place.number)
            yield name, shown.trace_part_html(part, code_version, pages.chosen_by)
    yield INDEX, shown.trace_index_html(pages.index(tables, parts, n_judgments), code_version, pages.chosen_by)


Parts = list[tuple[str, list[shown.TracePart]]]
"""Heading and pages of each list behind the figures."""


class TracePages(ABC):
    """What the trace pages of one contest, or of one set, show.

    Args:
        tracer: traces through the workspace.
        of: the contest or the set.

    Attributes:
        kind: contest or preference_set.
        words: what the pages call things.
        headline: tables whose figures are on the index.
        judges: the judges that have a page.
        subjects: the attempts or pairs.
        chosen_by: who chose, of a preference set.
        problems: once the tables are made, the figures that do not add up.
    """

    kind: str
    words: shown.PageWords
    headline: tuple[str, ...]
    judges: Sequence[str]
    chosen_by: str = ""

    def __init__(self, tracer: Tracer, of: str, subjects: Sequence[str]) -> None:
        self.tracer, self.of, self.subjects = tracer, of, subjects
        self.sources, self.files = tracer.traced.sources(self.kind, of), tracer.traced.files(self.kind, of)
        self.problems: list[str] = []
        self._places = {subject: place for place, subject in enumerate(subjects)}
        self._order = pd.Index(subjects, dtype="object")
        self._bases = ListedBases(subjects, self._address, self._counts)

    @property
    def _stem(self) -> str:
        return f"{self.words.subject}s"

    @abstractmethod
    def label(self, judge: str) -> str:
        """A judge's name with its tags."""

    @abstractmethod
    def of_judge(self, judge: str) -> Iterator[shown.JudgeJudgments]:
        """The pages of a judge's judgments: at least one."""

    @abstractmethod
    def anchor(self, place: int) -> str:
        """The anchor of an attempt or a pair, by its place in the table of all."""

    @abstractmethod
    def times(self, rows: pd.DataFrame) -> tuple[Sequence[str], NDArray[np.int64]]:
        """The attempts or pairs that rows are of, which may come again, and how often each counts."""

    @abstractmethod
    def facts(self, subject: str) -> Sequence[str]:
        """What is said of an attempt or a pair in the table of all."""

    @abstractmethod
    def files_of(self, subject: str) -> Sequence[str]:
        """The paths of its files."""

    @abstractmethod
    def versions(self) -> Iterable[tuple[str, str]]:
        """What the figures were made with, beside the package and the files."""

    def answered_by(self, basis: Basis, figure: Figure) -> Sequence[str]:
        """Whose answers a figure rests on, as their pages call them."""
        return basis.judges

    def address(self, subject: str) -> str:
        """Where an attempt or a pair stands in the table of all; "" where it is read no more."""
        place = self._places.get(subject)
        return "" if place is None else self._address(place)

    def _address(self, place: int) -> str:
        return f"{_page(self._stem, place, shown.SUBJECTS_A_PAGE)}#{self.anchor(place)}"

    def _counts(self, rows: pd.DataFrame) -> tuple[NDArray[np.int64], int]:
        """How often each attempt or pair counts in rows, and how many of these are read no more."""
        names, times = self.times(rows)
        found = np.zeros(len(self.subjects), np.int64)
        places = self._order.get_indexer(names) if len(names) else np.zeros(0, np.int64)
        known = places >= 0
        np.add.at(found, places[known], times[known])
        return found, len({name for name, there in zip(names, known, strict=True) if not there})

    def paged(self, judge: str, n_all: int) -> Iterator[tuple[slice, shown.Place]]:
        """Which of a judge's judgments stand on which of its pages; one page where there are none."""
        of_pages = ranges(n_all, shown.JUDGMENTS_A_PAGE) or [(0, 0)]
        for of_page, place in zip(of_pages, places_of(shown.judge_stem(judge), of_pages), strict=True):
            yield slice(*of_page), place

    def tables(self) -> Iterator[shown.TableLines]:
        """The figures by table; the rows behind them are then known."""
        by_table: dict[str, list[Figure]] = {}
        for figure in self.tracer.figures([(self.kind, self.of)], self.headline):
            by_table.setdefault(figure.table, []).append(figure)
        for name in self.headline:
            if name in by_table:
                lines = [self._line(figure) for figure in by_table[name]]
                yield shown.TableLines(name, _TABLES[name].description, self._made_from(name), lines)

    def parts(self) -> Parts:
        """The lists behind the figures, page by page; those that have nothing are left out."""
        paths = self.files.all_paths()
        at = {path: f"{_page(FILES, place, shown.FILES_A_PAGE)}#file-{place + 1}" for place, path in enumerate(paths)}
        proven = self.tracer.states.read_hashes(self.kind, self.of).proven
        of_hashes = self.words.hashed if proven else self.words.not_hashed
        of_hashes = shown.NO_RAW_FILES if self.files.are_withheld else of_hashes
        blocks = self._bases.pages(self._page)
        ends = list(accumulate(map(len, blocks), initial=0))
        of_subjects = ranges(len(self.subjects), shown.SUBJECTS_A_PAGE)
        subjects = [[self._subject(place, at) for place in range(*of_page)] for of_page in of_subjects]
        files = [
            [self._file(place, paths[place]) for place in range(*of_page)]
            for of_page in ranges(len(paths), shown.FILES_A_PAGE)
        ]
        found = (
            ("Rows behind the figures", ROWS, list(pairwise(ends)), [{"blocks": own} for own in blocks]),
            (self._stem.capitalize(), self._stem, of_subjects, [{"subjects": own} for own in subjects]),
            ("Files and their hashes", FILES, ranges(len(paths), shown.FILES_A_PAGE),
             [{"files": own, "of_hashes": of_hashes} for own in files]),
        )  # fmt: skip
        return [(title, self._pages(stem, of_pages, given)) for title, stem, of_pages, given in found if given]

    def _pages(
        self, stem: str, of_pages: Sequence[tuple[int, int]], given: Sequence[Mapping[str, Any]]
    ) -> list[shown.TracePart]:
        return [
            shown.TracePart(self.words, self.of, place, **own)
            for place, own in zip(places_of(stem, of_pages), given, strict=True)
        ]

    def index(
        self, tables: Sequence[shown.TableLines], parts: Parts, n_judgments: Mapping[str, int]
    ) -> shown.TraceIndex:
        """The index; ``n_judgments`` says how many each judge's pages have."""
        fingerprint = self.tracer.states.read_hashes(self.kind, self.of).fingerprint or "not kept"
        of_files = (f"fingerprint of the {self.words.of}'s files", fingerprint)
        return shown.TraceIndex(
            words=self.words,
            of=self.of,
            tables=tables,
            parts=[(title, pages[0].place) for title, pages in parts],
            judges=[(self.label(judge), self._page(judge), n) for judge, n in n_judgments.items()],
            versions=[("judge_pipeline", version("judge-pipeline")), of_files, *self.versions()],
        )

    def _line(self, figure: Figure) -> shown.FigureLine:
        basis = self.tracer.reach.basis(figure)
        problem = reconcile(basis, figure.n, figure.n_left_out).problem or ""
        if problem:
            self.problems.append(f"{figure.id}: {problem}")
        row = figure.row
        value = figure_value(row["value"], whole=row["ci95_low"] is None)
        ends = "" if row["ci95_low"] is None else f" [{number(row['ci95_low'])}, {number(row['ci95_high'])}]"
        left = f" ({figure.n_left_out:,} left out)" if figure.n_left_out else ""
        address = None if basis.unlisted else self._bases.add(figure, basis, self.answered_by(basis, figure))
        return shown.FigureLine(
            figure.anchor, figure.words, f"{value}{ends}", f"{figure.n:,}{left}", address, basis.unlisted or problem
        )

    def _page(self, judge: str) -> str:
        return shown.page_name(shown.judge_stem(judge)) if judge in self.judges else ""

    def _made_from(self, name: str) -> list[tuple[str, str]]:
        made = self.tracer.traced.store.provenance(_TABLES[name], self.of) or {}
        found = [(of, str(sha256)) for of, sha256 in (made.get("data") or {}).items()]
        found += [(of, str(made[of])) for of in ("code", "version", "seed", "resamples", "context") if of in made]
        return found

    def _subject(self, place: int, at: Mapping[str, str]) -> shown.SubjectLine:
        subject = self.subjects[place]
        files = [(at[path], path) for path in self.files_of(subject)]
        return shown.SubjectLine(self.anchor(place), place + 1, subject, self.facts(subject), files)

    def _file(self, place: int, path: str) -> shown.FileLine:
        state = self.tracer.states.state(self.kind, self.of, path)
        return shown.FileLine(f"file-{place + 1}", path, state.state, state.sha256_read or "", state.sha256_now or "")


def ranges(n: int, size: int) -> list[tuple[int, int]]:
    """Start and end of each page of n entries."""
    return [(start, min(start + size, n)) for start in range(0, n, size)]


def places_of(stem: str, of_pages: Sequence[tuple[int, int]]) -> list[shown.Place]:
    """Each page of a list that is cut so."""
    words = [f"{start + 1:,}–{end:,}" for start, end in of_pages]
    return [shown.Place(stem, number, words, of_pages[-1][1]) for number in range(1, len(words) + 1)]


def _page(stem: str, place: int, size: int) -> str:
    return shown.page_name(stem, place // size + 1)


def took(answer: Mapping[str, Any]) -> str:
    """Tries, tokens, time and money of an answer, as far as they are known."""
    n_tries, latency_ms, cost_usd = (answer.get(name) for name in ("n_tries", "latency_ms", "cost_usd"))
    found = [f"{n_tries} {'try' if n_tries == 1 else 'tries'}"] if n_tries else []
    found += [f"{answer[name]:,} {name.replace('_', ' ')}" for name in ("tokens_in", "tokens_out") if answer.get(name)]
    found += [f"{latency_ms:,.0f} ms"] if latency_ms is not None else []
    found += [f"US$ {cost_usd:.6g}"] if cost_usd is not None else []
    return ", ".join(found) or "–"


def facts_of(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a row of a table of coverage says, the judge's name left out."""
    return [(name.replace("_", " "), _text(v)) for name, v in record.items() if name != "judge" and v is not None]


def prompt_template(workspace: Workspace, name: str) -> shown.PromptTemplate:
    """A prompt template as its file is now; empty where there is none."""
    file = workspace.config_dir / "prompts" / name
    data = file.read_bytes() if file.is_file() else b""
    return shown.PromptTemplate(name, hashlib.sha256(data).hexdigest(), data.decode("utf-8", "replace"))


def records(rows: Any) -> list[dict[str, Any]]:
    """Rows as plain records, missing values as None."""
    values = rows.astype("object")
    return [{str(k): v for k, v in row.items()} for row in values.where(values.notna(), None).to_dict("records")]


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
