"""JSON of contest sites, and what is JSON but no submission."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judge_pipeline.ingest.records import SubmissionRecord, UnreadableArtifact
from judge_pipeline.ingest.submissions import read_submissions
from judge_pipeline.settings import ContestSettings


def _read(document: Any) -> list[SubmissionRecord]:
    text = document if isinstance(document, str) else json.dumps(document)
    return read_submissions(text.encode(), "x.json", ContestSettings())


_AOJ = {
    "judgeId": 4160784, "judgeType": 1, "userId": "u1", "problemId": "0007", "submissionDate": 1580984472032,
    "language": "C#", "status": 1, "cpuTime": 6, "memory": 13772, "codeSize": 498, "accuracy": "0/1",
    "judgeDate": 1580984472685, "score": 0, "problemTitle": None, "token": None,
}  # fmt: skip


def test_aoj_records() -> None:
    first, second = _read([_AOJ, _AOJ | {"status": 4, "judgeId": 5, "sourceCode": "a<b;\r\n"}])
    assert (first.row, first.submission_id, first.participant, first.problem_id) == (1, "4160784", "u1", "0007")
    assert (first.verdict, first.verdict_raw, first.language) == ("WA", "status 1", "C#")
    assert first.submitted_at is not None
    assert first.submitted_at.isoformat() == "2020-02-06T10:21:12.032000+00:00"
    assert (second.verdict, second.source_code) == ("AC", "a<b;\r\n")


@pytest.mark.parametrize(
    ("cases", "verdict"), [(["AC", "AC"], "AC"), (["AC", "TLE", "WA"], "TLE"), (["WJ"], "PENDING"), ([], "UNKNOWN")]
)
def test_aoj_verdicts_are_the_first_case_that_fails(cases: list[str], verdict: str) -> None:
    (record,) = _read({"judgeId": 5, "problemId": "A", "caseVerdicts": [{"serial": 1, "status": s} for s in cases]})
    assert (record.row, record.verdict) == (None, verdict)


def test_aoj_review() -> None:
    (record,) = _read({"judgeId": 5, "userId": "u", "problemId": "A", "sourceCode": "print(1)"})
    assert (record.source_code, record.verdict) == ("print(1)", "UNKNOWN")


def test_leetcode_dump() -> None:
    item = {
        "lang": "cpp",
        "time": "1\u00a0month",
        "status_display": "Wrong Answer",
        "url": "/submissions/detail/9/",
        "title": "Two Sum",
        "is_pending": False,
    }
    first, second = _read(
        {"has_next": False, "submissions_dump": [item, item | {"is_pending": "Pending", "timestamp": 1580984472}]}
    )
    assert (first.submission_id, first.verdict, first.timestamp_raw, first.problem_id) == (
        "9",
        "WA",
        "1\u00a0month",
        "Two Sum",
    )
    assert first.submitted_at is None
    assert second.verdict == "PENDING"
    assert second.submitted_at is not None


def test_objects_with_the_usual_keys_one_a_line() -> None:
    line = {
        "user": "u",
        "problem": "A",
        "verdict": "WA",
        "source_code": "x\ud83d\ude00",
        "submitted_at": "2026-03-01T00:00:00Z",
    }
    records = _read("\n".join(json.dumps(line | {"submission_id": i}) for i in range(3)))
    assert [r.submission_id for r in records] == ["0", "1", "2"]
    assert {r.source_code for r in records} == {"x😀"}
    assert all(r.submitted_at is not None for r in records)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1', "is not JSON"), ('{"a": 1}', "of no form"), ("[1, 2, 3]", "of no form"), ('["x"]', "of no form"),
        ('{"mapping": {}, "title": "chat"}', "of no form"), ("[" * 100_000, "JSON"),
        ('{"x":1}\n{"x":2}\n{"x":\n{}', "is not JSON"),
    ],
)  # fmt: skip
def test_other_json_is_set_aside_and_never_read_as_text(text: str, why: str) -> None:
    with pytest.raises(UnreadableArtifact, match=why):
        _read(text)


def test_an_entry_that_is_no_submission_is_kept_in_its_row() -> None:
    records = _read([_AOJ, {"note": "x"}, _AOJ])
    assert [r.row for r in records] == [1, 2, 3]
    assert "no submission" in records[1].notes[0]


def test_a_lone_surrogate_is_replaced() -> None:
    (record,) = _read('{"user": "u", "problem": "A", "source_code": "x\\ud800y", "verdict": "AC"}')
    assert record.source_code == "x\ufffdy"
    assert record.source_sha256
