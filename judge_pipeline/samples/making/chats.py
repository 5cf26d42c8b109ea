"""What the participants asked their assistants, and what they were told.

Conversations follow the trajectories: an opening before the first attempt, a question after an attempt that failed,
an answer that explains a mistake which the next version really mends (or that sees nothing, where it mends none).
"""

from __future__ import annotations

import random
import tomllib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from itertools import groupby
from typing import Any

from judge_pipeline.samples.making.artifacts import SHORT_LANGUAGES, first_failed
from judge_pipeline.samples.making.catalogue import MAKING, problems
from judge_pipeline.samples.making.people import Participant
from judge_pipeline.samples.making.plan import SEED, START, PlannedAttempt, planned_attempts
from judge_pipeline.samples.making.run_programs import recorded_outcomes


@dataclass(frozen=True, slots=True)
class Message:
    """One message: ``user`` or ``assistant``, its text, and when it was sent."""

    role: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation about one problem, or about none.

    Attributes:
        problem_id: the problem, or None.
        title: what a chat tool would call it.
        messages: questions and answers in turn.
        abandoned: a first prompt, and its answer, that was edited afterwards; empty where there is none.
    """

    problem_id: str | None
    title: str
    messages: tuple[Message, ...]
    abandoned: tuple[Message, ...] = ()


def conversations(person: Participant) -> list[Conversation]:
    """The person's conversations in the order in which they began; empty for who kept no log."""
    if person.log == "none":
        return []
    speaker = _Speaker(person)
    mine = [attempt for attempt in planned_attempts() if attempt.participant == person]
    held = [speaker.about(list(group)) for _, group in groupby(mine, key=lambda attempt: attempt.problem_id)]
    found = [conversation for conversation in held if conversation is not None]
    found.append(speaker.aside())
    found.sort(key=lambda conversation: conversation.messages[0].at)
    if person.log == "export":
        found[1] = speaker.edited(found[1])
    return found


@cache
def _talk() -> dict[str, Any]:
    return tomllib.loads((MAKING / "talk.toml").read_text(encoding="utf-8"))


class _Speaker:
    """A person and their assistant; no phrase comes again before all of its kind were used."""

    def __init__(self, person: Participant) -> None:
        self._person = person
        self._rng = random.Random(f"{SEED}/chats/{person.name}")
        self._unused: dict[str, list[str]] = {}

    def about(self, attempts: list[PlannedAttempt]) -> Conversation | None:
        """The conversation about one problem; None where the person did without."""
        first = attempts[0]
        if self._rng.random() > (0.6 if len(attempts) == 1 else 0.9):
            return None
        messages = self._opening(first)
        for attempt, following in zip(attempts, [*attempts[1:], None], strict=True):
            messages += self._after(attempt, following)
        title = f"{first.problem_id} {problems()[first.problem_id].title}"
        return Conversation(first.problem_id, title, tuple(messages))

    def aside(self) -> Conversation:
        """A short conversation about the language, not about a problem."""
        at = START + timedelta(seconds=self._rng.randint(60, 9000))
        values = {"language": self._person.languages[0]}
        messages = self._exchange("aside", "answer_aside", at, values)
        return Conversation(None, f"{self._person.languages[0]} question", tuple(messages))

    def edited(self, conversation: Conversation) -> Conversation:
        """The conversation as if its first prompt had been asked otherwise before, and edited."""
        first = conversation.messages[0]
        problem = conversation.problem_id or "P01"
        earlier = first.at - timedelta(seconds=75)
        values = self._values_of_problem(problem, self._person.languages[0])
        abandoned = self._exchange("ask_idea", "answer_unsure", earlier, values)
        return replace(conversation, abandoned=tuple(abandoned))

    def _opening(self, attempt: PlannedAttempt) -> list[Message]:
        at = attempt.at - timedelta(seconds=self._rng.randint(70, 200))
        values = self._values(attempt)
        # What the assistant writes is the program before the person typed it in their own way.
        suggested = values | {"code": self._fenced(attempt.version.text or "", attempt.language)}
        kind = self._rng.choices(("ask_code", "ask_idea", "ask_review"), (45, 35, 20))[0]
        if kind == "ask_code":
            return self._exchange(kind, "answer_code", at, values, suggested)
        answer = "answer_idea" if kind == "ask_idea" else "answer_review"
        return self._exchange(kind, answer, at, values)

    def _after(self, attempt: PlannedAttempt, following: PlannedAttempt | None) -> list[Message]:
        """What is said once the verdict is there: often nothing."""
        at = attempt.at + timedelta(seconds=self._rng.randint(12, 35))
        verdict = recorded_outcomes()[attempt.source_sha256].verdict
        if attempt.pending:
            return []
        if verdict == "AC":
            return self._after_success(attempt, at, goes_on=following is not None)
        if self._rng.random() > (0.85 if following else 0.6):
            return []
        values = self._values(attempt)
        later = following.version.faults if following else attempt.version.faults
        mended = [fault for fault in attempt.version.faults if fault not in later]
        if not mended:
            return self._exchange(f"report_{verdict}", "answer_unsure", at, values)
        explained = mended[0].en if self._person.tongue == "en" else mended[0].ja
        return self._exchange(f"report_{verdict}", "answer_fault", at, values, values | {"fault": explained})

    def _after_success(self, attempt: PlannedAttempt, at: datetime, *, goes_on: bool) -> list[Message]:
        values = self._values(attempt)
        chance = self._rng.random()
        if chance < 0.2:
            return self._exchange("thanks", "answer_thanks", at, values)
        return self._exchange("tidy", "answer_tidy", at, values) if goes_on or chance < 0.3 else []

    def _exchange(
        self,
        asked: str,
        answered: str,
        at: datetime,
        values: dict[str, str],
        answer_values: dict[str, str] | None = None,
    ) -> list[Message]:
        question = self._phrase(asked).format_map(values)
        answer = self._phrase(answered).format_map(answer_values or values)
        return [
            Message("user", question, at),
            Message("assistant", answer, at + timedelta(seconds=self._rng.randint(6, 25))),
        ]

    def _phrase(self, kind: str) -> str:
        if not self._unused.get(kind):
            phrases = list(_talk()[self._person.tongue][kind])
            self._rng.shuffle(phrases)
            self._unused[kind] = phrases
        return self._unused[kind].pop()

    def _values(self, attempt: PlannedAttempt) -> dict[str, str]:
        outcome = recorded_outcomes()[attempt.source_sha256]
        detail = outcome.detail
        stop = "." if self._person.tongue == "en" else "。"
        return self._values_of_problem(attempt.problem_id, attempt.language) | {
            "code": self._fenced(attempt.source, attempt.language),
            "detail": f"`{detail}`",
            "with_detail": f":\n\n`{detail}`" if detail else stop,
            "test": str(first_failed(outcome.tests)),
        }

    def _values_of_problem(self, problem_id: str, language: str) -> dict[str, str]:
        tongue, problem = self._person.tongue, problems()[problem_id]
        about = _talk()["problem"][problem_id]
        return {
            "problem": problem_id,
            "title": problem.title if tongue == "en" else problem.title_ja,
            "language": language,
            "summary": about[f"summary_{tongue}"],
            "approach": about[f"approach_{tongue}"],
        }

    def _fenced(self, code: str, language: str) -> str:
        return f"```{SHORT_LANGUAGES[language]}\n{code.rstrip()}\n```"
