"""A preference set from files of pairs to its report: read, judge, find the rubric, measure; by the UI's jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from judge_pipeline.cli.asking import failed
from judge_pipeline.cli.judged_run import (
    Asked,
    ask_judges,
    demo_judges,
    make_start_page,
    print_checks,
    print_failed,
    print_start_page,
    show_plan,
)
from judge_pipeline.cli.plan import plan_table, plans_of
from judge_pipeline.cli.sharded_run import ShardedJudging
from judge_pipeline.cli.terminal import TerminalProgress
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.yaml_file import SettingsError

if TYPE_CHECKING:
    from judge_pipeline.orchestration.rubric_plan import RubricPlan
    from judge_pipeline.orchestration.runs import JobOutcome
    from judge_pipeline.report.preference_inputs import PreferenceProvenance, PreferenceReportInput

RunJob = Callable[..., "JobOutcome"]
"""``orchestration.runs.run_job`` over this command's graph: a job's name, a set's or none, and so on."""

SAMPLE_SET = "sample-pairs"
DEMO_PAIRS = 12
"""Pairs that the demo asks an embedded model about, each in both orders: it takes a second for each on two cores."""


@dataclass(frozen=True)
class PreferenceRun:
    """What to do with a set.

    Attributes:
        judges: the judges to ask.
        left_out: judges that are not asked, and why.
        limit: ask for so many pairs only, each in both orders; None: all.
        limits: judge -> its own limit, where it has one.
        dry_run: say what would be asked, and ask nothing.
        named: whether the judges were asked for by name: then one that has nothing to learn from fails, else it is left
            out.
        shards: the option --shards; None: what judges.yaml says of each judge.
    """

    judges: Sequence[str]
    left_out: Mapping[str, str] = field(default_factory=dict)
    limit: int | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    dry_run: bool = False
    named: bool = False
    shards: int | None = None

    def limit_of(self, judge: str) -> int | None:
        """How many pairs the judge is asked about; None: all in its scope."""
        return self.limits.get(judge, self.limit)


@dataclass(frozen=True)
class PreferenceOutcome:
    """What came of a run.

    Attributes:
        code: the exit code.
        found: what was read and what judges chose, as plain JSON values; None where the run ended before there were
            figures.
    """

    code: int
    found: dict[str, Any] | None = None


def sample_set() -> Path:
    """The folder of the preference set that comes with the package."""
    return Path(__file__).resolve().parent.parent / "samples" / "preference_sets" / SAMPLE_SET


def demo_preference(workspace: Workspace) -> int:
    """Run the sample set with judges that need no key; returns the exit code."""
    judges, folder = workspace.judges(), sample_set()
    chosen = demo_judges(judges, folder, "preference")
    limits = {judge: DEMO_PAIRS for judge in chosen if judges.get(judge).backend == "embedded"}
    return run_preference_set(workspace, folder, PreferenceRun(chosen, limits=limits), Console()).code


def run_preference_set(
    workspace: Workspace, folder: Path, wanted: PreferenceRun, console: Console
) -> PreferenceOutcome:
    """Read, judge, find the rubric, measure, compare. A judge that fails does not stop the others.

    Raises:
        SettingsError: preference.yaml or judges.yaml is wrong, or the folder's name is.
    """
    from judge_pipeline.cli.preference_headline import preference_headline, print_preference_headline
    from judge_pipeline.cli.preference_reading import print_set, what_was_read
    from judge_pipeline.definitions import READ_PREFERENCE_SET, build_definitions
    from judge_pipeline.judging.money import RunSpending
    from judge_pipeline.orchestration.instance import open_instance
    from judge_pipeline.orchestration.pair_judging_run import plan_pairs
    from judge_pipeline.orchestration.preference_reports import preference_report_path
    from judge_pipeline.orchestration.preference_sets import note_preference_set
    from judge_pipeline.orchestration.runs import run_job
    from judge_pipeline.orchestration.stored_tables import store_of

    progress = TerminalProgress(console)
    settings = workspace.preference(folder)
    name = note_preference_set(workspace, folder)
    spending = RunSpending()
    definitions = build_definitions(workspace, progress, spending)
    with open_instance(workspace) as instance:
        run: RunJob = partial(run_job, definitions, instance)
        console.print(f"[bold]Reading[/bold] {escape(name)}")
        outcome = run(READ_PREFERENCE_SET, name)
        print_checks(console, outcome.failed_checks)
        if outcome.error is not None:
            return PreferenceOutcome(failed(f"preference set {name}", outcome.error))
        read = what_was_read(store_of(workspace), name, settings)
        print_set(console, read)
        if not wanted.named:
            wanted = _without_those_that_cannot_learn(workspace, name, folder, wanted)
        plans, without_plan = plans_of(
            wanted.judges, lambda judge: plan_pairs(workspace, name, folder, judge, wanted.limit_of(judge))
        )
        show_plan(console, plans, wanted.left_out)
        rubric_without_plan = _plan_rubric(console, workspace, name, folder)
        if wanted.dry_run:
            return PreferenceOutcome(_end_of_plan(without_plan, rubric_without_plan))
        sharded = ShardedJudging(
            workspace, definitions, instance, spending, wanted.shards, "preference_set", console, plans
        )
        asked = _ask(console, progress, sharded, name, wanted)
        rubric_failed = not _find_rubric(console, run, name)
        error = _measure(console, run, name)
        if error is not None:
            return PreferenceOutcome(failed(f"preference set {name}", error))
        make_start_page(console, run)
        tables = _tables(workspace, instance, name)
    print_preference_headline(console, preference_headline(*tables))
    report = str(preference_report_path(workspace, name))
    console.print(f"Report: {report}", soft_wrap=True)
    print_start_page(console, workspace)
    code = max(print_failed(console, asked), int(rubric_failed))
    return PreferenceOutcome(code, {**read, **figures_as_json(*tables), "report": report})


def _without_those_that_cannot_learn(
    workspace: Workspace, name: str, folder: Path, wanted: PreferenceRun
) -> PreferenceRun:
    from judge_pipeline.orchestration.pair_judging_run import without_training

    cannot = without_training(workspace, name, folder, wanted.judges)
    judges = [judge for judge in wanted.judges if judge not in cannot]
    return replace(wanted, judges=judges, left_out={**wanted.left_out, **cannot})


def show_rubric_plan(console: Console, plans: Sequence[RubricPlan]) -> None:
    """Print what the rubric's judges are asked beyond the table of judges, and whose key is missing."""
    if not plans:
        return
    console.print(plan_table([one.plan for one in plans], "For the rubric"))
    for one in plans:
        note = f"{one.plan.judge}: {one.note}; {one.plan.basis}"
        console.print(f"  [dim]{escape(note)}[/dim]", soft_wrap=True)
    roles: dict[tuple[str, str], list[str]] = {}
    for one in plans:
        if one.missing_key:
            roles.setdefault((one.judge, one.missing_key), []).append(one.role)
    for (judge, key), own in roles.items():
        console.print(
            f"  [yellow]![/yellow] The rubric's {' and '.join(own)} is {escape(judge)}, whose key is missing: set the "
            f"environment variable {key}, or a run fails at the rubric",
            soft_wrap=True,
        )


def _plan_rubric(console: Console, workspace: Workspace, name: str, folder: Path) -> str | None:
    """Print the rubric's plan; why there is none, or None. A run will fail at the rubric for the same reason."""
    from judge_pipeline.judging.failures import JudgingError
    from judge_pipeline.orchestration.rubric_plan import plan_rubric

    try:
        show_rubric_plan(console, plan_rubric(workspace, name, folder))
    except (JudgingError, SettingsError) as error:
        return str(error)
    return None


def _end_of_plan(without_plan: Mapping[str, str], rubric_without_plan: str | None) -> int:
    """Name what could not be planned; the exit code."""
    for judge, why in without_plan.items():
        failed(f"judge {judge}", why)
    if rubric_without_plan is not None:
        failed("rubric", rubric_without_plan)
    return 1 if without_plan or rubric_without_plan else 0


def _ask(
    console: Console, progress: TerminalProgress, sharded: ShardedJudging, name: str, wanted: PreferenceRun
) -> Asked:
    from judge_pipeline.definitions import JUDGE_PREFERENCE_SET
    from judge_pipeline.orchestration.judging_run import LIMIT_TAG

    def ask(judge: str) -> JobOutcome:
        limit = wanted.limit_of(judge)
        tags = {} if limit is None else {LIMIT_TAG: str(limit)}
        return sharded.judge(JUDGE_PREFERENCE_SET, name, judge, tags)

    pilots = [judge for judge in wanted.judges if wanted.limit_of(judge) is not None]
    return ask_judges(console, progress, wanted.judges, ask, pilots=pilots)


def _find_rubric(console: Console, run: RunJob, name: str) -> bool:
    """Find the set's rubric and score pairs on it; whether that went well. Where not, the last one is used."""
    from judge_pipeline.definitions import FIND_RUBRIC

    console.print("[bold]Rubric[/bold]")
    outcome = run(FIND_RUBRIC, name)
    print_checks(console, outcome.failed_checks)
    if outcome.error is not None:
        failed("rubric", outcome.error)
    return outcome.error is None


def _measure(console: Console, run: RunJob, name: str) -> str | None:
    """Figures of the set, what is over all sets, and the report, which shows both; why the set's failed, or None."""
    from judge_pipeline.definitions import COMPARE_PREFERENCE_SETS, PREFERENCE_PAGE, REPORT_PREFERENCE_SET

    console.print("[bold]Measuring[/bold]")
    outcome = run(REPORT_PREFERENCE_SET, name)
    print_checks(console, outcome.failed_checks)
    if outcome.error is not None:
        return outcome.error
    over_all = run(COMPARE_PREFERENCE_SETS, None)
    print_checks(console, over_all.failed_checks)
    if over_all.error is not None:
        failed("comparison of sets", over_all.error)
        return None  # the report is there all the same, without it
    return run(PREFERENCE_PAGE, name).error


def _tables(workspace: Workspace, instance: Any, name: str) -> tuple[PreferenceReportInput, PreferenceProvenance]:
    from judge_pipeline.orchestration.preference_reports import preference_report_provenance, preference_report_tables
    from judge_pipeline.orchestration.resources import WorkspaceResource
    from judge_pipeline.orchestration.stored_tables import store_of

    store = store_of(workspace)
    provenance = preference_report_provenance(instance, WorkspaceResource.of(workspace), store, name)
    return preference_report_tables(store, name), provenance


def figures_as_json(given: PreferenceReportInput, provenance: PreferenceProvenance) -> dict[str, Any]:
    """Figures as ``evaluate pairs --json`` gives them, and the state of each judge's table."""
    from judge_pipeline.cli.pair_evaluation import pairs_as_json
    from judge_pipeline.report.preference_accuracy_views import under_rule

    states = {name: {"status": kind.status, "reason": kind.reason} for name, kind in given.kinds.items()}
    if given.preference_accuracy is None:
        return {"rule": provenance.rule, "states": states}
    own = under_rule(given.preference_accuracy, provenance.rule)
    return {**pairs_as_json(own, provenance.rule), "states": states}
