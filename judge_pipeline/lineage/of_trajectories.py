"""What figures of how people get there rest on: trajectories, turns, tries (paper 1, IV-C3, IV-C4, VI-B)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judge_pipeline.cocreation.hazards import tries_in_model, tries_of
from judge_pipeline.cocreation.turn_orders import attempts_by_order
from judge_pipeline.lineage.basis import Basis, rows_of, without
from judge_pipeline.lineage.of_judges import names_in
from judge_pipeline.tables import ATTEMPTS, JUDGE_COVERAGE, PREDICTIONS, TRAJECTORIES
from judge_pipeline.tables.prompt_space import PROMPT_SPACE
from judge_pipeline.tables.struggle import STRUGGLE_STATISTICS, STRUGGLE_TURNS, TRAJECTORY_PATTERNS
from judge_pipeline.tables.time_to_success import TRAJECTORY_TIMES

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.lineage.sources import Sources

Row = Mapping[str, Any]

_TRAJECTORY = ["participant", "problem_id"]
_NOTHING_DECIDED = "nothing is decided in it, so it has no time"
_TURNS = "turns"
_DRAWN = "drawn_place"


def of_success(sources: Sources, row: Row) -> Basis:
    """A row of ``success_at_turn``: every trajectory."""
    del row

    def make() -> Basis:
        return Basis("trajectories", sources[TRAJECTORIES][_TRAJECTORY], rows_of([*_TRAJECTORY, "why"]))

    return sources.once("all trajectories", make)


def of_survival(sources: Sources, row: Row) -> Basis:
    """A row of ``survival``: the trajectories in which something is decided."""
    del row

    def make() -> Basis:
        table = sources[TRAJECTORIES]
        timed = table["time_turns"].notna()
        left = without(table.loc[~timed, _TRAJECTORY], _NOTHING_DECIDED)
        return Basis("trajectories", table.loc[timed, _TRAJECTORY], left)

    return sources.once("timed trajectories", make)


def of_success_curve(sources: Sources, row: Row) -> Basis:
    """A row of ``success_curves``: in turns every trajectory of the group, in minutes those whose time is known."""
    return _of_times(sources, row, all_in_turns=True)


def of_survival_curve(sources: Sources, row: Row) -> Basis:
    """A row of ``survival_curves`` or ``survival_groups``: the group's trajectories whose time is known."""
    return _of_times(sources, row, all_in_turns=False)


def _of_times(sources: Sources, row: Row, *, all_in_turns: bool) -> Basis:
    names = tuple(row[name] for name in ("order", "time_unit", "grouped_by", "level"))

    def make() -> Basis:
        table = sources[TRAJECTORY_TIMES]
        order, unit, grouped_by, level = names
        here = table[(table["order"] == order) & (table["time_unit"] == unit)]
        here = here if grouped_by == "all" else here[here[grouped_by] == level]
        used = here["time"].notna() | (all_in_turns and unit == _TURNS)
        left = without(here.loc[~used, _TRAJECTORY], here.loc[~used, "reason"].fillna("its time is not known").tolist())
        return Basis("trajectories", here.loc[used, _TRAJECTORY], left, reads_prompts="prompt" in unit)

    return sources.once(("times", names, all_in_turns), make)


def of_survival_test(sources: Sources, row: Row) -> Basis:
    """A row of ``survival_tests``: the trajectories of the groups that are compared whose time is known."""
    names = tuple(row[name] for name in ("order", "time_unit", "grouped_by", "first_level", "second_level"))
    too_many = not row["n"] and not row["n_left_out"]

    def make() -> Basis:
        order, unit, grouped_by, *levels = names
        table = sources[TRAJECTORY_TIMES]
        here = table[(table["order"] == order) & (table["time_unit"] == unit)]
        if grouped_by != "all":
            here = here[here[grouped_by].notna() if levels[0] is None else here[grouped_by].isin(levels)]
        here = here.iloc[:0] if too_many else here
        used = here["time"].notna()
        left = without(here.loc[~used, _TRAJECTORY], here.loc[~used, "reason"].fillna("its time is not known").tolist())
        return Basis("trajectories", here.loc[used, _TRAJECTORY], left, reads_prompts="prompt" in str(unit))

    return sources.once(("survival test", names, too_many), make)


def of_prompt_space(sources: Sources, row: Row) -> Basis:
    """A row of ``prompt_space_test``: the participants who have a place, and for nearness also an outcome."""
    drawing = row["about"] == _DRAWN

    def make() -> Basis:
        space = sources[PROMPT_SPACE]
        used = space["x"].notna() & (drawing | space["solved_rate"].notna())
        left = without(space.loc[~used, ["participant"]], space.loc[~used, "reason"].fillna("no outcome").tolist())
        return Basis("participants", space.loc[used, ["participant"]], left, reads_prompts=True)

    return sources.once(("prompt space", drawing), make)


def of_struggle(sources: Sources, row: Row) -> Basis:
    """A row of ``struggle_groups``: the group's attempts at the turn that the judge, or the whole panel, answered."""
    names = tuple(row[name] for name in ("order", "judge", "grouped_by", "level", "turn", "statistic"))
    judge, statistic = row["judge"], row["statistic"]

    def make() -> Basis:
        cells = _struggle_cells(sources)
        at = np.array(cells.places.get(names[:-1], []), np.int64)
        known = cells.known[statistic][at]
        used = rows_of(["attempt_id"], [[attempt] for attempt in cells.attempts[at[known]]])
        rest = rows_of(["attempt_id"], [[attempt] for attempt in cells.attempts[at[~known]]])
        judges = (judge,) if judge is not None else panel_of(sources)
        return Basis("attempts", used, without(rest, cells.reasons[at[~known]].tolist()), (), judges, True)

    return sources.once(("struggle", names), make)


@dataclass(frozen=True)
class _Cells:
    """Table ``struggle_turns`` by group.

    Attributes:
        attempts: attempt_id of each row.
        reasons: why a value is null.
        known: column -> whether it is known.
        places: order, judge, grouping, level and turn -> the rows.
    """

    attempts: NDArray[np.object_]
    reasons: NDArray[np.object_]
    known: Mapping[str, NDArray[np.bool_]]
    places: Mapping[tuple[Any, ...], list[int]]


def _struggle_cells(sources: Sources) -> _Cells:
    def make() -> _Cells:
        turns, trajectories = sources[STRUGGLE_TURNS], sources[TRAJECTORIES]
        solved = set(map(tuple, trajectories.loc[trajectories["solved"].astype(bool), _TRAJECTORY].to_numpy().tolist()))
        names = ("order", "judge", "turn", "participant", "problem_id")
        columns = zip(*(turns[name].tolist() for name in names), strict=True)
        found: dict[tuple[Any, ...], list[int]] = {}
        for place, (order, judge, turn, participant, problem) in enumerate(columns):
            outcome = "solved" if (participant, problem) in solved else "unsolved"
            levels = {"all": "all", "outcome": outcome, "problem_id": problem, "participant": participant}
            for grouped_by, level in levels.items():
                found.setdefault((order, judge, grouped_by, level, int(turn)), []).append(place)
        known = {name: turns[name].notna().to_numpy(bool) for name in STRUGGLE_STATISTICS}
        reasons = turns["reason"].fillna("unknown").to_numpy(object)
        return _Cells(turns["attempt_id"].to_numpy(object), reasons, known, found)

    return sources.once("struggle cells", make)


def panel_of(sources: Sources) -> tuple[str, ...]:
    """The judges of the panel that have predictions, in alphabetical order."""

    def make() -> tuple[str, ...]:
        coverage = sources[JUDGE_COVERAGE]
        members = set(coverage.loc[coverage["in_panel"].astype(bool), "judge"])
        return tuple(name for name in names_in(sources[PREDICTIONS], "judge") if name in members)

    return sources.once("panel", make)


def of_pattern(sources: Sources, row: Row) -> Basis:
    """A row of ``pattern_groups``: the group's trajectories of which the rule can say it."""
    names = tuple(row[name] for name in ("order", "pattern", "grouped_by", "level"))

    def make() -> Basis:
        order, pattern, grouped_by, level = names
        table = sources[TRAJECTORY_PATTERNS]
        table = table[table["order"] == order]
        if grouped_by == "outcome":
            table = table[table["solved"].astype(bool) == (level == "solved")]
        elif grouped_by != "all":
            table = table[table[grouped_by] == level]
        used = table[pattern].notna()
        why = table.loc[~used, f"{pattern}_reason"].fillna("the rule cannot say it").tolist()
        by_judges = pattern != "solved_after_rejection"
        judges = panel_of(sources) if by_judges else ()
        left = without(table.loc[~used, _TRAJECTORY], why)
        return Basis("trajectories", table.loc[used, _TRAJECTORY], left, (), judges, by_judges)

    return sources.once(("pattern", names), make)


def of_hazard(sources: Sources, row: Row) -> Basis:
    """A row of ``hazards``: the tries of its turn or problem that the model was fitted on."""
    order, term, level = row["order"], row["term"], row["level"]

    def make() -> Basis:
        tries, used = _tries(sources, order)
        here, kept = tries[tries[term] == level], used[used[term] == level]
        left = here[~here.index.isin(kept.index)]
        why = "all or none of the tries of its turn or problem succeeded, which has no finite coefficient"
        return Basis("tries", kept[["attempt_id"]], without(left[["attempt_id"]], why))

    return sources.once(("hazard", order, term, level), make)


def _tries(sources: Sources, order: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """All tries in an order of turns, and those of the model; with attempt_id."""

    def make() -> tuple[pd.DataFrame, pd.DataFrame]:
        attempts = attempts_by_order(sources[ATTEMPTS], sources[TRAJECTORIES])[order]
        tries = tries_of(attempts)
        tries = tries.assign(attempt_id=attempts.loc[tries.index, "attempt_id"])
        return tries, tries_in_model(tries)

    return sources.once(("tries", order), make)


RULES = {
    "success_at_turn": of_success,
    "survival": of_survival,
    "success_curves": of_success_curve,
    "survival_curves": of_survival_curve,
    "survival_groups": of_survival_curve,
    "survival_tests": of_survival_test,
    "prompt_space_test": of_prompt_space,
    "struggle_groups": of_struggle,
    "pattern_groups": of_pattern,
    "hazards": of_hazard,
}
"""Table of figures -> what a row of it rests on."""
