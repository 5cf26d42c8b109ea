from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from judge_pipeline.orchestration.parquet_store import ParquetStore
from judge_pipeline.orchestration.partitions import CONTESTS, PREFERENCE_SETS, contest_by_judge, set_by_judge
from judge_pipeline.orchestration.resources import SilentProgress
from judge_pipeline.orchestration.table_asset import Check, Made, table_asset
from judge_pipeline.table_schema import Column, Table

MADE = Table("made_rows", "Rows of a test.", (Column("id", "string", "Which"),), key=("id",))


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
    @table_asset(MADE, group="made", partitions_def=partitions, checks=(Check("sound", "Sound"), Check("whole", "W")))
    def made_rows(context: Any) -> Made:
        return Made([{"id": "a"}], problems={"sound": ["a is wrong", "b is wrong"]})

    instance = dg.DagsterInstance.ephemeral()
    instance.add_dynamic_partitions("preference_set", ["pairs"])
    instance.add_dynamic_partitions("contest", ["spring"])
    store = ParquetStore(root=str(tmp_path / "tables"))
    resources: dict[str, Any] = {
        "workspace": None,
        "store": store,
        "io_manager": dg.mem_io_manager,
        "progress": SilentProgress(),
    }
    result = dg.materialize(
        [made_rows], instance=instance, partition_key=key, resources=resources, raise_on_error=False
    )
    found = {e.check_name: e for e in result.get_asset_check_evaluations()}
    assert found["sound"].description == said and not found["sound"].passed
    assert found["whole"].passed and found["whole"].description is None
    told = found["whole"].metadata.get("partition")
    assert (told is None) == (key is None) and (told is None or said.startswith(f"{told.value}: "))
