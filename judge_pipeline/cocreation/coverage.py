"""Which judges' tables may be used: eq. 9 held against the requests of today (paper 1, IV-B2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import pandas as pd

from judge_pipeline.tables import JUDGE_COVERAGE

if TYPE_CHECKING:
    from judge_pipeline.judging.answer_rates import AnswerRates


@dataclass(frozen=True, slots=True)
class JudgeFacts:
    """What the coverage table says of a judge beside its judgments.

    Attributes:
        name: the judge.
        backend: what answers for it.
        in_panel: whether it belongs to the panel J.
        scope: the scope in words.
        splits: the splits in its scope.
        not_asked: why it was not asked, where that is known (a key or a recorded file is missing).
    """

    name: str
    backend: str
    in_panel: bool
    scope: str
    splits: tuple[str, ...]
    not_asked: str | None = None


@dataclass(frozen=True, slots=True)
class CurrentRequests:
    """What a judge would be asked today, to hold its table against.

    Attributes:
        hashes: attempt_id -> ``request_hash`` that judging now would give it.
        unknown: why the hashes cannot be had (a prompt template or a recorded file is gone); None where they are.
    """

    hashes: Mapping[str, str]
    unknown: str | None = None


def judge_coverage(
    judges: Iterable[JudgeFacts],
    requests: pd.DataFrame,
    outputs: Mapping[str, pd.DataFrame],
    current: Mapping[str, CurrentRequests],
    damaged: Mapping[str, str] = MappingProxyType({}),
    rates: Mapping[str, AnswerRates] = MappingProxyType({}),
) -> pd.DataFrame:
    """One row for each judge: verified, unverified (accepted below full coverage), stale, damaged, or not judged.

    A table is stale where it holds judgments of attempts that are no longer requested within the judge's scope, or
    answers to other calls than today's (a prompt, a model, the context, a recorded file, the baseline's training data
    changed since): figures from it would be filed under settings that they do not come from, so it is left out until
    it is materialized again. A table that misses attempts is unverified.

    Args:
        judges: the judges that serve the system.
        requests: table JUDGE_REQUESTS.
        outputs: judge -> the table JUDGE_OUTPUTS that its last successful materialization left.
        current: judge -> what it would be asked today, for each judge of ``judges`` that has a table.
        damaged: judge -> why its stored table cannot be read; such a judge has no entry in ``outputs``, and the others
            are measured without it.
        rates: judge -> how its calls went, for each judge that is a model to be asked.
    """
    rows = []
    for judge in judges:
        row = _row(judge, requests, outputs.get(judge.name), current) | _rates(rates.get(judge.name))
        if judge.name in damaged:
            row |= {"status": "damaged", "reason": damaged[judge.name]}
        rows.append(row)
    return JUDGE_COVERAGE.conform(rows)


def _rates(rates: AnswerRates | None) -> dict[str, object]:
    if rates is None:
        return {"n_failed": 0, "failures": None, "n_tries": None, "n_failed_tries": None, "failed_tries": None}
    return {
        "n_failed": sum(rates.failed_attempts.values()),
        "failures": _by_class(rates.failed_attempts),
        "n_tries": rates.n_tries,
        "n_failed_tries": sum(rates.failed_tries.values()),
        "failed_tries": _by_class(rates.failed_tries),
    }


def _by_class(counts: Mapping[str, int]) -> str | None:
    """'class: n', the most frequent first; None where there is none."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name}: {n}" for name, n in ordered) or None


def usable(coverage: pd.DataFrame) -> list[str]:
    """The judges whose tables metrics may read."""
    return [str(name) for name in coverage.loc[coverage["status"].isin(("verified", "unverified")), "judge"]]


def below_min_coverage(coverage: pd.DataFrame, min_coverage: float) -> list[str]:
    """Judges whose figures rest on a smaller share of their scope than ``min_coverage``, in words.

    Args:
        coverage: table JUDGE_COVERAGE.
        min_coverage: share of its scope that a judge must have judged, in (0, 1].
    """
    read = coverage[coverage["judge"].isin(usable(coverage)) & (coverage["n_in_scope"] > 0)]
    return [
        f"{row['judge']} judged {row['n_judged']} of {row['n_in_scope']} attempts; min_coverage is {min_coverage:g}"
        for row in read.to_dict("records")
        if row["n_judged"] < min_coverage * row["n_in_scope"] - 1e-9
    ]


def flag_unverified(figures: pd.DataFrame, coverage: pd.DataFrame, judges_of: Sequence[Sequence[str]]) -> pd.DataFrame:
    """The figures, each that rests on an unverified judge marked so in its ``reason``, before what stands there.

    Args:
        figures: a table with the column ``reason``.
        coverage: table JUDGE_COVERAGE.
        judges_of: for each row, the judges that its figure rests on.
    """
    unverified = coverage[coverage["status"] == "unverified"]
    words = {
        judge: f"{judge} is unverified: {reason}"
        for judge, reason in zip(unverified["judge"], unverified["reason"], strict=True)
    }
    reasons = []
    for judges, reason in zip(judges_of, figures["reason"], strict=True):
        flags = [words[judge] for judge in judges if judge in words]
        reasons.append("; ".join(flags + ([reason] if isinstance(reason, str) else [])) or None)
    return figures.assign(reason=pd.Series(reasons, index=figures.index, dtype="object"))


def _row(
    judge: JudgeFacts, requests: pd.DataFrame, table: pd.DataFrame | None, current: Mapping[str, CurrentRequests]
) -> dict[str, object]:
    in_scope = set(requests.loc[requests["split"].isin(judge.splits), "attempt_id"])
    row = {
        "judge": judge.name,
        "backend": judge.backend,
        "in_panel": judge.in_panel,
        "scope": judge.scope,
        "n_in_scope": len(in_scope),
        "n_judged": 0,
        "n_repaired": 0,
        "cost_usd": None,
        "model": None,
        "status": "not judged",
        "reason": judge.not_asked or "it has not been run yet, or its run failed",
    }
    if table is None:
        return row
    status, reason = _status(in_scope, table, current[judge.name])
    costs = table["cost_usd"].dropna()
    return row | {
        "n_judged": len(set(table["attempt_id"]) & in_scope),
        "n_repaired": int(table["repair"].notna().sum()),
        "cost_usd": float(costs.sum()) if len(costs) else None,
        "model": ", ".join(sorted(set(table["model"].dropna()))) or None,
        "status": status,
        "reason": reason,
    }


def _status(in_scope: set[str], table: pd.DataFrame, current: CurrentRequests) -> tuple[str, str | None]:
    judged = set(table["attempt_id"])
    strangers, missing = len(judged - in_scope), len(in_scope - judged)
    if strangers:
        return "stale", f"{strangers} judgment(s) are of attempts no longer requested; materialize it again"
    if current.unknown is not None:
        return "stale", f"what it answers cannot be told any more: {current.unknown}"
    asked_then = zip(table["attempt_id"], table["request_hash"], strict=True)
    changed = sum(current.hashes.get(attempt_id) != hash_ for attempt_id, hash_ in asked_then)
    if changed:
        return "stale", (
            f"{changed} of {len(table)} judgments answer another request than today's: the prompt, the model, its "
            "parameters, the recorded file or the data changed; materialize it again"
        )
    if missing:
        return "unverified", f"{missing} of {len(in_scope)} attempts in scope have no accepted judgment (eq. 9)"
    return "verified", None
