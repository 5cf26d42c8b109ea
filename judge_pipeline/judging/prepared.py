"""A judge's requests, rendered and hashed: what would be asked, before it is known what is stored."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from judge_pipeline.judging.checkpoint import StoredRequest
from judge_pipeline.judging.ladder import Task
from judge_pipeline.judging.request import Call, Message, PromptTemplate, canonical_json, request_hash
from judge_pipeline.settings import BaselineJudge, EmbeddedJudge, LitellmJudge, RecordedJudge

Settings = LitellmJudge | EmbeddedJudge | RecordedJudge | BaselineJudge
AskedSettings = LitellmJudge | EmbeddedJudge


@dataclass(frozen=True)
class Prepared:
    """The requests of a judge that is asked call by call.

    Attributes:
        judge: its name.
        template: its prompt.
        make_call: messages -> call.
        requests: attempt_id -> the request as a mapping, in the order of the table.
        hash_of: attempt_id -> request hash of its first repeat, whose answer is the judgment.
        further_of: attempt_id -> request hashes of its further repeats, in order; empty where it is asked once.
        first_of: request hash -> the first attempt that has it (equal requests are asked once). First repeats come
            before all second ones, and so on.
        repeat_of: request hash -> index of the repeat, from 0.
        prompt_chars: request hash -> characters of its rendered messages.
    """

    judge: str
    template: PromptTemplate
    make_call: Callable[[tuple[Message, ...]], Call]
    requests: Mapping[str, Mapping[str, Any]]
    hash_of: Mapping[str, str]
    further_of: Mapping[str, Sequence[str]]
    first_of: Mapping[str, str]
    repeat_of: Mapping[str, int]
    prompt_chars: Mapping[str, int]

    def hashes_of(self, attempt_ids: Collection[str] | None) -> list[str]:
        """The request hashes of these attempts (of all where None), each once, first repeats first."""
        if attempt_ids is None:
            return list(self.first_of)
        wanted = {h for a in attempt_ids for h in (self.hash_of[a], *self.further_of[a])}
        return [hash_ for hash_ in self.first_of if hash_ in wanted]

    def task(self, hash_: str) -> Task:
        """The task to get the answer of one hash."""
        attempt_id = self.first_of[hash_]
        return Task(attempt_id, hash_, lambda: self._build(attempt_id, hash_))

    def _build(self, attempt_id: str, hash_: str) -> tuple[Call, StoredRequest]:
        call = replace(self.make_call(self.template.render(self.requests[attempt_id])), repeat=self.repeat_of[hash_])
        stored = StoredRequest(hash_, self.template.name, self.template.sha256, canonical_json(call.components()))
        return call, stored


def prepare(judge: str, settings: AskedSettings, scope: pd.DataFrame, prompts_dir: Path) -> Prepared:
    """Render and hash every request in scope. No provider's code is loaded.

    Raises:
        JudgingError: the prompt template is missing or wrong.
    """
    template = PromptTemplate.load(prompts_dir, settings.prompt)
    if isinstance(settings, EmbeddedJudge):
        from judge_pipeline.judging.backends.embedded_backend import embedded_call as make
        from judge_pipeline.judging.backends.embedded_backend import shorten

        requests = [shorten(settings, row) for row in _mappings(scope)]
        make_call: Callable[[tuple[Message, ...]], Call] = lambda messages: make(settings, messages)  # noqa: E731
    else:
        from judge_pipeline.judging.backends.litellm_backend import litellm_call

        requests = _mappings(scope)
        make_call = lambda messages: litellm_call(settings, messages)  # noqa: E731
    repeats = settings.repeats if isinstance(settings, LitellmJudge) else 1
    hashes_of: dict[str, list[str]] = {}
    prompt_chars: dict[str, int] = {}
    for row in requests:
        messages = template.render(row)
        call = make_call(messages)
        hashes = [request_hash(replace(call, repeat=index)) for index in range(repeats)]
        hashes_of[row["attempt_id"]] = hashes
        prompt_chars |= dict.fromkeys(hashes, sum(len(message.content) for message in messages))
    first_of: dict[str, str] = {}
    repeat_of: dict[str, int] = {}
    for index in range(repeats):
        for attempt_id, hashes in hashes_of.items():
            first_of.setdefault(hashes[index], attempt_id)
            repeat_of[hashes[index]] = index
    return Prepared(
        judge,
        template,
        make_call,
        {row["attempt_id"]: row for row in requests},
        {attempt_id: hashes[0] for attempt_id, hashes in hashes_of.items()},
        {attempt_id: hashes[1:] for attempt_id, hashes in hashes_of.items()},
        first_of,
        repeat_of,
        prompt_chars,
    )


def _mappings(scope: pd.DataFrame) -> list[dict[str, Any]]:
    rows = scope.astype("object").where(scope.notna(), None).to_dict("records")
    return [{str(key): value for key, value in row.items()} for row in rows]
