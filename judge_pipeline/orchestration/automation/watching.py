"""The sensors that watch the folders of contests and preference sets, and start what has become due.

Runs are asked for from the state of the graph (``next_runs``), not by Dagster's automation conditions: those look at
every partition of every asset, and know neither a folder's content nor money. What is remembered (the cursor, the memo
of ``folder_watch``) only spares work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.definitions.data_version import DATA_VERSION_TAG

from judge_pipeline.orchestration.automation.allowed_judges import AllowedJudges
from judge_pipeline.orchestration.automation.chain import Chain
from judge_pipeline.orchestration.automation.folder_watch import FolderWatch, Looked
from judge_pipeline.orchestration.automation.graph_state import CODE_TAG, GraphState, Told, UnderWay
from judge_pipeline.orchestration.automation.living import STARTED_BY_TAG
from judge_pipeline.orchestration.automation.next_runs import MOST_AT_ONCE, Planner, Rules, Wanted, to_start
from judge_pipeline.orchestration.automation.reading_again import TRY_TAG, try_tag
from judge_pipeline.orchestration.automation.reading_state import CONTENT_TAG, defaults_sha256
from judge_pipeline.orchestration.run_ceiling import CEILING_TAG
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.secrets_file import key_environment
from judge_pipeline.settings.yaml_file import SettingsError

_MOST_WORDS = 10


def sensor_name(chain: Chain) -> str:
    """What the chain's sensor is called."""
    return f"watch_{chain.dimension}s"


def watch_sensor(workspace: Workspace, chain: Chain, jobs: Sequence[Any]) -> dg.SensorDefinition:
    """The sensor of one chain; on unless automation.yaml switches it off.

    Args:
        workspace: whose folders.
        chain: contests or preference sets.
        jobs: all jobs of the graph.
    """
    settings = workspace.automation().watch
    is_on = settings.contests if chain.dimension == "contest" else settings.preference_sets
    watch = FolderWatch(workspace, chain, settings.quiet_seconds)
    loaded = frozenset(workspace.judges().names(chain.system))
    remembered: dict[int, Told] = {}
    words = "contest folders" if chain.dimension == "contest" else "folders of preference sets"

    @dg.sensor(
        name=sensor_name(chain),
        jobs=[job for job in jobs if job.name in chain.in_order()],
        minimum_interval_seconds=settings.interval_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING if is_on else dg.DefaultSensorStatus.STOPPED,
        description=f"Reads new and changed {words} once nothing in them changes any more; then starts the judges that "
        "may be asked by themselves (automation.yaml, section judging), the report, and what is over all.",
    )
    def watch_folders(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        looked = watch.look(context.cursor or "")
        state = GraphState(context.instance, remembered)
        return _Tick(workspace, chain, state, _code_versions(context, chain), loaded).result(looked)

    return watch_folders


def _code_versions(context: dg.SensorEvaluationContext, chain: Chain) -> dict[str, str]:
    repository = context.repository_def
    if repository is None:
        return {}
    graph = repository.asset_graph
    assets = (chain.reading, chain.judged, chain.report, *([chain.rubric] if chain.rubric else []))
    found = {asset: graph.get(dg.AssetKey(asset)).code_version for asset in assets}
    return {asset: version for asset, version in found.items() if version is not None}


@dataclass
class _Tick:
    """One evaluation of a sensor.

    Attributes:
        loaded: judges for which there are partitions: those that judges.yaml listed when the code was loaded.
        held: judges that would be asked, did money allow it -> how many contests or sets.
        in_vain: jobs and partitions that are wanted and were tried, and why is not new since.
        later: those that are tried again, and when.
        unloaded: judges that would be asked, and came into judges.yaml since.
    """

    workspace: Workspace
    chain: Chain
    state: GraphState
    code_versions: Mapping[str, str]
    loaded: Collection[str]
    held: Counter[str] = field(default_factory=Counter)
    unloaded: set[str] = field(default_factory=set)
    in_vain: list[str] = field(default_factory=list)
    later: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._settings = self.workspace.automation()
        judges = self.workspace.judges()
        self._settings.judging.check_names(list(judges.judges))
        self._allowed = AllowedJudges(judges, self._settings.judging, key_environment())

    def result(self, looked: Looked) -> dg.SensorResult:
        """What Dagster is to do after a look at the folders."""
        names = sorted(looked.folders)
        chain, state = self.chain, self.state
        defaults = defaults_sha256(self.workspace, chain.dimension)
        rules = Rules(self.code_versions, defaults, self._settings.rerun.stale, self._allowed.of_files())
        planner = Planner(chain, state, rules)
        state.look_up(chain.reading, looked.contents)
        under_way = state.under_way(chain.dimension)
        wanted = {name: self._wanted(planner, name, looked) for name in names}
        asked = state.asked(run.key for runs in wanted.values() for run in runs)
        asked |= self._tried_again(planner, wanted, asked, under_way)
        self.in_vain += self._tried(wanted, asked, under_way)
        runs = to_start(self._affordable(wanted, looked.folders, asked, under_way), asked, under_way)
        if len(runs) < MOST_AT_ONCE:
            is_quiet = not runs and not any(run.partition in wanted for run in under_way)
            over_all = planner.over_all(names, is_quiet)
            busy = {(run.job, run.partition) for run in under_way}
            new = state.asked(run.key for run in over_all)
            runs += [run for run in over_all if run.key not in new and (run.job, run.partition) not in busy]
        return self._told(runs[:MOST_AT_ONCE], looked, under_way)

    def _wanted(self, planner: Planner, name: str, looked: Looked) -> list[Wanted]:
        folder = looked.folders[name]
        try:
            return planner.wanted(
                name,
                looked.contents.get(name),
                lambda: self._judges(name, folder),
                lambda: self._allowed.may_find_rubric(self.workspace, folder),
            )
        except SettingsError as error:  # of this folder: the others go on
            looked.waiting.append(f"{name}: {error}")
            return []

    def _judges(self, name: str, folder: Path) -> list[str]:
        allowed = self._allowed.in_folder(folder, self.chain.system)
        judges = [judge for judge in allowed if judge in self.loaded]
        self.unloaded |= set(allowed) - set(judges)
        if self.chain.dimension == "contest":
            return judges
        from judge_pipeline.orchestration.pair_judging_run import without_training

        try:
            cannot = without_training(self.workspace, name, folder, judges)
        except FileNotFoundError:
            cannot = {}
        return [judge for judge in judges if judge not in cannot]

    def _tried_again(
        self, planner: Planner, wanted: dict[str, list[Wanted]], asked: set[str], under_way: Sequence[UnderWay]
    ) -> set[str]:
        """Put a further try in the place of each reading that has failed and is due; the keys of those that are not."""
        busy = {run.partition for run in under_way}
        now, not_due = datetime.now(UTC).timestamp(), set()
        for name, runs in wanted.items():
            if name in busy or not runs or runs[0].stage != "read" or not (runs[0].tried or runs[0].key in asked):
                continue
            found = planner.again(runs[0])
            if found is not None and found[1].at <= now and not self.state.asked([found[0].key]):
                wanted[name] = [found[0]]
                continue
            not_due.add(runs[0].key)
            if found is not None and found[1].at > now:
                at = datetime.fromtimestamp(found[1].at, UTC)
                self.later.append(f"{runs[0].job} {name} from {at:%Y-%m-%d %H:%M} UTC on")
                wanted[name] = []
        return not_due

    def _tried(
        self, wanted: Mapping[str, list[Wanted]], asked: set[str], under_way: Sequence[UnderWay]
    ) -> Iterator[str]:
        """What is wanted, was tried and is not asked for again; else a look would say that nothing has changed."""
        busy = {run.partition for run in under_way}
        for name, runs in wanted.items():
            for run in runs:
                if name not in busy and run.key in asked:
                    yield f"{run.job} {name}" + (f" {run.judge}" if run.judge else "")

    def _asked_by(self, run: Wanted, folders: Mapping[str, Path]) -> list[str]:
        """The judges that a run asks."""
        if run.stage == "rubric" and run.partition is not None:
            return self._allowed.of_rubric(self.workspace, folders[run.partition])
        return [run.judge] if run.judge is not None else []

    def _affordable(
        self,
        wanted: Mapping[str, list[Wanted]],
        folders: Mapping[str, Path],
        asked: set[str],
        under_way: Sequence[UnderWay],
    ) -> dict[str, list[Wanted]]:
        """Without the judges for whom there is no money left today; the report is made without them."""
        costly = [
            run
            for runs in wanted.values()
            for run in runs
            if run.key not in asked and any(map(self._allowed.costs, self._asked_by(run, folders)))
        ]
        if not costly:
            return dict(wanted)
        room = self._allowed.room_for(
            self.workspace, sum(CEILING_TAG in run.tags for run in under_way), datetime.now(UTC)
        )
        over = {run.key for run in costly[max(0, int(min(room, len(costly)))) :]}
        self.held.update(run.judge or run.stage for run in costly if run.key in over)
        return {name: [run for run in runs if run.key not in over] for name, runs in wanted.items()}

    def _told(self, runs: Sequence[Wanted], looked: Looked, under_way: Sequence[UnderWay]) -> dg.SensorResult:
        new = [run.partition for run in runs if run.partition is not None]
        requests = [self._request(run, looked) for run in runs]
        known_now = [
            dg.AssetObservation(
                self.chain.folder, partition=run.partition, tags={DATA_VERSION_TAG: run.content}, description="settled"
            )
            for run in runs
            if run.content is not None
        ]
        return dg.SensorResult(
            run_requests=requests,
            skip_reason=None if requests else dg.SkipReason(self._in_words(looked, under_way)),
            cursor=looked.next_name,
            dynamic_partitions_requests=[self.chain.partitions.build_add_request(sorted(set(new)))] if new else [],
            asset_events=known_now,
        )

    def _request(self, run: Wanted, looked: Looked) -> dg.RunRequest:
        tags = {STARTED_BY_TAG: sensor_name(self.chain)}
        if run.content is not None:
            tags[CONTENT_TAG] = run.content
        if run.stage == "read":
            tags[TRY_TAG] = try_tag(run.n_before)
        if run.code_version is not None:
            tags[CODE_TAG] = run.code_version
        tags |= self._allowed.tags(self._asked_by(run, looked.folders))
        partition: Any = run.partition
        if run.judge is not None and run.partition is not None:
            partition = dg.MultiPartitionKey({self.chain.dimension: run.partition, "judge": run.judge})
        return dg.RunRequest(run_key=run.key, job_name=run.job, partition_key=partition, tags=tags)

    def _in_words(self, looked: Looked, under_way: Sequence[UnderWay]) -> str:
        going = sum(run.partition in looked.folders for run in under_way)
        said = looked.waiting[:_MOST_WORDS]
        if len(looked.waiting) > _MOST_WORDS:
            said.append(f"and {len(looked.waiting) - _MOST_WORDS:,} more")
        said += [f"{judge}: {n:,} wait, the day's ceiling is reached" for judge, n in sorted(self.held.items())]
        said += [f"{judge} is new in judges.yaml: reload the code location" for judge in sorted(self.unloaded)]
        failed = (
            ("has failed, and is tried again by itself", self.later),
            ("has failed, and waits for a retry or a change", self.in_vain),
        )
        for words, names in failed:
            more = f" and {len(names) - _MOST_WORDS:,} more" if len(names) > _MOST_WORDS else ""
            said += [f"{words}: {', '.join(names[:_MOST_WORDS])}{more}"] if names else []
        if going:
            said.append(f"{going:,} run{'s' if going > 1 else ''} under way")
        return "; ".join(said) or f"folders looked at: {len(looked.folders):,}; none has changed"
