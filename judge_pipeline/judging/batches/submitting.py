"""Submits requests as batches, so that a kill at any moment neither loses a batch nor starts one twice.

First the requests are written down under a token of ours. Then their file is uploaded (which costs nothing), and that
the provider is about to be asked to start a batch is written down, too. Then it is asked, with our token in the batch's
metadata. Where nothing came back, or this process died, the provider's list says whether it was started.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from judge_pipeline.judging.asking import Failed
from judge_pipeline.judging.backends.litellm_batches import ENDPOINT, BatchApi, RemoteBatch
from judge_pipeline.judging.batches.lines import input_line
from judge_pipeline.judging.batches.patience import Patience
from judge_pipeline.judging.batches.store import BatchRequest, BatchRow, BatchStore, TakenError
from judge_pipeline.judging.checkpoint.store import StoredRequest, utc_now
from judge_pipeline.judging.failures import CallFailedError, Failure
from judge_pipeline.judging.ladder import Attempt, Task
from judge_pipeline.judging.money import Budget
from judge_pipeline.judging.request import Call, Message, canonical_json
from judge_pipeline.settings import Batch, LitellmJudge


class Bodies(Protocol):
    """What says the body of a request: either transport."""

    def body(
        self, call: Call, further: tuple[Message, ...], max_output_tokens: int | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The body that a try would send, and what ``Reply.sent`` would say of it."""


@dataclass
class _File:
    """Requests that go into one batch together."""

    lines: list[bytes] = field(default_factory=list)
    requests: list[BatchRequest] = field(default_factory=list)
    components: list[StoredRequest] = field(default_factory=list)
    asks: list[tuple[int, int | None]] = field(default_factory=list)
    sent: str = "{}"
    n_bytes: int = 0

    def keep(self, wanted: Sequence[bool]) -> None:
        """Leave out all requests but the wanted ones."""
        for name in ("lines", "requests", "components", "asks"):
            kept = [value for value, keep in zip(getattr(self, name), wanted, strict=True) if keep]
            setattr(self, name, kept)


@dataclass
class Submitted:
    """What came of submitting.

    Attributes:
        n_requests: requests that are in batches now.
        failed: request hash -> why it was not submitted.
    """

    n_requests: int = 0
    failed: dict[str, Failed] = field(default_factory=dict)


class Submitting:
    """Submits one judge's requests for one contest."""

    def __init__(
        self,
        judge: str,
        contest: str,
        settings: LitellmJudge,
        batch: Batch,
        store: BatchStore,
        api: BatchApi,
        bodies: Bodies,
        budget: Budget | None,
        patience: Patience,
    ) -> None:
        self._judge = judge
        self._contest = contest
        self._settings = settings
        self._batch = batch
        self._store = store
        self._api = api
        self._bodies = bodies
        self._budget = budget
        self._patience = patience

    async def submit(self, tasks: Sequence[Task]) -> Submitted:
        """Submit the tasks, as many batches as the limits of a file ask for.

        What keeps one batch from being submitted (a refused key, a ceiling, a provider that is down) keeps the rest,
        too.
        """
        done = Submitted()
        stopped: Failure | None = None
        for file in self._files(tasks, done):
            if stopped is None:
                stopped = await self._submit(file, done)
            else:
                _fail(done, file.requests, stopped)
        return done

    def _files(self, tasks: Sequence[Task], done: Submitted) -> Iterator[_File]:
        file = _File()
        for task in tasks:
            attempt = Attempt.begin(task, self._settings.repair_max_output_tokens)
            try:
                body, _ = self._bodies.body(attempt.call, attempt.further, attempt.answer_limit)
            except CallFailedError as error:  # the model's provider is not known
                done.failed[task.request_hash] = Failed(error.failure, 0)
                continue
            line = input_line(task.request_hash, ENDPOINT, body)
            full = len(file.lines) >= self._batch.max_requests
            if file.lines and (full or file.n_bytes + len(line) > self._batch.max_megabytes * 1_000_000):
                yield file
                file = _File()
            if not file.lines:
                file.sent = canonical_json(self._bodies.body(attempt.call, (), None)[1])
            file.lines.append(line)
            file.n_bytes += len(line)
            file.requests.append(self._row(attempt))
            file.components.append(attempt.request)
            file.asks.append((attempt.prompt_chars(), attempt.longest_answer()))
        if file.lines:
            yield file

    def _row(self, attempt: Attempt) -> BatchRequest:
        return BatchRequest(
            token="",
            request_hash=attempt.task.request_hash,
            judge=self._judge,
            attempt_id=attempt.task.attempt_id,
            repeat_index=attempt.call.repeat,
            try_number=len(attempt.task.earlier) + 1,
            answer_limit=attempt.answer_limit,
            re_ask=attempt.re_asked_for,
        )

    async def _submit(self, file: _File, done: Submitted) -> Failure | None:
        """One batch; why no further one can be submitted, or None."""
        stopped, usd = self._set_aside(file, done)
        row = self._prepare(file, usd)
        if row is None:
            self._give_back(usd)
            return stopped
        try:
            file_id = await self._patience.call(lambda: self._api.upload(row.file_name, b"".join(file.lines)))
            self._store.step(row.token, "prepared", state="creating", input_file_id=file_id, creating_at=utc_now())
        except CallFailedError as error:
            self._drop(row, "prepared", error.failure)
            return self._not_submitted(file, done, usd, error.failure)
        except TakenError:
            taken = Failure("cancelled", "another machine took the batch for one that a dead process had left")
            return self._not_submitted(file, done, usd, taken)
        try:
            created = await self._patience.call(
                lambda: self._api.create(file_id, row.token, self._batch.completion_window), frozenset({"rate_limit"})
            )
        except CallFailedError as error:
            if error.failure.failure_class == "infrastructure":  # it may be running all the same
                done.n_requests += len(file.requests)
                self._store.note(row.token, error=error.failure.text)
                return await self._look_for(row, file_id, error.failure)
            self._drop(row, "creating", error.failure)
            return self._not_submitted(file, done, usd, error.failure)
        with suppress(TakenError):  # another machine has found it in the provider's list already
            self._store.step(row.token, "creating", **as_submitted(created))
        done.n_requests += len(file.requests)
        return stopped

    def _drop(self, row: BatchRow, state: str, failure: Failure) -> None:
        with suppress(TakenError):  # another machine took it for one that a dead process had left
            self._store.drop(row.token, state, failure.text)

    def _set_aside(self, file: _File, done: Submitted) -> tuple[Failure | None, float | None]:
        """Money for the batch; what does not fit below a ceiling is left out of it, and fails."""
        if self._budget is None:
            return None, None
        prices, over = self._budget.set_aside_whole(file.asks)
        if over is not None:
            _fail(done, file.requests[len(prices) :], over)
            file.keep([place < len(prices) for place in range(len(file.requests))])
        return over, sum(prices)

    def _give_back(self, usd: float | None) -> None:
        if self._budget is not None and usd is not None:
            self._budget.give_back_whole(usd)

    def _prepare(self, file: _File, usd: float | None) -> BatchRow | None:
        """Write the batch down; None where none of its requests is left to be asked."""
        while file.requests:
            row = self._new_row(file, usd)
            requests = [replace(request, token=row.token) for request in file.requests]
            try:
                self._store.prepare(row, requests, file.components)
                return row
            except TakenError as error:  # another machine has submitted some of them meanwhile
                file.keep([request.request_hash not in error.request_hashes for request in file.requests])
        return None

    def _new_row(self, file: _File, usd: float | None) -> BatchRow:
        nothing: dict[str, Any] = dict.fromkeys(
            (
                "batch_id", "input_file_id", "output_file_id", "error_file_id", "status", "n_completed", "n_failed",
                "creating_at", "submitted_at", "checked_at", "collected_at", "counts", "error",
            )
        )  # fmt: skip
        return BatchRow(
            token=uuid.uuid4().hex,
            judge=self._judge,
            contest=self._contest,
            state="prepared",
            base_url=self._settings.base_url,
            n_requests=len(file.requests),
            discount=self._batch.discount,
            set_aside_usd=usd,
            completion_hours=self._batch.completion_hours(),
            sent=file.sent,
            prepared_at=utc_now(),
            n_collections=0,
            files_deleted=False,
            **nothing,
        )

    def _not_submitted(self, file: _File, done: Submitted, usd: float | None, failure: Failure) -> Failure:
        self._give_back(usd)
        _fail(done, file.requests, failure)
        return failure

    async def _look_for(self, row: BatchRow, file_id: str, failure: Failure) -> Failure | None:
        """Find out whether a batch was started after all.

        Where that is not known yet, its requests wait, and no more is sent.
        """
        try:
            found = await self._api.find(row.token, file_id)
        except CallFailedError:
            return failure
        if found is None:
            return failure
        with suppress(TakenError):  # another machine has found it, too
            self._store.step(row.token, "creating", **as_submitted(found))
        return None


def as_submitted(remote: RemoteBatch) -> dict[str, Any]:
    """The columns that say that a batch was started."""
    return {"state": "submitted", "submitted_at": utc_now(), "error": None, **as_seen(remote)}


def as_seen(remote: RemoteBatch) -> dict[str, Any]:
    """The columns that say what the provider says of a batch."""
    return {
        "batch_id": remote.batch_id,
        "status": remote.status,
        "output_file_id": remote.output_file_id,
        "error_file_id": remote.error_file_id,
        "n_completed": remote.n_completed,
        "n_failed": remote.n_failed,
        "checked_at": utc_now(),
    }


def _fail(done: Submitted, requests: Sequence[BatchRequest], failure: Failure) -> None:
    for request in requests:
        done.failed[request.request_hash] = Failed(failure, request.try_number - 1)
