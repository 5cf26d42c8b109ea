"""Garbage collection while calls are made: what was there before is left alone."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_n_askings = 0


@contextmanager
def old_objects_left_alone() -> Iterator[None]:
    """Within, garbage collection passes over the objects that were there at the beginning.

    Loaded modules are some hundred thousand objects. Python's collector walks through them all each time many calls
    are under way, which takes a tenth of a call's processor time and halts all of them at once. What becomes garbage
    within is collected as ever. Several threads may be within at once: the last one out ends it.
    """
    global _n_askings  # noqa: PLW0603  the collector is one for the process, too
    with _lock:
        _n_askings += 1
        if _n_askings == 1:
            gc.freeze()
    try:
        yield
    finally:
        with _lock:
            _n_askings -= 1
            if _n_askings == 0:
                gc.unfreeze()
