"""Figures by name: what each is called, and which are meant by a few words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any
from urllib.parse import quote, unquote

from judge_pipeline.lineage.sources import OVER_ALL
from judge_pipeline.report.trace_anchor import figure_anchor
from judge_pipeline.table_schema import Table
from judge_pipeline.tables.metric_words import AGREEMENT, METRICS
from judge_pipeline.tables.preference_accuracy import PREFERENCE_FIGURES

ALIASES: Mapping[str, str] = {
    "auc": "roc_auc", "auroc": "roc_auc", "mcc": "mcc_test", "kappa": "cohen", "t*": "threshold", "s(k)":
    "success_at_turn", "kaplan meier": "survival", "km": "survival", "accuracy": "acc", "churn": "churn_summary",
    "codebleu": "codebleu_churn", "swap consistency": "consistent_share", "weight": "coefficient",
}  # fmt: skip
"""What a figure is called, too -> its name in the tables."""

_WORDS = {
    **{words.label: name for name, words in METRICS.items()},
    **{label: name for name, label in (*AGREEMENT.items(),)},
    **{label: name for name, label in PREFERENCE_FIGURES.items()},
}
"""What reports call a figure -> its name in the tables."""

OF_JUDGES = ("judge", "judge_1", "judge_2", "best_judge")
"""Columns that name judges; ``name`` and ``other`` of preference tables do where the figure is of judges."""

_KIND = "of"
"""What a figure is of (a judge, a pair of judges, people): the names of judges say so, too."""

MEASURES = ("metric", "statistic", "figure", "term", "pattern", "curve")
"""Columns that say which figure a row is, in the order in which they name it."""

_NAMES = (*MEASURES, "measure", "effect")
"""Columns by whose values a figure may be called."""

_ALIKE = 0.6
"""How alike, from 0 to 1, a name must be to be proposed."""


@dataclass(frozen=True)
class Figure:
    """One row of a table of figures.

    Attributes:
        kind: contest, preference_set or all.
        of: the contest or the set; "" over all.
        table: the table's name.
        key: its key columns that are not null.
        row: all of its columns, missing values as None.
        single: key columns in which the whole table has one value: nobody needs to name them.
    """

    kind: str
    of: str
    table: str
    key: Mapping[str, Any]
    row: Mapping[str, Any]
    single: frozenset[str] = field(default=frozenset())

    @property
    def id(self) -> str:
        """Its name in full: the table, then its keys; every other way to name it leads here."""
        keys = ",".join(f"{name}={quote(str(value), safe=' @:+()*')}" for name, value in self.key.items())
        return f"{self.table}:{keys}"

    @property
    def anchor(self) -> str:
        """Its anchor on the pages beside the report."""
        return figure_anchor(self.table, self.key)

    @property
    def n(self) -> int:
        """Its n."""
        return int(self.row["n"] if "n" in self.row else self.row["n_val"])

    @property
    def n_left_out(self) -> int | None:
        """How many were left out; None where the table does not say."""
        return None if (found := self.row.get("n_left_out")) is None else int(found)

    @property
    def words(self) -> str:
        """What it is, in one line for people: what is measured, then its other keys."""
        measures = [name for name in MEASURES if name in self.key]
        said = " ".join(str(self.key[name]) for name in measures) or self.table
        rest = [
            f"{name} {value}" for name, value in self.key.items() if name not in measures and name not in self.single
        ]
        return ", ".join([said, *rest])

    @property
    def judges(self) -> frozenset[str]:
        """The judges that its row names."""
        columns = (*OF_JUDGES, "name", "other") if self.table == "preference_accuracy" else OF_JUDGES
        return frozenset(str(self.row[name]) for name in columns if self.row.get(name) is not None)


def figures_of(table: Table, rows: Iterable[Mapping[str, Any]], kind: str, of: str) -> list[Figure]:
    """The figures of a stored table.

    Args:
        table: its schema.
        rows: its rows, missing values as None.
        kind: what it is a table of.
        of: the contest or the set.
    """
    rows = list(rows)
    single = frozenset(name for name in table.key if len({row[name] for row in rows}) == 1)
    return [
        Figure(kind, of, table.name, {name: row[name] for name in table.key if row[name] is not None}, row, single)
        for row in rows
    ]


@dataclass(frozen=True)
class Named:
    """What was named.

    Attributes:
        found: the figure that is meant; None where several are, or none.
        candidates: all that the words fit, those that they fit best first.
    """

    found: Figure | None
    candidates: tuple[Figure, ...]


def named(
    figures: Sequence[Figure], words: str, judges: Sequence[str] = (), where: Mapping[str, str] | None = None
) -> Named:
    """The figure that is meant by a name and further keys.

    It is the one that they fit; where they fit several, the one whose keys are all named; of such in a contest and over
    all contests, that of the contest.

    Args:
        figures: all that there are.
        words: a table, a metric, or what a report calls it; or an ``id`` or an anchor.
        judges: the judges whose figure it is: all of them must be named by it.
        where: column -> value, as text, of any columns.
    """
    conditions = dict(where or {})
    exact = [figure for figure in figures if words in (figure.id, figure.anchor)]
    fitting = exact or [figure for figure in figures if _fits(figure, words)]
    fitting = [f for f in fitting if set(judges) <= f.judges and all(_is(f, k, v) for k, v in conditions.items())]
    fitting.sort(key=lambda figure: (len(_unnamed(figure, words, judges, conditions)), figure.kind == OVER_ALL))
    whole = [figure for figure in fitting if not _unnamed(figure, words, judges, conditions)]
    own = [figure for figure in whole if figure.kind != OVER_ALL]
    for several in (fitting, whole, own):
        if len(several) == 1:
            return Named(several[0], tuple(fitting))
    return Named(None, tuple(fitting))


def names_like(figures: Iterable[Figure], words: str, most: int = 8) -> list[str]:
    """What figures are called that is like these words: holds them, or is spelt nearly so; the likest first."""
    said = plain(words)
    names = {str(name) for figure in figures for name in (figure.table, *(figure.key.get(of) for of in _NAMES)) if name}
    by_plain = {plain(name): name for name in sorted(names)}
    by_plain |= {plain(alias): name for alias, name in ALIASES.items() if name in names}
    near = get_close_matches(said, by_plain, most, _ALIKE)
    held = [name for name in by_plain if len(said) > 2 and said in name and name not in near]
    return list(dict.fromkeys(by_plain[name] for name in (*near, *held)))[:most]


def condition(text: str) -> tuple[str, str]:
    """``COLUMN=VALUE`` as its two parts.

    Raises:
        ValueError: it is not of that form.
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"{text!r} is not COLUMN=VALUE")
    return name.strip(), unquote(value.strip())


def plain(text: str) -> str:
    """A name without what people write in different ways: case, underscores, hyphens, runs of blanks."""
    return re.sub(r"[\s_-]+", " ", text).strip().casefold()


_PLAIN_WORDS = {plain(label): name for label, name in _WORDS.items()}


def _fits(figure: Figure, words: str) -> bool:
    return bool(_meanings(words) & _names(figure))


def _meanings(words: str) -> set[str]:
    said = plain(words)
    return {said, *(plain(name) for of in (ALIASES, _PLAIN_WORDS) if (name := of.get(said)) is not None)}


def _names(figure: Figure) -> set[str]:
    """What a figure may be called: its table, and what is measured."""
    return {plain(figure.table), *(plain(str(figure.key[name])) for name in _NAMES if name in figure.key)}


def _is(figure: Figure, column: str, value: str) -> bool:
    given = figure.row.get(column)
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    return given is not None and plain(str(given)) == plain(value)


def _unnamed(figure: Figure, words: str, judges: Sequence[str], conditions: Mapping[str, str]) -> list[str]:
    """The keys of a figure that were not named and that tell it from others of its table."""
    said = {*_meanings(words), *(plain(judge) for judge in judges)}
    if words in (figure.id, figure.anchor):
        return []
    return [
        name
        for name, value in figure.key.items()
        if name not in conditions and name not in (*figure.single, _KIND) and plain(str(value)) not in said
    ]
