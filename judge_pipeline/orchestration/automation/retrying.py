"""The nightly retry of what failed: a schedule, and the job that makes the failed runs anew, one after the other.

Each retry is a run of its own, of the same job and partition, in the retrying job's process. What was answered before
is not asked again. A judge is asked under the same rules as by any run that nobody started.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
from dagster._core.storage.tags import PARTITION_NAME_TAG

from judge_pipeline.orchestration.automation.allowed_judges import AllowedJudges
from judge_pipeline.orchestration.automation.chain import Chain
from judge_pipeline.orchestration.automation.living import STARTED_BY_TAG, is_living, process_tag
from judge_pipeline.orchestration.contest_folders import contest_folders
from judge_pipeline.orchestration.preference_sets import preference_folders
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.secrets_file import key_environment
from judge_pipeline.settings.yaml_file import SettingsError

NAME = "retry_failed_runs"
"""The schedule and its job."""

DAYS = 14
"""What failed longer ago is left alone."""

MOST_FAILURES = 7
"""What has failed more often in a row needs a person."""

_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Failed:
    """What failed last time.

    Attributes:
        job: the job.
        partition: its partition; None: it has none.
        of: the contest or preference set; None: it is over all.
        judge: the judge, of a run that judges.
        n_failures: how often in a row it has failed.
    """

    job: str
    partition: str | None
    of: str | None
    judge: str | None
    n_failures: int

    def in_words(self) -> str:
        """Job and partition."""
        return f"{self.job} of {self.partition}" if self.partition else self.job

    def needs_people(self) -> bool:
        """Whether it has failed too often in a row to be tried again by itself."""
        return self.n_failures > MOST_FAILURES


def failed_last(instance: dg.DagsterInstance, chains: Sequence[Chain], now: datetime) -> list[Failed]:
    """The jobs and partitions whose last run failed, in the order of the chains' stages.

    Args:
        instance: where the runs are.
        chains: whose jobs.
        now: until when.
    """
    order = [job for chain in chains for job in chain.in_order()]
    dimension = {job: chain.dimension for chain in chains for job in chain.in_order()}
    runs = instance.get_runs(dg.RunsFilter(created_after=now - timedelta(days=DAYS)))  # newest first
    by_partition: dict[tuple[str, str | None], list[dg.DagsterRun]] = defaultdict(list)
    for run in runs:
        if run.job_name in dimension and (run.is_finished or is_living(run.tags)):
            by_partition[run.job_name, run.tags.get(PARTITION_NAME_TAG)].append(run)
    found = []
    for (job, partition), own in by_partition.items():
        failures = list(_failures(own))
        if failures:
            tags, of = own[0].tags, f"{PARTITION_NAME_TAG}/{dimension[job]}"
            judge = tags.get(f"{PARTITION_NAME_TAG}/judge")
            found.append(Failed(job, partition, tags.get(of) if judge else partition, judge, len(failures)))
    return sorted(found, key=lambda one: (order.index(one.job), one.partition or ""))


def _failures(newest_first: Sequence[dg.DagsterRun]) -> Iterator[dg.DagsterRun]:
    for run in newest_first:
        if run.status is not dg.DagsterRunStatus.FAILURE:
            return
        yield run


@dataclass(frozen=True)
class MayRetry:
    """Which of the failed runs may be made anew by itself."""

    workspace: Workspace
    chains: Sequence[Chain]

    def why_not(self, failed: Failed, n_costly: int) -> str | None:
        """Why one is left alone; None: it may be tried again.

        Args:
            failed: what failed.
            n_costly: runs that cost something and were tried again before it tonight.
        """
        if failed.needs_people():
            return f"it has failed {failed.n_failures} times in a row: mend it, and retry it by hand"
        return self._why_not_asked(failed, n_costly)

    def _why_not_asked(self, failed: Failed, n_costly: int) -> str | None:
        """Why its folder is not read, or its judges are not asked."""
        chain = next(chain for chain in self.chains if failed.job in chain.in_order())
        folders = contest_folders if chain.dimension == "contest" else preference_folders
        folder = folders(self.workspace).get(failed.of) if failed.of is not None else None
        if failed.of is not None and (folder is None or not folder.is_dir()):
            return "its folder is gone"
        allowed = self.allowed()
        if (
            failed.judge is not None
            and folder is not None
            and failed.judge not in allowed.in_folder(folder, chain.system)
        ):
            return f"{failed.judge} may not be asked by itself (automation.yaml, judging), or has no key or file"
        if failed.job == chain.rubric_job and folder is not None:
            try:
                if not allowed.may_find_rubric(self.workspace, folder):
                    return "a judge of its rubric may not be asked by itself (automation.yaml, judging)"
            except SettingsError as error:
                return str(error)
        costs = any(map(allowed.costs, self.asked_by(failed)))
        if costs and allowed.room_for(self.workspace, n_costly, datetime.now(UTC)) < 1:
            return "the day's ceiling is reached"
        return None

    def asked_by(self, failed: Failed) -> list[str]:
        """The judges that its run asks."""
        chain = next(chain for chain in self.chains if failed.job in chain.in_order())
        if failed.job == chain.rubric_job and failed.of is not None:
            return self.allowed().of_rubric(self.workspace, preference_folders(self.workspace)[failed.of])
        return [failed.judge] if failed.judge is not None else []

    def allowed(self) -> AllowedJudges:
        """The judges that may be asked by themselves."""
        return AllowedJudges(self.workspace.judges(), self.workspace.automation().judging, key_environment())


def retry_schedule(workspace: Workspace, chains: Sequence[Chain], job: Any) -> dg.ScheduleDefinition:
    """The schedule; off until somebody switches it on."""

    @dg.schedule(
        name=NAME,
        job=job,
        cron_schedule=workspace.automation().rerun.failed_cron,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.STOPPED,
        description="Starts anew what failed last time; asks only judges that may be asked by themselves.",
    )
    def retry_failed_runs(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        at = context.scheduled_execution_time
        found = failed_last(context.instance, chains, at)
        if all(failed.needs_people() for failed in found):
            return dg.SkipReason(_left_to_people(found) if found else "nothing has failed")
        return dg.RunRequest(run_key=f"{NAME}-{at.date().isoformat()}")

    return retry_failed_runs


def _left_to_people(found: Sequence[Failed]) -> str:
    more = f" and {len(found) - _MOST_NAMED:,} more" if len(found) > _MOST_NAMED else ""
    names = ", ".join(failed.in_words() for failed in found[:_MOST_NAMED])
    return f"left to people, for it has failed more than {MOST_FAILURES} times in a row: {names}{more}"


def retry_job(chains: Sequence[Chain], definitions: Callable[[], dg.Definitions]) -> dg.JobDefinition:
    """The job that makes failed runs anew, one after the other.

    Args:
        chains: whose jobs.
        definitions: gives the graph that the jobs are of; called within a run.
    """

    @dg.op(name=f"{NAME}_in_turn", required_resource_keys={"workspace"})
    def retry(context: dg.OpExecutionContext) -> None:
        may = MayRetry(context.resources.workspace.workspace(), chains)
        graph, again, costly = definitions(), [], 0
        for failed in failed_last(context.instance, chains, datetime.now(UTC)):
            why = may.why_not(failed, costly)
            if why is not None:
                context.log.info(f"{failed.in_words()}: left alone: {why}")
                continue
            tags = may.allowed().tags(may.asked_by(failed))
            costly += bool(tags)
            try:
                result = graph.resolve_job_def(failed.job).execute_in_process(
                    instance=context.instance,
                    partition_key=failed.partition,
                    raise_on_error=False,
                    tags={STARTED_BY_TAG: NAME, **process_tag(), **tags},
                )
            except dg.DagsterError as error:  # a partition that is no more, say: the others have their turn
                context.log.warning(f"{failed.in_words()}: cannot be started: {error}")
                continue
            words = "done" if result.success else "failed again"
            again += [] if result.success else [failed.in_words()]
            context.log.info(f"{failed.in_words()}: {words} (run {result.run_id})")
        if again:
            context.log.warning(f"failed again: {', '.join(again)}")

    @dg.job(name=NAME, description="Makes anew what failed last time, one run after the other. Started by night.")
    def job() -> None:
        retry()

    return job
