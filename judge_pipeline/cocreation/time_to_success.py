"""Times to success by group: Success@Turn, Kaplan-Meier, medians, restricted means, log-rank tests.

Trajectories of one participant resemble each other, and so do those of one problem. Wilson's intervals, Greenwood's
band and the log-rank p take them as independent; intervals and p-values beside them take only participants so.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.trajectory_groups import MAX_LEVELS, Grouping, Level, groupings
from judge_pipeline.statistics.intervals import holm
from judge_pipeline.statistics.log_rank import log_rank
from judge_pipeline.statistics.score_counts import IntArray
from judge_pipeline.statistics.survival import KaplanMeier, kaplan_meier
from judge_pipeline.tables.time_to_success import SURVIVAL_CURVES, SURVIVAL_TESTS

CURVE_POINTS = 200
"""Most rows of one curve; longer ones keep times at equal steps of how many trajectories have ended."""

_NO_BAND = "the log(-log) band does not exist where the share is 0 or 1"
_P = ("p_value", "p_clustered")
_HOLM = {"p_value": "p_holm", "p_clustered": "p_clustered_holm"}


def survival_curves(times: pd.DataFrame, *, max_levels: int = MAX_LEVELS) -> pd.DataFrame:
    """The table ``survival_curves``: Kaplan-Meier in every group, with numbers at risk.

    A curve has a row for each whole time up to the last observed one, or 200 of them. Groups in which no time is known
    have no rows here; ``survival_groups`` says why.

    Args:
        times: table TRAJECTORY_TIMES.
        max_levels: groupings with more groups are left out.
    """
    parts = []
    for grouping in groupings(times, max_levels):
        for level in grouping.levels:
            if level.known.any():
                parts.append(_curve_rows(level).assign(**grouping.names, level=level.name))
    return SURVIVAL_CURVES.conform(pd.concat(parts, ignore_index=True)) if parts else SURVIVAL_CURVES.empty()


def shown_times(time: IntArray, first: int) -> IntArray:
    """The times at which a curve is given: each whole one from ``first`` on, or ``CURVE_POINTS`` of them."""
    last = int(time.max())
    if last - first < CURVE_POINTS:
        return np.arange(first, last + 1)
    places = np.linspace(0, len(time) - 1, CURVE_POINTS - 1).round().astype(np.int64)
    return np.unique(np.concatenate([[first], np.sort(time)[places]]))


def _curve_rows(level: Level) -> pd.DataFrame:
    time, event, _ = level.timed
    curve = kaplan_meier(time, event, every_turn=False)
    at = shown_times(time, 0)
    place = np.searchsorted(curve.turn, at, side="right") - 1
    n_events, n_censored = (
        np.diff(np.cumsum(counts)[place], prepend=0) for counts in (curve.n_events, curve.n_censored)
    )
    low = np.where((at > 0) & (curve.value[place] == 1), np.nan, curve.ci95_low[place])
    return pd.DataFrame(
        {
            "time": at,
            "n_at_risk": len(time) - np.cumsum(n_events + n_censored) + n_events + n_censored,
            "n_events": n_events,
            "n_censored": n_censored,
            "value": curve.value[place],
            "n": len(time),
            "n_left_out": len(level.time) - len(time),
            "ci95_low": low,
            "ci95_high": np.where(np.isnan(low), np.nan, curve.ci95_high[place]),
            "reason": [_NO_BAND if missing else None for missing in np.isnan(low)],
        }
    )


def observed_until(curve: KaplanMeier, horizon: int) -> int:
    """The horizon, or the last observed time where that is earlier and some are still unsolved then."""
    return horizon if curve.value[-1] == 0 else min(horizon, int(curve.turn[-1]))


def survival_tests(times: pd.DataFrame, *, max_levels: int = MAX_LEVELS) -> pd.DataFrame:
    """The table ``survival_tests``: log-rank between all groups of a grouping, and between each two of them.

    ``p_holm`` corrects pairs for all pairs of their grouping, and comparisons of all groups for all groupings in the
    same order and unit. A grouping with one group is not tested; one with too many has a row that says so.

    Args:
        times: table TRAJECTORY_TIMES.
        max_levels: groupings with more groups are left out.
    """
    rows: list[dict[str, Any]] = []
    found = (grouping for grouping in groupings(times, max_levels) if grouping.n_levels > 1)
    for _, alike in itertools.groupby(found, key=lambda grouping: (grouping.order, grouping.time_unit)):
        over_all = []
        for grouping in alike:
            over_all.append(_test(grouping, grouping.levels, None) if grouping.levels else _too_many(grouping))
            pairs = [_test(grouping, pair, pair) for pair in itertools.combinations(grouping.levels, 2)]
            _correct(pairs)
            rows += pairs
        _correct(over_all)
        rows += over_all
    return SURVIVAL_TESTS.conform(_in_order(rows))


def _in_order(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each grouping's comparison of all groups before its pairs."""
    names = ("order", "time_unit", "grouped_by")
    places = {key: i for i, key in enumerate(dict.fromkeys(tuple(row[name] for name in names) for row in rows))}
    yield from sorted(rows, key=lambda row: (places[tuple(row[n] for n in names)], row["first_level"] is not None))


def _test(grouping: Grouping, levels: Sequence[Level], pair: tuple[Level, Level] | None) -> dict[str, Any]:
    """One test; of all groups it leaves out those in which no time is known, and says so."""
    timed = [level for level in levels if level.known.any()]
    without = ", ".join(level.name for level in levels if not level.known.any())
    parts = [level.timed for level in timed]
    sizes = [len(time) for time, _, _ in parts]
    offered = sum(len(level.time) for level in levels)
    row = _names(grouping, pair) | {"n": sum(sizes), "n_left_out": offered - sum(sizes)}
    if len(timed) < 2:
        row |= {"degrees": len(levels) - 1, "n_clusters": len(np.unique([c for _, _, part in parts for c in part]))}
        return row | _undefined(f"no time is known in: {without}")
    time, event, cluster = (np.concatenate([part[i] for part in parts]) for i in range(3))
    test = log_rank(time, event, np.repeat(np.arange(len(timed)), sizes), cluster)
    notes = [
        without and f"left out, since no time is known: {without}",
        test.reason or (test.clustered_reason and f"p_clustered: {test.clustered_reason}"),
    ]
    return row | {
        "degrees": test.degrees, "n_clusters": len(np.unique(cluster)), "chi2": test.chi2, "p_value": test.p_value,
        "p_clustered": test.p_clustered, "reason": "; ".join(note for note in notes if note) or None,
    }  # fmt: skip


def _too_many(grouping: Grouping) -> dict[str, Any]:
    counts = {"degrees": grouping.n_levels - 1, "n": 0, "n_left_out": 0, "n_clusters": grouping.n_clusters}
    reason = f"{grouping.n_levels} groups are more than dynamics.max_levels"
    return _names(grouping, None) | counts | _undefined(reason)


def _names(grouping: Grouping, pair: tuple[Level, Level] | None) -> dict[str, Any]:
    first, second = (pair[0].name, pair[1].name) if pair else (None, None)
    return {
        **grouping.names, "first_level": first, "second_level": second, "clustered_by": grouping.clustered_by,
        "p_holm": None, "p_clustered_holm": None,
    }  # fmt: skip


def _undefined(reason: str) -> dict[str, Any]:
    return {"chi2": None, "p_value": None, "p_clustered": None, "reason": reason}


def _correct(rows: list[dict[str, Any]]) -> None:
    """Holm's correction of each kind of p over the rows that have one."""
    for name in _P:
        having = [row for row in rows if row[name] is not None]
        for row, corrected in zip(having, holm([row[name] for row in having]), strict=True):
            row[_HOLM[name]] = corrected
