from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from judge_pipeline.orchestration import parquet_store
from judge_pipeline.orchestration.parquet_store import ParquetStore
from judge_pipeline.orchestration.partitions import CONTESTS, PREFERENCE_SETS, contest_by_judge, set_by_judge
from judge_pipeline.orchestration.resources import SilentProgress, WorkspaceResource
from judge_pipeline.orchestration.table_asset import FAULT, Check, Made, table_asset
from judge_pipeline.settings import Workspace
from judge_pipeline.table_schema import Column, Table

MADE = Table("made_rows", "Rows of a test.", (Column("id", "string", "Which"),), key=("id",))
_SOUND = Check("sound", "Every row is sound", "weigh the rows")


@pytest.mark.parametrize(
    ("partitions", "key", "said"),
    [
        (PREFERENCE_SETS, "pairs", "pairs: a is wrong; b is wrong"),
        (CONTESTS, "spring", "spring: a is wrong; b is wrong"),
        (
            set_by_judge(["sharp"]), dg.MultiPartitionKey({"judge": "sharp", "preference_set": "pairs"}),
            "pairs, sharp: a is wrong; b is wrong",
        ),
        (
            contest_by_judge(["sharp"]), dg.MultiPartitionKey({"judge": "sharp", "contest": "spring"}),
            "spring, sharp: a is wrong; b is wrong",
        ),
        (None, None, "a is wrong; b is wrong"),
    ],
)  # fmt: skip
def test_a_failed_check_says_of_which_partition_it_is(
    tmp_path: Path, partitions: dg.PartitionsDefinition | None, key: str | None, said: str
) -> None:
    @table_asset(MADE, group="made", partitions_def=partitions, checks=(_SOUND, Check("whole", "W", FAULT)))
    def made_rows(context: Any) -> Made:
        return Made([{"id": "a"}], problems={"sound": ["a is wrong", "b is wrong"]})

    instance = dg.DagsterInstance.ephemeral()
    instance.add_dynamic_partitions("preference_set", ["pairs"])
    instance.add_dynamic_partitions("contest", ["spring"])
    store = ParquetStore(root=str(tmp_path / "tables"))
    resources: dict[str, Any] = {
        "workspace": WorkspaceResource.of(Workspace.find({}, tmp_path)),
        "store": store,
        "io_manager": dg.mem_io_manager,
        "progress": SilentProgress(),
    }
    result = dg.materialize(
        [made_rows], instance=instance, partition_key=key, resources=resources, raise_on_error=False
    )
    found = {e.check_name: e for e in result.get_asset_check_evaluations()}
    assert found["sound"].description == f"{said}. To do: weigh the rows." and not found["sound"].passed
    assert found["sound"].metadata["to_do"].value == "weigh the rows"
    assert found["whole"].passed and found["whole"].description is None
    told = found["whole"].metadata.get("partition")
    assert (told is None) == (key is None) and (told is None or said.startswith(f"{told.value}: "))


def test_the_file_of_a_table_is_let_go_of_once_the_store_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_store, "MAX_BYTES_IN_MEMORY", 10)
    monkeypatch.setitem(parquet_store._TABLES, MADE.name, MADE)
    made: list[parquet_store.TableFile] = []

    def kept(*given: Any) -> parquet_store.TableFile:
        made.append(parquet_store.table_file(*given))
        return made[-1]

    monkeypatch.setattr("judge_pipeline.orchestration.table_asset.table_file", kept)

    @table_asset(MADE, group="made", partitions_def=None)
    def made_rows(context: Any) -> Made:
        return Made([{"id": "a"}])

    store = ParquetStore(root=str(tmp_path / "tables"))
    workspace = WorkspaceResource.of(Workspace.find({}, tmp_path))
    resources: dict[str, Any] = {"workspace": workspace, "store": store, "progress": SilentProgress()}
    dg.materialize([made_rows], instance=dg.DagsterInstance.ephemeral(), resources={**resources, "io_manager": store})
    assert [file.stream.closed for file in made] == [True]
    written = store.path(MADE, parquet_store.EVERY_CONTEST).read_bytes()
    assert hashlib.sha256(written).hexdigest() == made[0].sha256


def test_of_many_problems_a_check_says_the_first_and_how_many_more(tmp_path: Path) -> None:
    @table_asset(MADE, group="made", partitions_def=None, checks=(_SOUND,))
    def made_rows(context: Any) -> Made:
        return Made([{"id": "a"}], problems={"sound": [f"row {n}" for n in range(30)]})

    resources: dict[str, Any] = {
        "workspace": WorkspaceResource.of(Workspace.find({}, tmp_path)),
        "store": ParquetStore(root=str(tmp_path / "tables")),
        "io_manager": dg.mem_io_manager,
        "progress": SilentProgress(),
    }
    found = dg.materialize([made_rows], resources=resources).get_asset_check_evaluations()
    (sound,) = [e for e in found if e.check_name == "sound"]
    assert sound.description == "row 0; row 1; row 2; row 3; row 4; and 25 more. To do: weigh the rows."
    assert sound.metadata["problems"].value == 30


@pytest.mark.parametrize(
    ("partitions", "key", "group", "links"),
    [
        (CONTESTS, "spring", "made", {"report": "spring/cocreation_report.html"}),
        (PREFERENCE_SETS, "pairs", "rubric", {"report": "pairs/preference_report.html"}),
        (PREFERENCE_SETS, "pairs", "criteria", {"report": "pairs/criteria_report.html"}),
        (
            set_by_judge(["sharp"]), dg.MultiPartitionKey({"judge": "sharp", "preference_set": "pairs"}), "preference",
            {"report": "pairs/preference_report.html", "judgments": "pairs/preference_trace/judge-sharp.html"},
        ),
        (
            set_by_judge(["sharp@full"]), dg.MultiPartitionKey({"judge": "sharp@full", "preference_set": "pairs"}),
            "criteria",
            {"report": "pairs/criteria_report.html", "judgments": "pairs/criteria_trace/judge-sharp%40full.html"},
        ),
        (
            contest_by_judge(["sharp"]), dg.MultiPartitionKey({"judge": "sharp", "contest": "spring"}), "judges",
            {"report": "spring/cocreation_report.html", "judgments": "spring/trace/judge-sharp.html"},
        ),
        (None, None, "reports", {}),
    ],
)  # fmt: skip
def test_a_partition_leads_to_its_report_and_a_judges_table_to_its_judgments(
    tmp_path: Path, partitions: dg.PartitionsDefinition | None, key: str | None, group: str, links: dict[str, str]
) -> None:
    @table_asset(MADE, group=group, partitions_def=partitions)
    def made_rows(context: Any) -> Made:
        return Made([{"id": "a"}])

    instance = dg.DagsterInstance.ephemeral()
    instance.add_dynamic_partitions("preference_set", ["pairs"])
    instance.add_dynamic_partitions("contest", ["spring"])
    resources: dict[str, Any] = {
        "workspace": WorkspaceResource.of(Workspace(tmp_path, tmp_path, tmp_path)),
        "store": ParquetStore(root=str(tmp_path / "tables")),
        "io_manager": dg.mem_io_manager,
        "progress": SilentProgress(),
    }
    result = dg.materialize([made_rows], instance=instance, partition_key=key, resources=resources)
    (event,) = result.asset_materializations_for_node("made_rows")
    told = {name: entry.value for name, entry in event.metadata.items() if isinstance(entry, dg.UrlMetadataValue)}
    assert told == {name: f"http://127.0.0.1:3001/{page}" for name, page in links.items()}
