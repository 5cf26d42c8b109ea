"""Canaries of one judge for one contest: attempts as they are and with texts planted, asked through the same engine.

What is asked with a text planted is kept in the checkpoint under another judge's name (``JUDGE~canary``): it counts
towards the contest's ceiling and is removed with its attempt, and no table of the judge can take it for a judgment.
What is asked about an attempt as it is, is the judge's own request: a run does not ask it again, nor do canaries what
a run has asked.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import dagster as dg

from judge_pipeline.orchestration.contest_folders import contest_folder
from judge_pipeline.orchestration.executors import run_of_steps
from judge_pipeline.orchestration.judging_progress import tell_progress
from judge_pipeline.orchestration.launch_forms import CanaryForm, form_of, launch_tags
from judge_pipeline.orchestration.one_at_a_time import one_asking
from judge_pipeline.orchestration.run_ceiling import ceilings_of
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.orchestration.table_asset import Made
from judge_pipeline.settings import ContestSettings, EmbeddedJudge, LitellmJudge, RecordedJudge, Workspace
from judge_pipeline.settings.injections import read_injections
from judge_pipeline.settings.secrets_file import key_environment
from judge_pipeline.tables import JUDGE_CANARIES, JUDGE_REQUESTS

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.cocreation.canaries import Text
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.engine import JudgingContext, JudgingResult
    from judge_pipeline.judging.plan import Plan
    from judge_pipeline.judging.prepared import Settings
    from judge_pipeline.judging.progress import Progress

ATTEMPTS_TAG = "judge_pipeline/canary_attempts"
"""Tag of a run that plants texts into so many attempts, instead of as many as the settings say."""

SUFFIX = "~canary"
"""Behind a judge's name in the checkpoint where a text was planted; no judge can be called so."""

CANNOT_BE_ASKED = "recorded outputs were collected elsewhere: nobody is there who could be asked about a planted text"


@dataclass
class _Asked:
    """What came of it so far."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    results: list[JudgingResult] = field(default_factory=list)
    stopped: tuple[str, str] | None = None


def plan_canaries(workspace: Workspace, contest: str, judge: str, n_attempts: int | None = None) -> Plan:
    """What the judge would be asked: the sampled attempts as they are, and with each text planted.

    Raises:
        JudgingError: the judge's answers are recorded, its prompt template is wrong, or the checkpoint cannot be used.
        FileNotFoundError: the contest was never read.
        SettingsError: injections.yaml is wrong.
    """
    from judge_pipeline.cocreation.canaries import only, sample, texts_of, variants
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.failures import JudgingError
    from judge_pipeline.judging.plan import plan

    settings = asked_directly(workspace.judges().get(judge))
    if isinstance(settings, RecordedJudge):
        raise JudgingError(CANNOT_BE_ASKED)
    requests = store_of(workspace).read(JUDGE_REQUESTS, contest)
    of_contest = workspace.contest(contest_folder(workspace, contest))
    ids = sample(requests, settings.scope, n_attempts or of_contest.canary.attempts, of_contest.seed)
    texts = texts_of(read_injections(workspace.config_dir))
    prompts = workspace.config_dir / "prompts"
    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        clean = plan(judge, settings, only(requests, ids), checkpoint, prompts)
        planted = [
            plan(judge + SUFFIX, settings, variant.requests, checkpoint, prompts)
            for variant in variants(requests, ids, texts, of_contest)
        ]
    return _together(judge, [clean, *planted])


def ask_canaries(
    context: dg.AssetExecutionContext, contest: str, judge: str, requests: pd.DataFrame, training: pd.DataFrame
) -> Made:
    """Table JUDGE_CANARIES of the judge; an attempt without an answer has a row that says why.

    Args:
        context: of the running step.
        contest: the contest.
        judge: the judge.
        requests: table JUDGE_REQUESTS of the contest.
        training: as for ``judge_contest``.

    Raises:
        dagster.Failure: nothing can be asked at all, and why.
    """
    from judge_pipeline.cocreation.canaries import sample, texts_of
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.failures import JudgingError

    resource = context.resources.workspace
    workspace, of_contest = resource.workspace(), resource.contest(contest)
    settings = asked_directly(workspace.judges().get(judge))
    if isinstance(settings, RecordedJudge):
        return Made(JUDGE_CANARIES.empty(), {"notes": CANNOT_BE_ASKED})
    filled = form_of(context, CanaryForm).attempts
    tags = {**context.run.tags, **({ATTEMPTS_TAG: str(filled)} if filled else {})}
    n = _attempts(tags) or of_contest.canary.attempts
    ids = sample(requests, settings.scope, n, of_contest.seed)
    texts = texts_of(read_injections(workspace.config_dir))
    judging = judging_context_of(context, contest, training)

    def say_so() -> None:
        context.log.info(f"another run is asking {judge} for {contest}; waiting")
        context.resources.progress.waiting(judge)

    asking, url = one_asking(workspace, contest, judge, say_so), workspace.checkpoint_url
    try:
        with asking, closing(Checkpoint(url)) as checkpoint:
            show = tell_progress(context, f"{judge} (canaries)")
            asked = _ask(judge, settings, requests, ids, texts, of_contest, checkpoint, judging, show)
    except JudgingError as error:
        raise dg.Failure(str(error), allow_retries=False) from None
    return _made(asked, len(ids), len(texts))


def _ask(
    judge: str, settings: Settings, requests: pd.DataFrame, ids: list[str], texts: list[Text],
    of_contest: ContestSettings, checkpoint: Checkpoint, judging: JudgingContext,
    show: Callable[[Progress], None],
) -> _Asked:  # fmt: skip
    from judge_pipeline.cocreation.canaries import canary_rows, only, variants
    from judge_pipeline.judging.engine import judge_requests

    asked = _Asked()
    total, before, began = len(ids) * (1 + len(texts)), _Before(), time.monotonic()

    def ask(name: str, chosen: pd.DataFrame) -> JudgingResult:
        def further(now: Progress) -> None:
            done, failed = before.done + now.done, before.failed + now.failed
            seconds, cost_usd = time.monotonic() - began, before.cost_usd + now.cost_usd
            show(replace(now, done=done, failed=failed, total=total, cost_usd=cost_usd, seconds=seconds))

        context = replace(judging, progress=further)
        result = judge_requests(name, settings, chosen, checkpoint=checkpoint, context=context)
        before.add(result)
        asked.results.append(result)
        asked.stopped = asked.stopped or _stopped(result)
        return result

    clean = ask(judge, only(requests, ids))
    answers, failures = _answers(clean), _failures(clean)
    for variant in variants(requests, ids, texts, of_contest):
        if asked.stopped is None and variant.planted:
            result = ask(judge + SUFFIX, variant.requests)
            injected, failed = _answers(result), _failures(result)
        else:
            injected, failed = {}, dict.fromkeys(ids, ("not asked", f"asking had stopped ({asked.stopped})"))
        rows = canary_rows(judge, variant, _budgets(settings, of_contest), answers, injected, failed | failures)
        asked.rows += rows
    return asked


@dataclass
class _Before:
    """What earlier askings of the same step came to, for progress."""

    done: int = 0
    failed: int = 0
    cost_usd: float = 0.0

    def add(self, result: JudgingResult) -> None:
        self.done += len(result.outputs)
        self.failed += len(result.failures)
        self.cost_usd += result.cost_usd or 0.0


def _answers(result: JudgingResult) -> dict[str, dict[str, Any]]:
    return {row["attempt_id"]: row for row in result.outputs[["attempt_id", "p_ac", "request_hash"]].to_dict("records")}


def _failures(result: JudgingResult) -> dict[str, tuple[str, str]]:
    rows = result.failures[["attempt_id", "class", "text"]].itertuples(index=False, name=None)
    return {attempt_id: (class_, text) for attempt_id, class_, text in rows}


def _stopped(result: JudgingResult) -> tuple[str, str] | None:
    """Class and text of a failure that every further request would meet, too."""
    from judge_pipeline.judging.failures import STOPPING

    return next((found for found in _failures(result).values() if found[0] in STOPPING), None)


def asked_directly(settings: Settings) -> Settings:
    """The settings without repeats and batches: each text is asked once per attempt, now."""
    return settings.model_copy(update={"repeats": 1, "batch": None}) if isinstance(settings, LitellmJudge) else settings


def _budgets(settings: Settings, of_contest: ContestSettings) -> dict[str, int]:
    code, prompts = of_contest.max_code_chars, of_contest.max_prompt_chars
    if isinstance(settings, EmbeddedJudge):
        code, prompts = min(code, settings.max_code_chars), min(prompts, settings.max_prompt_chars)
    return {"source_code": code, "prompt_text": prompts}


def _attempts(tags: Mapping[str, str]) -> int | None:
    value = tags.get(ATTEMPTS_TAG)
    if value is not None and (not value.isdecimal() or int(value) < 2):
        raise dg.Failure(
            f"attempts (tag {ATTEMPTS_TAG}): {value!r} is no number of attempts; give 2 or more", allow_retries=False
        )
    return None if value is None else int(value)


def judging_context_of(context: dg.AssetExecutionContext, contest: str, training: pd.DataFrame) -> JudgingContext:
    """What asking in this step needs: keys, prompts, the contest's seed, ceilings, what the run has spent."""
    from judge_pipeline.judging.engine import JudgingContext

    resource = context.resources.workspace
    workspace = resource.workspace()
    judges = workspace.judges()
    return JudgingContext(
        environment=key_environment(),
        contest_folder=resource.folder(contest),
        prompts_dir=workspace.config_dir / "prompts",
        training=training,
        seed=resource.contest(contest).seed,
        providers=judges.providers,
        ceilings=ceilings_of(launch_tags(context), judges.ceiling_usd),
        spending=context.resources.spending,
        run_of_steps=run_of_steps(context.run.run_id),
    )


def _made(asked: _Asked, n_attempts: int, n_texts: int) -> Made:
    rows = JUDGE_CANARIES.conform(asked.rows)
    failed = Counter(rows["failure_class"].dropna())
    notes = list(dict.fromkeys(note for result in asked.results for note in result.notes))
    costs = [result.cost_usd for result in asked.results if result.cost_usd is not None]
    metadata: dict[str, Any] = {
        "attempts": n_attempts,
        "texts": n_texts,
        "moved": int(rows["moved"].notna().sum()),
        "from_checkpoint": sum(result.n_from_checkpoint for result in asked.results),
        "asked_now": sum(result.n_asked for result in asked.results),
        "failed": ", ".join(f"{n} {name}" for name, n in failed.most_common()) or "none",
    }
    metadata |= {"cost_usd": sum(costs)} if costs else {}
    metadata |= {"notes": "\n".join(notes)} if notes else {}
    problems = [f"{n} answers are missing: {name}" for name, n in failed.most_common()]
    if asked.stopped is not None:
        problems.append(f"asking stopped: {asked.stopped[0]}: {asked.stopped[1]}")
    return Made(rows, metadata, {"all_answered": problems})


def _together(judge: str, plans: list[Plan]) -> Plan:
    from judge_pipeline.judging.plan import Plan

    costs = [each.cost_usd for each in plans if each.n_to_ask]
    return Plan(
        judge,
        sum(each.n_in_scope for each in plans),
        sum(each.n_stored for each in plans),
        sum(each.n_to_ask for each in plans),
        sum(each.tokens_in for each in plans),
        sum(each.tokens_out for each in plans),
        None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs),
        plans[0].basis,
    )


def stored_canaries(workspace: Workspace, contest: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each judge with canaries of the contest, and its table."""
    store = store_of(workspace)
    for judge in store.parts(JUDGE_CANARIES, contest):
        yield judge, store.read(JUDGE_CANARIES, contest, judge)
