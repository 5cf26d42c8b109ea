"""The how-to says what the code does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import yaml

from judge_pipeline.judging.failures import HEALING, IN_WORDS, STOPPING
from judge_pipeline.judging.verdict_forms import VERDICT_FORMS
from judge_pipeline.settings import Batch, JudgesFile, LitellmJudge
from judge_pipeline.settings.reward_judge import FORMS, PATHS

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "add-a-judge.md").read_text(encoding="utf-8")


def test_every_example_is_a_valid_judges_file() -> None:
    examples = re.findall(r"```yaml\n(.*?)```", TEXT, flags=re.DOTALL)
    assert len(examples) == 6
    for example in examples:
        JudgesFile.model_validate(yaml.safe_load(example))


def test_the_table_of_failures_is_the_code_s() -> None:
    table = TEXT[TEXT.index("## When attempts fail") :]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \| .* \|$", table, flags=re.MULTILINE))
    assert rows == IN_WORDS
    again = dict(re.findall(r"^\| `(\w+)` \| .*? \| (.*) \|$", table, flags=re.MULTILINE))
    assert {name for name, words in again.items() if words.startswith("yes")} == HEALING
    assert {name for name, words in again.items() if words.endswith("stops the run")} == STOPPING


def test_endpoints_and_answer_forms_are_the_code_s() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|`]*`(/\w+)`[^|]* \| (.*) \|$", TEXT, flags=re.MULTILINE)
    assert {name: path for name, path, _ in rows} == PATHS
    assert {name: tuple(re.findall(r"`(\w+)`", forms)) for name, _, forms in rows} == FORMS
    forms = set(get_args(LitellmJudge.model_fields["answer_form"].annotation))
    assert forms == {"schema", *VERDICT_FORMS}
    assert all(f"\n| `{form}`" in TEXT for form in forms)


def test_the_examples_of_batches_are_valid_and_the_second_says_the_defaults() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "ask-in-batches.md").read_text(encoding="utf-8")
    examples = re.findall(r"```yaml\n(.*?)```", text, flags=re.DOTALL)
    first, second = (JudgesFile.model_validate(yaml.safe_load(e)).get("gpt-5.2-batch").batch for e in examples)
    assert first == second == Batch()
