"""The assets from what is stored of each judge@configuration to the ablation and the page."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
import yaml

from judge_pipeline.assets import criteria_report
from judge_pipeline.orchestration.criteria_reports import (
    criteria_report_path,
    criteria_tables_dir,
    stored_criteria,
)
from judge_pipeline.orchestration.judging_configuration import judged_how, prompts_sha256
from judge_pipeline.orchestration.parquet_store import ParquetStore, table_file
from judge_pipeline.orchestration.partitions import PREFERENCE_SETS
from judge_pipeline.orchestration.resources import SilentProgress, WorkspaceResource
from judge_pipeline.preference.preference_splits import assign_preference_splits
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import PAIR_TEXTS, PREFERENCE_PAIRS, PREFERENCE_SPLITS
from judge_pipeline.tables import criteria as criteria_tables
from judge_pipeline.tables.criteria_ablation import CRITERIA_ABLATION, JudgedTables
from judge_pipeline_tests.criteria.made_ablation import CONFIGURATIONS
from judge_pipeline_tests.report.made_criteria import MadeCriteria, made_criteria

pytestmark = pytest.mark.slow

NAME = "sample-pairs"
JUDGE = "scripted-judge"
MADE = MadeCriteria(judges=((JUDGE, "litellm"),), copies=1, configurations=("monolithic", "full"), n_resamples=100)
JUDGES = f"judges:\n  {JUDGE}: {{backend: litellm, model: openai/script, systems: [criteria]}}\n"
KEYS = dg.MultiPartitionsDefinition(
    {"judge": dg.StaticPartitionsDefinition([f"{JUDGE}@full"]), "preference_set": PREFERENCE_SETS}
)
STORED = [
    *(dg.AssetSpec(t.name, partitions_def=PREFERENCE_SETS) for t in (PREFERENCE_PAIRS, PREFERENCE_SPLITS, PAIR_TEXTS)),
    *(dg.AssetSpec(table.name, partitions_def=KEYS) for table in criteria_tables.TABLES),
]


@dataclass
class Stored:
    """A workspace with a set on which configurations have decided."""

    workspace: Workspace
    store: ParquetStore
    instance: dg.DagsterInstance

    def run(self) -> tuple[dict[str, Any], dict[str, str]]:
        """Make ablation and report: the report's metadata, and checks that did not pass."""
        result = dg.materialize(
            [*criteria_report.ASSETS, *STORED],
            instance=self.instance,
            partition_key=NAME,
            selection=dg.AssetSelection.assets("criteria_ablation", "criteria_aspects", "decisive_criteria")
            | dg.AssetSelection.assets("criteria_report"),
            resources={
                "workspace": WorkspaceResource.of(self.workspace),
                "store": self.store,
                "io_manager": self.store,
                "progress": SilentProgress(),
            },
        )
        (event,) = result.asset_materializations_for_node("criteria_report")
        failed = {e.check_name: e.description or "" for e in result.get_asset_check_evaluations() if not e.passed}
        return {key: value.value for key, value in event.metadata.items()}, failed

    def page(self) -> str:
        return criteria_report_path(self.workspace, NAME).read_text(encoding="utf-8")

    def write(self, own: JudgedTables, how: Any = None, **further: Any) -> None:
        made_under = {"how": how or judged_how(CONFIGURATIONS[own.configuration]), "guidance_sha256": None, **further}
        for name, table in JudgedTables.schemas().items():
            if (rows := getattr(own, name)) is not None:
                self.store.write(table, table_file(table, rows, made_under), NAME, own.name)


@pytest.fixture
def stored(tmp_path: Path) -> Stored:
    workspace = Workspace(tmp_path / "config", tmp_path / "data", tmp_path / "var")
    folder = workspace.data_dir / "preference" / NAME
    folder.mkdir(parents=True)
    (folder / "preference.yaml").write_text("chosen_by: a stated rule; no person chose\nseed: 3\n", encoding="utf-8")
    (workspace.config_dir / "guidance").mkdir(parents=True)
    (workspace.config_dir / "judges.yaml").write_text(JUDGES, encoding="utf-8")
    settings = {
        "resamples": 100,
        "configurations": {name: own.model_dump(mode="json") for name, own in CONFIGURATIONS.items()},
    }
    (workspace.config_dir / "criteria.yaml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    said = dict.fromkeys(("generator", "criterion_judge", "final_judge"), "Look at what is printed.")
    (workspace.config_dir / "guidance" / "people.yaml").write_text(yaml.safe_dump({"general": said}), encoding="utf-8")
    instance = dg.DagsterInstance.ephemeral()
    instance.add_dynamic_partitions("preference_set", [NAME])
    made = Stored(workspace, ParquetStore(root=str(workspace.out_dir / "tables")), instance)
    given = made_criteria(MADE)
    pairs = given.preference_pairs
    splits = assign_preference_splits(pairs, seed=1, train_share=0.2, by_source=True, ledger=pd.DataFrame())
    for table, rows in ((PREFERENCE_PAIRS, pairs), (PREFERENCE_SPLITS, splits), (PAIR_TEXTS, given.pair_texts)):
        made.store.write(table, rows, NAME)
    for own in given.judged:
        made.write(own)
    return made


def test_what_is_stored_becomes_an_ablation_and_a_page_with_its_tables_beside(stored: Stored) -> None:
    said, failed = stored.run()
    assert said["left_out"] == "nothing" and said["not_made_yet"] == "nothing"
    assert "calls_as_formula" not in failed and "all_usable" not in failed
    table = stored.store.read(CRITERIA_ABLATION, NAME)
    gain = table[(table["figure"] == "gain_over_monolithic") & table["paper_table"].isna() & table["category"].isna()]
    assert gain["configuration"].tolist() == ["full"] and gain["against"].tolist() == ["monolithic"]
    page = stored.page()
    assert "No person chose." in page and "Scripted: not a model" in page
    assert "Look at what is printed." in page and "people.yaml" in page
    files = {file.name for file in criteria_tables_dir(stored.workspace, NAME).iterdir()}
    assert {"paper-2.csv", "paper-6.csv", "paper-7.tex", "aspects.csv", "all.csv"} <= files
    assert said["table_files"] == len(files)
    first = stored.page()
    stored.run()
    assert stored.page() == first


def test_decisions_under_other_settings_are_left_out_and_named(stored: Stored) -> None:
    full = JudgedTables(JUDGE, "full", stored.store.read(criteria_tables.CRITERIA_DECISIONS, NAME, f"{JUDGE}@full"))
    stored.write(full, judged_how(CONFIGURATIONS["full"]) | {"rounds": 1})
    stored.write(replace(full, configuration="gone"), {"any": "thing"})
    said, failed = stored.run()
    assert said["left_out"] == f"{JUDGE}@full, {JUDGE}@gone"
    assert (
        "decided under other settings" in failed["all_usable"] and "no longer in criteria.yaml" in failed["all_usable"]
    )
    assert "2 stored judge@configuration left out" in stored.page()
    table = stored.store.read(CRITERIA_ABLATION, NAME)
    assert set(table["configuration"].dropna()) == {"monolithic"}


def test_decisions_of_another_model_of_the_name_are_no_part_of_a_gain(stored: Stored) -> None:
    settings = stored.workspace.judges().get(JUDGE)
    own = {
        name: JudgedTables(JUDGE, name, stored.store.read(criteria_tables.CRITERIA_DECISIONS, NAME, f"{JUDGE}@{name}"))
        for name in ("monolithic", "full")
    }
    now = json.loads(json.dumps(settings.answer_settings("criteria"), default=str))
    cut = {"context_chars": 24_000, "response_chars": 24_000, "images": True}
    stored.write(own["full"], answers=now, shown=cut)
    stored.write(own["monolithic"], answers=now | {"model": "openai/older"}, shown=cut)
    assert stored_criteria(stored.workspace, stored.store, NAME).left_out == {
        f"{JUDGE}@monolithic": "decided by another model, or with other parameters, than judges.yaml has now: judge it "
        "again"
    }
    stored.write(own["monolithic"], answers=now, shown=cut | {"response_chars": 100})
    assert "criteria.yaml" in stored_criteria(stored.workspace, stored.store, NAME).left_out[f"{JUDGE}@monolithic"]
    before = prompts_sha256(stored.workspace, "criteria", settings)
    stored.write(own["monolithic"], answers=now, shown=cut, prompts_sha256=before)
    assert not stored_criteria(stored.workspace, stored.store, NAME).left_out
    template = stored.workspace.config_dir / "prompts" / "criteria_monolithic.md.j2"
    template.parent.mkdir()
    template.write_text("another", encoding="utf-8")
    assert "prompt templates" in stored_criteria(stored.workspace, stored.store, NAME).left_out[f"{JUDGE}@monolithic"]
    template.unlink()
    (stored.workspace.config_dir / "judges.yaml").write_text(JUDGES.replace(JUDGE, "another"), encoding="utf-8")
    assert not stored_criteria(stored.workspace, stored.store, NAME).left_out, "a judge that is gone keeps its figures"


def test_guidance_that_is_gone_is_a_warning_on_the_page(stored: Stored) -> None:
    (stored.workspace.config_dir / "guidance" / "people.yaml").unlink()
    stored.run()
    page = stored.page()
    assert "Guidance that may not be used" in page and "there is no such guidance" in page
    assert str(stored.workspace.config_dir) not in page


def test_without_a_judged_configuration_the_page_says_so(stored: Stored) -> None:
    for name in ("monolithic", "full"):
        stored.store.path(criteria_tables.CRITERIA_DECISIONS, NAME, f"{JUDGE}@{name}").unlink()
    said, _ = stored.run()
    assert said["not_made_yet"] == "criteria_decisions"
    assert "Nothing measured" in stored.page()
