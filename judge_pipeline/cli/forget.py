"""``judge-pipeline forget``: who withdraws is removed from everything that runs have stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judge_pipeline.settings import Workspace
from judge_pipeline.settings.yaml_file import SettingsError

if TYPE_CHECKING:
    from judge_pipeline.orchestration.forgetting import Traces


@click.command()
@click.argument("contest")
@click.argument("participant", required=False)
@click.option(
    "--pair", "pair_id", metavar="PAIR_ID", help="Instead of PARTICIPANT: a pair of the preference set CONTEST."
)
@click.option(
    "--annotator", metavar="NAME", help="Instead: an annotator of the preference set CONTEST, with all votes."
)
@click.option("--yes", is_flag=True, help="Do it. Without this, it is only counted what would be removed.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where results lie (default: var/).")
@click.option("--delete-files", is_flag=True, help="Also delete the person's own files in the contest folder.")
@click.option(
    "--with-orphans",
    is_flag=True,
    help="Also remove stored answers about attempts that are in no table (their files were deleted before).",
)
@click.option("--force", is_flag=True, help="Also where a run of the contest seems to be under way (it was killed).")
def forget(
    contest: str,
    participant: str | None,
    pair_id: str | None,
    annotator: str | None,
    yes: bool,
    out: Path | None,
    delete_files: bool,
    with_orphans: bool,
    force: bool,
) -> int:
    """Remove PARTICIPANT from all that is stored of CONTEST, and keep them out of later runs.

    Tables, exports, the report, stored answers with their requests, the splits ledger, and the contest's runs in
    Dagster's records. A tombstone stays: a keyed hash, a date, counts; no name. Files in the contest folder are yours:
    they are listed, and later runs pass them over. Stopped half-way, the same command completes it.

    With --pair or --annotator, CONTEST is a preference set: the pair, or the annotator's votes and the pairs that they
    alone chose on, are removed in the same way.

    \b
    Exit codes: 0 done, or counted; 1 it could not be done; 2 the command was wrong.
    """
    from judge_pipeline.orchestration.forgetting import delete_own_files, still_named_in, traces_of
    from judge_pipeline.orchestration.forgetting import forget as remove
    from judge_pipeline.orchestration.tombstones import Tombstones

    workspace = Workspace.find()
    workspace = replace(workspace, out_dir=out.resolve()) if out else workspace
    if sum(given is not None for given in (participant, pair_id, annotator)) != 1:
        raise click.UsageError("name one of PARTICIPANT, --pair PAIR_ID and --annotator NAME")
    if participant is None:
        from judge_pipeline.cli.forget_pairs import forget_of_set

        if delete_files or with_orphans:
            raise click.UsageError("--delete-files and --with-orphans are for participants of contests")
        code = forget_of_set(workspace, contest, pair_id, annotator, yes=yes, force=force)
        if yes:
            _say_what_a_bucket_keeps(workspace)
        return code
    traces = traces_of(workspace, contest, participant)
    known = Tombstones(workspace.store_dir, contest).of(participant) is not None
    if not (traces.attempt_ids or traces.folder_files or known or _has_rows(traces)):
        raise SettingsError(f"contest {contest!r} has no participant {participant!r}, in its tables or its folder")
    if not yes:
        _print_counts("Would be removed", traces.counts, len(traces.runs))
        _print_files(traces, delete_files)
        _print_orphans(traces, with_orphans)
        click.echo("Nothing was changed. Add --yes to do it.")
        return 0
    if traces.unfinished_runs and not force:
        raise SettingsError(
            f"run {traces.unfinished_runs[0]} of contest {contest!r} is under way and would write the person back; "
            "wait for it, or add --force where its process is dead"
        )
    counts = remove(workspace, contest, participant, date.today().isoformat(), with_orphans=with_orphans)
    _print_counts("Removed", counts, len(traces.runs))
    if delete_files:
        click.echo(f"Deleted {delete_own_files(traces)} file(s) of theirs from the contest folder.")
    _print_files(traces, delete_files)
    _print_orphans(traces, with_orphans)
    _say_what_a_bucket_keeps(workspace)
    code = _make_anew(workspace, contest)
    for file in still_named_in(workspace, participant):
        click.echo(
            f"Note: {file} still names {participant}: it stands in what somebody else wrote, or is not of a run."
        )
    return code


def _say_what_a_bucket_keeps(workspace: Workspace) -> None:
    """Say what of an object store is not removed; nothing where results lie in a folder."""
    from judge_pipeline.orchestration.whole_files import as_object

    if as_object(workspace.store_dir) is not None:
        click.echo(
            f"Not removed: earlier versions of objects below {workspace.store_dir}, where the bucket keeps any, its "
            "backups, and what other machines have read (ingest_cache/ there, until they read it again)."
        )


def _make_anew(workspace: Workspace, contest: str) -> int:
    """Tables and report from what is left; no judge is asked."""
    from judge_pipeline.definitions import READ_CONTEST, REPORT_CONTEST, build_definitions
    from judge_pipeline.orchestration.contest_folders import contest_folders
    from judge_pipeline.orchestration.exports import report_path
    from judge_pipeline.orchestration.instance import open_instance
    from judge_pipeline.orchestration.runs import run_job

    folder = contest_folders(workspace).get(contest)
    if folder is None or not folder.is_dir():
        click.echo("The contest folder is not here, so no report was made; tables of figures were removed.")
        return 0
    with open_instance(workspace) as instance:
        definitions = build_definitions(workspace)
        for job in (READ_CONTEST, REPORT_CONTEST):
            outcome = run_job(definitions, instance, job, contest)
            if outcome.error is not None:
                click.echo(f"Removed, but the report could not be made anew: {outcome.error}", err=True)
                return 1
    click.echo(f"Made anew without them: {report_path(workspace, contest)}")
    click.echo("A judge that learns from the attempts (baseline) is stale now: 'judge-pipeline run' asks it again.")
    return 0


def _has_rows(traces: Traces) -> bool:
    from judge_pipeline.orchestration.forgetting import FIGURES

    return any(name != FIGURES for name in traces.counts)


def _print_counts(title: str, counts: Mapping[str, int], n_runs: int) -> None:
    click.echo(f"{title}:")
    for name, n in counts.items():
        click.echo(f"  {name}: {n}")
    click.echo(f"  runs in Dagster's records: {n_runs}; exports and the report")


def _print_files(traces: Traces, deleted: bool) -> None:
    if not deleted:
        _list("Their files in the contest folder stay until you delete them (--delete-files)", traces.folder_files)
    _list("Files of yours that name them or their attempts; edit them yourself", traces.other_files)


def _print_orphans(traces: Traces, removed: bool) -> None:
    if traces.orphans and not removed:
        click.echo(
            f"{len(traces.orphans)} attempt(s) with stored answers are in no table of any contest. If files of theirs "
            "were deleted before, add --with-orphans."
        )


def _list(title: str, files: Sequence[Path]) -> None:
    if files:
        click.echo(f"{title}: {len(files)}")
        for file in files[:20]:
            click.echo(f"  {file}")
        if len(files) > 20:
            click.echo(f"  and {len(files) - 20} more")
