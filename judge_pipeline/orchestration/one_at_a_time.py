"""Two runs that would ask the same judge the same thing take turns, on one machine or on several that share a store."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from judge_pipeline.settings import Workspace


def one_asking(
    workspace: Workspace, contest: str, judge: str, on_wait: Callable[[], None]
) -> AbstractContextManager[None]:
    """Hold what lets one run alone ask the judge about the contest.

    Where the checkpoint is PostgreSQL the lock is there, so that it holds for all machines that share it; else it is a
    file beside the checkpoint.

    Args:
        workspace: whose checkpoint.
        contest: the contest.
        judge: the judge.
        on_wait: called once, before waiting for another run.

    Raises:
        JudgingError: the checkpoint's URL is wrong, or its database cannot be used.
    """
    from judge_pipeline.judging.checkpoint.lock import held_in_store
    from judge_pipeline.judging.checkpoint.opening import is_postgresql

    if is_postgresql(workspace.checkpoint_url):
        return held_in_store(workspace.checkpoint_url, f"judge-pipeline {contest} {judge}", on_wait)
    return one_at_a_time(workspace.out_dir / "locks" / contest / f"{judge}.lock", on_wait)


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
