"""How a program changes from one attempt to the next.

A version is a program with changes applied. A trajectory's versions are a walk: start with an approach that is wrong
or a program with some mistakes; then mend one, exchange one for another, try something that does not matter, slip, or
start over with another program. Whether a version is really wrong is measured later; here it only carries a mistake.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from judge_pipeline.samples.making.catalogue import Change, Fault, Program, faults, neutral_changes, programs

_START_WRONG = 0.65
_REWRITE_TO_SOLVE = 0.2
_BROKEN_AFTERWARDS = 0.35
_HURRIED = 0.3
_TRIES = 100


@dataclass(frozen=True, slots=True)
class Version:
    """A program as it stands at one attempt.

    Attributes:
        program: the program it is made from.
        mistakes: edits in it, each named after its fault.
        neutrals: changes in it that do not matter.
    """

    program: Program
    mistakes: tuple[Change, ...] = ()
    neutrals: tuple[Change, ...] = ()

    @property
    def text(self) -> str | None:
        """The source, or None where its changes do not go together."""
        order = {change.name: number for number, change in enumerate(self.program.edits)}
        mistakes = sorted(self.mistakes, key=lambda change: order[change.name])
        return self.program.source([*mistakes, *self.neutrals])

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The mistakes in it, and that of its approach first."""
        known = faults(self.program.problem_id)
        own = (self.program.wrong,) if self.program.wrong else ()
        return own + tuple(known[change.name] for change in self.mistakes)

    @property
    def slipped(self) -> bool:
        """Whether it holds a mistake that shows at once."""
        return any(fault.slip for fault in self.faults)


class Walk:
    """The versions of one trajectory, drawn one after the other; no text comes twice."""

    def __init__(self, rng: random.Random, problem_id: str, languages: tuple[str, ...]) -> None:
        """Draw with ``rng``, for this problem, in the first language; the others are for those who are stuck."""
        self._rng = rng
        self._problem_id = problem_id
        self._languages = languages
        self.versions: list[Version] = []

    def wrong(self, count: int, *, solved: bool) -> None:
        """Add ``count`` wrong versions; ``solved`` says whether the last ones lead to a right program.

        Raises:
            ValueError: the programs do not offer that many different wrong versions.
        """
        for _ in range(_TRIES):
            self.versions = []
            for program, length in self._parts(count, solved=solved):
                self._stay(program, length)
            if len(self.versions) == count:
                return
        raise ValueError(f"{self._problem_id}: no walk over {count} wrong versions in {' or '.join(self._languages)}")

    def right(self) -> None:
        """Add the version that solves the problem: the last one mended, or now and then another program."""
        options = self._programs(wrong=False)
        last = self.versions[-1] if self.versions else None
        same = last is not None and last.program in options
        mends = last is not None and same and self._rng.random() >= _REWRITE_TO_SOLVE
        if mends and last is not None and self._add(replace(last, mistakes=())):
            return
        others = [program for program in options if last is None or program != last.program] or options
        self._add(Version(self._rng.choice(others)))

    def after(self) -> None:
        """Add a version sent after the problem was solved: tidied, another way, or broken by one change too many."""
        solved = next(version for version in reversed(self.versions) if not version.faults)
        others = [Version(program) for program in self._programs(wrong=False) if program != solved.program]
        sound, broken = self._tidied(solved) + others, self._mistaken(solved)
        self._rng.shuffle(sound)
        self._rng.shuffle(broken)
        options = broken + sound if self._rng.random() < _BROKEN_AFTERWARDS else sound + broken
        if not any(self._add(option) for option in options):
            raise ValueError(f"{self._problem_id}: no further version after the accepted one")

    def _programs(self, *, wrong: bool) -> list[Program]:
        language = self._languages[-1] if self._turned else self._languages[0]
        known = programs(self._problem_id).values()
        return [program for program in known if program.language == language and (program.wrong is not None) == wrong]

    @property
    def _turned(self) -> bool:
        """Whether the participant has gone over to the second language."""
        return bool(self.versions) and self.versions[-1].program.language != self._languages[0]

    def _parts(self, count: int, *, solved: bool) -> list[tuple[Program, int]]:
        """Which programs are worked on, and for how many attempts each."""
        approaches = self._programs(wrong=True)
        rights = self._programs(wrong=False)
        self._rng.shuffle(rights)
        order: list[Program] = []
        if approaches and count > 0 and self._rng.random() < _START_WRONG:
            order.append(self._rng.choice(approaches))
        order.extend(rights[: 1 if count <= 4 else 2])
        if len(self._languages) > 1 and count >= 3:
            second = programs(self._problem_id).values()
            order = order[:1] + [program for program in second if self._suits_turn(program)][:2]
        if count == 1:
            order = order[:1]
        if not solved and count <= 2:
            order = order[:1]
        return _shared_out(order, count, self._rng)

    def _suits_turn(self, program: Program) -> bool:
        return program.language == self._languages[-1] and program.wrong is None

    def _stay(self, program: Program, length: int) -> None:
        version = self._begin(program, length)
        self._add(version)
        for step in range(1, length):
            options = self._steps(self.versions[-1], left=length - step)
            if not any(self._add(option) for option in options):
                return

    def _begin(self, program: Program, length: int) -> Version:
        if program.wrong:
            return Version(program)
        wanted = 1 + (length >= 2) + (length >= 4)
        slips = [edit for edit in program.edits if faults(self._problem_id)[edit.name].slip]
        mistakes = [edit for edit in program.edits if edit not in slips]
        self._rng.shuffle(mistakes)
        # A first attempt sent in a hurry holds a slip, and where nothing else follows, little else.
        if slips and self._rng.random() < _HURRIED:
            mistakes = [*slips, *mistakes]
        version = Version(program)
        for mistake in mistakes:
            grown = replace(version, mistakes=(*version.mistakes, mistake))
            if len(version.mistakes) < wanted and grown.text is not None:
                version = grown
        return version

    def _steps(self, version: Version, left: int) -> list[Version]:
        """What may come next, the likelier first: still wrong, one change away."""
        mended = self._mended(version)
        if version.slipped:
            return [less for less in mended if not less.slipped and less.faults] + self._exchanged(mended)
        exchanged = self._exchanged(mended) if len(version.mistakes) == 1 else []
        more = self._mistaken(version)
        slips = [option for option in more if option.slipped and left > 1]
        groups = [mended, self._tidied(version), exchanged, slips, [option for option in more if not option.slipped]]
        for group in groups:
            self._rng.shuffle(group)
        wrong = [[option for option in group if option.faults] for group in groups]
        weights = (5.0 if len(version.mistakes) >= max(2, left) else 2.0, 1.5, 2.0, 2.0, 0.3)
        order = sorted(range(len(groups)), key=lambda n: -(self._rng.random() ** (1 / weights[n])))
        return [option for n in order for option in wrong[n]]

    def _exchanged(self, mended: list[Version]) -> list[Version]:
        """One mistake mended and another made."""
        return [more for less in mended if not less.slipped for more in self._mistaken(less) if not more.slipped]

    def _mended(self, version: Version) -> list[Version]:
        return [
            replace(version, mistakes=tuple(other for other in version.mistakes if other is not mistake))
            for mistake in version.mistakes
        ]

    def _mistaken(self, version: Version) -> list[Version]:
        present = {mistake.name for mistake in version.mistakes}
        return [
            replace(version, mistakes=(*version.mistakes, edit))
            for edit in version.program.edits
            if edit.name not in present
        ]

    def _tidied(self, version: Version) -> list[Version]:
        known = neutral_changes(version.program.language)
        fresh = [change for change in known if change not in version.neutrals]
        return [replace(version, neutrals=(*version.neutrals, change)) for change in fresh]

    def _add(self, version: Version) -> bool:
        text = version.text
        if text is None or any(text == other.text for other in self.versions):
            return False
        self.versions.append(version)
        return True


def _shared_out(order: list[Program], count: int, rng: random.Random) -> list[tuple[Program, int]]:
    """Share ``count`` attempts among the programs, each at least one where there are enough."""
    order = order[:count]
    shares = [1] * len(order)
    for _ in range(count - len(order)):
        # A wrong approach is not followed for long.
        open_to = [n for n, program in enumerate(order) if program.wrong is None or shares[n] < 3]
        shares[rng.choice(open_to or range(len(order)))] += 1
    return list(zip(order, shares, strict=True))
