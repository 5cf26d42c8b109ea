from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from judge_pipeline.orchestration.splits_ledger import SplitsLedger

LEDGER = pd.DataFrame({"participant": ["E001", "NA"], "problem_id": ["007", "b"], "split": ["train", "test"]})


def test_names_survive_as_they_are(tmp_path: Path) -> None:
    ledger = SplitsLedger.of_contest(tmp_path, "spring")
    assert ledger.read() is None
    ledger.write(LEDGER)
    pd.testing.assert_frame_equal(ledger.read(), LEDGER)
    assert len(ledger.sha256()) == 64


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
