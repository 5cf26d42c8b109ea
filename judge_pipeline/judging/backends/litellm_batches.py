"""A provider's batch interface in OpenAI's style, through litellm: files, batches, and nothing that litellm adds.

The key is read once from the environment, passed on, and neither kept nor logged. litellm retries nothing here: whether
a request that failed may be sent again is decided by who knows what it would cost.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from judge_pipeline.judging.backends.litellm_backend import NO_KEY
from judge_pipeline.judging.backends.litellm_client import failed_call, load_litellm
from judge_pipeline.judging.backends.secrets import Scrubber
from judge_pipeline.judging.failures import CallFailedError, Failure
from judge_pipeline.settings import LitellmJudge

ENDPOINT = "/v1/chat/completions"
"""What every request of a batch is sent to."""

METADATA_KEY = "judge_pipeline_batch"
"""Key of a batch's metadata that holds our name for it, by which it is found again."""

ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
"""Statuses after which a batch changes no more."""

_UPLOAD_SECONDS = 900.0
_PAGE = 100
_MOST_PAGES = 100
_ALWAYS = {"max_retries": 0, "no-log": True, "litellm_metadata": {"batch_ignore_default_logging": True}}
"""Without the last one litellm may download the output of a batch that has ended a second time, to price it."""


@dataclass(frozen=True, slots=True)
class RemoteBatch:
    """A batch as the provider describes it; its texts without keys.

    Attributes:
        batch_id: the provider's id.
        status: validating, in_progress, finalizing, completed, failed, expired, cancelling or cancelled.
        input_file_id: the file that it was made from.
        output_file_id: the file of what was answered; None while or where there is none.
        error_file_id: the file of what failed or expired.
        n_completed: requests answered so far; None where the provider does not say.
        n_failed: requests failed so far.
        error: why the batch as a whole failed, in the provider's words; None where it did not.
        error_codes: the provider's codes for that.
    """

    batch_id: str
    status: str
    input_file_id: str | None
    output_file_id: str | None
    error_file_id: str | None
    n_completed: int | None
    n_failed: int | None
    error: str | None
    error_codes: tuple[str, ...]

    @property
    def has_ended(self) -> bool:
        """Whether it changes no more."""
        return self.status in ENDED


class BatchApi:
    """The batch interface of a judge's provider. Every method raises CallFailedError where a call fails."""

    def __init__(self, base_url: str | None, api_key: str | None, timeout_seconds: float, scrubber: Scrubber) -> None:
        self._where: dict[str, Any] = {"custom_llm_provider": "openai"}
        if base_url is not None:
            self._where["api_base"] = base_url
        if api_key is not None:
            self._where["api_key"] = api_key
        self._timeout_seconds = timeout_seconds
        self._scrubber = scrubber

    @classmethod
    def of(cls, settings: LitellmJudge, environment: Mapping[str, str]) -> BatchApi:
        """The interface of a judge's provider, with the key that its settings name."""
        key = environment.get(settings.api_key_env) if settings.api_key_env else None
        if key is None and settings.base_url is not None:
            key = NO_KEY
        scrubber = Scrubber(environment, settings.api_key_env)
        return cls(settings.base_url, key, settings.limits.timeout_seconds, scrubber)

    async def open(self) -> None:
        """Load litellm, in a thread, so that the event loop can be cancelled meanwhile."""
        await asyncio.to_thread(load_litellm)

    async def upload(self, name: str, content: bytes) -> str:
        """Upload an input file; its id."""
        file = (name, content, "application/jsonl")
        uploaded = await self._call("create_file", file=file, purpose="batch", timeout=_UPLOAD_SECONDS)
        return self._needed(uploaded.id, "the uploaded file has no id")

    async def create(self, input_file_id: str, token: str, completion_window: str) -> RemoteBatch:
        """Start a batch. Where this fails without a word from the provider, the batch may be running: look for it."""
        created = await self._call(
            "create_batch",
            completion_window=completion_window,
            endpoint=ENDPOINT,
            input_file_id=input_file_id,
            metadata={METADATA_KEY: token},
        )
        return self._read(created)

    async def retrieve(self, batch_id: str) -> RemoteBatch:
        """The batch as it is now."""
        return self._read(await self._call("retrieve_batch", batch_id=batch_id))

    async def cancel(self, batch_id: str) -> RemoteBatch:
        """Ask the provider to stop the batch; what was answered by then can be collected."""
        return self._read(await self._call("cancel_batch", batch_id=batch_id))

    async def find(self, token: str, input_file_id: str | None) -> RemoteBatch | None:
        """The batch that carries our token, or was made from our file; None where the provider lists none."""
        after: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._call("list_batches", limit=_PAGE, after=after)
            batches = list(page.data or [])
            for batch in batches:
                carries = (batch.metadata or {}).get(METADATA_KEY) == token
                if carries or (input_file_id is not None and batch.input_file_id == input_file_id):
                    return self._read(batch)
            if not batches or not getattr(page, "has_more", False):
                return None
            after = batches[-1].id
        return None

    async def content(self, file_id: str) -> bytes:
        """What a file holds."""
        got = await self._call("file_content", file_id=file_id, timeout=_UPLOAD_SECONDS)
        return bytes(got.content)

    async def delete_file(self, file_id: str) -> None:
        """Delete a file; one that is gone already is no failure."""
        try:
            await self._call("file_delete", file_id=file_id)
        except CallFailedError as error:
            if error.failure.failure_class != "configuration":  # 404
                raise

    async def files_named(self, name: str) -> list[str]:
        """Ids of the input files of that name."""
        listed = await self._call("file_list", purpose="batch")
        return [file.id for file in listed.data or [] if file.filename == name]

    async def _call(self, function: str, **arguments: Any) -> Any:
        litellm = load_litellm()
        given = {"timeout": self._timeout_seconds, **arguments, **self._where, **_ALWAYS}
        try:
            return await _in_a_thread(lambda: getattr(litellm, function)(**given))
        except Exception as error:  # noqa: BLE001  whatever litellm raises is this call's failure
            failed = failed_call(error)
            found = failed.failure
            clean = Failure(found.failure_class, self._scrubber.error(found.text))
            raise CallFailedError(clean, failed.retry_after_seconds) from None  # the original may quote the key

    def _read(self, batch: Any) -> RemoteBatch:
        counts = batch.request_counts
        errors = list(batch.errors.data or []) if batch.errors else []
        words = [f"{e.message or 'no message'} ({e.code})" if e.code else str(e.message) for e in errors]
        return RemoteBatch(
            batch_id=self._needed(batch.id, "the batch has no id"),
            status=self._needed(batch.status, "the batch has no status"),
            input_file_id=self._text(batch.input_file_id),
            output_file_id=self._text(batch.output_file_id),
            error_file_id=self._text(batch.error_file_id),
            n_completed=getattr(counts, "completed", None),
            n_failed=getattr(counts, "failed", None),
            error=self._scrubber.error("; ".join(words)[:1500]) or None,
            error_codes=tuple(self._scrubber.error(str(e.code)) for e in errors if e.code),
        )

    def _needed(self, value: Any, otherwise: str) -> str:
        text = self._text(value)
        if text is None:
            raise CallFailedError(Failure("infrastructure", f"the provider's reply is no batch or file: {otherwise}"))
        return text

    def _text(self, value: Any) -> str | None:
        return self._scrubber.answer(value) if isinstance(value, str) and value else None


async def _in_a_thread(call: Callable[[], Any]) -> Any:
    """What the call returns or raises; a cancelled wait leaves it to end by itself, and no process waits for it.

    litellm's asynchronous functions make a client for each call and never close it; the loop that it belongs to is gone
    when it is collected as garbage.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: Exception | None) -> None:
        if done.cancelled():
            return
        if error is None:
            done.set_result(result)
        else:
            done.set_exception(error)

    def work() -> None:
        result, error = None, None
        try:
            result = call()
        except Exception as caught:  # noqa: BLE001  raised where it is waited for
            error = caught
        with suppress(RuntimeError):  # the loop has closed: nobody waits any more
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=work, name="batch-interface", daemon=True).start()
    return await done
