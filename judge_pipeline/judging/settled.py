"""Answers that stay invalid: where they are the judge's own, they are kept as such and not asked for again.

Only valid answers are stored as judgments. That a judge went up the whole ladder for a request and gave none is in the
rows of its calls: the last of them says how it ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from judge_pipeline.judging.asking import Failed
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.tables import CALLS
from judge_pipeline.judging.dialects import among
from judge_pipeline.judging.failures import Failure, FailureClass
from judge_pipeline.judging.prepared import AskedSettings

OWN_FAILURES: frozenset[FailureClass] = frozenset({"invalid", "refusal", "truncated", "empty", "too_long"})
"""Failures of the judge itself, in contrast to those of its provider, the network or the run's settings."""

_HASHES_AT_ONCE = 1000


def settled_failures(
    checkpoint: Checkpoint, judge: str, settings: AskedSettings, hashes: Sequence[str]
) -> dict[str, Failed]:
    """Request hash -> how the judge's last asking ended, for those that it gave no valid answer, and was asked enough.

    It was asked enough where asking now would not go on: the last try was the re-ask, the last of ``max_tries``, or
    failed in a way that no further try heals. A ladder that a kill cut short is not among them.

    Args:
        checkpoint: the store.
        judge: the judge's name.
        settings: its settings: how many tries there are.
        hashes: of the requests.

    Raises:
        JudgingError: the checkpoint cannot be read.
    """
    found: dict[str, Failed] = {}
    for hash_, number, re_ask, error_class, error_text in _calls(checkpoint, judge, hashes):
        if _is_settled(error_class, number, re_ask, settings.limits.max_tries):
            found[hash_] = Failed(Failure(error_class, error_text or ""), number)
        else:
            found.pop(hash_, None)
    return found


def last_failures(checkpoint: Checkpoint, judge: str, hashes: Sequence[str]) -> dict[str, Failed]:
    """Request hash -> how the judge's last call for it failed, for those where it did, in whatever way.

    Raises:
        JudgingError: the checkpoint cannot be read.
    """
    found: dict[str, Failed] = {}
    for hash_, number, _, error_class, error_text in _calls(checkpoint, judge, hashes):
        if error_class is not None:
            found[hash_] = Failed(Failure(error_class, error_text or ""), number)
        else:
            found.pop(hash_, None)
    return found


def _calls(checkpoint: Checkpoint, judge: str, hashes: Sequence[str]) -> list[Any]:
    """Hash, try number, re-ask, error class and error text of the judge's calls, those for one request in order."""
    columns = (CALLS.c.request_hash, CALLS.c.try_number, CALLS.c.re_ask, CALLS.c.error_class, CALLS.c.error_text)
    chunks = [hashes[start : start + _HASHES_AT_ONCE] for start in range(0, len(hashes), _HASHES_AT_ONCE)]

    def read(connection: sa.Connection) -> list[Any]:
        found: list[Any] = []
        for chunk in chunks:
            wanted = among(connection.dialect.name, CALLS.c.request_hash, chunk)
            query = sa.select(*columns).where(CALLS.c.judge == judge, wanted).order_by(CALLS.c.call_id)
            found += connection.execute(query).all()
        return found

    return checkpoint.read(read)


def _is_settled(error_class: str | None, number: int, re_ask: str | None, max_tries: int) -> bool:
    if error_class not in OWN_FAILURES:
        return False
    if error_class == "too_long" or number >= max_tries:
        return True
    return re_ask is not None and error_class in ("invalid", "refusal")
