"""A workspace with the sample preference set, whose assets tests make in this process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg

from judge_pipeline.assets import preference
from judge_pipeline.judging.money import RunSpending
from judge_pipeline.orchestration.launch_forms import Launch
from judge_pipeline.orchestration.parquet_store import ParquetStore
from judge_pipeline.orchestration.resources import SilentProgress, WorkspaceResource
from judge_pipeline.settings import Workspace
from judge_pipeline_tests.judging.conftest import Provider

SAMPLE = Path(preference.__file__).parents[1] / "samples" / "preference_sets" / "sample-pairs"
READ = (
    "preference_pairs", "preference_quarantine", "preference_selection", "preference_splits", "pair_texts",
    "pair_redaction_counts",
)  # fmt: skip
"""What the reading of a set makes."""


@dataclass
class SampleSetHouse:
    """A workspace with the sample set, the provider that its judges ask, and how its assets are made."""

    workspace: Workspace
    provider: Provider
    instance: dg.DagsterInstance

    @property
    def store(self) -> ParquetStore:
        return ParquetStore(root=str(self.workspace.out_dir / "tables"))

    @property
    def resources(self) -> dict[str, Any]:
        return {
            "workspace": WorkspaceResource.of(self.workspace),
            "store": self.store,
            "io_manager": self.store,
            "spending": RunSpending(),
            "launch": Launch(),
            "progress": SilentProgress(),
        }
