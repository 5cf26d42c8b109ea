"""Artifacts -> attempts: stable ids, one attempt a submission, nothing lost, nothing collapsed."""

from __future__ import annotations

import hashlib
import json
import random
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.ingest.attempts import attempt_id, build_attempts, resolve_participant, submission_artifacts
from judge_pipeline.ingest.records import UnreadableArtifact
from judge_pipeline.settings import ContestSettings
from judge_pipeline.tables import ATTEMPTS, INGEST_QUARANTINE, SUBMISSION_ARTIFACTS, VERDICTS

_SETTINGS = ContestSettings()
_AT = datetime(2026, 3, 1, 3, 4, 5, tzinfo=UTC)


def _artifact(**values: Any) -> dict[str, Any]:
    source = values.get("source_code")
    return {
        "path": "submissions/E001/A/1.md", "row": None, "reader": "text", "participant": "E001", "problem_id": "A",
        "verdict": "WA", "verdict_raw": "WA", "language": "C++", "submitted_at": None, "timestamp_raw": None,
        "submission_id": None, "source_code": None,
        "source_sha256": None if source is None else hashlib.sha256(source.encode()).hexdigest(),
        "source_lines": None if source is None else source.count("\n") + 1, "source_path": None,
        "notes": None,
    } | values  # fmt: skip


def _build(*artifacts: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    attempts, aside = build_attempts(SUBMISSION_ARTIFACTS.conform(artifacts), "c")
    ATTEMPTS.conform(attempts)
    INGEST_QUARANTINE.conform(aside)
    return attempts.to_dict("records"), aside.to_dict("records")


def _md(verdict: str, minute: int, code: str, extra: str = "") -> bytes:
    return f"Result: {verdict}\nSubmitted at: 2026-03-01 10:{minute:02d} JST\n{extra}\n```cpp\n{code}\n```\n".encode()


# --- attempt_id ---


def test_the_id_is_the_documented_hash() -> None:
    parts = ["attempt", "c", "E001", "A", "submission_id", "77"]
    digest = hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()[:16]
    assert attempt_id("c", "E001", "A", "77", _AT, "f" * 64) == digest
    parts = ["attempt", "c", "E001", "A", "instant", "2026-03-01T03:04:05.000000Z", "f" * 64]
    digest = hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()[:16]
    assert attempt_id("c", "E001", "A", None, _AT, "f" * 64) == digest
    # Written down once: an id must be the same tomorrow and on another machine.
    assert attempt_id("pck-2026", "E001", "問題1", "77", None, None) == "2bed96fb558b3332"


def test_the_id_does_not_depend_on_the_zone_of_the_instant() -> None:
    tokyo = _AT.astimezone(timezone(timedelta(hours=9)))
    assert attempt_id("c", "u", "p", None, tokyo, "0") == attempt_id("c", "u", "p", None, _AT, "0")


def test_with_a_submission_id_nothing_else_counts() -> None:
    assert attempt_id("c", "u", "p", "1", _AT, "x") == attempt_id("c", "u", "p", "1", None, None)


_text = st.text(st.sampled_from('abAB01 ",[]\\問\n'), max_size=6)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(_text, _text, _text, st.one_of(st.none(), _text), st.one_of(st.none(), _text)),
        unique=True,
        max_size=20,
    )
)
def test_different_parts_make_different_ids(parts: list[tuple[str, str, str, str | None, str | None]]) -> None:
    ids = {attempt_id(c, u, p, s, _AT, h) for c, u, p, s, h in parts}
    told_apart = {(c, u, p, s, None if s is not None else h) for c, u, p, s, h in parts}
    assert len(ids) == len(told_apart)


def test_an_instant_without_a_zone_or_nothing_to_tell_by_is_refused() -> None:
    with pytest.raises(ValueError, match="no zone"):
        attempt_id("c", "u", "p", None, _AT.replace(tzinfo=None), "0")
    with pytest.raises(ValueError, match="cannot be told"):
        attempt_id("c", "u", "p", None, None, None)


# --- submission_artifacts ---


def test_files_become_artifacts_or_go_aside() -> None:
    files: list[tuple[str, bytes | UnreadableArtifact]] = [
        ("submissions/E001/A/1.md", _md("WA", 1, "int x;")),
        ("submissions/E001/A/2.md", b""),
        ("submissions/E001/A/3.md", UnreadableArtifact("submissions/E001/A/3.md", None, "is a link", "mend it")),
        ("submissions/E002/B/1.md", _md("3/12", 2, "int y;")),
    ]
    artifacts, aside = submission_artifacts(files, _SETTINGS)
    assert artifacts["path"].tolist() == ["submissions/E001/A/1.md", "submissions/E002/B/1.md"]
    assert artifacts[["participant", "problem_id", "verdict"]].values.tolist() == [
        ["E001", "A", "WA"],
        ["E002", "B", "PENDING"],
    ]
    assert aside["reason"].tolist() == ["is empty", "is a link"]
    assert aside["remedy"].notna().all()


def test_no_files() -> None:
    artifacts, aside = submission_artifacts([], _SETTINGS)
    attempts, more = build_attempts(artifacts, "c")
    assert [len(table) for table in (artifacts, aside, attempts, more)] == [0, 0, 0, 0]
    assert list(attempts.columns) == ATTEMPTS.column_names


# --- build_attempts ---


def test_turns_and_labels() -> None:
    files = [
        (f"submissions/E001/A/{i}.md", _md(v, m, f"int x{i};"))
        for i, v, m in ((1, "AC", 9), (2, "WA", 1), (3, "7/31 TLE", 5), (4, "NG", 6))
    ]
    artifacts, _ = submission_artifacts(files, _SETTINGS)
    attempts, aside = build_attempts(artifacts, "c")
    assert attempts["turn"].tolist() == [1, 2, 3, 4]
    assert attempts["verdict"].tolist() == ["WA", "PENDING", "UNKNOWN", "AC"]
    assert attempts["y"].isna().tolist() == [False, True, True, False]
    assert attempts["y"].dropna().tolist() == [0, 1]
    assert set(attempts["order_source"]) == {"instant"}
    assert len(aside) == 0


@pytest.mark.parametrize("verdict", VERDICTS)
def test_every_verdict_has_its_label(verdict: str) -> None:
    (attempt,), _ = _build(_artifact(verdict=verdict, submission_id="1"))
    expected = {"AC": 1, "PENDING": None, "UNKNOWN": None, "SKIPPED": None}.get(verdict, 0)
    assert (None if pd.isna(attempt["y"]) else attempt["y"]) == expected


def test_ids_stay_when_other_artifacts_arrive() -> None:
    first = _artifact(submission_id="5", source_code="x")
    untold = _artifact(path="submissions/E001/A/0.md", source_code="same")
    before, _ = _build(first, untold)
    others = [
        _artifact(path="submissions/E001/A/0a.md", submission_id="1", source_code="x"),
        _artifact(path="submissions/E001/A/00.md", source_code="same", verdict="AC"),
        _artifact(path="submissions/E001/A/2.md", submitted_at=_AT, source_code="y"),
        _artifact(path="submissions/E002/A/2.md", participant="E002", submission_id="5"),
    ]
    after, aside = _build(*others, untold, first)
    assert {a["attempt_id"] for a in before} < {a["attempt_id"] for a in after}
    assert len(after) == 6
    assert aside == []


def test_the_same_submission_twice_is_one_attempt_and_the_fullest_reading_wins() -> None:
    listed = _artifact(
        path="submissions/E001/list.html",
        row=3,
        submission_id="5",
        verdict="AC",
        verdict_raw="AC",
        submitted_at=_AT,
        timestamp_raw="t",
    )
    page = _artifact(
        path="submissions/E001/A/5.html", submission_id="5", source_code="int x;", verdict="PENDING", verdict_raw="WJ"
    )
    again = _artifact(
        path="submissions/E001/A/5 (1).html",
        submission_id="5",
        source_code="int x;",
        verdict="PENDING",
        verdict_raw="WJ",
    )
    (attempt,), aside = _build(listed, page, again)
    assert aside == []
    assert (attempt["verdict"], attempt["verdict_raw"], attempt["y"]) == ("AC", "AC", 1)
    assert (attempt["source_code"], attempt["submitted_at"]) == ("int x;", pd.Timestamp(_AT))
    assert "also read from" in attempt["notes"]
    assert "list.html, row 3" in attempt["notes"]


def test_a_cut_source_gives_way_to_the_whole_one() -> None:
    whole = _artifact(path="submissions/E001/A/b.html", submission_id="5", source_code="int main() {\n}\n")
    cut = _artifact(path="submissions/E001/A/a.html", submission_id="5", source_code="int main()")
    (attempt,), aside = _build(cut, whole)
    assert (attempt["source_code"], aside) == ("int main() {\n}\n", [])


def test_one_id_with_two_sources_is_set_aside_and_not_collapsed() -> None:
    one = _artifact(path="submissions/E001/A/a.md", submission_id="1", source_code="int x;")
    two = _artifact(path="submissions/E001/A/b.md", submission_id="1", source_code="int yy;")
    attempts, aside = _build(one, two)
    assert len(attempts) == 1
    (row,) = aside
    assert "another source" in row["reason"]
    assert row["remedy"]
    assert row["path"] in ("submissions/E001/A/a.md", "submissions/E001/A/b.md")


def test_a_longer_source_with_another_verdict_is_no_cut_one() -> None:
    one = _artifact(path="submissions/E001/A/a.md", submission_id="1", source_code="int x;", verdict="WA")
    two = _artifact(path="submissions/E001/A/b.md", submission_id="1", source_code="int x; int y;", verdict="AC")
    attempts, aside = _build(one, two)
    assert (len(attempts), len(aside)) == (1, 1)


def test_one_submission_under_two_problem_names_is_noted() -> None:
    one = _artifact(path="submissions/E001/A/a.md", submission_id="1", source_code="x")
    two = _artifact(path="submissions/E001/l.html", row=1, submission_id="1", problem_id="c1_a")
    attempts, _ = _build(one, two)
    assert len(attempts) == 2
    assert all("problem_names" in a["notes"] for a in attempts)


def test_the_same_program_sent_again_is_another_attempt_where_anything_tells() -> None:
    base = {"source_code": "print(1)"}
    attempts, aside = _build(
        _artifact(path="submissions/E001/A/1.py", language="Python", verdict="TLE", **base),
        _artifact(path="submissions/E001/A/2.py", language="PyPy", verdict="AC", **base),
        _artifact(path="submissions/E001/A/3.py", submitted_at=_AT, **base),
        _artifact(path="submissions/E001/A/4.py", submitted_at=_AT + timedelta(seconds=1), **base),
        _artifact(path="submissions/E001/A/5.py", submission_id="1", **base),
        _artifact(path="submissions/E001/B/1.py", problem_id="B", **base),
        _artifact(path="submissions/E002/A/1.py", participant="E002", **base),
    )
    assert len(attempts) == 7
    assert aside == []


def test_rows_of_a_list_with_nothing_but_a_time_are_not_collapsed() -> None:
    rows = [_artifact(path="submissions/E001/list.html", row=i, submitted_at=_AT) for i in (1, 2)]
    attempts, aside = _build(*rows)
    assert len(attempts) + len(aside) == 2
    assert "another row of the same list" in aside[0]["reason"]


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"problem_id": None}, "no problem"),
        ({"participant": None, "path": "submissions/x.json", "row": 2}, "no participant"),
        ({"source_code": None, "timestamp_raw": "3 weeks ago"}, "no submission id"),
    ],
)
def test_what_cannot_be_an_attempt_is_set_aside_with_a_remedy(values: dict[str, Any], why: str) -> None:
    artifact = _artifact(**({"source_code": "x"} | values))
    attempts, aside = _build(artifact)
    assert attempts == []
    (row,) = aside
    assert why in row["reason"]
    assert row["remedy"]
    assert row["place"] == ("row 2" if values.get("row") else None)


def test_participants() -> None:
    path = "submissions/E001/A/x.html"
    assert resolve_participant("E001", path, False) == ("E001", None)
    assert resolve_participant(None, path, False) == ("E001", None)
    assert resolve_participant("tourist", "x.json", False) == ("tourist", None)
    who, note = resolve_participant("tourist", path, False)
    assert (who, note) == ("E001", "participant by the folder, not 'tourist' as the artifact says")
    for shown, several in (("E004", False), ("e4", False), ("tourist", True)):
        who, note = resolve_participant(shown, path, several)
        assert who == shown
        assert "by the artifact" in str(note)


def test_a_list_of_many_peoples_submissions_is_not_one_persons() -> None:
    rows = [
        _artifact(path="submissions/E001/status.html", row=i, participant=u, submission_id=str(i))
        for i, u in enumerate("abca", start=1)
    ]
    attempts, _ = _build(*rows)
    assert sorted(a["participant"] for a in attempts) == ["a", "a", "b", "c"]
    own = [
        _artifact(path="submissions/E001/my.html", row=i, participant="tourist", submission_id=str(i)) for i in (1, 2)
    ]
    attempts, _ = _build(*own)
    assert {a["participant"] for a in attempts} == {"E001"}


def test_a_newest_first_list_without_times_is_read_from_its_end() -> None:
    rows = [
        _artifact(path="submissions/E001/my.html", row=i, submission_id=f"s{9 - i}", verdict=v)
        for i, v in ((1, "AC"), (2, "WA"), (3, "CE"))
    ]
    attempts, _ = _build(*rows)
    assert [a["verdict"] for a in attempts] == ["CE", "WA", "AC"]
    assert {a["order_source"] for a in attempts} == {"list_position"}


_artifacts = st.lists(
    st.builds(
        lambda path, row, participant, problem, verdict, language, minute, number, source: _artifact(
            path=f"submissions/{participant}/{path}", row=row, participant=participant, problem_id=problem,
                verdict=verdict,
            language=language, submitted_at=None if minute is None else _AT + timedelta(minutes=minute),
            submission_id=number, source_code=source,
        ),
        st.sampled_from(["a.md", "b.md", "l.html"]), st.one_of(st.none(), st.integers(1, 4)),
            st.sampled_from(["E001", "E002"]),
        st.one_of(st.none(), st.sampled_from("AB")), st.sampled_from(VERDICTS), st.sampled_from([None, "C", "PyPy"]),
        st.one_of(st.none(), st.integers(0, 2)), st.one_of(st.none(), st.sampled_from(["1", "2"])),
        st.one_of(st.none(), st.sampled_from(["x", "y", "x y"])),
    ),
    max_size=12,
    unique_by=lambda a: (a["path"], a["row"]),
)  # fmt: skip


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(_artifacts, st.randoms(use_true_random=False))
def test_nothing_is_lost_and_order_of_arrival_does_not_matter(
    artifacts: list[dict[str, Any]], shuffler: random.Random
) -> None:
    attempts, aside = _build(*artifacts)
    shuffled = artifacts.copy()
    shuffler.shuffle(shuffled)
    again, aside_again = _build(*shuffled)
    compared = ("attempt_id", "turn", "verdict", "source_sha256", "path", "order_source")
    assert [[a[k] for k in compared] for a in attempts] == [[a[k] for k in compared] for a in again]
    assert sorted(map(str, aside)) == sorted(map(str, aside_again))
    accounted = {(a["path"], a["row"]) for a in attempts} | {(a["path"], a["place"]) for a in aside}
    notes = " ".join(str(a["notes"]) for a in attempts)
    for artifact in artifacts:
        place = None if artifact["row"] is None else f"row {artifact['row']}"
        where = artifact["path"] if place is None else f"{artifact['path']}, {place}"
        told = any(
            a["path"] == artifact["path"]
            and (a["row"] == artifact["row"] or (pd.isna(a["row"]) and artifact["row"] is None))
            for a in attempts
        )
        assert told or (artifact["path"], place) in accounted or where in notes
    for (_, _), group in pd.DataFrame(attempts or [], columns=ATTEMPTS.column_names).groupby(
        ["participant", "problem_id"]
    ):
        assert group["turn"].tolist() == list(range(1, len(group) + 1))
