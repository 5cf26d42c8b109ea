"""Answers to RQ1 and EQ1 of paper 1: how people progress, and whether attempts carry an analysis of trajectories."""

from __future__ import annotations

import pandas as pd

from judge_pipeline.figures.estimates import count, number, p_words, read_estimate
from judge_pipeline.report.cautions import Statement
from judge_pipeline.report.compared import ALPHA
from judge_pipeline.report.inputs import CocreationReportInput
from judge_pipeline.report.question_words import (
    AS_RECORDED,
    REVERSED,
    estimate_of,
    figure_words,
    has_reversed,
    listed,
    over_clusters,
    row_of,
    share_words,
)
from judge_pipeline.statistics.intervals import has_95_interval
from judge_pipeline.tables.dynamics_words import GROUPED_BY, PATTERNS


def progress(given: CocreationReportInput) -> list[Statement]:
    """RQ1: when success comes, how long it takes, who differs, how confidence goes, who recovers."""
    found = (
        _success(given), _time(given.survival_groups), _groups(given.survival_tests),
        _confidence(given.struggle_groups), _patterns(given.pattern_groups),
    )  # fmt: skip
    return [statement for statement in found if statement is not None]


def validity(given: CocreationReportInput) -> list[Statement]:
    """EQ1: what is observed of each trajectory, in which order, and beyond the final attempt."""
    table = given.trajectories
    if table.empty:
        return [Statement("There are no trajectories", "No attempt was read, so nothing can be said.", "people")]
    found = (_observed(table), _order(table, given), _beyond_the_last(table), _minutes(given.survival_groups))
    return [statement for statement in found if statement is not None]


def _success(given: CocreationReportInput) -> Statement:
    rows = given.success_at_turn[given.success_at_turn["value"].notna()].sort_values("turn").to_dict("records")
    if not rows:
        return Statement("When success comes is undefined", "No trajectory has a decided attempt.", "people")
    first, last = rows[0], rows[-1]
    solved, at_once = count(last["n_solved"]), count(first["n_solved"])
    text = f"{share_words(read_estimate(first))} of trajectories were solved by turn {count(first['turn'])}"
    if len(rows) > 1:
        text += f", {share_words(read_estimate(last))} by turn {count(last['turn'])}, the last"
    text += f". Of the {solved:,} that were solved, {at_once:,} were solved by turn {count(first['turn'])}."
    turned = row_of(given.success_curves, order=REVERSED, time_unit="turns", grouped_by="all")
    if turned is not None:
        text += f" With turns reversed, {share_words(over_clusters(turned))} by turn {count(turned['time'])}."
    if not solved:
        return Statement("Nobody succeeded", text, "figure-success")
    lead = (
        "Most successes come at the first turn" if 2 * at_once > solved else "Most successes come after the first turn"
    )
    if 2 * at_once == solved:
        lead = "Half of the successes come at the first turn"
    doubt = ", as recorded" if turned is not None else ""
    return Statement(f"{lead}{doubt}", text, "figure-success")


def _time(table: pd.DataFrame | None) -> Statement | None:
    if table is None:
        return None
    parts: list[str] = []
    for order in (AS_RECORDED, REVERSED):
        row = row_of(table, order=order, time_unit="turns", grouped_by="all", statistic="restricted_mean")
        if row is not None:
            turned = "with turns reversed " if order == REVERSED else ""
            upto = f", counted up to turn {count(row['horizon'])}" if not parts else ""
            parts.append(f"{turned}{figure_words(over_clusters(row))}{upto}")
    if not parts:
        return Statement(
            "How long success takes is undefined", "No trajectory has a known time.", "table-time-groups-table"
        )
    return Statement(
        "How long success takes", f"The mean number of turns until solved is {'; '.join(parts)}.", "figure-time-groups"
    )


def _groups(table: pd.DataFrame | None) -> Statement | None:
    if table is None or table.empty:
        return None
    sentences: list[str] = []
    tells: list[bool] = []
    for order in (AS_RECORDED, REVERSED):
        here = (table["order"] == order) & (table["time_unit"] == "turns") & table["first_level"].isna()
        told: list[str] = []
        not_told: list[str] = []
        unknown: list[str] = []
        for row in table[here].to_dict("records"):
            p, name = number(row["p_clustered_holm"]), GROUPED_BY[row["grouped_by"]].lower()
            if p is None:
                unknown.append(f"{name} ({row['reason'] or 'p undefined'})")
            else:
                (told if p < ALPHA else not_told).append(f"{name} ({p_words(p)}, n = {count(row['n']):,})")
        if told or not_told:
            tells.append(bool(told))
        turned = "With turns reversed: " if order == REVERSED else ""
        parts = [f"told apart by {listed(told)}"] if told else []
        parts += [f"not told apart by {listed(not_told)}"] if not_told else []
        parts += [f"not tested by {listed(unknown)}"] if unknown else []
        sentences += [f"{turned}{'; '.join(parts)}."] if parts else []
    if not sentences:
        return None
    if not tells:
        lead = "Whether groups differ in their time to success is not tested"
    elif any(tells):
        lead = "Groups differ in their time to success" + ("" if all(tells) else ", in one order of turns only")
    else:
        lead = "No groups are shown to differ in their time to success"
    text = f"By log-rank tests over clusters, corrected (Holm): {' '.join(sentences)}"
    return Statement(lead, text, "table-time-tests")


def _confidence(table: pd.DataFrame | None) -> Statement | None:
    if table is None:
        return None
    panel = table[table["judge"].isna() & (table["turn"] == 1) & (table["statistic"] == "confidence")]
    own = {
        level: estimate_of(panel, order=AS_RECORDED, grouped_by="outcome", level=level)
        for level in ("solved", "unsolved")
    }
    solved, unsolved = own["solved"], own["unsolved"]
    if solved is None or unsolved is None or solved.value is None or unsolved.value is None:
        why = "it needs solved and unsolved trajectories that the whole panel judged at turn 1"
        return Statement("Confidence by outcome is undefined", f"{why.capitalize()}.", "figure-struggle-groups")
    text = (
        f"At turn 1 the panel's mean confidence is {figure_words(solved)} in trajectories that are solved, "
        f"{figure_words(unsolved)} in those that are not"
    )
    if not (solved.ci95 and unsolved.ci95 and has_95_interval(solved) and has_95_interval(unsolved)):
        return Statement(
            "Confidence by outcome",
            f"{text}; without both intervals whether they differ is open.",
            "figure-struggle-groups",
        )
    apart = solved.ci95[0] > unsolved.ci95[1] or solved.ci95[1] < unsolved.ci95[0]
    says = "the intervals do not overlap" if apart else "the intervals overlap, so whether they differ is open"
    return Statement("Confidence by outcome", f"{text}; {says}.", "figure-struggle-groups")


def _patterns(table: pd.DataFrame | None) -> Statement | None:
    if table is None:
        return None
    sentences = []
    for order in (AS_RECORDED, REVERSED):
        parts = []
        for pattern, words in PATTERNS.items():
            row = row_of(table, order=order, grouped_by="all", pattern=pattern)
            own = row_of(table, order=AS_RECORDED, grouped_by="all", pattern=pattern)
            if row is not None and (order == AS_RECORDED or read_estimate(row) != read_estimate(own or row)):
                parts.append(f"{words[:1].lower()}{words[1:]}: {share_words(over_clusters(row))}")
        if parts:
            sentences.append(f"{'With turns reversed: ' if order == REVERSED else ''}{'; '.join(parts)}.")
    if not sentences:
        return None
    text = f"Of the trajectories of which the rules can say it: {' '.join(sentences)}"
    return Statement("Recovery and stagnation", text, "figure-patterns")


def _observed(table: pd.DataFrame) -> Statement:
    timed = table["time_turns"].notna()
    solved = int(table["event"].sum())
    return Statement(
        "Every trajectory has a time" if timed.all() else "Some trajectories have no time",
        f"{int(timed.sum()):,} of {len(table):,} trajectories have a time to their first accepted attempt or to their "
        f"last decided one: {solved:,} were solved, {int(timed.sum()) - solved:,} are censored"
        + (f"; {int((~timed).sum()):,} have no decided attempt." if not timed.all() else "."),
        "figure-survival",
    )


def _order(table: pd.DataFrame, given: CocreationReportInput) -> Statement:
    before = int(table["n_rejected_before_first_ac"].sum())
    after = int(table["n_rejected_after_first_ac"].sum())
    text = (
        f"Of {before + after:,} rejected attempts in solved trajectories, {before:,} come before the first accepted "
        f"one and {after:,} after it"
    )
    if after > before:
        both = given.survival_groups is not None and has_reversed(given.survival_groups)
        beside = "; figures are also given with turns reversed" if both else ""
        return Statement("The order of turns is in doubt", f"{text}{beside}.", "people")
    return Statement("Nothing speaks against the order of turns", f"{text}.", "people")


def _beyond_the_last(table: pd.DataFrame) -> Statement:
    several, solved = int((table["n_turns"] > 1).sum()), table[table["solved"].astype(bool)]
    went_on = int((solved["n_rejected_after_first_ac"] > 0).sum())
    return Statement(
        "What the final attempt does not show",
        f"{several:,} of {len(table):,} trajectories have more than one attempt. In {went_on:,} of {len(solved):,} "
        "solved ones, rejected attempts follow the first accepted one: the final attempt alone need not show that it "
        "was solved, and never when.",
        "table-trajectory-counts",
    )


def _minutes(table: pd.DataFrame | None) -> Statement | None:
    row = row_of(
        table, order=AS_RECORDED, time_unit="minutes_since_first_attempt", grouped_by="all", statistic="restricted_mean"
    )
    if row is None:
        return None
    known = count(row["n"])
    text = f"Time in minutes is known of {known:,} trajectories, unknown of {count(row['n_left_out']):,}"
    if known:
        text += (
            f"; within {count(row['horizon']):,} minutes of the first attempt, the mean until solved is "
            f"{figure_words(over_clusters(row))} minutes"
        )
    lead = "Minutes are known of all" if not count(row["n_left_out"]) else "Minutes are known of some"
    return Statement(lead if known else "Minutes are unknown", f"{text}.", "table-time-groups-table")
