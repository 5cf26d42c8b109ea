"""Partitions of criteria: their keys, what outdates their tables, which pairs they have, what is said of gaps."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import yaml

from judge_pipeline.judging.answers_table import ANSWER_COLUMNS
from judge_pipeline.orchestration.criteria_run import (
    JudgedBy,
    configured_judges,
    given_pairs,
    missing_in_words,
    refuse_others,
)
from judge_pipeline.orchestration.judging_configuration import configuration_sha256
from judge_pipeline.orchestration.parquet_store import ParquetStore, table_file
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.tables.criteria import CRITERIA
from judge_pipeline.tables.preference import PAIR_TEXTS, PREFERENCE_SPLITS

JUDGES = {
    "llm": {"backend": "litellm", "model": "openai/m", "systems": ["criteria"]},
    "rule": {"backend": "baseline", "systems": ["criteria"]},
    "other": {"backend": "litellm", "model": "openai/m"},
}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    config = tmp_path / "assets_config"
    (config / "prompts").mkdir(parents=True)
    (config / "prompts" / "criteria_final.md.j2").write_text("--- user ---\n", encoding="utf-8")
    (config / "judges.yaml").write_text(yaml.safe_dump({"judges": JUDGES}), encoding="utf-8")
    made = Workspace(config, tmp_path / "data", tmp_path / "out")
    configure(made)
    return made


def configure(workspace: Workspace, **full: object) -> None:
    text = yaml.safe_dump({"configurations": {"mono": {"generator": "none"}, "full": full}}, sort_keys=False)
    (workspace.config_dir / "criteria.yaml").write_text(text, encoding="utf-8")


def test_keys_are_of_judges_that_answer_questions_under_every_configuration(workspace: Workspace) -> None:
    assert configured_judges(workspace) == ["llm@mono", "llm@full"]
    with pytest.raises(SettingsError, match="lists: mono, full"):
        JudgedBy.of(workspace, "llm", "none")
    with pytest.raises(SettingsError, match="answers no questions"):
        JudgedBy.of(workspace, "rule", "full")


def test_tables_are_outdated_by_prompts_configurations_and_guidance_and_not_by_words_about_them(
    workspace: Workspace,
) -> None:
    def version() -> str:
        return configuration_sha256(workspace, "criteria")

    plain = version()
    configure(workspace, description="words", paper_rows=["2: + SCF"])
    assert version() == plain
    configure(workspace, max_criteria=5)
    assert version() != plain
    configure(workspace)
    prompt = workspace.config_dir / "prompts" / "criteria_final.md.j2"
    prompt.write_text("--- user ---\nmore\n", encoding="utf-8")
    edited = version()
    assert edited != plain
    (workspace.config_dir / "guidance").mkdir()
    (workspace.config_dir / "guidance" / "own.yaml").write_text("title: x\n", encoding="utf-8")
    assert version() not in (plain, edited)


def test_a_key_of_judge_and_configuration_is_a_file_of_its_own(tmp_path: Path) -> None:
    store = ParquetStore(root=str(tmp_path))
    store.write(CRITERIA, CRITERIA.empty(), "my-set", "llm@full")
    assert store.path(CRITERIA, "my-set", "llm@full") == tmp_path / "criteria" / "my-set" / "llm@full.parquet"
    assert store.parts(CRITERIA, "my-set") == ["llm@full"] and store.read(CRITERIA, "my-set", "llm@full").empty
    for key in ("llm@", "@full", "llm@a@b", "llm@../x", "llm/full"):
        with pytest.raises(ValueError, match="cannot be a file name"):
            store.path(CRITERIA, "my-set", key)


def test_only_validation_pairs_are_judged_and_a_limit_is_the_same_for_every_stage(workspace: Workspace) -> None:
    texts = PAIR_TEXTS.conform(
        [dict.fromkeys(PAIR_TEXTS.column_names) | {"pair_id": f"p{n}", "response_a": "a", "response_b": "b"}
         for n in range(9)]
    )  # fmt: skip
    splits = PREFERENCE_SPLITS.conform(
        [{"pair_id": f"p{n}", "split": "train" if n < 3 else "val", "instruction_group": f"g{n}", "assigned_by": "seed"}
         for n in range(9)]
    )  # fmt: skip
    by = JudgedBy.of(workspace, "llm", "full")
    all_of_them = given_pairs(workspace, by, "s", texts, splits, 1)
    assert set(all_of_them.pairs.rows["pair_id"]) == {f"p{n}" for n in range(3, 9)}
    two, again = (given_pairs(workspace, by, "s", texts, splits, 1, limit=2) for _ in range(2))
    assert two.pairs.rows["pair_id"].nunique() == 2 and len(two.pairs.rows) == 4
    assert two.provenance == again.provenance != all_of_them.provenance
    mono = given_pairs(workspace, JudgedBy.of(workspace, "llm", "mono"), "s", texts, splits, 1)
    differing = {name for name, value in mono.provenance.items() if all_of_them.provenance[name] != value}
    assert differing == {"configuration", "how"}
    store = ParquetStore(root=str(workspace.out_dir))
    store.write(CRITERIA, table_file(CRITERIA, CRITERIA.empty(), two.provenance), "s", by.key)
    refuse_others(store, [CRITERIA], "s", by.key, again)
    with pytest.raises(SettingsError, match=r"under another n_pairs and pairs_sha256 .* from asset criteria on"):
        refuse_others(store, [CRITERIA], "s", by.key, all_of_them)
    assert "label" not in " ".join(all_of_them.pairs.rows.columns) and "w" not in all_of_them.pairs.rows.columns


def test_missing_answers_are_told_with_their_pairs_and_invalid_ones_are_the_judges_own() -> None:
    def answer(id_: str, failure: str | None, text: str | None = None) -> dict[str, object]:
        own: dict[str, object] = dict.fromkeys(ANSWER_COLUMNS)
        return own | {
            "id": id_,
            "failure_class": failure,
            "failure": text,
            "answer": None if failure else {"choice": "A"},
        }

    rows = pd.DataFrame({"request_id": ["1", "2", "3", "4"], "pair_id": ["a", "a", "b", "c"]})
    valid = [answer("1", None), answer("2", "invalid", "no JSON"), answer("3", None), answer("4", "refusal")]
    assert missing_in_words(pd.DataFrame(valid), rows, "request_id") is None
    gone = [answer("1", "rate_limit", "slow down"), answer("2", "rate_limit"), answer("4", "quota", "spent")]
    broken = pd.DataFrame([*gone, answer("3", None)])
    said = missing_in_words(broken, rows, "request_id")
    assert said is not None
    assert said.startswith("3 of 4 answers are missing, of 2 pairs (a, c): 2 rate_limit: ") and "1 quota" in said
    assert said.endswith("The first says: slow down")
