"""Dagster's daemon with a log that can be read: ``python -m judge_pipeline.orchestration.quiet_dagster_daemon``.

Options are those of ``dagster-daemon``. The daemon looks with each sensor every 30 s, and would print each time that it
looks, and what it saw, in hundreds of lines an hour that say the same. What every look saw stands in its tick all the
same.
"""

from __future__ import annotations

import logging
import re

_SENSORS = "dagster.daemon.SensorDaemon"
_LOOKS = "Checking for new runs for sensor: "
_SAW = re.compile(r"Sensor (\S+) skipped: |No run requests returned for (\S+), skipping")


class ChangedLooks:
    """Lets through what a sensor's look saw where the look before it saw something else, and what is no look."""

    def __init__(self) -> None:
        self._last: dict[str, str] = {}

    def __call__(self, record: logging.LogRecord) -> bool:
        """Whether the record is to be logged."""
        words = record.getMessage()
        if (saw := _SAW.match(words)) is None:
            return not words.startswith(_LOOKS)
        sensor = saw[1] or saw[2]
        before, self._last[sensor] = self._last.get(sensor), words
        return words != before


def main() -> None:
    """Run the daemon until it is stopped."""
    from dagster._daemon.cli import main as dagster_main

    logging.getLogger(_SENSORS).addFilter(ChangedLooks())
    dagster_main()


if __name__ == "__main__":
    main()
