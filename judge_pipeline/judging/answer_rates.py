"""How a judge's tries went, and what became of the attempts that have no answer: counts by failure class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import sqlalchemy as sa

from judge_pipeline.judging.checkpoint.tables import CALLS, JUDGMENTS

if TYPE_CHECKING:
    from judge_pipeline.judging.checkpoint.store import Checkpoint


@dataclass(frozen=True, slots=True)
class AnswerRates:
    """The calls for a judge's requests, over all runs.

    Attributes:
        n_tries: calls, each a try, also those of runs that were cancelled.
        failed_tries: failure class -> tries that failed with it.
        failed_attempts: failure class of the last try -> attempts that were asked for and have no answer.
    """

    n_tries: int = 0
    failed_tries: Mapping[str, int] = field(default_factory=dict)
    failed_attempts: Mapping[str, int] = field(default_factory=dict)


def answer_rates(checkpoint: Checkpoint, judge: str, hash_of: Mapping[str, str]) -> AnswerRates:
    """The rates of one judge.

    Args:
        checkpoint: the store.
        judge: the judge's name.
        hash_of: attempt_id -> hash of the request whose answer is the judgment. Equal requests are asked once; their
            attempts fail together.

    Raises:
        JudgingError: the checkpoint cannot be read.
    """
    wanted = set(hash_of.values())
    calls = sa.select(CALLS.c.request_hash, CALLS.c.error_class).where(CALLS.c.judge == judge).order_by(CALLS.c.call_id)
    answers = sa.select(JUDGMENTS.c.request_hash).where(JUDGMENTS.c.judge == judge)

    def read(connection: sa.Connection) -> tuple[list[tuple[str, str | None]], set[str]]:
        tries = [(hash_, failed) for hash_, failed in connection.execute(calls) if hash_ in wanted]
        return tries, set(connection.execute(answers).scalars())

    tries, answered = checkpoint.read(read)
    last = dict(tries)
    unanswered = (last[hash_] for hash_ in hash_of.values() if hash_ in last and hash_ not in answered)
    return AnswerRates(
        len(tries),
        Counter(failed for _, failed in tries if failed is not None),
        Counter(failed for failed in unanswered if failed is not None),
    )
