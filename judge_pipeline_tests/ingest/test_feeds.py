"""Event feeds: what is left at the end counts, in the forms of all years."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from judge_pipeline.ingest.records import SubmissionRecord
from judge_pipeline.ingest.submissions import read_artifact, read_submissions
from judge_pipeline.settings import ContestSettings

_TYPES = [
    {"id": "AC", "name": "correct", "solved": True}, {"id": "WA", "name": "wrong answer", "solved": False},
    {"id": "RTE", "name": "run-time error", "solved": False}, {"id": "RE", "name": "rejected", "solved": False},
    {"id": "TLE", "name": "time limit", "solved": False}, {"id": "XX", "name": "accepted with a smile",
        "solved": False},
]  # fmt: skip


def _submission(number: int, **more: Any) -> dict[str, Any]:
    time = f"2026-03-01T10:0{number}:00.500+09:00"
    return {"id": str(number), "team_id": "t1", "problem_id": "A", "language_id": "cpp", "time": time} | more


def _judgement(number: str, submission: int, kind: str | None, **more: Any) -> dict[str, Any]:
    return {"id": number, "submission_id": str(submission), "judgement_type_id": kind} | more


def _changes() -> list[tuple[str, str, dict[str, Any] | None]]:
    """What happened: type, object id, and the object, or None where it was deleted."""
    objects: list[tuple[str, dict[str, Any]]] = [
        ("languages", {"id": "cpp", "name": "C++"}), *(("judgement-types", kind) for kind in _TYPES),
        *(("submissions", _submission(i)) for i in range(1, 8)),
        ("judgements", _judgement("j1", 1, None)), ("judgements", _judgement("j1", 1, "WA")),
        ("judgements", _judgement("j2", 2, "WA")), ("judgements", _judgement("j2b", 2, "AC")),
        ("judgements", _judgement("j3", 3, None)), ("judgements", _judgement("j5", 5, "RTE")),
        ("judgements", _judgement("j6", 6, "AC")), ("judgements", _judgement("j6b", 6, "WA", valid=False)),
        ("judgements", _judgement("j7", 7, "XX")), ("submissions", _submission(5, language_id="java")),
    ]  # fmt: skip
    changes: list[tuple[str, str, dict[str, Any] | None]] = [(kind, data["id"], data) for kind, data in objects]
    return [*changes, ("submissions", "4", None)]


def _by_op() -> list[dict[str, Any]]:
    seen: set[tuple[str, str]] = set()
    events = []
    for n, (kind, number, data) in enumerate(_changes()):
        op = "delete" if data is None else "update" if (kind, number) in seen else "create"
        seen.add((kind, number))
        events.append({"type": kind, "id": f"ev{n}", "op": op, "data": data or {"id": number}})
    return events


def _by_token() -> list[dict[str, Any]]:
    return [
        {"type": kind, "id": number, "data": data, "token": f"t{n}"}
        for n, (kind, number, data) in enumerate(_changes())
    ]


def _by_collection() -> list[dict[str, Any]]:
    head: list[dict[str, Any]] = [{"type": "judgement-types", "id": None, "data": _TYPES, "token": "a"}]
    return head + [event for event in _by_token() if event["type"] != "judgement-types"]


def _read(text: str) -> list[SubmissionRecord]:
    return read_submissions(text.encode(), "event-feed.ndjson", ContestSettings())


@pytest.mark.parametrize("events", [_by_op(), _by_token(), _by_collection()], ids=["2019", "2020", "2022"])
@pytest.mark.parametrize("lines", [True, False], ids=["lines", "array"])
def test_what_is_left_at_the_end_counts(events: list[dict[str, Any]], lines: bool) -> None:
    text = "\n".join(map(json.dumps, events)) + "\n" if lines else json.dumps(events)
    records = {r.submission_id: r for r in _read(text)}
    assert {number: r.verdict for number, r in records.items()} == {
        "1": "WA", "2": "AC", "3": "PENDING", "5": "RE", "6": "AC", "7": "UNKNOWN",
    }  # fmt: skip
    assert [r.row for r in records.values()] == [1, 2, 3, 4, 5, 6]
    assert {(r.participant, r.problem_id) for r in records.values()} == {("t1", "A")}
    assert (records["1"].language, records["5"].language) == ("C++", "java")
    assert records["1"].submitted_at is not None
    assert records["1"].submitted_at.isoformat() == "2026-03-01T01:01:00.500000+00:00"
    assert any("before: WA" in note for note in records["2"].notes)
    assert records["5"].verdict_raw == "RTE"


def test_a_feed_cut_off_in_its_last_line() -> None:
    text = "\n".join(map(json.dumps, _by_token()))
    records = _read(text[:-20])
    assert len(records) == 7  # the deletion is what was cut off
    assert all(any("cut off" in note for note in record.notes) for record in records)


def test_times_since_the_start() -> None:
    events = [
        {"type": "contest", "id": "c", "data": {"id": "c", "start_time": "2026-03-01T10:00:00+09:00"}, "token": "1"},
        {"type": "submissions", "id": "1", "data": _submission(1, time=None, contest_time="1:02:03.5"), "token": "2"},
    ]
    (record,) = _read(json.dumps(events))
    assert record.submitted_at is not None
    assert record.submitted_at.isoformat() == "2026-03-01T02:02:03.500000+00:00"
    assert any("start" in note for note in record.notes)


@pytest.mark.parametrize("key", ["start_contest_time", "start_time"])
def test_the_newest_valid_judgement_counts_in_whatever_order_they_come(key: str) -> None:
    times = {"start_contest_time": "0:{:02d}:00.000", "start_time": "2026-03-01T10:{:02d}:00+09:00"}
    events = [
        {"type": "submissions", "id": "1", "data": _submission(1)},
        {"type": "judgements", "id": None, "data": [
            _judgement("new", 1, "AC", **{key: times[key].format(30)}),
            _judgement("withdrawn", 1, "TLE", valid=False, **{key: times[key].format(40)}),
            _judgement("old", 1, "WA", **{key: times[key].format(5)}),
        ]},
    ]  # fmt: skip
    (record,) = _read(json.dumps(events))
    assert record.verdict == "AC"
    assert any("before: TLE, WA" in note for note in record.notes)


def test_a_line_that_is_no_json_costs_itself_and_is_told() -> None:
    lines = list(map(json.dumps, _by_token()))
    read = read_artifact("\n".join([*lines[:9], "{broken", *lines[9:]]).encode(), "f.ndjson", ContestSettings())
    assert [r.verdict for r in read.records] == [r.verdict for r in _read("\n".join(lines))]
    assert [aside.place for aside in read.aside] == ["line 10"]
    assert all(any("line 10 cannot be read" in note for note in record.notes) for record in read.records)


def test_teams_by_the_contests_names() -> None:
    settings = ContestSettings(participant_names={"t1": "E001"})
    records = read_submissions(json.dumps(_by_token()).encode(), "submissions/clics/feed.json", settings)
    assert {(r.participant, r.problem_id) for r in records} == {("E001", "A")}
    assert not any("folder" in note for record in records for note in record.notes)


def test_the_real_feeds(shared: Path) -> None:
    for file in sorted((shared / "cases/event_feeds").rglob("event-feed*")) + sorted(
        (shared / "cases/event_feeds").rglob("*.ndjson")
    ):
        events = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        wanted: dict[str, str] = {}
        judged = {}
        for event in events:  # an independent reading: no feed of these deletes or judges again
            data = event["data"]
            if event["type"] == "submissions":
                wanted[data["id"]] = data["time"]
            if event["type"] == "judgements" and data.get("judgement_type_id"):
                judged[data["submission_id"]] = data["judgement_type_id"]
        records = _read(file.read_text(encoding="utf-8"))
        assert [(r.submission_id, r.timestamp_raw) for r in records] == list(wanted.items())
        assert {r.submission_id: r.verdict_raw for r in records if r.verdict_raw} == judged
        assert Counter(r.verdict for r in records)["UNKNOWN"] == 0
        assert all(r.submitted_at is not None for r in records)
