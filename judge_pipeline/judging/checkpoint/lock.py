"""Locks that live in the checkpoint's PostgreSQL database, for those on several machines who would ask the same.

A lock goes with its connection, and so with its server. A thread looks now and then whether the locks are held still,
and takes them again when the server is back. Whoever waits for one leaves that thread some seconds. Where another
process has nevertheless come first, this one asks nothing further until that has ended, as if it had come second:
what was under way when the server went may then be asked twice, and nothing else.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from judge_pipeline.judging.checkpoint.opening import StoreAwayError, make_engine, unusable
from judge_pipeline.judging.checkpoint.outage import SECONDS_BETWEEN_TRIES, outage_of

if TYPE_CHECKING:
    from judge_pipeline.judging.checkpoint.store import Checkpoint

SECONDS_FOR_HOLDERS = 5.0
"""How long who waits for a lock lets its last holder take it again, once the server is back."""

_SECONDS_BETWEEN_LOOKS = 1.0
_THIS_SESSION = sa.text("SELECT pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()")
_END_SESSION = sa.text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = :pid AND backend_start = :backend_start"
)
_LOGGER = logging.getLogger(__name__)


@contextmanager
def held_in_store(url: str, name: str, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the named lock while the block runs; the server takes it back when the process or its connection ends.

    It is tried for again and again rather than waited for in the server, so that a run can be cancelled meanwhile.

    Args:
        url: the checkpoint's, of a PostgreSQL database.
        name: of the lock; whoever gives the same name at the same database waits.
        on_wait: called once, before waiting for another process that holds it.

    Raises:
        JudgingError: the database cannot be used.
    """
    with store_locks(url, "") as locks:
        told = False
        while not locks.take(name, shared=False):
            if not told and locks.is_connected():
                on_wait()
                told = True
            time.sleep(SECONDS_BETWEEN_TRIES)
        try:
            yield
        finally:
            locks.give_back(name)


class StoreLocks:
    """Several named locks at once, held alone or shared, by one connection; see :func:`store_locks`."""

    def __init__(self, url: str, prefix: str) -> None:
        """Raises JudgingError where the database cannot be used."""
        self._url = url
        self._prefix = prefix
        self._engine = make_engine(url)
        self._mutex = threading.RLock()
        self._shared: dict[str, bool] = {}
        self._not_before = float("-inf")
        self._connection: sa.Connection | None = None
        self._session: dict[str, object] | None = None
        self._is_closed = False
        try:
            self._connect()
        except sa.exc.DBAPIError as error:
            self._engine.dispose()
            raise unusable(self._engine.url, "opened", error) from error

    def take(self, name: str, *, shared: bool) -> bool:
        """Take the lock if it is free now; whether that went well. Who holds it alone may so come to share it.

        While the server is gone, no lock is free.

        Raises:
            JudgingError: the database cannot be used, or its server was gone for too long.
        """
        with self._mutex:
            try:
                if self._connection is None and not self._taken_again():
                    return False
                if not self._shared and time.monotonic() < self._not_before:
                    return False
                taken = self._take(name, shared)
                if taken and name in self._shared:
                    self._give_back(name)  # a connection may hold it both ways, so that there is no moment between
            except sa.exc.DBAPIError as error:
                self._lose(error)
                return False
            if taken:
                self._shared[name] = shared
            return taken

    def give_back(self, name: str) -> None:
        """Give back the lock, which is held, or was."""
        with self._mutex:
            try:
                if self._connection is not None:
                    self._give_back(name)
            except sa.exc.DBAPIError:  # the connection is gone, and the lock with it
                self._drop()
            self._shared.pop(name, None)

    def is_connected(self) -> bool:
        """Whether the server was there when it was last asked."""
        return self._connection is not None

    def look(self) -> bool:
        """Whether all that was taken is held now, also if only now again. Never raises for a server that is gone."""
        with self._mutex:
            try:
                return not self._is_closed and (self._answers() or self._taken_again())
            except sa.exc.DBAPIError:
                self._drop()
                return False

    def close(self) -> None:
        """Give back all locks, for good."""
        with self._mutex:
            self._is_closed = True
            self._drop()
            self._engine.dispose()

    def _connect(self) -> None:
        # No transaction stays open meanwhile: it would keep the server from vacuuming for as long as judging takes.
        connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        self._connection = connection
        outage_of(self._url).is_over()
        if self._session is not None:
            # Where the network was cut, the server may hold the old session, and its locks, for hours.
            connection.execute(_END_SESSION, self._session)
        self._session = dict(connection.execute(_THIS_SESSION).mappings().one())

    def _answers(self) -> bool:
        try:
            return self._connection is not None and self._ask(sa.func.pg_backend_pid()) is not None
        except sa.exc.DBAPIError:
            self._drop()
            return False

    def _taken_again(self) -> bool:
        """Connect anew, and take what was held before; False, without a connection, where others have some of it."""
        self._connect()
        self._not_before = time.monotonic() + SECONDS_FOR_HOLDERS
        if all(self._take(name, shared) for name, shared in self._shared.items()):
            return True
        self._drop()
        return False

    def _take(self, name: str, shared: bool) -> bool:
        function = sa.func.pg_try_advisory_lock_shared if shared else sa.func.pg_try_advisory_lock
        return bool(self._ask(function(_key(self._prefix + name))))

    def _give_back(self, name: str) -> None:
        function = sa.func.pg_advisory_unlock_shared if self._shared[name] else sa.func.pg_advisory_unlock
        self._ask(function(_key(self._prefix + name)))

    def _ask(self, function: sa.Function[Any]) -> Any:
        assert self._connection is not None
        return self._connection.execute(sa.select(function)).scalar()

    def _lose(self, error: sa.exc.DBAPIError) -> None:
        """Go on without a connection where the server may come back; else raise."""
        self._drop()
        failure = unusable(self._engine.url, "read", error)
        if not isinstance(failure, StoreAwayError) or not outage_of(self._url).goes_on():
            raise failure from error

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.invalidate()  # else the pool keeps it, and with it the session's locks
            self._connection.close()
            self._connection = None


_HELD: dict[str, list[StoreLocks]] = {}
_REGISTRY = threading.Lock()


@contextmanager
def store_locks(url: str, prefix: str) -> Iterator[StoreLocks]:
    """Locks in the store whose names begin so; all are given back when the block, the process or its connection ends.

    Args:
        url: the checkpoint's, of a PostgreSQL database.
        prefix: put before every name; the lock ``prefix + name`` is that of :func:`held_in_store`.

    Raises:
        JudgingError: the database cannot be used.
    """
    locks, over = outage_of(url).opened(lambda: StoreLocks(url, prefix), _wait_a_moment), threading.Event()
    keeper = threading.Thread(target=_keep, args=(locks, over), name="locks in the checkpoint", daemon=True)
    with _REGISTRY:
        _HELD.setdefault(url, []).append(locks)
    keeper.start()
    try:
        yield locks
    finally:
        with _REGISTRY:
            _HELD[url].remove(locks)
        over.set()
        locks.close()


def wait_until_held(checkpoint: Checkpoint) -> None:
    """Return once this process holds all locks again that it took in the checkpoint's store: at once, as a rule.

    It returns, too, where the checkpoint is to wait no more (``Checkpoint.wait_no_more``).

    Raises:
        JudgingError: the store cannot be used, or its server was gone for too long.
    """
    told = False
    while not all(locks.look() for locks in _held_at(checkpoint.url)):
        checkpoint.read(lambda _: None)  # which waits for the server, and no longer than may be
        if not checkpoint.wait_a_moment():
            return
        if not told:
            _LOGGER.warning("another process asks what this one was asking when the server went: waiting for it to end")
            told = True


def _wait_a_moment() -> bool:
    time.sleep(SECONDS_BETWEEN_TRIES)
    return True


def _held_at(url: str) -> list[StoreLocks]:
    with _REGISTRY:
        return list(_HELD.get(url, ()))


def _keep(locks: StoreLocks, over: threading.Event) -> None:
    while not over.wait(_SECONDS_BETWEEN_LOOKS):
        locks.look()


def _key(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
