"""What was found, in sentences made from the numbers: each with n and interval, claiming no more than its test."""

from __future__ import annotations

from typing import Any

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.criteria_figures import corrected_p, figures_of, highest_floor
from judge_pipeline.figures.estimates import format_interval, format_number, number, p_words, read_estimate
from judge_pipeline.report.cautions import Statement, names
from judge_pipeline.report.compared import ALPHA
from judge_pipeline.report.criteria_evidence_views import decisive_aspects, share_words
from judge_pipeline.report.criteria_inputs import CriteriaReportInput, is_scripted

MAX_NAMED = 4
MAX_LOOKED_INTO = 3
"""Judges of whose stages the findings speak; the tables hold all."""


def criteria_findings(given: CriteriaReportInput) -> list[Statement]:
    """The findings of a set, of each judge's full configuration; nothing that was not tested is called a gain."""
    ablation = given.criteria_ablation
    if ablation is None or ablation.empty:
        return [Statement("Nothing measured", "No configuration was compared with the labels.", "judged")]
    full = {judge: given.full_of(judge) for judge in given.judges}
    found = [_gain(given, ablation, judge, name) for judge, name in full.items()]
    found += [_floor(given, ablation, judge) for judge in full]
    for judge in _looked_into(given):
        name = full[judge]
        found += [
            _steps(given, ablation, judge), _guidance(given, ablation, judge, name),
            _categories(given, ablation, judge, name), _skew(given, ablation, judge, name),
            _savings(given, ablation, judge, name), _aspects(given, judge, name), _decisive(given, judge, name),
        ]  # fmt: skip
    return [statement for statement in found if statement is not None]


def _looked_into(given: CriteriaReportInput) -> list[str]:
    """The judges whose stages are looked into: models before scripts, and these before the embedded model."""
    ranks: dict[int, list[str]] = {0: [], 1: [], 2: []}
    for judge in given.judges:
        kind = given.kinds.get(judge)
        weak = kind is not None and kind.backend == "embedded"
        ranks[2 if weak else 1 if kind is not None and is_scripted(kind) else 0].append(judge)
    return next((judges for judges in ranks.values() if judges), [])[:MAX_LOOKED_INTO]


def _gain(given: CriteriaReportInput, ablation: pd.DataFrame, judge: str, full: str | None) -> Statement | None:
    """Whether the full configuration is told from the judge's monolithic one, and which way."""
    gain = None if full is None else figures_of(ablation, judge, "gain_over_monolithic").get(full)
    if full is None or gain is None or gain.value is None:
        return None
    acc, over = figures_of(ablation, judge, "acc"), str(given.monolithic_of(judge))
    p_value = _p(ablation, judge, full, "gain_over_monolithic")
    told = p_value is not None and p_value < ALPHA
    called = given.called(judge)
    lead = f"{called}: {full} {'gains' if gain.value > 0 else 'loses'} {_points(abs(gain.value))}" if told else (
        f"{called}: no gain of {full} is shown"
    )  # fmt: skip
    kind = given.kinds.get(judge)
    weak = ""
    if kind is not None and is_scripted(kind):
        weak = " Scripted, not a model: the gain was put in."
    elif kind is not None and kind.backend == "embedded":
        weak = " The embedded model is too weak to gain: this says nothing about the method."
    parts = [figures_of(ablation, judge, figure).get(full) for figure in ("mended_share", "spoiled_share")]
    changes = ", ".join(
        f"{word} {_percent(part)}" for word, part in zip(("mends", "spoils"), parts, strict=True) if part is not None
    )
    return Statement(
        lead,
        f"Acc {_acc(acc.get(full))} beside {_acc(acc.get(over))} of {over} on n = {gain.n:,} pairs: "
        f"{_signed_points(gain)}, {p_words(p_value)} after Holm; it {changes}.{weak}",
        "gains",
    )


def _floor(given: CriteriaReportInput, ablation: pd.DataFrame, judge: str) -> Statement | None:
    name, level = highest_floor(ablation)
    acc = {each: own for each, own in figures_of(ablation, judge, "acc").items() if own.ci95 is not None}
    if level is None or not acc:
        return None
    above = [each for each, own in acc.items() if own.ci95 is not None and own.ci95[0] > level]
    below = [each for each, own in acc.items() if own.ci95 is not None and own.ci95[1] < level]
    lead = f"{given.called(judge)}: {len(above)} of {len(acc)} configurations above every floor"
    said = [f"{word}: {names(which, MAX_NAMED)}" for word, which in (("above", above), ("below", below)) if which]
    rest = len(acc) - len(above) - len(below)
    said += [f"not told from it: {rest}"] if rest else []
    return Statement(
        lead,
        f"The highest floor is '{name}' with {format_number(level, 2)}. By the 95% interval of Acc, {'; '.join(said)}. "
        f"Intervals are not widened for looking at {len(acc)} configurations.",
        "floors",
    )


def _steps(given: CriteriaReportInput, ablation: pd.DataFrame, judge: str) -> Statement | None:
    """Which steps of Table 2 are told from the row before."""
    rows = ablation[
        (ablation["paper_table"] == "2") & (ablation["judge"] == judge)
        & (ablation["figure"] == "gain_over_previous") & ablation["p_holm"].notna()
    ]  # fmt: skip
    if rows.empty:
        return None
    told = [row for row in rows.to_dict("records") if row["p_holm"] < ALPHA]
    said = [f"{row['paper_row']} {_signed_points(read_estimate(row))}" for row in told[:MAX_NAMED]]
    none = "None of the rows is told from the row before."
    steps = f"{len(rows)} step{'' if len(rows) == 1 else 's'}"
    words = f"Over the row before that was judged: {'; '.join(said)}." if said else none
    return Statement(
        f"{given.called(judge)}: {len(told)} of {steps} of Table 2 told from none",
        f"{words} p < {ALPHA:g} after Holm over the table.",
        "gains",
    )


def _guidance(given: CriteriaReportInput, ablation: pd.DataFrame, judge: str, full: str | None) -> Statement | None:
    gain = None if full is None else figures_of(ablation, judge, "gain_over_unguided").get(full)
    if full is None or gain is None or gain.value is None:
        return None
    p_value = _p(ablation, judge, full, "gain_over_unguided")
    told = p_value is not None and p_value < ALPHA
    return Statement(
        f"{given.called(judge)}: guidance {'makes a difference' if told else 'is not told from none'}",
        f"{full} less the same without guidance: {_signed_points(gain)} on n = {gain.n:,} pairs, {p_words(p_value)} "
        "after Holm.",
        "guidance",
    )


def _categories(given: CriteriaReportInput, ablation: pd.DataFrame, judge: str, full: str | None) -> Statement | None:
    rows = ablation[
        (ablation["judge"] == judge) & (ablation["configuration"] == full) & ablation["category"].notna()
        & (ablation["figure"] == "gain_over_monolithic") & ablation["value"].notna()
    ].sort_values("value", ascending=False, kind="stable")  # fmt: skip
    if len(rows) < 2:
        return None
    told = [row for row in rows.to_dict("records") if (number(row["p_holm"]) or 1.0) < ALPHA]
    most, least = rows.iloc[0], rows.iloc[-1]
    words = [f"{row['category']} {_signed_points(read_estimate(dict(row)))}" for row in (most, least)]
    lead = f"{len(told)} of {len(rows)} categories with a gain or loss told from none"
    return Statement(
        f"{given.called(judge)}: {lead}",
        f"Most in {words[0]}; least in {words[1]}. p after Holm over these categories.",
        "by-category",
    )


def _skew(given: CriteriaReportInput, ablation: pd.DataFrame, judge: str, full: str | None) -> Statement | None:
    found = _table_6(ablation, judge, full)
    if not found:
        return None
    before, after, change = (found[f"criterion_skew_{when}"] for when in ("before", "after", "change"))
    label, removed = found["label_skew"], found["removed_share"]
    if any(own.value is None for own in (before, after, change, removed)):
        return None
    p_value = corrected_p(
        ablation, judge=judge, configuration=full, paper_table="6", figure="criterion_skew_change"
    )  # fmt: skip
    told = p_value is not None and p_value < ALPHA
    lead = "filtering changes the skew of verdicts" if told else "filtering is not shown to change the skew of verdicts"
    return Statement(
        f"{given.called(judge)}: {lead}",
        f"A less B is {_signed(before)} before SCF and {_signed(after)} after it (labels {_signed(label)}), a change "
        f"of {_signed(change)}, {p_words(p_value)} after Holm. SCF removes {share_words(removed.value or 0.0)} of "
        f"{removed.n:,} verdicts.",
        "skew",
    )


def _savings(given: CriteriaReportInput, ablation: pd.DataFrame, judge: str, full: str | None) -> Statement | None:
    plain, batched = (
        figures_of(ablation, judge, f"total_{way}", paper_table="7").get(full or "") for way in ("plain", "btcr")
    )
    if plain is None or batched is None or not plain.value or batched.value is None:
        return None
    return Statement(
        f"{given.called(judge)}: batches save {share_words(1 - batched.value / plain.value)} of refinement calls",
        f"{batched.value:,.0f} calls in place of {plain.value:,.0f} one by one, over {plain.n:,} pairs.",
        "calls",
    )


def _aspects(given: CriteriaReportInput, judge: str, full: str | None) -> Statement | None:
    table = given.criteria_aspects
    if table is None or full is None:
        return None
    own = table[(table["judge"] == judge) & (table["configuration"] == full) & table["value"].notna()]
    share, agree = (own[own["figure"] == figure] for figure in ("evidence_share", "agreement"))
    if share.empty or agree.empty:
        return None
    widest = dict(share.loc[share["value"].idxmax()])
    best, worst = (dict(agree.loc[at]) for at in (agree["value"].idxmax(), agree["value"].idxmin()))
    said = f"{widest['aspect']} carries most of it, {_percent(read_estimate(widest))}. " if len(share) > 1 else ""
    between = f"; least often on {worst['aspect']}, {_percent(read_estimate(worst))}" if len(agree) > 1 else ""
    return Statement(
        f"{given.called(judge)}: evidence is on {len(share)} aspect{'' if len(share) == 1 else 's'}",
        f"{said}Verdicts for A or B agree with the label most often on {best['aspect']}, "
        f"{_percent(read_estimate(best))}{between}. Aspects were not tested against each other.",
        "evidence",
    )


def _decisive(given: CriteriaReportInput, judge: str, full: str | None) -> Statement | None:
    table = given.decisive_criteria
    if table is None or full is None:
        return None
    own = table[(table["judge"] == judge) & (table["configuration"] == full)]
    if own.empty:
        return None
    aspects = ", ".join(f"{aspect} {n}" for aspect, n in decisive_aspects(own).most_common(3))
    return Statement(
        f"{given.called(judge)}: {len(own):,} criteria turn a majority",
        f"On {own['pair_id'].nunique():,} pairs that {full} decides otherwise than the monolithic one, the majority of "
        f"criteria would be another without one of them. By aspect: {aspects}.",
        "evidence",
    )


def _table_6(ablation: pd.DataFrame, judge: str, full: str | None) -> dict[str, Estimate]:
    own = ablation[
        (ablation["paper_table"] == "6") & (ablation["judge"] == judge) & (ablation["configuration"] == full)
    ]
    return {row["figure"]: read_estimate(row) for row in own.to_dict("records")}


def _p(ablation: pd.DataFrame, judge: str, name: str, figure: str) -> float | None:
    where: dict[str, Any] = {"judge": judge, "configuration": name, "figure": figure}
    return corrected_p(ablation, **where, paper_table=None, category=None)


def _acc(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "undefined"
    return f"{format_number(estimate.value, 2)} {format_interval(estimate.ci95, 2)}".strip()


def _percent(estimate: Estimate) -> str:
    if estimate.value is None:
        return "undefined"
    if estimate.ci95 is None:
        return share_words(estimate.value)
    low, high = (format_number(100 * end, 0) for end in estimate.ci95)
    return f"{share_words(estimate.value)} [{low}, {high}]"


def _points(value: float) -> str:
    return f"{format_number(100 * value, 1)} points"


def _signed_points(estimate: Estimate) -> str:
    value = 100 * (estimate.value or 0.0)
    ends = "" if estimate.ci95 is None else " " + format_interval((100 * estimate.ci95[0], 100 * estimate.ci95[1]), 1)
    return f"{'+' if value > 0 else ''}{format_number(value, 1)} points{ends}"


def _signed(estimate: Estimate) -> str:
    value = estimate.value or 0.0
    return f"{'+' if value > 0 else ''}{format_number(value, 2)} {format_interval(estimate.ci95, 2)}".strip()
