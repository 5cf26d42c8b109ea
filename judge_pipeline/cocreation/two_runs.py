"""Two runs laid over each other: the attempts of both, each judge under its run's name, labels filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from judge_pipeline.cocreation.judged_attempts import JudgedAttempts, PredictionError, check_predictions

SPENDING = ("mean_cost_usd", "mean_latency_ms")
"""Figures of what answers cost, from the columns cost_usd and latency_ms."""

SPENDING_COLUMNS = ("cost_usd", "latency_ms")
_FILLED = ("y", "participant", "problem_id")
_COLUMNS = ("attempt_id", "judge", "p_ac", "y", "split", "participant", "problem_id", *SPENDING_COLUMNS)

Pair = tuple[str, str]
"""A judge of the old run and a judge of the new one."""


@dataclass(frozen=True)
class TwoRuns:
    """Both runs as one prediction table.

    Attributes:
        judged: the table as arrays; its judges are named by ``old_name`` and ``new_name``.
        predictions: the table.
        pairs: which judges are compared.
        only_old: judges of the old run that are in no pair.
        only_new: judges of the new run that are in no pair.
        n_filled: labels that one run knows and the other did not, taken for both.
    """

    judged: JudgedAttempts
    predictions: pd.DataFrame
    pairs: tuple[Pair, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    n_filled: int

    @classmethod
    def of(cls, old: pd.DataFrame, new: pd.DataFrame, pairs: Sequence[Pair] | None = None) -> TwoRuns:
        """Both runs, checked each and together.

        Args:
            old: long prediction table of the old run, as for ``judge_metrics``; cost_usd and latency_ms where known.
            new: that of the new run.
            pairs: judges to compare, the old run's first; by default each judge with itself, where both runs have it.

        Raises:
            PredictionError: a run fails ``check_predictions``; the two disagree on an attempt's label, split or
                trajectory; a judge of ``pairs`` is not in its run; or there is nothing to compare.
        """
        for run in (old, new):
            check_predictions(run)
            _check_spending(run)
        names = tuple(sorted(set(map(str, old["judge"])))), tuple(sorted(set(map(str, new["judge"]))))
        chosen = _pairs(names, pairs)
        together, n_filled = _together(old, new)
        return cls(
            judged=JudgedAttempts.of(together),
            predictions=together,
            pairs=chosen,
            only_old=tuple(name for name in names[0] if name not in {pair[0] for pair in chosen}),
            only_new=tuple(name for name in names[1] if name not in {pair[1] for pair in chosen}),
            n_filled=n_filled,
        )

    def columns(self, pair: Pair) -> tuple[int, int]:
        """Where the two judges of a pair stand in ``judged``."""
        judges = self.judged.judges
        return judges.index(old_name(pair[0])), judges.index(new_name(pair[1]))


def old_name(judge: str) -> str:
    """How a judge of the old run is called where both runs are one table."""
    return f"OLD {judge}"


def new_name(judge: str) -> str:
    """How a judge of the new run is called where both runs are one table."""
    return f"NEW {judge}"


def _pairs(names: tuple[tuple[str, ...], tuple[str, ...]], wanted: Sequence[Pair] | None) -> tuple[Pair, ...]:
    old, new = names
    if wanted is None:
        both = tuple((name, name) for name in old if name in new)
        if not both:
            raise PredictionError(
                f"no judge is in both runs: the old one has {', '.join(old)}, the new one {', '.join(new)}. Remedy: "
                "say which judges to set against each other (--pair OLD_JUDGE NEW_JUDGE)"
            )
        return both
    for side, known, place in (("old", old, 0), ("new", new, 1)):
        unknown = sorted({pair[place] for pair in wanted} - set(known))
        if unknown:
            raise PredictionError(
                f"judge(s) {', '.join(unknown)} are not in the {side} run, which has {', '.join(known)}. Remedy: name "
                "judges that are there"
            )
    return tuple(dict.fromkeys(wanted))


def _check_spending(run: pd.DataFrame) -> None:
    for name in SPENDING_COLUMNS:
        wrong = pd.to_numeric(run[name], errors="coerce").lt(0) if name in run.columns else pd.Series(dtype=bool)
        if wrong.any():
            place = run.index[wrong.to_numpy()][0]
            raise PredictionError(
                f"{name} is below 0 in {int(wrong.sum())} row(s), the first {place}. Remedy: leave it blank where it "
                "is not known"
            )


def _together(old: pd.DataFrame, new: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """One table, its rows called after run and place; and how many labels were filled in."""
    sides = []
    for run, name in ((old, old_name), (new, new_name)):
        side = run.reindex(columns=[c for c in _COLUMNS if c in run.columns]).copy()
        side["judge"] = [name(str(judge)) for judge in side["judge"]]
        side.index = pd.Index([name(label if isinstance(label, str) else f"row {label}") for label in run.index])
        for column in ("y", *SPENDING_COLUMNS):
            if column in side.columns:
                side[column] = side[column].astype("Float64").astype("float64")
        sides.append(side)
    together = pd.concat(sides)
    n_filled = 0
    for column in (c for c in _FILLED if c in together.columns):
        known = together.dropna(subset=[column]).drop_duplicates("attempt_id").set_index("attempt_id")[column]
        blank = together[column].isna()
        filled = together["attempt_id"].map(known)
        if column == "y":
            n_filled = int(together.loc[blank & filled.notna(), "attempt_id"].nunique())
        together[column] = together[column].where(~blank, filled)
    return together, n_filled
