"""`judge-pipeline evaluate`: figures for predictions that someone brings, without a contest folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

_LABELS = {
    "roc_auc": "ROC-AUC",
    "pr_auc": "PR-AUC",
    "log_loss": "LogLoss",
    "log_loss_n_clipped": "clipped by LogLoss",
    "brier": "Brier",
    "ece": "ECE, 15 bins",
    "ece_equal_mass": "ECE, equal mass",
    "ece_debiased": "ECE, debiased",
    "mcc_val": "MCC on val",
    "threshold": "threshold t*",
    "threshold_plateau_low": "plateau of t* from",
    "threshold_plateau_high": "plateau of t* to",
    "mcc_test": "MCC on test at t*",
    "mcc_test_reselected": "same, t* reselected",
    "precision": "precision at t*",
    "recall": "recall at t*",
    "f1": "F1 at t*",
    "balanced_accuracy": "balanced accuracy at t*",
    "accept_rate": "accept rate at t*",
    "cohen": "Cohen's kappa",
    "raw_agreement": "raw agreement",
    "judge_mean_cohen": "mean kappa of the judge",
    "mean_cohen": "mean Cohen's kappa",
    "fleiss": "Fleiss' kappa",
}


class DataFailure(click.ClickException):
    """The data failed: exit code 1."""

    exit_code = 1


@click.group()
def evaluate() -> None:
    """Figures for results that you already have."""


@evaluate.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the bootstrap.")
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=2000,
    show_default=True,
    help="Resamples behind each interval.",
)
def attempts(file: Path, as_json: bool, seed: int, resamples: int) -> None:
    """Each judge's figures on test and the agreement between judges, with 95% intervals.

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

    The threshold t* of each judge is chosen on val and applied unchanged to test. Every figure comes with n, what was
    left out, its interval, and, where it is undefined or weak, the reason.

    Exit code 0: done. 1: the data failed, and the message names the row and the remedy. 2: the command was wrong.

    \b
    Example:
      judge-pipeline evaluate attempts predictions.csv --json > figures.json
    """
    from judge_pipeline.cli.prediction_file import PredictionFileError, is_known_format, read_predictions
    from judge_pipeline.cocreation.evaluation import PredictionError, judge_agreement, judge_metrics

    if not is_known_format(file):
        raise click.BadParameter(
            f"{click.format_filename(file)} does not end in .csv, .tsv, .jsonl or .parquet.", param_hint="FILE"
        )
    try:
        predictions = read_predictions(file)
        metrics = judge_metrics(predictions, seed=seed, n_resamples=resamples)
        agreement = judge_agreement(predictions, seed=seed, n_resamples=resamples)
        if as_json:
            click.echo(json.dumps(as_json_object(metrics, agreement), allow_nan=False))
            return
    except (PredictionFileError, PredictionError, OSError) as error:
        raise DataFailure(f"{click.format_filename(file)}: {error}") from error
    _print_tables(metrics, agreement, seed=seed, resamples=resamples)


def as_json_object(metrics: pd.DataFrame, agreement: pd.DataFrame) -> dict[str, Any]:
    """The tables ``judge_metrics`` and ``judge_agreement`` as nested estimates of plain JSON values.

    Raises:
        PredictionError: a judge's name holds the bar that separates the two judges of a pair.
    """
    from judge_pipeline.cocreation.evaluation import PredictionError

    judges: dict[str, dict[str, Any]] = {}
    for row in metrics.to_dict("records"):
        judges.setdefault(row["judge"], {})[row["metric"]] = _estimate(row)
    barred = [name for name in judges if "|" in name]
    if barred:
        raise PredictionError(f"judge {barred[0]!r} holds a bar, which separates pairs of judges. Remedy: rename it")
    figures: dict[str, Any] = {"cohen": {}, "judge_mean_cohen": {}, "pair_raw_agreement": {}}
    for row in agreement.to_dict("records"):
        statistic, first, second = row["statistic"], row["judge_1"], row["judge_2"]
        if second is not None:
            name = "pair_raw_agreement" if statistic == "raw_agreement" else statistic
            figures[name][f"{first}|{second}"] = _estimate(row)
        elif first is not None:
            figures[statistic][first] = _estimate(row)
        else:
            figures[statistic] = _estimate(row)
    order = ("cohen", "mean_cohen", "judge_mean_cohen", "fleiss", "raw_agreement", "pair_raw_agreement")
    return {"judges": judges, "agreement": {name: figures[name] for name in order}}


def _estimate(row: dict[str, Any]) -> dict[str, Any]:
    from judge_pipeline.estimate import Estimate

    value, low, high = (_or_none(row[name]) for name in ("value", "ci95_low", "ci95_high"))
    interval = None if low is None or high is None else (low, high)
    return Estimate(value, int(row["n"]), int(row["n_left_out"]), interval, row["reason"]).to_json()


def _or_none(value: float) -> float | None:
    return None if value != value else float(value)  # noqa: PLR0124


def _print_tables(metrics: pd.DataFrame, agreement: pd.DataFrame, *, seed: int, resamples: int) -> None:
    from rich.console import Console
    from rich.table import Table

    notes: dict[str, int] = {}
    # Judges stand under each figure, so that they are compared; the tables hold figures under each judge.
    place = {name: i for i, name in enumerate(_LABELS)}
    by_metric = metrics.sort_values("metric", key=lambda column: column.map(place), kind="stable")
    judges = _table("Judges", [(_LABELS[r["metric"]], r["judge"], r) for r in by_metric.to_dict("records")], notes)
    pairs = [
        (_LABELS[r["statistic"]], " | ".join(n for n in (r["judge_1"], r["judge_2"]) if n is not None) or "all", r)
        for r in agreement.to_dict("records")
    ]
    together = _table("Agreement on test, decisions at each judge's t*", pairs, notes)
    listed = Table.grid(padding=(0, 1))
    for text, number in notes.items():
        listed.add_row(str(number), _printable(text))
    console = Console(highlight=False, markup=False, emoji=False)
    for part in (judges, together):
        console.print(part)
    console.print(
        f"t* is chosen on val and held fixed on test. Intervals: cluster bootstrap, {resamples} resamples, seed {seed}."
    )
    if notes:
        console.print("\nNotes")
        console.print(listed)


def _table(title: str, rows: list[tuple[str, str, dict[str, Any]]], notes: dict[str, int]) -> Table:
    """Rows of (figure, who, estimate columns) as a table; each figure is named once, above those it is of."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False, title_style="bold")
    table.add_column("", overflow="fold")
    for name in ("value", "95% interval", "n", "left out", "notes"):
        table.add_column(name, justify="left" if name == "notes" else "right", no_wrap=True)
    last = None
    for label, who, row in rows:
        if label != last:
            table.add_row(label, style="bold")
        table.add_row(f"  {_printable(who)}", *_cells(row, notes))
        last = label
    return table


def _cells(row: dict[str, Any], notes: dict[str, int]) -> list[str]:
    estimate = _estimate(row)
    value, interval = estimate["value"], estimate["ci95"]
    reasons = estimate["reason"].split("; ") if estimate["reason"] else []
    digits = 0 if row.get("metric") == "log_loss_n_clipped" else 4
    return [
        "undefined" if value is None else f"{value:.{digits}f}",
        "" if interval is None else f"{interval[0]:.4f} to {interval[1]:.4f}",
        str(estimate["n"]),
        str(estimate["n_left_out"]),
        " ".join(str(notes.setdefault(reason, len(notes) + 1)) for reason in reasons),
    ]


def _printable(text: str) -> str:
    """The text with control characters written out: names come from a file and must not steer the terminal."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)
