"""Several processes open Dagster's records at once: a UI and a command, or two commands."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dagster as dg
import pytest
from sqlalchemy.exc import IntegrityError

from judge_pipeline.orchestration.instance import open_instance, register_contests
from judge_pipeline.settings import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    for name in ("autumn", "spring"):
        (tmp_path / "data" / "contests" / name / "submissions").mkdir(parents=True)
    return Workspace(tmp_path / "assets_config", tmp_path / "data", tmp_path / "var")


@pytest.mark.slow
def test_records_that_several_make_at_once_can_be_read_by_all(workspace: Workspace) -> None:
    with ThreadPoolExecutor(4) as threads:
        opened = list(threads.map(open_instance, [workspace] * 4))
    for instance in opened:
        assert sorted(instance.get_dynamic_partitions("contest")) == ["autumn", "spring"]
        instance.dispose()


def test_a_partition_that_a_daemon_adds_meanwhile_keeps_out_no_other(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        add = instance.add_dynamic_partitions

        def too_late(name: str, keys: Sequence[str]) -> None:
            monkeypatch.undo()
            add(name, ["spring"])
            raise IntegrityError("insert", None, Exception("UNIQUE constraint failed"))

        monkeypatch.setattr(instance, "add_dynamic_partitions", too_late)
        assert register_contests(instance, workspace) == ["autumn"]
        assert sorted(instance.get_dynamic_partitions("contest")) == ["autumn", "spring"]
