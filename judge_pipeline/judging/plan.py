"""The dry run: what would be asked, and roughly what it would take, before a cent is spent. Loads no provider code."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judge_pipeline.judging.batches.store import BatchStore
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.stored_rows import Judgments, read_calls, read_judgments
from judge_pipeline.judging.listed_models import listed_price
from judge_pipeline.judging.money import CHARS_PER_TOKEN, TOKENS_OUT_GUESS, TOKENS_PER_IMAGE
from judge_pipeline.judging.pilot import pilot
from judge_pipeline.judging.prepared import AskedSettings, Prepared, Settings, prepare
from judge_pipeline.judging.verification import in_scope
from judge_pipeline.settings import BaselineJudge, EmbeddedJudge, LitellmJudge, Price, RecordedJudge, RewardJudge

if TYPE_CHECKING:
    from numpy.typing import NDArray

EMBEDDED_CHARS_PER_TOKEN = 2.7
"""Of the embedded model, whose tokens are shorter: measured 2.55 on attempts and 2.8 on pairs as it is shown them, with
their delimiters of random digits."""

EMBEDDED_TOKENS_AROUND = 14
"""What its chat template puts around the two messages of a question."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run of one judge would ask.

    Attributes:
        judge: the judge's name.
        n_in_scope: attempts in its scope.
        n_stored: of these, answered already, validly or, where that is kept, not (for recorded and baseline judges:
            all, since they cost nothing).
        n_to_ask: distinct requests that would be asked.
        tokens_in: estimated prompt tokens.
        tokens_out: estimated answer tokens.
        cost_usd: estimated US dollars; None where the model has no known price.
        basis: what the estimate rests on, in words.
        n_waiting: requests that wait in a batch at the provider; they are not asked again.
    """

    judge: str
    n_in_scope: int
    n_stored: int
    n_to_ask: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    basis: str
    n_waiting: int = 0


def plan(
    judge_name: str,
    settings: Settings,
    requests: pd.DataFrame,
    checkpoint: Checkpoint,
    prompts_dir: Path,
    *,
    limit: int | None = None,
    seed: int = 0,
) -> Plan:
    """What :func:`judge_pipeline.judging.engine.judge_requests` would ask, given the same.

    Raises:
        JudgingError: the prompt template is missing or wrong, or the checkpoint cannot be used.
    """
    scope = in_scope(requests, settings.scope)
    if isinstance(settings, (RecordedJudge, BaselineJudge)):
        return Plan(judge_name, len(scope), len(scope), 0, 0, 0, 0.0, "no model is asked")
    prepared = prepare(judge_name, settings, scope, prompts_dir, checkpoint)
    stored = read_judgments(checkpoint, judge_name, prepared.all_hashes)
    to_ask = prepared.unanswered(stored.slots, None if limit is None else pilot(scope, limit, seed))
    waiting = BatchStore(checkpoint).waiting(judge_name, to_ask)
    return plan_prepared(judge_name, settings, prepared, stored, to_ask, checkpoint, waiting)


def plan_prepared(
    judge_name: str,
    settings: AskedSettings,
    prepared: Prepared,
    stored: Judgments,
    to_ask: Sequence[str],
    checkpoint: Checkpoint,
    waiting: Collection[str] = (),
    settled: Collection[str] = (),
) -> Plan:
    """The same, of requests that are rendered already, and where it is known which are answered.

    ``stored`` are the valid answers; ``settled`` the hashes whose answers stayed invalid, and are kept as such.
    """
    answered = [*stored.slots, *(prepared.slots[hash_] for hash_ in settled)]
    to_ask = [hash_ for hash_ in to_ask if hash_ not in waiting]
    slots = np.array([prepared.slots[hash_] for hash_ in to_ask], dtype="int64")
    n_questions = prepared.rendering.template.n_questions if isinstance(settings, EmbeddedJudge) else 0
    chars_per_token = EMBEDDED_CHARS_PER_TOKEN if isinstance(settings, EmbeddedJudge) else CHARS_PER_TOKEN
    tokens_in = int(np.round(prepared.chars_at(slots) / chars_per_token).sum())
    if isinstance(settings, EmbeddedJudge):
        tokens_in += EMBEDDED_TOKENS_AROUND * max(n_questions, 1) * len(to_ask)
    each, whence = 0.0, "nothing to ask"
    if to_ask and isinstance(settings, RewardJudge):
        whence = "no answer tokens, as a reward model writes none"
    elif to_ask and n_questions:
        each, whence = float(n_questions), f"{n_questions} questions a request, each answered in one token"
    elif to_ask:
        each, whence = _tokens_out_each(judge_name, prepared, stored, checkpoint)
    tokens_out = round(each * len(to_ask))
    return Plan(
        judge_name,
        len(prepared.attempt_ids),
        int(np.isin(prepared.first_slots[0], answered).sum()),
        len(to_ask),
        tokens_in,
        tokens_out,
        _cost(settings, tokens_in, tokens_out) if to_ask else 0.0,
        f"{chars_per_token:g} characters a prompt token, {_images_in_words(prepared, slots)}one try each, {whence}"
        f"{_discount_in_words(settings)}",
        len(waiting),
    )


def _images_in_words(prepared: Prepared, slots: NDArray[np.int64]) -> str:
    n = prepared.n_images_at(slots)
    return f"{n} images at {TOKENS_PER_IMAGE} tokens (a guess: providers count by size), " if n else ""


def _discount_in_words(settings: AskedSettings) -> str:
    batch = settings.batch if isinstance(settings, LitellmJudge) else None
    return "" if batch is None else f", {batch.discount:.0%} off for a batch"


def _tokens_out_each(judge: str, prepared: Prepared, stored: Judgments, checkpoint: Checkpoint) -> tuple[float, str]:
    calls = read_calls(checkpoint, judge, prepared.all_hashes)
    known = ~np.isnan(calls.tokens_out) & np.isin(calls.slots, stored.slots)
    if not known.any():
        return TOKENS_OUT_GUESS, f"{TOKENS_OUT_GUESS} tokens an answer (a guess; thinking can take many times more)"
    n = len(np.unique(calls.slots[known]))
    each = float(calls.tokens_out[known].sum()) / n
    return each, f"{each:.0f} tokens an answer, as in {n} stored ones"


def _cost(settings: AskedSettings, tokens_in: int, tokens_out: int) -> float | None:
    if isinstance(settings, EmbeddedJudge):
        return 0.0
    price = price_of(settings)
    if price is not None and isinstance(settings, LitellmJudge) and settings.batch is not None:
        price = price.less(settings.batch.discount)
    return None if price is None else price.cost_usd(tokens_in, tokens_out)


def price_of(settings: LitellmJudge | RewardJudge) -> Price | None:
    """The judge's own price, else the listed one of its model; None where it has neither."""
    if isinstance(settings, RewardJudge):
        return settings.price  # a server of one's own: no list knows it
    return settings.price or listed_price(settings.model)
