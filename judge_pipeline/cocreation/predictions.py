"""The unified prediction tables (paper 1, IV-C1): verified judgments joined with their attempts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from judge_pipeline.tables import PREDICTIONS, PREDICTIONS_WIDE

_FROM_ATTEMPT = ["participant", "problem_id", "turn", "language", "verdict", "y"]


def predictions(attempts: pd.DataFrame, splits: pd.DataFrame, outputs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The long table: one row for each judge and attempt that it judged, sorted by judge, then attempt order.

    Args:
        attempts: table ATTEMPTS.
        splits: table SPLIT_ASSIGNMENTS.
        outputs: judge -> its table JUDGE_OUTPUTS; judges whose tables are not accepted are not passed in.

    Raises:
        ValueError: a judgment of an attempt that is not in the attempts; it was made from other data.
    """
    known = _with_split(attempts, splits)
    joined = [_joined(known, judge, table) for judge, table in sorted(outputs.items())]
    return PREDICTIONS.conform(pd.concat(joined, ignore_index=True)) if joined else PREDICTIONS.empty()


def predictions_wide(attempts: pd.DataFrame, splits: pd.DataFrame, long: pd.DataFrame) -> pd.DataFrame:
    """One row for each attempt, one column ``p_ac:<judge>`` for each judge; null where it was not asked."""
    wide = _with_split(attempts, splits)[["attempt_id", *_FROM_ATTEMPT, "split"]]
    for judge, rows in long.groupby("judge", sort=True):
        wide = wide.assign(**{f"p_ac:{judge}": wide["attempt_id"].map(rows.set_index("attempt_id")["p_ac"])})
    return PREDICTIONS_WIDE.conform(wide)


def unjoined(long: pd.DataFrame, outputs: Mapping[str, pd.DataFrame]) -> list[str]:
    """Judges whose judgments are not all in the long table, in words; none if the join is complete."""
    counts = long["judge"].value_counts()
    return [
        f"{judge}: {len(table)} judgments, {int(counts.get(judge, 0))} in predictions"
        for judge, table in sorted(outputs.items())
        if len(table) != int(counts.get(judge, 0))
    ]


def _with_split(attempts: pd.DataFrame, splits: pd.DataFrame) -> pd.DataFrame:
    groups = splits[["participant", "problem_id", "split"]]
    return attempts.merge(groups, on=["participant", "problem_id"], how="left", validate="many_to_one")


def _joined(known: pd.DataFrame, judge: str, table: pd.DataFrame) -> pd.DataFrame:
    strangers = sorted(set(table["attempt_id"]) - set(known["attempt_id"]))
    if strangers:
        raise ValueError(
            f"judge {judge}: {_first(strangers)} is not among the attempts; materialize its judge_outputs again"
        )
    columns = ["attempt_id", "judge", "p_ac", "s_algo", "s_robust", "rationale", "request_hash"]
    return known[["attempt_id", *_FROM_ATTEMPT, "split"]].merge(
        table[columns], on="attempt_id", how="inner", validate="one_to_one"
    )[PREDICTIONS.column_names]


def _first(items: Iterable[str]) -> str:
    items = list(items)
    return ", ".join(items[:3]) + (f" and {len(items) - 3} more" if len(items) > 3 else "")
