"""The report job without what a test does not look at: most of its time goes into figures, dynamics and the page.

As a module that is run, it is the command line with that job in the place of the whole one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dagster as dg

from judge_pipeline.definitions import REPORT_CONTEST
from judge_pipeline.orchestration import runs
from judge_pipeline.report.inputs import CocreationReportInput


class NarrowedDefinitions:
    """Definitions whose report job makes the assets that are wanted, and what they are made from.

    Args:
        definitions: the whole graph.
        wanted: whether the asset of this name is.
    """

    def __init__(self, definitions: dg.Definitions, wanted: Callable[[str], bool]) -> None:
        self._definitions = definitions
        self._wanted = wanted

    def resolve_job_def(self, name: str) -> dg.JobDefinition:
        """The job, narrowed where it is that of the report."""
        job = self._definitions.resolve_job_def(name)
        if name != REPORT_CONTEST:
            return job
        in_job = job.asset_layer.selected_asset_keys
        wanted = [key for key in in_job if self._wanted(key.path[-1])]
        upstream = dg.AssetSelection.assets(*wanted).upstream().resolve(self._definitions.resolve_asset_graph())
        return job.get_subset(asset_selection=upstream & in_job)


def run_headline_job(definitions: Any, *given: Any, **further: Any) -> runs.JobOutcome:
    """``run_job``, where the report job makes what the headline and ``status`` read: coverage and figures of judges."""
    needed = {*CocreationReportInput.schemas()} - CocreationReportInput.optional()
    narrowed: Any = NarrowedDefinitions(
        definitions, lambda name: name in needed or name.startswith(("judge_", "anchor_"))
    )
    return _run_job(narrowed, *given, **further)


_run_job = runs.run_job  # as it is before a test puts the other in its place


if __name__ == "__main__":
    from judge_pipeline.cli.main import main

    runs.run_job = run_headline_job
    main()
