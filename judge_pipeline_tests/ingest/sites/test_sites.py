"""Contest sites' layouts, in pages of our own made after saved ones: what only that site's pages say."""

from __future__ import annotations

import html

import pytest

from judge_pipeline.ingest.records import SubmissionRecord
from judge_pipeline.ingest.submissions import read_submissions
from judge_pipeline.settings import ContestSettings

_CODE = "#include <map>\nint main() {\n\tfor (int i = 0; i < 9 && i != '4'; i++) f(i);\n}\n"


def _read(page: str) -> list[SubmissionRecord]:
    return read_submissions(page.encode(), "page.html", ContestSettings())


# --- AtCoder ---

_ATCODER = """<!DOCTYPE html><html><head><title>{title}</title><meta property="og:site_name" content="AtCoder">
</head><body>
<p><span class="h2">{title}</span></p><div class="div-btn-copy"><span class="btn-copy btn-pre">Copy</span></div>{source}
<h4>Info</h4><div><table class="table"><tbody>
<tr><th>{labels[0]}</th><td><time class="{time_class}">{time}</time></td></tr>
<tr><th>{labels[1]}</th><td><a href="https://atcoder.jp/contests/abc1/tasks/abc1_d">D - Friends</a></td></tr>
<tr><th>{labels[2]}</th><td>
<a href="https://atcoder.jp/users/alice">Alice A</a> <a href="/contests/abc1/submissions?f.User=alice">
<span title="view"></span></a></td></tr>
<tr><th>{labels[3]}</th><td>C&#43;&#43;23 (GCC 15.2.0)</td></tr><tr><th>{labels[4]}</th><td>0</td></tr>
<tr><th>{labels[5]}</th><td id="judge-status"><span class="label" title="{long}">{status}</span></td></tr>
<tr><th>{labels[6]}</th><td>24 ms</td></tr></tbody></table></div>
<h4>Judge Result</h4><table><tbody><tr><th>Set Name</th><th>Sample</th><th>All</th></tr>
<tr><th>{labels[5]}</th><td><table><tbody><tr><td><span>AC</span></td><td>× 3</td></tr></tbody></table></td>
<td><table><tbody><tr><td><span>WA</span></td><td>× 2</td></tr></tbody></table></td></tr></tbody></table>
<table><thead><tr><th>Case Name</th><th>{labels[5]}</th><th>{labels[6]}</th><th>Memory</th></tr></thead><tbody>
<tr><td>01.txt</td><td>AC</td><td>1 ms</td><td>2 KB</td></tr><tr><td>02.txt</td><td>WA</td><td>1 ms</td>
<td>2 KB</td></tr>
</tbody></table></body></html>"""
_ENGLISH = ("Submission Time", "Task", "User", "Language", "Score", "Status", "Exec Time")
_JAPANESE = ("提出日時", "問題", "ユーザ", "言語", "得点", "結果", "実行時間")


def _atcoder(source: str, labels: tuple[str, ...] = _ENGLISH, **values: str) -> SubmissionRecord:
    fields = {
        "title": "Submission #4711", "time_class": "fixtime fixtime-second", "time": "2026-03-01 12:34:56+0900",
        "status": "WA", "long": "Wrong Answer",
    }  # fmt: skip
    (record,) = _read(_ATCODER.format(source=source, labels=labels, **(fields | values)))
    return record


@pytest.mark.parametrize(("labels", "title"), [(_ENGLISH, "Submission #4711"), (_JAPANESE, "提出 #4711")])
def test_atcoder_as_the_server_sent_it(labels: tuple[str, ...], title: str) -> None:
    source = f'<pre id="submission-code" class="prettyprint linenums">{html.escape(_CODE)}</pre>'
    record = _atcoder(source, labels, title=title)
    assert (record.reader, record.row, record.submission_id) == ("atcoder", None, "4711")
    assert (record.problem_id, record.participant, record.language) == ("abc1_d", "alice", "C++23 (GCC 15.2.0)")
    assert (record.verdict, record.verdict_raw, record.source_code) == ("WA", "WA", _CODE)
    assert record.submitted_at is not None
    assert record.submitted_at.isoformat() == "2026-03-01T03:34:56+00:00"


def test_atcoder_as_a_browser_saved_it() -> None:
    line = '<div class="ace_line" style="top: 85px;"><span class="ace_identifier">{}</span></div>'
    editor = (
        '<pre id="submission-code" data-ace-mode="c_cpp" class=" ace_editor ace-tm"><textarea></textarea>'
        '<div class="ace_gutter"><div class="ace_gutter-cell ">2</div></div><div class="ace_layer ace_text-layer">'
        + "".join(line.format(html.escape(part) * 9) for part in _CODE.split("\n"))
        + f'</div><div style="visibility: hidden;">{"X" * 300}</div></pre>'
    )
    copy = f'<pre id="for_copy0" class="source-code-for-copy">{html.escape(_CODE)}</pre>'
    record = _atcoder(editor + copy, time_class="fixtime-second", time="2026-03-01 12:34:56")
    assert record.source_code == _CODE
    assert (record.submitted_at, record.timestamp_raw) == (None, "2026-03-01 12:34:56")
    alone = _atcoder(editor)
    assert alone.source_code is not None
    assert any("visible lines" in note for note in alone.notes)


def test_atcoder_while_judging() -> None:
    source = f'<pre id="submission-code">{html.escape(_CODE)}</pre>'
    assert _atcoder(source, status="7/31 TLE", long="Judging").verdict == "PENDING"
    assert _atcoder(source, status="WJ", long="Waiting for Judging").verdict == "PENDING"
    odd = _atcoder(source, status="XYZ", long="実行時間制限超過")
    assert (odd.verdict, odd.verdict_raw) == ("TLE", "XYZ")


# --- Codeforces ---

_CODEFORCES = """<html><head><title>{title} - Codeforces</title>{meta}</head><body><div class="datatable"><table>
<tr><th>#</th><th>Author</th><th>Problem</th><th>Lang</th><th>Verdict</th><th>Time</th><th>Memory</th>
<th>Sent</th><th>Judged</th></tr>
<tr><td>44554751</td><td>Practice:<br/><a href="/profile/alice" title="Expert alice">Alice</a></td>
<td><a title="A - Lucky" href="/contest/110/problem/A">110A</a> - <span title="problem revision">20</span></td>
<td>GNU C++14</td>
<td>{verdict}</td><td>62 ms</td><td>12 KB</td><td>{sent}</td><td>2018-10-19 19:50:00</td></tr></table>
</div>{source}</body></html>"""
_PRE = '<pre id="program-source-text" class="prettyprint lang-cpp linenums program-source">{}</pre>'


@pytest.mark.parametrize(
    ("meta", "sent"),
    [
        ('<meta name="utc_offset" content="+03:00"/>', "2018-10-19 19:46:16"),
        ("", 'Oct/19/2018 19:46<sup title="timezone offset" class="timezone-offset">UTC+3</sup>'),
        (
            "<footer>Server time: <span>Oct/20/2018 10:00:00</span><sup>UTC+3</sup> (f3).</footer>",
            "2018-10-19 19:46:16",
        ),
    ],
)
def test_codeforces_pages_state_their_zone(meta: str, sent: str) -> None:
    page = _CODEFORCES.format(
        title="Submission #44554751", meta=meta, verdict="<span class='verdict-rejected'>Wrong answer on test 3</span>",
        sent=sent, source=_PRE.format(html.escape(_CODE)),
    )  # fmt: skip
    (record,) = _read(page)
    assert (record.reader, record.row, record.submission_id) == ("codeforces", None, "44554751")
    assert (record.problem_id, record.participant, record.language) == ("110A", "alice", "GNU C++14")
    assert (record.verdict, record.verdict_raw) == ("WA", "Wrong answer on test 3")
    assert record.submitted_at is not None
    assert record.submitted_at.isoformat()[:16] == "2018-10-19T16:46"
    assert record.source_code == _CODE


def test_codeforces_markup_tells_where_words_do_not() -> None:
    verdict = "<span class='verdict-accepted'>Happy New Year!</span>"
    (record,) = _read(_CODEFORCES.format(title="x", meta="", verdict=verdict, sent="-", source=_PRE.format("x;")))
    assert (record.verdict, record.verdict_raw) == ("AC", "Happy New Year!")
    assert any("markup" in note for note in record.notes)


@pytest.mark.parametrize(
    "heads",
    [("#", "When", "Who", "Problem", "Lang", "Verdict", "Time", "Memory"),
     ("№", "Когда", "Кто", "Задача", "Язык", "Вердикт", "Время", "Память")],
)  # fmt: skip
def test_a_codeforces_list(heads: tuple[str, ...]) -> None:
    row = (
        '<tr data-submission-id="{n}"><td><a href="/contest/1915/submission/{n}">{n}</a></td>'
        "<td>Mar/01/2026 12:0{i}<sup>UTC+3"
        '</sup></td><td><a href="/profile/u{i}">U</a></td><td><a href="/contest/1915/problem/B">B - X</a></td>'
        "<td>PyPy 3</td>"
        "<td><span>{v}</span></td><td>61&nbsp;ms</td><td>0&nbsp;KB</td></tr>"
    )
    verdicts = ["Accepted", "Wrong answer on test 2", "In queue", "Runtime error on test 4", "Hacked"]
    rows = "".join(row.format(n=900 - i, i=i, v=v) for i, v in enumerate(verdicts))
    heading = "".join(f"<th>{name}</th>" for name in heads)
    page = f'<title>Status - Codeforces</title><table class="status-frame-datatable"><tr>{heading}</tr>{rows}</table>'
    records = _read(page)
    assert [r.verdict for r in records] == ["AC", "WA", "PENDING", "RE", "HACKED"]
    assert [r.submission_id for r in records] == ["900", "899", "898", "897", "896"]
    assert {(r.problem_id, r.language) for r in records} == {("1915B", "PyPy 3")}
    assert [r.participant for r in records] == [f"u{i}" for i in range(5)]
    assert records[0].submitted_at is not None
    assert records[0].submitted_at.isoformat() == "2026-03-01T09:00:00+00:00"


# --- SPOJ ---

_SPOJ = """<tr class="kol"><td class="statustext text-center">{n}</td><td class="status_sm">
<span title="{at}">{at}</span></td>
<td class="suser text-center" id="statusuname_{n}"><a href="/users/u{n}/" title="u">Shown</a></td>
<td class="sproblem text-center"><a href="/problems/PRIME1/" title="PRIME1">Primes</a></td>
<td class="statusres text-center" id="statusres_{n}" status="{status}" final="1">{result}<span class="small">
<a href="#">edit</a></span></td>
<td class="slang text-center"><span>C++</span> <span class="small">5</span></td></tr>"""


@pytest.mark.parametrize("frame", ["<table><tbody>{}</tbody></table>", "{}", "<\n{}"])
def test_spoj_lists_and_fragments(frame: str) -> None:
    cells = [("15", "<strong>accepted</strong>", "AC"), ("14", "wrong answer", "WA"), ("15", "622", "AC"),
        ("14", "0", "WA"),
             ("12", "runtime error (SIGSEGV)", "RE"), ("0", "waiting..", "PENDING"), ("99", "7",
             "UNKNOWN")]  # fmt: skip
    rows = "".join(_SPOJ.format(n=i, at="2015-12-11 17:36:51", status=s, result=r) for i, (s, r, _) in enumerate(cells))
    records = _read(frame.format(rows))
    assert [r.verdict for r in records] == [verdict for _, _, verdict in cells]
    assert [(r.row, r.submission_id, r.participant) for r in records] == [(i + 1, str(i), f"u{i}") for i in range(7)]
    assert {(r.problem_id, r.language, r.timestamp_raw) for r in records} == {
        ("PRIME1", "C++ 5", "2015-12-11 17:36:51")
    }
    assert records[2].verdict_raw == "622"


# --- LeetCode ---


def test_leetcode_source_is_only_in_a_script() -> None:
    code = "a<b && c>'d'\r\n\t// \u2028 😀 \\n </script>"
    escaped = "".join(c if c.isalnum() else "".join(f"\\u{u:04X}" for u in _utf16(c)) for c in code)
    page = f"""<html><head><title>Two Sum | Submission Detail | LeetCode OJ</title></head><body><script>
      var pageData = {{ submissionData: {{ status_code: parseInt('14', 10), runtime: '9 ms' }}, questionId: '1',
      getLangDisplay: 'cpp', submissionCode: '{escaped}', editCodeUrl: '/problems/two-sum/',
      checkUrl: '/submissions/detail/73790064/check/', }};</script><pre>nothing here</pre></body></html>"""
    (record,) = _read(page)
    assert record.source_code == code
    assert (record.problem_id, record.submission_id, record.language) == ("two-sum", "73790064", "cpp")
    assert (record.verdict, record.verdict_raw) == ("TLE", "status_code 14")


def _utf16(char: str) -> list[int]:
    data = char.encode("utf-16-be")
    return [int.from_bytes(data[i : i + 2], "big") for i in range(0, len(data), 2)]


# --- Kattis ---

_KATTIS_ROW = """<tr data-submission-id="{id}"><td data-type="plagiarism"></td>{more}
<td data-type="status" style="x"><div class="status is-status-x"><i class="fas status-icon"></i><span>{status}</span>
</div></td><td data-type="cpu"><span>0.07&nbsp;s</span></td><td data-type="lang">{lang}</td>
<td data-type="testcases"><div class="horizontal_item">{tests}</div></td></tr>
<tr class="testcases-row"><td></td><td colspan="6"><div class="status testcase"><i title="Test case 1/9: Accepted"></i>
<i title="Test case 2/9: Wrong Answer"></i></div></td></tr>
"""


def _kattis_row(id: int, status: str, more: str = "", tests: str = "2/9", lang: str = "Python 3") -> str:
    return _KATTIS_ROW.format(id=id, status=status, more=more, tests=tests, lang=lang)


def test_kattis_list_of_a_user_without_its_table() -> None:
    more = (
        '<td data-type="time">2026-03-01 12:34:56</td><td data-type="problem"><a href="/problems/hops">Hops!</a></td>'
    )
    rows = [("Accepted\n   (100)", "AC"), ("Wrong Answer", "WA"), ("Run Time Error", "RE"), ("Running", "PENDING"),
            ("Judged by hand", "UNKNOWN")]  # fmt: skip
    records = _read("\n".join(_kattis_row(500 + i, status, more) for i, (status, _) in enumerate(rows)))
    assert [record.verdict for record in records] == [verdict for _, verdict in rows]
    assert [record.row for record in records] == [1, 2, 3, 4, 5]
    first = records[0]
    assert (first.reader, first.submission_id, first.problem_id) == ("kattis", "500", "hops")
    assert (first.verdict_raw, first.language) == ("Accepted (100)", "Python 3")
    assert (first.timestamp_raw, first.submitted_at) == ("2026-03-01 12:34:56", None)


def test_kattis_list_on_a_problems_page() -> None:
    page = (
        "<!DOCTYPE html><html><head><title>Hops – Kattis</title></head><body><pre>3 4\n</pre>"
        '<span>My Submissions</span><a href="/users/alice-1/submissions/hops">Show</a>'
        '<table id="submissions"><thead><tr><th> </th><th>Judgement</th><th>Runtime</th><th>Language</th></tr></thead>'
        f"<tbody>{_kattis_row(7001, 'Time Limit Exceeded', lang='C++')}</tbody></table></body></html>"
    )
    (record,) = _read(page)
    assert (record.problem_id, record.participant, record.submission_id) == ("hops", "alice-1", "7001")
    assert (record.verdict, record.language, record.source_code) == ("TLE", "C++", None)


def test_kattis_source_goes_to_the_only_submission() -> None:
    source = f'<pre class="source-highlight">{html.escape(_CODE)}</pre>'
    (record,) = _read(f"<html><body><table>{_kattis_row(8, 'Wrong Answer')}</table>{source}</body></html>")
    assert (record.row, record.source_code, record.verdict) == (None, _CODE, "WA")
    two = _read(f"<html><body><table>{_kattis_row(8, 'WA')}{_kattis_row(9, 'AC')}</table>{source}</body></html>")
    assert [(record.submission_id, record.source_code) for record in two] == [("8", None), ("9", None)]
