"""Saved pages: the fields by their headings, the source exactly, whatever the layout."""

from __future__ import annotations

import hashlib
import quopri
from collections.abc import Callable
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from judge_pipeline.ingest.code_blocks import without_line_numbers
from judge_pipeline.ingest.records import SubmissionRecord
from judge_pipeline.ingest.submissions import read_submissions
from judge_pipeline.settings import ContestSettings
from judge_pipeline_tests.ingest import page_layouts as layouts

_SETTINGS = ContestSettings()


def _read(page: str, path: str = "x.html") -> list[SubmissionRecord]:
    return read_submissions(page.encode(), path, _SETTINGS)


def _one(page: str) -> SubmissionRecord:
    (record,) = _read(page)
    return record


def _is_no_program(source: str) -> bool:
    """Blank, or made of nothing but numbered lines: no reader can tell such a source from a gutter."""
    return not source.strip() or without_line_numbers(source) is not None or source.split() == ["1"]


@settings(deadline=None)
@given(
    st.one_of(layouts.any_source, layouts.tricky_source),
    st.sampled_from(
        [
            layouts.encoded,
            layouts.highlighted,
            layouts.listed,
            layouts.divided,
            layouts.tabled,
            layouts.beside,
            layouts.numbered,
        ]
    ),
)
@example("a\n\nb\n", layouts.listed)
@example('puts("</pre>");\r\n\t𝄞\u00a0 ', layouts.encoded)
@example("&lt;&amp;nbsp;<br>", layouts.highlighted)
def test_any_source_survives_any_encoded_layout(source: str, layout: Callable[[str], str]) -> None:
    assume(not _is_no_program(source))
    record = _one(layouts.PAGE.format(source=layout(source)))
    assert record.source_code == source
    assert record.source_sha256 == hashlib.sha256(source.encode()).hexdigest()
    assert (record.problem_id, record.participant, record.verdict) == ("c1_a", "alice", "WA")
    assert record.submission_id == "4711"


@settings(deadline=None)
@given(layouts.raw_program, st.sampled_from([layouts.raw, layouts.half_escaped]))
def test_raw_programs_survive(source: str, layout: Callable[[str], str]) -> None:
    record = _one(layouts.PAGE.format(source=layout(source)))
    assert record.source_code == source


@settings(deadline=None)
@given(layouts.raw_program, st.sampled_from(["", "\n", "  ", "\t\n"]))
def test_a_block_that_is_never_closed_is_the_source_with_a_note(source: str, end: str) -> None:
    head, _ = layouts.PAGE.split("{source}")
    record = _one(head.replace("{{", "{").replace("}}", "}") + layouts.unclosed(source + end))
    assert record.source_code == source + end
    assert any("never closed" in note for note in record.notes)


@settings(deadline=None)
@given(layouts.raw_program)
def test_typed_numbers_are_no_code(source: str) -> None:
    assume(source.count("\n") >= 3)
    record = _one(layouts.PAGE.format(source=layouts.typed(source)))
    assert record.source_code is not None
    # A separator at the end of a blank line may have lost its own blank: compare what is behind it.
    assert [a.rstrip(" ") for a in record.source_code.split("\n")] == [a.rstrip(" ") for a in source.split("\n")]


def test_trailing_blanks_make_another_source() -> None:
    pages = [_one(f"<p>Result: AC</p><p>Problem: A</p><pre>x;{end}</pre>") for end in ("", "  ", "\t", "\n")]
    assert len({record.source_sha256 for record in pages}) == 4


def test_the_longest_block_is_the_source_unless_another_names_itself_so() -> None:
    source, longer = "int main(){}", "9 " * 100
    assert _one(f"<p>Result: AC</p><p>Problem: A</p><pre>{longer}</pre><pre>x</pre>").source_code == longer
    page = f'<p>Result: AC</p><p>Problem: A</p><pre class="input">{longer}</pre><pre class="source">{source}</pre>'
    assert _one(page).source_code == source


def test_code_is_the_fallback_where_there_is_no_pre() -> None:
    record = _one("<p>Result: AC</p><p>Problem: A</p><p><code>x</code></p><code>int main() {\n  f(a &lt; b);\n}</code>")
    assert record.source_code == "int main() {\n  f(a < b);\n}"
    assert any("<code>" in note for note in record.notes)


def test_a_language_in_code_is_no_source() -> None:
    record = _one("<p>Result: AC</p><p>Problem: A</p><p>Language: <code>C++23 (GCC 15.2.0)</code></p>")
    assert record.source_code is None
    assert record.language == "C++23 (GCC 15.2.0)"


def test_scripts_and_styles_are_not_read() -> None:
    page = (
        "<script>document.write('<pre>"
        + "x" * 500
        + "</pre>Result: WA')</script><p>Result: AC</p><p>Problem: A</p><pre>y;</pre>"
    )
    record = _one(page)
    assert (record.source_code, record.verdict) == ("y;", "AC")


def test_japanese_labels() -> None:
    page = """<html><body><dl><dt>問題</dt><dd><a href="/contests/k/tasks/k_b">B - 迷路</a></dd>
      <dt>結果</dt><dd>不正解</dd>
      <dt>提出日時</dt><dd>2026年3月1日 12時34分56秒 JST</dd><dt>言語</dt><dd>Python 3</dd>
      <dt>参加者</dt><dd>E007</dd></dl>
      <h3>ソースコード</h3><pre>print(1)\n</pre></body></html>"""
    record = _one(page)
    assert (record.problem_id, record.verdict, record.verdict_raw) == ("k_b", "WA", "不正解")
    assert (record.language, record.participant) == ("Python 3", "E007")
    assert record.submitted_at is not None
    assert record.submitted_at.isoformat() == "2026-03-01T03:34:56+00:00"
    assert record.source_code == "print(1)\n"


_LIST = """<html><body><form><p>User: <select><option>AC</option></select></p></form><table><thead><tr>{extra_head}
<th>Submission Time</th><th>Task</th><th>User</th><th>Language</th><th>Status</th><th>Exec Time</th>
<th>Memory</th><th></th>
</tr></thead><tbody>{rows}</tbody></table></body></html>"""


def _row(number: int, status: str, extra: str = "") -> str:
    tail = f"<td>{status}</td><td>1 ms</td><td>2 KB</td>" if status != "CE" else '<td colspan="3">CE</td>'
    return (
        f"<tr>{extra}<td>2026-03-01 12:00:{number:02d}+0900</td><td><a href='/contests/c/tasks/c_a'>A - Sum</a></td>"
        f"<td><a href='/users/u{number}'>Shown Name</a></td><td>C&#43;&#43;</td>{tail}"
        f"<td><a href='/contests/c/submissions/10{number}'>Detail</a></td></tr>"
    )


@pytest.mark.parametrize(
    ("extra_head", "extra"),
    [("", ""), ("<th></th>", "<td><input type=checkbox></td>"), ("", "<td><input type=checkbox></td>")],
)
def test_cells_are_found_by_heading_in_rows_of_changing_width(extra_head: str, extra: str) -> None:
    statuses = ["WA", "CE", "7/31", "TLE\n(最新)", "NG", "AC"]
    rows = "".join(_row(i, status, extra) for i, status in enumerate(statuses))
    records = _read(_LIST.format(extra_head=extra_head, rows=rows))
    assert [r.row for r in records] == [1, 2, 3, 4, 5, 6]
    assert [r.verdict for r in records] == ["WA", "CE", "PENDING", "TLE", "UNKNOWN", "AC"]
    assert [r.submission_id for r in records] == [f"10{i}" for i in range(6)]
    assert [r.participant for r in records] == [f"u{i}" for i in range(6)]
    assert {r.language for r in records} == {"C++"}
    assert {r.problem_id for r in records} == {"c_a"}
    assert all(r.submitted_at is not None and r.submitted_at.hour == 3 for r in records)


def test_an_empty_list_has_no_submissions() -> None:
    assert _read(_LIST.format(extra_head="", rows="")) == []


def test_test_case_tables_are_no_submissions() -> None:
    cases = "".join(f"<tr><td>{i}</td><td>AC</td><td>1 ms</td></tr>" for i in range(1, 9))
    page = f"""<table><tr><th>Problem</th><td>A</td></tr><tr><th>Status</th><td>WA</td></tr></table><pre>int x;</pre>
      <table><tr><th>#</th><th>Result</th><th>Time</th></tr>{cases}</table>"""
    record = _one(page)
    assert (record.row, record.verdict, record.source_code) == (None, "WA", "int x;")


def test_a_page_with_its_head_cut_off() -> None:
    source = "#include <map>\nint main(){for(int i=0;i<9;i++);}"
    page = layouts.PAGE.format(source=layouts.encoded(source))
    table, block = page.index("<table>"), page.index("<pre id")
    for cut in range(block + 1):
        record = _one(page[cut:])
        assert record.source_code == source, page[cut:][:60]
        assert cut > table or record.verdict == "WA", page[cut:][:60]


def test_the_address_that_a_page_was_saved_from_tells_its_ids() -> None:
    for comment in (
        "<!-- saved from url=(0057)https://atcoder.jp/contests/abc350/submissions/78335986 -->",
        "<!--\n Page saved with SingleFile \n url: https://atcoder.jp/contests/abc350/submissions/78335986 \n-->",
    ):
        record = _one(f"<!DOCTYPE html>\n{comment}<html><body><p>Result: AC</p><pre>x;</pre></body></html>")
        assert record.submission_id == "78335986"


def test_a_page_saved_as_a_web_archive() -> None:
    source = "int a = 1;  // 日本語 =3D\n\tif (a < b && c == d) {}\n"
    page = layouts.PAGE.format(source=layouts.encoded(source))
    archive = MIMEMultipart("related", type="text/html")
    archive["Subject"] = "Submission"
    html_part = MIMEText("", "html", "utf-8")
    html_part.set_payload(page.encode(), "utf-8")
    html_part.replace_header("Content-Transfer-Encoding", "quoted-printable")
    html_part.set_payload(quopri.encodestring(page.encode()).decode())
    archive.attach(html_part)
    archive.attach(MIMEText("p { color: red }", "css"))
    (record,) = read_submissions(b"From: <Saved by Blink>\n" + archive.as_bytes(), "x.mhtml", _SETTINGS)
    assert (record.source_code, record.verdict, record.problem_id) == (source, "WA", "c1_a")


def test_stray_closing_tags() -> None:
    page = "</div></td></table></pre><p>Result: AC</p><p>Problem: A</p></span>"
    page += "<pre>x &lt; y;</pre></pre></div></html></html>"
    record = _one(page)
    assert (record.source_code, record.verdict, record.problem_id) == ("x < y;", "AC", "A")


def test_a_status_nobody_listed_is_kept() -> None:
    record = _one("<p>Result: NG</p><p>Problem: A</p><pre>x;</pre>")
    assert (record.verdict, record.verdict_raw) == ("UNKNOWN", "NG")
    assert any("NG" in note for note in record.notes)


def test_the_rest_of_a_page_that_begins_within_a_script() -> None:
    script = "            $(parent).find('tr').show();\n        }\n    });\n" * 60
    page = (
        f"{script}</script>\n<div>\n<table>\n<tr>\n<td>Verdict</td>\n<td>Wrong answer</td>\n</tr>\n</table>\n"
        '<pre class="prettyprint program-source">int main() {\n\tfor (int i = 0; i<9; i++);\n}\n</pre>\n</div>\n'
    )
    (record,) = _read(page, "A.cpp")
    assert record.source_code == "int main() {\n\tfor (int i = 0; i<9; i++);\n}\n"
    assert record.verdict == "WA"


def test_a_program_that_prints_a_page_is_a_program() -> None:
    program = '#include <cstdio>\nint main() {\n\tputs("<html><body><table><tr><td><pre>");\n\tputs("</pre>");\n}\n' * 9
    (record,) = _read(program, "A.cpp")
    assert (record.reader, record.source_code) == ("source_file", program)


def test_a_tag_that_the_file_ends_within_is_not_shown() -> None:
    page = (
        "<table><tr><th>Problem</th><th>User</th><th>Result</th><th>Lang</th></tr><tr><td>A</td><td>bob</td><td>WA</td>"
    )
    (record,) = _read(page + '<td>C++ <span class="ver')
    assert (record.problem_id, record.verdict, record.language) == ("A", "WA", "C++")
