"""Many pairs of programs scored on all cores, in the order in which they were given.

Processes are started anew from the interpreter, never forked, and not by ``multiprocessing``, which would run the
caller's main program again in each (Dagster's, or a script without a guard). So they work the same inside a Dagster
run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from judge_pipeline.similarity.program import ProgramCache
from judge_pipeline.similarity.scoring import PairToScore, scores_of
from judge_pipeline.similarity.tokens import Tokenizer

CHARS_WORTH_PROCESSES = 4_000_000
"""Pairs of fewer characters together, a second or two of work, are scored in this process."""

_CHARS_AT_ONCE = 1_000_000
"""A process is handed pairs of about so many characters, and holds no more of them at a time."""


class ScoringPoolError(RuntimeError):
    """A process that scores could not be started, or ended before its time."""


def score_pairs(
    pairs: Sequence[PairToScore], tokenizer: Tokenizer, n_processes: int | None = None
) -> NDArray[np.float64]:
    """The terms of CodeBLEU of each pair, shape (n, 3).

    Args:
        pairs: what to score.
        tokenizer: how programs become tokens.
        n_processes: how many processes score; 1 for this one alone, None to decide by the work and the cores.

    Raises:
        ScoringPoolError: a process that scores ended; what it said is in the message.
    """
    if n_processes is None:
        n_chars = sum(len(pair.reference) + len(pair.candidate) for pair in pairs)
        n_processes = _usable_cores() if n_chars > CHARS_WORTH_PROCESSES else 1
    if n_processes < 2 or len(pairs) < 2:
        return scores_of(pairs, ProgramCache(tokenizer))
    parts = list(_parts(pairs))
    scores = np.empty((len(pairs), 3))
    scorers: list[_Scorer] = []
    try:
        for _ in range(min(n_processes, len(parts))):
            scorers.append(_started(tokenizer))
        for part, found in _score(scorers, pairs, parts):
            scores[part] = found
    finally:
        for scorer in scorers:
            scorer.end()
    return scores


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _parts(pairs: Sequence[PairToScore]) -> Iterator[slice]:
    """Neighbours that are scored by one process, so that programs they share are read once."""
    start = n_chars = 0
    for i, pair in enumerate(pairs):
        n_chars += len(pair.reference) + len(pair.candidate)
        if n_chars >= _CHARS_AT_ONCE:
            yield slice(start, i + 1)
            start, n_chars = i + 1, 0
    if start < len(pairs):
        yield slice(start, len(pairs))


@dataclass
class _Scorer:
    process: subprocess.Popen[bytes]
    connection: Connection
    says: IO[bytes]

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.connection.close()
        self.says.close()

    def error(self) -> ScoringPoolError:
        code = self.process.wait()
        self.says.seek(0)
        said = self.says.read()[-2000:].decode("utf-8", "replace").strip()
        return ScoringPoolError(
            f"a process that compares programs ended with exit code {code}: {said or 'it said nothing'}; "
            "where memory is short, compare fewer programs at once, or pass n_processes=1"
        )


def _score(
    scorers: Sequence[_Scorer], pairs: Sequence[PairToScore], parts: Sequence[slice]
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    waiting = iter(parts)
    at_work: dict[object, tuple[_Scorer, slice]] = {}

    def hand_out(scorer: _Scorer) -> None:
        part = next(waiting, None)
        if part is not None:
            with suppress(BrokenPipeError, ConnectionResetError):  # it has died; receiving says so
                scorer.connection.send(pairs[part])
            at_work[scorer.connection] = (scorer, part)

    for scorer in scorers:
        hand_out(scorer)
    while at_work:
        for connection in wait([scorer.connection for scorer, _ in at_work.values()]):
            scorer, part = at_work.pop(connection)
            try:
                found = scorer.connection.recv()
            except (EOFError, OSError):
                raise scorer.error() from None
            hand_out(scorer)
            yield part, found


def _started(tokenizer: Tokenizer) -> _Scorer:
    here, there = Pipe()
    says = tempfile.TemporaryFile()  # noqa: SIM115 - the process's, closed with it
    package_root = str(Path(__file__).resolve().parents[2])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([package_root, *filter(None, sys.path)])}
    with there:
        process = subprocess.Popen(
            # -P: what lies in the current folder is no module of ours.
            [sys.executable, "-P", "-m", "judge_pipeline.similarity.scoring_worker", str(there.fileno()), tokenizer],
            pass_fds=[there.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=says,
            stderr=says,
            env=environment,
        )
    return _Scorer(process, here, says)
