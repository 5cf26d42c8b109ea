"""docs/how-to/bring-a-contest.md is true: its examples read as it says, its limits are the readers'."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from judge_pipeline.ingest.contest_folder import MAX_ARTIFACT_BYTES
from judge_pipeline.ingest.markup import MAX_DEPTH, MAX_PAGE_CHARS
from judge_pipeline.ingest.submissions import read_submissions
from judge_pipeline.ingest.verdicts import read_verdict
from judge_pipeline.settings import ContestSettings
from judge_pipeline.tables import VERDICTS


@pytest.fixture(scope="module")
def page(checkout: Path) -> str:
    return (checkout / "docs/how-to/bring-a-contest.md").read_text(encoding="utf-8")


def test_the_texts_say_everything(page: str) -> None:
    markdown = re.findall(r"^````markdown\n(.*?)^````$", page, re.S | re.M)
    text = re.findall(r"^```text\n(.*?)^```$", page, re.S | re.M)
    (english,) = read_submissions(markdown[0].encode(), "3.md", ContestSettings())
    assert (english.problem_id, english.participant, english.verdict) == ("A", "E001", "WA")
    assert (english.language, english.submission_id) == ("C++17", "4711")
    assert str(english.submitted_at) == "2026-03-01 03:34:56+00:00"
    assert english.source_code == "int main() { return 0; }"
    (japanese,) = read_submissions(text[0].encode("cp932"), "3.txt", ContestSettings())
    assert (japanese.problem_id, japanese.participant, japanese.verdict) == ("A", "E001", "WA")
    assert (japanese.language, str(japanese.submitted_at)) == ("Python 3", "2026-03-01 03:34:00+00:00")
    assert japanese.source_code == "n = int(input())\nprint(n + 1)\n"


def test_verdicts_and_limits(page: str) -> None:
    assert " ".join(VERDICTS) in page
    for word in ("WJ", "7/31 TLE", "Judging", "ジャッジ待ち"):
        assert word in page
        assert read_verdict(word, {})[0] == "PENDING"
    assert f"{MAX_ARTIFACT_BYTES // 2**20} MiB" in page
    assert f"{MAX_PAGE_CHARS // 10**6} million characters" in page
    assert f"{MAX_DEPTH:,} tags" in page
