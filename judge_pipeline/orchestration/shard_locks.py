"""Who may ask a judge about a contest at a time: one run alone, or the shards of one cut, each by one process.

Shards of one cut (so many of them) ask side by side. Another cut would put the same requests into other shards, and
whoever asks unsharded asks for all of them: these wait, and are waited for. Locks, by the contest and judge:

- the whole: held alone by an unsharded asking (``one_at_a_time``), shared by shards;
- the cut: shared by its shards, so that it can be seen whose shards hold the whole;
- the shard: held alone;
- the gate: held alone for the moment in which a shard finds out who asks.

The system, or the database, takes a lock back however its holder ends.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from judge_pipeline.judging.sharding import Shard

_SECONDS_BETWEEN_TRIES = 0.2


class Locks(Protocol):
    """Named locks: files, or in a database."""

    def take(self, name: str, *, shared: bool) -> bool:
        """Take the lock if it is free now; whether that went well. Who holds it alone may so come to share it."""

    def give_back(self, name: str) -> None:
        """Give back the lock, which is held."""


class FileLocks:
    """Locks that are files of a folder, for the processes of one machine (or of several that share it)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, IO[str]] = {}

    def take(self, name: str, *, shared: bool) -> bool:
        """As :class:`Locks` says."""
        file = self._held.get(name)
        if file is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            file = (self._folder / f"{name}.lock").open("a")
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            self._held.pop(name, None)
            return False
        self._held[name] = file
        return True

    def give_back(self, name: str) -> None:
        """As :class:`Locks` says."""
        self._held.pop(name).close()


@contextmanager
def shard_asking(locks: Locks, judge: str, shard: Shard, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold what lets this process alone ask the shard, and nobody else but other shards of the cut anything.

    Args:
        locks: of the contest; ``judge`` is the name of the lock of the whole.
        judge: the judge.
        shard: the shard.
        on_wait: called once, before waiting for another process.
    """
    cut, own = f"{judge}~{shard.of}", f"{judge}~{shard.number}-of-{shard.of}"
    waiting = _Waiting(on_wait)
    with ExitStack() as held:
        while not _joined(locks, judge, cut, held, waiting):
            waiting.wait()
        while not locks.take(own, shared=False):
            waiting.wait()
        held.callback(locks.give_back, own)
        yield


def _joined(locks: Locks, whole: str, cut: str, held: ExitStack, waiting: _Waiting) -> bool:
    """Whether the whole and the cut are shared now: nobody asks, or shards of the same cut do."""
    with _gate(locks, whole, waiting):
        if locks.take(whole, shared=False):  # nobody asks
            if not locks.take(whole, shared=True):
                return False
        elif locks.take(cut, shared=False):  # somebody else does: an unsharded asking, or another cut
            locks.give_back(cut)
            return False
        elif not locks.take(whole, shared=True):  # the last shard of the cut has ended just now
            return False
        held.callback(locks.give_back, whole)
        # Nobody but who has passed the gate holds the cut alone, and that for no longer than the gate.
        joined = locks.take(cut, shared=True)
        if joined:
            held.callback(locks.give_back, cut)
        else:
            held.pop_all().close()
        return joined


@contextmanager
def _gate(locks: Locks, whole: str, waiting: _Waiting) -> Iterator[None]:
    while not locks.take(f"{whole}~gate", shared=False):
        waiting.wait(tell=False)
    try:
        yield
    finally:
        locks.give_back(f"{whole}~gate")


class _Waiting:
    """Waits a moment, so that a run can be cancelled meanwhile, and tells of it once."""

    def __init__(self, on_wait: Callable[[], None]) -> None:
        self._on_wait: Callable[[], None] | None = on_wait

    def wait(self, tell: bool = True) -> None:
        if tell and self._on_wait is not None:
            self._on_wait()
            self._on_wait = None
        time.sleep(_SECONDS_BETWEEN_TRIES)
