"""The plan of the sample contest: who tries what, with which versions, and when.

The shapes of the trajectories are given (how many attempts, solved or not), so that the contest has the sizes that
its users are told; who gets which shape follows from difficulty, skill and chance. One seed draws everything.
"""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from judge_pipeline.samples.making.catalogue import problems
from judge_pipeline.samples.making.people import Participant, participants
from judge_pipeline.samples.making.retype import retype
from judge_pipeline.samples.making.revisions import Version, Walk

SEED = 20260307
CONTEST = "sample-contest"
START = datetime(2026, 3, 7, 4, 0, tzinfo=UTC)
LENGTH = timedelta(hours=4)

NOT_TRIED = 10
SOLVED_LATER = (*[2] * 10, *[3] * 7, *[4] * 4, *[5] * 3, 6, 11)
"""For each trajectory solved after the first attempt: the turn of the first AC."""
UNSOLVED = (1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 12)
"""For each trajectory that stays unsolved: its number of attempts."""
AFTER_FIRST_AC = (1, 1, 1, 1, 2, 2, 2, 2)
"""For each trajectory with attempts after the first AC: how many."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a trajectory runs: wrong attempts, whether the problem is solved then, and attempts after that."""

    wrong: int
    solved: bool
    after: int = 0

    @property
    def length(self) -> int:
        """Number of attempts."""
        return self.wrong + self.solved + self.after


@dataclass(frozen=True, slots=True)
class PlannedAttempt:
    """One attempt before its verdict is known.

    Attributes:
        participant: who.
        problem_id: which problem.
        turn: its number within the trajectory, from 1.
        version: the program behind it.
        source: exactly what is submitted, without a newline at its end.
        at: when, to the second.
        pending: whether the contest site has not judged it yet when the page is saved.
    """

    participant: Participant
    problem_id: str
    turn: int
    version: Version
    source: str
    at: datetime
    pending: bool

    @property
    def language(self) -> str:
        """C, C++, Java or Python."""
        return self.version.program.language

    @property
    def source_sha256(self) -> str:
        """sha256 of the source in UTF-8."""
        return hashlib.sha256(self.source.encode()).hexdigest()


@cache
def planned_attempts() -> tuple[PlannedAttempt, ...]:
    """Every attempt of the contest, by participant, problem and turn."""
    shapes = _shapes()
    turning = _turning(shapes)
    versions = {pair: _versions(*pair, shape, turns=pair in turning) for pair, shape in shapes.items()}
    times = _times(shapes)
    pending = _pending(shapes)
    attempts = []
    for (name, problem_id), walked in versions.items():
        person = participants()[name]
        for turn, version in enumerate(walked, start=1):
            text = version.text or ""
            source = retype(text, version.program.language, person.style, hand=name)
            is_pending = (name, problem_id) == pending and turn == len(walked)
            at = times[name, problem_id, turn]
            attempts.append(PlannedAttempt(person, problem_id, turn, version, source, at, is_pending))
    return tuple(attempts)


def _rng(*purpose: str) -> random.Random:
    """A stream of its own for each purpose, so that one more draw in one place moves nothing elsewhere."""
    return random.Random("/".join([str(SEED), *purpose]))


def _shapes() -> dict[tuple[str, str], Shape]:
    """The shape of each trajectory, in the order of participants and problems."""
    rng = _rng("shapes")
    names = list(problems())
    hardness = {problem: -2.2 + 4.2 * number / (len(names) - 1) for number, problem in enumerate(names)}
    pairs = [(person.name, problem) for person in participants().values() for problem in names]
    score = {
        (name, problem): hardness[problem] - participants()[name].skill + rng.gauss(0, 0.7) for name, problem in pairs
    }
    by_score = sorted(pairs, key=lambda pair: -score[pair])
    unsolved, later, first = (
        by_score[NOT_TRIED : NOT_TRIED + len(UNSOLVED)],
        by_score[NOT_TRIED + len(UNSOLVED) : NOT_TRIED + len(UNSOLVED) + len(SOLVED_LATER)],
        by_score[NOT_TRIED + len(UNSOLVED) + len(SOLVED_LATER) :],
    )
    shapes = dict(zip(unsolved, (Shape(n, False) for n in rng.sample(UNSOLVED, len(UNSOLVED))), strict=True))
    shapes |= zip(later, (Shape(n - 1, True) for n in rng.sample(SOLVED_LATER, len(SOLVED_LATER))), strict=True)
    shapes |= {pair: Shape(0, True) for pair in first}
    for pair, extra in zip(rng.sample(sorted(later + first), len(AFTER_FIRST_AC)), AFTER_FIRST_AC, strict=True):
        shapes[pair] = Shape(shapes[pair].wrong, True, extra)
    return {pair: shapes[pair] for pair in pairs if pair in shapes}


def _turning(shapes: dict[tuple[str, str], Shape]) -> set[tuple[str, str]]:
    """The trajectories in which somebody turns to another language: the first hard one of those who know two."""
    found: dict[str, tuple[str, str]] = {}
    for (name, problem_id), shape in shapes.items():
        if shape.wrong >= 3 and len(participants()[name].languages) > 1:
            found.setdefault(name, (name, problem_id))
    return set(found.values())


def _versions(name: str, problem_id: str, shape: Shape, *, turns: bool) -> list[Version]:
    person = participants()[name]
    rng = _rng("versions", name, problem_id)
    languages = person.languages if turns else (rng.choice(person.languages),)
    walk = Walk(rng, problem_id, languages)
    walk.wrong(shape.wrong, solved=shape.solved)
    if shape.solved:
        walk.right()
    for _ in range(shape.after):
        walk.after()
    return walk.versions


def _times(shapes: dict[tuple[str, str], Shape]) -> dict[tuple[str, str, int], datetime]:
    """When each attempt is sent: problem after problem; a long fight is broken off and taken up again at the end."""
    times = {}
    for name in participants():
        rng = _rng("times", name)
        now_order: list[tuple[str, int]] = []
        postponed: list[tuple[str, int]] = []
        for (owner, problem_id), shape in shapes.items():
            if owner == name:
                turns = [(problem_id, turn) for turn in range(1, shape.length + 1)]
                keep = 4 if not shape.solved and shape.length > 5 else len(turns)
                now_order += turns[:keep]
                postponed += turns[keep:]
        gaps = [_gap_s(rng, problem_id, turn) for problem_id, turn in [*now_order, *postponed]]
        scale = min(1.0, 0.97 * LENGTH.total_seconds() / sum(gaps))
        passed = 0.0
        for (problem_id, turn), gap in zip([*now_order, *postponed], gaps, strict=True):
            passed += max(20.0, gap * scale)
            times[name, problem_id, turn] = START + timedelta(seconds=round(passed))
    return times


def _gap_s(rng: random.Random, problem_id: str, turn: int) -> float:
    """Seconds from the attempt before: reading and writing for a new problem, less for a revision."""
    if turn > 1:
        return 60 * rng.uniform(1.2, 9.0)
    return 60 * (rng.uniform(3.0, 8.0) + 1.5 * int(problem_id[1:]))


def _pending(shapes: dict[tuple[str, str], Shape]) -> tuple[str, str]:
    """The trajectory whose last attempt is still being judged: unsolved, of several turns, on a Japanese page."""
    lengths: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for (name, problem_id), shape in shapes.items():
        if not shape.solved and shape.length >= 2 and participants()[name].layout_for(problem_id).endswith("_ja"):
            lengths[shape.length].append((name, problem_id))
    return lengths[min(lengths)][-1]
