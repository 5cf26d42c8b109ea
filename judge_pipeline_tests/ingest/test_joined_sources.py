"""Sources in other files than the list: feeds with archives, Project CodeNet, tables with files, exports."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import pytest

from judge_pipeline.ingest.attempts import attempt_id
from judge_pipeline.ingest.contest import ContestRead, read_contest
from judge_pipeline.settings import ContestSettings
from judge_pipeline_tests.ingest.test_zip_members import pack

_CODENET = (
    "submission_id,problem_id,user_id,date,language,original_language,filename_ext,status,cpu_time,memory,code_size,"
    "accuracy\n"
)
_CODE = b"#include <map>\r\nint main() { return 0; }\n// 1 < 2\t"


def _lay(folder: Path, files: dict[str, bytes | str]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return folder


def _contest(folder: Path, files: dict[str, bytes | str], **setting: Any) -> ContestRead:
    _lay(folder, {f"submissions/{name}": data for name, data in files.items()})
    return read_contest(folder, "c", ContestSettings.model_validate(setting))


def _rows(read: ContestRead) -> dict[str, dict[str, Any]]:
    rows = read.submission_artifacts.astype(object).where(read.submission_artifacts.notna(), None).to_dict("records")
    return {row["submission_id"]: row for row in rows}


def _feed(*numbers: str, **more: Any) -> str:
    events: list[dict[str, Any]] = []
    for number in numbers:
        submission = {"id": number, "team_id": "t1", "problem_id": "A", "time": "2026-03-01T10:00:00+09:00"} | more
        events += [
            {"type": "submissions", "id": number, "data": submission},
            {"type": "judgements", "id": number, "data": {
                "id": number, "submission_id": number, "judgement_type_id": "WA"}},
        ]  # fmt: skip
    return "\n".join(map(json.dumps, events))


@pytest.mark.parametrize(
    "place",
    ["submissions/7/files.zip", "submissions/7.zip", "7.zip", "7/files.zip", "contests/x/submissions/7/files.zip",
     "submissions/7/a.cpp", "submissions/7/files/a.txt", "submissions/7/source.zip"],
)  # fmt: skip
@pytest.mark.parametrize("folder", ["clics/", ""])
def test_a_feed_and_the_sources_beside_it(tmp_path: Path, place: str, folder: str) -> None:
    data = pack([("a.cpp", _CODE)]) if place.endswith(".zip") else _CODE
    files = [{"href": "contests/x/submissions/7/files", "filename": "files.zip"}]
    read = _contest(tmp_path, {f"{folder}event-feed.ndjson": _feed("7", "8", files=files), f"{folder}{place}": data})
    rows = _rows(read)
    assert rows["7"]["source_code"] == _CODE.decode()
    assert rows["7"]["source_sha256"] == hashlib.sha256(_CODE).hexdigest()
    assert rows["7"]["source_lines"] == 3
    assert rows["7"]["source_path"].startswith(f"submissions/{folder}{place}")
    assert (rows["8"]["source_code"], rows["8"]["source_path"]) == (None, None)
    assert "no source lies beside" in rows["8"]["notes"]
    assert len(read.quarantine) == 0
    assert list(read.attempts["participant"]) == ["t1", "t1"]
    assert set(read.attempts["attempt_id"]) == {attempt_id("c", "t1", "A", n, None, None) for n in "78"}


def test_a_program_of_several_files(tmp_path: Path) -> None:
    archive = pack(
        [
            ("lib.h", b"int a;"),
            ("main.cpp", b'#include "lib.h"\n'),
            ("a.class", b"\xca\xfe\xba\xbe" + bytes(range(32)) * 9),
        ]
    )
    read = _contest(tmp_path, {"f/event-feed.ndjson": _feed("7"), "f/7.zip": archive})
    row = _rows(read)["7"]
    assert row["source_code"] == '#include "lib.h"\nint a;'
    assert "main.cpp, lib.h" in row["notes"]
    assert list(read.quarantine["reason"]) == ["is a binary file, not text"]


def test_archives_that_cannot_be_read_and_ids_that_lead_elsewhere(tmp_path: Path) -> None:
    feed = _feed("7", "../x", "..", ".", "8")
    read = _contest(
        tmp_path, {"f/event-feed.ndjson": feed, "f/7.zip": b"PK\x03\x04cut", "x.zip": pack([("a.c", b"a")])}
    )
    rows = _rows(read)
    assert "cannot be read" in rows["7"]["notes"]
    assert {row["source_code"] for row in rows.values()} == {None}
    assert set(read.quarantine["path"]) == {"submissions/f/7.zip", "submissions/x.zip"}
    assert len(read.attempts) == 5


def test_the_real_feed_with_an_archive_for_each_submission(tmp_path: Path, shared: Path) -> None:
    (file,) = (shared / "cases/event_feeds").rglob("*swerc*.ndjson")
    text = file.read_text(encoding="utf-8")
    numbers = {event["data"]["id"] for event in map(json.loads, text.splitlines()) if event["type"] == "submissions"}
    assert len(numbers) == 197
    archives = {f"s/submissions/{n}/files.zip": pack([("a.py", f"print({n})\n".encode())]) for n in numbers}
    read = _contest(tmp_path, {"s/event-feed.ndjson": text, **archives})
    assert {n: row["source_code"] for n, row in _rows(read).items()} == {n: f"print({n})\n" for n in numbers}
    assert len(read.attempts) == 197
    assert len(read.quarantine) == 0


def test_codenet(tmp_path: Path) -> None:
    rows = [
        "s000000001,p00001,u1,1174968211,C++,C++14 (GCC 5.4.1),cpp,Accepted,10,3000,50,4/4",
        "s000000002,p00001,u1,1174968200,C++,C++,cpp,WA: Presentation Error,10,3000,50,",
        "s000000003,p00001,u2,1174968212,OCaml,OCaml,ml,Waiting for Judging,,,,",
        "s000000004,p00001,u2,1174968213,C,C,c,,,,,", "s000000005,p00001,,1174968213,C,C,c,Accepted,,,,", "broken,row",
    ]  # fmt: skip
    read = _contest(tmp_path, {
        "metadata/p00001.csv": _CODENET + "\n".join(rows),
        "data/p00001/C++/s000000001.cpp": _CODE, "data/p00001/C++/s000000002.cpp": "Problem: Z\n<pre>x</pre>",
        "data/p00001/OCaml/s000000003.ml": "let () = print_endline \"x\"", "data/p00001/C/s000000099.c": "int a;",
    })  # fmt: skip
    found = _rows(read)
    assert found["s000000001"]["source_code"] == _CODE.decode()
    assert found["s000000001"]["language"] == "C++14 (GCC 5.4.1)"
    assert found["s000000002"]["source_code"] == "Problem: Z\n<pre>x</pre>"  # all of it, whatever it looks like
    assert [found[f"s00000000{i}"]["verdict"] for i in (1, 2, 3, 4)] == ["AC", "PE", "PENDING", "UNKNOWN"]
    assert found["s000000004"]["source_code"] is None
    assert list(read.attempts["submission_id"]) == ["s000000002", "s000000001", "s000000003", "s000000004"]
    assert list(read.attempts["participant"]) == ["u1", "u1", "u2", "u2"]
    assert {(q.path.rpartition("/")[2], q.place) for q in read.quarantine.itertuples()} == {
        ("s000000099.c", None), ("p00001.csv", "row 5 (line 6)"), ("p00001.csv", "row 6 (line 7)"),
    }  # fmt: skip


@pytest.mark.slow
def test_codenet_row_by_row(tmp_path: Path) -> None:
    """A CSV of 200,000 rows: a bounded time, and no row held that is not asked for."""
    import itertools
    import tracemalloc

    from judge_pipeline.ingest.codenet import read_metadata

    row = "s{:09d},p00001,u{},1174968211,C++,C++14,cpp,Accepted,10,3000,50,4/4\n"
    text = _CODENET + "".join(row.format(i, i % 999) for i in range(200_000))
    start = time.monotonic()
    tracemalloc.start()
    first = list(itertools.islice(read_metadata(text, "metadata/p00001.csv"), 1000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(first) == 1000
    assert peak < 6 * len(text)
    assert sum(1 for _ in read_metadata(text, "metadata/p00001.csv")) == 200_000
    assert time.monotonic() - start < 60


def test_a_table_with_files_beside_it(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    paths = [
        "src/1.cpp", "src\\2.txt", "./src/3.html", "../E002/4.c", str(secret), "src/none.c", "src/link.txt", "t.csv",
        "src/6.zip", "\0",
    ]  # fmt: skip
    table = "id,user,problem,status,file\n" + "".join(f"{i},u{i},A,AC,{p}\n" for i, p in enumerate(paths, start=1))
    files: dict[str, bytes | str] = {
        "E001/t.csv": table, "E001/src/1.cpp": _CODE, "E001/src/2.txt": "hello", "E001/src/3.html": "<p>no page</p>",
        "E002/4.c": "int other;", "E001/src/6.zip": pack([("x", b"y")]),
    }  # fmt: skip
    contest = tmp_path / "contest"
    _lay(contest, {f"submissions/{name}": data for name, data in files.items()})
    (contest / "submissions/E001/src/link.txt").symlink_to(secret)
    read = read_contest(contest, "c", ContestSettings())
    rows = _rows(read)
    assert [rows[str(i)]["source_code"] for i in (1, 2, 3)] == [_CODE.decode(), "hello", "<p>no page</p>"]
    assert rows["1"]["source_path"] == "submissions/E001/src/1.cpp"
    assert "4" not in rows  # leaves the table's folder
    assert "5" not in rows
    assert not read.submission_artifacts["source_code"].eq("secret").any()
    assert {i: rows[str(i)]["source_code"] for i in (6, 7, 8)} == {6: None, 7: None, 8: None}
    places = {q.place for q in read.quarantine.itertuples() if q.path.endswith("t.csv")}
    assert {"row 4 (line 5)", "row 5 (line 6)", "row 6", "row 7", "row 8"} <= places
    assert not set(read.quarantine["path"]) & {f"submissions/E001/src/{n}" for n in ("2.txt", "3.html")}


def test_an_export_and_its_undecidable_names(tmp_path: Path) -> None:
    names = ["1_AC_one_A.cpp", "2_wrong-answer_one_B.py", "3_WA_team_two_A.c", "4_AC_x_y_Z.c", "readme.txt"]
    archive = pack([(name, f"// {name}\n".encode()) for name in names])
    read = _contest(tmp_path, {"all.zip": archive})
    rows = _rows(read)
    assert {n: (r["participant"], r["problem_id"], r["verdict"]) for n, r in rows.items()} == {
        "1": ("one", "A", "AC"), "2": ("one", "B", "WA"), "3": ("team_two", "A", "WA"),
    }  # fmt: skip
    assert rows["2"]["source_code"] == "// 2_wrong-answer_one_B.py\n"
    assert [q.place for q in read.quarantine.itertuples()] == ["file 4, '4_AC_x_y_Z.c'", "file 5, 'readme.txt'"]
    assert all("archive_names" in q.remedy for q in read.quarantine.itertuples())
    again = _contest(tmp_path, {}, archive_names="{submission_id}_{verdict}_{participant}_{problem_id}",
                     problem_names={"Z": "Z"}, participant_names={"x_y": "E009"})  # fmt: skip
    assert _rows(again)["4"]["participant"] == "E009"
    assert set(read.attempts["attempt_id"]) <= set(again.attempts["attempt_id"])


def test_a_folder_without_lists_is_left_as_it_is(tmp_path: Path) -> None:
    read = _contest(tmp_path, {"E001/A/1_AC.cpp": _CODE})
    assert list(read.submission_artifacts["source_path"]) == [None]
    assert len(read.attempts) == 1
