"""What Dagster's daemon does with a sensor, in the test's own process: look, note partitions, start what is new."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import dagster as dg
import pytest
from dagster._core.utils import make_new_run_id

from judge_pipeline.definitions import build_definitions
from judge_pipeline.settings import Workspace

TAGS_OF_DAGSTER = pytest.mark.filterwarnings("ignore:Non-compliant tag keys like:DeprecationWarning")
"""For tests in which a run is asked for in two dimensions: Dagster warns of the tags that it then gives it itself."""

RunMade = Callable[[dg.RunRequest], bool | None]
"""Makes a run itself, and says whether it ended well; None: leaves it to the job."""


@dataclass
class MadeDaemon:
    """One sensor over one instance.

    Attributes:
        workspace: whose folders it watches.
        instance: where runs and materializations are kept.
        sensor: its name.
        cursor: what it remembers.
        started: the runs that it asked for and that were new, in their order.
    """

    workspace: Workspace
    instance: dg.DagsterInstance
    sensor: str = "watch_contests"
    cursor: str = ""
    started: list[dg.RunRequest] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Load the code location anew: nothing of what its process remembered is there."""
        self.definitions = build_definitions(self.workspace)
        self.repository = self.definitions.get_repository_def()

    def look(self) -> dg.SensorResult:
        """One evaluation."""
        context = dg.build_sensor_context(
            instance=self.instance, repository_def=self.repository, sensor_name=self.sensor, cursor=self.cursor
        )
        found = self.repository.get_sensor_def(self.sensor)(context)
        assert isinstance(found, dg.SensorResult)
        for request in found.run_requests or []:
            self._check(request, found)
        return found

    def _check(self, request: dg.RunRequest, found: dg.SensorResult) -> None:
        """Refuse a run of a partition that there is not, as Dagster does; all others of the tick are lost with it."""
        if request.partition_key is not None:
            request.with_resolved_tags_and_config(
                target_definition=self.definitions.resolve_job_def(str(request.job_name)),
                dynamic_partitions_requests=found.dynamic_partitions_requests or [],
                dynamic_partitions_store=self.instance,
            )

    def tick(self, make: RunMade = lambda _: None, start: bool = True) -> list[dg.RunRequest]:
        """Look, and make the runs that are asked for, unless there is one with the key; those that were made."""
        found = self.look()
        self.cursor = found.cursor or ""
        for event in found.asset_events:
            self.instance.report_runless_asset_event(event)
        for request in found.dynamic_partitions_requests or []:
            known = self.instance.get_dynamic_partitions(request.partitions_def_name)
            new = [key for key in request.partition_keys if key not in known]
            self.instance.add_dynamic_partitions(request.partitions_def_name, new)
        asked = [request for request in found.run_requests or [] if not self._is_there(request)]
        for request in asked if start else []:
            self.started.append(request)
            if make(request) is None:
                self.run(request)
        return asked

    def run(self, request: dg.RunRequest) -> bool:
        """Make a run in this process, as the run launcher does in its own."""
        job = self.definitions.resolve_job_def(str(request.job_name))
        tags = {**request.tags, "dagster/run_key": str(request.run_key)}
        key = request.partition_key
        return job.execute_in_process(
            instance=self.instance, partition_key=key, tags=tags, raise_on_error=False
        ).success

    def pretend(self, request: dg.RunRequest, status: dg.DagsterRunStatus = dg.DagsterRunStatus.SUCCESS) -> bool:
        """Note a run as the daemon would, without making anything."""
        key = request.partition_key
        own = {"dagster/run_key": str(request.run_key), "dagster/partition": str(key)}
        tags = {**request.tags, **own}
        run = dg.DagsterRun(job_name=str(request.job_name), run_id=make_new_run_id(), tags=tags, status=status)
        self.instance.add_run(run)
        return True

    def made(self, request: dg.RunRequest, *assets: str) -> None:
        """Say that assets of the partition were made, as a run of today's code would."""
        partition = None if request.partition_key is None else str(request.partition_key)
        graph = self.definitions.resolve_asset_graph()
        for asset in assets:
            tags = {"dagster/code_version": str(graph.get(dg.AssetKey(asset)).code_version)}
            event = dg.AssetMaterialization(asset, partition=partition, tags=tags)
            self.instance.report_runless_asset_event(event)

    def without_reports(self, request: dg.RunRequest) -> bool | None:
        """Makes readings and judgments; of reports and what is over all only says that they were made."""
        made = {"report_contest": ("judge_coverage", "cocreation_report"), "compare_contests": ("start_page",)}
        if request.job_name not in made:
            return None
        self.made(request, *made[str(request.job_name)])
        return self.pretend(request)

    def only_read(self, request: dg.RunRequest) -> bool | None:
        """Makes readings alone, and pretends the rest."""
        return None if str(request.job_name).startswith("read_") else self.pretend(request)

    def readings(self) -> list[str]:
        """Tick until all is quiet, making readings alone: the contests that were read, in their order."""
        made = self.until_quiet(self.only_read)
        return [words.partition(" ")[2] for words in made if words.startswith("read_")]

    def until_quiet(self, make: RunMade = lambda _: None, most: int = 20) -> list[str]:
        """Tick until nothing is asked for any more: what was made, as ``job`` or ``job partition``."""
        made: list[str] = []
        for _ in range(most):
            asked = self.tick(make)
            if not asked:
                return made
            made += [f"{request.job_name} {request.partition_key or ''}".strip() for request in asked]
        raise AssertionError(f"no end: {made}")

    def _is_there(self, request: dg.RunRequest) -> bool:
        wanted = dg.RunsFilter(tags={"dagster/run_key": str(request.run_key)})
        return bool(self.instance.get_runs(wanted, limit=1))
