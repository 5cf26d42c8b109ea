"""``judge-pipeline trace``: from a figure home to the files that it rests on, and from a file to every figure."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click

from judge_pipeline.settings import Workspace
from judge_pipeline.settings.yaml_file import SettingsError


@click.command()
@click.argument("target", metavar="METRIC|ATTEMPT_ID|PAIR_ID|FILE|SHA256")
@click.option("--contest", help="The contest (default: any that was read).")
@click.option("--set", "preference_set", help="The preference set (default: any that was read).")
@click.option("--judge", "judges", multiple=True, help="The judge that the figure is of; twice for a pair of judges.")
@click.option("--split", help="The split that the figure is taken on.")
@click.option("--table", help="The table that the figure stands in.")
@click.option(
    "--where", "conditions", multiple=True, metavar="COLUMN=VALUE", help="What a column of the figure's row holds."
)
@click.option("--full", is_flag=True, help="All rows, and of each judgment the prompt, every try and the raw answer.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object with everything.")
@click.option(
    "--page", type=click.Path(dir_okay=False, path_type=Path), help="Write the trace as a page of its own to this file."
)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where results lie (default: var/).")
def trace(
    target: str,
    contest: str | None,
    preference_set: str | None,
    judges: tuple[str, ...],
    split: str | None,
    table: str | None,
    conditions: tuple[str, ...],
    full: bool,
    as_json: bool,
    page: Path | None,
    out: Path | None,
) -> int:
    """Trace a figure home, or a file to every figure that it touched.

    A figure is named as the report and its table name it (roc_auc, mean_cohen, acc, success_at_turn), with its judge
    and further columns where there are several; or by its id, or by the anchor that the report links to. It leads to
    the rows behind its n, those left out and why, the judgments, their calls and prompts, and the files with the
    sha256 of their bytes, then and now. An attempt, a pair, a file or a sha256 leads to every figure that it touched.
    Asks nothing.

    \b
    Examples:
      judge-pipeline trace auc --judge gpt-5.2 --contest my-contest
      judge-pipeline trace cohen --table judge_agreement --judge gpt-5.2 --judge gemini-2.5-pro
      judge-pipeline trace success_at_turn --where turn=3
      judge-pipeline trace 0bf4548ac5d10f3d --full
      judge-pipeline trace submissions/E002/P03/01.html --json
      judge-pipeline trace acc --set my-edits --judge gpt-5 --where rule=trace --page acc.html
    """
    from judge_pipeline.definitions import build_definitions
    from judge_pipeline.judging.failures import JudgingError
    from judge_pipeline.lineage.figures import condition
    from judge_pipeline.lineage.sources import MissingTableError
    from judge_pipeline.lineage.targets import parse_target
    from judge_pipeline.orchestration.traced_graph import asset_graph, asset_groups
    from judge_pipeline.orchestration.traced_target import Asked, NotNamedError
    from judge_pipeline.orchestration.traced_target import trace as traced
    from judge_pipeline.orchestration.tracing import Tracer

    try:
        where = dict(map(condition, conditions))
        parsed = parse_target(target)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    where |= {"split": split} if split else {}
    workspace = Workspace.find()
    workspace = replace(workspace, out_dir=out.resolve()) if out else workspace
    definitions = build_definitions(workspace)
    tracer = Tracer(workspace, asset_graph(definitions))
    try:
        found = traced(tracer, Asked(parsed, contest, preference_set, judges, where, table))
    except NotNamedError as error:
        raise click.BadParameter(str(error), param_hint="TARGET") from None
    except (MissingTableError, JudgingError) as error:
        raise SettingsError(str(error)) from None
    if page is not None:
        _write(page, found)
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=2, allow_nan=False, default=str))
    elif page is None or full:
        from judge_pipeline.cli.trace_text import lines_of

        for line in lines_of(found, full=full, groups=asset_groups(definitions)):
            click.echo(line)
    problem = found.get("counts", {}).get("problem") or found.get("figures_not_read")
    return 1 if problem else 0


def _write(page: Path, found: dict[str, object]) -> None:
    from judge_pipeline.orchestration.whole_files import write_whole
    from judge_pipeline.report.trace_page import trace_html

    write_whole(page.resolve(), trace_html(found).encode("utf-8", "replace"))
    click.echo(f"Page: {page}", err=True)
