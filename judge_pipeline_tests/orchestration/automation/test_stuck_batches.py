"""Batches that do not move at their provider: when that is told, to whom, and how often."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from judge_pipeline.judging.batches.store import BatchRow
from judge_pipeline.orchestration.automation.batch_sensor import tell_of_stuck
from judge_pipeline.orchestration.automation.stuck_batches import read_watches, watched
from judge_pipeline.settings.automation import NotifySettings
from judge_pipeline_tests.orchestration.automation.loopback_receivers import Webhook, webhook

START = datetime(2026, 3, 1, tzinfo=UTC).timestamp()
HOUR = 3600.0
ROW = BatchRow(
    "t1", "gpt", "spring", "submitted", None, "b", "f", None, None, "in_progress", 20, 0, 0, 0.5, None, 24.0, "{}",
    "2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z", None, None, 0, None, False, None,
)  # fmt: skip
SETTINGS = NotifySettings(batch_hours=26)


def tell(row: BatchRow, cursor: str | None, hours: float, hook: Webhook | None = None) -> tuple[str, list[str]]:
    environment = {} if hook is None else {SETTINGS.webhook_env: hook.url}
    return tell_of_stuck([row], cursor, SETTINGS, environment, START + hours * HOUR)


def test_a_batch_that_does_not_move_is_told_once_each_time_that_the_time_has_passed() -> None:
    with webhook() as hook:
        cursor, lines = tell(ROW, None, 25.9, hook)
        assert (lines, hook.got) == ([], [])
        cursor, lines = tell(ROW, cursor, 26.1, hook)
        line = (
            "contest spring, judge gpt: in_progress, 0 of 20 done, nothing new for 26 hours. "
            "Look: judge-pipeline batches spring --judges gpt"
        )
        assert lines == [line]
        (body,) = hook.got
        assert (body["event"], body["runs"]) == ("batches_stuck", [])
        assert body["text"] == f"judge_pipeline: 1 batch at a provider not moving\n{line}"
        cursor, lines = tell(ROW, cursor, 51.9, hook)
        assert lines == []
        cursor, lines = tell(ROW, cursor, 52.1, hook)
        assert len(lines) == 1 and len(hook.got) == 2


def test_one_that_moves_or_of_which_nothing_is_known_begins_anew() -> None:
    cursor, _ = tell(ROW, None, 20)
    moved = replace(ROW, n_completed=1)
    cursor, lines = tell(moved, cursor, 40)
    assert lines == []
    assert tell(moved, "no cursor of ours", 40)[1] == [], "something was done: nobody knows when"
    assert tell(moved, cursor, 65.9)[1] == []
    assert len(tell(moved, cursor, 66.1)[1]) == 1
    (watch,) = watched(read_watches(cursor), [moved], START).values()
    assert watch.since == START, "the clock was set back"


def test_who_could_not_be_told_is_told_at_the_next_look_and_nobody_else_twice() -> None:
    with webhook() as hook:
        hook.status = 503
        cursor, lines = tell(ROW, None, 30, hook)
        assert len(lines) == 2 and lines[1].startswith("webhook: the webhook answered 503")
        hook.status = 200
        cursor, lines = tell(ROW, cursor, 30.1, hook)
        assert (lines, len(hook.got)) == ([], 1)
        hook.status = 400
        cursor, lines = tell(ROW, cursor, 53, hook)
        assert "answered 400" in lines[1]
        assert tell(ROW, cursor, 53.1, hook)[1] == [], "it does not take this message: not tried for ever"
