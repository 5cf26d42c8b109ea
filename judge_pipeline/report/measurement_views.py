"""Tables of the report beyond paper 1: differences, scores against the verdict, calibration maps, panels, rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from judge_pipeline.figures.estimates import count, format_number, number, read_estimate, text
from judge_pipeline.report.inputs import CocreationReportInput, JudgeKind, judge_kinds
from judge_pipeline.report.view import ESTIMATE_HEADINGS, Cell, Heading, View
from judge_pipeline.tables.metric_words import (
    AGREEMENT,
    MAPS,
    PANEL_METHODS,
    RATE_METHODS,
    RATED,
    SCORE_METRICS,
    metric_label,
)

SHOWN_DIFFERENCES = ("roc_auc", "mcc_test", "brier")
"""Figures of which the page shows the differences between judges; the stored table holds them of all."""

SHOWN_CHANGES = ("brier", "log_loss", "ece_debiased")
"""Figures of which the page shows what a calibration map makes of them."""

_NOT_MADE = "The table was never made; make the report anew."


def measurement_views(given: CocreationReportInput) -> list[View]:
    """The tables in their order; one that was never made is empty and says so."""
    kinds = judge_kinds(given.judge_coverage)
    found = [
        differences(given.judge_differences, kinds),
        against_levels(given.judge_differences, kinds),
        score_agreement(given.judge_agreement),
        scores_and_verdict(given.judge_scores, kinds),
        calibration(given.judge_calibration, kinds),
        panels(given.judge_panels, kinds),
        rates(given.acceptance_rates, kinds),
    ]
    for view in found:
        view.foldable = True
    return found


def differences(table: pd.DataFrame | None, kinds: Mapping[str, JudgeKind]) -> View:
    """Each pair of judges: the paired difference, its corrected p, and the attempts that would show it."""
    headings = (
        Heading("Pair, first less second"), Heading("Figure"), Heading("Difference", numeric=True), *ESTIMATE_HEADINGS,
        Heading("p (Holm)", "Corrected over the pairs of this figure", numeric=True),
        Heading("Attempts needed", "Test attempts that would show this difference with power 80%", numeric=True),
    )  # fmt: skip
    view = View(
        "differences",
        "Differences between judges on the attempts that both answered",
        headings,
        empty=_NOT_MADE if table is None else "Differences need two judges.",
        table="judge_differences",
    )
    for row in _rows(table, "against", ("judge",)):
        if row["metric"] in SHOWN_DIFFERENCES:
            pair = " − ".join(_label(row[name], kinds) for name in ("judge_1", "judge_2"))
            view.rows.append([Cell(pair), Cell(metric_label(row["metric"])), *_tested(view, row)])
    view.remarks.append("A difference that is not shown is not shown to be 0: look at its interval.")
    return view


def against_levels(table: pd.DataFrame | None, kinds: Mapping[str, JudgeKind]) -> View:
    """Each judge against chance, a constant answer, and perfect calibration."""
    words = {"chance": "chance", "constant": "a constant answer", "calibration": "perfect calibration"}
    headings = (
        Heading("Judge"), Heading("Figure, less that of"), Heading("Difference", numeric=True), *ESTIMATE_HEADINGS,
        Heading("p (Holm)", "Corrected over the judges", numeric=True),
        Heading("Attempts needed", "Test attempts that would show this difference with power 80%", numeric=True),
    )  # fmt: skip
    view = View("levels", "Judges against a judge without skill", headings, table="judge_differences",
                empty=_NOT_MADE if table is None else "No judge has a figure on test.")  # fmt: skip
    for row in _rows(table, "against", tuple(words)):
        if text(row["judge_1"]) and not text(row["judge_2"]):
            what = f"{metric_label(row['metric'])}, less {words[row['against']]}"
            view.rows.append([_judge(row["judge_1"], kinds), Cell(what), *_tested(view, row)])
    return view


def score_agreement(table: pd.DataFrame) -> View:
    """Agreement of the whole panel beyond paper 1: chance-corrected otherwise, and on scores and probabilities."""
    headings = (Heading("Agree on"), Heading("Statistic"), Heading("Value", numeric=True), *ESTIMATE_HEADINGS)
    view = View("agreement-further", "Agreement of the whole panel, further statistics", headings,
                empty="Agreement needs at least two verified judges of the panel.")  # fmt: skip
    shown = ("fleiss", "mean_cohen")
    rows = table[table["judge_1"].isna() & ~((table["rated"] == "decision") & table["statistic"].isin(shown))]
    for row in rows.to_dict("records"):
        what = RATED.get(row["rated"], row["rated"])
        name = AGREEMENT.get(row["statistic"], row["statistic"])
        view.rows.append([Cell(what), Cell(name), *view.in_columns(read_estimate(row))])
    return view


def scores_and_verdict(table: pd.DataFrame | None, kinds: Mapping[str, JudgeKind]) -> View:
    """How s_algo and s_robust go with acceptance."""
    headings = (
        Heading("Judge"),
        Heading("Score"),
        Heading("Figure"),
        Heading("Value", numeric=True),
        *ESTIMATE_HEADINGS,
    )
    view = View("scores-verdict", "Scores of the rubric against the verdict, on test", headings,
                empty=_NOT_MADE if table is None else "No judge gives scores.", table="judge_scores")  # fmt: skip
    for row in _rows(table):
        name = SCORE_METRICS.get(row["metric"], row["metric"])
        cells = [Cell(RATED.get(row["score"], row["score"])), Cell(name), *view.in_columns(read_estimate(row))]
        view.rows.append([_judge(row["judge"], kinds), *cells])
    return view


def calibration(table: pd.DataFrame | None, kinds: Mapping[str, JudgeKind]) -> View:
    """Before and after each map, side by side, with the paired change."""
    headings = (
        Heading("Judge"), Heading("Figure"), Heading("Map, fitted on val"), Heading("Before", numeric=True),
        Heading("After", numeric=True), Heading("Change", numeric=True), *ESTIMATE_HEADINGS,
    )  # fmt: skip
    view = View("calibration", "Calibration maps fitted on val, applied to test", headings, table="judge_calibration",
                empty=_NOT_MADE if table is None else "No judge has a figure on test.")  # fmt: skip
    found = {(row["judge"], row["metric"], row["map"], row["quantity"]): row for row in _rows(table)}
    for (judge, metric, name, quantity), row in found.items():
        if quantity != "change" or metric not in SHOWN_CHANGES:
            continue
        before, after = (found.get((judge, metric, which, "value")) for which in ("none", name))
        values = [_value(number(side["value"]) if side else None) for side in (before, after)]
        shown = [Cell(metric_label(metric)), Cell(MAPS.get(name, name)), *values, *view.in_columns(read_estimate(row))]
        view.rows.append([_judge(judge, kinds), *shown])
    view.remarks.append("Below 0 the map lowers the figure, which is better for each of them.")
    return view


def panels(table: pd.DataFrame | None, kinds: Mapping[str, JudgeKind]) -> View:
    """Panels as one judge, and less their best judge, chosen on val."""
    headings = (
        Heading("Figure"), Heading("Panel"), Heading("Panel's value", numeric=True), Heading("Best judge, by val"),
        Heading("Less the best judge", numeric=True), *ESTIMATE_HEADINGS,
        Heading("p (Holm)", "Corrected over the ways to join the judges", numeric=True),
    )  # fmt: skip
    view = View("panels", "Panels of judges as one judge, on test", headings, table="judge_panels",
                empty=_NOT_MADE if table is None else "A panel needs two judges.")  # fmt: skip
    found = {(row["metric"], row["method"], row["quantity"]): row for row in _rows(table)}
    for (metric, method, quantity), row in found.items():
        if quantity != "difference":
            continue
        own = found.get((metric, method, "value"))
        cells = [Cell(PANEL_METHODS.get(method, method)), _value(number(own["value"]) if own else None),
                 Cell(_label(row["best_judge"], kinds)), *view.in_columns(read_estimate(row)), _p(row)]  # fmt: skip
        view.rows.append([Cell(metric_label(metric)), *cells])
    return view


def rates(table: pd.DataFrame | None, kinds: Mapping[str, JudgeKind]) -> View:
    """The acceptance rate from judges and the labels of val alone, beside the truth."""
    headings = (
        Heading("Judge"), Heading("Estimated by"), Heading("Rate", numeric=True), *ESTIMATE_HEADINGS,
        Heading("By all labels", "What the rate is by the labels of all attempts", numeric=True),
        Heading("Labels used", numeric=True),
    )  # fmt: skip
    view = View("rates", "Acceptance rate of the contest, estimated with the labels of val alone", headings,
                empty=_NOT_MADE if table is None else "No judge answered attempts beyond val.",
                table="acceptance_rates")  # fmt: skip
    for row in _rows(table):
        cells = [Cell(RATE_METHODS.get(row["method"], row["method"])), *view.in_columns(read_estimate(row)),
                 _value(number(row["truth"])), Cell(f"{count(row['n_labelled']):,}", numeric=True)]  # fmt: skip
        view.rows.append([_judge(row["judge"], kinds), *cells])
    return view


def _rows(table: pd.DataFrame | None, column: str = "", values: Sequence[str] = ()) -> list[dict[Any, Any]]:
    if table is None:
        return []
    return list((table[table[column].isin(values)] if column else table).to_dict("records"))


def _tested(view: View, row: Mapping[Any, Any]) -> list[Cell]:
    needed = number(row["attempts_for_power"])
    shown = Cell("–", numeric=True, undefined=True) if needed is None else Cell(f"{int(needed):,}", numeric=True)
    return [*view.in_columns(read_estimate(row)), _p(row), shown]


def _p(row: Mapping[Any, Any]) -> Cell:
    p = number(row["p_holm"])
    if p is None:
        return Cell("undefined", numeric=True, undefined=True)
    return Cell("< 0.001" if p < 0.001 else format_number(p, 3), numeric=True)


def _value(value: float | None) -> Cell:
    return Cell("undefined" if value is None else format_number(value), numeric=True, undefined=value is None)


def _judge(judge: str, kinds: Mapping[str, JudgeKind]) -> Cell:
    return Cell(judge, tags=kinds[judge].tags if judge in kinds else ())


def _label(judge: Any, kinds: Mapping[str, JudgeKind]) -> str:
    name = text(judge) or "none"
    return kinds[name].label if name in kinds else name
