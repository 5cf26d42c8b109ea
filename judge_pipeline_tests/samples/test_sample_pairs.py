"""The sample preference set: made as it is committed, labelled as its rule says, and said to be chosen by nobody."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from judge_pipeline.orchestration.preference_sets import set_files
from judge_pipeline.preference.pairs import PairsRead, read_pairs
from judge_pipeline.preference.preference_splits import assign_preference_splits
from judge_pipeline.samples.making.make_sample_pairs import SET, pairs, sample_files
from judge_pipeline.samples.making.pair_measures import ITEMS, Measured, item_scores, measured
from judge_pipeline.samples.making.pair_rule import RULE, answer_code, lines_of_code, tasks
from judge_pipeline.settings import PreferenceSettings, packaged_config_dir
from judge_pipeline.settings.rubrics import RubricFile, read_themes
from judge_pipeline.settings.yaml_file import load


@pytest.fixture(scope="module")
def settings() -> PreferenceSettings:
    return load(PreferenceSettings, packaged_config_dir() / "preference.yaml", SET / "preference.yaml")


@pytest.fixture(scope="module")
def read(settings: PreferenceSettings) -> PairsRead:
    return read_pairs(set_files(SET, settings), settings)


def test_it_is_made_as_it_is_committed() -> None:
    made = sample_files()
    for name, text in made.items():
        assert (SET / name).read_text(encoding="utf-8") == text, name
    assert {f"recorded/{file.name}" for file in (SET / "recorded").iterdir()} == made.keys() - {"pairs.jsonl"}


def test_it_is_read_without_a_fault_and_split(read: PairsRead) -> None:
    assert read.quarantine.empty and len(read.pairs) == 120
    assert read.pairs["w"].value_counts().to_dict() == {"A": 59, "B": 56, "tie": 5}
    assert read.pairs["both_bad"].sum() == 1
    assert read.pairs["category"].value_counts().to_dict() == {"chat": 48, "completion": 36, "edit": 36}
    splits = assign_preference_splits(read.pairs, seed=20260401, train_share=0.2)
    assert splits["instruction_group"].nunique() == 40
    assert splits["split"].value_counts().to_dict() == {"val": 96, "train": 24}


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

    for pair in read.pairs.iloc[::5].to_dict("records"):
        (a_right, a_lines), (b_right, b_lines) = (right(pair["pair_id"], pair[f"response_{x}"]) for x in "ab")
        by_lines = "tie" if a_lines == b_lines else "AB"[b_lines < a_lines]
        expected = "AB"[b_right] if a_right != b_right else by_lines if a_right else "tie"
        assert pair["w"] == expected, pair["pair_id"]
        assert pair["both_bad"] == (not a_right and not b_right)


def test_every_place_says_that_no_person_chose(settings: PreferenceSettings) -> None:
    assert "no person chose" in settings.chosen_by
    assert "No person chose" in str(settings.note) and RULE in str(settings.note)
    docs = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "bring-preferences.md"
    for text in ((SET / "README.md").read_text(encoding="utf-8"), docs.read_text(encoding="utf-8")):
        assert "no person chose" in text.lower()
    assert not any("human" in json.dumps(pair) for pair in pairs())


def test_a_response_is_measured_as_stated() -> None:
    task = {"id": "t", "mode": "chat", "checks": "assert f(1, None) == 2", "answers": []}
    answer = (
        'So.\n\n```python\ndef f(first, by):\n    """Doc."""\n    # one\n\n    if first and by:\n'
        "        return first + by\n    return [n for n in (first + 1,) if n][0]\n```\n"
    )
    found = measured(task, answer)
    # Explaining: "So." + "Doc." + "one"; cases: if, and, the comprehension's if; names: first, by, n
    assert (found.right, found.n_lines, found.n_explaining, found.n_cases) == (True, 5, 10, 3)
    assert found.name_chars == pytest.approx((5 + 2 + 1) / 3)
    wrong = measured({**task, "checks": "assert f(1, 2) == 9"}, answer)
    assert not wrong.right and item_scores(wrong, found) == {**dict.fromkeys(ITEMS, 0), "does-what-was-asked": 1}
    more = Measured(right=True, n_lines=6, n_explaining=11, n_cases=3, name_chars=2.0)
    assert item_scores(found, more) == {
        "does-what-was-asked": 0, "fewer-lines": -1, "explains-itself": 1, "tells-cases-apart": 0, "longer-names": -1,
    }  # fmt: skip


def test_the_measured_scores_are_of_the_rubric_and_fit_labels(read: PairsRead, settings: PreferenceSettings) -> None:
    scores = pd.read_csv(SET / str(settings.rubric.recorded_scores))
    wide = scores.pivot(index="pair_id", columns="item", values="score_ab")
    assert set(wide.columns) == set(load(RubricFile, SET / "rubric.yaml").items) == set(ITEMS)
    assert (scores["score_ab"] == scores["score_ba"]).all() and wide.notna().all(axis=None) and len(wide) == 120
    for pair in read.pairs.to_dict("records"):
        of = wide.loc[pair["pair_id"]]
        by_rule = of["does-what-was-asked"] or (0 if pair["both_bad"] else of["fewer-lines"])
        assert pair["w"] == {-1: "A", 0: "tie", 1: "B"}[by_rule], pair["pair_id"]
    assert abs(wide["fewer-lines"].corr(wide["explains-itself"])) < 0.8, "else no model can tell them apart"


def test_the_rubric_s_themes_are_known(settings: PreferenceSettings) -> None:
    known = read_themes(packaged_config_dir()).themes
    assert all(item.theme in known for item in load(RubricFile, SET / "rubric.yaml").items.values())
