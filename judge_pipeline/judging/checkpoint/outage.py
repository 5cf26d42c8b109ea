"""That a store's server is gone, known once to all of a process: how long it is waited for, and what is said of it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from judge_pipeline.judging.checkpoint import opening

SECONDS_BETWEEN_TRIES = 0.5
"""Between two tries to reach a server that is gone."""

_LOGGER = logging.getLogger(__name__)
_AT_OPENINGS = threading.Event()

T = TypeVar("T")


def wait_at_openings() -> None:
    """From now on, this process waits for a server that it has reached before also where it opens a store anew.

    For processes of runs: one that serves pages or looks for work had better say at once that it cannot.
    """
    _AT_OPENINGS.set()


class Outage:
    """Since when a store's server has been gone. The checkpoint, the windows and the locks of a process share it."""

    def __init__(self, store: str) -> None:
        """``store`` is what it is called in words, without a password."""
        self._store = store
        self._lock = threading.Lock()
        self._since: float | None = None
        self._was_reached = False

    def reached(self, reach: Callable[[], T], wait: Callable[[], bool]) -> T:
        """What ``reach`` comes to, once the server is there.

        Args:
            reach: reaches it, or raises StoreAwayError.
            wait: waits a moment; False where nothing is waited for any more.

        Raises:
            JudgingError: the store cannot be used, or its server was gone for too long.
        """
        while True:
            try:
                found = reach()
            except opening.StoreAwayError:
                if not self.goes_on() or not wait():
                    raise
            else:
                self.is_over()
                return found

    def opened(self, open_: Callable[[], T], wait: Callable[[], bool]) -> T:
        """The same where a store is opened: waited for only where :func:`wait_at_openings` says so."""
        if self._was_reached and _AT_OPENINGS.is_set():
            return self.reached(open_, wait)
        found = open_()
        self.is_over()
        return found

    def goes_on(self) -> bool:
        """Note that the server was not reached; whether it may still be waited for (``GONE_SECONDS`` in all)."""
        with self._lock:
            now = time.monotonic()
            if self._since is None:
                self._since = now
                _LOGGER.warning(
                    "the server of %s is gone: it is waited for, up to %g s", self._store, opening.GONE_SECONDS
                )
            return now - self._since < opening.GONE_SECONDS

    def is_over(self) -> None:
        """Note that the server was reached."""
        self._was_reached = True
        if self._since is None:
            return
        with self._lock:
            since, self._since = self._since, None
        if since is not None:
            seconds = time.monotonic() - since
            _LOGGER.warning("the server of %s is back after %.1f s", self._store, seconds)


_OUTAGES: dict[str, Outage] = {}
_REGISTRY = threading.Lock()


def outage_of(url: str) -> Outage:
    """The outage that all of this process share who use the store at the URL.

    Raises:
        JudgingError: the URL names no store.
    """
    with _REGISTRY:
        found = _OUTAGES.get(url)
        if found is None:
            found = _OUTAGES[url] = Outage(f"the checkpoint {opening.shown_url(url)}")
        return found
