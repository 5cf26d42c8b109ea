"""Printed times: an instant only where date, time of day and zone are certain."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.ingest.times import contest_zone, fixed_zone, read_time

_MARCH = datetime(2026, 3, 1, 3, 34, 56, tzinfo=UTC)


@pytest.mark.parametrize(
    "raw",
    [
        "2026-03-01 12:34:56+0900", "2026-03-01T03:34:56Z", "2026-03-01T03:34:56.000+00:00", "2026-03-01T05:34:56+02",
        "2026-03-01 12:34:56 JST", "2026/03/01 12:34:56 (JST)", "2026年3月1日 12時34分56秒 JST",
        "日本時間 2026年3月1日 12:34:56",
        "2026年3月1日（日）午後0:34:56 (JST)", "Mar/01/2026 06:34:56UTC+3", "01.03.2026 06:34:56 MSK", "1772336096",
        "1772336096000", "Sun, 01 Mar 2026 03:34:56 GMT", "March 1, 2026 12:34:56 PM JST", "1 Mar 2026 03:34:56 UTC",
        "２０２６／０３／０１　１２：３４：５６　ＪＳＴ", "2026-03-01 12:34:56 Asia/Tokyo", "20260301T033456Z",
        "2026-03-01 09:04:56 UTC+5.5", "2026-03-01 12:34:56 GMT+0900 (Japan Standard Time)", "2026-02-28 22:34:56 EST",
    ],
)  # fmt: skip
def test_zones_are_honoured(raw: str) -> None:
    assert read_time(raw, None).instant == _MARCH
    assert read_time(raw, contest_zone("America/New_York")).instant == _MARCH


@pytest.mark.parametrize(
    "raw", ["2026-03-01 12:34:56", "Mar/01/2026 12:34:56", "2026年3月1日 12時34分56秒", "01.03.2026 12:34:56"]
)
def test_without_a_zone_only_a_stated_one_helps(raw: str) -> None:
    refused = read_time(raw, None)
    assert refused.instant is None
    assert refused.note == "time has no zone"
    flagged = read_time(raw, contest_zone("Asia/Tokyo"))
    assert flagged.instant == _MARCH
    assert flagged.note is not None
    assert "Asia/Tokyo" in flagged.note
    stated = read_time(raw, fixed_zone("UTC+09:00", "the page's offset"))
    assert (stated.instant, stated.note) == (_MARCH, None)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ("3 weeks, 4 days ago", "relative"), ("6\xa0months, 2\xa0weeks", "relative"), ("3日前", "relative"),
        ("03/04/2026 10:00 JST", "month first or day first"), ("2026-03-01 JST", "no time of day"),
        ("2026-02-30 10:00 JST", "does not exist"), ("2026-03-01 10:00 CST", "several offsets"),
        ("2026-03-01 10:00 XYZT", "not known"), ("2026-03-01 10:00 Mars/Olympus", "not known"), ("soon", "no date"),
        ("2026-03-01 25:10 UTC", "does not exist"), ("2026-03-01 10:00 +99:00", "no zone's"), ("1776 ms", "no date"),
        ("2026-03-01 10:00 UTC" * 20, "no time"),
    ],
)  # fmt: skip
def test_what_is_not_certain_is_refused_with_the_reason(raw: str, why: str) -> None:
    refused = read_time(raw, contest_zone("Asia/Tokyo"))
    assert refused.instant is None
    assert refused.note is not None
    assert why in refused.note


def test_day_above_twelve_decides_the_order() -> None:
    assert read_time("13/04/2026 10:00 UTC", None).instant == datetime(2026, 4, 13, 10, tzinfo=UTC)
    assert read_time("04/13/2026 10:00 UTC", None).instant == datetime(2026, 4, 13, 10, tzinfo=UTC)
    assert read_time("04/04/2026 10:00 UTC", None).instant == datetime(2026, 4, 4, 10, tzinfo=UTC)


def test_clock_changes_are_noted() -> None:
    berlin = contest_zone("Europe/Berlin")
    assert "skipped" in str(read_time("2026-03-29 02:30", berlin).note)
    assert "twice" in str(read_time("2026-10-25 02:30", berlin).note)


def test_nothing_printed() -> None:
    assert read_time(None, None) == read_time("  ", None)
    assert read_time(None, None).instant is None


_instants = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)).map(lambda d: d.replace(microsecond=0))
_offsets = st.integers(-14 * 4, 14 * 4).map(lambda quarters: timezone(timedelta(minutes=15 * quarters)))


@settings(deadline=None)
@given(_instants, _offsets)
def test_iso_and_mail_dates_round_trip(local: datetime, zone: timezone) -> None:
    at = local.replace(tzinfo=zone)
    assert read_time(at.isoformat(), None).instant == at
    assert read_time(at.isoformat(" "), None).instant == at
    assert read_time(at.strftime("%b/%d/%Y %H:%M:%S %z"), None).instant == at
    assert read_time(format_datetime(at), None).instant == at


@settings(deadline=None)
@given(st.text(max_size=80))
def test_any_text_gives_an_instant_or_a_reason(raw: str) -> None:
    for zone in (None, contest_zone("Asia/Tokyo")):
        read = read_time(raw, zone)
        assert read.instant is None or read.instant.utcoffset() == timedelta(0)
        assert read.instant is not None or read.note is not None or not raw.strip()


@pytest.mark.parametrize("raw", ["1 мар 2024 12:34:56", "1 марта 2024 12:34:56", "12:34:56 1 Mar 2024",
                                 "2024년 3월 1일 12:34:56", "2024年3月1日 12:34:56"])  # fmt: skip
def test_dates_in_words_of_other_languages(raw: str) -> None:
    read = read_time(f"{raw} UTC", None)
    assert read.instant is not None
    assert read.instant.isoformat() == "2024-03-01T12:34:56+00:00"
