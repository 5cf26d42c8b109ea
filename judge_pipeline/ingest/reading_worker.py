"""A process that reads files for another: started by ``reading_pool``, which may end it at any time.

It holds itself to limits that no file can talk it out of: the operating system refuses it more memory than it may have,
and ends it where one file takes far longer than it may, should nobody be left to do so.
"""

from __future__ import annotations

import resource
import signal
import sys
from multiprocessing.connection import Connection

from judge_pipeline.ingest.file_reading import FileOutcome, FileTask, read_task
from judge_pipeline.ingest.reading_limits import ReadingLimits
from judge_pipeline.ingest.records import UnreadableArtifact
from judge_pipeline.settings import ContestSettings


def main(descriptor: int) -> None:
    """Reads what comes through the connection until it is closed.

    The first message is the settings and the limits; it is answered by True. Each further one is a list of tasks, each
    of which is answered by its number and its outcome.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it decides
    connection = Connection(descriptor)
    try:
        settings, limits = connection.recv()
        _limit(limits)
        connection.send(True)
        while True:
            for task in connection.recv():
                signal.alarm(2 * int(limits.seconds_per_file) + 1)
                connection.send((task.number, _read(task, settings, limits)))
                signal.alarm(0)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return


def _read(task: FileTask, settings: ContestSettings, limits: ReadingLimits) -> FileOutcome:
    try:
        return read_task(task, settings)
    except MemoryError:
        return FileOutcome(unread=too_much_memory(task.path, limits))


def too_much_memory(path: str, limits: ReadingLimits) -> UnreadableArtifact:
    """Why a file is set aside of which the reading does not fit into memory."""
    mebibytes = limits.memory_bytes // 2**20
    return UnreadableArtifact(
        path,
        None,
        f"takes more than {mebibytes} MiB of memory to read",
        "save it again, or split it into several files",
    )


def _limit(limits: ReadingLimits) -> None:
    """Bounds memory by what is written to, not by addresses: libraries reserve far more of these than they use."""
    for what, most in ((resource.RLIMIT_DATA, limits.memory_bytes), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(what)
        resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


if __name__ == "__main__":
    main(int(sys.argv[1]))
