"""A preference set's pairs judged criterion by criterion, by the UI's jobs: read, guide, judge, compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from judge_pipeline.cli.asking import failed
from judge_pipeline.cli.judged_run import (
    Asked,
    ask_judges,
    make_start_page,
    print_checks,
    print_failed,
    print_start_page,
    show_plan,
)
from judge_pipeline.cli.terminal import TerminalProgress
from judge_pipeline.settings import EmbeddedJudge, Workspace

TOO_WEAK = "too weak to gain by criteria: its figures show that every stage holds, and nothing else"

if TYPE_CHECKING:
    from judge_pipeline.judging.plan import Plan


@dataclass(frozen=True)
class CriteriaRun:
    """What to do with a set.

    Attributes:
        configurations: judge -> the configurations to judge under.
        left_out: judges that are not asked, and why.
        limit: judge so many pairs only; None: all of split val.
        dry_run: say what would be asked, and ask nothing.
    """

    configurations: Mapping[str, Sequence[str]]
    left_out: Mapping[str, str] = field(default_factory=dict)
    limit: int | None = None
    dry_run: bool = False

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Judge and configuration of every partition, in their order."""
        return [(judge, name) for judge, names in self.configurations.items() for name in names]


@dataclass(frozen=True)
class CriteriaOutcome:
    """What came of a run.

    Attributes:
        code: the exit code.
        found: what was read and decided, as plain JSON values; None where the run ended before there were figures.
    """

    code: int
    found: dict[str, Any] | None = None


def run_by_criteria(workspace: Workspace, folder: Path, wanted: CriteriaRun, console: Console) -> CriteriaOutcome:
    """Read, make guidance, judge, compare. A partition that fails does not stop the others.

    Raises:
        SettingsError: preference.yaml, judges.yaml or criteria.yaml is wrong, or the folder's name is.
    """
    from judge_pipeline.cli.criteria_headline import criteria_headline, headline_json, print_criteria_headline
    from judge_pipeline.cli.preference_reading import print_set, what_was_read
    from judge_pipeline.definitions import JUDGE_BY_CRITERIA, READ_PREFERENCE_SET, REPORT_CRITERIA, build_definitions
    from judge_pipeline.orchestration.criteria_reports import criteria_report_path
    from judge_pipeline.orchestration.instance import open_instance
    from judge_pipeline.orchestration.judging_run import LIMIT_TAG
    from judge_pipeline.orchestration.partitions import configured
    from judge_pipeline.orchestration.preference_sets import note_preference_set
    from judge_pipeline.orchestration.runs import run_job
    from judge_pipeline.orchestration.stored_tables import store_of

    progress = TerminalProgress(console)
    settings = workspace.preference(folder)
    name = note_preference_set(workspace, folder)
    definitions = build_definitions(workspace, progress)
    with open_instance(workspace) as instance:
        console.print(f"[bold]Reading[/bold] {escape(name)}")
        outcome = run_job(definitions, instance, READ_PREFERENCE_SET, name)
        print_checks(console, outcome.failed_checks)
        if outcome.error is not None:
            return CriteriaOutcome(failed(f"preference set {name}", outcome.error))
        read = what_was_read(store_of(workspace), name, settings)
        print_set(console, read)
        if wanted.dry_run:
            return _dry_run(console, workspace, folder, name, wanted, read["splits"].get("train", 0))
        unguided = _guide(console, progress, workspace, definitions, instance, name, wanted)
        tags = {} if wanted.limit is None else {LIMIT_TAG: str(wanted.limit)}

        def ask(key: str) -> Any:
            return run_job(definitions, instance, JUDGE_BY_CRITERIA, name, key, tags, of="preference_set")

        asked = ask_judges(console, progress, [configured(*key) for key in wanted.keys], ask)
        outcome = run_job(definitions, instance, REPORT_CRITERIA, name)
        print_checks(console, outcome.failed_checks)
        if outcome.error is not None:
            return CriteriaOutcome(failed(f"preference set {name}", outcome.error))
        make_start_page(console, partial(run_job, definitions, instance))
    headline = criteria_headline(workspace, name, [key for key in wanted.keys if configured(*key) not in asked.failed])
    print_criteria_headline(console, headline, settings.chosen_by)
    for judge in wanted.configurations:
        if isinstance(workspace.judges().get(judge), EmbeddedJudge):
            console.print(f"[dim]{escape(judge)} is the embedded model, {TOO_WEAK}.[/dim]", soft_wrap=True)
    report = str(criteria_report_path(workspace, name))
    console.print(f"Report: {report}", soft_wrap=True)
    print_start_page(console, workspace)
    code = max(print_failed(console, asked), int(bool(unguided.failed)))
    failures = {**unguided.failed, **asked.failed}
    return CriteriaOutcome(code, {**read, **headline_json(headline), "failed": failures, "report": report})


def _guide(
    console: Console, progress: TerminalProgress, workspace: Workspace, definitions: Any,
    instance: Any, name: str, wanted: CriteriaRun,
) -> Asked:  # fmt: skip
    """Make guidance from the set's training pairs, for the judges whose configurations are given such."""
    from judge_pipeline.definitions import MAKE_GUIDANCE
    from judge_pipeline.orchestration.guidance_run import CONFIGURATIONS_TAG
    from judge_pipeline.orchestration.runs import run_job

    def make(judge: str) -> Any:
        tags = {CONFIGURATIONS_TAG: ",".join(wanted.configurations[judge])}
        return run_job(definitions, instance, MAKE_GUIDANCE, name, judge, tags, of="preference_set")

    guided = list(synthesizers_by_judge(workspace, name, wanted))
    return ask_judges(console, progress, guided, make, doing="Guidance for")


def synthesizers_by_judge(workspace: Workspace, preference_set: str, wanted: CriteriaRun) -> dict[str, list[str]]:
    """The judges with a configuration that is given guidance from this set's training pairs -> who synthesizes it."""
    from judge_pipeline.orchestration.guidance_run import synthesizers_of

    criteria = workspace.criteria()
    found = {
        judge: list(synthesizers_of(criteria, judge, preference_set, names))
        for judge, names in wanted.configurations.items()
    }
    return {judge: synthesizers for judge, synthesizers in found.items() if synthesizers}


def _dry_run(
    console: Console, workspace: Workspace, folder: Path, name: str, wanted: CriteriaRun, n_train: int
) -> CriteriaOutcome:
    """Print what would be asked; nothing is."""

    plans, without = plans_by_criteria(workspace, name, folder, wanted)
    show_plan(console, plans, wanted.left_out)
    for plan in plans:
        console.print(f"  [dim]{escape(plan.judge)}: {escape(plan.basis)}[/dim]", soft_wrap=True)
    if len(plans) > 1:
        console.print("[dim]What configurations have in common is asked once: together they take less.[/dim]")
    for judge, synthesizers in synthesizers_by_judge(workspace, name, wanted).items():
        console.print(
            f"[dim]Asked first, where it is not stored: guidance for {escape(judge)} from {n_train:,} training pairs. "
            f"The judge is asked for its choice, a call a pair; {escape(' and '.join(synthesizers))} for people's "
            "reasons, a call a pair, and for guidance, a call for all and one a category.[/dim]",
            soft_wrap=True,
        )
    for judge, why in without.items():
        failed(f"judge {judge}", why)
    return CriteriaOutcome(1 if without else 0, {"set": name, "plans": [asdict(plan) for plan in plans]})


def plans_by_criteria(
    workspace: Workspace, name: str, folder: Path, wanted: CriteriaRun
) -> tuple[list[Plan], dict[str, str]]:
    """What each configuration would ask, and why one has no plan."""
    from judge_pipeline.criteria.guidance_file import GuidanceError
    from judge_pipeline.judging.failures import JudgingError
    from judge_pipeline.orchestration.criteria_calls import plan_criteria
    from judge_pipeline.orchestration.partitions import configured

    plans, without = [], {}
    for judge, configuration in wanted.keys:
        try:
            plans.append(plan_criteria(workspace, name, folder, judge, configuration, wanted.limit))
        except (GuidanceError, JudgingError) as error:
            without[configured(judge, configuration)] = str(error)
    return plans, without
