"""``judge-pipeline criteria``: a preference set's pairs judged criterion by criterion, under several configurations."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console

from judge_pipeline.cli.judged_run import judges_to_ask, workspace_at
from judge_pipeline.cli.set_folder import set_folder
from judge_pipeline.settings import Workspace


@click.command()
@click.argument("set_dir", type=click.Path(file_okay=False, path_type=Path))
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where to write (default: var/).")
@click.option(
    "--judges", help="Judges to ask, separated by commas (default: all with criteria among their systems and a key)."
)
@click.option(
    "--configurations",
    help="Configurations of criteria.yaml, separated by commas (default: those under run for each judge).",
)
@click.option("--limit", type=click.IntRange(min=1), help="Judge so many validation pairs only, drawn by the seed.")
@click.option("--dry-run", is_flag=True, help="Read the set, print what would be asked and its price, ask nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def criteria(
    set_dir: Path, out: Path | None, judges: str | None, configurations: str | None, limit: int | None, dry_run: bool,
    as_json: bool,
) -> int:  # fmt: skip
    """Judge the pairs in SET_DIR criterion by criterion, and say how much closer to people that brings each judge.

    SET_DIR is the folder or the name of a preference set (see 'judge-pipeline preference'). Pairs of its train split
    are used for guidance alone, where a configuration has any; the others are judged under each configuration of
    criteria.yaml that is asked for. What two configurations have in common is asked once. What a judge has answered is
    kept: running again asks only for what is new, and a run that was stopped goes on where it was.

    \b
    Examples:
      judge-pipeline criteria data/preference/my-edits --dry-run
      judge-pipeline criteria data/preference/my-edits --judges gpt-5 --configurations monolithic,full-self --limit 20

    Exit codes: 0 done; 1 no pair could be read, the settings are wrong, or a judge failed; 2 the command was wrong.
    """
    from judge_pipeline.cli.criteria_run import CriteriaRun, run_by_criteria

    workspace = workspace_at(out)
    set_dir = set_folder(workspace, set_dir)
    console = Console(stderr=as_json)
    chosen, left_out = judges_to_ask(workspace.judges(), judges, set_dir, "criteria", "the set's folder")
    asked, without = configurations_to_run(workspace, chosen, configurations)
    if not asked:
        raise click.UsageError(nothing_to_run(left_out | without))
    wanted = CriteriaRun(asked, left_out | without, limit, dry_run)
    outcome = run_by_criteria(workspace, set_dir, wanted, console)
    if as_json and outcome.found is not None:
        click.echo(json.dumps(outcome.found, allow_nan=False, ensure_ascii=False))
    return outcome.code


def configurations_to_run(
    workspace: Workspace, judges: list[str], named: str | None
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Judge -> its configurations, in the order of criteria.yaml; and why a judge has none.

    Args:
        workspace: where criteria.yaml lies.
        judges: the judges to ask.
        named: the option --configurations; None: those under ``run``.

    Raises:
        click.BadParameter: a configuration is not in criteria.yaml.
    """
    from judge_pipeline.orchestration.criteria_run import criteria_judges

    file, able = workspace.criteria(), criteria_judges(workspace)
    cannot = {j: f"backend {workspace.judges().get(j).backend} answers no questions" for j in judges if j not in able}
    judges = [judge for judge in judges if judge in able]
    if named is not None:
        wanted = [name.strip() for name in named.split(",") if name.strip()]
        unknown = [name for name in wanted if name not in file.configurations]
        if unknown or not wanted:
            raise click.BadParameter(
                f"{', '.join(unknown) or 'none'}: not in criteria.yaml, which lists {', '.join(file.configurations)}",
                param_hint="--configurations",
            )
        return {judge: tuple(name for name in file.configurations if name in wanted) for judge in judges}, cannot
    chosen = {judge: file.run.get(judge, ()) for judge in judges}
    without = {
        judge: "criteria.yaml lists no configurations of it under run" for judge, own in chosen.items() if not own
    }
    return {judge: own for judge, own in chosen.items() if own}, cannot | without


def nothing_to_run(left_out: dict[str, str]) -> str:
    """Why no judge is to be asked, and what to do."""
    reasons = "; ".join(f"{judge}: {why}" for judge, why in left_out.items())
    if not reasons:
        return "no judge of judges.yaml has criteria among its systems; add it there"
    return f"no judge is to be asked ({reasons}). Name judges and configurations with --judges and --configurations"
