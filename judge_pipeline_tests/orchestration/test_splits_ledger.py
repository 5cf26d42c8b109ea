from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from judge_pipeline.orchestration.splits_ledger import SplitsLedger

LEDGER = pd.DataFrame(
    {
        "participant": ["E001", "NA"],
        "problem_id": ["007", "b"],
        "split": ["train", "test"],
        "assigned_by": ["seed", "ledger"],
    }
)


def test_names_survive_as_they_are(tmp_path: Path) -> None:
    ledger = SplitsLedger.of_contest(tmp_path, "spring")
    assert ledger.read() is None
    ledger.write(LEDGER)
    pd.testing.assert_frame_equal(ledger.read(), LEDGER)
    assert len(ledger.sha256()) == 64


def test_a_ledger_that_does_not_say_what_decided_is_what_decided(tmp_path: Path) -> None:
    ledger = SplitsLedger.of_contest(tmp_path, "spring")
    ledger.write(LEDGER)
    ledger.path.write_text("participant,problem_id,split\nE001,007,train\nNA,b,test\n", encoding="utf-8")
    pd.testing.assert_frame_equal(ledger.read(), LEDGER.assign(assigned_by="ledger"))
    by_hand = "participant,problem_id,split,assigned_by\nE001,007,train,seed\nNA,b,test\n"
    for text in (by_hand, f"{by_hand[:-1]},\n"):
        ledger.path.write_text(text, encoding="utf-8")
        pd.testing.assert_frame_equal(ledger.read(), LEDGER)


@pytest.mark.parametrize(
    "text",
    [
        "participant,problem_id\nE001,a\n",
        "participant,problem_id,split\nE001,a,dev\n",
        "participant,problem_id,split\nE001,a,val\nE001,a,test\n",
    ],
)
def test_a_damaged_ledger_is_refused(tmp_path: Path, text: str) -> None:
    ledger = SplitsLedger.of_contest(tmp_path, "spring")
    ledger.path.parent.mkdir(parents=True)
    ledger.path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="is damaged"):
        ledger.read()


def test_a_set_called_like_a_contest_has_a_ledger_of_its_own(tmp_path: Path) -> None:
    SplitsLedger.of_contest(tmp_path, "spring").write(LEDGER)
    of_set = SplitsLedger.of_preference_set(tmp_path, "spring")
    assert of_set.path.name == "preference_splits_ledger.csv"
    assert of_set.read() is None
