"""One judge's partition for one contest: the engine called, its table accepted or refused (paper 1, eq. 9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import dagster as dg

from judge_pipeline.orchestration.contest_folders import contest_folder
from judge_pipeline.orchestration.executors import run_of_steps
from judge_pipeline.orchestration.judging_progress import tell_progress
from judge_pipeline.orchestration.launch_forms import launch_tags
from judge_pipeline.orchestration.one_at_a_time import one_asking
from judge_pipeline.orchestration.run_ceiling import ceilings_of
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.orchestration.table_asset import Made, NotMade
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.secrets_file import key_environment
from judge_pipeline.tables import JUDGE_REQUESTS

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.cocreation.coverage import CurrentRequests
    from judge_pipeline.judging.answer_rates import AnswerRates
    from judge_pipeline.judging.engine import JudgingContext, JudgingResult
    from judge_pipeline.judging.plan import Plan
    from judge_pipeline.orchestration.resources import WorkspaceResource

ASKED_BACKENDS = ("litellm", "embedded")
"""Backends that are models to be asked, call by call."""

SENSOR = "collect_batches"
"""The sensor that starts a collecting run."""

LIMIT_TAG = "judge_pipeline/limit"
"""Tag of a run that asks for a stratified pilot of so many attempts only."""

STORED_TAG = "judge_pipeline/only_stored"
"""Tag of a run that makes a judge's table of the answers that are stored, whatever is missing, and asks nothing."""

FAILURE_CLASSES = "failure_classes"
"""Metadata of a table that was refused: how many judgments failed how."""

AFTER_SHARDS_TAG = "judge_pipeline/after_shards"
"""Tag of a run that makes a judge's table after all shards have asked (``sharded_jobs``), and asks nothing."""

COLLECT_TAG = "judge_pipeline/collect"
"""Tag of a run that collects a judge's batches, and asks nothing that was not in one before."""


def plan_judge(workspace: Workspace, contest: str, judge: str, limit: int | None = None) -> Plan:
    """What the judge would be asked for the contest's stored requests, or for a pilot of ``limit`` of them.

    Raises:
        JudgingError: the prompt template is missing or wrong, or the checkpoint cannot be used.
        FileNotFoundError: the contest was never read.
    """
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.plan import plan

    settings = workspace.judges().get(judge)
    requests = store_of(workspace).read(JUDGE_REQUESTS, contest)
    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        seed = workspace.contest(contest_folder(workspace, contest)).seed
        prompts = workspace.config_dir / "prompts"
        return plan(judge, settings, requests, checkpoint, prompts, limit=limit, seed=seed)


def repeats_of(workspace: Workspace, judge: str, requests: pd.DataFrame) -> pd.DataFrame:
    """Table JUDGE_REPEATS of the judge, from the stored answers to what it would be asked today."""
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.repeats import repeat_spread

    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        prompts = workspace.config_dir / "prompts"
        return repeat_spread(judge, workspace.judges().get(judge), requests, checkpoint, prompts)


def judge_contest(
    context: dg.AssetExecutionContext, contest: str, judge: str, requests: pd.DataFrame, training: pd.DataFrame
) -> Made | NotMade:
    """The judge's verified table; or that it waits for batches at the provider.

    Args:
        context: of the running step.
        contest: the contest.
        judge: the judge.
        requests: table JUDGE_REQUESTS of the contest.
        training: attempt_id, participant, problem_id, split and y of its attempts; only the baseline sees it.

    Raises:
        dagster.Failure: the table is not accepted; the message names attempts and reasons. What was answered is in
            the checkpoint, and the next materialization asks only for the rest.
    """
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.engine import judge_requests
    from judge_pipeline.judging.failures import JudgingError
    from judge_pipeline.judging.verification import in_scope, verify

    workspace = context.resources.workspace.workspace()
    settings = workspace.judges().get(judge)
    contest_settings = context.resources.workspace.contest(contest)
    judging = judging_of_run(context, contest, training, judge)

    def say_so() -> None:
        context.log.info(f"another run is asking {judge} for {contest}; waiting, since it may answer this one's, too")
        context.resources.progress.waiting(judge)

    try:
        with (
            one_asking(workspace, contest, judge, say_so),
            closing(Checkpoint(workspace.checkpoint_url)) as checkpoint,
        ):
            result = judge_requests(judge, settings, requests, checkpoint=checkpoint, context=judging)
    except JudgingError as error:
        raise dg.Failure(str(error), allow_retries=False) from None
    if result.waiting:
        return _submitted(contest, result)
    scope = in_scope(requests, settings.scope)
    asked = scope
    if result.pilot is not None:
        asked = scope[scope["attempt_id"].isin(result.pilot | set(result.outputs["attempt_id"]))]
    problems = verify(result.outputs, asked, contest_settings.min_coverage)
    if judging.only_collect and result.outputs.empty and not problems:
        problems = ["no batch held what the judge would be asked today"]
    if problems:
        raise _refused(contest, judge, result, problems)
    # Under a lower min_coverage, or as a pilot, a table may be accepted that is not verified; its check says so.
    return Made(result.outputs, _metadata(result), {"verified": verify(result.outputs, scope)})


def judging_of_run(
    context: dg.OpExecutionContext | dg.AssetExecutionContext, contest: str, training: pd.DataFrame | None, what: str
) -> JudgingContext:
    """What judging needs besides requests and settings, as the run's tags say; ``what`` is asked, in words."""
    workspace, tags = context.resources.workspace.workspace(), launch_tags(context)
    return replace(
        _judging_context(context.resources.workspace, contest, training, tell_progress(context, what)),
        limit=limit_of(tags),
        only_collect=COLLECT_TAG in tags,
        only_stored=STORED_TAG in tags,
        after_shards=AFTER_SHARDS_TAG in tags,
        providers=workspace.judges().providers,
        ceilings=ceilings_of(tags, workspace.judges().ceiling_usd),
        spending=context.resources.spending,
        run_of_steps=run_of_steps(context.run.run_id),
        planned=lambda planned: context.log.info(planned_in_words(planned)),
    )


def _submitted(contest: str, result: JudgingResult) -> NotMade:
    """That requests wait in batches at the provider, and how they come back."""
    first = result.waiting[0]
    since = first.submitted_at or first.prepared_at
    metadata = {
        "batches": ", ".join(row.batch_id or f"not confirmed ({row.token})" for row in result.waiting),
        "waiting": result.n_waiting,
        "since": since,
        **_metadata(result),
    }
    n = len(result.waiting)
    return NotMade(
        f"{result.n_waiting} requests wait in {n} batch{'es' if n > 1 else ''} at the provider since {since[:16]} UTC; "
        f"collected by the sensor {SENSOR} while the UI runs, by 'judge-pipeline batches {contest} --collect', or by "
        "the next run",
        metadata,
    )


def limit_of(tags: Mapping[str, str]) -> int | None:
    """The pilot's size that the run's tags give.

    Raises:
        dagster.Failure: the tag is no number of attempts.
    """
    value = tags.get(LIMIT_TAG)
    if value is None:
        return None
    if not value.isdecimal() or int(value) < 1:
        raise dg.Failure(f"tag {LIMIT_TAG}: {value!r} is no number of attempts; give 1 or more", allow_retries=False)
    return int(value)


def current_requests(
    resource: WorkspaceResource, contest: str, judges: Sequence[str], requests: pd.DataFrame, training: pd.DataFrame
) -> dict[str, CurrentRequests]:
    """What each of the judges would be asked today; nothing is asked."""
    from judge_pipeline.cocreation.coverage import CurrentRequests
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.current_hashes import current_hashes
    from judge_pipeline.judging.failures import JudgingError

    context = _judging_context(resource, contest, training)
    settings = resource.workspace().judges()
    current = {}
    with closing(Checkpoint(resource.workspace().checkpoint_url)) as checkpoint:
        for judge in judges:
            try:
                hashes = current_hashes(judge, settings.get(judge), requests, context, checkpoint)
                current[judge] = CurrentRequests(hashes)
            except JudgingError as error:
                current[judge] = CurrentRequests({}, str(error))
    return current


def answer_rates_of(resource: WorkspaceResource, current: Mapping[str, CurrentRequests]) -> dict[str, AnswerRates]:
    """How the calls for today's requests went, for each of the judges that is a model to be asked."""
    from judge_pipeline.judging.answer_rates import answer_rates
    from judge_pipeline.judging.checkpoint.store import Checkpoint

    workspace = resource.workspace()
    judges = workspace.judges()
    asked = [judge for judge in current if judges.get(judge).backend in ASKED_BACKENDS]
    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        return {judge: answer_rates(checkpoint, judge, current[judge].hashes) for judge in asked}


def _judging_context(
    resource: WorkspaceResource, contest: str, training: pd.DataFrame | None, progress: Any = None
) -> JudgingContext:
    from judge_pipeline.judging.engine import JudgingContext

    return JudgingContext(
        environment=key_environment(),
        contest_folder=resource.folder(contest),
        prompts_dir=resource.workspace().config_dir / "prompts",
        training=training,
        seed=resource.contest(contest).seed,
        progress=progress,
        contest=contest,
    )


def planned_in_words(plan: Plan) -> str:
    """What is to be asked, and about what it takes, in a sentence for a run's log."""
    cost = "unpriced" if plan.cost_usd is None else f"about {plan.cost_usd:.4f} USD"
    return (
        f"{plan.judge}: {plan.n_to_ask} of {plan.n_in_scope} to ask, about {plan.tokens_in} tokens in and "
        f"{plan.tokens_out} out, {cost} ({plan.basis})"
    )


def failure_classes(classes: Mapping[str, int]) -> dict[str, str]:
    """Metadata of a failure: how many answers failed how, the commonest first; none where none did.

    Args:
        classes: failure class -> how many answers failed so.
    """
    counted = Counter(classes).most_common()
    return {FAILURE_CLASSES: ", ".join(f"{n} {name}" for name, n in counted)} if counted else {}


def _refused(contest: str, judge: str, result: JudgingResult, problems: list[str]) -> dg.Failure:
    from judge_pipeline.judging.failures import IN_WORDS
    from judge_pipeline.report.markdown import preview

    classes = Counter(result.failures["class"])
    why = [f"{n} {name}: {IN_WORDS[name]}" for name, n in classes.most_common()]
    first = result.failures.iloc[0]["text"] if len(result.failures) else ""
    return dg.Failure(
        f"judge {judge}, contest {contest}: the table is not accepted (eq. 9). "
        + "; ".join([*problems, *why])
        + (f". The first says: {first}" if first else "")
        + ". What was answered is kept; materialize again to ask only for the rest.",
        metadata={
            **_metadata(result),
            **failure_classes(classes),
            "problems": dg.MetadataValue.md("\n".join(f"- {problem}" for problem in problems)),
            "failures": dg.MetadataValue.md(preview(result.failures, 50)),
        },
        allow_retries=False,
    )


def _metadata(result: JudgingResult) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "in_scope": result.n_in_scope,
        "judged": len(result.outputs),
        "failed": len(result.failures),
        "from_checkpoint": result.n_from_checkpoint,
        "asked_now": result.n_asked,
        "tries_over_all_runs": result.n_calls,
        "repaired": int(result.outputs["repair"].notna().sum()),
        "seconds_of_calls": round(result.seconds, 3),
    }
    known = {"tokens_in": result.tokens_in, "tokens_out": result.tokens_out, "cost_usd": result.cost_usd}
    metadata |= {name: value for name, value in known.items() if value is not None}
    if result.pilot is not None:
        metadata["pilot"] = len(result.pilot)
    if result.waiting or result.n_submitted:
        metadata |= {"submitted_now": result.n_submitted, "waiting": result.n_waiting}
    if result.plan is not None:
        metadata |= planned_metadata(result.plan)
    return metadata | ({"notes": "\n".join(result.notes)} if result.notes else {})


def planned_metadata(plan: Plan) -> dict[str, Any]:
    """What was to be asked, and about what it was to take, for the UI."""
    planned = {"to_ask": plan.n_to_ask, "tokens_in": plan.tokens_in, "basis": plan.basis}
    planned |= {"tokens_out": plan.tokens_out, "cost_usd": plan.cost_usd}
    return {f"planned_{name}": value for name, value in planned.items() if value is not None}
