"""Plain text, Markdown and source files: fields where people write them, the source between the line breaks."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from judge_pipeline.ingest.records import SubmissionRecord, UnreadableArtifact
from judge_pipeline.ingest.submissions import read_submissions
from judge_pipeline.settings import ContestSettings
from judge_pipeline_tests.ingest import page_layouts as layouts

_SETTINGS = ContestSettings()
_PROGRAM = '#include <cstdio>\nint main() {\n\tputs("a: b");\n\treturn 0;\n}'
_AT = "2026-03-01T03:34:00+00:00"


def _read(text: str, path: str = "try1.md") -> list[SubmissionRecord]:
    return read_submissions(text.encode(), path, _SETTINGS)


def _one(text: str, path: str = "try1.md") -> SubmissionRecord:
    (record,) = _read(text, path)
    return record


_ENGLISH = {
    "front matter": "---\nproblem: A\nuser: E001\nverdict: Wrong Answer\nlanguage: C++\n"
    "submitted_at: 2026-03-01 12:34 JST\nsubmission_id: 77\n---\n\n```cpp\n{}\n```\n",
    "list": "# Attempt 1\n\n- **Problem**: A\n- **User:** E001\n- Result: Wrong answer on test 3\n- Language: `C++`\n"
    "- Submitted at: 2026-03-01 12:34 +0900\n- Submission ID: 77\n\n```\n{}\n```\n",
    "table": "| Field | Value |\n|---|---|\n| Problem | A |\n| User | E001 |\n| Status | WA |\n| Language | C++ |\n"
    "| Submitted | 2026-03-01 12:34 (JST) |\n| ID | 77 |\n\n~~~cpp\n{}\n~~~\n",
    "wide table": "| # | Problem | User | Verdict | Lang | Sent |\n| --- | :-: | --- | --- | --- | --- |\n"
    "| 77 | [A](https://site/contests/c/tasks/A) | [E](https://site/users/E001) | WA | C++ | 2026-03-01 12:34 JST |\n\n"
    "```cpp\n{}\n```\n",
    "headings": "## Problem: A\n## User: E001\n## Verdict: INCORRECT\n## Lang: C++\n## When: Mar/01/2026 12:34 UTC+9\n"
    "## Run ID: 77\n### Source\n```cpp\n{}\n```\nbye\n",
    "plain": "Problem: A\nUser: E001\nResult: WA\nLanguage: C++\nSubmitted at 2026-03-01 12:34 JST\nSubmission ID: 77\n"
    "\n========\n{}\n========\nTests: 3\n",
    "label": "Problem: A\nUser: E001\nResult: WA\nLanguage: C++\nDate: 2026-03-01 12:34 JST\nID: 77\nSource code:\n{}\n"
    "-----------\n",
}
_JAPANESE = {
    "list": "# 提出\n\n- 問題： A\n- 参加者： E001\n- 結果： 不正解\n- 言語： C++\n"
    "- 提出日時： 2026年3月1日 12時34分 JST\n"
    "- 提出番号： 77\n\n```cpp\n{}\n```\n",
    "plain": "問題　A\n参加者　E001\n判定　ＷＡ\n言語　C++\n"
    "提出日時　2026/03/01 12:34 JST\n提出番号　77\n\n------\n{}\n------\n",
    "table": "| 項目 | 値 |\n|---|---|\n| 問題 | A |\n| ユーザ名 | E001 |\n| 結果 | 不正解 (最新) |\n| 言語 | C++ |\n"
    "| 提出日時 | 2026年3月1日 12:34 (JST) |\n| 提出番号 | 77 |\n\n```cpp\n{}\n```\n",
}


@pytest.mark.parametrize("text", [*_ENGLISH.values(), *_JAPANESE.values()], ids=[*_ENGLISH, *_JAPANESE])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_fields_are_found_where_people_write_them(text: str, newline: str) -> None:
    program = _PROGRAM.replace("\n", newline)
    record = _one(text.replace("\n", newline).format(program))
    assert record.source_code == program
    assert (record.problem_id, record.participant, record.verdict) == ("A", "E001", "WA")
    assert (record.language, record.submission_id) == ("C++", "77")
    assert record.submitted_at is not None
    assert record.submitted_at.isoformat() == _AT


def test_a_source_that_runs_to_the_end_ends_as_the_file_does() -> None:
    for end in ("", "\n", "  \n", "\t"):
        record = _one(f"Problem: A\nResult: AC\n\n{_PROGRAM}{end}", "a.txt")
        assert record.source_code == _PROGRAM + end


@settings(deadline=None)
@given(st.one_of(layouts.any_source, layouts.raw_program))
def test_any_source_survives_a_fence(source: str) -> None:
    assume("```" not in source and "\r" not in source)
    record = _one(f"Problem: A\nResult: WA\n\n```cpp\n{source}\n```\n")
    assert record.source_code == source


def test_fields_inside_code_are_code() -> None:
    code = "def f(result: list, status: str):\n    user: str = 'x'\n    return result\nprint(f(1, 2))\nresult = 3\n"
    record = _one(f"Problem: A\n\n{code}", "a.txt")
    assert (record.verdict_raw, record.participant, record.source_code) == (None, None, code)
    record = _one("Problem: A\n```py\nResult: AC\nUser: x\n```\nResult: WA\n")
    assert (record.verdict, record.participant) == ("WA", None)


def test_several_submissions_in_one_text() -> None:
    text = "# Log of E001\nUser: E001\nProblem: A\n"
    for i, verdict in enumerate(("WA", "3/12", "AC"), start=1):
        text += f"\n## Try {i}\nResult: {verdict}\nSubmitted at: 2026-03-01 12:0{i} JST\n```cpp\nint x = {i};\n```\n"
    records = _read(text)
    assert [r.row for r in records] == [1, 2, 3]
    assert [r.verdict for r in records] == ["WA", "PENDING", "AC"]
    assert [r.source_code for r in records] == [f"int x = {i};" for i in (1, 2, 3)]
    assert {(r.participant, r.problem_id) for r in records} == {("E001", "A")}


def test_a_table_of_submissions() -> None:
    text = (
        "User: E001\n\n| Date | Problem | Result | Lang |\n|---|---|---|---|\n| 2026-03-01 12:02 JST | A | AC | C |\n"
        "| 2026-03-01 12:01 JST | A | WA | C |\n"
    )
    records = _read(text)
    assert [(r.row, r.problem_id, r.verdict, r.participant) for r in records] == [
        (1, "A", "AC", "E001"),
        (2, "A", "WA", "E001"),
    ]


def test_an_html_table_in_markdown_holds_languages_and_not_sources() -> None:
    row = (
        '<tr><td>{n}</td><td><a href="https://atcoder.jp/contests/abc1/tasks/abc1_{n}">X</a></td>'
        '<td><a href="https://atcoder.jp/contests/abc1/submissions/55{n}"><code>C++ 20 (gcc 12.2)</code></a></td>'
        "<td>Jan/31/2026 19:08</td></tr>"
    )
    heads = "<tr><th>#</th><th>Problem</th><th>Solution</th><th>Submitted</th></tr>"
    rows = "\n".join(row.format(n=n) for n in (1, 2, 3))
    text = f"# Log\n\n**User:** [me](https://atcoder.jp/users/me)\n\n<table>{heads}\n{rows}\n</table>\n"
    records = _read(text)
    assert [r.problem_id for r in records] == ["abc1_1", "abc1_2", "abc1_3"]
    assert [r.submission_id for r in records] == ["551", "552", "553"]
    assert {r.participant for r in records} == {"me"}
    assert {r.source_code for r in records} == {None}
    assert {(r.submitted_at, r.timestamp_raw) for r in records} == {(None, "Jan/31/2026 19:08")}


def test_a_fence_that_is_never_closed() -> None:
    record = _one(f"Problem: A\nResult: AC\n```cpp\n{_PROGRAM}\n")
    assert record.source_code == _PROGRAM + "\n"
    assert any("never closed" in note for note in record.notes)


def test_prose_is_no_submission() -> None:
    with pytest.raises(UnreadableArtifact, match="holds no submission"):
        _read("# About\n\nThis is how we ran the contest. Thank you, everybody.\n")


@pytest.mark.parametrize(
    ("path", "comment", "wanted"),
    [
        ("ALDS1_1_B_6379609_AC.cpp", "", ("ALDS1_1_B", None, "AC", "6379609", "C++")),
        ("0087_6312149_WA.c", "", ("0087", None, "WA", "6312149", "C")),
        (
            "9876543.py",
            "# Author: tourist\n# Problem: 510B\n# Result: Accepted\n",
            ("510B", "tourist", "AC", "9876543", "Python"),
        ),
        (
            "a.cpp",
            "/**\n * Author: alice\n * URL: https://codeforces.com/contest/510/submission/55860256\n"
            " * Problem: https://codeforces.com/contest/510/problem/B\n * Verdict: Wrong answer on test 2\n */\n",
            ("510B", "alice", "WA", "55860256", "C++"),
        ),
        ("main.java", "// https://atcoder.jp/contests/abc1/tasks/abc1_a\n", ("abc1_a", None, "UNKNOWN", None, "Java")),
        ("wa.py", "", (None, None, "UNKNOWN", None, "Python")),
        ("team_main.cpp", "", (None, None, "UNKNOWN", None, "C++")),
    ],
)
def test_source_files(path: str, comment: str, wanted: tuple[str | None, ...]) -> None:
    code = "print(1)\nfor i in range(3):\n    print(i)\n" if path.endswith("py") else _PROGRAM + "\n"
    record = _one(comment + code, path)
    assert record.source_code == comment + code
    found = (record.problem_id, record.participant, record.verdict, record.submission_id, record.language)
    assert found == wanted
    assert record.reader == "source_file"


def test_a_source_saved_as_text_is_the_whole_file() -> None:
    assert _one(_PROGRAM + "\n", "x.txt").source_code == _PROGRAM + "\n"


def test_a_page_saved_as_a_source_file_is_a_page() -> None:
    record = _one(layouts.PAGE.format(source=layouts.encoded(_PROGRAM)), "B.cpp")
    assert (record.reader, record.source_code, record.verdict) == ("page", _PROGRAM, "WA")


def test_a_source_that_nothing_marks_is_noted() -> None:
    record = _one(f"Problem: A\nResult: WA\n\n{_PROGRAM}\n", "x.txt")
    assert record.source_code == _PROGRAM + "\n"
    assert any("by its look" in note for note in record.notes)
    marked = _one(f"Problem: A\nResult: WA\nSource:\n{_PROGRAM}\n", "x.txt")
    assert not any("by its look" in note for note in marked.notes)
    assert not any("by its look" in note for note in _one(_PROGRAM, "a.cpp").notes)


def test_prose_in_brackets_is_no_program() -> None:
    text = "=====\n\nTRUE POSITIVE (a program that is wrong as was foretold)\n\n=====\n\nIncorrect answers: 2/85\n"
    with pytest.raises(UnreadableArtifact):
        _read(text, "report.txt")


@pytest.mark.parametrize("name", ["list.json", "list.JSONL", "feed.ndjson"])
def test_json_that_is_cut_off_is_no_program(name: str) -> None:
    with pytest.raises(UnreadableArtifact, match="not JSON"):
        _read('"lang":"cpp","status_display":"Wrong Answer"},{"lang":"cpp","time":"now"}]}', name)
