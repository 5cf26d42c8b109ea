"""The door to all readers: what is refused and why, and input made to do harm."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from judge_pipeline.ingest.records import SubmissionRecord, UnreadableArtifact, count_lines
from judge_pipeline.ingest.submissions import read_submissions
from judge_pipeline.settings import ContestSettings
from judge_pipeline.tables import SUBMISSION_ARTIFACTS
from judge_pipeline_tests.ingest import page_layouts as layouts

_SETTINGS = ContestSettings()


def _or_reason(data: bytes, path: str = "x.html") -> list[SubmissionRecord] | UnreadableArtifact:
    """What is read, or the reader's own exception; any other would be a defect and fails the test."""
    try:
        return read_submissions(data, path, _SETTINGS)
    except UnreadableArtifact as unreadable:
        assert unreadable.reason
        assert unreadable.remedy
        return unreadable


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is empty"), (b" \n\t ", "is empty"), (b"PK\x03\x04abc", "no whole ZIP"), (b"%PDF-1.7", "PDF"),
        (b"\x89PNG\r\n", "image"),
        (bytes(range(32)) * 50, "binary"), (b"\x1f\x8b\x08", "gzip"), (b"PAR1....", "no whole Parquet"),
        (b"<html><body>Sign in</body></html>", "shows no submission"), (b"hello", "holds no submission"),
    ],
)  # fmt: skip
def test_what_is_no_submission_is_refused_with_a_reason(data: bytes, why: str) -> None:
    with pytest.raises(UnreadableArtifact, match=why) as raised:
        read_submissions(data, "E001/A/x.html", _SETTINGS)
    assert raised.value.path == "E001/A/x.html"
    assert raised.value.remedy


_HOSTILE: dict[str, Callable[[], bytes]] = {
    "nested div": lambda: b"<div>" * 500_000,
    "nested b p": lambda: b"<b><p>" * 100_000,
    "nested tables": lambda: b"<table><tr><td>" * 50_000,
    "nested spans in pre": lambda: b"<p>Result: AC</p><pre>" + b"<span a=1>" * 100_000 + b"x",
    "open pres": lambda: b"<pre>" * 100_000,
    "closed pres": lambda: b"<pre>x</pre>" * 100_000,
    "closing pres": lambda: b"<pre>" + b'"</pre>" + ' * 100_000,
    "angle brackets": lambda: b"<pre>" + b"<" * 500_000,
    "tag starts": lambda: b"<pre>" + b"<span " * 500_000,
    "ampersands": lambda: b"<pre>" + b"&" * 500_000 + b"</pre>",
    "entities": lambda: b"<pre>" + b"&lt;" * 500_000 + b"</pre>",
    "comments": lambda: b"<!--" * 500_000,
    "scripts": lambda: b"<script>" * 100_000,
    "attributes": lambda: b"<p " + b"a=1 " * 500_000 + b">x</p>",
    "quotes": lambda: b"<html><p a='" + b"\"'" * 500_000,
    "rows": lambda: (
        b"<table><tr><th>Problem<th>Verdict<th>User</tr>" + b"<tr><td>A<td>AC<td>u</tr>" * 30_000 + b"</table>"
    ),
    "cells": lambda: b"<table><tr><th>Problem<th>Verdict" + b"<td colspan=99999999>x" * 20_000,
    "one line": lambda: b"Problem: A " * 500_000,
    "labels": lambda: b"Result: WA\n" * 50_000,
    "fences": lambda: b"```\n" * 100_000,
    "fences of growing length": lambda: b"\n".join(b"`" * i for i in range(3, 2000)),
    "table rules": lambda: b"|a|b|\n|-|-|\n" * 100_000,
    "pipes": lambda: b"|" * 500_000 + b"\n|-|\n",
    "dashes": lambda: b"|" + b"-" * 500_000 + b"\n" + b"|" + b"- " * 50_000 + b"x\n",
    "blanks": lambda: b"Problem: A\nResult: AC\n\n" + b" " * 3_000_000 + b"x = 1;",
    "numbered": lambda: b"<p>Result: AC</p><pre>" + b"\n".join(b"%d x" % i for i in range(1, 50_000)) + b"</pre>",
    "NULs": lambda: b"<pre>\0\0\0int main(){}\0</pre>Result: AC",
    "zeros": lambda: b"\0" * 500_000,
    "deep JSON": lambda: b"[" * 500_000,
    "deep JSON objects": lambda: b'{"a":' * 50_000,
    "wide JSON": lambda: b"[" + b'{"user":"u","problem":"A","verdict":"AC"},' * 50_000 + b'{"user":"u"}]',
    "JSON lines": lambda: b'{"x":1}\n' * 50_000,
    "parts within parts": lambda: (
        b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b0\n\n"
        + b"".join(b"--b%d\nContent-Type: multipart/mixed; boundary=b%d\n\n" % (i, i + 1) for i in range(3000))
    ),
    "cjk": lambda: ("結果：" * 500_000).encode("euc_jp"),
    "verdict": lambda: b"<p>Problem: A</p><p>Result: " + b"Accepted " * 50_000 + b"</p><pre>x;</pre>",
    "huge page": lambda: b"<html><body>" + b"<p>x</p>" * 4_000_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", _HOSTILE)
def test_hostile_input_is_bounded(name: str) -> None:
    data = _HOSTILE[name]()
    start = time.process_time()
    _or_reason(data)
    assert time.process_time() - start < 6


_fragments = st.sampled_from(
    [
        "<pre>", "</pre>", "<table>", "<tr>", "<td>", "<th>", "</td>", "</tr>", "</table>", "<code>",
        "</code>", "<span class='k'>",
        "</span>", "<li>", "</li>", "<div class=\"ace_line\">", "</div>", "<script>", "</script>", "<!--",
        "-->", "<br>", "&lt;", "&#x110000;",
        "Problem: A\n", "Result: WA\n", "Verdict", "Status", "Problem", "User",
        "Submitted at: 2026-03-01 10:00 JST\n", "```\n", "~~~\n", "---\n",
        "| a | b |\n", "|---|---|\n", "{\"judgeId\": 1, \"problemId\": \"A\"}", "[", "]", "{", "}",
        "int main() {}\n", "1 x\n2 y\n3 z\n", "======\n",
        "statusres_1", "sproblem", "<td class='statusres' id='statusres_1' status=15>622</td>",
        "submissionCode: '\\u00", "leetcode",
        "<title>Codeforces</title>", "<meta name='utc_offset' content='+99:00'>", "結果: 正解\n", "\r\n", "\0",
        "\ufeff", "#", "<a href='http://[x/users/u'>u</a>",
    ]
)  # fmt: skip


@settings(deadline=None)
@given(
    st.lists(st.one_of(_fragments, st.text(max_size=20)), max_size=40),
    st.sampled_from(["x.html", "x.md", "1_AC.cpp", "x.json"]),
)
@example(["<meta name='utc_offset' content='+99:00'>", "<title>Codeforces</title>", "<pre>", "x"], "x.html")
def test_any_mixture_gives_records_that_fit_the_table_or_a_reason(parts: list[str], path: str) -> None:
    data = "".join(parts).encode("utf-8", "surrogatepass")
    read = _or_reason(data, path)
    if not isinstance(read, UnreadableArtifact):
        SUBMISSION_ARTIFACTS.conform([record.to_row() for record in read])


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=400))
def test_any_bytes_give_records_or_a_reason(data: bytes) -> None:
    for path in ("x.html", "x.txt", "x.py"):
        read = _or_reason(data, path)
        if not isinstance(read, UnreadableArtifact):
            SUBMISSION_ARTIFACTS.conform([record.to_row() for record in read])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp932", "euc_jp"])
def test_a_page_reads_alike_in_any_encoding(encoding: str) -> None:
    source = "// 合計を求める\nint main() { return 0; }\n"
    page = "<html><body><p>結果: 不正解</p><p>問題: A</p>" + layouts.encoded(source) + "</body></html>"
    (record,) = read_submissions(page.encode(encoding), "x.html", _SETTINGS)
    assert (record.source_code, record.verdict, record.problem_id) == (source, "WA", "A")


@pytest.mark.parametrize(
    ("text", "lines"), [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("a\r\nb\r\n", 2), ("\n\n", 2), ("a\rb", 2)]
)
def test_lines_are_counted_however_they_end(text: str, lines: int) -> None:
    assert count_lines(text) == lines


def test_the_folder_fills_what_the_page_does_not_say_and_conflicts_are_noted() -> None:
    page = b"<p>Result: AC</p><pre>x;</pre>"
    (record,) = read_submissions(page, "x.html", _SETTINGS, "data/submissions/E001/A/x.html")
    assert (record.participant, record.problem_id, record.path) == ("E001", "A", "x.html")
    page = b"<p>Result: AC</p><p>Problem: B</p><p>User: <a href='/users/tourist'>Gennady</a></p><pre>x;</pre>"
    (record,) = read_submissions(page, "submissions/E001/A/x.html", _SETTINGS)
    assert (record.participant, record.problem_id) == ("tourist", "B")
    assert "the folder's participant is 'E001'" in record.notes
    assert "the folder's problem is 'A'" in record.notes
    names = ContestSettings(problem_names={"B": "A"})
    (record,) = read_submissions(page, "submissions/E001/A/x.html", names)
    assert record.problem_id == "A"
    assert not any("problem" in note for note in record.notes)
