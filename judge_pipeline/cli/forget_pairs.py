"""``judge-pipeline forget SET --pair`` and ``--annotator``: withdrawal from a preference set."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING

import click

from judge_pipeline.settings import Workspace
from judge_pipeline.settings.yaml_file import SettingsError

if TYPE_CHECKING:
    from judge_pipeline.orchestration.forgetting_pairs import PairTraces


def forget_of_set(
    workspace: Workspace, name: str, pair_id: str | None, annotator: str | None, *, yes: bool, force: bool
) -> int:
    """Count, or with ``yes`` remove, what is stored of a pair or an annotator; the exit code.

    Raises:
        SettingsError: there is no such set, pair or annotator, or a run of the set is under way.
    """
    from judge_pipeline.figures.style import clean
    from judge_pipeline.orchestration.forgetting import still_named_in
    from judge_pipeline.orchestration.forgetting_pairs import Subject, forget_pairs, is_known, pair_traces

    subject = Subject(name, pair_id, annotator)
    what = f"{'pair' if annotator is None else 'annotator'} {clean(subject.words)!r}"
    traces = pair_traces(workspace, subject)
    if not is_known(workspace, subject, traces):
        raise SettingsError(f"preference set {name!r} has no {what}, in its tables or its folder")
    if not yes:
        _print("Would be removed", traces, traces.counts)
        click.echo("Nothing was changed. Add --yes to do it.")
        return 0
    if traces.unfinished_runs and not force:
        raise SettingsError(
            f"run {traces.unfinished_runs[0]} of preference set {name!r} is under way and would write it back; wait "
            "for it, or add --force where its process is dead"
        )
    counts = forget_pairs(workspace, subject, date.today().isoformat())
    _print("Removed", traces, counts)
    code = _make_anew(workspace, name)
    for file in still_named_in(workspace, subject.words):
        click.echo(f"Note: {file} still holds {clean(subject.words)}: as another's text, or not of a run.")
    return code


def _print(title: str, traces: PairTraces, counts: Mapping[str, int]) -> None:
    click.echo(f"{title}:")
    for label, n in counts.items():
        click.echo(f"  {label}: {n}")
    click.echo(f"  runs in Dagster's records: {len(traces.runs)}; exports and the report")
    if traces.files:
        click.echo(f"Files of yours that name it; edit them yourself, runs pass it over: {len(traces.files)}")
        for file in traces.files[:20]:
            click.echo(f"  {file}")
        if len(traces.files) > 20:
            click.echo(f"  and {len(traces.files) - 20} more")


def _make_anew(workspace: Workspace, name: str) -> int:
    """Tables and report from what is left; no judge is asked, so a rubric that is found in pairs is not found anew."""
    from judge_pipeline.definitions import (
        READ_PREFERENCE_SET,
        REPORT_CRITERIA,
        REPORT_PREFERENCE_SET,
        build_definitions,
    )
    from judge_pipeline.orchestration.instance import open_instance
    from judge_pipeline.orchestration.preference_sets import preference_folders
    from judge_pipeline.orchestration.runs import run_job
    from judge_pipeline.orchestration.stored_tables import store_of
    from judge_pipeline.tables import PAIR_JUDGMENTS
    from judge_pipeline.tables.criteria import CRITERIA_DECISIONS

    folder = preference_folders(workspace).get(name)
    if folder is None or not folder.is_dir():
        click.echo("The set's folder is not here, so nothing was made anew; tables of figures were removed.")
        return 0
    was_judged = bool(store_of(workspace).parts(PAIR_JUDGMENTS, name))
    by_criteria = bool(store_of(workspace).parts(CRITERIA_DECISIONS, name))
    reports = [*([REPORT_PREFERENCE_SET] if was_judged else []), *([REPORT_CRITERIA] if by_criteria else [])]
    with open_instance(workspace) as instance:
        definitions = build_definitions(workspace)
        for job in (READ_PREFERENCE_SET, *reports):
            outcome = run_job(definitions, instance, job, name)
            if outcome.error is not None:
                click.echo(f"Removed, but {job} could not be run on what is left: {outcome.error}", err=True)
                return 1
    click.echo(f"Made anew without it: {', '.join(('tables', 'the report') if reports else ('tables',))}.")
    click.echo("A judge that learns from the pairs (baseline), and the rubric, are made anew by the next run.")
    return 0
