"""The Python API for notebooks: data frames in, the command line's figures out (``from judge_pipeline import ...``).

The same predictions, seed and resamples give the same numbers as ``judge-pipeline evaluate attempts`` and ``compare``.
A data frame of predictions has one row for each judge and attempt: attempt_id, judge, p_ac (in [0, 1]; missing: not
answered), y (1 accepted, 0 not; missing: no label), split (train, val, test), and where known participant and problem,
which together name the trajectory, s_algo and s_robust (1 to 5), cost_usd and latency_ms.

A data frame of decisions has one row for each judge and preference pair: pair_id, judge, label (what people chose: A,
B, tie), decision_ab (A, B, tie; missing: invalid) and, where the order BA was asked, too, decision_ba in the same
terms, and where known category, cluster, length_a, length_b, votes and family.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.judged_attempts import PredictionError
from judge_pipeline.cocreation.run_comparison import RunComparison
from judge_pipeline.estimate import Estimate
from judge_pipeline.preference.judged_pairs import PairError
from judge_pipeline.statistics.bootstrap import N_RESAMPLES

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Calibration",
    "Estimate",
    "Evaluation",
    "PairError",
    "PredictionError",
    "RunComparison",
    "acceptance_rates",
    "agreement",
    "calibrate",
    "compare_judges",
    "estimate_of",
    "evaluate_attempts",
    "evaluate_pairs",
    "read_pair_decisions",
    "read_predictions",
]


@dataclass(frozen=True)
class Evaluation:
    """Every table of figures of ``evaluate attempts``.

    Attributes:
        tables: name -> table, as docs/reference/tables.md describes each: judge_metrics, judge_differences,
            judge_agreement, judge_scores, judge_calibration_maps, judge_calibration, judge_panel_weights, judge_panels,
            acceptance_rates.
    """

    tables: Mapping[str, pd.DataFrame]

    def to_frame(self, table: str = "judge_metrics") -> pd.DataFrame:
        """One of the tables, a row for each figure.

        Raises:
            KeyError: no such table; the message lists those that there are.
        """
        if table not in self.tables:
            raise KeyError(f"no table {table!r}; there are {', '.join(self.tables)}")
        return self.tables[table].copy()

    def estimate(self, judge: str, metric: str) -> Estimate:
        """One figure of one judge, from judge_metrics.

        Raises:
            KeyError: no such judge or figure; the message lists those that there are.
        """
        rows = self.tables["judge_metrics"]
        found = rows[(rows["judge"] == judge) & (rows["metric"] == metric)]
        if not len(found):
            raise KeyError(
                f"no figure {metric!r} of judge {judge!r}; judges: {', '.join(sorted(set(rows['judge'])))}; figures: "
                f"{', '.join(dict.fromkeys(rows['metric']))}"
            )
        return estimate_of(found.iloc[0])

    def to_json(self) -> dict[str, Any]:
        """The object that ``judge-pipeline evaluate attempts --json`` prints, but for its provenance."""
        from judge_pipeline.cli.evaluation_json import as_json_object

        return as_json_object(self.tables)


@dataclass(frozen=True)
class Calibration:
    """Calibration maps fitted on val, and figures on test before and after each.

    Attributes:
        maps: table judge_calibration_maps.
        figures: table judge_calibration.
    """

    maps: pd.DataFrame
    figures: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """The figures, a row for each judge, map, figure and whether it is the figure or its change."""
        return self.figures.copy()

    def apply(self, judge: str, map_name: str, p_ac: ArrayLike) -> NDArray[np.float64]:
        """What a judge's map makes of probabilities, in their shape; missing ones stay missing.

        Args:
            judge: whose map.
            map_name: platt, beta, temperature or isotonic.
            p_ac: probabilities of this judge.

        Raises:
            KeyError: no such judge or map.
            ValueError: the map could not be fitted (the message says why), or a probability is outside [0, 1].
        """
        from judge_pipeline.statistics.calibration_maps import apply_map

        rows = self.maps[(self.maps["judge"] == judge) & (self.maps["map"] == map_name)]
        if not len(rows):
            raise KeyError(f"no map {map_name!r} of judge {judge!r}")
        if rows["value"].isna().any():
            raise ValueError(f"map {map_name} of judge {judge} could not be fitted: {rows['reason'].iloc[0]}")
        p = np.asarray(p_ac, np.float64)
        known = ~np.isnan(p)
        if ((p[known] < 0) | (p[known] > 1)).any():
            raise ValueError("probabilities must lie in [0, 1]")
        keys = zip(rows["parameter"], rows["knot"].astype(int), strict=True)
        parameters = dict(zip(keys, rows["value"].astype(float), strict=True))
        calibrated = np.full(p.shape, np.nan)
        calibrated[known] = apply_map(map_name, parameters, p[known])
        return calibrated


def evaluate_attempts(predictions: pd.DataFrame, *, seed: int = 0, n_resamples: int = N_RESAMPLES) -> Evaluation:
    """Every figure of every judge on test with its 95% interval, as ``judge-pipeline evaluate attempts``.

    Args:
        predictions: a row for each judge and attempt; see the module.
        seed: seed of the bootstrap.
        n_resamples: resamples behind each interval.

    Raises:
        PredictionError: the predictions cannot be evaluated; the message names the column, the rows and the remedy.
    """
    from judge_pipeline.cli.evaluate import evaluation_tables

    return Evaluation(evaluation_tables(_checked(predictions), seed=seed, n_resamples=n_resamples))


def evaluate_pairs(
    decisions: pd.DataFrame, *, rule: str = "trace", seed: int = 0, n_resamples: int = N_RESAMPLES
) -> pd.DataFrame:
    """Whether judges choose between two responses as people do, as ``judge-pipeline evaluate pairs``.

    Args:
        decisions: a row for each judge and pair; see the module.
        rule: trace, exact, judgebench, pandalm or bigcodereward.
        seed: seed of the bootstrap.
        n_resamples: resamples behind each interval.

    Returns:
        A row for each figure: rule, of (judge, family, floor, people, difference, agreement, panel), name, other,
        category, figure, the estimate's columns, p_value, p_holm.

    Raises:
        PairError: the decisions cannot be evaluated; the message names the row, the value and the remedy.
    """
    from judge_pipeline.preference.accuracy import preference_accuracy

    return preference_accuracy(decisions, rule=rule, seed=seed, n_resamples=n_resamples)


def read_pair_decisions(path: str | Path) -> pd.DataFrame:
    """The decisions in a .csv, .tsv, .jsonl or .parquet file; the index says where in it each row stands.

    Raises:
        ValueError: the file is not what its name says, a column is missing, or a value is no choice.
        OSError: the file cannot be read.
    """
    from judge_pipeline.cli import pair_file
    from judge_pipeline.cli.prediction_file import is_known_format

    if not is_known_format(Path(path)):
        raise ValueError(f"{path} does not end in .csv, .tsv, .jsonl or .parquet. Remedy: save it as one of these")
    return pair_file.read_pair_decisions(Path(path))


def compare_judges(
    old: pd.DataFrame,
    new: pd.DataFrame | None = None,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    seed: int = 0,
    n_resamples: int = N_RESAMPLES,
) -> RunComparison:
    """Judges of two runs on the same attempts, paired, as ``judge-pipeline compare``; or two judges of one run.

    Args:
        old: predictions of the old run.
        new: predictions of the new one; None: those of ``old``, and then ``pairs`` must be given.
        pairs: (judge of old, judge of new); by default each judge with itself.
        seed: seed of the bootstrap.
        n_resamples: resamples behind each interval.

    Returns:
        tables ``differences``, ``agreement``, ``flips`` and ``counts``, and the method ``drops``.

    Raises:
        PredictionError: a run cannot be evaluated, or the two do not go together.
        ValueError: neither ``new`` nor ``pairs`` is given.
    """
    from judge_pipeline.cocreation.run_comparison import compare_runs

    if new is None and pairs is None:
        raise ValueError("give a new run, or pairs of judges of the one run")
    left = _checked(old)
    return compare_runs(left, left if new is None else _checked(new), pairs, seed=seed, n_resamples=n_resamples)


def agreement(
    predictions: pd.DataFrame,
    *,
    judges: Sequence[str] | None = None,
    seed: int = 0,
    n_resamples: int = N_RESAMPLES,
) -> pd.DataFrame:
    """How far judges agree with each other on test; the table judge_agreement, a row for each figure.

    Args:
        predictions: a row for each judge and attempt; see the module.
        judges: the panel; all by default.
        seed: seed of the bootstrap.
        n_resamples: resamples behind each interval.

    Raises:
        PredictionError: the predictions cannot be evaluated, or a judge has no row.
    """
    from judge_pipeline.cocreation.judge_agreement import judge_agreement

    return judge_agreement(_checked(predictions), seed=seed, n_resamples=n_resamples, panel=judges)


def calibrate(
    predictions: pd.DataFrame,
    *,
    judges: Sequence[str] | None = None,
    seed: int = 0,
    n_resamples: int = N_RESAMPLES,
) -> Calibration:
    """Platt, beta, temperature and isotonic maps of each judge, fitted on val alone, and what they change on test.

    Args:
        predictions: a row for each judge and attempt; see the module.
        judges: the judges to fit; all by default.
        seed: seed of the bootstrap.
        n_resamples: resamples behind each interval.

    Raises:
        PredictionError: the predictions cannot be evaluated, or a judge has no row.
    """
    from judge_pipeline.cocreation.calibrated import calibration_maps, judge_calibration

    checked = _checked(predictions)
    maps = calibration_maps(checked, panel=judges)
    return Calibration(maps, judge_calibration(checked, maps, seed=seed, n_resamples=n_resamples, panel=judges))


def acceptance_rates(predictions: pd.DataFrame, *, seed: int = 0, n_resamples: int = N_RESAMPLES) -> pd.DataFrame:
    """Acceptance rates from each judge's answers and the labels of val alone; the table acceptance_rates.

    Args:
        predictions: a row for each judge and attempt; see the module.
        seed: seed of the bootstrap.
        n_resamples: resamples behind each interval.

    Raises:
        PredictionError: the predictions cannot be evaluated.
    """
    from judge_pipeline.cocreation.acceptance_rates import acceptance_rates as rates

    return rates(_checked(predictions), seed=seed, n_resamples=n_resamples)


def read_predictions(source: str | Path, *, contest: str | None = None) -> pd.DataFrame:
    """Predictions as the command line reads them: a file, an output folder, or a contest of this workspace.

    Args:
        source: .csv, .tsv, .jsonl or .parquet; a folder such as var/; or the name of a contest that was run.
        contest: which contest of an output folder, where it holds several.

    Raises:
        ValueError: there are no predictions there, or a value cannot be right; the message names the row.
    """
    import click

    from judge_pipeline.cli.compared_run import given_run

    try:
        return given_run(str(source), contest, "source").predictions
    except click.BadParameter as error:
        raise ValueError(error.message) from None


def estimate_of(row: Mapping[str, Any] | pd.Series) -> Estimate:
    """The estimate in a row of any table of figures: value, n, n_left_out, ci95 and reason.

    Raises:
        KeyError: the row has no columns of an estimate.
    """
    from judge_pipeline.cli.evaluation_json import estimate_of as plain

    found = plain({str(name): row[name] for name in ("value", "n", "n_left_out", "ci95_low", "ci95_high", "reason")})
    interval = None if found["ci95"] is None else (found["ci95"][0], found["ci95"][1])
    return Estimate(found["value"], found["n"], found["n_left_out"], interval, found["reason"])


def _checked(predictions: pd.DataFrame) -> pd.DataFrame:
    """The frame with our names for columns, and ids as text, as the command line reads them from files."""
    if not isinstance(predictions, pd.DataFrame):
        raise TypeError(f"predictions must be a pandas DataFrame, not {type(predictions).__name__}")
    frame = predictions
    twice = sorted(set(map(str, frame.columns[frame.columns.duplicated()])))
    if twice:
        raise PredictionError(f"there is more than one column {', '.join(twice)}. Remedy: keep one of each")
    if "problem" in frame.columns:
        if "problem_id" in frame.columns:
            raise PredictionError("there are both a column problem and a column problem_id. Remedy: keep one")
        frame = frame.rename(columns={"problem": "problem_id"})
    texts = [name for name in ("attempt_id", "judge", "participant", "problem_id") if name in frame.columns]
    return frame.assign(**{name: frame[name].map(_text, na_action="ignore").astype(object) for name in texts})


def _text(value: Any) -> Any:
    """Whole numbers as their digits; what is something else is left to the check that names its row."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)
    return str(value) if whole else value
