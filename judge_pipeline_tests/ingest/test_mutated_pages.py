"""Real saved pages, spoilt as they get spoilt: in other encodings, cut off, without closing tags, in another page.

Whatever is done to a page, a verdict is the page's own or not decided, and a source is the page's own or noted.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge_pipeline.ingest.records import SubmissionRecord, UnreadableArtifact
from judge_pipeline.ingest.submissions import read_submissions
from judge_pipeline.settings import ContestSettings

_PAGES = (
    "prosaic-26__Codeforces-Solutions/510/B_Fox_And_Two_Dots_.cpp.html",
    "iamjanvijay__codeforces-jvj_iit-submissions/785/C_Anton_and_Fairy_Tale_.py.html",
    "kyuridenamida__atcoder-tools/tests/resources/test_atcoder_client_mock/my_submissions/1.html",
    "mejmo__spoj-submitter/resources/result-accepted.html",
    "skygragon__leetcode-cli/test/mock/two-sum.submission.73790064.html.20161006.html",
)
_ENCODINGS = (
    "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "shift_jis", "euc_jp", "iso-2022-jp", "cp1251", "cp866", "gb18030",
)  # fmt: skip
_UNDECIDED = ("UNKNOWN", "PENDING")
_SURE_OF_NOT_ALL = ("never closed", "by its look", "visible lines")


@pytest.fixture(params=_PAGES, ids=[path.split("__")[0] + "/" + path.rsplit("/", 1)[1] for path in _PAGES])
def page(request: pytest.FixtureRequest, shared: Path) -> str:
    return (shared / "cases/submissions" / str(request.param)).read_bytes().decode("utf-8")


def _read(data: bytes) -> list[SubmissionRecord]:
    try:
        return read_submissions(data, "page.html", ContestSettings())
    except UnreadableArtifact:
        return []


def _told(records: list[SubmissionRecord]) -> list[tuple[object, ...]]:
    return [
        (r.row, r.participant, r.problem_id, r.verdict, r.verdict_raw, r.language, r.timestamp_raw, r.submitted_at,
         r.submission_id, r.source_code)
        for r in records
    ]  # fmt: skip


@pytest.mark.parametrize("encoding", _ENCODINGS)
def test_a_page_in_another_encoding_says_the_same(page: str, encoding: str) -> None:
    declared = page
    if not encoding.startswith("utf"):
        declared = re.sub(r"(charset\s*=\s*[\"']?)[\w-]+", lambda match: match[1] + encoding, page, flags=re.I)
    try:
        data = declared.encode(encoding)
    except UnicodeEncodeError:
        pytest.skip("this encoding has not all characters of the page")
    assert _told(_read(data)) == _told(_read(page.encode()))


def test_other_line_ends_are_the_source_s_own(page: str) -> None:
    told, windows = _read(page.encode()), _read(page.replace("\r\n", "\n").replace("\n", "\r\n").encode())
    assert [r.verdict for r in windows] == [r.verdict for r in told]
    for ours, other in zip(told, windows, strict=True):
        if ours.source_code is not None and other.source_code is not None:
            assert other.source_code.replace("\r\n", "\n") == ours.source_code.replace("\r\n", "\n")


def _spoilt(page: str) -> Iterator[str]:
    for twentieth in range(1, 20):
        place = len(page) * twentieth // 20
        yield page[:place]
        yield page[place:]
    chance = random.Random(20)
    for tags in ("td", "tr", "pre", "span|div|a", "table", "[a-z0-9]+"):
        for rate in (0.05, 1.0):
            yield re.sub(f"</(?:{tags})>", lambda match, r=rate: "" if chance.random() < r else match[0], page)  # type: ignore[misc]
    yield f"<!DOCTYPE html><html><body><a href='/users/me'>Me</a>\n{page}\n<p>end</p></body></html>"
    yield f"//Problem Name : x\n//Memory : 0 KB\n{page}"
    yield page + page


def test_spoilt_pages_decide_nothing_else(page: str) -> None:
    whole = _read(page.encode())
    verdicts = {record.submission_id: record.verdict for record in whole}
    sources = {record.source_code for record in whole}
    for spoilt in _spoilt(page):
        for record in _read(spoilt.encode()):
            own = verdicts.get(record.submission_id, whole[0].verdict if len(whole) == 1 else record.verdict)
            assert record.verdict in (*_UNDECIDED, own)
            exact = record.source_code is None or record.source_code in sources
            assert exact or any(sign in note for note in record.notes for sign in _SURE_OF_NOT_ALL)
