"""`judge-pipeline evaluate`: figures for predictions that someone brings, without a contest folder."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judge_pipeline.cli.evaluation_sections import SECTION_NAMES, SECTIONS, print_sections

if TYPE_CHECKING:
    import pandas as pd


class DataFailure(click.ClickException):
    """The data failed: exit code 1."""

    exit_code = 1


@click.group()
def evaluate() -> None:
    """Figures for results that you already have."""


@evaluate.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.option(
    "--section",
    "sections",
    type=click.Choice(SECTION_NAMES),
    multiple=True,
    help="Print only this section; may be given several times. --json always holds all.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the bootstrap.")
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=2000,
    show_default=True,
    help="Resamples behind each interval.",
)
def attempts(file: Path, as_json: bool, sections: tuple[str, ...], seed: int, resamples: int) -> None:
    """Each judge's figures on test, and what they say of each other and together, with 95% intervals.

    FILE is .csv, .tsv, .jsonl or .parquet with one row for each judge and attempt:

    \b
      attempt_id   text
      judge        text
      p_ac         probability of acceptance in [0, 1]; blank: not answered
      y            1 accepted, 0 not; blank: not judged yet
      split        train, val or test
      participant, problem   optional; together they name the trajectory,
                   by which the bootstrap draws. Without them every attempt
                   counts as its own.
      s_algo, s_robust       optional: scores from 1 to 5

    The threshold t* of each judge is chosen on val and applied unchanged to test. Every figure comes with n, what was
    left out, its interval, and, where it is undefined or weak, the reason.

    Exit code 0: done. 1: the data failed, and the message names the row and the remedy. 2: the command was wrong.

    \b
    Example:
      judge-pipeline evaluate attempts predictions.csv --json > figures.json
    """
    from judge_pipeline.cli.compared_run import file_sha256
    from judge_pipeline.cli.evaluation_json import as_json_object
    from judge_pipeline.cli.prediction_file import PredictionFileError, is_known_format, read_predictions
    from judge_pipeline.cocreation.evaluation import PredictionError

    if not is_known_format(file):
        raise click.BadParameter(
            f"{click.format_filename(file)} does not end in .csv, .tsv, .jsonl or .parquet.", param_hint="FILE"
        )
    try:
        tables = evaluation_tables(read_predictions(file), seed=seed, n_resamples=resamples)
        if as_json:
            made_from = {
                "version": version("judge-pipeline"),
                "seed": seed,
                "resamples": resamples,
                "inputs": {"file": {"source": file.name, "sha256": file_sha256(file)}},
            }
            click.echo(json.dumps({**as_json_object(tables), "provenance": made_from}, allow_nan=False))
            return
    except (PredictionFileError, PredictionError, OSError) as error:
        raise DataFailure(f"{click.format_filename(file)}: {error}") from error
    shown = [section for section in SECTIONS if not sections or section.name in sections]
    print_sections(shown, tables, seed=seed, resamples=resamples)


def evaluation_tables(predictions: pd.DataFrame, *, seed: int, n_resamples: int) -> dict[str, pd.DataFrame]:
    """Every table of figures that ``evaluate attempts`` reports, by its name in ``tables``.

    Args:
        predictions: the long prediction table.
        seed: seed of the bootstrap; all tables share its resamples.
        n_resamples: resamples behind each interval.

    Raises:
        PredictionError: the predictions cannot be evaluated.
    """
    from judge_pipeline.cocreation.acceptance_rates import acceptance_rates
    from judge_pipeline.cocreation.calibrated import calibration_maps, judge_calibration
    from judge_pipeline.cocreation.evaluation import judge_metrics
    from judge_pipeline.cocreation.judge_agreement import judge_agreement
    from judge_pipeline.cocreation.judge_differences import judge_differences
    from judge_pipeline.cocreation.judge_scores import judge_scores
    from judge_pipeline.cocreation.panels import judge_panels, panel_weights

    maps, weights = calibration_maps(predictions), panel_weights(predictions)
    return {
        "judge_metrics": judge_metrics(predictions, seed=seed, n_resamples=n_resamples),
        "judge_differences": judge_differences(predictions, seed=seed, n_resamples=n_resamples),
        "judge_agreement": judge_agreement(predictions, seed=seed, n_resamples=n_resamples),
        "judge_scores": judge_scores(predictions, seed=seed, n_resamples=n_resamples),
        "judge_calibration_maps": maps,
        "judge_calibration": judge_calibration(predictions, maps, seed=seed, n_resamples=n_resamples),
        "judge_panel_weights": weights,
        "judge_panels": judge_panels(predictions, weights, seed=seed, n_resamples=n_resamples),
        "acceptance_rates": acceptance_rates(predictions, seed=seed, n_resamples=n_resamples),
    }
