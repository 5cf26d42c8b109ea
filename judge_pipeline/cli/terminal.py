"""Progress and results in the terminal."""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.console import Console

_SECONDS_BETWEEN_LINES = 5.0


class TerminalProgress:
    """Says what is made, and how far a judge is: in place on a terminal, a line now and then elsewhere."""

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

    def judging(self, judge: str, done: int, total: int, failed: int, cost_usd: float) -> None:
        """A judge has answered, or failed to answer, so many attempts so far."""
        now = self._clock()
        started = self._started.setdefault(judge, now)
        text = _judging_line(judge, done, total, failed, cost_usd, now - started)
        if self._status is not None:
            self._status.start()
            self._status.update(f"  {text}")
        elif now - self._last_line >= _SECONDS_BETWEEN_LINES or done + failed >= total:
            self._last_line = now
            self.console.print(f"  … {text}")

    def waiting(self, judge: str) -> None:
        """Another run is asking the judge; this one waits for it."""
        self.console.print(f"  … {judge}: another run is asking it; waiting, since it may answer this one's, too")

    def stop(self) -> None:
        """Take the moving line away."""
        if self._status is not None:
            self._status.stop()


def _judging_line(judge: str, done: int, total: int, failed: int, cost_usd: float, seconds: float) -> str:
    finished = done + failed
    parts = [f"{judge}: {finished} of {total}"]
    if seconds > 1 and finished:
        rate = finished / seconds
        parts += [f"{rate:.1f}/s", f"{(total - finished) / rate:.0f} s left"]
    if failed:
        parts.append(f"[red]{failed} failed[/red]")
    if cost_usd:
        parts.append(f"{cost_usd:.4f} USD")
    return ", ".join(parts)
