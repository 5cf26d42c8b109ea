"""Brings open batches forward: finds what a dead process left, polls, and collects what has ended.

A batch's files are read by the same ladder as a reply; everything that they bring is committed in one transaction, so
that collecting it a second time changes nothing. Only then are the files deleted at the provider.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from judge_pipeline.judging.answer import Answer
from judge_pipeline.judging.asking import Failed
from judge_pipeline.judging.backends.base import Reply
from judge_pipeline.judging.backends.litellm_backend import with_answer_limit
from judge_pipeline.judging.backends.litellm_batches import BatchApi, RemoteBatch
from judge_pipeline.judging.backends.provider_errors import classify
from judge_pipeline.judging.backends.secrets import Scrubber
from judge_pipeline.judging.batches.lines import LineResult, read_lines
from judge_pipeline.judging.batches.patience import Patience
from judge_pipeline.judging.batches.store import BatchRequest, BatchRow, BatchStore, TakenError
from judge_pipeline.judging.batches.submitting import as_seen, as_submitted
from judge_pipeline.judging.checkpoint.store import CallRow, StoredJudgment
from judge_pipeline.judging.failures import HEALING, STOPPING, CallFailedError, Failure
from judge_pipeline.judging.ladder import may_be_re_asked
from judge_pipeline.judging.question import Reader
from judge_pipeline.judging.tries import Asked, Circumstances, read_reply, rows_of, without_keys
from judge_pipeline.settings import LitellmJudge, Price

SECONDS_UNTIL_LISTED = 180.0
"""How long after the provider was asked to start a batch its list is waited for to show it."""

_SPENT_CODES = frozenset({"token_limit_exceeded", "billing_hard_limit_reached", "insufficient_quota"})


@dataclass
class Collected:
    """What came of bringing batches forward.

    Attributes:
        failed: request hash -> why its batch brought no answer in the end.
        notes: what a person should know.
        n_requests: requests whose batch was collected.
    """

    failed: dict[str, Failed] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    n_requests: int = 0


class Collecting:
    """Brings one judge's open batches forward."""

    def __init__(
        self,
        judge: str,
        settings: LitellmJudge,
        store: BatchStore,
        api: BatchApi,
        price: Price | None,
        read: Reader,
        scrubber: Scrubber,
        patience: Patience,
    ) -> None:
        self._judge = judge
        self._settings = settings
        self._store = store
        self._api = api
        self._price = price
        self._read_answer = read
        self._scrubber = scrubber
        self._patience = patience

    async def bring_forward(self, contest: str) -> Collected:
        """Settle what was left half submitted for the contest, and collect every batch of the judge that has ended.

        What fails is noted and leaves the batch as it was, to be tried again.
        """
        done = Collected()
        for row in self._store.with_files_left(self._judge):
            if row.base_url == self._settings.base_url:
                await self._delete_files(row)
        for row in self._store.batches(judge=self._judge, only_open=True):
            if row.base_url != self._settings.base_url:
                done.notes.append(f"{named(row)} was submitted to another base_url; set it back to collect the batch")
                continue
            if row.state != "submitted" and row.contest != contest:
                continue  # a run of that contest may be submitting it just now
            try:
                await self._one(row, done)
            except CallFailedError as error:
                failure = error.failure
                self._store.note(row.token, error=failure.text)
                done.notes.append(f"{named(row)}: {failure.failure_class}: {failure.text}")
            except TakenError:
                done.notes.append(f"{named(row)}: another process has taken it on")
        return done

    async def look(self, row: BatchRow) -> BatchRow:
        """The row of an open batch as the provider describes it now, which is written down; collects nothing.

        Raises:
            CallFailedError: the provider does not say.
        """
        if row.state != "submitted" or row.batch_id is None:
            return row
        remote = await self._retrieve(row.batch_id)
        self._store.note(row.token, error=remote.error, **as_seen(remote))
        return replace(row, error=remote.error, **as_seen(remote))

    async def cancel(self, row: BatchRow) -> str:
        """Ask the provider to stop a batch; what became of it, in words.

        A batch that the provider does not know (any more) is given up: its requests may be asked again.

        Raises:
            CallFailedError: the provider did not take it.
            TakenError: another process has taken the batch on.
        """
        if row.state != "submitted" or row.batch_id is None:
            settled = await self._settle(row)
            if settled is None:
                return "it was never started; its requests are free again"
            if settled.state != "submitted" or settled.batch_id is None:
                return "it is not known yet whether it was started; try again in some minutes"
            row = settled
        batch_id = str(row.batch_id)
        try:
            remote = await self._patience.call(lambda: self._api.cancel(batch_id))
        except CallFailedError as error:
            gone = error.failure.failure_class == "configuration"
            try:
                remote = await self._retrieve(batch_id)
            except CallFailedError as other:
                if not gone or other.failure.failure_class != "configuration":
                    raise
                lost = RemoteBatch(batch_id, "lost", None, None, None, None, None, other.failure.text, ())
                self._store_all(row, lost, [], Collected())
                return "the provider does not know it; it is given up, and its requests may be asked again"
            if not remote.has_ended:
                raise
        self._store.note(row.token, error=remote.error, **as_seen(remote))
        return f"{remote.status}; what was answered is kept when it is collected"

    async def _one(self, row: BatchRow, done: Collected) -> None:
        settled = await self._settle(row)
        if settled is None or settled.state != "submitted" or settled.batch_id is None:
            return
        remote = await self._retrieve(settled.batch_id)
        self._store.note(row.token, error=remote.error, **as_seen(remote))
        if not remote.has_ended:
            return
        self._store.note(row.token, n_collections=row.n_collections + 1)
        contents = [await self._content(file) for file in (remote.output_file_id, remote.error_file_id) if file]
        self._store_all(settled, remote, contents, done)
        await self._delete_files(replace(settled, **_files(remote)))

    async def _settle(self, row: BatchRow) -> BatchRow | None:
        """What a process left half submitted: dropped (None) where it was never started, else the batch's row.

        Whoever calls holds the contest's lock, so that on this machine nobody is submitting it just now.
        """
        if row.state == "submitted":
            return row
        if row.state == "prepared":
            self._store.drop(row.token, "prepared", "the process that prepared it has ended")
            await self._delete_files(row)
            return None
        self._store.note(row.token, n_collections=row.n_collections + 1)
        unlisted: CallFailedError | None = None
        try:
            found = await self._patience.call(lambda: self._api.find(row.token, row.input_file_id))
        except CallFailedError as error:
            found, unlisted = None, error
        if found is not None:
            values = as_submitted(found)
            self._store.step(row.token, "creating", **values)
            return replace(row, **values)
        listed_within = max(SECONDS_UNTIL_LISTED, 2 * self._settings.limits.timeout_seconds)
        if unlisted is not None:
            if unlisted.failure.failure_class != "configuration":
                raise unlisted
            listed_within = row.completion_hours * 3600.0  # a provider without a list: then it is surely over
        if row.seconds_since_creating() < listed_within:
            return row
        self._store.drop(row.token, "creating", "the provider lists no such batch: it was never started")
        await self._delete_files(row)
        return None

    async def _retrieve(self, batch_id: str) -> RemoteBatch:
        return await self._patience.call(lambda: self._api.retrieve(batch_id))

    async def _content(self, file_id: str) -> bytes:
        return await self._patience.call(lambda: self._api.content(file_id))

    def _store_all(self, row: BatchRow, remote: RemoteBatch, contents: Sequence[bytes], done: Collected) -> None:
        """Read the batch's files and commit what they bring."""
        requests = {request.request_hash: request for request in self._store.requests_of(row.token)}
        price = self._price.less(row.discount) if self._price is not None else None
        read = read_lines(contents, requests.keys(), price)
        late = self._store.checkpoint.answered_among(self._judge, requests)
        absent = _absent(remote)
        reader = _Reader(row, self._read_answer, self._scrubber, self._settings.limits.max_tries)
        rows: list[tuple[CallRow, StoredJudgment | None]] = []
        outcomes: dict[str, str] = {}
        failed: dict[str, Failed] = {}
        for hash_, request in requests.items():
            call, judgment, outcome, failure = reader.read(request, read.results.get(hash_, absent))
            rows.append((call, None if hash_ in late else judgment))  # an answer that is stored is never replaced
            outcomes[hash_] = "answered" if hash_ in late else outcome
            if outcomes[hash_] == "failed" and failure is not None:
                failed[hash_] = Failed(failure, request.try_number)
        counts = {
            **Counter(outcomes.values()), "missing": len(requests.keys() - read.results.keys()),
            "unknown": read.n_unknown, "doubled": read.n_doubled, "unreadable": read.n_unreadable, "late": len(late),
        }  # fmt: skip
        self._store.collect(row.token, rows, outcomes, counts, remote.error)
        done.failed |= failed
        done.n_requests += len(requests)
        strange = {name: counts[name] for name in ("missing", "unknown", "doubled", "unreadable") if counts[name]}
        if strange or remote.status != "completed":
            shown = ", ".join(f"{n} {name}" for name, n in strange.items())
            done.notes.append("; ".join(filter(None, (f"{named(row)}: {remote.status}", remote.error, shown))))

    async def _delete_files(self, row: BatchRow) -> None:
        """Delete a batch's files at the provider; where that fails, the next run tries again."""
        with suppress(CallFailedError):
            files = {row.input_file_id, row.output_file_id, row.error_file_id} - {None}
            if row.input_file_id is None:  # it was being uploaded when its process ended
                files |= set(await self._api.files_named(row.file_name))
            for file in files:
                await self._api.delete_file(str(file))
            self._store.note(row.token, files_deleted=True)


class _Reader:
    """Reads what a batch's files say of its requests, as a reply to each would be read."""

    def __init__(self, row: BatchRow, read: Reader, scrubber: Scrubber, max_tries: int) -> None:
        self._row = row
        self._read_answer = read
        self._scrubber = scrubber
        self._max_tries = max_tries
        self._sent: Mapping[str, Any] = json.loads(row.sent)

    def read(
        self, request: BatchRequest, result: LineResult
    ) -> tuple[CallRow, StoredJudgment | None, str, Failure | None]:
        """The call's row, its judgment, the request's outcome, and why it brought no judgment."""
        parameters = with_answer_limit(self._sent.get("parameters", {}), request.answer_limit)
        sent = {**self._sent, "parameters": parameters, "batch": self._row.batch_id}
        reply = without_keys(replace(result.reply or Reply(None, None), sent=sent), self._scrubber)
        if result.failure is None:
            outcome: Answer[BaseModel] | Failure = read_reply(reply, self._read_answer, self._scrubber)
        else:
            outcome = Failure(result.failure.failure_class, self._scrubber.error(result.failure.text))
        asked = Asked(request.request_hash, request.attempt_id, request.repeat_index, request.re_ask)
        began = self._row.submitted_at or self._row.prepared_at
        by = Circumstances(request.judge, self._row.token, request.try_number, began, None)
        call, judgment = rows_of(asked, by, reply, outcome, self._scrubber)
        if not isinstance(outcome, Failure):
            return call, judgment, "answered", None
        return call, None, self._next(request, reply, outcome), outcome

    def _next(self, request: BatchRequest, reply: Reply, failure: Failure) -> str:
        if request.try_number >= self._max_tries or failure.failure_class in STOPPING:
            return "failed"
        if may_be_re_asked(reply, failure, was_re_asked=request.re_ask is not None):
            return "re-ask"
        return "again" if failure.failure_class in HEALING else "failed"


def named(row: BatchRow) -> str:
    """A batch in words, as notes and commands call it."""
    return f"batch {row.batch_id or row.token}"


def _files(remote: RemoteBatch) -> dict[str, Any]:
    return {"output_file_id": remote.output_file_id, "error_file_id": remote.error_file_id}


def _absent(remote: RemoteBatch) -> LineResult:
    """What it means that the files of a batch hold no line for a request."""
    if remote.status == "failed":
        words = f"the provider refused the batch as a whole: {remote.error or 'it does not say why'}"
        spent = bool(_SPENT_CODES.intersection(remote.error_codes))
        failure = Failure("quota", words) if spent else classify(400, words).failure
        return LineResult(Reply(None, None, cost_usd=0.0), failure)
    if remote.status == "lost":
        return LineResult(None, Failure("cancelled", f"the provider does not know the batch: {remote.error}"))
    words = f"the files of the batch, which is {remote.status}, hold no line for the request"
    return LineResult(None, Failure("cancelled" if remote.status == "cancelled" else "infrastructure", words))
