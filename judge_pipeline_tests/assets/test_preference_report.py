"""The asset from what is stored of a set to its page, whole and with tables that are missing or damaged."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import dagster as dg
import pytest

from judge_pipeline.assets.preference_report import preference_report
from judge_pipeline.orchestration.parquet_store import EVERY_CONTEST, ParquetStore
from judge_pipeline.orchestration.preference_reports import preference_report_path, preference_tables_dir
from judge_pipeline.orchestration.resources import SilentProgress, WorkspaceResource
from judge_pipeline.report.preference_inputs import JUDGMENTS, OVER_SETS, PreferenceReportInput
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import PREFERENCE_PAIRS
from judge_pipeline.tables.misalignment import MISALIGNMENT
from judge_pipeline_tests.report.made_preference import MadeSet, made_preference

pytestmark = pytest.mark.slow

NAME = "sample-pairs"
MADE = MadeSet(judges=("simulated-gpt", "length"), copies=2, n_items=3, n_resamples=60)
JUDGES = "judges:\n  length: {backend: baseline, pair_rule: longer, systems: [preference]}\n"
SETTINGS = "title: Two judges\nchosen_by: a stated rule; no person chose\nseed: 3\n"


@dataclass
class Stored:
    """A workspace with a set, whose tables lie in the store."""

    workspace: Workspace
    store: ParquetStore
    instance: dg.DagsterInstance

    def run(self) -> dict[str, object]:
        """Make the report; its metadata as plain values."""
        result = dg.materialize(
            [preference_report],
            instance=self.instance,
            partition_key=NAME,
            resources={
                "workspace": WorkspaceResource.of(self.workspace),
                "store": self.store,
                "progress": SilentProgress(),
            },
        )
        (event,) = result.asset_materializations_for_node("preference_report")
        return {key: value.value for key, value in event.metadata.items()}

    def page(self) -> str:
        return preference_report_path(self.workspace, NAME).read_text(encoding="utf-8")


@pytest.fixture
def stored(tmp_path: Path) -> Stored:
    workspace = Workspace(tmp_path / "config", tmp_path / "data", tmp_path / "var")
    folder = workspace.data_dir / "preference" / NAME
    folder.mkdir(parents=True)
    (folder / "preference.yaml").write_text(SETTINGS, encoding="utf-8")
    workspace.config_dir.mkdir()
    (workspace.config_dir / "judges.yaml").write_text(JUDGES, encoding="utf-8")
    instance = dg.DagsterInstance.ephemeral()
    instance.add_dynamic_partitions("preference_set", [NAME])
    return Stored(workspace, ParquetStore(root=str(workspace.out_dir / "tables")), instance)


def write(store: ParquetStore, given: PreferenceReportInput) -> None:
    for name, table in PreferenceReportInput.schemas().items():
        store.write(table, getattr(given, name), EVERY_CONTEST if name in OVER_SETS else NAME)
    for judge, rows in given.pair_judgments.items():
        store.write(JUDGMENTS, rows, NAME, judge)


def test_the_page_holds_what_is_stored_and_its_tables_lie_beside(stored: Stored) -> None:
    given = made_preference(MADE)
    assert {item.name for item in fields(given)} == {*PreferenceReportInput.schemas(), JUDGMENTS.name}
    write(stored.store, given)
    said = stored.run()
    page = stored.page()
    assert said["not_made_yet"] == "nothing" and said["bytes"] == len(page.encode())
    assert said["chosen_by"] == "a stated rule; no person chose"
    assert "<title>Two judges: preference report</title>" in page and "No person chose." in page
    folder = preference_tables_dir(stored.workspace, NAME)
    assert said["table_files"] == len(list(folder.iterdir()))
    assert "simulated-gpt" in (folder / "table-2.csv").read_text(encoding="utf-8")
    assert "right is people&#39;s choice in both orders" in page
    first = page
    assert stored.run() == said and stored.page() == first


def test_the_pairs_alone_give_a_page_that_says_what_is_missing_and_a_damaged_table_is_one(stored: Stored) -> None:
    given = made_preference(MADE)
    stored.store.write(PREFERENCE_PAIRS, given.preference_pairs, NAME)
    assert str(stored.run()["not_made_yet"]).endswith("pair_judgments")
    assert "Not made yet: rubric, rubric_scores" in stored.page()
    write(stored.store, given)
    stored.store.path(MISALIGNMENT, NAME).write_bytes(b"no parquet")
    assert stored.run()["not_made_yet"] == "misalignment"
    assert "The page does without misalignment." in stored.page()


def test_without_pairs_the_asset_fails_and_says_what_to_make(stored: Stored) -> None:
    with pytest.raises(FileNotFoundError, match="preference_pairs"):
        stored.run()
