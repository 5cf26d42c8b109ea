"""A judge's requests, rendered and hashed: what would be asked, before it is known what is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from judge_pipeline.judging.asking import Task
from judge_pipeline.judging.checkpoint import StoredRequest
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
        hash_of: attempt_id -> request hash.
        first_of: request hash -> the first attempt that has it (equal requests are asked once).
        prompt_chars: request hash -> characters of its rendered messages.
    """

    judge: str
    template: PromptTemplate
    make_call: Callable[[tuple[Message, ...]], Call]
    requests: Mapping[str, Mapping[str, Any]]
    hash_of: Mapping[str, str]
    first_of: Mapping[str, str]
    prompt_chars: Mapping[str, int]

    def task(self, hash_: str) -> Task:
        """The task to get the answer of one hash."""
        attempt_id = self.first_of[hash_]
        return Task(attempt_id, hash_, lambda: self._build(attempt_id, hash_))

    def _build(self, attempt_id: str, hash_: str) -> tuple[Call, StoredRequest]:
        call = self.make_call(self.template.render(self.requests[attempt_id]))
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
    hash_of: dict[str, str] = {}
    first_of: dict[str, str] = {}
    prompt_chars: dict[str, int] = {}
    for row in requests:
        messages = template.render(row)
        hash_ = request_hash(make_call(messages))
        hash_of[row["attempt_id"]] = hash_
        first_of.setdefault(hash_, row["attempt_id"])
        prompt_chars[hash_] = sum(len(message.content) for message in messages)
    by_attempt = {row["attempt_id"]: row for row in requests}
    return Prepared(judge, template, make_call, by_attempt, hash_of, first_of, prompt_chars)


def _mappings(scope: pd.DataFrame) -> list[dict[str, Any]]:
    rows = scope.astype("object").where(scope.notna(), None).to_dict("records")
    return [{str(key): value for key, value in row.items()} for row in rows]
