"""Two runs that would ask the same judge the same thing, or change the same ledger, take turns.

On one machine they do so by a file; on several that share a checkpoint in PostgreSQL, by a lock that lives there.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from judge_pipeline.settings import Workspace

if TYPE_CHECKING:
    from judge_pipeline.judging.sharding import Shard


def one_asking(
    workspace: Workspace, contest: str, judge: str, on_wait: Callable[[], None], shard: Shard | None = None
) -> AbstractContextManager[None]:
    """Hold what lets one run alone ask the judge about the contest; or one process alone ask a shard of it.

    Where the checkpoint is PostgreSQL the lock is there, so that it holds for all machines that share it; else it is a
    file beside the checkpoint.

    Args:
        workspace: whose checkpoint.
        contest: the contest.
        judge: the judge.
        on_wait: called once, before waiting for another run.
        shard: what is asked; None: all of it, so that no shard is asked meanwhile (``shard_locks``).

    Raises:
        JudgingError: the checkpoint's URL is wrong, or its database cannot be used.
    """
    if shard is not None:
        return _one_shard(workspace, contest, judge, shard, on_wait)
    file = workspace.out_dir / "locks" / contest / f"{judge}.lock"
    return _held(workspace, f"judge-pipeline {contest} {judge}", file, on_wait)


def one_writing(workspace: Workspace, ledger: str, name: str) -> AbstractContextManager[None]:
    """Hold what lets one process alone read, change and write a ledger back.

    Args:
        workspace: whose ledger.
        ledger: which kind, such as ``splits_ledger`` or ``tombstones``.
        name: the contest or preference set.

    Raises:
        JudgingError: the checkpoint's URL is wrong, or its database cannot be used.
    """
    file = workspace.out_dir / "locks" / "ledgers" / ledger / f"{name}.lock"
    return _held(workspace, f"judge-pipeline ledger {ledger} {name}", file, lambda: None)


def _held(workspace: Workspace, name: str, file: Path, on_wait: Callable[[], None]) -> AbstractContextManager[None]:
    from judge_pipeline.judging.checkpoint.lock import held_in_store
    from judge_pipeline.judging.checkpoint.opening import is_postgresql

    if is_postgresql(workspace.checkpoint_url):
        return held_in_store(workspace.checkpoint_url, name, on_wait)
    return one_at_a_time(file, on_wait)


@contextmanager
def _one_shard(
    workspace: Workspace, contest: str, judge: str, shard: Shard, on_wait: Callable[[], None]
) -> Iterator[None]:
    from judge_pipeline.judging.checkpoint.lock import store_locks
    from judge_pipeline.judging.checkpoint.opening import is_postgresql
    from judge_pipeline.orchestration.shard_locks import FileLocks, shard_asking

    if is_postgresql(workspace.checkpoint_url):
        with (
            store_locks(workspace.checkpoint_url, f"judge-pipeline {contest} ") as in_store,
            shard_asking(in_store, judge, shard, on_wait),
        ):
            yield
    else:
        with shard_asking(FileLocks(workspace.out_dir / "locks" / contest), judge, shard, on_wait):
            yield


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
