"""The submission artifacts: one file an attempt, in the manner of several contest sites and of people's own notes.

Each states problem, participant, verdict, language, time and source; what the pages look like is in ``layouts/``. The
verdict is the one measured for exactly this source.
"""

from __future__ import annotations

import html
import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from functools import cache

import jinja2

from judge_pipeline.samples.making.catalogue import MAKING, Problem, problems
from judge_pipeline.samples.making.plan import SEED, PlannedAttempt, planned_attempts
from judge_pipeline.samples.making.run_programs import recorded_outcomes

JST = timezone(timedelta(hours=9), "JST")
SHORT_LANGUAGES = {"C": "c", "C++": "cpp", "Java": "java", "Python": "python"}
_FIRST_ID = 41_207_311


@dataclass(frozen=True, slots=True)
class Layout:
    """How a kind of page is saved: its template, encoding, clock, file names, and whether it shows an id."""

    template: str
    encoding: str
    zone: timezone
    file_name: str
    shows_id: bool


_LANGUAGE_NAMES = {
    "atcoder": {
        "C": "C (GCC 12.2.0)",
        "C++": "C++ 17 (GCC 12.2)",
        "Java": "Java (OpenJDK 17)",
        "Python": "Python (3.11)",
    },
    "codeforces": {"C": "GNU C11", "C++": "GNU C++17", "Java": "Java 17", "Python": "Python 3"},
    "aoj": {"C": "C", "C++": "C++17", "Java": "JAVA", "Python": "Python3"},
    "markdown": {"C": "C", "C++": "C++17", "Java": "Java 17", "Python": "Python 3.11"},
    "text": {"C": "C (gcc)", "C++": "C++ (g++)", "Java": "Java", "Python": "Python3"},
}

LAYOUTS = {
    "atcoder_en": Layout("atcoder_en.html.j2", "utf-8", JST, "Submission #{id} - Riverside Open 2026.html", True),
    "atcoder_ja": Layout("atcoder_ja.html.j2", "utf-8", JST, "提出 #{id}.html", True),
    "codeforces": Layout("codeforces.html.j2", "utf-8", UTC, "{problem} {n}.html", True),
    "aoj_ja": Layout("aoj_ja.htm.j2", "cp932", JST, "status_{id}.htm", True),
    "markdown_en": Layout("markdown_en.md.j2", "utf-8", UTC, "{problem}-{n}.md", True),
    "markdown_table": Layout("markdown_table.md.j2", "utf-8", JST, "attempt{n}.md", False),
    "text_en": Layout("text_en.txt.j2", "utf-8", JST, "{problem}_try{n}.txt", False),
    "text_ja": Layout("text_ja.txt.j2", "utf-8", JST, "{problem}_{n}回目.txt", False),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """What a template may show of an attempt; every field is a fact of the plan or of a run."""

    participant: str
    problem: Problem
    verdict: str
    label: str
    words: str
    site_language: str
    short_language: str
    at: datetime
    submission_id: str | None
    source: str
    detail: str
    cpu_ms: int
    memory_kb: int
    sample_input: str
    sample_output: str

    @property
    def source_bytes(self) -> int:
        """Length of the source in UTF-8."""
        return len(self.source.encode())


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file of the contest folder and the attempt that it tells of.

    Attributes:
        attempt: the attempt as planned.
        verdict: the measured verdict, or PENDING.
        submission_id: the contest site's id where the page shows one.
        path: below the contest folder, with ``/``.
        content: the file's bytes.
    """

    attempt: PlannedAttempt
    verdict: str
    submission_id: str | None
    path: str
    content: bytes


def artifacts() -> Iterator[Artifact]:
    """Every artifact, in the plan's order.

    Raises:
        KeyError: a source has no measured verdict; run ``run_programs`` first.
        ValueError: a source would not survive its layout (an entity in a page that does not escape code).
    """
    ids = _submission_ids()
    for attempt in planned_attempts():
        layout = LAYOUTS[attempt.participant.layout_for(attempt.problem_id)]
        shown = _shown(attempt, ids[attempt], layout)
        if attempt.participant.layout_for(attempt.problem_id) == "codeforces":
            _check_unescaped(attempt)
        text = _templates().get_template(layout.template).render(a=shown)
        submission_id = ids[attempt] if layout.shows_id else None
        path = _path(attempt, ids[attempt], layout)
        yield Artifact(attempt, shown.verdict, submission_id, path, text.encode(layout.encoding))


def site_words(layout: str, verdict: str, test: int) -> str:
    """The words with which pages of this layout give the verdict; ``test`` is the first test not passed, from 1."""
    return _words()[layout][verdict].format(test=test)


def first_failed(tests: tuple[str, ...]) -> int:
    """Number of the first test not passed, from 1; 1 where there is none."""
    return next((number for number, verdict in enumerate(tests, start=1) if verdict != "AC"), 1)


def _shown(attempt: PlannedAttempt, submission_id: str, layout: Layout) -> Shown:
    outcome = recorded_outcomes()[attempt.source_sha256]
    verdict = "PENDING" if attempt.pending else outcome.verdict
    name = attempt.participant.layout_for(attempt.problem_id)
    problem = problems()[attempt.problem_id]
    given, wanted = problem.tests[0]
    return Shown(
        participant=attempt.participant.name,
        problem=problem,
        verdict=verdict,
        label="WJ" if attempt.pending else verdict,
        words=site_words(name, verdict, first_failed(outcome.tests)),
        site_language=_LANGUAGE_NAMES[name.split("_")[0]][attempt.language],
        short_language=SHORT_LANGUAGES[attempt.language],
        at=attempt.at.astimezone(layout.zone),
        submission_id=submission_id if layout.shows_id else None,
        source=attempt.source,
        detail=outcome.detail or "",
        cpu_ms=outcome.cpu_ms,
        memory_kb=outcome.memory_kb,
        sample_input=given.read_text(encoding="utf-8").rstrip("\n"),
        sample_output=wanted.read_text(encoding="utf-8").rstrip("\n"),
    )


def _check_unescaped(attempt: PlannedAttempt) -> None:
    """In a page that shows code as it is, a reader must not find entities in it."""
    if html.unescape(attempt.source) != attempt.source or "</pre" in attempt.source:
        raise ValueError(f"{attempt.participant.name} {attempt.problem_id}: the source holds something like an entity")


def _submission_ids() -> dict[PlannedAttempt, str]:
    """Ids as a site gives them out: rising with time, with gaps for everybody else's submissions."""
    rng = random.Random(f"{SEED}/ids")
    number = _FIRST_ID
    found = {}
    for attempt in sorted(planned_attempts(), key=lambda one: (one.at, one.participant.name)):
        number += rng.randint(1, 37)
        found[attempt] = str(number)
    return found


def _path(attempt: PlannedAttempt, submission_id: str, layout: Layout) -> str:
    name = layout.file_name.format(id=submission_id, problem=attempt.problem_id, n=attempt.turn)
    folder = f"{attempt.problem_id}/" if attempt.participant.folders else ""
    return f"submissions/{attempt.participant.name}/{folder}{name}"


@cache
def _templates() -> jinja2.Environment:
    # The layouts escape what a real site of their kind escapes, and nothing else; the pages are data, never shown.
    loader = jinja2.FileSystemLoader(MAKING / "layouts")
    return jinja2.Environment(loader=loader, autoescape=False, undefined=jinja2.StrictUndefined)  # noqa: S701


@cache
def _words() -> dict[str, dict[str, str]]:
    return tomllib.loads((MAKING / "layouts" / "words.toml").read_text(encoding="utf-8"))
