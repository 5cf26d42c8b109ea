"""The long prediction table, checked and laid out as arrays: what every figure of a judge is computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge_pipeline.statistics.bootstrap import ClusterResamples
from judge_pipeline.statistics.score_counts import FloatArray, IntArray
from judge_pipeline.tables import SPLITS

REQUIRED = ("attempt_id", "judge", "p_ac", "y", "split")
SCORES = ("s_algo", "s_robust")
"""Columns of ordinal scores, 1 to 5, which predictions may have (paper 1, eq. 8)."""

_OF_THE_ATTEMPT = ("y", "split", "participant", "problem_id")
_SHOWN = 5


class PredictionError(ValueError):
    """A prediction table that cannot be evaluated. The message names the column, the rows, the value and the remedy."""


@dataclass(frozen=True)
class SplitArrays:
    """The attempts of one split, in order of trajectory and attempt, side by side with every judge's answer.

    Attributes:
        y: label, shape (A,); NaN where not judged yet.
        p: p_ac by attempt and judge, shape (A, J); NaN where the judge has not answered.
        cluster: index of the attempt's trajectory, shape (A,); -1 where no judge has a usable answer in it.
        n_clusters: trajectories with at least one labelled and answered attempt.
        scores: for each ordinal score that the predictions have a column of, s_algo or s_robust, the judges' scores,
            shape (A, J); NaN where there is none.
        attempt_ids: which attempts they are, texts, shape (A,).
    """

    y: FloatArray
    p: FloatArray
    cluster: IntArray
    n_clusters: int
    scores: Mapping[str, FloatArray] = field(default_factory=dict)
    attempt_ids: NDArray[np.object_] = field(default_factory=lambda: np.empty(0, dtype=object))

    def usable(self, judge: int) -> NDArray[np.bool_]:
        """Which attempts have both a label and this judge's answer, shape (A,)."""
        return ~np.isnan(self.y) & ~np.isnan(self.p[:, judge])


@dataclass(frozen=True)
class JudgedAttempts:
    """A checked prediction table as arrays.

    Attributes:
        judges: the judges in alphabetical order.
        splits: the arrays of train, val and test.
        cluster_note: a warning about clusters, where they are not trajectories everywhere, or lie in several splits.
    """

    judges: tuple[str, ...]
    splits: dict[str, SplitArrays]
    cluster_note: str | None

    @classmethod
    def of(cls, predictions: pd.DataFrame) -> JudgedAttempts:
        """The arrays of a long prediction table.

        Columns: attempt_id, judge (text), p_ac (in [0, 1] or missing: not answered), y (0, 1 or missing: not judged
        yet), split, and where known participant and problem_id, which together name the trajectory, and s_algo and
        s_robust (1 to 5 or missing; a score without its p_ac does not count).

        Raises:
            PredictionError: a column is missing, or ``check_predictions`` finds fault.
        """
        check_predictions(predictions)
        judges = tuple(sorted(predictions["judge"].unique()))
        attempts, note = _attempts_in_order(predictions)
        row = pd.Index(attempts["attempt_id"]).get_indexer(predictions["attempt_id"])
        column = pd.Index(judges).get_indexer(predictions["judge"])
        p = np.full((len(attempts), len(judges)), np.nan)
        p[row, column] = _as_floats(predictions["p_ac"])
        scores = {}
        for name in SCORES:
            if name in predictions.columns:
                given = np.full(p.shape, np.nan)
                given[row, column] = _as_floats(predictions[name])
                scores[name] = np.where(np.isnan(p), np.nan, given)
        y = _as_floats(attempts["y"])
        splits = {}
        for split in SPLITS:
            mask = (attempts["split"] == split).to_numpy(dtype=bool)
            of_split = {name: given[mask] for name, given in scores.items()}
            ids = attempts["attempt_id"].to_numpy(dtype=object)[mask]
            splits[split] = _split_arrays(y[mask], p[mask], attempts["cluster"].to_numpy()[mask], of_split, ids)
        notes = [text for text in (note, _shared_note(attempts)) if text is not None]
        return cls(judges, splits, "; ".join(notes) or None)

    def panel(self, names: Sequence[str] | None) -> tuple[str, ...]:
        """The judges of ``names`` in alphabetical order; all of them where it is None.

        Raises:
            PredictionError: one of them has no row.
        """
        if names is None:
            return self.judges
        unknown = sorted(set(names) - set(self.judges))
        if unknown:
            raise PredictionError(
                f"judge(s) {', '.join(unknown)} of the panel have no predictions; there are {', '.join(self.judges)}. "
                "Remedy: name judges that have judged"
            )
        return tuple(sorted(set(names)))

    def notes(self, judge: int, *splits: str) -> list[str]:
        """Warnings about every figure of the judge on these splits: unanswered attempts (eq. 9), then clusters."""
        found = []
        for split in splits:
            p = self.splits[split].p[:, judge]
            answered = int((~np.isnan(p)).sum())
            if answered < len(p):
                found.append(
                    "unverified (eq. 9) unless this is the judge's stated scope: it answered "
                    f"{answered} of {len(p)} attempts of {split}"
                )
        return found if self.cluster_note is None else [*found, self.cluster_note]

    def resamples(self, n_resamples: int, seed: int, splits: Sequence[str] = ("test", "val")) -> ClusterResamples:
        """The one plan of resamples behind every interval; the draws of test do not depend on what else is drawn."""
        return ClusterResamples(tuple(self.splits[name].n_clusters for name in splits), n_resamples, seed)


def check_predictions(predictions: pd.DataFrame) -> None:
    """Refuse a prediction table whose figures would mean nothing.

    Raises:
        PredictionError: missing columns; a blank attempt_id or judge; a split, label, probability or score outside its
            range; two rows of one judge for one attempt; or an attempt whose label, split or trajectory differs
            between rows. Rows are named by the frame's index.
    """
    missing = [name for name in REQUIRED if name not in predictions.columns]
    if missing:
        raise PredictionError(
            f"column(s) {', '.join(missing)} are missing; there are {', '.join(map(str, predictions.columns))}. "
            f"Remedy: name the columns {', '.join(REQUIRED)} (and participant, problem where known)"
        )
    for name in ("attempt_id", "judge"):
        blank = ~predictions[name].map(lambda value: isinstance(value, str) and value != "").astype(bool)
        _refuse(predictions, name, blank, "is not a text with at least one character", "give every row its own")
    _refuse(
        predictions, "split", ~predictions["split"].isin(SPLITS), f"is not one of {', '.join(SPLITS)}",
        "write the split so, in lower case",
    )  # fmt: skip
    y, p = _as_floats(predictions["y"]), _as_floats(predictions["p_ac"])
    _refuse(
        predictions, "y", pd.Series(~(np.isnan(y) | (y == 0) | (y == 1)), predictions.index), "is not 0 or 1",
        "1 is accepted, 0 is not; leave it blank where the attempt is not judged yet",
    )  # fmt: skip
    _refuse(
        predictions, "p_ac", pd.Series(~(np.isnan(p) | ((p >= 0) & (p <= 1))), predictions.index),
        "is outside [0, 1]", "give probabilities, not percentages or scores; leave it blank where there is no answer",
    )  # fmt: skip
    for name in SCORES:
        if name in predictions.columns:
            score = _as_floats(predictions[name])
            _refuse(
                predictions, name, pd.Series(~(np.isnan(score) | np.isin(score, range(1, 6))), predictions.index),
                "is not a whole number from 1 to 5", "give the judge's score; leave it blank where there is none",
            )  # fmt: skip
    truth_values = predictions["p_ac"].map(lambda value: isinstance(value, bool | np.bool_)).astype(bool)
    _refuse(predictions, "p_ac", truth_values, "is a truth value, not a number", "give the judge's probability")
    twice = predictions.duplicated(subset=["judge", "attempt_id"], keep=False)
    _refuse(
        predictions, "attempt_id", twice, "has more than one row by the same judge",
        "keep one answer of each judge for each attempt",
    )  # fmt: skip
    _check_attempts_agree(predictions)


def _check_attempts_agree(predictions: pd.DataFrame) -> None:
    attempt, _ = pd.factorize(predictions["attempt_id"])
    first_row = np.unique(attempt, return_index=True)[1]
    for name in _OF_THE_ATTEMPT:
        if name not in predictions.columns:
            continue
        # Labels are compared as numbers: 1 and 1.0 are one label.
        values, _ = pd.factorize(_as_floats(predictions[name]) if name == "y" else predictions[name])
        differs = values != values[first_row][attempt]
        if not differs.any():
            continue
        at = int(np.flatnonzero(differs)[0])
        before = int(first_row[attempt[at]])
        row, first = predictions.iloc[at], predictions.iloc[before]
        raise PredictionError(
            f"attempt {row['attempt_id']!r} has {name} {_shown(first[name])} in {_label(predictions, before)} (judge "
            f"{first['judge']}) and {_shown(row[name])} in {_label(predictions, at)} (judge {row['judge']}); "
            f"{int(differs.sum())} row(s) differ so. Remedy: an attempt has one {name}, whoever judges it"
        )


def _refuse(frame: pd.DataFrame, column: str, wrong: pd.Series, what: str, remedy: str) -> None:
    places = np.flatnonzero(wrong.to_numpy(dtype=bool))
    if not len(places):
        return
    shown = "; ".join(f"{_label(frame, int(i))}: {_shown(frame[column].iloc[i])}" for i in places[:_SHOWN])
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    raise PredictionError(f"{column} {what} in {len(places)} row(s): {shown}{more}. Remedy: {remedy}")


def _label(frame: pd.DataFrame, position: int) -> str:
    label = frame.index[position]
    return label if isinstance(label, str) else f"row {label}"


def _shown(value: object) -> str:
    if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return "(blank)"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _as_floats(values: pd.Series) -> FloatArray:
    try:
        floats: FloatArray = values.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise PredictionError(f"column {values.name} does not hold numbers ({error}). Remedy: convert it") from error
    return floats


def _attempts_in_order(predictions: pd.DataFrame) -> tuple[pd.DataFrame, str | None]:
    """One row for each attempt, with its cluster, in an order that does not depend on the order of the rows."""
    columns = ["attempt_id", "y", "split", "participant", "problem_id"]
    attempts = predictions.drop_duplicates("attempt_id").reindex(columns=columns)
    known = attempts["participant"].notna() & attempts["problem_id"].notna()
    note = None
    if not known.all():
        some = f" for {int((~known).sum())} of {len(known)} attempts" if known.any() else ""
        note = (
            f"participant and problem are not known{some}: each such attempt is its own cluster, "
            "and intervals may be too narrow"
        )
    # A lone attempt's key has one part and a trajectory's has two, so no name can collide with an attempt's id.
    keys = [
        (str(u), str(p)) if is_known else (str(a),)
        for a, u, p, is_known in zip(
            attempts["attempt_id"], attempts["participant"], attempts["problem_id"], known, strict=True
        )
    ]
    places = {key: i for i, key in enumerate(sorted(set(keys)))}
    ordered = attempts.assign(cluster=[places[key] for key in keys])
    return ordered.sort_values(["cluster", "attempt_id"], ignore_index=True), note


def _shared_note(attempts: pd.DataFrame) -> str | None:
    """What to know where the same trajectory was used to choose a threshold and to judge it."""
    n_splits = attempts.groupby("cluster")["split"].nunique()
    shared = int((n_splits > 1).sum())
    if not shared:
        return None
    return (
        f"{shared} of {len(n_splits)} trajectories lie in more than one split, so train, val and test are not disjoint"
    )


def _split_arrays(
    y: FloatArray, p: FloatArray, cluster: IntArray, scores: Mapping[str, FloatArray], ids: NDArray[np.object_]
) -> SplitArrays:
    """Number the clusters anew, from 0, leaving out those in which nothing can be measured."""
    usable = ~np.isnan(y) & ~np.isnan(p).all(axis=1)
    kept = np.unique(cluster[usable])
    place = np.searchsorted(kept, cluster)
    inside = np.isin(cluster, kept)
    return SplitArrays(y, p, np.where(inside, place, -1).astype(np.int64), len(kept), scores, ids)
