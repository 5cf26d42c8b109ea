"""Figures of table ``preference_accuracy`` on their way to rows: values, intervals, p-values and their correction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics.intervals import holm
from judge_pipeline.statistics.ratio_bootstrap import Clusters, Terms, replicated_ratios

Row = dict[str, Any]


class Subject(NamedTuple):
    """What a figure is of, and which: the columns of, name, other, category and figure."""

    of: str
    name: str | None
    other: str | None
    category: str | None
    figure: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure to be computed.

    Attributes:
        terms: what it is made of; none where it is undefined by design.
        n: observations behind it.
        n_left_out: observations offered and not used.
        undefined: why it has no value, where it has none.
        warnings: what weakens it.
        null: the value that it is tested against, or None: no test.
    """

    terms: Terms
    n: int
    n_left_out: int
    undefined: str
    warnings: tuple[str, ...] = ()
    null: float | None = None


def figure_rows(rule: str, figures: Mapping[Subject, Figure], clusters: Clusters) -> list[Row]:
    """The figures as rows, their p-values not corrected yet; all under the same resamples."""
    drawn = replicated_ratios({key: figure.terms for key, figure in figures.items() if figure.terms}, clusters)
    rows = []
    for key, figure in figures.items():
        p_value = None
        if key in drawn:
            estimate = drawn[key].estimate(
                n=figure.n, n_left_out=figure.n_left_out, undefined=figure.undefined, warnings=figure.warnings
            )
            p_value = None if figure.null is None else drawn[key].p_value(figure.null)
        else:
            estimate = Estimate.undefined(figure.undefined, figure.n, figure.n_left_out)
        rows.append(row_of(rule, key, estimate, p_value))
    return rows


def row_of(rule: str, subject: Subject, estimate: Estimate, p_value: float | None = None) -> Row:
    """One row of the table, its p-value not corrected yet."""
    return {"rule": rule, **subject._asdict(), **estimate.to_row(), "p_value": p_value, "p_holm": None}


def with_holm(rows: Sequence[Row]) -> list[Row]:
    """The rows with their p-values corrected: those of one figure of one kind, all pairs and categories apart."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if row["p_value"] is not None:
            groups.setdefault((row["of"], row["figure"], row["category"] is None), []).append(row)
    for group in groups.values():
        for row, p_holm in zip(group, holm([row["p_value"] for row in group]), strict=True):
            row["p_holm"] = p_holm
    return list(rows)
