"""Source files as people archive them: the whole file is the source, whatever its lines look like."""

from __future__ import annotations

import pytest

from judge_pipeline.ingest.records import SubmissionRecord, UnreadableArtifact
from judge_pipeline.ingest.source_files import is_source_file
from judge_pipeline.ingest.submissions import read_submissions
from judge_pipeline.settings import ContestSettings

_SHORT_UNDER_COMMENTS = """# Contest: Round 900
# Problem: 1878A - How much?
# URL: https://codeforces.com/contest/1878/problem/A
# Submission: https://codeforces.com/contest/1878/submission/225012345
# Verdict: Wrong answer on test 2
# Submitted: 2026-03-01 12:34:56 UTC+3
# Language: PyPy 3-64
for _ in range(int(input())):
    print("YES")
"""
_HASKELL = """-- http://judge.u-aizu.ac.jp/onlinejudge/description.jsp?id=ALDS1_1_A&lang=ja
-- http://judge.u-aizu.ac.jp/onlinejudge/review.jsp?rid=1703447#1
main :: IO ()
main =
  getLine >> getContents >>=
    mapM_ (putStrLn . unwords) . solve
    . map words . lines
"""


def _one(text: str, path: str) -> SubmissionRecord:
    (record,) = read_submissions(text.encode(), path, ContestSettings())
    return record


def test_a_short_program_under_long_comments_is_whole() -> None:
    record = _one(_SHORT_UNDER_COMMENTS, "1878/a.py")
    assert (record.reader, record.source_code) == ("source_file", _SHORT_UNDER_COMMENTS)
    assert (record.problem_id, record.submission_id, record.verdict) == ("1878A", "225012345", "WA")
    assert (record.verdict_raw, record.language) == ("Wrong answer on test 2", "PyPy 3-64")
    assert record.submitted_at is not None
    assert record.submitted_at.isoformat() == "2026-03-01T09:34:56+00:00"


def test_a_language_without_signs() -> None:
    record = _one(_HASKELL, "1A.hs")
    assert record.source_code == _HASKELL
    assert (record.problem_id, record.submission_id, record.language) == ("ALDS1_1_A", "1703447", "Haskell")


def test_the_id_in_a_link_goes_before_the_name_beside_it() -> None:
    head = "# 問題:ALDS_11_C - 幅優先探索\n"
    head += "# 問題URL:https://judge.u-aizu.ac.jp/onlinejudge/description.jsp?id=ALDS1_11_C&lang=ja\n"
    assert _one(head + "\nfrom math import gcd\nprint(gcd(4, 6))\n", "x.py").problem_id == "ALDS1_11_C"
    two = "// Problem: A\n// https://open.kattis.com/problems/toilet\n// https://open.kattis.com/problems/hops\n"
    assert _one(two + "int main() {\n\treturn 0;\n}\n", "x.cpp").problem_id == "A"
    assert _one("//https://open.kattis.com/submissions/1758\nint main() {\n}\n", "x.cpp").submission_id == "1758"


@pytest.mark.parametrize(
    "text",
    [
        "I could not solve this one.\nThe time ran out before I began.\n",
        "Problem: A\nResult: WA\nUser: bob\n",
        "My notes\n\n```cpp\nint main() {}\n```\nand more text\n",
        '{"name": "x", "items": [1, 2]}',
        "# nothing\n# but comments\n",
    ],
)
@pytest.mark.parametrize("name", ["a.py", "a.hs"])
def test_notes_under_the_name_of_a_program_are_notes(text: str, name: str) -> None:
    assert not is_source_file(text, name)


def test_sentences_alone_hold_no_submission() -> None:
    with pytest.raises(UnreadableArtifact):
        read_submissions(b"I could not solve this one.\nThe time ran out.\n", "a.py", ContestSettings())


def test_a_page_under_the_name_of_a_program_is_a_page() -> None:
    page = (
        "<html><body><table><tr><th>Problem</th><th>User</th><th>Result</th><th>Date</th></tr>"
        "<tr><td>A</td><td>bob</td><td>WA</td><td>2026-03-01 12:34 UTC</td></tr></table></body></html>"
    )
    assert _one(page, "a.py").verdict == "WA"
