"""Tables of submissions: whose column is whose, text stays text, a wrong row is set aside alone."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta, timezone

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.ingest import parquet_tables
from judge_pipeline.ingest.column_names import columns_of
from judge_pipeline.ingest.records import UnreadableArtifact
from judge_pipeline.ingest.submissions import ArtifactRead, read_artifact
from judge_pipeline.settings import TABLE_COLUMNS, ContestSettings

_HEADER = "submission_id,user,problem,status,language,submitted_at,code"


def _read(data: str | bytes, path: str = "submissions/t.csv", **setting: object) -> ArtifactRead:
    raw = data.encode() if isinstance(data, str) else data
    return read_artifact(raw, path, ContestSettings.model_validate(setting))


def _ids(read: ArtifactRead) -> list[str | None]:
    return [record.submission_id for record in read.records]


def test_ids_stay_the_text_that_they_are() -> None:
    rows = "".join(f"{number},{number},{number},WA,C,1700000000,x\n" for number in ("007", "1e5", "NA", "null", "1.50"))
    read = _read(f"{_HEADER}\n{rows}")
    assert _ids(read) == ["007", "1e5", "NA", "null", "1.50"]
    assert [r.participant for r in read.records] == [r.problem_id for r in read.records] == _ids(read)
    assert read.aside == []
    lines = "\n".join(f'{{"id": {i}, "user": "u", "problem": "A", "verdict": "AC"}}' for i in ("1e5", "1.50", '"007"'))
    assert _ids(_read(lines, "submissions/t.jsonl")) == ["1e5", "1.50", "007"]


@pytest.mark.parametrize(
    ("raw", "instant"),
    [
        ("1700000000", "2023-11-14T22:13:20+00:00"), ("1700000000123", "2023-11-14T22:13:20.123000+00:00"),
        ("1700000000.5", "2023-11-14T22:13:20.500000+00:00"),
        ("2026-03-01T12:00:00+09:00", "2026-03-01T03:00:00+00:00"),
        ("2026-03-01T12:00:00Z", "2026-03-01T12:00:00+00:00"), ("2026-03-01 12:00:00 JST", "2026-03-01T03:00:00+00:00"),
        ("2026-03-01 12:00:00", None), ("", None), ("2026-03-01", None),
    ],
)  # fmt: skip
def test_times(raw: str, instant: str | None) -> None:
    (record,) = _read(f"{_HEADER}\n1,u,A,AC,C,{raw},x\n").records
    assert (record.submitted_at and record.submitted_at.isoformat()) == instant
    if raw == "2026-03-01 12:00:00":
        assert "time has no zone" in record.notes
        (zoned,) = _read(f"{_HEADER}\n1,u,A,AC,C,{raw},x\n", time_zone="Asia/Tokyo").records
        assert zoned.submitted_at == datetime(2026, 3, 1, 3, tzinfo=UTC)
        assert any("Asia/Tokyo" in note for note in zoned.notes)


@pytest.mark.parametrize(
    ("row", "place", "value"),
    [
        ("2,u,A,AC,C,banana,x", "row 2 (line 3)", "banana"), ("2,u,A,AC", "row 2 (line 3)", "'2'"),
        ("2,u,A,AC,C,1700000000,x,y", "row 2 (line 3)", "8 cells"),
        ("2,,A,AC,C,1700000000,x", "row 2 (line 3)", "user"),
        ("2,u, ,AC,C,1700000000,x", "row 2 (line 3)", "problem"), ('2,u,A,AC,C,"1700', "row 2 (line 3)", "not a row"),
        ("2,u,A,AC,C,03/04/2026 12:00,x", "row 2 (line 3)", "03/04/2026"),
    ],
)  # fmt: skip
def test_a_wrong_row_is_set_aside_alone(row: str, place: str, value: str) -> None:
    read = _read(f"{_HEADER}\n1,u,A,AC,C,1700000000,x\n{row}\n3,u,A,AC,C,1700000001,y\n")
    assert _ids(read) == ["1", "3"]
    (aside,) = read.aside
    assert aside.place == place
    assert value in aside.reason
    assert aside.remedy


def test_an_unlisted_verdict_is_kept_and_an_own_word_understood() -> None:
    text = f"{_HEADER}\n1,u,A,NG!,C,1700000000,x\n"
    assert [(r.verdict, r.verdict_raw) for r in _read(text).records] == [("UNKNOWN", "NG!")]
    assert [r.verdict for r in _read(text, verdict_words={"NG": "WA"}).records] == ["WA"]


def test_columns_are_named_in_contest_yaml() -> None:
    text = 'nr;who;what;Urteil;wann;Quelltext\n1;u;A;AC;1700000000;"int a;\nint b; "\n'
    with pytest.raises(UnreadableArtifact, match="'nr', 'who'") as raised:
        _read(text)
    assert "columns:" in raised.value.remedy
    mapping = {
        "submission_id": "nr", "participant": "who", "problem_id": "what", "verdict": "Urteil", "submitted_at": "wann",
        "source_code": "Quelltext",
    }  # fmt: skip
    (record,) = _read(text, columns=mapping).records
    assert (record.submission_id, record.participant, record.problem_id, record.verdict) == ("1", "u", "A", "AC")
    assert record.source_code == "int a;\nint b; "
    items = [{theirs: "1700000000" if ours == "submitted_at" else "x" for ours, theirs in mapping.items()}]
    for body in (json.dumps(items), json.dumps(items[0]) + "\n" + json.dumps(items[0]) + "\n"):
        assert {r.participant for r in _read(body, "submissions/t.json", columns=mapping).records} == {"x"}
    with pytest.raises(ValueError, match="no column of ours"):
        ContestSettings(columns={"user": "who"})


def test_an_id_goes_before_a_name_and_our_own_name_before_all() -> None:
    assert columns_of(["username", "user_id", "id", "submission_id", "status", "verdict"], {}) == {
        "participant": "user_id", "submission_id": "submission_id", "verdict": "verdict",
    }  # fmt: skip
    assert columns_of(["username", "user_id"], {"participant": "username"}) == {"participant": "username"}


@settings(deadline=None)
@given(st.data())
def test_any_mapping_reads_what_was_written(data: st.DataObject) -> None:
    text = st.text(st.characters(categories=("L", "Nd")), min_size=1, max_size=8)
    names = data.draw(st.lists(text, min_size=8, max_size=8, unique=True))
    mapping = dict(zip([c for c in TABLE_COLUMNS if c != "source_path"], names, strict=False))
    code = data.draw(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1))
    values = {ours: data.draw(text) for ours in mapping} | {
        "submitted_at": "1700000000", "verdict": "WA", "source_code": f"x{code}",
    }  # fmt: skip
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(mapping.values())
    writer.writerow([values[ours] for ours in mapping])
    (record,) = _read(stream.getvalue(), columns=mapping).records
    assert record.source_code == values["source_code"]
    assert (record.submission_id, record.participant, record.problem_id, record.language) == tuple(
        values[name] for name in ("submission_id", "participant", "problem_id", "language")
    )


def test_a_table_is_known_by_its_header_and_folders_tell_the_rest() -> None:
    text = "id\tstatus\ttask\n1\tAC\tA\n"
    (record,) = _read(text, "submissions/E001/list.txt").records
    assert (record.participant, record.problem_id, record.reader) == ("E001", "A", "table")
    with pytest.raises(UnreadableArtifact, match="no column for participant"):
        _read(text, "submissions/list.tsv")
    with pytest.raises(UnreadableArtifact, match="not those of submissions"):
        _read("a,b\n1,2\n", "submissions/list.csv")
    with pytest.raises(UnreadableArtifact, match="more than once"):
        _read("id,status,task,user,status\n1,AC,A,u,WA\n")


def test_encodings_of_spreadsheets() -> None:
    text = "提出番号,ユーザー名,問題,結果,提出日時\n1,田中,合計,不正解,2026年3月1日 12時34分 JST\n"
    for encoding in ("cp932", "utf-8-sig", "utf-16"):
        (record,) = _read(text.encode(encoding)).records
        assert (record.participant, record.problem_id, record.verdict) == ("田中", "合計", "WA")
        assert record.submitted_at == datetime(2026, 3, 1, 3, 34, tzinfo=UTC)


def test_lines_of_json_that_are_wrong() -> None:
    good = '{"id": "1", "user": "u", "problem": "A", "verdict": "AC", "code": "x\\r\\n"}'
    lines = [
        good,
        "{oops",
        good.replace('"1"', '"2"'),
        "[1]",
        good.replace('"u"', '{"a": 1}'),
        good.replace('"u"', "true"),
    ]
    read = _read("\n".join([*lines, good.replace('"1"', '"6"')]), "submissions/t.jsonl")
    assert [(r.row, r.submission_id) for r in read.records] == [(1, "1"), (2, "2"), (5, "1"), (6, "6")]
    assert {str(a.place) for a in read.aside} == {"line 2", "row 3 (line 4)", "row 4 (line 5)"}
    assert read.records[0].source_code == "x\r\n"


def _parquet(frame: pd.DataFrame | pa.Table) -> bytes:
    stream = io.BytesIO()
    table = frame if isinstance(frame, pa.Table) else pa.Table.from_pandas(frame)
    pq.write_table(table, stream)
    return stream.getvalue()


def test_parquet() -> None:
    at = pd.Timestamp("2026-03-01T12:00:00", tz="Asia/Tokyo")
    frame = pd.DataFrame({
        "submission_id": ["007", "1e5", None, "NA"], "user_id": [1.0, 2.0, None, 4.0], "problem": list("AABB"),
        "verdict": pd.Categorical(["AC", "WA", "AC", "WA"]), "created": [at, at, at, pd.NaT],
        "code": [b"int a;\r\n", "日本".encode(), b"x", b"y"], "other": [[1], [2], [3], [4]],
    })  # fmt: skip
    read = _read(_parquet(frame), "submissions/t.bin")
    assert _ids(read) == ["007", "1e5", "NA"]
    assert [r.participant for r in read.records] == ["1", "2", "4"]
    assert [r.source_code for r in read.records] == ["int a;\r\n", "日本", "y"]
    assert [r.submitted_at for r in read.records] == [datetime(2026, 3, 1, 3, tzinfo=UTC)] * 2 + [None]
    assert [(a.place, "user_id" in a.reason) for a in read.aside] == [("row 3", True)]
    jst = timezone(timedelta(hours=9))
    naive = pd.DataFrame(
        {"id": [1], "user": ["u"], "task": ["A"], "status": ["AC"], "when": [datetime(2026, 3, 1, 12)]}
    )
    (record,) = _read(_parquet(naive), time_zone="Asia/Tokyo").records
    assert record.submitted_at == datetime(2026, 3, 1, 12, tzinfo=jst)


def test_parquet_that_unpacks_to_much_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_tables, "MAX_TEXT_BYTES", 50_000_000)
    text = "x" * 1_000_000
    table = pa.table({
        "id": [str(i) for i in range(100_000)], "user": ["u"] * 100_000, "task": ["A"] * 100_000,
        "code": pa.DictionaryArray.from_arrays(pa.array([0] * 100_000), [text]),
    })  # fmt: skip
    data = _parquet(table)
    assert len(data) < 2_000_000
    with pytest.raises(UnreadableArtifact, match="holds more than"):
        _read(data)


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_damaged_parquet_is_set_aside(data: st.DataObject) -> None:
    whole = bytearray(_parquet(pd.DataFrame({"id": ["1"], "user": ["u"], "task": ["A"], "status": ["AC"]})))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(4, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        _read(bytes(whole[: data.draw(st.integers(5, len(whole)))]))
    except UnreadableArtifact as unreadable:
        assert unreadable.remedy
