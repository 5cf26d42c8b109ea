"""Tables of the report on how people get there and how they revise (paper 1, VI-B, beyond Figures 8 to 10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from judge_pipeline.figures.estimates import count, format_interval, format_number, number, read_estimate, text
from judge_pipeline.report.inputs import CocreationReportInput
from judge_pipeline.report.prompt_space_views import prompt_space_view
from judge_pipeline.report.view import ESTIMATE_HEADINGS, Cell, Heading, View
from judge_pipeline.tables.dynamics_words import (
    CHOSEN_REVISIONS,
    EFFECTS,
    GAINS,
    GROUPED_BY,
    ORDERS,
    PATTERNS,
    PROGRESS,
    REVISION_MEASURES,
    TIME_STATISTICS,
    TIME_UNITS,
)

_TURNS = Heading("Turns", "Order of turns; reversed only where most rejections follow the first accepted attempt")

_OVER_CLUSTERS = Heading("95% interval over clusters", "Taking only clusters as independent", numeric=True)


def dynamics_views(given: CocreationReportInput) -> list[View]:
    """The tables in their order; those that a run of an earlier version has not made are left out."""
    made = (
        (given.trajectory_patterns, patterns),
        (given.pattern_groups, pattern_groups),
        (given.success_curves, success_curves),
        (given.survival_curves, survival_curves),
        (given.survival_groups, time_groups),
        (given.survival_tests, time_tests),
        (given.hazards, hazards),
        (given.churn_effects, effects),
        (given.revision_gains, gains),
        (given.churn_summary, summary),
        (given.prompt_space_test, prompt_space_view),
    )
    found = [build(table) for table, build in made if table is not None]
    for view in found:
        view.foldable = True
    return found


def patterns(table: pd.DataFrame) -> View:
    """How many trajectories recover and stagnate, of those where the rule can say."""
    view = View(
        "patterns",
        "Recovery and stagnation, by the rules of the contest's settings (dynamics)",
        (
            Heading("Rule"), _TURNS, Heading("Trajectories", numeric=True),
            Heading("Of", "Trajectories of which the rule can say so", numeric=True),
            Heading("Cannot be said", numeric=True), Heading("Most often because"),
        ),
        empty="No trajectory has an attempt.",
        table="trajectory_patterns",
    )  # fmt: skip
    for order, rows in table.groupby("order", sort=True):
        for column, words in PATTERNS.items():
            known, reasons = rows[column].dropna().astype(bool), rows[f"{column}_reason"].dropna()
            counts = (int(known.sum()), len(known), len(rows) - len(known))
            cells = [Cell(f"{value:,}", numeric=True) for value in counts]
            why = str(reasons.mode().iloc[0]) if len(reasons) else "–"
            view.rows.append([Cell(words), Cell(ORDERS[str(order)]), *cells, Cell(why, undefined=not len(reasons))])
    return view


def pattern_groups(table: pd.DataFrame) -> View:
    """The share that shows each pattern, in every group."""
    view = View(
        "pattern-groups",
        "Recovery and stagnation by group: share of the trajectories of which the rule can say it",
        (
            Heading("Pattern"), Heading("Group"), _TURNS, Heading("Show it", numeric=True),
            Heading("Share", numeric=True), *ESTIMATE_HEADINGS, _OVER_CLUSTERS,
        ),
        empty="No trajectory has an attempt.",
        table="pattern_groups",
    )  # fmt: skip
    for row in _records(table):
        view.rows.append(
            [
                Cell(PATTERNS[row["pattern"]]), _group(row), Cell(ORDERS[row["order"]]),
                Cell(f"{count(row['n_shown']):,}", numeric=True), *view.in_columns(read_estimate(row)),
                _over_clusters(row),
            ]
        )  # fmt: skip
    view.remarks.append(
        "Wilson's interval takes trajectories as independent; go by the one over clusters where there is one."
    )
    return view


def success_curves(table: pd.DataFrame) -> View:
    """S over all trajectories, in every unit and order; times at which nothing changed are left out."""
    caption = "Success@Turn in every unit and order, all trajectories, at the times where it changes and the last"
    view = _curves("success-curves-table", caption, table, {"n_solved": "Solved"})
    view.table = "success_curves"
    return view


def survival_curves(table: pd.DataFrame) -> View:
    """Kaplan-Meier over all trajectories, in every unit and order; times at which nothing happened are left out."""
    counts = {"n_at_risk": "At risk", "n_events": "Solved", "n_censored": "Last observed"}
    caption = "Kaplan-Meier in every unit and order, all trajectories, at the times where something happens"
    view = _curves("survival-curves-table", caption, table, counts)
    view.table = "survival_curves"
    return view


def _curves(name: str, caption: str, table: pd.DataFrame, counts: Mapping[str, str]) -> View:
    """Curves over all trajectories, those in turns first, so that both orders are among the rows shown."""
    counted = (Heading(words, numeric=True) for words in counts.values())
    headings = (
        Heading("Time in"), _TURNS, Heading("Time", numeric=True), *counted, Heading("Share", numeric=True),
        *ESTIMATE_HEADINGS,
    )  # fmt: skip
    view = View(name, caption, headings, empty="No trajectory has a known time.")
    whole = table[table["grouped_by"] == "all"]
    whole = whole.assign(_later=whole["time_unit"] != "turns").sort_values("_later", kind="stable")
    for row in _records(whole[_something_happens(whole)]):
        numbers = (Cell(f"{count(row[column]):,}", numeric=True) for column in ("time", *counts))
        estimate = view.in_columns(read_estimate(row))
        view.rows.append([Cell(TIME_UNITS[row["time_unit"]]), Cell(ORDERS[row["order"]]), *numbers, *estimate])
    return view


def _something_happens(whole: pd.DataFrame) -> pd.Series:
    """Which rows of the curves say more than the one before: the first and last of each, and those of a change."""
    curve = [whole["time_unit"], whole["order"]]
    ends = whole.groupby(["time_unit", "order"], sort=False)["time"].transform
    edge = (whole["time"] == ends("min")) | (whole["time"] == ends("max"))
    if "n_solved" in whole:
        return edge | whole["n_solved"].groupby(curve, sort=False).diff().fillna(0).ne(0)
    return edge | whole["n_events"].gt(0) | whole["n_censored"].gt(0)


def time_groups(table: pd.DataFrame) -> View:
    """Median, restricted mean and share solved by the horizon, of every group and unit of time."""
    view = View(
        "time-groups-table",
        "Time to success by group",
        (
            Heading("Group"), Heading("Time in"), _TURNS, Heading("Figure"), Heading("Solved", numeric=True),
            Heading("Value", numeric=True), *ESTIMATE_HEADINGS, _OVER_CLUSTERS,
        ),
        empty="No trajectory has a known time.",
        table="survival_groups",
    )  # fmt: skip
    for row in _records(table):
        figure, horizon = TIME_STATISTICS[row["statistic"]], number(row["horizon"])
        view.rows.append(
            [
                _group(row), Cell(TIME_UNITS[row["time_unit"]]), Cell(ORDERS[row["order"]]),
                Cell(figure, below=() if horizon is None else (f"up to {int(horizon):,}",)),
                Cell(f"{count(row['n_events']):,}", numeric=True), *view.in_columns(read_estimate(row)),
                _over_clusters(row),
            ]
        )  # fmt: skip
    view.remarks.append("n counts trajectories. Intervals over clusters are the ones to go by: one person's are alike.")
    return view


def time_tests(table: pd.DataFrame) -> View:
    """Log-rank tests of whole groupings, and those of pairs that are told apart."""
    view = View(
        "time-tests",
        "Do groups take equally long? Log-rank tests of all groups of a kind",
        (
            Heading("Groups"), Heading("Time in"), _TURNS, Heading("χ²", numeric=True), Heading("n", numeric=True),
            Heading("p, over clusters (Holm)", "Taking only clusters as independent", numeric=True),
            Heading("p, over trajectories (Holm)", "Taking trajectories as independent", numeric=True),
        ),
        empty="No kind of group has two groups.",
        table="survival_tests",
    )  # fmt: skip
    together = table["first_level"].isna()
    for row in _records(table[together]):
        chi2 = number(row["chi2"])
        degrees = f"{count(row['degrees'])} degrees of freedom"
        shown = "undefined" if chi2 is None else format_number(chi2, 2)
        below = tuple(filter(None, (text(row["reason"]),)))
        view.rows.append(
            [
                Cell(GROUPED_BY[row["grouped_by"]], below=below), Cell(TIME_UNITS[row["time_unit"]]),
                Cell(ORDERS[row["order"]]), Cell(shown, below=(degrees,), numeric=True, undefined=chi2 is None),
                Cell(f"{count(row['n']):,}", numeric=True), _p(row["p_clustered_holm"]), _p(row["p_holm"]),
            ]
        )  # fmt: skip
    pairs = table[~together]
    told = int((pairs["p_clustered_holm"] < 0.05).sum())
    view.remarks.append(
        f"Of {len(pairs):,} pairs of groups, {told:,} are told apart (p over clusters, Holm, below 0.05). A pair that "
        "is not told apart is not shown to be equal."
    )
    return view


def hazards(table: pd.DataFrame) -> View:
    """The chance of the first accepted attempt, by turn and by problem."""
    view = View(
        "hazards",
        "Chance that the next try is the first accepted one, by turn and problem (discrete-time model)",
        (
            Heading("Term"), _TURNS, Heading("Solved", numeric=True),
            Heading("Chance", "On the average problem", numeric=True),
            Heading("Coefficient", "Turn: logit; problem: log odds ratio to the average problem", numeric=True),
            *ESTIMATE_HEADINGS, Heading("p (Holm)", "Corrected over the problems", numeric=True),
        ),
        empty="The model could not be fitted to anything.",
        table="hazards",
    )  # fmt: skip
    for row in _records(table):
        term = "turn" if row["term"] == "turn" else "problem"
        chance, p = number(row["hazard"]), number(row["p_holm"])
        view.rows.append(
            [
                Cell(f"{term} {row['level']}"), Cell(ORDERS[row["order"]]),
                Cell(f"{count(row['n_events']):,}", numeric=True),
                Cell("–" if chance is None else format_number(chance), numeric=True, undefined=chance is None),
                *view.in_columns(read_estimate(row), 2),
                Cell("–", numeric=True, undefined=True) if p is None else _p(p),
            ]
        )  # fmt: skip
    return view


def effects(table: pd.DataFrame) -> View:
    """Rank correlations and mixed models of churn against progress."""
    view = View(
        "churn-effects",
        "Do larger revisions go with more progress?",
        (
            Heading("Size of the revision"), Heading("Progress"), Heading("Revisions"), _TURNS, Heading("Figure"),
            Heading("Value", numeric=True), *ESTIMATE_HEADINGS,
        ),
        empty="No trajectory has two attempts.",
        table="churn_effects",
    )  # fmt: skip
    for row in _records(table):
        sample = () if str(row["sample"]).startswith("all ") else (str(row["sample"]),)
        view.rows.append(
            [
                Cell(REVISION_MEASURES[row["measure"]]), Cell(PROGRESS[row["progress"]]),
                Cell(CHOSEN_REVISIONS[row["revisions"]], below=sample), Cell(ORDERS[row["order"]]),
                Cell(EFFECTS[row["statistic"]]), *view.in_columns(read_estimate(row)),
            ]
        )  # fmt: skip
    view.remarks.append("An interval that holds 0 leaves open whether they go together, and in which direction.")
    return view


def gains(table: pd.DataFrame) -> View:
    """What revisions of each size gain."""
    view = View(
        "revision-gains",
        "Incremental fix or rewrite: how many, and what each gains",
        (
            Heading("Revision"), Heading("Size by"), _TURNS, Heading("Figure"), Heading("Value", numeric=True),
            *ESTIMATE_HEADINGS,
        ),
        empty="No trajectory has two attempts.",
        table="revision_gains",
    )  # fmt: skip
    for row in _records(table):
        view.rows.append(
            [
                Cell(str(row["kind"])), Cell(REVISION_MEASURES[row["measure"]]), Cell(ORDERS[row["order"]]),
                Cell(GAINS[row["statistic"]]), *view.in_columns(read_estimate(row)),
            ]
        )  # fmt: skip
    return view


def summary(table: pd.DataFrame) -> View:
    """How much is revised, and how near attempts come to the accepted one."""
    view = View(
        "churn-summary",
        "Size of revisions, distance of prompts and code, convergence",
        (
            Heading("Measure"), Heading("Over"), _TURNS, Heading("Figure"), Heading("Value", numeric=True),
            *ESTIMATE_HEADINGS,
        ),
        empty="There is no revision and no solved trajectory.",
        table="churn_summary",
    )  # fmt: skip
    whole = table.assign(_over_all=table["grouped_by"] != "all").sort_values(["_over_all"], kind="stable")
    for row in _records(whole):
        view.rows.append(
            [
                Cell(REVISION_MEASURES[row["measure"]]), _group(row), Cell(ORDERS[row["order"]]),
                Cell(str(row["statistic"])), *view.in_columns(read_estimate(row)),
            ]
        )  # fmt: skip
    return view


def _records(table: pd.DataFrame) -> list[dict[Any, Any]]:
    return list(table.to_dict("records"))


def _group(row: Mapping[Any, Any]) -> Cell:
    grouping = GROUPED_BY[row["grouped_by"]]
    return Cell(grouping if row["grouped_by"] == "all" else f"{grouping}: {row['level']}")


def _over_clusters(row: Mapping[Any, Any]) -> Cell:
    """The interval that takes only clusters as independent, and how many there are."""
    low, high = number(row["cluster_low"]), number(row["cluster_high"])
    ends = None if low is None or high is None else (low, high)
    below = (f"{count(row['n_clusters']):,} {row['clustered_by']} clusters",)
    return Cell(format_interval(ends) or "none", numeric=True, undefined=ends is None, below=below)


def _p(value: Any) -> Cell:
    p = number(value)
    if p is None:
        return Cell("undefined", numeric=True, undefined=True)
    return Cell("< 0.001" if p < 0.001 else format_number(p), numeric=True)
