"""Every answer that is kept, with the version of prompt and model that it came from: old versions stay comparable."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pandas as pd
import sqlalchemy as sa

from judge_pipeline.judging.checkpoint import Checkpoint
from judge_pipeline.judging.checkpoint_tables import CALLS, JUDGMENTS, REQUESTS

COLUMNS = ["judge", "attempt_id", "request_hash", "p_ac", "model", "prompt_sha256", "answered_at"]


def stored_versions(checkpoint: Checkpoint, judges: Iterable[str]) -> pd.DataFrame:
    """The answers of judges to first askings (no further repeats), one row an answer, whenever it was asked.

    Args:
        checkpoint: the store.
        judges: names of judges.

    Returns:
        Columns ``COLUMNS``: ``prompt_sha256`` is that of the prompt template, ``answered_at`` UTC as ISO 8601. An
        answer whose request was not kept has no ``prompt_sha256`` (None).

    Raises:
        JudgingError: the store cannot be read.
    """
    further = sa.select(CALLS.c.request_hash).where(CALLS.c.repeat_index > 0)
    query = (
        sa.select(
            JUDGMENTS.c.judge, JUDGMENTS.c.attempt_id, JUDGMENTS.c.request_hash, JUDGMENTS.c.answer,
            JUDGMENTS.c.model, REQUESTS.c.template_sha256, JUDGMENTS.c.answered_at,
        )
        .select_from(JUDGMENTS.outerjoin(REQUESTS, REQUESTS.c.request_hash == JUDGMENTS.c.request_hash))
        .where(JUDGMENTS.c.judge == sa.bindparam("judge"), JUDGMENTS.c.request_hash.not_in(further))
        .order_by(JUDGMENTS.c.attempt_id, JUDGMENTS.c.answered_at, JUDGMENTS.c.request_hash)
    )  # fmt: skip
    rows = []
    with checkpoint.reading() as connection:
        for judge in sorted(set(judges)):
            for row in connection.execute(query, {"judge": judge}):
                rows.append((*row[:3], json.loads(row[3]).get("p_ac"), *row[4:]))
    return pd.DataFrame(rows, columns=COLUMNS)
