"""Many files read on all cores, each bounded in time and memory: a file that crashes or hangs its reader is set aside.

Not a pool of the standard library, since those break as a whole where one process dies, and cannot say which file it
was at. Here each process has its own connection and answers file by file, so that the first unanswered file is the one
it is at. Processes are started anew from the interpreter, never forked: nothing of the parent's threads, locks and open
files, nor its ``__main__``, comes along.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import IO

from judge_pipeline.ingest.file_reading import FileOutcome, FileTask
from judge_pipeline.ingest.reading_limits import ReadingLimits
from judge_pipeline.ingest.records import UnreadableArtifact
from judge_pipeline.settings import ContestSettings

_CHUNK = 32
"""Files handed to a process at once; handed on again when half of them are read."""

_SECONDS_TO_START = 120.0


class ReadingPoolError(RuntimeError):
    """No process that reads could be started."""


def usable_cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def read_in_processes(
    tasks: Sequence[FileTask], settings: ContestSettings, n_processes: int, limits: ReadingLimits
) -> Iterator[tuple[FileTask, FileOutcome]]:
    """Reads files in processes of their own.

    Args:
        tasks: the files.
        settings: the contest's settings.
        n_processes: how many processes read at once; no more are started than there is work for.
        limits: what the reading of one file may take.

    Yields:
        Each file with its outcome, in the order in which they are done. A file over a limit, or that crashes its reader
        twice, has an outcome that says so.

    Raises:
        ReadingPoolError: a process could not be started; what it said is in the message.
    """
    pool = _Pool(tasks, settings, limits)
    try:
        pool.start(min(n_processes, -(-len(tasks) // _CHUNK)))
        yield from pool.outcomes()
    finally:
        pool.end()


@dataclass
class _Reader:
    """A process that reads, and the files that it was given and has not answered, the one it is at first."""

    process: subprocess.Popen[bytes]
    connection: Connection
    says: IO[bytes]
    ready: bool = False
    tasks: deque[FileTask] = field(default_factory=deque)
    since: float = field(default_factory=time.monotonic)

    def end(self) -> int:
        """Ends the process; its exit code."""
        self.process.kill()
        code = self.process.wait()
        self.connection.close()
        self.says.close()
        return code


class _Pool:
    def __init__(self, tasks: Sequence[FileTask], settings: ContestSettings, limits: ReadingLimits) -> None:
        self._waiting = deque(tasks)
        self._crashed: dict[int, int] = {}
        self._settings, self._limits = settings, limits
        self._readers: list[_Reader] = []

    def start(self, n_processes: int) -> None:
        for _ in range(n_processes):
            self._readers.append(_started(self._settings, self._limits))

    def end(self) -> None:
        for reader in self._readers:
            reader.end()
        self._readers.clear()

    def outcomes(self) -> Iterator[tuple[FileTask, FileOutcome]]:
        while self._readers:
            connections = {reader.connection: reader for reader in self._readers}
            for connection in wait(list(connections), timeout=self._until_next_limit()):
                yield from self._answer(connections[connection])  # type: ignore[index]
            for reader in list(self._readers):
                if self._is_over_time(reader) and not reader.connection.poll():
                    yield from self._replace(reader, over_time=True)

    def _answer(self, reader: _Reader) -> Iterator[tuple[FileTask, FileOutcome]]:
        """Takes what a process has to say, and hands it more to read."""
        try:
            message = reader.connection.recv()
        except (EOFError, OSError):
            yield from self._replace(reader, over_time=False)
            return
        reader.since = time.monotonic()
        if message is True:
            reader.ready = True
        else:
            yield reader.tasks.popleft(), message[1]
        self._hand_out(reader)

    def _hand_out(self, reader: _Reader) -> None:
        if self._waiting and len(reader.tasks) <= _CHUNK // 2:
            alone = self._waiting[0].number in self._crashed
            # Towards the end the rest is shared out evenly.
            share = max(1, min(_CHUNK, len(self._waiting) // (2 * len(self._readers))))
            chunk = [self._waiting.popleft() for _ in range(1 if alone else share)]
            with suppress(BrokenPipeError, ConnectionResetError):  # it has died; the next wait says so
                reader.connection.send(chunk)
            reader.tasks.extend(chunk)
        if not reader.tasks:
            self._readers.remove(reader)
            reader.end()

    def _replace(self, reader: _Reader, over_time: bool) -> Iterator[tuple[FileTask, FileOutcome]]:
        """Ends a process that hangs or has died; the file that it was at is set aside, or tried once more by itself."""
        self._readers.remove(reader)
        reader.says.seek(0)
        said = reader.says.read()[-2000:].decode("utf-8", "replace").strip()
        code = reader.end()
        if not reader.ready:
            raise ReadingPoolError(f"a process to read files could not be started (exit code {code}): {said}")
        culprit = reader.tasks.popleft()
        self._waiting.extendleft(reversed(reader.tasks))
        again = not over_time and culprit.number not in self._crashed
        self._crashed[culprit.number] = code
        if again:
            # It may have been ended from outside, by a system short of memory.
            self._waiting.appendleft(culprit)
        else:
            yield culprit, FileOutcome(unread=_why(culprit.path, over_time, code, self._limits))
        if self._waiting:
            self._readers.append(_started(self._settings, self._limits))

    def _is_over_time(self, reader: _Reader) -> bool:
        return time.monotonic() - reader.since > self._seconds(reader)

    def _until_next_limit(self) -> float:
        now = time.monotonic()
        return max(0.01, min(reader.since + self._seconds(reader) - now for reader in self._readers))

    def _seconds(self, reader: _Reader) -> float:
        return self._limits.seconds_per_file if reader.ready else _SECONDS_TO_START


def _started(settings: ContestSettings, limits: ReadingLimits) -> _Reader:
    here, there = Pipe()
    says = tempfile.TemporaryFile()  # noqa: SIM115 - the reader's, closed with it
    package_root = str(Path(__file__).resolve().parents[2])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([package_root, *filter(None, sys.path)])}
    with there:
        process = subprocess.Popen(
            # -P: what lies in the current folder is no module of ours.
            [sys.executable, "-P", "-m", "judge_pipeline.ingest.reading_worker", str(there.fileno())],
            pass_fds=[there.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=says,
            stderr=says,
            env=environment,
        )
    with suppress(BrokenPipeError, ConnectionResetError):
        here.send((settings, limits))
    return _Reader(process, here, says)


def _why(path: str, over_time: bool, code: int, limits: ReadingLimits) -> UnreadableArtifact:
    remedy = "report it with the file as a defect of judge_pipeline; save the page or log in another form meanwhile"
    if over_time or code == -signal.SIGALRM:
        return UnreadableArtifact(path, None, f"takes longer than {limits.seconds_per_file:g} s to read", remedy)
    return UnreadableArtifact(path, None, f"crashes its reader, twice ({_code_in_words(code)})", remedy)


def _code_in_words(code: int) -> str:
    with suppress(ValueError):
        return signal.Signals(-code).name
    return f"exit code {code}"
