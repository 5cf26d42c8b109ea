"""A lock between processes of one machine: two runs that would ask the same judge the same thing take turns."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def one_at_a_time(lock: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock file while the block runs; the system gives it back however the process ends.

    Args:
        lock: the file; it is made where it is missing, and stays.
        on_wait: called once, before waiting for another process that holds it.
    """
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
