"""Sites whose layout is not known: pages of our own, in the languages and habits of judges elsewhere."""

from __future__ import annotations

import pytest

from judge_pipeline.ingest.records import SubmissionRecord
from judge_pipeline.ingest.submissions import read_submissions
from judge_pipeline.settings import ContestSettings

_HEADS = {
    "chinese": ("提交编号", "提交时间", "提交者", "题号", "评测状态", "内存", "编程语言"),
    "traditional": ("提交編號", "提交時間", "使用者", "題號", "狀態", "記憶體", "語言"),
    "korean": ("제출 번호", "제출한 시간", "아이디", "문제", "결과", "메모리", "언어"),
    "russian": ("Номер", "Дата", "Пользователь", "Задача", "Статус", "Память", "Язык"),
    "english": ("Run ID", "Submit Time", "Sender", "Pro.ID", "Judgement result", "Mem", "Language"),
}
_WORDS = {
    "chinese": ("答案错误", "正在评测"), "traditional": ("答案錯誤", "等待評測"), "korean": ("틀렸습니다", "채점 중"),
    "russian": ("Неправильный ответ на тесте 3", "В очереди"), "english": ("Wrong answer", "Queuing"),
}  # fmt: skip


def _read(page: str) -> list[SubmissionRecord]:
    return read_submissions(page.encode(), "page.html", ContestSettings())


@pytest.mark.parametrize("language", list(_HEADS))
@pytest.mark.parametrize("tag", ["th", "td"])
def test_lists_with_headings_of_other_languages(language: str, tag: str) -> None:
    heading = "".join(f"<{tag}>{name}</{tag}>" for name in _HEADS[language])
    rows = "".join(
        f"<tr><td>9100{n}</td><td>2026-03-01 12:3{n}:00 UTC</td><td><a href='/user/kim'>Kim Lee</a></td>"
        f"<td><a href='/problem/1001'>A+B</a></td><td><b>{word}</b></td><td>{n}00 KB</td><td>C++17</td></tr>"
        for n, word in enumerate(_WORDS[language])
    )
    records = _read(f"<html><body><table><tr>{heading}</tr>{rows}</table></body></html>")
    assert [record.verdict for record in records] == ["WA", "PENDING"]
    assert [record.verdict_raw for record in records] == list(_WORDS[language])
    assert {(r.participant, r.problem_id, r.language) for r in records} == {("kim", "1001", "C++17")}
    if language != "traditional":  # whose word for the number is not listed
        assert [record.submission_id for record in records] == ["91000", "91001"]
    assert records[0].submitted_at is not None


def _one_row(verdict: str, time: str = "2026-03-01 12:34 UTC") -> SubmissionRecord:
    (record,) = _read(
        "<table><tr><th>ID</th><th>Date</th><th>User</th><th>Problem</th><th>Result</th></tr>"
        f"<tr><td>51234</td><td>{time}</td><td>bob</td><td>A</td><td>{verdict}</td></tr></table>"
    )
    return record


def test_a_verdict_that_is_a_picture() -> None:
    record = _one_row('<span title="wrong answer"><img src="cross.gif" alt="wrong answer"></span>')
    assert (record.verdict, record.verdict_raw) == ("WA", "wrong answer")
    scored = _one_row('<span title="accepted"><img src="tick.gif"><br>(100)</span>')
    assert (scored.verdict, scored.verdict_raw) == ("AC", "(100)")
    assert any("stands behind" in note for note in scored.notes)


def test_a_title_never_goes_before_words_that_are_shown() -> None:
    assert _one_row('<span title="Accepted">Wrong answer</span>').verdict == "WA"
    assert _one_row('<span title="Accepted solutions of others">NG</span>').verdict == "UNKNOWN"


@pytest.mark.parametrize(
    "time",
    [
        '<a title="2026年3月1日 12:34 UTC" data-timestamp="1">1時間前</a>',
        '<time datetime="2026-03-01T12:34:00Z">an hour ago</time>',
        '<span title="2026년 3월 1일 12:34 +00:00">1시간 전</span>',
    ],
)
def test_a_relative_time_with_the_instant_behind_it(time: str) -> None:
    record = _one_row("AC", time)
    assert record.submitted_at is not None
    assert record.submitted_at.isoformat() == "2026-03-01T12:34:00+00:00"
    assert any("stands behind" in note for note in record.notes)


def test_a_relative_time_alone_stays_unknown() -> None:
    record = _one_row("AC", '<span title="show all">3 hours ago</span>')
    assert (record.submitted_at, record.timestamp_raw) == (None, "3 hours ago")


def test_a_state_that_only_says_that_there_is_a_result() -> None:
    page = (
        "<h3>Submission details</h3><table><tr><td>Task:</td><td><a href='/problemset/task/1068'>Odd</a></td></tr>"
        "<tr><td>Sender:</td><td><a href='/user/12'>al</a></td></tr><tr><td>Status:</td><td>READY</td></tr>"
        "<tr><td>Result:</td><td><b>TIME LIMIT EXCEEDED</b></td></tr></table>"
        "<h3>Test results</h3><table><tr><th>test</th><th>verdict</th><th>time</th></tr>"
        "<tr><td>#1</td><td>ACCEPTED</td><td>0 s</td></tr></table>"
        "<pre>int main() {\n\treturn 0;\n}\n</pre>"
    )
    (record,) = _read(page)
    assert (record.verdict, record.problem_id, record.participant) == ("TLE", "1068", "12")
    assert record.source_code == "int main() {\n\treturn 0;\n}\n"


def test_a_heading_says_whose_submission_and_of_which_problem() -> None:
    page = (
        "<h1><a href='/user/admin'>My judge</a></h1><h2>Submission #4711 of <a href='/problem/aplusb'>A Plus B</a> by "
        "<a href='/user/carol'>carol</a></h2><pre class='source'>print(1)\nprint(2)\n</pre>"
    )
    (record,) = _read(page)
    assert (record.submission_id, record.problem_id, record.participant) == ("4711", "aplusb", "carol")
    assert record.verdict == "UNKNOWN"
