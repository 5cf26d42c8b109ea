"""What figures of further questions rest on: canaries, the anchor set, people who judged again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judge_pipeline.lineage.basis import NO_LABEL, Basis, Further, rows_of, without
from judge_pipeline.lineage.of_judges import CHOSEN_ON_VAL, answered
from judge_pipeline.settings.injections import CONTROL
from judge_pipeline.tables import ANCHOR_RUNS, ATTEMPTS, JUDGE_CANARIES, JUDGE_METRICS, PREDICTIONS, RERATINGS
from judge_pipeline.tables.canaries import ALL_INJECTIONS

if TYPE_CHECKING:
    from judge_pipeline.lineage.sources import Sources

Row = Mapping[str, Any]

_DECIDED = "decision"


def of_canary(sources: Sources, row: Row) -> Basis:
    """A row of ``judge_canary_effects``: the attempts that were answered as they are and with the text planted."""
    judge, injection, place, metric = (row[name] for name in ("judge", "injection", "place", "metric"))

    def make() -> Basis:
        table = sources.of_judge(JUDGE_CANARIES, judge)
        ids = list(dict.fromkeys(table["attempt_id"]))
        moved = {key: _moved(rows, ids) for key, rows in table.groupby(["injection", "place"], sort=False)}
        if metric == "mean_moved_less_control":
            known = _less_control(moved, injection, place, len(ids))
        else:
            known = moved.get((injection, place), np.zeros(len(ids), bool))
            if metric == "share_flipped" and _threshold(sources, judge) is None:
                known = np.zeros(len(ids), bool)
        rows = rows_of(["attempt_id"], [[attempt] for attempt in ids])
        why = "without both answers, with the text and without it or the control of its place"
        also = _of_threshold(sources, judge) if metric == "share_flipped" else ()
        return Basis("attempts", rows[known], without(rows[~known], why), also, (judge,), True)

    return sources.once(("canary", judge, injection, place, metric), make)


def _moved(rows: pd.DataFrame, ids: list[str]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    known: np.ndarray[Any, np.dtype[np.bool_]] = (
        rows.set_index("attempt_id")["moved"].reindex(ids).notna().to_numpy(bool)
    )
    return known


def _less_control(moved: Mapping[Any, Any], injection: str, place: str, n: int) -> Any:
    """Where both the text's and its control's movement are known; over all texts, where that is so for any of them."""
    wanted = [
        key for key in moved if key[0] != CONTROL and (injection == ALL_INJECTIONS or key == (injection, place))
    ]  # fmt: skip
    nothing = np.zeros(n, bool)
    found = nothing
    for key in wanted:
        found = found | (moved[key] & moved.get((CONTROL, key[1]), nothing))
    return found


def _threshold(sources: Sources, judge: str) -> float | None:
    metrics = sources[JUDGE_METRICS]
    own = metrics[(metrics["judge"] == judge) & (metrics["metric"] == "threshold")]["value"].dropna()
    return float(own.iloc[0]) if len(own) else None


def _of_threshold(sources: Sources, judge: str) -> tuple[Further, ...]:
    if judge not in sources.judged.judges:
        return ()
    return (Further(CHOSEN_ON_VAL, answered(sources, (judge,), ("val",), None).used),)


def of_anchor(sources: Sources, row: Row) -> Basis:
    """A row of ``anchor_figures``: the anchor set's attempts that the period, or both periods, answered."""
    judge, period, quantity = row["judge"], row["period"], row["quantity"]

    def make() -> Basis:
        runs = sources.of_judge(ANCHOR_RUNS, judge)
        attempts = sources[ATTEMPTS]
        known = runs.merge(attempts[["attempt_id", "y"]], on="attempt_id", how="inner")
        mine = known[known["period"] == period]
        periods = [mine]
        if quantity == "change":
            periods.append(known[known["period"] == _first_alike(known, period)])
        # Both periods together make the anchor set of a change.
        ids = sorted({attempt for rows in periods for attempt in rows["attempt_id"]})
        labels = attempts.set_index("attempt_id")["y"].reindex(ids).notna().to_numpy(bool)
        used = labels.copy()
        for rows in periods:
            used &= rows.set_index("attempt_id")["p_ac"].reindex(ids).notna().to_numpy(bool)
        listed = rows_of(["attempt_id"], [[attempt] for attempt in ids])
        why = ["not answered" if label else NO_LABEL for label in labels[~used]]
        return Basis("attempts", listed[used], without(listed[~used], why), (), (judge,), True)

    return sources.once(("anchor", judge, period, quantity), make)


def _first_alike(known: pd.DataFrame, period: str) -> str:
    from judge_pipeline.cocreation.anchor_figures import same_requests

    mine = known[known["period"] == period]
    return next(
        str(each)
        for each in sorted(set(known["period"]))
        if each == period or same_requests(known[known["period"] == each], mine)
    )


def of_rerating(sources: Sources, row: Row) -> Basis:
    """A row of ``rerating_agreement``: the attempts on the person's sheets that both rated."""
    rater, against, other, rated = (row[name] for name in ("rater", "against", "other", "rated"))

    def make() -> Basis:
        ratings = _Ratings(sources)
        mine = ratings.of_person(rater, "s" if rated.startswith("s_") else "said", rated)
        if against == "verdict":
            theirs = sources[ATTEMPTS].set_index("attempt_id")["y"].notna()
        elif against == "person":
            theirs = ratings.of_person(other, "s" if rated.startswith("s_") else "said", rated)
        else:
            theirs = ratings.of_judge(other, rated)
        sheet = ratings.sheet(rater)
        both = [bool(mine.get(attempt, False) and theirs.get(attempt, False)) for attempt in sheet]
        rows = rows_of(["attempt_id"], [[attempt] for attempt in sheet])
        left = without(rows[[not used for used in both]], "not rated by both")
        by_judge = against == "judge"
        also = _of_threshold(sources, other) if by_judge and rated == _DECIDED else ()
        return Basis("attempts", rows[both], left, also, (other,) if by_judge else (), by_judge)

    return sources.once(("rerating", rater, against, other, rated), make)


class _Ratings:
    """What people said, the last sheet first, and which answers of judges stand beside it."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        rated = sources[RERATINGS].sort_values("sheet", kind="stable")
        rated = rated.drop_duplicates(["rater", "attempt_id"], keep="last")
        self._rated = rated[rated["attempt_id"].isin(sources[ATTEMPTS]["attempt_id"])]

    def sheet(self, rater: str) -> list[str]:
        """The attempts on a person's sheets."""
        return sorted(self._rated.loc[self._rated["rater"] == rater, "attempt_id"])

    def of_person(self, rater: str, kind: str, score: str) -> dict[str, bool]:
        """Attempt -> whether the person said yes or no of it, or gave the score."""
        mine = self._rated[self._rated["rater"] == rater]
        known = mine[score].notna() if kind == "s" else mine["accepted"].isin(["yes", "no"])
        return dict(zip(mine["attempt_id"], known.astype(bool), strict=True))

    def of_judge(self, judge: str, rated: str) -> dict[str, bool]:
        """Attempt -> whether the judge decided on it, or gave the score."""
        predictions = self._sources[PREDICTIONS]
        own = predictions[predictions["judge"] == judge]
        if rated == _DECIDED and _threshold(self._sources, judge) is None:
            return {}
        column = rated if rated.startswith("s_") else "p_ac"
        return dict(zip(own["attempt_id"], own[column].notna().astype(bool), strict=True))


RULES = {"judge_canary_effects": of_canary, "anchor_figures": of_anchor, "rerating_agreement": of_rerating}
"""Table of figures -> what a row of it rests on."""
