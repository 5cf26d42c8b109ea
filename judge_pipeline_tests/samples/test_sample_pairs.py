"""The sample preference set: made as it is committed, labelled as its rule says, and said to be chosen by nobody."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from judge_pipeline.orchestration.preference_sets import set_files
from judge_pipeline.preference.pairs import PairsRead, read_pairs
from judge_pipeline.preference.preference_splits import assign_preference_splits
from judge_pipeline.samples.making import make_sample_pairs
from judge_pipeline.samples.making.make_sample_pairs import SET, answer_code, lines_of_code, sample_pairs, tasks
from judge_pipeline.settings import PreferenceSettings, packaged_config_dir
from judge_pipeline.settings.yaml_file import load


@pytest.fixture(scope="module")
def settings() -> PreferenceSettings:
    return load(PreferenceSettings, packaged_config_dir() / "preference.yaml", SET / "preference.yaml")


@pytest.fixture(scope="module")
def read(settings: PreferenceSettings) -> PairsRead:
    return read_pairs(set_files(SET, settings), settings)


def test_it_is_made_as_it_is_committed() -> None:
    assert (SET / "pairs.jsonl").read_text(encoding="utf-8") == sample_pairs()


def test_it_is_read_without_a_fault_and_split(read: PairsRead) -> None:
    assert read.quarantine.empty and len(read.pairs) == 42
    assert read.pairs["w"].value_counts().to_dict() == {"B": 22, "A": 18, "tie": 2}
    assert read.pairs["both_bad"].sum() == 1
    assert read.pairs["category"].value_counts().to_dict() == {"chat": 15, "completion": 15, "edit": 12}
    splits = assign_preference_splits(read.pairs, seed=20260401, train_share=0.2)
    assert splits["instruction_group"].nunique() == 14
    assert splits["split"].value_counts().to_dict() == {"val": 36, "train": 6}


def test_neither_slot_and_neither_length_is_what_the_rule_goes_by(read: PairsRead) -> None:
    untied = read.pairs[read.pairs["w"] != "tie"]
    longer = (untied["response_a"].str.len() > untied["response_b"].str.len()) == (untied["w"] == "A")
    assert 0.35 < (untied["w"] == "A").mean() < 0.65
    assert 0.35 < longer.mean() < 0.65


@pytest.mark.slow
def test_the_rule_holds_where_the_programs_are_run_on_their_own(read: PairsRead) -> None:
    by_id = {task["id"]: task for task in tasks()}

    def right(pair_id: str, response: str) -> tuple[bool, int]:
        task = by_id[pair_id.rpartition("-")[0]]
        code = answer_code(task, response)
        program = f"{task.get('prefix', '')}{code}{task.get('suffix', '')}\n{task['checks']}"
        done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, check=False, timeout=30)
        return done.returncode == 0, lines_of_code(code)

    for pair in read.pairs.iloc[::3].to_dict("records"):
        (a_right, a_lines), (b_right, b_lines) = (right(pair["pair_id"], pair[f"response_{x}"]) for x in "ab")
        by_lines = "tie" if a_lines == b_lines else "AB"[b_lines < a_lines]
        expected = "AB"[b_right] if a_right != b_right else by_lines if a_right else "tie"
        assert pair["w"] == expected, pair["pair_id"]
        assert pair["both_bad"] == (not a_right and not b_right)


def test_every_place_says_that_no_person_chose(settings: PreferenceSettings) -> None:
    assert "no person chose" in settings.chosen_by
    assert "No person chose" in str(settings.note) and make_sample_pairs.RULE in str(settings.note)
    docs = Path(make_sample_pairs.__file__).resolve().parents[3] / "docs" / "how-to" / "bring-preferences.md"
    for text in ((SET / "README.md").read_text(encoding="utf-8"), docs.read_text(encoding="utf-8")):
        assert "no person chose" in text.lower()
    assert not any("human" in json.dumps(pair) for pair in make_sample_pairs.pairs())
