"""The tables of the co-creation report, ready to be shown (paper 1, Tables I, IV, V, and those beside them)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.estimates import (
    count,
    format_number,
    judge_agreement_means,
    metrics_by_judge,
    number,
    overall_agreement,
    pairwise_agreement,
    read_estimate,
    text,
)
from judge_pipeline.report.asked_with import asked_with_words
from judge_pipeline.report.inputs import JudgeKind, ReportProvenance
from judge_pipeline.report.trace_anchor import figure_link
from judge_pipeline.report.view import ESTIMATE_HEADINGS, Cell, Heading, View, counts_view
from judge_pipeline.tables.metric_words import METRICS, MetricWords

TABLE_IV = ("roc_auc", "pr_auc", "log_loss", "brier", "ece", "mcc_val", "threshold", "mcc_test")
DECISIONS = ("mcc_test", "mcc_test_reselected", "precision", "recall", "f1", "balanced_accuracy", "accept_rate")
BESIDE = ("threshold_plateau_low", "threshold_plateau_high", "log_loss_n_clipped")
"""Figures that stand inside another figure's cell."""


def overview(table: pd.DataFrame) -> View:
    """What was measured, in counts (Table I)."""
    view = View(
        "overview",
        "Counts (as in paper 1, Table I)",
        (Heading("Count"), Heading("Value", numeric=True), Heading("Counted over", numeric=True)),
        empty="The table of counts is empty.",
    )
    for row in table.to_dict("records"):
        estimate = read_estimate(row)
        value = estimate.value
        whole = value is not None and value == round(value)
        shown = "undefined" if value is None else f"{int(value):,}" if whole else format_number(value, 2)
        marks, home = view.mark(estimate), figure_link("contest_overview", statistic=row["statistic"])
        view.rows.append(
            [
                Cell(row["label"]),
                Cell(shown, marks=marks, numeric=True, undefined=value is None, link=home),
                Cell(f"{estimate.n:,} {row['counted_over']}", numeric=True),
            ]
        )
    return view


def coverage(table: pd.DataFrame, kinds: Mapping[str, JudgeKind]) -> View:
    """Which judges are verified, on what, and at what cost; why the others are not."""
    headings = (
        "Judge",
        "Verified (eq. 9)",
        "Asked for",
        "Judged",
        "Repaired",
        "Cost, US$",
        "Without answer",
        "Failed tries",
        "Model",
    )
    view = View(
        "coverage",
        "Judges: verified or why not",
        [Heading(name, numeric=name not in ("Judge", "Verified (eq. 9)", "Asked for", "Model")) for name in headings],
        empty="No judge is configured for this contest.",
    )
    for row in table.to_dict("records"):
        kind, cost = kinds[row["judge"]], number(row["cost_usd"])
        why = (kind.reason,) if kind.reason else ()
        judged, asked = count(row["n_judged"]), count(row["n_in_scope"])
        view.rows.append(
            [
                Cell(kind.judge, below=("in the panel",) if bool(row["in_panel"]) else (), tags=kind.tags),
                Cell("yes" if kind.verified else f"no: {kind.status}", below=why, undefined=not kind.verified),
                Cell(row["scope"], below=(f"n = {asked:,}",)),
                Cell(f"{judged:,}", below=(f"of {asked:,}",), numeric=True),
                Cell(f"{count(row['n_repaired']):,}", below=(_share(row["n_repaired"], judged),), numeric=True),
                Cell(_cost(row, cost), numeric=True, undefined=cost is None),
                _failures(None if number(row["n_tries"]) is None else row["n_failed"], asked, row["failures"]),
                _failures(row["n_failed_tries"], row["n_tries"], row["failed_tries"]),
                Cell(text(row["model"]) or (row["backend"] if judged else "–"), undefined=not judged),
            ]
        )
    return view


def _share(n: Any, of: int) -> str:
    """Of how many, and which share that is."""
    return f"of {of:,} ({100 * count(n) / of:.1f}%)" if of else "of 0"


def _failures(n: Any, of: Any, by_class: Any) -> Cell:
    """What failed, of how many, and with which classes; a dash where no model is asked."""
    if number(n) is None:
        return Cell("–", numeric=True, undefined=True)
    classes = text(by_class)
    below = (_share(n, count(of)), *([classes.replace("_", " ")] if classes else []))
    return Cell(f"{count(n):,}", below=below, numeric=True)


def _cost(row: Mapping[str, Any], cost: float | None) -> str:
    """Nothing where nobody was asked; "unpriced" where calls were made whose price is not known."""
    if cost is not None:
        return format_number(cost, 4)
    return "unpriced" if count(row["n_judged"]) and row["backend"] in ("litellm", "embedded") else "–"


def scores(metrics: pd.DataFrame, kinds: Mapping[str, JudgeKind]) -> View:
    """Table IV with intervals and n."""
    view = _metric_view("scores", "Each judge on test: value, 95% interval, n (paper 1, Table IV)", TABLE_IV)
    for judge, found in metrics_by_judge(metrics).items():
        cells = [_of_metric(_metric_cell(view, name, found), judge, name) for name in TABLE_IV]
        view.rows.append([_judge_cell(judge, kinds), *cells])
    view.remarks.append(
        "↑ higher is better, ↓ lower is better. t* is chosen on val by the best MCC there and applied unchanged; where "
        "several thresholds in a row reach that MCC, they are its plateau. MCC on val is the best of 101 thresholds: "
        "it flatters."
    )
    return view


def decisions(metrics: pd.DataFrame, kinds: Mapping[str, JudgeKind]) -> View:
    """What the judges decide at their threshold."""
    view = _metric_view("decisions", "Accept or reject at t*, on test: value, 95% interval, n", DECISIONS)
    for judge, found in metrics_by_judge(metrics).items():
        if any(name in found for name in DECISIONS):
            cells = [_of_metric(view.estimate(found.get(name)), judge, name) for name in DECISIONS]
            view.rows.append([_judge_cell(judge, kinds), *cells])
    return view


def further_metrics(metrics: pd.DataFrame, kinds: Mapping[str, JudgeKind]) -> View:
    """Every figure of the table that no other view shows, so that none is lost."""
    shown = {*TABLE_IV, *DECISIONS, *BESIDE}
    names = [name for name in dict.fromkeys(metrics["metric"]) if name not in shown]
    view = _metric_view("further", "Further figures of each judge: value, 95% interval, n", names)
    for judge, found in metrics_by_judge(metrics).items():
        if any(name in found for name in names):
            cells = [_of_metric(view.estimate(found.get(name)), judge, name) for name in names]
            view.rows.append([_judge_cell(judge, kinds), *cells])
    return view


def agreement_summary(agreement: pd.DataFrame, kinds: Mapping[str, JudgeKind]) -> View:
    """Table V, panel A."""
    view = View(
        "agreement-summary",
        "Agreement over the whole panel (paper 1, Table V, panel A)",
        (Heading("Statistic"), Heading("Value", numeric=True), *ESTIMATE_HEADINGS),
        empty="Agreement needs at least two verified judges of the panel.",
    )
    for statistic, label in (
        ("fleiss", "Fleiss' κ"),
        ("mean_cohen", "Mean pairwise Cohen's κ"),
        ("raw_agreement", "Same decision, over all pairs"),
    ):
        estimate = overall_agreement(agreement, statistic)
        if estimate is not None:
            view.rows.append([Cell(label), *_of_agreement(view.in_columns(estimate), statistic)])
    for judge, estimate in judge_agreement_means(agreement).items():
        cell = _judge_cell(judge, kinds)
        cells = _of_agreement(view.in_columns(estimate), "judge_mean_cohen", judge)
        view.rows.append([replace(cell, text=f"Mean Cohen's κ of {judge} with the others"), *cells])
    return view


def agreement_pairs(agreement: pd.DataFrame, kinds: Mapping[str, JudgeKind]) -> View:
    """Table V, panel B: each pair, highest kappa first, with the raw agreement beside it."""
    view = View(
        "agreement-pairs",
        "Agreement of each pair of judges (paper 1, Table V, panel B)",
        (
            Heading("Pair"),
            Heading("Cohen's κ", numeric=True),
            *ESTIMATE_HEADINGS,
            Heading("Same decision", "Share of the attempts on which both decide alike", numeric=True),
        ),
        empty="Agreement needs at least two verified judges of the panel.",
        table="judge_agreement",
    )
    raw = pairwise_agreement(agreement, "raw_agreement")
    pairs = pairwise_agreement(agreement, "cohen")

    def rank(pair: tuple[str, str]) -> tuple[bool, float, tuple[str, str]]:
        value = pairs[pair].value
        return value is None, -(value or 0.0), pair

    for pair in sorted(pairs, key=rank):
        labels = " · ".join(kinds[judge].label if judge in kinds else judge for judge in pair)
        same = _of_agreement([replace(view.estimate(raw.get(pair)), below=())], "raw_agreement", *pair)
        view.rows.append([Cell(labels), *_of_agreement(view.in_columns(pairs[pair]), "cohen", *pair), *same])
    return view


def trajectory_counts(table: pd.DataFrame) -> View:
    """How many trajectories there are of each kind."""

    def total(column: str) -> int:
        return int(table[column].sum())

    solved = table["solved"].astype(bool)
    turns = table["n_turns"]
    attempts = f"of {total('n_turns'):,} attempts"
    splits = " / ".join(f"{int((table['split'] == split).sum()):,}" for split in ("train", "val", "test"))
    counts = {
        "Trajectories (participant, problem)": f"{len(table):,}",
        "Solved": f"{int(solved.sum()):,} of {len(table):,}",
        "Solved at the first turn": f"{int((table['first_ac_turn'] == 1).sum()):,} of {len(table):,}",
        "With more than one attempt": f"{int((turns > 1).sum()):,} of {len(table):,}",
        "Longest, in turns": f"{count(turns.max()):,}" if len(table) else "none",
        "Rejected attempts before the first accepted one": f"{total('n_rejected_before_first_ac'):,} {attempts}",
        "Rejected attempts after the first accepted one": f"{total('n_rejected_after_first_ac'):,} {attempts}",
        "Attempts without a verdict": f"{total('n_undecided'):,} {attempts}",
        "Train / val / test": splits,
    }
    return counts_view("trajectory-counts", "Trajectories", counts)


def success(table: pd.DataFrame) -> View:
    """S(k), turns at which nothing changed left out."""
    view = View(
        "success-table",
        "Success@Turn, at the turns where it changes and the last",
        (
            Heading("Turn k"),
            Heading("Solved by turn k", numeric=True),
            Heading("S(k)", numeric=True),
            *ESTIMATE_HEADINGS,
        ),
        empty="No trajectory has a decided attempt.",
    )
    rows = table.sort_values("turn").to_dict("records")
    for row in _changes(rows, "n_solved"):
        view.rows.append(
            [
                Cell(str(count(row["turn"]))),
                Cell(f"{count(row['n_solved']):,}", numeric=True),
                *_home_first(view.in_columns(read_estimate(row), 4), "success_at_turn", turn=row["turn"]),
            ]
        )
    return view


def survival(table: pd.DataFrame) -> View:
    """The Kaplan-Meier table, turns without any event or censoring left out."""
    names = ("Turn k", "At risk", "Solved here", "Last seen here, unsolved", "Still unsolved")
    view = View(
        "survival-table",
        "Kaplan-Meier, at the turns where something happens",
        [*(Heading(name, numeric=name != "Turn k") for name in names), *ESTIMATE_HEADINGS],
        empty="No trajectory has a decided attempt.",
    )
    rows = table.sort_values("turn")
    shown = rows[(rows["turn"] == 0) | (rows["n_events"] > 0) | (rows["n_censored"] > 0)]
    for row in shown.to_dict("records"):
        counts = [f"{count(row[name]):,}" for name in ("n_at_risk", "n_events", "n_censored")]
        view.rows.append(
            [Cell(str(count(row["turn"]))), *(Cell(value, numeric=True) for value in counts),
             *_home_first(view.in_columns(read_estimate(row), 4), "survival", turn=row["turn"])]
        )  # fmt: skip
    return view


def set_aside(table: pd.DataFrame) -> View:
    """What could not be read, why, and what to do about it."""
    view = View(
        "quarantine",
        f"Data set aside: n = {len(table):,} place(s)",
        (Heading("Artifact"), Heading("Place"), Heading("Why"), Heading("Remedy")),
        empty="Nothing was set aside.",
        table="ingest_quarantine",
    )
    for row in table.to_dict("records"):
        place = text(row["place"]) or "whole artifact"
        view.rows.append(
            [Cell(row["path"], below=(row["kind"],)), Cell(place), Cell(row["reason"]), Cell(row["remedy"])]
        )
    return view


def provenance(given: ReportProvenance) -> list[View]:
    """Where the numbers come from."""
    main = {
        "Contest": given.contest,
        "Fingerprint of its files": given.fingerprint,
        "judge_pipeline": given.code_version,
        "Seed": str(given.seed),
        "Bootstrap resamples": f"{given.resamples:,}",
        "What judges saw of the prompts": given.context,
        **given.settings,
    }
    return [
        counts_view("provenance", "Where the numbers come from", main),
        _hashes("prompt-hashes", "Prompt templates (sha256)", "Judge", given.prompt_hashes),
        _hashes(
            "asked-with",
            "Parameters that judges were asked with",
            "Judge",
            {judge: asked_with_words(given.asked_with[judge]) for judge in given.asked_with},
            ("Asked with", "No judge at a provider is configured."),
        ),
        _hashes("data-versions", "Versions of the tables", "Table", given.data_versions),
    ]


def _hashes(
    name: str,
    caption: str,
    what: str,
    hashes: Mapping[str, str],
    words: tuple[str, str] = ("Version", "None was handed to the report."),
) -> View:
    view = View(name, caption, (Heading(what), Heading(words[0])), empty=words[1])
    view.rows = [[Cell(key), Cell(value)] for key, value in hashes.items()]
    return view


def _metric_view(name: str, caption: str, metrics: Sequence[str]) -> View:
    words = [METRICS.get(metric, MetricWords(metric, "neither")) for metric in metrics]
    headings = [Heading(f"{word.label}\u00a0{word.arrow}".strip(), numeric=True) for word in words]
    return View(name, caption, [Heading("Judge"), *headings], empty="No judge has a figure on test.")


def _judge_cell(judge: str, kinds: Mapping[str, JudgeKind]) -> Cell:
    return Cell(judge, tags=kinds[judge].tags if judge in kinds else ())


def _metric_cell(view: View, name: str, found: Mapping[str, Estimate]) -> Cell:
    """A figure of Table IV, with what stands inside its cell: the plateau of t*, the clipped of LogLoss."""
    if name == "threshold":
        ends = [found[end].value for end in BESIDE[:2] if end in found]
        low, high = (*ends, None, None)[:2]
        plateau = () if low is None or high is None or low == high else (f"plateau {low:.2f}–{high:.2f}",)
        return view.estimate(found.get(name), 2, plateau)
    if name == "log_loss":
        clipped = found.get("log_loss_n_clipped")
        further = () if clipped is None or not clipped.value else (f"{int(clipped.value):,} clipped",)
        return view.estimate(found.get(name), 3, further)
    return view.estimate(found.get(name))


def _home(cell: Cell, table: str, **key: Any) -> Cell:
    """A figure's cell with the way to where it comes from; a figure that was not computed has none."""
    return cell if cell.estimate is None else replace(cell, link=figure_link(table, **key))


def _home_first(cells: list[Cell], table: str, **key: Any) -> list[Cell]:
    return [_home(cells[0], table, **key), *cells[1:]]


def _of_metric(cell: Cell, judge: str, metric: str) -> Cell:
    return _home(cell, "judge_metrics", judge=judge, metric=metric)


def _of_agreement(cells: list[Cell], statistic: str, *judges: str) -> list[Cell]:
    named = dict(zip(("judge_1", "judge_2"), judges, strict=False))
    return _home_first(cells, "judge_agreement", statistic=statistic, rated="decision", **named)


def _changes(rows: Sequence[Mapping[Any, Any]], column: str) -> list[Mapping[Any, Any]]:
    """The first row, those that differ from the one before, and the last."""
    if not rows:
        return []
    kept = [rows[0], *(row for last, row in pairwise(rows) if count(row[column]) != count(last[column]))]
    return kept if kept[-1] is rows[-1] else [*kept, rows[-1]]
