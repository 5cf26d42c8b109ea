"""What `judge-pipeline evaluate pairs` prints: sections of table ``preference_accuracy``, or one JSON object."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judge_pipeline.cli.evaluation_json import estimate_of, plain_number
from judge_pipeline.cli.evaluation_sections import Columns, Line, Section, short_p
from judge_pipeline.tables.preference_accuracy import PREFERENCE_ACCURACY, PREFERENCE_FIGURES

if TYPE_CHECKING:
    import pandas as pd

TABLE = PREFERENCE_ACCURACY.name
_COUNTS: Columns = {"n": lambda row: str(row["n"]), "left out": lambda row: str(row["n_left_out"])}
_TESTED: Columns = {"p": lambda row: short_p(row["p_holm"]), **_COUNTS}


def _lines(
    of: Sequence[str], who: Callable[[Mapping[str, Any]], str], *, categories: bool = False
) -> Callable[..., Any]:
    """Lines of what the figures are of, in the order of the figures; who stands beside each other under one."""

    def lines(tables: Mapping[str, pd.DataFrame]) -> list[Line]:
        table = tables[TABLE]
        rows = table[table["of"].isin(of) & (table["category"].notna() == categories)].to_dict("records")
        places = list(PREFERENCE_FIGURES)
        rows.sort(key=lambda row: places.index(row["figure"]))
        return [(PREFERENCE_FIGURES[row["figure"]], who(row), row) for row in rows]

    return lines


def _name(row: Mapping[str, Any]) -> str:
    return str(row["name"]) if row["other"] is None else f"{row['name']} - {row['other']}"


def _category(row: Mapping[str, Any]) -> str:
    return f"{row['name']}, {row['category']}"


def _raters(row: Mapping[str, Any]) -> str:
    return " | ".join(str(name) for name in (row["name"], row["other"]) if name is not None) or "all judges"


PAIR_SECTIONS: Sequence[Section] = (
    Section(
        "judges",
        "Judges",
        _lines(["judge"], _name),
        _TESTED,
        "p is two-sided, of a first-slot share of 0.5 and a length bias of 0, corrected (Holm) for all judges.",
    ),
    Section("floors", "Floors: what needs no judgment", _lines(["floor"], _name), _COUNTS),
    Section("families", "Families: the mean of their judges", _lines(["family"], _name), _COUNTS),
    Section("people", "People", _lines(["people"], _name), _TESTED),
    Section(
        "differences",
        "Differences between judges on the pairs that both were asked about",
        _lines(["difference"], _name),
        _TESTED,
        "p is two-sided and corrected (Holm) for all rows under one name.",
    ),
    Section("agreement", "Agreement on the choice", _lines(["agreement", "panel"], _raters), _COUNTS),
    Section("categories", "Judges by category", _lines(["judge"], _category, categories=True), _TESTED),
)
"""The sections in the order in which they are printed."""

PAIR_SECTION_NAMES = tuple(section.name for section in PAIR_SECTIONS)


def pairs_as_json(table: pd.DataFrame, rule: str) -> dict[str, Any]:
    """The table as one object; two judges are named ``first|second``.

    Raises:
        PairError: a name holds the bar that separates the two of a pair.
    """
    from judge_pipeline.preference.judged_pairs import PairError

    found: dict[str, Any] = {"rule": rule, "judges": {}, "floors": {}, "families": {}, "people": {}}
    found |= {"differences": {}, "agreement": {}, "categories": {}}
    groups = {"judge": "judges", "floor": "floors", "family": "families"}
    for row in table.to_dict("records"):
        barred = [name for name in (row["name"], row["other"]) if name is not None and "|" in name]
        if barred:
            raise PairError(f"the name {barred[0]!r} holds a bar, which separates pairs of judges. Remedy: rename it")
        figure = _figure(row)
        if row["category"] is not None:
            of_judge = found["categories"].setdefault(row["name"], {})
            of_judge.setdefault(row["category"], {})[row["figure"]] = figure
        elif row["of"] in groups:
            found[groups[row["of"]]].setdefault(row["name"], {})[row["figure"]] = figure
        elif row["of"] == "people":
            found["people"][row["figure"]] = {**figure, "best_judge": row["other"]}
        elif row["of"] == "panel":
            found["agreement"][row["figure"]] = figure
        else:
            group = "differences" if row["of"] == "difference" else "agreement"
            found[group].setdefault(row["figure"], {})[f"{row['name']}|{row['other']}"] = figure
    return found


def _figure(row: Mapping[str, Any]) -> dict[str, Any]:
    """The estimate, and its p-values where it is tested against something."""
    p_value = plain_number(row["p_value"])
    tested = {} if p_value is None else {"p_value": p_value, "p_holm": plain_number(row["p_holm"])}
    return {**estimate_of(row), **tested}
