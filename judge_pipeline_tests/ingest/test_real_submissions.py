"""The real saved pages of ../shared/cases: what each of them says, field by field."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from judge_pipeline.ingest.records import SubmissionRecord, UnreadableArtifact
from judge_pipeline.ingest.submissions import read_submissions
from judge_pipeline.settings import ContestSettings
from judge_pipeline.tables import SUBMISSION_ARTIFACTS

_FIELDS = (
    "problem_id", "participant", "verdict_raw", "verdict", "language", "timestamp_raw", "submission_id", "source_lines",
    "source_sha256",
)  # fmt: skip
_ROW_FIELDS = {
    "submission_id": "submission_id", "problem_id": "problem_id", "user": "participant", "verdict_raw": "verdict_raw",
    "verdict_norm": "verdict", "language": "language", "timestamp_raw": "timestamp_raw",
}  # fmt: skip


def _table(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


def _read(cases: Path, path: str) -> list[SubmissionRecord]:
    return read_submissions((cases / path).read_bytes(), path, ContestSettings())


def _report(hits: Counter[str], total: Counter[str], misses: list[str]) -> None:
    print("\n" + "\n".join(f"{name}: {hits[name]} of {total[name]}" for name in total))
    assert not misses, "\n".join(misses)


def test_every_page_as_expected(shared: Path) -> None:
    hits: Counter[str] = Counter()
    total: Counter[str] = Counter()
    misses: list[str] = []
    for expected in _table(shared / "cases/expected.tsv"):
        if expected["kind"] != "page":
            continue
        records = _read(shared / "cases", expected["path"])
        for name in _FIELDS:
            if not expected[name]:
                continue
            total[name] += 1
            found = {str(getattr(record, name)) for record in records}
            hits[name] += found == {expected[name]}
            misses += (
                [f"{expected['path']}: {name} is {found}, not {expected[name]!r}"] if found != {expected[name]} else []
            )
    _report(hits, total, misses)
    assert total["source_sha256"] >= 11


def test_every_row_of_every_list_as_expected(shared: Path) -> None:
    hits: Counter[str] = Counter()
    total: Counter[str] = Counter()
    misses: list[str] = []
    by_path: dict[str, list[dict[str, str]]] = {}
    for row in _table(shared / "cases/expected_rows.tsv"):
        by_path.setdefault(row["path"], []).append(row)
    for path, rows in by_path.items():
        records = {record.row: record for record in _read(shared / "cases", path)}
        assert sorted(map(str, records)) == sorted(row["row"] for row in rows)
        for row in rows:
            record = records[int(row["row"])]
            for name, ours in _ROW_FIELDS.items():
                if not row[name]:
                    continue
                total[name] += 1
                found = getattr(record, ours)
                hits[name] += found == row[name]
                misses += (
                    [f"{path}, row {row['row']}: {name} is {found!r}, not {row[name]!r}"] if found != row[name] else []
                )
    _report(hits, total, misses)
    assert total["submission_id"] >= 113


def test_times_with_a_stated_zone_are_instants(shared: Path) -> None:
    folder = shared / "cases/submissions"
    (page,) = _read(folder, next(folder.glob("prosaic*/510/*")).relative_to(folder).as_posix())
    assert page.submitted_at is not None
    assert page.submitted_at.isoformat() == "2019-06-21T09:10:57+00:00"  # 12:10:57 at the page's utc_offset +03:00
    listed = _read(folder, next(folder.rglob("my_submissions/1.html")).relative_to(folder).as_posix())
    assert listed[0].submitted_at is not None
    assert listed[0].submitted_at.isoformat() == "2020-05-16T19:23:27+00:00"
    spoj = _read(folder, next(folder.rglob("result-accepted.html")).relative_to(folder).as_posix())
    assert {record.submitted_at for record in spoj} == {None}


@pytest.mark.slow
def test_no_file_crashes_any_reader(shared: Path) -> None:
    """Chats and feeds, too, are given to the readers of submissions, whole, cut short and with bytes changed."""
    for file in sorted((shared / "cases").rglob("*")):
        if not file.is_file():
            continue
        data = file.read_bytes()
        half = len(data) // 2
        for variant in (
            data,
            data[:half],
            data[half:],
            data.replace(b"<", b"&lt;", 50),
            data[:half] + b"\xff\x00" + data[half:],
        ):
            try:
                records = read_submissions(variant, file.name, ContestSettings())
            except UnreadableArtifact as unreadable:
                assert unreadable.remedy
                continue
            SUBMISSION_ARTIFACTS.conform([record.to_row() for record in records])


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.99])
def test_a_list_cut_short_gives_the_rows_that_are_whole(shared: Path, share: float) -> None:
    file = next((shared / "cases/submissions").rglob("my_submissions/1.html"))
    data = file.read_bytes()
    whole = {r.submission_id: r for r in read_submissions(data, "1.html", ContestSettings())}
    try:
        cut = read_submissions(data[: int(share * len(data))], "1.html", ContestSettings())
    except UnreadableArtifact:
        assert share < 0.5
        return
    for record in cut[:-1]:
        assert record.submission_id in whole
        assert record.verdict == whole[record.submission_id].verdict
