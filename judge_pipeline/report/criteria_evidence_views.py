"""Tables of the criteria report on verdicts: Table 6, aspects, decisive criteria."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from judge_pipeline.figures.criteria_figures import of_judges
from judge_pipeline.figures.estimates import format_number, number, p_words, read_estimate
from judge_pipeline.report.criteria_inputs import CriteriaReportInput
from judge_pipeline.report.criteria_views import judge_cell, led_home
from judge_pipeline.report.view import Cell, Heading, View
from judge_pipeline.tables.criteria_ablation import (
    ASPECT_FIGURES,
    CRITERIA_ABLATION,
    CRITERIA_ASPECTS,
    SKEW_FIGURES,
    SKEW_LEVELS,
    SKEW_PARTS,
    SKEW_STAGES,
)

_OTHER = ("removed_share", "pairs_with_removed_share", "criterion_skew_change", "majority_skew_change")
_STAGES = {"before": "Before SCF", "after": "After SCF"}


def skew(given: CriteriaReportInput, ablation: pd.DataFrame) -> View:
    """Table 6: A, B and tie before SCF and after it, of verdicts and of majorities, beside the labels."""
    view = View(
        "paper-6", "Table 6 on these pairs: position skew before and after filtering (CriterAlign, Table 6)",
        (Heading("What"), Heading("Judge"), Heading("Configuration"),
         *(Heading(words, numeric=True) for words in SKEW_PARTS.values()), Heading("n", numeric=True)),
        empty="No configuration asks in both orders.", foldable=True,
    )  # fmt: skip
    for judge, name, found in _of_table_6(ablation):
        for level in SKEW_LEVELS:
            lead = {"criterion": "Verdicts on criteria", "majority": "Majorities of a pair"}[level]
            for stage in SKEW_STAGES:
                own = [found[f"{level}_{part}_{stage}"] for part in SKEW_PARTS]
                view.rows.append(_skew_row(view, given, judge, name, f"{lead}, {_STAGES[stage].lower()}", own))
        own = [found[f"label_{part}"] for part in SKEW_PARTS]
        view.rows.append(_skew_row(view, given, judge, name, "Labels of the same pairs", own))
    view.remarks.append(
        "Shares of A, B and tie leave verdicts of insufficient, and invalid ones, out. A less B is in shares; A/B is "
        "one count over the other. Before SCF stands the verdict of order AB, in which y_A is shown first."
    )
    return view


def filtering(given: CriteriaReportInput, ablation: pd.DataFrame) -> View:
    """How much SCF removes, and what that does to the skew."""
    view = View(
        "filtering", "How much filtering removes, and what it does to the skew",
        (Heading("Configuration"), Heading("Judge"), *(Heading(SKEW_FIGURES[name], numeric=True) for name in _OTHER)),
        empty="No configuration asks in both orders.",
    )  # fmt: skip
    for judge, name, found in _of_table_6(ablation):
        cells = [
            led_home(view.estimate(read_estimate(row), further=_p(row)), CRITERIA_ABLATION, row)
            for row in (found[each] for each in _OTHER)
        ]
        view.rows.append([Cell(name), judge_cell(given, judge), *cells])
    return view


def aspects(given: CriteriaReportInput, table: pd.DataFrame) -> View:
    """Which aspects carry the evidence of each judge's full configuration, and how often they agree with labels."""
    view = View(
        "aspects", "Which aspects carry the evidence, of each judge's full configuration",
        (Heading("Aspect"), Heading("Judge"), *(Heading(words, numeric=True) for words in ASPECT_FIGURES.values())),
        empty="No full configuration has evidence.", table="criteria_aspects",
    )  # fmt: skip
    for judge in given.judges:
        own = table[(table["judge"] == judge) & (table["configuration"] == given.full_of(judge))]
        for aspect, part in own.groupby("aspect", sort=False):
            found = {row["figure"]: row for row in part.to_dict("records")}
            cells = [_of_aspect(view, found.get(name)) for name in ASPECT_FIGURES]
            view.rows.append([Cell(str(aspect)), judge_cell(given, judge), *cells])
    view.remarks.append(
        "Decides the majority: the share of verdicts without which another side, or none, would have more criteria. "
        "The last column is how often the majority of criteria is the label, less how often it is without the aspect."
    )
    return view


def decisive(given: CriteriaReportInput, table: pd.DataFrame, links: Mapping[str, str]) -> View:
    """Criteria without which the majority would be another, where full and monolithic decide otherwise.

    Args:
        given: the tables.
        table: DECISIVE_CRITERIA.
        links: pair -> where the page shows it.
    """
    view = View(
        "decisive", "Criteria that turn the majority, where the full configuration decides otherwise than monolithic",
        (Heading("Criterion"), Heading("Aspect"), Heading("Pair"), Heading("Judge"), Heading("Verdict"),
         Heading("Majority, and without it"), Heading("Monolithic"), Heading("Full"), Heading("Label")),
        empty="There is none.", foldable=True, table="decisive_criteria",
    )  # fmt: skip
    for judge in given.judges:
        own = table[(table["judge"] == judge) & (table["configuration"] == given.full_of(judge))]
        for row in own.to_dict("records"):
            pair = row["pair_id"]
            view.rows.append(
                [
                    Cell(row["text"], below=(row["criterion"],)), Cell(row["aspect"]), Cell(pair, link=links.get(pair)),
                    judge_cell(given, judge), Cell(row["verdict"]),
                    Cell(f"{row['majority']} → {row['majority_without']}"),
                    Cell(_said(row["monolithic"])), Cell(_said(row["decision"])), Cell(row["label"]),
                ]
            )  # fmt: skip
    return view


def decisive_aspects(table: pd.DataFrame) -> Counter[str]:
    """Aspect -> how many decisive criteria are of it."""
    return Counter(table["aspect"])


def _of_table_6(ablation: pd.DataFrame) -> list[tuple[str, str, dict[str, dict[str, Any]]]]:
    rows = of_judges(ablation)
    return [
        (str(judge), str(name), {row["figure"]: row for row in part.to_dict("records")})
        for (judge, name), part in rows[rows["paper_table"] == "6"].groupby(["judge", "configuration"], sort=False)
    ]


def _skew_row(
    view: View, given: CriteriaReportInput, judge: str, name: str, lead: str, rows: list[dict[str, Any]]
) -> list[Cell]:
    first = read_estimate(rows[0])
    left_out = f" ({first.n_left_out:,} left out)" if first.n_left_out else ""
    cells = [_short(view, row) for row in rows]
    return [Cell(lead), judge_cell(given, judge), Cell(name), *cells, Cell(f"{first.n:,}{left_out}", numeric=True)]


def _short(view: View, row: Mapping[str, Any]) -> Cell:
    """A value with its interval; n stands in a column of its own."""
    estimate = read_estimate(row)
    cell = view.estimate(estimate)
    short = replace(cell, below=cell.below[:1] if estimate.ci95 else (), further=())
    return led_home(short, CRITERIA_ABLATION, row)


def _of_aspect(view: View, row: Mapping[str, Any] | None) -> Cell:
    return view.estimate(None) if row is None else led_home(view.estimate(read_estimate(row)), CRITERIA_ASPECTS, row)


def _p(row: Mapping[str, Any]) -> list[str]:
    p_value = number(row["p_holm"])
    return [] if p_value is None else [p_words(p_value)]


def _said(decision: Any) -> str:
    return decision if isinstance(decision, str) else "invalid"


def share_words(value: float) -> str:
    """A share in per cent."""
    return f"{format_number(100 * value, 1)}%"
