"""Which judges' choices on pairs may be used: every pair of the scope in both orders, and today's requests.

An invalid answer is an answer: it is counted, and the table that holds it can be verified. A pair without a row was not
asked, or its call did not come through.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pandas as pd

from judge_pipeline.tables.pair_judging import PAIR_JUDGE_COVERAGE, PAIR_JUDGMENTS, PRESENTATION_ORDERS

PairOrder = tuple[str, str]
"""A pair_id and a presentation order."""

UNCLASSED = "invalid"
"""Class of an invalid answer that names none."""


@dataclass(frozen=True, slots=True)
class PairJudgeFacts:
    """What the coverage table says of a judge beside its choices.

    Attributes:
        name: the judge.
        backend: what answers for it.
        family: its family of judges, where judges.yaml states one.
        scope: the scope in words.
        splits: the splits in its scope.
        not_asked: why it was not asked, where that is known (a key or a recorded file is missing).
        counts_tries: whether a model is asked, so that there are tries to count.
    """

    name: str
    backend: str
    family: str | None
    scope: str
    splits: tuple[str, ...]
    not_asked: str | None = None
    counts_tries: bool = True


def pair_judge_coverage(
    judges: Iterable[PairJudgeFacts],
    splits: pd.DataFrame,
    judgments: Mapping[str, pd.DataFrame],
    current: Mapping[str, Mapping[PairOrder, str] | str] = MappingProxyType({}),
    damaged: Mapping[str, str] = MappingProxyType({}),
) -> pd.DataFrame:
    """One row for each judge; table PAIR_JUDGE_COVERAGE.

    ``stale``: the table holds pairs that are no longer in the judge's scope, or answers to other requests than today's.
    ``unverified``: pairs in scope lack a row in an order that others have one in. Figures leave stale tables out, and
    mark unverified ones.

    Args:
        judges: the judges that serve preference sets.
        splits: table PREFERENCE_SPLITS: the set's pairs.
        judgments: judge -> table PAIR_JUDGMENTS, where there is one.
        current: judge -> the request hash that each pair and order would have today, or why that cannot be told. A
            judge that is not in it is not held against today's requests.
        damaged: judge -> why its stored table cannot be read.
    """
    rows = []
    for judge in judges:
        in_scope = set(splits.loc[splits["split"].isin(judge.splits), "pair_id"])
        row = _row(judge, in_scope, judgments.get(judge.name), current.get(judge.name))
        if judge.name in damaged:
            row |= {"status": "damaged", "reason": damaged[judge.name]}
        rows.append(row)
    return PAIR_JUDGE_COVERAGE.conform(rows)


def comparable(judgments: Mapping[str, pd.DataFrame]) -> tuple[pd.DataFrame, list[str]]:
    """The choices that figures may set side by side, and the judges that have none among them.

    Where some judge was asked in both orders, these are the pairs that a judge has in both: an order that was not asked
    is no invalid answer. Where none was, all are of one order.

    Args:
        judgments: judge -> table PAIR_JUDGMENTS, of the judges that figures may read.
    """
    whole = {judge: table[table["pair_id"].isin(_whole(table))] for judge, table in judgments.items()}
    both = {judge for judge, table in judgments.items() if table["presentation_order"].nunique() > 1}
    kept = whole if not both else {judge: table for judge, table in whole.items() if judge in both}
    tables = [table for table in kept.values() if len(table)]
    rows = pd.concat(tables, ignore_index=True) if tables else PAIR_JUDGMENTS.empty()
    return rows, [judge for judge in judgments if judge not in set(rows["judge"])]


def usable_judges(coverage: pd.DataFrame) -> list[str]:
    """The judges whose choices figures may read."""
    return [str(name) for name in coverage.loc[coverage["status"].isin(("verified", "unverified")), "judge"]]


def flag_unverified(figures: pd.DataFrame, coverage: pd.DataFrame) -> pd.DataFrame:
    """The figures, each that rests on an unverified judge marked so in its ``reason``, before what stands there.

    Args:
        figures: table PREFERENCE_ACCURACY: of a judge, a family, two judges, or all of them (the panel, the best).
        coverage: table PAIR_JUDGE_COVERAGE.
    """
    unverified = coverage[coverage["status"] == "unverified"]
    words = {row["judge"]: f"{row['judge']} is unverified: {row['reason']}" for row in unverified.to_dict("records")}
    if not words:
        return figures
    families = coverage.groupby("family")["judge"].agg(list).to_dict()
    reasons = []
    for row in figures[["of", "name", "other", "reason"]].to_dict("records"):
        if row["of"] == "panel":
            judges = list(words)
        elif row["of"] == "family":
            judges = families.get(row["name"], [])
        else:
            judges = [] if row["of"] == "floor" else [row["name"], row["other"]]
        flags = [words[judge] for judge in judges if judge in words]
        reasons.append("; ".join(flags + ([row["reason"]] if isinstance(row["reason"], str) else [])) or None)
    return figures.assign(reason=pd.Series(reasons, index=figures.index, dtype="object"))


def _row(
    judge: PairJudgeFacts, in_scope: set[str], table: pd.DataFrame | None, current: Mapping[PairOrder, str] | str | None
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "judge": judge.name,
        "backend": judge.backend,
        "family": judge.family,
        "scope": judge.scope,
        "n_in_scope": len(in_scope),
        "n_judged": 0,
        "n_answers": 0,
        "n_invalid": 0,
        "invalid": None,
        "n_tries": None,
        "cost_usd": None,
        "model": None,
        "status": "not judged",
        "reason": judge.not_asked or "it has not been run yet, or its run failed",
    }
    if table is None:
        return row
    invalid = table[table["slot"].isna()]
    costs = table["cost_usd"].dropna()
    whole, orders = _whole(table), sorted(table["presentation_order"].unique())
    alone = f", order {orders[0]} alone" if len(orders) == 1 < len(PRESENTATION_ORDERS) else ""
    status, reason = _status(in_scope, whole, table, current)
    return row | {
        "scope": judge.scope + alone,
        "n_judged": len(whole & in_scope),
        "n_answers": len(table),
        "n_invalid": len(invalid),
        "invalid": _by_class(invalid["failure_class"]),
        "n_tries": int(table["n_tries"].sum()) if judge.counts_tries else None,
        "cost_usd": float(costs.sum()) if len(costs) else None,
        "model": ", ".join(sorted(set(table["model"].dropna()))) or None,
        "status": status,
        "reason": reason,
    }


def _whole(table: pd.DataFrame) -> set[str]:
    """The pairs with a row in every order that the table has."""
    orders = table.groupby("pair_id")["presentation_order"].nunique()
    return set(orders.index[orders == table["presentation_order"].nunique()])


def _by_class(classes: pd.Series) -> str | None:
    counts = Counter(UNCLASSED if pd.isna(name) else str(name) for name in classes)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name}: {n}" for name, n in ordered) or None


def _status(
    in_scope: set[str], whole: set[str], table: pd.DataFrame, current: Mapping[PairOrder, str] | str | None
) -> tuple[str, str | None]:
    strangers, missing = len(set(table["pair_id"]) - in_scope), len(in_scope - whole)
    if strangers:
        return "stale", f"choices on {strangers} pair(s) that are no longer in scope; materialize it again"
    if isinstance(current, str):
        return "stale", f"what it answers cannot be told any more: {current}"
    if current is not None:
        then = table[["pair_id", "presentation_order", "request_hash"]].itertuples(index=False, name=None)
        changed = sum(
            current.get((pair_id, order)) != (None if pd.isna(hash_) else hash_) for pair_id, order, hash_ in then
        )
        if changed:
            return "stale", (
                f"{changed} of {len(table)} choices answer another request than today's: the prompt, the model, its "
                "parameters, the recorded file or the pairs changed; materialize it again"
            )
    if missing:
        return "unverified", f"{missing} of {len(in_scope)} pairs in scope lack an answer in some order (eq. 9)"
    return "verified", None
