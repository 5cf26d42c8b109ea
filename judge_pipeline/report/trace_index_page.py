"""The pages beside a report that lead each of its figures home: what they show, as plain values, and as HTML.

An index of the figures, and pages of rows behind them, of attempts or pairs, of files, and of each judge's judgments;
long lists go on over further pages. Reports link to the index by ``trace_anchor``. They hold no program, response or
prompt, but ids, paths and hashes, and what judges said; what was sent is told by ``judge-pipeline trace``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judge_pipeline.report.page import render
from judge_pipeline.report.trace_anchor import CRITERIA_FOLDER, FOLDER, PREFERENCE_FOLDER

INDEX_TEMPLATE, PART_TEMPLATE, JUDGE_TEMPLATE = "trace_index.html.j2", "trace_part.html.j2", "trace_judge.html.j2"

NO_RAW_FILES = "Raw files did not go out, nor did their names: this is a redacted bundle."

SUBJECTS_A_PAGE, FILES_A_PAGE, JUDGMENTS_A_PAGE = 1_000, 1_000, 1_000
"""Attempts or pairs, files and judgments that one page lists."""

RUNS_A_PAGE, BLOCKS_A_PAGE = 20_000, 200
"""Runs of attempts or pairs, and blocks of rows, that one page of rows holds at most, but for a block on its own."""


@dataclass(frozen=True, slots=True)
class PageWords:
    """What the pages of one kind of report are about, and what they call it.

    Attributes:
        of: what the pages are of: contest or preference set.
        option: the option of ``judge-pipeline trace`` that names it.
        folder: where they lie beside the report.
        report: the report's file.
        subject: what judges judge, and what artifacts are of: attempt or pair.
        columns: what the index says of each.
        said: heading of what a judge said.
        beside: heading of what stands beside it.
        calls: whether tables say of each judgment which model answered, and what that took.
        hashed: what is known of the hashes of reading where they are proven to be those of the tables.
        not_hashed: the same where they are not.
    """

    of: str
    option: str
    folder: str
    report: str
    subject: str
    columns: Sequence[str]
    said: str
    beside: str
    calls: bool
    hashed: str
    not_hashed: str


OF_CONTEST = PageWords(
    "contest", "--contest", FOLDER, "cocreation_report.html", "attempt",
    ("Participant", "Problem", "Turn", "Verdict", "Split"), "p_ac", "Scores", True,
    "The first are known to be those that the tables were made from: the folder's fingerprint, which the tables keep, "
    "follows from them.",
    "Whether the first are those that the tables were made from is not known: the cache of readings is gone, or newer "
    "than the tables.",
)  # fmt: skip
OF_PREFERENCE = PageWords(
    "preference set", "--set", PREFERENCE_FOLDER, "preference_report.html", "pair",
    ("Label", "Category", "Language", "Split", "Place"), "Choice", "Beside it", True,
    "They are known to be those that the tables were made from: the set's fingerprint, which the tables keep, follows "
    "from them.",
    "Whether they are those that the tables were made from is not known: the set's fingerprint is another than the "
    "tables keep, and of single files no hash of then is kept.",
)  # fmt: skip
OF_CRITERIA = PageWords(
    "preference set", "--set", CRITERIA_FOLDER, "criteria_report.html", "pair", OF_PREFERENCE.columns, "Said",
    "Beside it", False, OF_PREFERENCE.hashed, OF_PREFERENCE.not_hashed,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FigureLine:
    """A figure on the index.

    Attributes:
        anchor: where the report links to.
        words: what it is.
        value: the value with its interval, as text.
        n: its n, and how many were left out, as text.
        basis: address of what it rests on; None where that is not listed.
        problem: what does not add up, or why nothing is listed; "" where all is well.
    """

    anchor: str
    words: str
    value: str
    n: str
    basis: str | None
    problem: str


@dataclass(frozen=True, slots=True)
class TableLines:
    """The figures of one table.

    Attributes:
        name: the table.
        description: what a row of it is.
        made_from: name -> hash of what it was made from.
        lines: its figures.
    """

    name: str
    description: str
    made_from: Sequence[tuple[str, str]]
    lines: Sequence[FigureLine]

    @property
    def n_problems(self) -> int:
        """Of how many of them something does not add up, or nothing is listed."""
        return sum(bool(line.problem) for line in self.lines)


@dataclass(frozen=True, slots=True)
class SubjectLinks:
    """Attempts or pairs that count alike: a few by their ids, many by their numbers in the table of all.

    Attributes:
        times: how often each counts.
        ids: address and id of each, where they are few.
        runs: address and numbers of a page of that table, and the numbers of those on it, as text.
        n_runs: how many runs of numbers, or ids, these are.
    """

    times: int
    ids: Sequence[tuple[str, str]] = ()
    runs: Sequence[tuple[str, str, str]] = ()
    n_runs: int = 0


@dataclass(frozen=True, slots=True)
class BasisPart:
    """Rows of one role behind figures.

    Attributes:
        anchor: its anchor.
        title: what they are to the figures.
        n: how often they count.
        listed: their attempts or pairs; none where these are too many to list.
        n_subjects: how many these are.
        same_as: address of the part that lists the very same ones; "" where none before it does.
        whys: reason -> how many were left out for it.
        n_gone: how many further ones were read no more when the pages were made.
    """

    anchor: str
    title: str
    n: int
    listed: Sequence[SubjectLinks]
    n_subjects: int
    same_as: str = ""
    whys: Sequence[tuple[str, int]] = ()
    n_gone: int = 0

    @property
    def n_runs(self) -> int:
        """How many runs it lists."""
        return sum(alike.n_runs for alike in self.listed)


@dataclass(frozen=True, slots=True)
class BasisBlock:
    """What one figure, or several, rest on.

    Attributes:
        anchor: its anchor.
        unit: what n counts.
        judges: whose answers it rests on, each with the file of its page, "" where it has none.
        answered_too: who had to answer, too, for a row to count.
        figures: anchor and words of the figures, the first of them.
        n_figures: how many there are.
        parts: its rows by role.
    """

    anchor: str
    unit: str
    judges: Sequence[tuple[str, str]]
    answered_too: Sequence[str]
    figures: Sequence[tuple[str, str]]
    n_figures: int
    parts: Sequence[BasisPart]


@dataclass(frozen=True, slots=True)
class SubjectLine:
    """An attempt or a pair in the table of all.

    Attributes:
        anchor: its anchor.
        number: its number, from 1.
        id: its id.
        facts: what is known of it, under the headings of ``PageWords.columns``.
        files: its files: address and path.
    """

    anchor: str
    number: int
    id: str
    facts: Sequence[str]
    files: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class FileLine:
    """A file then and now: its anchor, path, state, and hashes."""

    anchor: str
    path: str
    state: str
    sha256_read: str
    sha256_now: str


@dataclass(frozen=True, slots=True)
class Place:
    """Which of the pages of one list a page is.

    Attributes:
        stem: of their file names.
        number: of this page, from 1.
        ranges: what each of the pages holds, as text.
        n_all: entries on all of them.
    """

    stem: str
    number: int
    ranges: Sequence[str]
    n_all: int

    def pages(self) -> list[tuple[str, str]]:
        """File name and what is on it, of each page."""
        return [(page_name(self.stem, number), words) for number, words in enumerate(self.ranges, 1)]


@dataclass(frozen=True, slots=True)
class TracePart:
    """A page of rows, of attempts or pairs, or of files.

    Attributes:
        words: what it calls things.
        of: the contest or the set.
        place: which page it is.
        blocks: what figures rest on, on a page of rows.
        subjects: attempts or pairs, on a page of these.
        files: files, on a page of these.
        of_hashes: what is known of the hashes of reading.
    """

    words: PageWords
    of: str
    place: Place
    blocks: Sequence[BasisBlock] = ()
    subjects: Sequence[SubjectLine] = ()
    files: Sequence[FileLine] = ()
    of_hashes: str = ""


@dataclass(frozen=True, slots=True)
class TraceIndex:
    """The index of a contest, or of a preference set.

    Attributes:
        words: what it calls things.
        of: the contest or the set.
        tables: its figures by table.
        parts: heading of each of the lists behind them, with where it is; those without a page are not there.
        judges: each judge's name with its tags, the file of its page, and how many judgments it has.
        versions: what the figures were made with, by name.
    """

    words: PageWords
    of: str
    tables: Sequence[TableLines]
    parts: Sequence[tuple[str, Place]]
    judges: Sequence[tuple[str, str, int]]
    versions: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class JudgmentLine:
    """One judgment on a judge's page; what is not known is "–".

    Attributes:
        subject: id of the attempt or the pair.
        link: its address in the table of all; "" where it is not there.
        anchor: its own anchor, "" for a further judgment of the same attempt or pair.
        what: what was judged, and what else was asked.
        said: what the judge said.
        beside: what stands beside that.
        rationale: its reason.
        model: the model that answered.
        took: tries, tokens, time and money.
        request_hash: identity of the call.
        repair: how a malformed answer was repaired.
    """

    subject: str
    link: str
    anchor: str
    what: str
    said: str
    beside: str = "–"
    rationale: str = "–"
    model: str = "–"
    took: str = "–"
    request_hash: str = "–"
    repair: str = ""


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A prompt template as its file is now: name, sha256 and text."""

    name: str
    sha256: str
    text: str


@dataclass(frozen=True, slots=True)
class JudgeJudgments:
    """A judge's page.

    Attributes:
        words: what it calls things.
        of: the contest or the set.
        judge: the judge, or judge and configuration.
        label: its name with its tags.
        facts: backend, model, scope, state: what is known of its table.
        templates: its prompt templates.
        lines: its judgments, those on this page.
        place: which of its pages this is.
    """

    words: PageWords
    of: str
    judge: str
    label: str
    facts: Sequence[tuple[str, str]]
    templates: Sequence[PromptTemplate]
    lines: Sequence[JudgmentLine]
    place: Place


def trace_index_html(index: TraceIndex, code_version: str, chosen_by: str = "") -> str:
    """The index as HTML; no drawing library, nothing loaded. ``chosen_by`` says who chose in a preference set."""
    return _html(INDEX_TEMPLATE, {"index": index}, code_version, chosen_by)


def trace_part_html(part: TracePart, code_version: str, chosen_by: str = "") -> str:
    """A page of rows, of attempts or pairs, or of files, likewise."""
    return _html(PART_TEMPLATE, {"part": part}, code_version, chosen_by)


def trace_judge_html(page: JudgeJudgments, code_version: str, chosen_by: str = "") -> str:
    """A judge's page, likewise."""
    return _html(JUDGE_TEMPLATE, {"page": page}, code_version, chosen_by)


def _html(template: str, given: Mapping[str, object], code_version: str, chosen_by: str) -> str:
    context = {**given, "chosen_by": chosen_by, "provenance": {"code_version": code_version}}
    return render(template, [], context, further_scripts=["unfold.js"])


def judge_stem(judge: str) -> str:
    """What file names of a judge's pages begin with; judges, and configurations behind an ``@``, are slugs."""
    return f"judge-{judge}"


def page_name(stem: str, number: int = 1) -> str:
    """File name of a page of a list: no slug has a ``~``."""
    return f"{stem}.html" if number == 1 else f"{stem}~{number}.html"
