"""The ladder of one attempt: where it stands, what its next try sends, and whether it may be asked again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from judge_pipeline.judging.backends.base import Reply
from judge_pipeline.judging.checkpoint.store import StoredRequest
from judge_pipeline.judging.failures import Failure
from judge_pipeline.judging.finish_reasons import is_withheld
from judge_pipeline.judging.money import chars_of
from judge_pipeline.judging.question import Reader
from judge_pipeline.judging.request import Call, Message
from judge_pipeline.judging.tries import Asked

_RE_ASK_CHARS = 8000


@dataclass(frozen=True, slots=True)
class EarlierTry:
    """A try that was made before, in another asking.

    Attributes:
        failure: why it brought no answer.
        text: the content that it brought, if any.
        is_re_asked: whether the try after it carries its errors.
    """

    failure: Failure
    text: str | None
    is_re_asked: bool


@dataclass(frozen=True, slots=True)
class Task:
    """One answer to get.

    Attributes:
        attempt_id: the attempt for which it is asked.
        request_hash: identity of the call.
        build: renders the call, and what the checkpoint keeps of it; called when its turn comes, to save memory.
        read: how its answer is read.
        earlier: tries that count as this task's own: the ladder goes on where they ended.
    """

    attempt_id: str
    request_hash: str
    build: Callable[[], tuple[Call, StoredRequest]]
    read: Reader
    earlier: tuple[EarlierTry, ...] = ()


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of one try.

    Attributes:
        failure: why it brought no answer; None where it did.
        retry_after: seconds that the provider asked to wait, where it did.
        was_asked: whether a call was made at all.
    """

    failure: Failure | None
    retry_after: float | None = None
    was_asked: bool = True


@dataclass(slots=True)
class Attempt:
    """Where one task stands on the ladder.

    Attributes:
        task: the answer to get.
        call: what is asked.
        request: what the checkpoint keeps of it.
        further: messages of the next try after the call's own.
        answer_limit: tokens of the next answer; None leaves the call's own limit.
        re_asked_for: the validation errors that a re-ask carries; None where it was not asked again.
        last_reply: what the last try brought, if anything.
    """

    task: Task
    call: Call
    request: StoredRequest
    further: tuple[Message, ...] = ()
    answer_limit: int | None = None
    re_asked_for: str | None = None
    last_reply: Reply | None = None

    @classmethod
    def begin(cls, task: Task, repair_max_output_tokens: int | None) -> Attempt:
        """Where the task stands before its next try."""
        call, request = task.build()
        attempt = cls(task, call, request)
        for tried in task.earlier:
            attempt.last_reply = Reply(tried.text, None)
            if tried.is_re_asked:
                attempt.re_ask(tried.failure, repair_max_output_tokens)
            elif tried.failure.failure_class == "truncated":
                attempt.answer_limit = repair_max_output_tokens
        return attempt

    def may_be_re_asked(self, failure: Failure) -> bool:
        """Once, where the model itself wrote what is wrong (and its provider did not mark it as a refusal)."""
        return may_be_re_asked(self.last_reply, failure, was_re_asked=self.re_asked_for is not None)

    def asked(self) -> Asked:
        """What the next try asks."""
        return Asked(self.task.request_hash, self.task.attempt_id, self.call.repeat, self.re_asked_for)

    def prompt_chars(self) -> int:
        """Characters of the next try's messages, images counted as in :func:`money.chars_of`."""
        return chars_of((*self.call.messages, *self.further))

    def longest_answer(self) -> int | None:
        """The most tokens that the next answer may have; None where nothing limits it."""
        limits = (self.answer_limit, *(self.call.parameters.get(n) for n in ("max_tokens", "max_completion_tokens")))
        return next((limit for limit in limits if isinstance(limit, int)), None)

    def re_ask(self, failure: Failure, answer_limit: int | None) -> None:
        """Make the next try carry the wrong answer and what is wrong with it."""
        given = self.last_reply.text if self.last_reply and self.last_reply.text else ""
        self.re_asked_for = failure.text
        self.answer_limit = answer_limit
        self.further = (
            Message("assistant", given[:_RE_ASK_CHARS]),
            Message(
                "user",
                f"That answer cannot be accepted: {failure.text}. Answer again, in exactly the form asked for, with "
                "nothing else around it.",
            ),
        )


def may_be_re_asked(reply: Reply | None, failure: Failure, *, was_re_asked: bool) -> bool:
    """Once, where the model itself wrote what is wrong (and its provider did not mark it as a refusal)."""
    if was_re_asked or reply is None or not reply.text:
        return False
    return failure.failure_class == "invalid" or (
        failure.failure_class == "refusal" and not reply.refusal and not is_withheld(reply.finish_reason)
    )
