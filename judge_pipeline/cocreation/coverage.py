"""Which judges' tables may be used: eq. 9 held against the requests of today (paper 1, IV-B2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from judge_pipeline.tables import JUDGE_COVERAGE


@dataclass(frozen=True, slots=True)
class JudgeFacts:
    """What the coverage table says of a judge beside its judgments.

    Attributes:
        name: the judge.
        backend: what answers for it.
        in_panel: whether it belongs to the panel J.
        scope: the scope in words.
        splits: the splits in its scope.
        not_asked: why it was not asked, where that is known (a key that is missing).
    """

    name: str
    backend: str
    in_panel: bool
    scope: str
    splits: tuple[str, ...]
    not_asked: str | None = None


def judge_coverage(
    judges: Iterable[JudgeFacts], requests: pd.DataFrame, outputs: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """One row for each judge: verified, unverified (accepted below full coverage), stale, or not judged.

    A table is stale where it holds judgments of attempts that are no longer requested within the judge's scope, or
    misses attempts that were added since it was made: it is left out until it is materialized again.

    Args:
        judges: the judges that serve the system.
        requests: table JUDGE_REQUESTS.
        outputs: judge -> the table JUDGE_OUTPUTS that its last successful materialization left.
    """
    return JUDGE_COVERAGE.conform([_row(judge, requests, outputs.get(judge.name)) for judge in judges])


def usable(coverage: pd.DataFrame) -> list[str]:
    """The judges whose tables metrics may read."""
    return [str(name) for name in coverage.loc[coverage["status"].isin(("verified", "unverified")), "judge"]]


def _row(judge: JudgeFacts, requests: pd.DataFrame, table: pd.DataFrame | None) -> dict[str, object]:
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
        "reason": judge.not_asked or "its judge_outputs has not been materialized, or failed",
    }
    if table is None:
        return row
    status, reason = _status(in_scope, set(table["attempt_id"]))
    costs = table["cost_usd"].dropna()
    return row | {
        "n_judged": len(set(table["attempt_id"]) & in_scope),
        "n_repaired": int(table["repair"].notna().sum()),
        "cost_usd": float(costs.sum()) if len(costs) else None,
        "model": ", ".join(sorted(set(table["model"].dropna()))) or None,
        "status": status,
        "reason": reason,
    }


def _status(in_scope: set[str], judged: set[str]) -> tuple[str, str | None]:
    strangers, missing = len(judged - in_scope), len(in_scope - judged)
    if strangers:
        return "stale", f"{strangers} judgment(s) are of attempts no longer requested; materialize it again"
    if missing:
        return "unverified", f"{missing} of {len(in_scope)} attempts in scope have no accepted judgment (eq. 9)"
    return "verified", None
