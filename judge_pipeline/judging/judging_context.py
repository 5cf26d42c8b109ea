"""What judging is given, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from judge_pipeline.judging.batches.store import BatchRow
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.money import RunSpending
from judge_pipeline.judging.pacing.limits import Timing
from judge_pipeline.judging.plan import Plan
from judge_pipeline.judging.progress import Progress
from judge_pipeline.judging.request import ReadImage, no_images
from judge_pipeline.judging.sharding import Shard
from judge_pipeline.settings import Ceilings, Rates

FAILURE_COLUMNS = ("attempt_id", "class", "text", "n_tries")
"""Columns of the table of failures."""

ASK = "JUDGE_PIPELINE_ASK"
"""Environment variable: with the value ``never`` no judge is asked anything; what is not stored has no answer."""


@dataclass(frozen=True)
class JudgingContext:
    """What judging needs besides requests and settings.

    Attributes:
        environment: where keys are read from, by the name that the settings give.
        contest_folder: where recorded outputs lie.
        prompts_dir: where prompt templates lie.
        training: attempt_id, participant, problem_id, split, y; needed by the baseline, which uses rows of split
            train only. No other backend sees it.
        seed: draws the baseline's folds and the jitter of waits.
        progress: called in the caller's thread with how far it is. What it raises cancels the run.
        timing: clock and sleep.
        ceilings: money that asking stops before.
        spending: what this run has spent so far; shared by the judges that one run asks.
        run_of_steps: the run whose other steps may ask in processes of their own, 32 hexadecimal digits: their money is
            counted together. None: all of a run is in this process.
        providers: how often each provider may be asked.
        limit: ask for a stratified pilot of so many attempts only; None for all in scope.
        planned: called once with what will be asked, and its estimated price, before anything is.
        contest: the contest's name, under which its batches are kept.
        only_collect: of a judge that is asked in batches, collect and go on with what is in batches; ask nothing else.
        only_stored: make the table of what is stored, whatever is missing; ask nothing.
        shard: ask only for what is in this shard; None: for all.
        after_shards: all shards have asked: ask nothing, and say of what has no answer how its last asking ended.
        read_image: gives the bytes of images that requests show.
    """

    environment: Mapping[str, str]
    contest_folder: Path
    prompts_dir: Path
    training: pd.DataFrame | None = None
    seed: int = 0
    progress: Callable[[Progress], None] | None = None
    timing: Timing = field(default=Timing())
    ceilings: Ceilings = field(default=Ceilings())
    spending: RunSpending = field(default_factory=RunSpending)
    run_of_steps: str | None = None
    providers: Mapping[str, Rates] = field(default_factory=dict)
    limit: int | None = None
    planned: Callable[[Plan], None] | None = None
    contest: str = ""
    only_collect: bool = False
    only_stored: bool = False
    shard: Shard | None = None
    after_shards: bool = False
    read_image: ReadImage = no_images

    def may_ask(self) -> bool:
        """Whether anything may be asked at all.

        Raises:
            JudgingError: the environment variable has another value than ``never``.
        """
        value = self.environment.get(ASK)
        if value not in (None, "", "never"):
            raise JudgingError(f"{ASK}={value!r} is not known: set it to never, or unset it to ask judges")
        return not value


@dataclass(frozen=True)
class JudgingResult:
    """What came of judging. Totals are taken from the rows of all calls for these requests, of earlier runs too.

    Attributes:
        judge: the judge's name.
        outputs: table ``judge_outputs`` of the attempts that have a judgment, in the order of the requests.
        failures: attempt_id, class, text, n_tries of those that have none; n_tries is 0 where none was made now.
        n_in_scope: attempts in the judge's scope.
        n_from_checkpoint: of these, answered before.
        n_asked: distinct requests asked for in this run.
        n_calls: tries over all runs.
        tokens_in: prompt tokens over all runs; None where unknown.
        tokens_out: answer tokens over all runs; None where unknown.
        cost_usd: US dollars over all runs, failed and repaired tries included; None where unpriced.
        seconds: sum of the latencies of all tries over all runs.
        notes: what a person should know besides: rows passed over, parameters that the model does not take.
        plan: what was to be asked, and its estimated price, before anything was; None where no model is asked.
        pilot: the attempts that a limit left to be asked (or, where the run only collects, those that were in batches
            or are answered); None where they are all. Judgments that were stored before are in ``outputs`` beside the
            pilot's, and ``failures`` are the pilot's.
        waiting: the open batches at the provider that hold requests of the judge's scope.
        n_waiting: requests in them; none of them is in ``failures``.
        n_submitted: of those, requests that this run has submitted.
    """

    judge: str
    outputs: pd.DataFrame
    failures: pd.DataFrame
    n_in_scope: int
    n_from_checkpoint: int = 0
    n_asked: int = 0
    n_calls: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    plan: Plan | None = None
    pilot: frozenset[str] | None = None
    waiting: tuple[BatchRow, ...] = ()
    n_waiting: int = 0
    n_submitted: int = 0
