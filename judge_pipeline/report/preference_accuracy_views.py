"""Tables of the preference report on how judges choose: Table 2, floors and people, categories, differences, biases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from judge_pipeline.figures.estimates import number, p_words, read_estimate, text
from judge_pipeline.report.inputs import JudgeKind
from judge_pipeline.report.preference_homes import Homes
from judge_pipeline.report.view import ESTIMATE_HEADINGS, Cell, Heading, View
from judge_pipeline.tables.preference_accuracy import PREFERENCE_ACCURACY, PREFERENCE_FIGURES

TABLE_2 = ("acc_pc", "acc", "gap", "choice_share", "consistent_share", "valid_share")
OF_A_CATEGORY = ("acc_pc", "acc", "consistent_share", "first_slot_share")
BIASES = ("first_slot_share", "longer_share", "length_bias")
DIFFERENCES = ("acc", "acc_pc", "consistent_share")
STATISTICS = {"spearman": "Spearman's ρ", "kendall": "Kendall's τ-b"}

_ARROWS = {"acc_pc": "↑", "acc": "↑", "choice_share": "↑", "consistent_share": "↑", "valid_share": "↑"}
_KINDS = {"floor": "floor", "family": "family", "people": "people"}

Row = Mapping[str, Any]
JudgeCell = Callable[[str], Cell]


def judge_cells(kinds: Mapping[str, JudgeKind]) -> JudgeCell:
    """How a judge that is called by its label is shown: its name with its tags beside it."""
    by_label = {kind.label: kind for kind in kinds.values()}

    def cell(label: str) -> Cell:
        kind = by_label.get(label)
        return Cell(label) if kind is None else Cell(kind.judge, tags=kind.tags)

    return cell


def under_rule(accuracy: pd.DataFrame, rule: str) -> pd.DataFrame:
    """The rows of one scoring rule; those of the table's first one where it has none of this."""
    found = accuracy[accuracy["rule"] == rule]
    return found if len(found) or accuracy.empty else accuracy[accuracy["rule"] == accuracy["rule"].iloc[0]]


def accuracy_views(
    accuracy: pd.DataFrame, families: Mapping[str, str], kinds: Mapping[str, JudgeKind], homes: Homes, rule: str,
    words: str,
) -> list[View]:  # fmt: skip
    """The tables on choosing.

    Args:
        accuracy: table PREFERENCE_ACCURACY, judges called by their labels.
        families: judge's label -> its family, where it has one.
        kinds: what each judge is.
        homes: where figures are led home.
        rule: the scoring rule.
        words: what it counts as right; may be empty.
    """
    own, cell = under_rule(accuracy, rule), judge_cells(kinds)
    shown = rule if own.empty else str(own["rule"].iloc[0])
    return [
        table_2(own, families, cell, homes, f"Scoring rule {shown}{f': {words}' if words and shown == rule else ''}"),
        levels(own, homes),
        categories(own, cell, homes),
        differences(own, cell, homes),
        biases(own, cell, homes),
        agreement(own, cell, homes),
        *([] if accuracy["rule"].nunique() < 2 else [rules(accuracy, cell, homes)]),
    ]


def table_2(own: pd.DataFrame, families: Mapping[str, str], cell: JudgeCell, homes: Homes, rule_words: str) -> View:
    """Judges, those of a family together: Acc_PC, Acc, and the shares between the two (TRACE, Table 2)."""
    headings = [Heading("Judge"), *(_heading(name) for name in TABLE_2)]
    view = View(
        "table-2", f"How judges choose, by family (TRACE, Table 2). {rule_words}", headings,
        empty="No judge has a figure.",
    )  # fmt: skip
    found = _by_name(own[(own["of"] == "judge") & own["category"].isna()])
    places = {family: place for place, family in enumerate(dict.fromkeys(families.get(judge, "") for judge in found))}
    for judge in sorted(found, key=lambda name: places[families.get(name, "")]):
        figures = [_estimate(view, found[judge].get(name), homes) for name in TABLE_2]
        family = families.get(judge)
        view.rows.append([replace(cell(judge), below=(family,) if family else ()), *figures])
    view.remarks.append(
        "Acc counts invalid, tied and order-dependent answers as wrong; Acc_PC leaves them out and rests on the choice "
        "share. Read both: a judge that seldom chooses can have a high Acc_PC."
    )
    return view


def levels(own: pd.DataFrame, homes: Homes) -> View:
    """What judges are to be held against: floors, the families' means, people."""
    view = View(
        "levels",
        "Floors, families and people under the same rule",
        (Heading("What"), Heading("Kind"), Heading("Figure"), Heading("Value", numeric=True), *ESTIMATE_HEADINGS),
        empty="No floor could be computed.",
    )
    for kind, shown in _KINDS.items():
        names = ("acc", "acc_pc", "gap", "first_slot_share") if kind == "family" else tuple(PREFERENCE_FIGURES)
        rows = own[(own["of"] == kind) & own["category"].isna() & own["figure"].isin(names)]
        for row in rows.to_dict("records"):
            other = text(row["other"])
            below = (f"against {other}", _p(row)) if other else ()
            value, *interval_and_n = view.in_columns(read_estimate(row))
            view.rows.append(
                [
                    Cell(str(row["name"])), Cell(shown), Cell(PREFERENCE_FIGURES[row["figure"]], below=below),
                    homes.of_cell(value, PREFERENCE_ACCURACY, row), *interval_and_n,
                ]
            )  # fmt: skip
    if (own["of"] == "people").any():
        view.remarks.append(
            "Majority - best judge takes the judge's Acc over all its pairs, as the paper's Table 2 does."
        )
    return view


def categories(own: pd.DataFrame, cell: JudgeCell, homes: Homes) -> View:
    """The same by category of the pairs."""
    headings = (Heading("Judge"), Heading("Category"), *(_heading(name) for name in OF_A_CATEGORY))
    view = View(
        "categories", "By category of the pairs", headings, empty="No pair has a category.", foldable=True,
        table="preference_accuracy",
    )  # fmt: skip
    rows = own[(own["of"] == "judge") & own["category"].notna()]
    for (judge, category), part in rows.groupby(["name", "category"], sort=False):
        found = {row["figure"]: row for row in part.to_dict("records")}
        figures = [_estimate(view, found.get(name), homes) for name in OF_A_CATEGORY]
        view.rows.append([cell(str(judge)), Cell(str(category)), *figures])
    return view


def differences(own: pd.DataFrame, cell: JudgeCell, homes: Homes) -> View:
    """Every two judges on the same pairs, corrected for looking at all of them."""
    headings = (
        Heading("Judge"),
        Heading("Less this one"),
        *(Heading(PREFERENCE_FIGURES[f], numeric=True) for f in DIFFERENCES),
    )
    view = View(
        "differences", "Differences between judges on the same pairs, p corrected by Holm", headings,
        empty="A comparison needs two judges.", foldable=True, table="preference_accuracy",
    )  # fmt: skip
    rows = own[own["of"] == "difference"]
    for (one, other), part in rows.groupby(["name", "other"], sort=False):
        found = {row["figure"]: row for row in part.to_dict("records")}
        figures = [_estimate(view, found.get(name), homes, tested=True) for name in DIFFERENCES]
        view.rows.append([cell(str(one)), cell(str(other)), *figures])
    return view


def biases(own: pd.DataFrame, cell: JudgeCell, homes: Homes) -> View:
    """Position and length bias with their tests."""
    view = View(
        "biases", "Position and length bias, p corrected by Holm over judges",
        (Heading("Judge"), *(_heading(name) for name in BIASES)), empty="No judge has a figure.",
    )  # fmt: skip
    for judge, found in _by_name(own[(own["of"] == "judge") & own["category"].isna()]).items():
        figures = [_estimate(view, found.get(name), homes, tested=name != "longer_share") for name in BIASES]
        view.rows.append([cell(judge), *figures])
    view.remarks.append(
        "First-slot share: 0.5 where the place of a response is nothing to the judge. Length bias: how much more often "
        "the judge chooses the longer response than the labels do on the same pairs; 0 is none."
    )
    return view


def agreement(own: pd.DataFrame, cell: JudgeCell, homes: Homes) -> View:
    """Every two raters, and all judges together."""
    headings = (
        Heading("Rater"),
        Heading("Rater"),
        Heading("Same choice", numeric=True),
        Heading("Cohen's κ", numeric=True),
    )
    view = View(
        "agreement", "Agreement of judges with each other and with each annotator", headings,
        empty="Agreement needs two raters.", foldable=True, table="preference_accuracy",
    )  # fmt: skip
    rows = own[own["of"] == "agreement"]
    for (one, other), part in rows.groupby(["name", "other"], sort=False):
        found = {row["figure"]: row for row in part.to_dict("records")}
        figures = [_estimate(view, found.get(name), homes) for name in ("raw_agreement", "cohen")]
        view.rows.append([cell(str(one)), cell(str(other)), *figures])
    return view


def rules(accuracy: pd.DataFrame, cell: JudgeCell, homes: Homes) -> View:
    """Acc of each judge under every scoring rule that was computed: for comparison with other papers."""
    rows = accuracy[(accuracy["of"] == "judge") & (accuracy["figure"] == "acc") & accuracy["category"].isna()]
    names = list(dict.fromkeys(rows["rule"]))
    view = View(
        "rules",
        "Acc of the same answers under other scoring rules",
        (Heading("Judge"), *(Heading(n, numeric=True) for n in names)),
    )
    for judge, part in rows.groupby("name", sort=False):
        found = {row["rule"]: row for row in part.to_dict("records")}
        view.rows.append([cell(str(judge)), *(_estimate(view, found.get(name), homes) for name in names)])
    return view


def rank_relations(ranks: pd.DataFrame | None) -> View:
    """How alike this set and others rank judges."""
    view = View(
        "ranks", "How alike sets rank judges (TRACE, section 5.1)",
        (
            Heading("Sets"), Heading("Ranked by"), Heading("Statistic"), Heading("Value", numeric=True),
            Heading("Judges", numeric=True), Heading("p (Holm)", numeric=True),
        ),
        empty="This set was compared with no other one.", foldable=True, table="preference_ranks",
    )  # fmt: skip
    for row in [] if ranks is None else ranks.to_dict("records"):
        value, _, n = view.in_columns(read_estimate(row))
        view.rows.append(
            [
                Cell(f"{row['set_1']} and {row['set_2']}"), Cell(PREFERENCE_FIGURES.get(row["figure"], row["figure"])),
                Cell(STATISTICS[row["statistic"]]), value, n, Cell(p_words(number(row["p_holm"])), numeric=True),
            ]
        )  # fmt: skip
    return view


def _by_name(rows: pd.DataFrame) -> dict[str, dict[str, Row]]:
    found: dict[str, dict[str, Row]] = {}
    for row in rows.to_dict("records"):
        found.setdefault(row["name"], {})[row["figure"]] = row
    return found


def _heading(figure: str) -> Heading:
    return Heading(f"{PREFERENCE_FIGURES[figure]}\u00a0{_ARROWS.get(figure, '')}".strip(), numeric=True)


def _estimate(view: View, row: Row | None, homes: Homes, *, tested: bool = False) -> Cell:
    """A figure as a cell; with its corrected p where it is tested and there is one."""
    if row is None:
        return view.estimate(None)
    estimate = read_estimate(row)
    cell = view.estimate(estimate, further=[_p(row)] if tested and estimate.value is not None else ())
    return homes.of_cell(cell, PREFERENCE_ACCURACY, row)


def _p(row: Row) -> str:
    return p_words(number(row["p_holm"]))
