"""Printed times -> instants.

A time is an instant only where its zone is known: printed beside it, stated by the page, fixed by the contest site, or
given in the contest's settings (then it is noted). Otherwise it stays what it was, text. Nothing is guessed: not the
zone, not whether 03/04 is March or April, not when "3 weeks ago" was.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_MAX_CHARS = 200

_OFFSETS_HOURS: dict[str, float] = {
    "utc": 0, "gmt": 0, "z": 0, "jst": 9, "kst": 9, "msk": 3, "msd": 4, "cet": 1, "cest": 2, "eet": 2, "eest": 3,
    "wet": 0, "west": 1, "est": -5, "edt": -4, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "hkt": 8,
    "sgt": 8, "aest": 10, "aedt": 11, "nzst": 12, "nzdt": 13, "日本時間": 9, "日本標準時": 9, "北京时间": 8,
}  # fmt: skip
"""Zone words that mean one offset. CST, IST, BST and AST mean several and are refused."""

_AMBIGUOUS_ZONES = frozenset({"cst", "ist", "bst", "ast", "sst", "gst", "bdt", "amt"})

_MONTHS = {
    name: number
    for number, long in enumerate(
        ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
         "december"), start=1,
    )
    for name in (long, long[:3], long[:4] if long == "september" else long)
} | {
    name: number
    for number, names in enumerate(
        ("янв января", "фев февраля", "мар марта", "апр апреля", "май мая", "июн июня", "июл июля", "авг августа",
         "сен сентября", "окт октября", "ноя ноября", "дек декабря"), start=1,
    )
    for name in names.split()
}  # fmt: skip

_MONTH = r"(?P<name>[A-Za-z]{3,9}|[А-Яа-я]{3,8})\.?"
_DATES = (
    re.compile(r"(?P<y>\d{4})\s*[-/.年년]\s*(?P<m>\d{1,2})\s*[-/.月월]\s*(?P<d>\d{1,2})\s*[日일]?(?!\d)"),
    re.compile(rf"\b{_MONTH}[/\s-]\s*(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?[/\s-]\s*(?P<y>\d{{4}})(?!\d)"),
    re.compile(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?[/\s-]\s*{_MONTH},?[/\s-]\s*(?P<y>\d{{4}})(?!\d)"),
    re.compile(r"(?<!\d)(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})(?!\d)"),
    re.compile(r"(?<!\d)(?P<a>\d{1,2})[/-](?P<b>\d{1,2})[/-](?P<y>\d{4})(?!\d)"),
    re.compile(r"(?<!\d)(?P<y>\d{4})(?P<m>\d{2})(?P<d>\d{2})(?=T\d{6})"),
)

_TIME = re.compile(
    r"(?P<before>AM|PM|午前|午後|上午|下午)?\s*(?<![\d:+-])(?P<h>\d{1,2})\s*(?::|時|时)\s*(?P<min>\d{2})"
    r"(?:\s*(?::|分)\s*(?P<s>\d{2})(?:[.,](?P<f>\d{1,9}))?)?\s*[分秒]?\s*(?P<after>[AaPp]\.?[Mm]\b\.?)?",
    re.IGNORECASE,
)
_COMPACT_TIME = re.compile(r"T(?P<h>\d{2})(?P<min>\d{2})(?P<s>\d{2})")

_OFFSET = re.compile(r"(?P<sign>[+\-−])(?P<h>\d{1,2})(?::?(?P<min>\d{2}))?(?![\d:])")
_ZONE_WORD = re.compile(r"[A-Za-z]{2,}(?:/[A-Za-z_+\-]+)+|[A-Za-z]+|日本時間|日本標準時|北京时间")
_HALF_HOUR = re.compile(r"(?P<sign>[+\-−])(?P<h>\d{1,2})\.5(?!\d)")

_WEEKDAYS = frozenset((
    "mon", "tue", "wed", "thu", "fri", "sat", "sun", "monday", "tuesday", "wednesday", "thursday", "friday",
    "saturday", "sunday", "at", "on", "the",
))  # fmt: skip

_EPOCH = re.compile(r"(?P<s>\d{9,10})(?:(?P<ms>\d{3})|\.(?P<f>\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class Zone:
    """A zone for times that print none, and where it comes from.

    Attributes:
        tz: the zone.
        origin: what said so ("the page's utc_offset"); part of a note where ``flag``.
        flag: whether to note it on the row: the contest's settings are flagged, a page's own statement is not.
    """

    tz: tzinfo
    origin: str
    flag: bool = False


@dataclass(frozen=True, slots=True)
class ReadTime:
    """An instant in UTC or None, and what there is to say about it."""

    instant: datetime | None
    note: str | None = None


def contest_zone(name: str | None) -> Zone | None:
    """The zone of a contest's settings, for times that print none; such times are flagged."""
    return None if name is None else Zone(ZoneInfo(name), f"the contest's time zone {name}", flag=True)


def fixed_zone(offset: str, origin: str) -> Zone | None:
    """The zone that ``+03:00`` or ``UTC+3`` names; None where it names none."""
    tz, _ = _zone_in(unicodedata.normalize("NFKC", offset))
    return None if tz is None else Zone(tz, origin)


def read_time(raw: str | None, zone: Zone | None) -> ReadTime:  # noqa: PLR0911 - each refusal has its reason
    """The instant that a printed time means.

    Args:
        raw: the time as printed: ISO 8601, ``Mar/15/2017 19:13``, ``2026年3月1日 12時34分``, ``31.12.2018 17:33``,
            a Unix time in seconds or milliseconds, each with or without a zone.
        zone: the zone of a time that prints none, or None.

    Returns:
        The instant in UTC, or None with the reason.
    """
    if raw is None or not raw.strip():
        return ReadTime(None)
    if len(raw) > _MAX_CHARS:
        return ReadTime(None, f"the time's text has {len(raw)} characters, which is no time")
    text = unicodedata.normalize("NFKC", raw).strip()
    epoch = _EPOCH.fullmatch(text)
    if epoch:
        return _from_epoch(epoch)
    dated = _date_in(text)
    if isinstance(dated, str):
        return ReadTime(None, dated)
    year, month, day, rest = dated
    timed = _time_in(rest)
    if timed is None:
        return ReadTime(None, f"time {text!r} has no time of day")
    (hour, minute, second, micros), rest = timed
    try:
        local = datetime(year, month, day, hour, minute, second, micros)
    except ValueError as error:
        return ReadTime(None, f"time {text!r} does not exist ({error})")
    return _in_zone(local, rest, zone)


def _from_epoch(match: re.Match[str]) -> ReadTime:
    fraction = match["ms"] or match["f"] or "0"
    micros = int(fraction.ljust(6, "0")[:6])
    return ReadTime(datetime.fromtimestamp(int(match["s"]), UTC) + timedelta(microseconds=micros))


def _date_in(text: str) -> tuple[int, int, int, str] | str:
    """Year, month, day and the text around them; or why there are none."""
    for pattern in _DATES:
        for match in pattern.finditer(text):
            parts = match.groupdict()
            rest = f"{text[: match.start()]} {text[match.end() :]}"
            if parts.get("name") is not None:
                month = _MONTHS.get(parts["name"].lower())
                if month is None:
                    continue
                return int(parts["y"]), month, int(parts["d"]), rest
            if parts.get("a") is None:
                return int(parts["y"]), int(parts["m"]), int(parts["d"]), rest
            a, b = int(parts["a"]), int(parts["b"])
            if (a > 12) == (b > 12) and a != b:
                return f"time {text!r} may be month first or day first"
            month, day = (b, a) if a > 12 else (a, b)
            return int(parts["y"]), month, day, rest
    if re.search(r"\bago\b|前$|昨日|今日|yesterday|today|\b(?:year|month|week|day|hour|minute)s?\b", text, re.I):
        return f"time {text!r} is relative to when the page was saved, which it does not say"
    return f"time {text!r} has no date that is understood"


def _time_in(text: str) -> tuple[tuple[int, int, int, int], str] | None:
    match = _COMPACT_TIME.search(text) or _TIME.search(text)
    if match is None:
        return None
    parts = match.groupdict()
    hour = int(parts["h"])
    half = (parts.get("before") or parts.get("after") or "").lower().replace(".", "")
    if half in ("pm", "午後", "下午") and hour < 12:
        hour += 12
    elif half in ("am", "午前", "上午") and hour == 12:
        hour = 0
    micros = int((parts.get("f") or "0").ljust(6, "0")[:6])
    rest = f"{text[: match.start()]} {text[match.end() :]}"
    return (hour, int(parts["min"]), int(parts["s"] or 0), micros), rest


def _in_zone(local: datetime, rest: str, zone: Zone | None) -> ReadTime:
    tz, refusal = _zone_in(rest)
    if refusal is not None:
        return ReadTime(None, refusal)
    if tz is not None:
        return _instant(local, tz, None)
    if zone is None:
        return ReadTime(None, "time has no zone")
    return _instant(local, zone.tz, f"time without a zone read in {zone.origin}" if zone.flag else None)


def _instant(local: datetime, tz: tzinfo, note: str | None) -> ReadTime:
    aware = local.replace(tzinfo=tz)
    try:
        instant = aware.astimezone(UTC)
    except OverflowError:
        return ReadTime(None, "time is outside the calendar")
    if instant.astimezone(tz).replace(tzinfo=None) != local:
        note = "; ".join(filter(None, (note, "time falls into the hour that the clocks skipped")))
    elif aware.replace(fold=1).utcoffset() != aware.utcoffset():
        note = "; ".join(filter(None, (note, "time occurs twice as the clocks were set back; the first is taken")))
    return ReadTime(instant, note)


def _zone_in(text: str) -> tuple[tzinfo | None, str | None]:  # noqa: PLR0911 - each form of a zone in turn
    """The zone that a text names; or why what it names is no one zone."""
    half = _HALF_HOUR.search(text)
    if half:
        return _offset_zone(half["sign"], int(half["h"]), 30)
    offset = _OFFSET.search(text)
    if offset:
        return _offset_zone(offset["sign"], int(offset["h"]), int(offset["min"] or 0))
    for word in _ZONE_WORD.findall(text):
        low = word.lower()
        if low in _OFFSETS_HOURS:
            return timezone(timedelta(hours=_OFFSETS_HOURS[low])), None
        if low in _AMBIGUOUS_ZONES:
            return None, f"zone {word} means several offsets"
        if "/" in word:
            try:
                return ZoneInfo(word), None
            except (ZoneInfoNotFoundError, ValueError, OSError):
                return None, f"zone {word!r} is not known"
        # A word in capitals beside a time looks like a zone; reading on as if it were not there would shift the time.
        if word.isupper() and low not in _WEEKDAYS and 3 <= len(word) <= 5:
            return None, f"zone {word!r} is not known"
    return None, None


def _offset_zone(sign: str, hours: int, minutes: int) -> tuple[tzinfo | None, str | None]:
    total = timedelta(hours=hours, minutes=minutes)
    if minutes > 59 or total > timedelta(hours=14):
        return None, f"offset {sign}{hours:02d}:{minutes:02d} is no zone's"
    return timezone(total if sign == "+" else -total), None
