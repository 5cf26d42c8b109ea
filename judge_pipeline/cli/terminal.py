"""Progress and results in the terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

if TYPE_CHECKING:
    from judge_pipeline.judging.progress import Progress

_SECONDS_BETWEEN_LINES = 5.0
_SECONDS_OF_SILENCE = 2.0


class TerminalProgress:
    """Says what is made, and how far reading or a judge is: in place on a terminal, a line now and then elsewhere."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self.console = console
        self._clock = clock
        self._started: dict[str, float] = {}
        self._last_line = 0.0
        self._status = console.status("") if console.is_terminal else None

    def table(self, name: str, n_rows: int) -> None:
        """A table was made."""
        self.stop()
        self.console.print(f"  [green]✓[/green] {name} [dim]{n_rows:,} row{'s' if n_rows != 1 else ''}[/dim]")

    def reading(self, contest: str, done: int, total: int, set_aside: int) -> None:
        """So many of a contest's files are read so far; of so many of these something was set aside."""
        seconds = self._clock() - self._started.setdefault(f"files of {contest}", self._clock())
        parts = [f"{contest}: {done:,} of {total:,} files read", *_rate(done, total, seconds)]
        if set_aside:
            parts.append(f"[yellow]{set_aside:,} set aside[/yellow]")
        if seconds > _SECONDS_OF_SILENCE:  # a contest that is read at once needs no line
            self._moving_line(", ".join(parts), last=done >= total)

    def judging(self, judge: str, progress: Progress) -> None:
        """So far is a judge with what it is asked."""
        self._moving_line(escape(f"{judge}: {progress.in_words()}"), last=progress.is_complete)

    def waiting(self, judge: str) -> None:
        """Another run is asking the judge; this one waits for it."""
        self.console.print(f"  … {judge}: another run is asking it; waiting, since it may answer this one's, too")

    def stop(self) -> None:
        """Take the moving line away."""
        if self._status is not None:
            self._status.stop()

    def _moving_line(self, text: str, last: bool) -> None:
        now = self._clock()
        if self._status is not None:
            self._status.start()
            self._status.update(f"  {text}")
        elif now - self._last_line >= _SECONDS_BETWEEN_LINES or last:
            self._last_line = now
            self.console.print(f"  … {text}")


def printable(line: str) -> str:
    """The line without control characters: what a model or a participant wrote must not steer the terminal."""
    return "".join(c if c.isprintable() or c in "\t\n" else "\ufffd" for c in line)


def _rate(done: int, total: int, seconds: float) -> list[str]:
    if seconds <= 1 or not done:
        return []
    return [f"{done / seconds:.1f}/s", f"{(total - done) * seconds / done:.0f} s left"]
