"""What fields are called, and labels in running text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.ingest.fields import field_of, labelled_parts
from judge_pipeline.ingest.submissions import read_submissions
from judge_pipeline.settings import ContestSettings


@pytest.mark.parametrize(
    ("label", "field"),
    [
        ("Problem", "problem_id"), ("problemId", "problem_id"), ("problem_id", "problem_id"), ("問題", "problem_id"),
        ("ＵＳＥＲ", "participant"), ("User ID", "participant"), ("ユーザ名", "participant"), ("#", "submission_id"),
        ("Run ID", "submission_id"), ("Run#", "submission_id"), ("judge-status", "verdict"), ("結果", "verdict"),
        ("Submitted_at", "timestamp"), ("提出日時", "timestamp"), ("Lang.", "language"), ("コード長", "other"),
        ("Time", "time"),
        ("Story", None), ("", None), ("x" * 100, None),
    ],
)  # fmt: skip
def test_labels(label: str, field: str | None) -> None:
    assert field_of(label) == field


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Result: AC", [("verdict", "AC")]),
        (
            "Submitted at: 2026-03-01 12:34:56 JST Result: WA",
            [("timestamp", "2026-03-01 12:34:56 JST"), ("verdict", "WA")],
        ),
        ("Problem : 1000 ( A + B ) Judge Status : WA", [("problem_id", "1000 ( A + B )"), ("verdict", "WA")]),
        ("Language: C++ Memory: 12KB Result: AC", [("language", "C++"), ("other", "12KB"), ("verdict", "AC")]),
        ("問題：A　結果：不正解", [("problem_id", "A"), ("verdict", "不正解")]),
        ("**Problem:** A **User:** E001", [("problem_id", "A"), ("participant", "E001")]),
        ("problem: A  user: E001, result: AC", [("problem_id", "A"), ("participant", "E001"), ("verdict", "AC")]),
        ("Problem: My user: a story", [("problem_id", "My user: a story")]),
        ("Problem: Time: the final", [("problem_id", "Time: the final")]),
        ("Result: AC (id: 5)", [("verdict", "AC (id: 5)")]),
        ("Problem:", [("problem_id", "")]),
        ("URL: https://x/y", []),
        ("no label", []),
    ],
)
def test_labels_in_running_text(text: str, parts: list[tuple[str, str]]) -> None:
    assert labelled_parts(text) == parts


@settings(deadline=None)
@given(st.text(max_size=80))
def test_any_text_has_parts_or_none(text: str) -> None:
    assert all(name is not None for name, _ in labelled_parts(text))


def test_pages_of_older_judges() -> None:
    poj = """<html><body><table><tr><td><b>Problem:</b> <a href="problem?id=1000">1000</a></td><td><b>User:</b>
      <a href="userstatus?user_id=bob">bob</a></td></tr><tr><td><b>Memory:</b> 4K</td><td><b>Time:</b> 0MS</td>
      </tr><tr><td>
      <b>Language:</b> G++</td><td><b>Result:</b> <font color=blue>Wrong Answer</font></td></tr></table>
      <ul><li>Source Code</li></ul><pre class="sh_cpp">int main() { return a &lt; b; }</pre></body></html>"""
    (record,) = read_submissions(poj.encode(), "poj.html", ContestSettings())
    assert (record.problem_id, record.participant, record.language, record.verdict) == ("1000", "bob", "G++", "WA")
    assert record.source_code == "int main() { return a < b; }"
    hdu = """<html><body><div>Problem : <a href="showproblem.php?pid=1001">1001</a> ( Sum )&nbsp;&nbsp;
      Judge Status : Accepted
      <br>RunId : 123456 &nbsp; Language : C++ &nbsp; Author : <a href="/userstatus.php?user=bob">bob</a></div>
      <textarea>int main() {\n  return 0;\n}</textarea></body></html>"""
    (record,) = read_submissions(hdu.encode(), "hdu.html", ContestSettings())
    assert (record.problem_id, record.participant, record.language) == ("1001", "bob", "C++")
    assert (record.verdict, record.submission_id) == ("AC", "123456")


def test_a_problem_statement_is_no_submission() -> None:
    page = "<html><body><h1>A - Sum</h1><h3>Sample Input</h3><pre id='pre-sample0'>3 4\n5 6\n</pre></body></html>"
    with pytest.raises(ValueError, match="shows no submission"):
        read_submissions(page.encode(), "a.html", ContestSettings())
