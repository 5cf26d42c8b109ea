"""The daemon's log, by the records that Dagster's own sensor loop makes."""

from __future__ import annotations

import logging

import dagster._daemon.cli
import pytest

from judge_pipeline.orchestration import quiet_dagster_daemon

LOOKS = "Checking for new runs for sensor: watch_contests"
NOTHING = "Sensor watch_contests skipped: folders looked at: 1; none has changed"
CHANGED = "Sensor watch_contests skipped: spring: new here or changed; looked into once it has lain still for 60 s"
NONE = "No run requests returned for watch_contests, skipping"
OTHER = "Sensor collect_batches skipped: no batch is open"
RUN = "Launching run for watch_contests"


def test_a_sensor_that_sees_the_same_again_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    log = logging.getLogger("dagster.daemon.SensorDaemon")

    def daemon() -> None:
        for words in (LOOKS, NOTHING, OTHER, LOOKS, NOTHING, OTHER, CHANGED, CHANGED, RUN, RUN, NONE, NONE, NOTHING):
            log.info(words)

    monkeypatch.setattr(dagster._daemon.cli, "main", daemon)
    monkeypatch.setattr(log, "filters", [])
    with caplog.at_level(logging.INFO, log.name):
        quiet_dagster_daemon.main()
    assert [record.getMessage() for record in caplog.records] == [NOTHING, OTHER, CHANGED, RUN, RUN, NONE, NOTHING]
