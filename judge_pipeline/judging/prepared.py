"""A judge's requests, rendered and hashed: what would be asked, before it is known what is stored."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from pydantic import BaseModel

from judge_pipeline.judging.answer import Answer
from judge_pipeline.judging.checkpoint.rows import StoredRequest
from judge_pipeline.judging.checkpoint.stored_rows import first_places
from judge_pipeline.judging.failures import Failure, JudgingError
from judge_pipeline.judging.ladder import Task
from judge_pipeline.judging.listed_models import takes_images
from judge_pipeline.judging.money import chars_of
from judge_pipeline.judging.question import ATTEMPT, Question, Reader
from judge_pipeline.judging.render_memo import Row, Rows, render_all, rendered
from judge_pipeline.judging.request import (
    Call,
    Image,
    Message,
    PromptTemplate,
    asked_apart,
    canonical_json,
    request_hash,
    sha256,
)
from judge_pipeline.settings import BaselineJudge, EmbeddedJudge, LitellmJudge, RecordedJudge, RewardJudge

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from judge_pipeline.judging.checkpoint.store import Checkpoint

Settings = LitellmJudge | EmbeddedJudge | RewardJudge | RecordedJudge | BaselineJudge
AskedSettings = LitellmJudge | EmbeddedJudge | RewardJudge


@dataclass(frozen=True)
class Rendering:
    """How a row of ``judge_requests`` becomes a call.

    Attributes:
        template: the judge's prompt.
        adapt: what is done to the row before it is rendered.
        make_call: messages and the row -> call.
        reader: row -> how an answer to it is read.
        n_repeats: how often the call is to be made.
        images: the images that a row can show, by name; None where the question has none.
        shows_images: whether the judge is shown them.
    """

    template: PromptTemplate
    adapt: Callable[[Row], Row]
    make_call: Callable[[tuple[Message, ...], Row], Call]
    reader: Callable[[Row | None], Reader]
    n_repeats: int
    images: Callable[[Row], Mapping[str, Image]] | None = None
    shows_images: bool = False

    @classmethod
    def of(cls, settings: AskedSettings, prompts_dir: Path, question: Question = ATTEMPT) -> Rendering:
        """The judge's rendering. No provider's code is loaded.

        Raises:
            JudgingError: the prompt template is missing or wrong.
        """
        template = question.load_template(settings, prompts_dir)
        reader = partial(question.reader, settings)
        if isinstance(settings, EmbeddedJudge):
            return cls(
                template, lambda row: question.unpack(question.shorten(settings, row)),
                _embedded(settings, question), reader, 1, question.images,
            )  # fmt: skip
        if isinstance(settings, RewardJudge):
            from judge_pipeline.judging.backends.reward_backend import reward_call

            return cls(
                template, question.unpack, lambda asked, _row: reward_call(settings, asked), reader, 1, question.images
            )
        return cls(
            template, question.unpack, _written(settings, question), reader, settings.repeats,
            question.images, takes_images(settings),
        )  # fmt: skip

    def call(self, row: Row) -> Call:
        """The first repeat's call.

        Raises:
            JudgingError: the template cannot render the row.
        """
        images = self.images(row) if self.images is not None and self.shows_images else {}
        fields = self.adapt(row)
        if "images" in self.template.shown_fields:
            fields = {**fields, "images": list(images)}
        return self.make_call(_with_images(self.template.render(fields), tuple(images.values())), row)

    def hashes(self, row: Row) -> tuple[list[str], int]:
        """The request hashes of all repeats, and the characters that are sent (``money.chars_of``)."""
        call = self.call(row)
        hashes = [request_hash(replace(call, repeat=index)) for index in range(self.n_repeats)]
        return hashes, sum(map(chars_of, asked_apart(call.messages)))

    def identity(self, settings: AskedSettings, row: Row) -> str:
        """All that decides on the hashes of a row beside the row itself, as text.

        The settings alone would do, and so would a call without its messages; both stand in it, and the code, so that
        a hash is never taken for another's where one of them has a gap.
        """
        frame = {name: value for name, value in self.call(row).components().items() if name != "messages"}
        frame |= {"shows_images": self.shows_images}
        parts = {"template": self.template.sha256, "settings": settings.answer_settings(), "call": frame}
        return canonical_json(parts | {"code": _CODE_SHA256})


def _with_images(messages: tuple[Message, ...], images: tuple[Image, ...]) -> tuple[Message, ...]:
    """The messages with the images behind the last text of the user."""
    if not images:
        return messages
    last = max(place for place, message in enumerate(messages) if message.role == "user")
    return (*messages[:last], replace(messages[last], images=images), *messages[last + 1 :])


def _embedded(settings: EmbeddedJudge, question: Question) -> Callable[[tuple[Message, ...], Row], Call]:
    from judge_pipeline.judging.backends.embedded_backend import embedded_call

    def call(messages: tuple[Message, ...], row: Row) -> Call:
        return embedded_call(settings, messages, question.scoring, question.model(settings, row))

    return call


def _written(settings: LitellmJudge, question: Question) -> Callable[[tuple[Message, ...], Row], Call]:
    from judge_pipeline.judging.backends.litellm_backend import litellm_call

    has_schema = question.form(settings) == "schema"

    def call(messages: tuple[Message, ...], row: Row) -> Call:
        return litellm_call(settings, messages, question.answer_model(row) if has_schema else None)

    return call


def _code_sha256() -> str:
    folder = Path(__file__).resolve().parent
    sources = [(str(file.relative_to(folder)), file.read_text("utf-8")) for file in sorted(folder.rglob("*.py"))]
    return sha256(canonical_json([sources, sys.version, [version(name) for name in ("jinja2", "pandas", "pydantic")]]))


_CODE_SHA256 = _code_sha256()
"""Of this package's sources, and the versions of what renders besides. It is taken when they are loaded: a source that
changes later is not what this process runs."""


@dataclass(frozen=True)
class Prepared:
    """The requests of a judge that is asked call by call.

    Attributes:
        judge: its name.
        rendering: how its requests are rendered.
        rows: the requests, in the order of the table.
        attempt_ids: whose requests they are: attempts, or what else is asked about.
        hashes: for each repeat, the request hashes of the rows. The answer to the first repeat is the judgment.
        chars: the characters of each row's rendered messages (``money.chars_of``), of each question of the embedded
            judge with all that stands before it.
    """

    judge: str
    rendering: Rendering
    rows: Rows
    attempt_ids: Sequence[str]
    hashes: tuple[Sequence[str], ...]
    chars: Sequence[int]

    @cached_property
    def hash_of(self) -> Mapping[str, str]:
        """attempt_id -> request hash of its first repeat, in the order of the table."""
        return dict(zip(self.attempt_ids, self.hashes[0], strict=True))

    @cached_property
    def further_of(self) -> Mapping[str, Sequence[str]]:
        """attempt_id -> request hashes of its further repeats, in order; empty where it is asked once."""
        further = zip(*self.hashes[1:], strict=True) if len(self.hashes) > 1 else [()] * len(self.attempt_ids)
        return dict(zip(self.attempt_ids, further, strict=True))

    @cached_property
    def all_hashes(self) -> Sequence[str]:
        """The request hashes of all rows, first repeats before all second ones.

        A place in it is a slot: repeat * rows + row. Equal requests are asked once, in the first of their slots.
        """
        return list(chain.from_iterable(self.hashes))

    @cached_property
    def slots(self) -> Mapping[str, int]:
        """Request hash -> its first slot."""
        return dict(zip(reversed(self.all_hashes), reversed(range(self.n_slots)), strict=True))

    @property
    def n_slots(self) -> int:
        """How many slots there are, second ones of equal requests among them."""
        return len(self.hashes) * len(self.attempt_ids)

    @cached_property
    def first_slots(self) -> NDArray[np.int64]:
        """The first slot of the request in each slot, by repeat (first axis) and row; itself unless some are equal."""
        return first_places(self.all_hashes, self.all_hashes).reshape(len(self.hashes), len(self.attempt_ids))

    def chars_at(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Characters of the rendered messages of these slots."""
        return np.array(self.chars, dtype="int64")[slots % max(len(self.attempt_ids), 1)]

    def n_images_at(self, slots: NDArray[np.int64]) -> int:
        """Images in the requests of these slots."""
        if self.rendering.images is None or not self.rendering.shows_images:
            return 0
        return sum(len(self.rendering.images(self.rows[int(slot) % len(self.rows)])) for slot in slots)

    def n_without_their_images(self) -> int:
        """Rows that can show images, of a judge that is not shown any."""
        if self.rendering.images is None or self.rendering.shows_images:
            return 0
        return sum(bool(self.rendering.images(self.rows[place])) for place in range(len(self.rows)))

    def unanswered(self, answered: NDArray[np.int64], attempt_ids: Collection[str] | None = None) -> list[str]:
        """The request hashes of these attempts (of all where None) but for the answered slots, each once, in order."""
        is_open = self.first_slots.ravel() == np.arange(self.n_slots)
        if attempt_ids is not None:
            theirs = np.isin(np.array(self.attempt_ids, dtype="object"), list(attempt_ids))
            is_open[np.setdiff1d(np.arange(self.n_slots), self.first_slots[:, theirs])] = False
        is_open[answered] = False
        return [self.all_hashes[slot] for slot in np.flatnonzero(is_open).tolist()]

    def id_of(self, hash_: str) -> str:
        """The id of the first row whose request it is."""
        return self.attempt_ids[self.slots[hash_] % len(self.attempt_ids)]

    def task(self, hash_: str) -> Task:
        """The task to get the answer of one hash."""
        repeat, row = divmod(self.slots[hash_], len(self.attempt_ids))

        def read(text: str | None, finish_reason: str | None) -> Answer[BaseModel] | Failure:
            return self.rendering.reader(self.rows[row])(text, finish_reason)  # the row is made when it is needed

        return Task(self.attempt_ids[row], hash_, lambda: self._build(hash_, repeat, row), read)

    def _build(self, hash_: str, repeat: int, row: int) -> tuple[Call, StoredRequest]:
        call = replace(self.rendering.call(self.rows[row]), repeat=repeat)
        components = canonical_json(call.components())
        if sha256(components) != hash_:
            raise JudgingError(
                f"the request for {self.attempt_ids[row]} is not the one that was looked up ({hash_}): delete "
                "the rows of the checkpoint's table rendered, which is a memo, and run again"
            )
        return call, StoredRequest(hash_, self.rendering.template.name, self.rendering.template.sha256, components)


def prepare(
    judge: str, settings: AskedSettings, scope: pd.DataFrame, prompts_dir: Path, checkpoint: Checkpoint | None = None,
    question: Question = ATTEMPT,
) -> Prepared:  # fmt: skip
    """Render and hash every request in scope. No provider's code is loaded.

    Args:
        judge: the judge's name.
        settings: its settings.
        scope: rows of table ``judge_requests``, or of what else the question asks about.
        prompts_dir: where prompt templates lie.
        checkpoint: where hashes of what was rendered before are kept; without one, all is rendered.
        question: what is asked of each row.

    Raises:
        JudgingError: the prompt template is missing or wrong.
    """
    rendering, rows = Rendering.of(settings, prompts_dir, question), Rows(scope)
    ids = rows.columns[question.id_column]
    if checkpoint is None or not len(rows):
        made = render_all(rows, rendering.n_repeats, rendering.hashes)
    else:
        identity = rendering.identity(settings, rows[0])
        made = rendered(rows, ids, rendering.n_repeats, rendering.hashes, identity, checkpoint)
    return Prepared(judge, rendering, rows, ids, made.hashes, made.prompt_chars)
