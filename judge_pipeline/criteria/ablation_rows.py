"""Figures of an ablation on their way to rows: where each stands, its interval, its p-value and the correction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics.intervals import holm
from judge_pipeline.statistics.ratio_bootstrap import replicated_ratios

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.preference.figure_rows import Figure
    from judge_pipeline.settings.criteria import Configuration
    from judge_pipeline.statistics.ratio_bootstrap import Clusters

Row = dict[str, Any]


class Subject(NamedTuple):
    """Which figure of what: the key columns of table CRITERIA_ABLATION."""

    paper_table: str | None
    paper_row: str | None
    judge: str
    configuration: str | None
    against: str | None
    category: str | None
    figure: str


class PaperRow(NamedTuple):
    """A row of a table of the paper, and the configuration that stands for it."""

    row: str
    configuration: str


def figure_rows(figures: Mapping[Subject, Figure], clusters: Clusters) -> list[Row]:
    """The figures as rows, p-values not corrected yet; all under the same resamples."""
    drawn = replicated_ratios({key: figure.terms for key, figure in figures.items() if figure.terms}, clusters)
    rows = []
    for key, figure in figures.items():
        p_value = None
        if key in drawn:
            found = drawn[key].estimate(
                n=figure.n, n_left_out=figure.n_left_out, undefined=figure.undefined, warnings=figure.warnings
            )
            p_value = None if figure.null is None else drawn[key].p_value(figure.null)
        else:
            found = Estimate.undefined(figure.undefined, figure.n, figure.n_left_out)
        rows.append(row_of(key, found, p_value))
    return rows


def row_of(subject: Subject, estimate: Estimate, p_value: float | None = None) -> Row:
    """One row of the table, its p-value not corrected yet."""
    return {**subject._asdict(), **estimate.to_row(), "p_value": p_value, "p_holm": None}


def with_holm(rows: Sequence[Row]) -> list[Row]:
    """The rows with p-values corrected over those that are looked at together.

    In a table of the paper these are the rows of one figure; outside, one judge's configurations; by category, the
    categories of one configuration.
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if row["p_value"] is not None:
            groups.setdefault(_together(row), []).append(row)
    for group in groups.values():
        for row, p_holm in zip(group, holm([row["p_value"] for row in group]), strict=True):
            row["p_holm"] = p_holm
    return list(rows)


def _together(row: Row) -> tuple[Any, ...]:
    if row["paper_table"] is not None:
        return row["paper_table"], row["figure"]
    own = None if row["category"] is None else row["configuration"]
    return None, row["figure"], row["judge"], own


def paper_tables(configurations: Mapping[str, Configuration]) -> dict[str, list[PaperRow]]:
    """Table of the paper -> its rows, in the order in which configurations stand in criteria.yaml.

    ``paper_rows`` are written 'table: row'; one without a colon is a row called like its configuration.

    Args:
        configurations: of criteria.yaml, in its order.
    """
    found: dict[str, list[PaperRow]] = {}
    for name, configuration in configurations.items():
        for written in configuration.paper_rows:
            table, _, row = (part.strip() for part in written.partition(":"))
            found.setdefault(table, []).append(PaperRow(row or name, name))
    return {table: found[table] for table in in_order(found)}


def in_order(tables: Iterable[str]) -> list[str]:
    """Names of tables by their numbers: 2 before 10, 3 before 3b."""
    return sorted(tables, key=lambda name: [(int(n or 0), rest) for n, rest in re.findall(r"(\d*)(\D*)", name)])


def own_monolithic(configurations: Mapping[str, Configuration], judged: Iterable[str]) -> str | None:
    """The configuration that is a judge's plain monolithic one: the first that is judged, without guidance."""
    there = set(judged)
    plain = (n for n, c in configurations.items() if n in there and c.is_monolithic and c.guidance is None)
    return next(plain, None)


def unguided_twins(configurations: Mapping[str, Configuration], judged: Iterable[str]) -> dict[str, str]:
    """Configuration with guidance -> the one that is the same in all else without it, where both were judged."""
    there = [name for name in configurations if name in set(judged)]
    plain = {_what_it_does(configurations[name]): name for name in reversed(there)}
    guided = [name for name in there if configurations[name].guidance is not None]
    return {name: twin for name in guided if (twin := plain.get(_what_it_does(configurations[name], "guidance")))}


def _what_it_does(configuration: Configuration, *without: str) -> str:
    plain = configuration.model_copy(update={"description": "", "paper_rows": (), **dict.fromkeys(without)})
    return plain.model_dump_json()


def not_above_floors(ablation: pd.DataFrame) -> list[str]:
    """The configurations whose Acc is not above that of the best floor, in words.

    Args:
        ablation: table CRITERIA_ABLATION.
    """
    acc = ablation[(ablation["figure"] == "acc") & ablation["paper_table"].isna() & ablation["category"].isna()]
    floors = acc[acc["configuration"].isna() & acc["value"].notna()]
    if floors.empty:
        return []
    best = floors.loc[floors["value"].idxmax()]
    own = acc[acc["configuration"].notna() & ~(acc["value"] > best["value"])]
    return [
        f"{judge}@{name}: Acc {value:.3f}, and {best['value']:.3f} of '{best['judge']}'"
        for judge, name, value in own[["judge", "configuration", "value"]].itertuples(index=False, name=None)
    ]
