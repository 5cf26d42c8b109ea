"""Commands that ask a judge in shards: processes of this machine that ask side by side; then the ordinary job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console
from rich.markup import escape

from judge_pipeline.settings import BaselineJudge, LitellmJudge, RecordedJudge, Workspace

if TYPE_CHECKING:
    from judge_pipeline.judging.money import RunSpending
    from judge_pipeline.judging.plan import Plan
    from judge_pipeline.orchestration.runs import JobOutcome


@dataclass(frozen=True)
class ShardedJudging:
    """How a command asks its judges, each in shards where that is wanted and makes sense.

    Attributes:
        workspace: the workspace.
        definitions: its graph.
        instance: its Dagster instance.
        spending: what the command spends; the graph's own.
        wanted: the option --shards; None: what judges.yaml says of each judge.
        of: what is judged.
        console: where to say what is done.
        plans: what each judge would be asked.
    """

    workspace: Workspace
    definitions: Any
    instance: Any
    spending: RunSpending
    wanted: int | None
    of: Literal["contest", "preference_set"]
    console: Console
    plans: Sequence[Plan]

    def judge(self, job: str, name: str, judge: str, tags: Mapping[str, str]) -> JobOutcome:
        """Run the judge's job for the contest or preference set, after its shards have asked where there are any."""
        from judge_pipeline.orchestration.judging_run import AFTER_SHARDS_TAG
        from judge_pipeline.orchestration.runs import run_job

        n = self._shards(judge)
        if n > 1:
            self.console.print(f"  [dim]… {escape(judge)}: in {n} shards, each by a process of its own[/dim]")
            outcome = self._ask_in_shards(job, name, judge, tags, n)
            if outcome.error is not None:
                return outcome
            tags = {**tags, AFTER_SHARDS_TAG: outcome.run_id}
        return run_job(self.definitions, self.instance, job, name, judge, tags, of=self.of)

    def _shards(self, judge: str) -> int:
        from judge_pipeline.orchestration.sharded_judging import is_asked_in_batches

        settings = self.workspace.judges().get(judge)
        if isinstance(settings, RecordedJudge | BaselineJudge):
            return 1
        n = self.wanted or settings.shards
        may_batch = n > 1 and self.of == "contest"
        if may_batch and isinstance(settings, LitellmJudge) and is_asked_in_batches(self.workspace, judge, settings):
            self.console.print(f"  [dim]… {escape(judge)} is asked in batches, and so not in shards[/dim]")
            return 1
        return n if all(plan.n_to_ask > 1 for plan in self.plans if plan.judge == judge) else 1

    def _ask_in_shards(self, job: str, name: str, judge: str, tags: Mapping[str, str], n: int) -> JobOutcome:
        from judge_pipeline.judging.checkpoint.store import Checkpoint
        from judge_pipeline.judging.shard_spending import spent_in_shards
        from judge_pipeline.orchestration.runs import Reconstruction, run_sharded_job
        from judge_pipeline.orchestration.sharded_jobs import SHARDED
        from judge_pipeline.orchestration.sharded_judging import SPENT_TAG

        place = {name: str(getattr(self.workspace, name)) for name in ("config_dir", "data_dir", "out_dir")}
        rebuilt = Reconstruction(__name__, job_for_terminal.__name__, {"job": SHARDED[job], **place})
        tags = {**tags, SPENT_TAG: repr(self.spending.usd)}
        outcome = run_sharded_job(rebuilt, self.definitions, self.instance, name, judge, n, tags, of=self.of)
        with closing(Checkpoint(self.workspace.checkpoint_url)) as checkpoint:
            self.spending.usd += spent_in_shards(checkpoint, outcome.run_id.replace("-", ""))
        return outcome


def job_for_terminal(job: str, config_dir: str, data_dir: str, out_dir: str) -> Any:
    """The job as each of its processes builds it; they say how far they are in the terminal, a line now and then."""
    from judge_pipeline.cli.terminal import TerminalProgress
    from judge_pipeline.definitions import build_definitions

    workspace = Workspace(Path(config_dir), Path(data_dir), Path(out_dir))
    progress = TerminalProgress(Console(stderr=True, force_terminal=False))
    return build_definitions(workspace, progress).resolve_job_def(job)
