"""What the steps of a sharded run do: cut what a judge is to be asked into shards, and ask one of them.

A step asks through the checkpoint, as every asking does, and makes no table: that is made afterwards by the ordinary
job, which finds all of it answered (``sharded_jobs``). So a step that fails or is killed has lost nothing but the calls
that were under way, and asking its shard again asks for the rest.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import dagster as dg

from judge_pipeline.orchestration.judging_run import (
    failure_classes,
    judging_of_run,
    planned_in_words,
    planned_metadata,
)
from judge_pipeline.orchestration.one_at_a_time import one_asking
from judge_pipeline.orchestration.pair_judging_run import PairInputs, judging_context, place_of_set, rows_in_scope
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import BaselineJudge, LitellmJudge, RecordedJudge, Workspace
from judge_pipeline.tables import JUDGE_REQUESTS

if TYPE_CHECKING:
    from collections.abc import Container

    import pandas as pd

    from judge_pipeline.judging.failures import Failure
    from judge_pipeline.judging.judging_context import JudgingContext
    from judge_pipeline.judging.prepared import AskedSettings
    from judge_pipeline.judging.question import Question
    from judge_pipeline.judging.row_asking import RowsAsked
    from judge_pipeline.judging.sharding import Shard

Dimension = Literal["contest", "preference_set"]

SPENT_TAG = "judge_pipeline/spent_before_usd"
"""Tag of a sharded run: US dollars that the command which started it has spent before, on other judges."""


@dataclass(frozen=True)
class ToAsk:
    """What a judge is asked about a contest or a preference set.

    Attributes:
        place: what it is called where locks, ceilings and batches are kept.
        judge: the judge.
        settings: the judge's.
        question: what is asked of each row.
        rows: the rows in the judge's scope.
        of_whole: the ids whose calls a ceiling for the whole counts.
        judging: the rest.
    """

    place: str
    judge: str
    settings: AskedSettings
    question: Question
    rows: pd.DataFrame
    of_whole: Container[str]
    judging: JudgingContext


def to_ask(context: dg.OpExecutionContext, of: Dimension, name: str, judge: str, shard: Shard | None = None) -> ToAsk:
    """What the judge is asked about the contest or preference set; with a shard, what that shard asks.

    Raises:
        dagster.Failure: the judge cannot be asked in shards, or what it is asked about was never read.
    """
    workspace = context.resources.workspace.workspace()
    settings = workspace.judges().get(judge)
    if isinstance(settings, RecordedJudge | BaselineJudge):
        raise _refused(judge, f"a {settings.backend} judge is computed at once, and nobody is asked", of)
    if of == "contest" and isinstance(settings, LitellmJudge) and is_asked_in_batches(workspace, judge, settings):
        raise _refused(
            judge, "it is asked in batches (setting batch, or one that is open), which the provider spreads", of
        )
    what = judge if shard is None else f"{judge}, {shard.in_words()}"
    try:
        asked = (_of_contest if of == "contest" else _of_set)(context, workspace, name, judge, settings, what)
    except FileNotFoundError:
        job = "read_contest" if of == "contest" else "read_preference_set"
        raise dg.Failure(f"{name} was never read: run the job {job} for it", allow_retries=False) from None
    # What a process has spent on other shards is no matter of this one's: all tell each other through the checkpoint.
    from judge_pipeline.judging.money import RunSpending

    spending = RunSpending(float(context.run.tags.get(SPENT_TAG, 0.0)))
    return replace(asked, judging=replace(asked.judging, shard=shard, spending=spending))


def is_asked_in_batches(workspace: Workspace, judge: str, settings: LitellmJudge) -> bool:
    """Whether the judge is asked in batches, or has one open from a time when it was: then it is not cut."""
    from judge_pipeline.judging.batches.advancing import uses_batches
    from judge_pipeline.judging.batches.store import BatchStore
    from judge_pipeline.judging.checkpoint.store import Checkpoint

    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        return uses_batches(judge, settings, BatchStore(checkpoint))


def _refused(judge: str, why: str, of: Dimension) -> dg.Failure:
    job = "judge_contest" if of == "contest" else "judge_preference_set"
    return dg.Failure(f"judge {judge} is not asked in shards: {why}. Run the job {job}", allow_retries=False)


def _of_contest(
    context: dg.OpExecutionContext, workspace: Workspace, name: str, judge: str, settings: AskedSettings, what: str
) -> ToAsk:
    from judge_pipeline.judging.question import ATTEMPT

    requests = store_of(workspace).read(JUDGE_REQUESTS, name)
    judging = judging_of_run(context, name, None, what)
    whole = frozenset(requests["attempt_id"])
    return ToAsk(name, judge, settings, ATTEMPT, rows_in_scope(requests, settings), whole, judging)


def _of_set(
    context: dg.OpExecutionContext, workspace: Workspace, name: str, judge: str, settings: AskedSettings, what: str
) -> ToAsk:
    from judge_pipeline.preference.pair_question import IdsOfSet, pair_question, pair_rows

    resource = context.resources.workspace
    of_set, inputs = resource.preference(name), PairInputs.stored(workspace, name)
    rows = rows_in_scope(pair_rows(name, inputs.texts, inputs.splits, of_set.judging), settings)
    judging = judging_context(context, workspace, name, of_set, resource.preference_folder(name), what)
    question = pair_question(of_set.judging.may_tie)
    return ToAsk(place_of_set(name), judge, settings, question, rows, IdsOfSet(name), judging)


def cut(context: dg.OpExecutionContext, asked: ToAsk, of: int) -> dict[int, int]:
    """How many requests each of so many shards has to ask, by its number; those that have none are left out.

    Every request is rendered here, and its hash remembered (``judging.render_memo``), so that no shard has to.

    Raises:
        dagster.Failure: nothing can be asked at all.
    """
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.failures import JudgingError
    from judge_pipeline.judging.row_asking import rows_to_ask
    from judge_pipeline.judging.sharding import requests_by_shard

    judging = asked.judging
    try:
        with closing(Checkpoint(context.resources.workspace.workspace().checkpoint_url)) as checkpoint:
            prepared, hashes, plan = rows_to_ask(
                asked.judge, asked.settings, asked.question, asked.rows, checkpoint, judging.prompts_dir,
                limit=judging.limit, seed=judging.seed,
            )  # fmt: skip
    except JudgingError as error:
        raise dg.Failure(str(error), allow_retries=False) from None
    sizes = requests_by_shard(prepared, hashes, of)
    context.log.info(f"{planned_in_words(plan)}; in {len(sizes)} of {of} shards: {list(sizes.values())}")
    return sizes


def ask_shard(context: dg.OpExecutionContext, asked: ToAsk, shard: Shard) -> dict[str, Any]:
    """Ask for what is in the shard and not stored; what came of it, for the UI.

    Raises:
        dagster.Failure: the provider failed to bring answers. What was answered is in the checkpoint. Answers that stay
            invalid are the judge's own: whether its table can be accepted without them, the table's step decides.
    """
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.failures import JudgingError
    from judge_pipeline.judging.row_asking import ask_rows

    workspace, words = context.resources.workspace.workspace(), f"{asked.judge} about {asked.place}, {shard.in_words()}"

    def say_so() -> None:
        context.log.info(f"another run is asking {words}, or all of it, or other shards of it; waiting")
        context.resources.progress.waiting(asked.judge)

    try:
        with (
            one_asking(workspace, asked.place, asked.judge, say_so, shard),
            closing(Checkpoint(workspace.checkpoint_url)) as checkpoint,
        ):
            result = ask_rows(
                asked.judge, asked.settings, asked.question, asked.rows,
                checkpoint=checkpoint, context=asked.judging, of_whole=asked.of_whole,
            )  # fmt: skip
    except JudgingError as error:
        raise dg.Failure(str(error), allow_retries=False) from None
    return _outcome(result, words)


def _outcome(result: RowsAsked, words: str) -> dict[str, Any]:
    from judge_pipeline.judging.failures import IN_WORDS
    from judge_pipeline.judging.settled import OWN_FAILURES

    of_run: list[Failure] = [one.failure for one in result.failed.values()]
    counts = Counter(failure.failure_class for failure in of_run)
    metadata: dict[str, Any] = {"asked_now": result.n_asked, "failed": len(of_run), **planned_metadata(result.plan)}
    metadata |= {"notes": "\n".join(result.notes)} if result.notes else {}
    unbrought = [failure for failure in of_run if failure.failure_class not in OWN_FAILURES]
    if unbrought:
        why = "; ".join(f"{n} {name}: {IN_WORDS[name]}" for name, n in counts.most_common())
        raise dg.Failure(
            f"{words}: {len(unbrought)} answers are missing. {why}. The first says: {unbrought[0].text}. What was "
            "answered is kept; re-execute from failure to ask this shard for the rest.",
            metadata={**metadata, **failure_classes(Counter[str](counts))},
            allow_retries=False,
        )
    return metadata
