"""`judge-pipeline evaluate`: figures for predictions that someone brings, without a contest folder."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judge_pipeline.cli.bootstrap_options import bootstrap_options
from judge_pipeline.cli.evaluation_sections import SECTION_NAMES, SECTIONS, print_sections, printable
from judge_pipeline.cli.pair_evaluation import PAIR_SECTION_NAMES, PAIR_SECTIONS, pairs_as_json
from judge_pipeline.tables import SPLITS
from judge_pipeline.tables.preference_accuracy import PREFERENCE_ACCURACY, RULES

if TYPE_CHECKING:
    import pandas as pd


def what_was_read(predictions: pd.DataFrame) -> str:
    """In words, what a file of predictions holds: judges, attempts by split, and how many of them have no label."""
    attempts = predictions.drop_duplicates("attempt_id")
    n_judges = predictions["judge"].nunique()
    of_split = ", ".join(f"{int((attempts['split'] == split).sum()):,} {split}" for split in SPLITS)
    unlabelled, unanswered = int(attempts["y"].isna().sum()), int(predictions["p_ac"].isna().sum())
    judges, noun = "judge" if n_judges == 1 else "judges", "attempt" if len(attempts) == 1 else "attempts"
    said = f"{n_judges:,} {judges}, {len(attempts):,} {noun} ({of_split})"
    said += f", {unlabelled:,} without a label" if unlabelled else ""
    return said + (f", {unanswered:,} rows without an answer" if unanswered else "")


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
@bootstrap_options
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
    from judge_pipeline.cli.evaluation_json import as_json_object
    from judge_pipeline.cli.prediction_file import PredictionFileError, read_predictions
    from judge_pipeline.cocreation.evaluation import PredictionError

    _check_ending(file)
    try:
        predictions = read_predictions(file)
        tables = evaluation_tables(predictions, seed=seed, n_resamples=resamples)
        if as_json:
            found = {**as_json_object(tables), "provenance": _provenance(file, seed, resamples)}
            click.echo(json.dumps(found, allow_nan=False))
            return
    except (PredictionFileError, PredictionError, OSError) as error:
        raise DataFailure(f"{click.format_filename(file)}: {error}") from error
    click.echo(f"{printable(file.name)}: {what_was_read(predictions)}\n")
    shown = [section for section in SECTIONS if not sections or section.name in sections]
    print_sections(shown, tables, seed=seed, resamples=resamples)


@evaluate.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--rule",
    type=click.Choice(RULES),
    default="trace",
    show_default=True,
    help="How answers are scored against the human choice.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.option(
    "--section",
    "sections",
    type=click.Choice(PAIR_SECTION_NAMES),
    multiple=True,
    help="Print only this section; may be given several times. --json always holds all.",
)
@bootstrap_options
def pairs(file: Path, rule: str, as_json: bool, sections: tuple[str, ...], seed: int, resamples: int) -> None:
    """Whether judges choose as people do, from their decisions on preference pairs, with 95% intervals.

    FILE is .csv, .tsv, .jsonl or .parquet with one row for each judge and pair:

    \b
      pair_id       text
      judge         text
      label         what people chose: A, B or tie
      decision_ab   what the judge chose when A was shown first: A, B or tie;
                    blank: its answer was invalid
      decision_ba   the same when B was shown first, also in terms of the
                    original A and B. Without this column: one order, and what
                    needs two is undefined
      cluster, category   optional, of a pair: pairs drawn together by the
                    bootstrap (say, of one instruction), and its kind
      length_a, length_b, votes   optional, of a pair: lengths of A and B, and
                    annotators' choices as {"name": "A", ...}
      family        optional, of a judge

    \b
    Rules:
      trace          right: people's choice in both orders; tied labels left out
      exact          right: people's label in both orders, ties included
      judgebench     each order +1 right, -1 wrong, 0 else; right above 0
      pandalm        order AB alone, an invalid answer is a tie
      bigcodereward  order AB alone, invalid answers are dropped

    Exit code 0: done. 1: the data failed, and the message names the row and the remedy. 2: the command was wrong.

    \b
    Example:
      judge-pipeline evaluate pairs decisions.csv --rule trace --json > figures.json
    """
    from judge_pipeline.cli.pair_file import read_pair_decisions
    from judge_pipeline.cli.prediction_file import PredictionFileError
    from judge_pipeline.preference.accuracy import preference_accuracy
    from judge_pipeline.preference.judged_pairs import PairError
    from judge_pipeline.preference.scoring_rules import SCORING_RULES

    _check_ending(file)
    try:
        table = preference_accuracy(read_pair_decisions(file), rule=rule, seed=seed, n_resamples=resamples)
        if as_json:
            found = {**pairs_as_json(table, rule), "provenance": _provenance(file, seed, resamples)}
            click.echo(json.dumps(found, allow_nan=False))
            return
    except (PredictionFileError, PairError, OSError) as error:
        raise DataFailure(f"{click.format_filename(file)}: {error}") from error
    shown = [section for section in PAIR_SECTIONS if not sections or section.name in sections]
    about = f"Rule {rule}: {SCORING_RULES[rule].words}."
    print_sections(shown, {PREFERENCE_ACCURACY.name: table}, seed=seed, resamples=resamples, about=about)


def _check_ending(file: Path) -> None:
    from judge_pipeline.cli.prediction_file import is_known_format

    if not is_known_format(file):
        raise click.BadParameter(
            f"{click.format_filename(file)} does not end in .csv, .tsv, .jsonl or .parquet.", param_hint="FILE"
        )


def _provenance(file: Path, seed: int, resamples: int) -> dict[str, Any]:
    """What figures of a file were made from."""
    from judge_pipeline.cli.compared_run import file_sha256

    return {
        "version": version("judge-pipeline"),
        "seed": seed,
        "resamples": resamples,
        "inputs": {"file": {"source": file.name, "sha256": file_sha256(file)}},
    }


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
