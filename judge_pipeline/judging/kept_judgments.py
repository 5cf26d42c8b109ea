"""What the checkpoint keeps of judgments: the answer, every try, and the request as it was sent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.tables import CALLS, JUDGMENTS, REQUESTS

_CHUNK = 1000

_OF_A_TRY = tuple(column.name for column in CALLS.columns if column.name not in ("judge", "request_hash"))


@dataclass(frozen=True, slots=True)
class KeptJudgment:
    """One request to one judge, as far as the checkpoint knows it.

    Attributes:
        judge: under whose name it is kept.
        request_hash: the request.
        asked_for: the attempt, or what of a pair, it was first asked for; another with the same request shares it.
        answer: the valid answer; None where there is none.
        repair: how the answer was repaired; None where it was not.
        model: the model that answered, as the provider named it.
        answered_at: UTC, ISO 8601.
        tries: every call in order: time, model, tokens, money, raw text, error.
        template: name of the prompt template; None where the request is not kept.
        template_sha256: of the template as it was then.
        components: what was sent: messages, model, parameters, schema; None where it is not kept.
    """

    judge: str
    request_hash: str
    asked_for: str | None
    answer: Mapping[str, Any] | None
    repair: str | None
    model: str | None
    answered_at: str | None
    tries: tuple[Mapping[str, Any], ...]
    template: str | None
    template_sha256: str | None
    components: Mapping[str, Any] | None

    @property
    def is_kept(self) -> bool:
        """Whether the checkpoint knows anything of it."""
        return self.answer is not None or bool(self.tries) or self.components is not None


def kept_judgments(checkpoint: Checkpoint, wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], KeptJudgment]:
    """What is kept of each judge and request hash that is asked for, also of those of which nothing is.

    Args:
        checkpoint: the store.
        wanted: pairs of judge and request hash.

    Raises:
        JudgingError: the store cannot be read.
    """
    keys = sorted(set(wanted))
    hashes = sorted({request_hash for _, request_hash in keys})
    tables = (JUDGMENTS, REQUESTS, CALLS)
    judgments, requested, calls = checkpoint.read(lambda c: [list(_rows(c, table, hashes)) for table in tables])
    answers = {(row["judge"], row["request_hash"]): row for row in judgments}
    requests = {row["request_hash"]: row for row in requested}
    tries: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in calls:
        of_try = {name: row[name] for name in _OF_A_TRY}
        tries.setdefault((row["judge"], row["request_hash"]), []).append(of_try)
    return {key: _kept(*key, answers.get(key), requests.get(key[1]), tries.get(key, [])) for key in keys}


def requests_about(checkpoint: Checkpoint, start: str) -> list[tuple[str, str, str]]:
    """Judge, request hash and id of what was asked under ids that begin so, in the order of ids and judges.

    Args:
        checkpoint: the store.
        start: what the ids begin with, followed by ``/``; or the id itself.

    Raises:
        JudgingError: the store cannot be read.
    """
    query = sa.select(CALLS.c.judge, CALLS.c.request_hash, CALLS.c.attempt_id).distinct()

    def read(connection: sa.Connection) -> list[tuple[str, str, str]]:
        below = CALLS.c.attempt_id.startswith(f"{start}/", autoescape=True)
        if connection.dialect.name == "sqlite":
            # There LIKE knows no case and no index. "0" follows "/": what begins so lies between the two.
            below = sa.and_(CALLS.c.attempt_id > f"{start}/", CALLS.c.attempt_id < f"{start}0")
        wanted = query.where(sa.or_(CALLS.c.attempt_id == start, below))
        return [(row[0], row[1], row[2]) for row in connection.execute(wanted)]

    return sorted(checkpoint.read(read), key=lambda row: (row[2], row[0], row[1]))


def _rows(connection: sa.Connection, table: sa.Table, hashes: list[str]) -> Iterator[Mapping[str, Any]]:
    for start in range(0, len(hashes), _CHUNK):
        query = sa.select(table).where(table.c.request_hash.in_(hashes[start : start + _CHUNK]))
        query = query.order_by(CALLS.c.call_id) if table is CALLS else query
        for row in connection.execute(query).mappings():
            yield {str(name): value for name, value in row.items()}


def _kept(
    judge: str,
    request_hash: str,
    answer: Mapping[str, Any] | None,
    request: Mapping[str, Any] | None,
    tries: list[Mapping[str, Any]],
) -> KeptJudgment:
    first = answer["attempt_id"] if answer else tries[0]["attempt_id"] if tries else None
    return KeptJudgment(
        judge=judge,
        request_hash=request_hash,
        asked_for=first,
        answer=json.loads(answer["answer"]) if answer else None,
        repair=answer["repair"] if answer else None,
        model=answer["model"] if answer else None,
        answered_at=answer["answered_at"] if answer else None,
        tries=tuple(tries),
        template=request["template"] if request else None,
        template_sha256=request["template_sha256"] if request else None,
        components=json.loads(request["components"]) if request else None,
    )
