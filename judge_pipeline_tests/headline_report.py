"""The report job without what only the page shows, for tests that look at coverage and figures of judges.

It makes the tables that the headline and ``status`` read, in a quarter of the time.
"""

from __future__ import annotations

from typing import Any

import dagster as dg

from judge_pipeline.definitions import REPORT_CONTEST
from judge_pipeline.orchestration import runs
from judge_pipeline.report.inputs import CocreationReportInput


class HeadlineDefinitions:
    """Definitions whose report job makes no dynamics beyond those that a report cannot be without, and no page."""

    def __init__(self, definitions: dg.Definitions) -> None:
        self._definitions = definitions

    def resolve_job_def(self, name: str) -> dg.JobDefinition:
        """The job, narrowed where it is that of the report."""
        job = self._definitions.resolve_job_def(name)
        if name != REPORT_CONTEST:
            return job
        needed = {*CocreationReportInput.schemas()} - CocreationReportInput.optional()
        in_job = job.asset_layer.selected_asset_keys
        wanted = {key for key in in_job if key.path[-1] in needed or key.path[-1].startswith(("judge_", "anchor_"))}
        upstream = dg.AssetSelection.assets(*wanted).upstream().resolve(self._definitions.resolve_asset_graph())
        return job.get_subset(asset_selection=upstream & in_job)


def run_headline_job(definitions: Any, *given: Any, **further: Any) -> runs.JobOutcome:
    """``run_job`` with the narrowed report job."""
    return _run_job(HeadlineDefinitions(definitions), *given, **further)  # type: ignore[arg-type]


_run_job = runs.run_job  # as it is before a test puts the other in its place
