"""Every answer that is kept, with the prompt, model and parameters that it came from: old versions stay comparable."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import pandas as pd
import sqlalchemy as sa

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.tables import CALLS, JUDGMENTS, REQUESTS
from judge_pipeline.judging.dialects import json_values
from judge_pipeline.judging.request import canonical_json

COLUMNS = ["judge", "attempt_id", "request_hash", "p_ac", "model", "prompt_sha256", "asked_with", "answered_at"]
_BESIDE_THE_TEXT = ("parameters", "base_url", "send_schema")


def stored_versions(checkpoint: Checkpoint, judges: Iterable[str]) -> pd.DataFrame:
    """The answers of judges to first askings (no further repeats), one row an answer, whenever it was asked.

    Args:
        checkpoint: the store.
        judges: names of judges.

    Returns:
        Columns ``COLUMNS``: ``prompt_sha256`` is that of the prompt template, ``asked_with`` as the function of that
        name says, ``answered_at`` UTC as ISO 8601. An answer whose request was not kept has neither of the first two
        (None).

    Raises:
        JudgingError: the store cannot be read.
    """

    def read(connection: sa.Connection) -> list[tuple[Any, ...]]:
        rows = []
        query = _first_askings(connection.dialect.name)
        for judge in sorted(set(judges)):
            for *start, answer, model, prompt, asked, at in connection.execute(query, {"judge": judge}):
                with_ = None if prompt is None else _asked_with(asked)
                rows.append((*start, json.loads(answer).get("p_ac"), model, prompt, with_, at))
        return rows

    return pd.DataFrame(checkpoint.read(read), columns=COLUMNS)


def _first_askings(dialect: str) -> sa.Select[Any]:
    """The judgments of a judge, but those of further repeats."""
    further = sa.select(CALLS.c.request_hash).where(CALLS.c.repeat_index > 0)
    return (
        sa.select(
            JUDGMENTS.c.judge, JUDGMENTS.c.attempt_id, JUDGMENTS.c.request_hash, JUDGMENTS.c.answer, JUDGMENTS.c.model,
            REQUESTS.c.template_sha256, json_values(dialect, REQUESTS.c.components, _BESIDE_THE_TEXT),
            JUDGMENTS.c.answered_at,
        )
        .select_from(JUDGMENTS.outerjoin(REQUESTS, REQUESTS.c.request_hash == JUDGMENTS.c.request_hash))
        .where(JUDGMENTS.c.judge == sa.bindparam("judge"), JUDGMENTS.c.request_hash.not_in(further))
        .order_by(JUDGMENTS.c.attempt_id, JUDGMENTS.c.answered_at, JUDGMENTS.c.request_hash)
    )  # fmt: skip


def asked_with(parameters: Mapping[str, Any] | None, base_url: str | None, send_schema: bool | None) -> str:
    """How a model is asked, beside the messages, as canonical JSON: what is null or empty is left out."""
    values = dict(zip(_BESIDE_THE_TEXT, (parameters, base_url, send_schema), strict=True))
    return canonical_json({name: value for name, value in values.items() if value not in (None, {})})


@cache
def _asked_with(values: str) -> str:
    return asked_with(*json.loads(values))
