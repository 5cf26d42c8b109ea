from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from judge_pipeline.ingest.contest import names_alike, read_statements, turn_gaps
from judge_pipeline.ingest.records import UnreadableArtifact


def test_gaps_in_turns_are_named_in_plain_numbers() -> None:
    attempts = pd.DataFrame({"participant": ["E1"] * 3, "problem_id": ["a", "a", "b"], "turn": [1, 3, 1]})
    attempts["turn"] = attempts["turn"].astype("Int64")
    assert turn_gaps(attempts) == ["E1, a: turns [1, 3]"]


def test_a_statement_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "problems").mkdir()
    (tmp_path / "problems" / "p1.md").write_text("Add two numbers.", encoding="utf-8")
    assert read_statements(tmp_path) == {"p1": "Add two numbers."}
    (tmp_path / "problems" / "p2.md").write_bytes("足し算".encode("shift_jis"))
    with pytest.raises(UnreadableArtifact, match=r"problems/p2\.md"):
        read_statements(tmp_path)


def test_names_that_nobody_can_tell_apart_are_told_with_the_signs_that_they_are_made_of() -> None:
    assert names_alike(["E001", "E002", "e 1", "Jose\u0301", "Josef"]) == []
    assert names_alike(["Jose\u0301", "E001", "Jos\u00e9", "e001"]) == [
        "'E001', 'e001' read alike, and count as 2 participants",
        "'Jose\\u0301', 'Jos\\xe9' read alike, and count as 2 participants",
    ]
