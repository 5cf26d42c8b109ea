"""Tables of the preference report on what people and judges weigh: the tests side by side, coefficients, models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from judge_pipeline.figures.estimates import count, format_number, number, p_words, read_estimate
from judge_pipeline.report.preference_accuracy_views import JudgeCell
from judge_pipeline.report.preference_homes import Homes
from judge_pipeline.report.preference_rubric_views import verdict_cell
from judge_pipeline.report.view import Cell, Heading, View
from judge_pipeline.table_schema import Table
from judge_pipeline.tables.misalignment import (
    EFFECTS,
    MISALIGNMENT,
    MISALIGNMENT_TESTS,
    PREFERENCE_MODEL_FITS,
    PREFERENCE_MODELS,
)

HIGH_VIF = 10.0
"""From this variance inflation on an item is told from others by few pairs (``preference_models.HIGH_VIF``)."""

ANTI_CONSERVATIVE = "anti-conservative"
_OF_A_JUDGE = ("paired", "trace_per_judge")
_OTHER_EFFECTS = ("marginal_effect", "relative")

Row = Mapping[str, Any]


def divergent_items(tested: pd.DataFrame) -> list[str]:
    """The items by the size of the pooled difference of coefficients, the most divergent first; undefined ones last."""
    ours = _pooled(tested, "coefficient", "paired")
    return sorted(ours, key=lambda item: -abs(number(ours[item]["value"]) or 0.0))


def misaligned_items(tested: pd.DataFrame, models: pd.DataFrame | None, chooser: str, homes: Homes) -> View:
    """Every item: pooled judges against the labels' chooser, by our test and by the paper's two.

    Args:
        tested: table MISALIGNMENT, items by their titles.
        models: table PREFERENCE_MODELS, for variance inflation; None: not made.
        chooser: what the labels' side is called.
        homes: where figures are led home.
    """
    view = View(
        "misaligned-items", "Where judges, pooled, weigh an item otherwise; the most divergent first",
        (
            Heading("Item"), Heading(chooser.capitalize(), numeric=True), Heading("Judges, pooled", numeric=True),
            Heading("Difference", numeric=True), Heading("Ours", MISALIGNMENT_TESTS["paired"]),
            Heading(
                f"Paper's ({ANTI_CONSERVATIVE})",
                f"{MISALIGNMENT_TESTS['trace_pooled']}; below, how many judges differ alone. "
                f"{MISALIGNMENT_TESTS['trace_per_judge']}",
            ),
            Heading(f"Difference: {EFFECTS['marginal_effect'].lower()}", numeric=True),
            Heading(f"Difference: {EFFECTS['relative'].lower()}", numeric=True), Heading("VIF", numeric=True),
        ),
        empty="No item was tested.",
    )  # fmt: skip
    found = {(effect, "paired"): _pooled(tested, effect, "paired") for effect in EFFECTS}
    found["coefficient", "trace_pooled"] = _pooled(tested, "coefficient", "trace_pooled")
    each = tested[(tested["effect"] == "coefficient") & (tested["test"] == "trace_per_judge")]
    vifs = _vifs(models)
    for item in divergent_items(tested):
        ours, papers = found["coefficient", "paired"][item], found["coefficient", "trace_pooled"].get(item)
        of_judges = each[(each["item"] == item) & each["misaligned"].notna()]
        view.rows.append(
            [
                Cell(item), _plain(ours["people"]), _plain(ours["judges"], _spread(ours)),
                _estimate(view, MISALIGNMENT, ours, homes), _verdict(ours, "p_bh", "BH"),
                _papers(papers, of_judges),
                *(_other_effect(view, found[name, "paired"].get(item), homes) for name in _OTHER_EFFECTS),
                _plain(vifs.get(item)),
            ]
        )  # fmt: skip
    view.remarks += [
        "Ours resamples pairs, the labels' side and the judges together, and corrects over items (Benjamini-Hochberg). "
        "The paper's two take the labels' coefficient as known, which is estimated from as few pairs: with nothing to "
        "find, the pooled one names about half of all items and the one per judge about one in six.",
        "A judge that weighs items alike but decides more firmly differs in coefficients, and not in the relative "
        "ones: a difference that only the coefficients show may be one of firmness.",
    ]
    return view


def misaligned_judges(tested: pd.DataFrame, cell: JudgeCell, homes: Homes) -> View:
    """The judges and items for which ours or the paper's test finds a difference, those that ours finds first."""
    view = View(
        "misaligned-judges", "Single judges that weigh an item otherwise, by ours or by the paper's test",
        (
            Heading("Judge"), Heading("Item"), Heading("Difference", numeric=True), Heading("Ours"),
            Heading(f"Paper's ({ANTI_CONSERVATIVE})"), Heading("Relative: ours"),
        ),
        empty="No test finds a difference of a single judge.", foldable=True, table="misalignment",
    )  # fmt: skip
    rows = tested[tested["judge"].notna()]
    found = {(r["effect"], r["test"], r["judge"], r["item"]): r for r in rows.to_dict("records")}
    keys = [(judge, item) for effect, test, judge, item in found if (effect, test) == ("coefficient", "paired")]
    told = [key for key in keys if any(_found(found.get(("coefficient", test, *key))) for test in _OF_A_JUDGE)]
    view.remarks += [f"{len(keys) - len(told):,} of {len(keys):,} judges' items are not listed: no test finds them."]
    for judge, item in sorted(told, key=lambda key: _rank(found["coefficient", "paired", *key])):
        ours = found["coefficient", "paired", judge, item]
        papers = found.get(("coefficient", "trace_per_judge", judge, item))
        relative = found.get(("relative", "paired", judge, item))
        view.rows.append(
            [
                cell(judge), Cell(item), _estimate(view, MISALIGNMENT, ours, homes), _verdict(ours, "p_bh", "BH"),
                Cell("–") if papers is None else verdict_cell(papers["misaligned"]),
                Cell("–") if relative is None else _verdict(relative, "p_bh", "BH"),
            ]
        )  # fmt: skip
    return view


def coefficients(
    models: pd.DataFrame, fits: pd.DataFrame | None, cell: JudgeCell, chooser: str, order: Sequence[str],
    homes: Homes,
) -> View:  # fmt: skip
    """Coefficients of every model, a row each, beside how well it predicts pairs that it did not see."""
    own = models[models["effect"] == "coefficient"]
    items = [
        *(item for item in order if item in set(own["item"])),
        *(i for i in dict.fromkeys(own["item"]) if i not in order),
    ]
    view = View(
        "coefficients", "Coefficients of every model, beside its accuracy on held-out pairs",
        (
            Heading("Model of"), Heading("Held-out accuracy", numeric=True),
            *(Heading(item, numeric=True) for item in items),
        ),
        empty="No model was fitted.", table="preference_models",
    )  # fmt: skip
    fitted = {} if fits is None else {_key(row): row for row in fits.to_dict("records")}
    for key, rows in own.groupby(own["judge"].fillna(""), sort=False):
        found = {row["item"]: row for row in rows.to_dict("records")}
        fit = fitted.get(str(key))
        floor = [] if fit is None else [_floor(fit)]
        held_out = _estimate(view, PREFERENCE_MODEL_FITS, fit, homes, floor)
        values = [_coefficient(view, found.get(item), homes) for item in items]
        n = ", ".join(dict.fromkeys(f"n = {count(row['n']):,}" for row in found.values()))
        view.rows.append([replace(_name(str(key), cell, chooser), below=(n,)), held_out, *values])
    view.remarks.append("A model that is no better than its floor says nothing about what its chooser weighs.")
    return view


def model_fits(fits: pd.DataFrame, models: pd.DataFrame | None, cell: JudgeCell, chooser: str, homes: Homes) -> View:
    """How far each model can be trusted: held-out accuracy against its floor, separation, variance inflation."""
    view = View(
        "model-fits", "How far each model can be trusted",
        (
            Heading("Model of"), Heading("Held-out accuracy", numeric=True), Heading("Floor", numeric=True),
            Heading("Above it"), Heading("Chose B", numeric=True), Heading("Separated"),
            Heading("Highest VIF", numeric=True), Heading("Resamples skipped", numeric=True),
        ),
        empty="No model was fitted.",
    )  # fmt: skip
    for row in fits.to_dict("records"):
        key = _key(row)
        vifs = _vifs(models, key)
        highest = max(vifs, key=lambda item: vifs[item], default=None)
        view.rows.append(
            [
                _name(key, cell, chooser), _estimate(view, PREFERENCE_MODEL_FITS, row, homes), _plain(row["floor"]),
                Cell(above_floor(row)),
                Cell(f"{count(row['n_chose_b']):,}", below=(f"of {count(row['n']):,}",), numeric=True),
                verdict_cell(row["separated"]),
                _plain(None) if highest is None else _plain(vifs[highest], (highest,)),
                Cell(f"{count(row['n_single_class']):,}", below=(f"of {count(row['n_resamples']):,}",), numeric=True),
            ]
        )  # fmt: skip
    view.remarks.append(
        "Separated: the items determine the choices of some pairs without error, so that the penalty alone keeps "
        f"coefficients finite. Variance inflation (VIF) from {HIGH_VIF:g} on: other items nearly determine this one."
    )
    return view


def above_floor(fit: Row) -> str:
    """Whether the interval of the held-out accuracy lies above the floor: yes, no, or not known."""
    low, floor = number(fit["ci95_low"]), number(fit["floor"])
    return "not known" if low is None or floor is None else "yes" if low > floor else "not told"


def _pooled(tested: pd.DataFrame, effect: str, test: str) -> dict[str, Row]:
    rows = tested[(tested["effect"] == effect) & (tested["test"] == test) & tested["judge"].isna()]
    return {row["item"]: row for row in rows.to_dict("records")}


def _vifs(models: pd.DataFrame | None, judge: str = "") -> dict[str, float]:
    """Item -> variance inflation in the model of a judge, or of the labels' side: the empty name."""
    if models is None:
        return {}
    rows = models[(models["effect"] == "coefficient") & (models["judge"].fillna("") == judge) & models["vif"].notna()]
    return dict(zip(rows["item"], rows["vif"].astype(float), strict=True))


def _verdict(row: Row, p: str, corrected: str) -> Cell:
    cell, value = verdict_cell(row["misaligned"]), number(row[p])
    below = () if value is None else (p_words(value), corrected)
    return Cell(f"★ {cell.text}" if cell.text == "yes" else cell.text, below=below, undefined=cell.undefined)


def _papers(pooled: Row | None, of_judges: pd.DataFrame) -> Cell:
    """The paper's pooled test, and below how many judges its test of single ones finds."""
    cell = Cell("–") if pooled is None else _verdict(pooled, "p_value", "uncorrected")
    alone = f"per judge: {int(of_judges['misaligned'].astype(bool).sum())} of {len(of_judges)}"
    return replace(cell, below=(*cell.below, alone))


def _spread(row: Row) -> tuple[str, ...]:
    tau2 = number(row["tau2"])
    judges = f"{count(row['n_judges'])} judges" if count(row["n_judges"]) != 1 else "1 judge"
    return (judges,) if tau2 is None else (judges, f"τ² {format_number(tau2, 2)}")


def _estimate(view: View, table: Table, row: Row | None, homes: Homes, further: Sequence[str] = ()) -> Cell:
    if row is None:
        return view.estimate(None)
    return homes.of_cell(view.estimate(read_estimate(row), 2, further), table, row)


def _other_effect(view: View, row: Row | None, homes: Homes) -> Cell:
    p = None if row is None else number(row["p_bh"])
    further = [] if p is None else [f"{'★ ' if _found(row) else ''}{p_words(p)}"]
    return _estimate(view, MISALIGNMENT, row, homes, further)


def _coefficient(view: View, row: Row | None, homes: Homes) -> Cell:
    """A coefficient without its n, which stands once in the row."""
    if row is None:
        return Cell("–")
    cell = _estimate(view, PREFERENCE_MODELS, row, homes)
    return replace(cell, below=cell.below[:1] if cell.estimate is not None and cell.estimate.ci95 else ())


def _found(row: Row | None) -> bool:
    return row is not None and not pd.isna(row["misaligned"]) and bool(row["misaligned"])


def _rank(row: Row) -> tuple[bool, float]:
    return (not _found(row), -abs(number(row["value"]) or 0.0))


def _key(row: Row) -> str:
    return "" if row["judge"] is None or pd.isna(row["judge"]) else str(row["judge"])


def _name(key: str, cell: JudgeCell, chooser: str) -> Cell:
    return cell(key) if key else Cell(chooser)


def _floor(fit: Row) -> str:
    floor = number(fit["floor"])
    return "no floor" if floor is None else f"floor {format_number(floor, 2)}"


def _plain(value: Any, below: tuple[str, ...] = ()) -> Cell:
    known = number(value)
    return Cell("–" if known is None else format_number(known, 2), below=below, numeric=True, undefined=known is None)
