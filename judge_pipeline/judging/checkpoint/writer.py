"""Writes to the checkpoint from an event loop: one thread, and what has queued up goes into one transaction."""

from __future__ import annotations

import asyncio
import queue
import threading

from judge_pipeline.judging.checkpoint.rescue import Rescue
from judge_pipeline.judging.checkpoint.store import Checkpoint, Record
from judge_pipeline.judging.failures import JudgingError

_LARGEST_BATCH = 256

_Item = tuple[Record, "asyncio.Future[None]"]


class Writer:
    """Commits records in the order in which they come; many waiting ones share a commit.

    With ``save_every`` above 1 a commit waits for so many records, or for the end.
    """

    def __init__(self, checkpoint: Checkpoint, save_every: int = 1) -> None:
        self._checkpoint = checkpoint
        self._save_every = save_every
        self._rescue: Rescue | None = None
        self._queue: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._work, name="checkpoint-writer", daemon=True)
        self._thread.start()

    def submit(self, record: Record) -> asyncio.Future[None]:
        """Queue the record; the future is done when it is committed. It is committed even if nobody waits."""
        done: asyncio.Future[None] = self._loop.create_future()
        self._queue.put((record, done))
        return done

    async def write(self, record: Record) -> None:
        """Return when the record is committed. A cancelled wait does not cancel the write."""
        await asyncio.shield(self.submit(record))

    def error(self) -> JudgingError | None:
        """Why records were not committed, and where they are now; all of them once it is closed."""
        return None if self._rescue is None else self._rescue.error()

    def close(self) -> None:
        """Commit what is queued, and end. Can be called again."""
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            batch, ended = self._batch(item)
            error = self._commit([record for record, _ in batch])
            self._loop.call_soon_threadsafe(_settle, [done for _, done in batch], error)
            if ended:
                return

    def _commit(self, records: list[Record]) -> JudgingError | None:
        """Commit the records, or rescue them and say why; after the first failure nothing is committed any more."""
        if self._rescue is None:
            try:
                self._checkpoint.record(records)
                return None
            except Exception as caught:  # noqa: BLE001  handed to those who wait for the commit
                self._rescue = Rescue(self._checkpoint, caught)
        self._rescue.take(records)
        return self._rescue.error()

    def _batch(self, first: _Item) -> tuple[list[_Item], bool]:
        batch = [first]
        while len(batch) < self._save_every:
            item = self._queue.get()
            if item is None:
                return batch, True
            batch.append(item)
        while len(batch) < _LARGEST_BATCH:
            try:
                item = self._queue.get_nowait()
            except queue.Empty:
                return batch, False
            if item is None:
                return batch, True
            batch.append(item)
        return batch, False


def _settle(futures: list[asyncio.Future[None]], error: Exception | None) -> None:
    for future in futures:
        if future.done():
            continue
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)
            future.exception()  # seen: asyncio need not complain where the one who waited was cancelled
