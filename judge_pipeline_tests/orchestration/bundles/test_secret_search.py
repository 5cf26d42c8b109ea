"""What must not go out is found wherever it stands, and nothing else stops the packing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.orchestration.bundles.archive import write_archive
from judge_pipeline.orchestration.bundles.facts import BundleFacts
from judge_pipeline.orchestration.bundles.members import Member, Role
from judge_pipeline.orchestration.bundles.pseudonyms import redacted_pairs
from judge_pipeline.orchestration.bundles.secret_search import Search
from judge_pipeline.orchestration.parquet_store import parquet_bytes
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables import PAIR_TEXTS, PREFERENCE_PAIRS

SECRET = "sk-0123456789abcdef"
SEARCH = Search({SECRET: "the key of judge j"}, ("/home/anna/work",), frozenset({"tanaka.k", "E001"}))
FACTS = BundleFacts("contest", "mini", "full", "0.1.0", "c0de")
WORDS = Table("words", "Texts.", (Column("word", "string", "Text", nullable=True),), ())


def looked_through(data: bytes, role: Role = "table", path: str = "x.txt", block: int = 1 << 20) -> None:
    looking = SEARCH.of_file(Member(path, role, data))
    for start in range(0, len(data), block):
        looking.feed(data[start : start + block])


@given(st.binary(max_size=200), st.binary(max_size=200), st.integers(1, 64))
def test_a_key_is_found_across_any_two_blocks(before: bytes, after: bytes, block: int) -> None:
    with pytest.raises(SettingsError, match="holds the key of judge j, which must not go out"):
        looked_through(before + SECRET.encode() + after, "data", block=block)


@pytest.mark.parametrize("role", ["data", "configuration", "answers", "table", "ledger", "report", "versions", "about"])
def test_a_key_is_found_in_whatever_file(role: Role) -> None:
    with pytest.raises(SettingsError, match="the key"):
        looked_through(f"x {SECRET}".encode(), role)


def test_a_key_is_found_in_a_packed_table() -> None:
    around = [{"word": "a"}, {"word": "z"}]  # a file states its least and its greatest value as they are
    data = parquet_bytes(WORDS, [*around, {"word": f"said {SECRET[:-1]}"}, {"word": f"said {SECRET}"}])
    assert SECRET.encode() not in data
    with pytest.raises(SettingsError, match="the key"):
        looked_through(data, path="x.parquet")
    looked_through(parquet_bytes(WORDS, [{"word": None}, {"word": "said nothing"}]), path="x.parquet")


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("base_url: https://user:pass-word@host/v1", True),
        ("base_url: https://host:8080/v1  # mail me@host", False),
        ("read from /home/anna/work/var", True),
        ("E001", True), ("by E001.", True), ("submissions/E001/P01", True), ("tanaka.k: hello", True),
        ("E0012", False), ("xE001", False), ("tanaka", False), ("person-0123", False),
    ],
)  # fmt: skip
def test_what_is_a_finding_and_what_is_not(text: str, is_found: bool) -> None:
    if is_found:
        with pytest.raises(SettingsError, match="must not go out"):
            looked_through(text.encode())
    else:
        looked_through(text.encode())


def test_folders_and_urls_in_other_peoples_words_stay() -> None:
    looked_through(b"/home/anna/work and ftp://a:b@c", "data")
    looked_through(b"/home/anna/work and ftp://a:b@c", "answers")


def test_nothing_is_left_behind_where_something_is_found(tmp_path: Path) -> None:
    members = [Member("a.txt", "about", b"fine"), Member("b.txt", "about", SECRET.encode())]
    with pytest.raises(SettingsError, match=r"b\.txt holds"):
        write_archive(tmp_path / "x.zip", members, FACTS, "2026", SEARCH, lambda done, of: None)
    assert not list(tmp_path.iterdir())
    (tmp_path / "x.zip").write_bytes(b"before")
    written = write_archive(tmp_path / "x.zip", members[:1], FACTS, "2026", SEARCH, lambda done, of: None)
    assert written.n_files == 3 and [file.name for file in tmp_path.iterdir()] == ["x.zip"]


def test_pairs_show_what_judges_were_shown_and_annotators_under_pseudonyms() -> None:
    pair = dict.fromkeys(PREFERENCE_PAIRS.column_names) | {
        "pair_id": "p1", "instruction": "ask anna@example.org", "response_a": "a", "response_b": "b", "w": "A",
        "both_bad": False, "votes": '{"anna": "A", "bo": "B"}', "swapped": False, "origin": "table",
        "source_file": "anna.csv", "place": "row 1", "notes": "by anna",
    }  # fmt: skip
    shown = dict.fromkeys(PAIR_TEXTS.column_names) | {
        "pair_id": "p1", "instruction": "ask [redacted:email]", "response_a": "a", "response_b": "b",
    }  # fmt: skip
    found = redacted_pairs(PREFERENCE_PAIRS.conform([pair]), PAIR_TEXTS.conform([shown]), lambda who: f"x-{who[0]}")
    row = PREFERENCE_PAIRS.conform(found).iloc[0]
    assert row["instruction"] == "ask [redacted:email]" and row["votes"] == '{"x-a": "A", "x-b": "B"}'
    assert "anna" not in str(row.to_dict())
