"""Tables of the criteria report on what configurations reach, gain and take (CriterAlign, Tables 1-5, 7 and 8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from judge_pipeline.figures.criteria_figures import figures_of, floors_of, of_judges
from judge_pipeline.figures.estimates import format_number, number, p_words, read_estimate, text
from judge_pipeline.report.criteria_inputs import CriteriaReportInput, is_scripted
from judge_pipeline.report.trace_anchor import CRITERIA_FOLDER, row_link
from judge_pipeline.report.view import ESTIMATE_HEADINGS, Cell, Heading, View
from judge_pipeline.settings.criteria import Configuration
from judge_pipeline.table_schema import Table
from judge_pipeline.tables.criteria_ablation import (
    ABLATION_FIGURES,
    CALL_FIGURES,
    CRITERIA_ABLATION,
    REFINEMENT_PHASES,
    REFINEMENT_WAYS,
)

PAPER_TITLES: Mapping[str, str] = {
    "1": "against monolithic judging and baselines",
    "2": "component by component",
    "3": "controls of guidance",
    "3a": "guidance without criteria, and its categories",
    "3b": "which stages are given guidance",
    "4": "judges, and who wrote their guidance",
    "5": "from pointwise to pairwise",
    "8": "guidance from another set",
}
"""Table of the paper -> what it shows; 6 and 7 are about verdicts and calls."""

OF_ALL = (
    "acc", "gain_over_monolithic", "mended_share", "spoiled_share", "gain_over_unguided", "invalid_share",
    "no_evidence_share", "decision_skew",
)  # fmt: skip
_GAINS = ("gain_over_monolithic", "gain_over_previous", "gain_over_unguided")

Row = Mapping[str, Any]


def configurations(given: CriteriaReportInput) -> View:
    """What was judged: every configuration with what it does, and how many pairs each judge decided by it."""
    view = View(
        "configurations", "Configurations, what each does, and who judged by it",
        (Heading("Configuration"), Heading("What it does"), Heading("Rows of the paper"), Heading("Judges and pairs")),
        empty="Nothing was judged.",
    )  # fmt: skip
    by_judge = {judge: given.of_judge(judge) for judge in given.judges}
    judged = {own.configuration for own in given.judged}
    order = [name for name in given.configurations if name in judged]
    for name in (*order, *sorted(judged - set(order))):
        setting = given.configurations.get(name)
        decided = [
            f"{given.called(judge)}: {len(own[name].criteria_decisions):,} pairs"
            for judge, own in by_judge.items()
            if name in own
        ]
        view.rows.append(
            [
                Cell(name, below=(setting.description,) if setting is not None and setting.description else ()),
                Cell("no longer in criteria.yaml" if setting is None else in_words(setting)),
                Cell("" if setting is None else ", ".join(setting.paper_rows)),
                Cell(", ".join(decided)),
            ]
        )
    return view


def in_words(own: Configuration) -> str:
    """What a configuration does, stage by stage."""
    if own.is_monolithic:
        parts = ["one call decides"]
    else:
        made = {"pair": "from both responses", "question": "from what was asked", "weighted": "with weights"}
        parts = [f"criteria {made[own.generator]}", f"{own.criterion_judge} criterion judge"]
        parts += [{"btcr": "ties refined in batches (BTCR)", "rrd": "recursive decomposition"}[own.refinement]] if (
            own.refinement != "none"
        ) else []  # fmt: skip
        parts += ["filtered by order (SCF)"] if own.swap_filter and own.criterion_judge == "pairwise" else []
        sums = {"judge": "a final judge decides", "uniform": "sums decide", "llm_weights": "sums, weights by a judge",
                "own_weights": "sums with weights of generation"}  # fmt: skip
        parts.append(sums[own.aggregator])
    if own.guidance is not None:
        whose = own.guidance.file or f"by {own.guidance.synthesizer or 'the judge itself'}"
        parts.append(f"guidance ({whose}) for {', '.join(own.guidance.stages).replace('_', ' ')}")
    return "; ".join(parts)


def paper_table(given: CriteriaReportInput, ablation: pd.DataFrame, table: str) -> View:
    """One of the paper's tables on one's own pairs, the rows of a judge together."""
    title = PAPER_TITLES.get(table)
    view = View(
        f"paper-{_slug(table)}",
        f"Table {table} on these pairs: {title} (CriterAlign, Table {table})" if title else f"{table}: rows of our own",
        (Heading("Row"), Heading("Judge"), Heading("Acc ↑", numeric=True),
         Heading("Gain over monolithic", numeric=True), Heading("Gain over the row before", numeric=True),
         Heading("Requests a pair", numeric=True), Heading("Tokens a pair", numeric=True),
         Heading("US dollars a pair", numeric=True)),
        empty="No configuration stands for a row of it.",
    )  # fmt: skip
    rows = ablation[ablation["paper_table"] == table]
    for (judge, row, name), part in rows.groupby(["judge", "paper_row", "configuration"], sort=False):
        found = {own["figure"]: own for own in part.to_dict("records")}
        view.rows.append(
            [
                Cell(str(row), below=(str(name),)),
                judge_cell(given, str(judge)),
                *(_estimate(view, found.get(figure)) for figure in ("acc", *_GAINS[:2])),
                *_costs(ablation, str(judge), str(name)),
            ]
        )
    if view.rows:
        view.remarks.append(
            "Gains are on the pairs that both rows decided, p paired and corrected by Holm over the rows of this table."
        )
    return view


def synthesizers(given: CriteriaReportInput, ablation: pd.DataFrame) -> View:
    """Table 4: each judge beside itself with guidance by whom."""
    view = View(
        "paper-4", "Table 4 on these pairs: judges, and who wrote their guidance (CriterAlign, Table 4)",
        (Heading("Judge"), Heading("Guidance by"), Heading("Monolithic", numeric=True),
         Heading("With criteria", numeric=True), Heading("Gain", numeric=True)),
        empty="No configuration stands for a row of it.",
    )  # fmt: skip
    rows = ablation[(ablation["paper_table"] == "4") & (ablation["figure"] == "gain_over_monolithic")]
    for row in rows.to_dict("records"):
        judge, name = str(row["judge"]), str(row["configuration"])
        acc = ablation[(ablation["judge"] == judge) & (ablation["figure"] == "acc")]
        acc = acc[acc["paper_table"].isna() & acc["category"].isna()]
        of = {str(own["configuration"]): own for own in acc.to_dict("records")}
        use = given.configurations[name].guidance if name in given.configurations else None
        whose = "nobody" if use is None else use.file or use.synthesizer or "itself"
        view.rows.append(
            [
                judge_cell(given, judge), Cell(whose, below=(name,)), _estimate(view, of.get(str(row["against"]))),
                _estimate(view, of.get(name)), _estimate(view, row),
            ]
        )  # fmt: skip
    return view


def all_configurations(given: CriteriaReportInput, ablation: pd.DataFrame) -> View:
    """Every configuration with all figures of its decisions."""
    view = View(
        "all", "Every configuration: accuracy, gains, and how decisions come out",
        (Heading("Configuration"), Heading("Judge"), *(Heading(ABLATION_FIGURES[n], numeric=True) for n in OF_ALL)),
        empty="No configuration has a figure.", foldable=True, table="criteria_ablation",
    )  # fmt: skip
    rows = of_judges(ablation)
    rows = rows[rows["paper_table"].isna() & rows["category"].isna() & rows["figure"].isin(OF_ALL)]
    for (judge, name), part in rows.groupby(["judge", "configuration"], sort=False):
        found = {own["figure"]: own for own in part.to_dict("records")}
        figures = [_estimate(view, found.get(figure)) for figure in OF_ALL]
        view.rows.append([Cell(str(name)), judge_cell(given, str(judge)), *figures])
    view.remarks.append(
        "Mended: right where the judge's monolithic configuration is wrong; spoiled: the other way round; the gain is "
        "mended less spoiled. Gain by guidance: over the same without it. p is corrected by Holm over a judge's "
        "configurations."
    )
    return view


def floors(ablation: pd.DataFrame) -> View:
    """What every configuration is to be held against: Acc of what needs no judgment."""
    view = View(
        "floors", "Floors: Acc of what needs no judgment",
        (Heading("Floor"), Heading("Acc", numeric=True), *ESTIMATE_HEADINGS), empty="No floor could be computed.",
    )  # fmt: skip
    for name, own in floors_of(ablation).items():
        value, *interval_and_n = view.in_columns(own)
        view.rows.append([Cell(name), replace(value, link=_floor_link(name)), *interval_and_n])
    return view


def categories(given: CriteriaReportInput, ablation: pd.DataFrame) -> View:
    """Acc and gain by category of the pairs."""
    view = View(
        "categories", "By category of the pairs",
        (Heading("Category"), Heading("Judge"), Heading("Configuration"), Heading("Acc ↑", numeric=True),
         Heading("Gain over monolithic", numeric=True), Heading("Highest floor", numeric=True)),
        empty="No pair has a category.", foldable=True, table="criteria_ablation",
    )  # fmt: skip
    rows = of_judges(ablation)
    rows = rows[rows["category"].notna()]
    highest = {name: _highest(ablation, name) for name in dict.fromkeys(rows["category"])}
    for (judge, name, category), part in rows.groupby(["judge", "configuration", "category"], sort=False):
        found = {own["figure"]: own for own in part.to_dict("records")}
        figures = [_estimate(view, found.get(figure)) for figure in ("acc", "gain_over_monolithic")]
        view.rows.append(
            [Cell(str(category)), judge_cell(given, str(judge)), Cell(str(name)), *figures, highest[category]]
        )  # fmt: skip
    return view


def calls(given: CriteriaReportInput, ablation: pd.DataFrame) -> View:
    """What each configuration took alone."""
    view = View(
        "calls", "What each configuration takes, answers that others share included",
        (Heading("Configuration"), Heading("Judge"), *(Heading(words, numeric=True) for words in CALL_FIGURES.values()),
         Heading("Requests a pair", numeric=True)),
        empty="No calls were counted.", foldable=True,
    )  # fmt: skip
    names = (*CALL_FIGURES, "n_requests_per_pair")
    rows = of_judges(ablation)
    for (judge, name), part in rows[rows["figure"].isin(names)].groupby(["judge", "configuration"], sort=False):
        found = {own["figure"]: own for own in part.to_dict("records")}
        cells = [
            count_cell(view, found.get(figure), 4 if "usd" in figure else int(figure.endswith("pair")))
            for figure in names
        ]
        view.rows.append([Cell(str(name)), judge_cell(given, str(judge)), *cells])
    view.remarks.append("Totals over all pairs have no interval.")
    return view


def savings(given: CriteriaReportInput, ablation: pd.DataFrame) -> View:
    """Table 7: calls of refinement one a criterion, in batches, and as there were."""
    view = View(
        "paper-7", "Table 7 on these pairs: calls that batches save (CriterAlign, Table 7)",
        (Heading("Phase"), Heading("Judge"), Heading("Configuration"), Heading("One call a criterion", numeric=True),
         Heading("In batches (BTCR)", numeric=True), Heading("Saved", numeric=True), Heading("As asked", numeric=True)),
        empty="No configuration with pairwise verdicts refines criteria.", foldable=True,
    )  # fmt: skip
    own = of_judges(ablation)
    for (judge, name), part in own[own["paper_table"] == "7"].groupby(["judge", "configuration"], sort=False):
        found = {own["figure"]: own for own in part.to_dict("records")}
        for phase, words in REFINEMENT_PHASES.items():
            rows = [found.get(f"{phase}_{way}") for way in REFINEMENT_WAYS]
            plain, batched, _ = (None if row is None else number(row["value"]) for row in rows)
            cells = [_counted(row) for row in rows]
            saved = None if not plain or batched is None else f"{format_number(100 * (1 - batched / plain), 1)}%"
            view.rows.append(
                [
                    Cell(words), judge_cell(given, str(judge)), Cell(str(name)), *cells[:2],
                    Cell(saved or "–", numeric=True, undefined=saved is None), cells[2],
                ]
            )  # fmt: skip
    view.remarks.append(
        "The first two are counted in the tables of a configuration that refines in batches; one call a criterion is "
        "tied + made + not redundant, and nobody was asked so. As asked: requests that there were; one that "
        "several pairs have in common is one."
    )
    return view


def judge_cell(given: CriteriaReportInput, judge: str) -> Cell:
    """A judge's name with its tags: what a reader must know of it."""
    kind = given.kinds.get(judge)
    if kind is None:
        return Cell(judge)
    scripted = ("scripted: not a model",) if is_scripted(kind) else ()
    return Cell(judge, tags=(*scripted, *(tag for tag in kind.tags if not scripted or tag != "simulated")))


def count_cell(view: View, row: Row | None, decimals: int = 0) -> Cell:
    """A total or a mean of counts: no interval, and the same n in the whole table."""
    if row is None:
        return Cell("not computed", undefined=True, numeric=True)
    estimate = read_estimate(row)
    if estimate.value is None:
        cell = Cell("undefined", undefined=True, numeric=True, marks=view.mark(estimate), estimate=estimate)
    else:
        cell = Cell(f"{estimate.value:,.{decimals}f}", numeric=True, estimate=estimate)
    return led_home(cell, CRITERIA_ABLATION, row)


def led_home(cell: Cell, table: Table, row: Row) -> Cell:
    """A figure's cell with the way to where it comes from."""
    return replace(cell, link=row_link(CRITERIA_FOLDER, table, row))


def _floor_link(name: str) -> str:
    key = {"judge": name, "figure": "acc"}
    return row_link(CRITERIA_FOLDER, CRITERIA_ABLATION, {**dict.fromkeys(CRITERIA_ABLATION.key), **key})


def _costs(ablation: pd.DataFrame, judge: str, name: str) -> list[Cell]:
    def value(figure: str) -> float | None:
        own = figures_of(ablation, judge, figure).get(name)
        return None if own is None else own.value

    tokens = [value(figure) for figure in ("tokens_in_per_pair", "tokens_out_per_pair")]
    known = [each for each in tokens if each is not None]
    return [
        _plain(value("n_requests_per_pair"), 1),
        _plain(sum(known) if len(known) == len(tokens) else None, 0),
        _plain(value("cost_usd_per_pair"), 5),
    ]


def _counted(row: Row | None) -> Cell:
    cell = _plain(None if row is None else number(row["value"]), 0)
    return cell if row is None or cell.undefined else led_home(cell, CRITERIA_ABLATION, row)


def _plain(value: float | None, decimals: int) -> Cell:
    return Cell("not known", numeric=True, undefined=True) if value is None else Cell(
        f"{value:,.{decimals}f}", numeric=True
    )  # fmt: skip


def _highest(ablation: pd.DataFrame, category: str) -> Cell:
    known = {name: own.value for name, own in floors_of(ablation, category).items() if own.value is not None}
    if not known:
        return Cell("undefined", numeric=True, undefined=True)
    best = max(known, key=lambda name: known[name])
    return Cell(format_number(known[best]), below=(best,), numeric=True)


def _estimate(view: View, row: Row | None) -> Cell:
    """An estimate as a cell, with its corrected p where it was tested."""
    if row is None:
        return Cell("–", numeric=True, undefined=True)
    p_value = number(row["p_holm"])
    further = [p_words(p_value)] if p_value is not None else []
    over = text(row["against"])
    further += [f"over {over}"] if over and row["figure"] != "gain_over_monolithic" else []
    return led_home(view.estimate(read_estimate(row), further=further), CRITERIA_ABLATION, row)


def _slug(table: str) -> str:
    return "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in table.lower()) or "none"
