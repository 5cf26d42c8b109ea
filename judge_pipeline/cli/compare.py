"""``judge-pipeline compare``: two runs, prompts, models or judges on the same attempts, with an exit code for CI."""

from __future__ import annotations

import json

import click

from judge_pipeline.cli.bootstrap_options import bootstrap_options
from judge_pipeline.cli.evaluate import DataFailure
from judge_pipeline.tables.metric_words import METRICS

DROPPED, NOT_TOLD = 3, 4
"""Exit codes under --fail-on-drop: a figure dropped; none did, but one that was asked for could not be compared."""

_METRIC_NAMES = [name for name, words in METRICS.items() if words.better != "neither"] + [
    "mean_cost_usd",
    "mean_latency_ms",
]


@click.command()
@click.argument("old")
@click.argument("new")
@click.option("--fail-on-drop", is_flag=True, help="End with exit code 3 where a figure is worse beyond its interval.")
@click.option(
    "--margin",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="A drop counts only where it is larger than this, in the figure's own unit.",
)
@click.option(
    "--metric",
    "metrics",
    type=click.Choice(_METRIC_NAMES),
    multiple=True,
    metavar="NAME",
    help="A figure in which a drop counts; may be given several times (default: the ten that are tested).",
)
@click.option(
    "--allow-undefined",
    is_flag=True,
    help="With --fail-on-drop: exit 0, not 4, where a figure cannot be compared.",
)
@click.option(
    "--pair",
    "pairs",
    type=(str, str),
    multiple=True,
    metavar="OLD_JUDGE NEW_JUDGE",
    help="Set this judge of OLD against that of NEW; may be given several times (default: each with itself).",
)
@click.option("--contest", help="Which contest, where OLD or NEW is an output folder with several.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@bootstrap_options
def compare(
    old: str,
    new: str,
    fail_on_drop: bool,
    margin: float,
    metrics: tuple[str, ...],
    allow_undefined: bool,
    pairs: tuple[tuple[str, str], ...],
    contest: str | None,
    as_json: bool,
    seed: int,
    resamples: int,
) -> int:
    """Every figure of each judge in OLD and in NEW on the same attempts, and what changed, with 95% intervals.

    OLD and NEW are each a file of predictions (as for 'evaluate attempts'; columns cost_usd and latency_ms are compared
    where both have them), an output folder such as var/, or the name of a contest that was run. To set two judges of
    one run against each other, name the run twice and give --pair.

    Figures are taken over the attempts of test that both answered; the others are counted. Each side decides at its own
    t*, chosen on val. A drop is a figure whose difference has an interval wholly on the worse side of 0; a gain never
    fails. Without --metric these count: ROC-AUC, PR-AUC, LogLoss, Brier, the two ECEs, the debiased calibration
    gap, MCC, balanced accuracy, F1.

    \b
    Exit codes:
      0  done; with --fail-on-drop: no drop
      1  the data failed, and the message says where
      2  the command was wrong
      3  --fail-on-drop: a figure dropped beyond its interval and --margin
      4  --fail-on-drop: no drop was seen, but a figure has no value or no
         interval, or a judge of OLD is not in NEW; --allow-undefined makes it 0

    \b
    Examples:
      judge-pipeline compare old.csv new.csv
      judge-pipeline compare main/var pull-request/var --fail-on-drop --metric roc_auc --metric brier
      judge-pipeline compare my-contest my-contest --pair gpt-5.2 claude-opus
    """
    from judge_pipeline.cli.compared_run import given_run
    from judge_pipeline.cli.comparison_output import Gate, comparison_json, print_comparison
    from judge_pipeline.cli.prediction_file import PredictionFileError
    from judge_pipeline.cocreation.difference_rows import TESTED
    from judge_pipeline.cocreation.judged_attempts import PredictionError
    from judge_pipeline.cocreation.run_comparison import compare_runs

    sides = []
    for given, hint in ((old, "OLD"), (new, "NEW")):
        try:
            sides.append(given_run(given, contest, hint))
        except (PredictionFileError, OSError) as error:
            raise DataFailure(f"{hint} {click.format_filename(given)}: {error}") from error
    try:
        found = compare_runs(
            sides[0].predictions, sides[1].predictions, pairs or None, seed=seed, n_resamples=resamples
        )
    except PredictionError as error:
        raise DataFailure(f"OLD {old}, NEW {new}: {error}") from error
    gate = Gate.of(found, metrics or TESTED, margin, with_missing=not pairs)
    if as_json:
        click.echo(json.dumps(comparison_json(found, sides, gate, seed=seed, resamples=resamples), allow_nan=False))
    else:
        print_comparison(found, sides, gate, seed=seed, resamples=resamples)
    return exit_code(gate.dropped, gate.not_told and not allow_undefined) if fail_on_drop else 0


def exit_code(dropped: bool, not_told: bool) -> int:
    """3 where something dropped, else 4 where something could not be compared, else 0."""
    if dropped:
        return DROPPED
    return NOT_TOLD if not_told else 0
