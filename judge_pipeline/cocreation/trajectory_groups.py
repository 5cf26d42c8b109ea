"""Trajectories by group: the levels of each grouping of the table ``trajectory_times``, with their clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.trajectory_times import TURNS
from judge_pipeline.ingest.turns import natural_key
from judge_pipeline.statistics.score_counts import FloatArray, IntArray
from judge_pipeline.tables.time_to_success import CLUSTERS, GROUPINGS

MAX_LEVELS = 20
"""Most groups of a grouping, unless a caller says otherwise."""

_PARTICIPANT, _TRAJECTORY = CLUSTERS


@dataclass(frozen=True)
class Level:
    """The trajectories of one group.

    Attributes:
        name: the group's name.
        time: whole times, shape (G,); NaN where unknown.
        event: whether success was observed, shape (G,).
        cluster: index of each one's cluster among those of the grouping, shape (G,).
        why_unknown: the reason that is given most often for unknown times; None where all are known.
    """

    name: str
    time: FloatArray
    event: np.ndarray
    cluster: IntArray
    why_unknown: str | None

    @property
    def known(self) -> np.ndarray:
        """Which times are known, shape (G,)."""
        return ~np.isnan(self.time)

    @property
    def timed(self) -> tuple[IntArray, np.ndarray, IntArray]:
        """Time, event and cluster of those whose time is known."""
        known = self.known
        return self.time[known].astype(np.int64), self.event[known], self.cluster[known]


@dataclass(frozen=True)
class Grouping:
    """One way to group the trajectories, in one order and unit of time.

    Attributes:
        order: order of turns.
        time_unit: unit of time.
        grouped_by: what they are grouped by.
        levels: the groups in natural order; empty where there are too many.
        n_levels: how many groups there are.
        clustered_by: what clusters are: participants, but trajectories where groups are single participants.
        n_clusters: how many clusters the grouping has.
    """

    order: str
    time_unit: str
    grouped_by: str
    levels: tuple[Level, ...]
    n_levels: int
    clustered_by: str
    n_clusters: int

    @property
    def names(self) -> dict[str, str]:
        """The columns that name it."""
        return {"order": self.order, "time_unit": self.time_unit, "grouped_by": self.grouped_by}

    @property
    def counts_undecided(self) -> bool:
        """Whether trajectories without a time count as not solved: in turns, where time fails for nothing else."""
        return self.time_unit == TURNS


def groupings(times: pd.DataFrame, max_levels: int) -> Iterator[Grouping]:
    """Every grouping of the table ``trajectory_times``, order by order and unit by unit."""
    for (order, unit), table in times.groupby(["order", "time_unit"], sort=False):
        for grouped_by in GROUPINGS:
            if grouped_by == "participant_group" and table[grouped_by].isna().all():
                continue
            by_trajectory = grouped_by == "participant"
            cluster = np.arange(len(table)) if by_trajectory else pd.factorize(table["participant"])[0]
            names = pd.Series("all", index=table.index) if grouped_by == "all" else table[grouped_by]
            codes, found = pd.factorize(names)
            levels = _levels(table, codes, list(found), cluster) if len(found) <= max_levels else ()
            yield Grouping(
                str(order), str(unit), grouped_by, levels, len(found),
                _TRAJECTORY if by_trajectory else _PARTICIPANT, int(cluster.max()) + 1,
            )  # fmt: skip


def _levels(table: pd.DataFrame, codes: np.ndarray, names: list[str], cluster: np.ndarray) -> tuple[Level, ...]:
    time = table["time"].to_numpy(np.float64, na_value=np.nan)
    event, reason = table["event"].to_numpy(bool), table["reason"].to_numpy(object)
    levels = []
    for name in sorted(names, key=natural_key):
        here = np.flatnonzero(codes == names.index(name))
        said = Counter(text for text in reason[here] if text is not None).most_common(1)
        levels.append(Level(name, time[here], event[here], cluster[here], said[0][0] if said else None))
    return tuple(levels)
