"""Answers to RQ3 and EQ3 of paper 1: judges as instruments, how stable they are, and how well they measure on test."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.estimates import metrics_by_judge, overall_agreement, pairwise_agreement
from judge_pipeline.report import compared
from judge_pipeline.report.cautions import Statement
from judge_pipeline.report.inputs import CocreationReportInput
from judge_pipeline.report.question_words import figure_words, listed, open_words, share_words, side
from judge_pipeline.tables.metric_words import METRICS

SHOWN = 6
"""Pairs of judges that a sentence names; the table has them all."""

Metrics = Mapping[str, Mapping[str, Estimate]]


def stability(given: CocreationReportInput) -> list[Statement]:
    """RQ3: whether judgments can be audited, whether judges agree, whether they can be told apart."""
    found = (_audited(given.judge_coverage), _agreement(given.judge_agreement), _told_apart(given.judge_differences))
    return [statement for statement in found if statement is not None]


def quality(given: CocreationReportInput) -> list[Statement]:
    """EQ3: discrimination, decisions, calibration and agreement on test."""
    metrics = metrics_by_judge(given.judge_metrics)
    if not metrics:
        return [Statement("Nothing was measured", "No judge has a figure on test.", "table-coverage")]
    return [
        _discrimination(metrics, given),
        _decisions(metrics),
        _calibration(metrics, given),
        _pairs(given.judge_agreement),
    ]


def _audited(coverage: pd.DataFrame) -> Statement:
    if coverage.empty:
        return Statement("No judge is configured", "So no judgment can be audited.", "table-coverage")
    verified = int((coverage["status"] == "verified").sum())
    judged, asked = int(coverage["n_judged"].sum()), int(coverage["n_in_scope"].sum())
    text = (
        f"{verified:,} of {len(coverage):,} judges are verified (eq. 9). Of {asked:,} judgments asked for, {judged:,} "
        f"are there, {int(coverage['n_repaired'].sum()):,} of them after a repair of the answer's form."
    )
    lead = "Every judge is verified" if verified == len(coverage) else "Not every judge is verified"
    return Statement(lead, text, "table-coverage")


def _agreement(agreement: pd.DataFrame) -> Statement:
    parts, leading = [], None
    for statistic, name in (("fleiss", "Fleiss' κ"), ("mean_cohen", "mean pairwise Cohen's κ"), ("raw_agreement", "")):
        estimate = overall_agreement(agreement, statistic)
        if estimate is None:
            continue
        if not name:
            parts.append(f"the share of pairs of decisions that are the same {share_words(estimate)}")
            continue
        leading = leading if leading is not None and leading.value is not None else estimate
        parts.append(f"{name} {figure_words(estimate)}")
    if leading is None:
        return Statement("Agreement is undefined", "It needs two judges of the panel with a table.", "agreement")
    leads = {1: "Judges agree more than by chance", -1: "Judges agree less than by chance"}
    lead = leads.get(side(leading) or 0, "Agreement beyond chance is not shown")
    reading = f"; {open_words(leading)}" if side(leading) in (0, None) else ""
    return Statement(
        lead, f"Over the panel's decisions on test: {'; '.join(parts)}{reading}.", "table-agreement-summary"
    )


def _told_apart(table: pd.DataFrame | None) -> Statement | None:
    pairs = [row for row in compared.differences(table, "roc_auc", "judge") if row.p_holm is not None]
    if not pairs:
        return None
    shown = [row for row in pairs if row.shown]
    told = [
        f"{high} above {row.judge_2 if high == row.judge_1 else row.judge_1} ({row.words(high)})"
        for row in shown[:SHOWN]
        for high in [row.judge_1 if row.of(row.judge_1) > 0 else row.judge_2]
    ]
    text = f"In ROC-AUC on test, {len(shown):,} of {len(pairs):,} pairs of judges are told apart (paired, Holm)"
    text += f": {listed(told)}." if told else "; that is not to say that they are equal."
    lead = "Some judges rank better than others" if shown else "No two judges are told apart"
    return Statement(lead, text, "table-differences")


def _discrimination(metrics: Metrics, given: CocreationReportInput) -> Statement:
    """By p-values corrected for looking at several judges where these were made, else by intervals taken alone."""
    column = _column(metrics, "roc_auc")
    tested = [
        row for row in compared.differences(given.judge_differences, "roc_auc", "chance") if row.p_holm is not None
    ]
    if tested:
        sides = {row.judge_1: (1 if row.of(row.judge_1) > 0 else -1) if row.shown else 0 for row in tested}
        basis = "Told from chance by p-values corrected for several judges (Holm)."
    else:
        sides = {judge: where for judge, e in column.items() if (where := side(e, 0.5)) is not None}
        basis = "Intervals are taken alone, not corrected for several judges."
    above, below = (sum(where == wanted for where in sides.values()) for wanted in (1, -1))
    lead = f"Discrimination: {above} of {len(sides)} judges rank better than chance"
    if not sides:
        lead = "Discrimination: nothing can be said"
    elif not above:
        lead = "Discrimination: no judge is shown to rank better than chance"
    text = f"ROC-AUC on test: {_figures(column)}. PR-AUC: {_figures(_column(metrics, 'pr_auc'))}."
    worse = f" Worse than chance: {below}." if below else ""
    return Statement(lead, f"{text}{worse} {basis}", "table-scores")


def _decisions(metrics: Metrics) -> Statement:
    column = _column(metrics, "mcc_test")
    known = [e for e in column.values() if side(e) is not None]
    above = sum(side(e) == 1 for e in known)
    lead = (
        f"Decisions: the MCC of {above} of {len(known)} judges is above 0"
        if known
        else "Decisions: nothing can be said"
    )
    if known and not above:
        lead = "Decisions: no judge's MCC is shown to be above 0"
    chosen, again = _figures(_column(metrics, "mcc_val")), _column(metrics, "mcc_test_reselected")
    text = f"With thresholds chosen on val (MCC there {chosen}), MCC on test is {_figures(column)}"
    stable = f"; with t* chosen again in each resample, {_figures(again)}" if again else ""
    return Statement(lead, f"{text}{stable}.", "table-decisions")


def _calibration(metrics: Metrics, given: CocreationReportInput) -> Statement:
    rows = [row for row in compared.differences(given.judge_differences, "brier", "constant") if row.p_holm is not None]
    better = [row.judge_1 for row in rows if row.shown and row.of(row.judge_1) < 0]
    parts = [f"{METRICS[name].label} {_figures(_column(metrics, name))}" for name in ("brier", "log_loss", "ece")]
    text = f"{'. '.join(parts)}."
    if not rows:
        return Statement("Calibration, not compared with a constant answer", text, "calibration")
    lead = f"Calibration: {len(better)} of {len(rows)} judges beat a constant answer" if better else (
        "Calibration: no judge is shown to beat a constant answer"
    )  # fmt: skip
    return Statement(lead, f"{text} By the Brier score and Holm's correction{_better(better)}", "calibration")


def _better(better: list[str]) -> str:
    return f", these beat it: {listed(better)}." if better else ", none does."


def _pairs(agreement: pd.DataFrame) -> Statement:
    pairs = {pair: e for pair, e in pairwise_agreement(agreement, "cohen").items() if e.value is not None}
    fleiss = overall_agreement(agreement, "fleiss")
    whole = "Fleiss' κ is not computed" if fleiss is None else f"Fleiss' κ is {figure_words(fleiss)}"
    if not pairs:
        return Statement("Agreement of pairs is undefined", f"No pair of judges has a Cohen's κ; {whole}.", "agreement")
    above = sum(side(e) == 1 for e in pairs.values())
    low, high = (pick(pairs, key=lambda pair: pairs[pair].value or 0.0) for pick in (min, max))
    text = f"Cohen's κ of pairs runs from {figure_words(pairs[low])}, {_named(low)}, to {figure_words(pairs[high])}, "
    text += f"{_named(high)}; {whole}."
    lead = f"Agreement: κ is above 0 for {above:,} of {len(pairs):,} pairs"
    return Statement(lead, text, "table-agreement-pairs")


def _named(pair: tuple[str, str]) -> str:
    return f"of {pair[0]} and {pair[1]}"


def _column(metrics: Metrics, name: str) -> dict[str, Estimate]:
    return {judge: found[name] for judge, found in metrics.items() if name in found}


def _figures(column: Mapping[str, Estimate]) -> str:
    """The lowest and the highest figure, with their judges; undefined ones are counted."""
    if not column:
        return "not computed"
    known = {judge: e for judge, e in column.items() if e.value is not None}
    if not known:
        reasons = sorted({e.reason or "no reason is given" for e in column.values()})
        return f"undefined for every judge ({'; '.join(reasons)})"
    low, high = (pick(sorted(known), key=lambda judge: known[judge].value or 0.0) for pick in (min, max))
    missing = f"; undefined for {len(column) - len(known)}" if len(column) > len(known) else ""
    if low == high:
        return f"{figure_words(known[low])} of {low}{missing}"
    return f"from {figure_words(known[low])} of {low} to {figure_words(known[high])} of {high}{missing}"
