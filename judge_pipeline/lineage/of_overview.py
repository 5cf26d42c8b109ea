"""What the contest's counts rest on: every row that was counted over (paper 1, Table I)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from judge_pipeline.lineage.basis import COUNTS, NO_LABEL, Basis, rows_of, unlisted, without
from judge_pipeline.tables import (
    ATTEMPTS,
    INGEST_QUARANTINE,
    PROMPT_LOGS,
    REDACTION_COUNTS,
    SPLIT_ASSIGNMENTS,
    TRAJECTORIES,
    VERDICT_WORD_COUNTS,
)

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.lineage.sources import Sources

Row = Mapping[str, Any]

_TRAJECTORY = ["participant", "problem_id"]


def of_count(sources: Sources, row: Row) -> Basis:
    """A row of ``contest_overview``: what ``counted_over`` says."""
    statistic, over = row["statistic"], row["counted_over"]
    if statistic == "withdrawn":
        return sources.once("withdrawn", lambda: unlisted("participants", "who withdrew stands nowhere"))
    if statistic.startswith(("redacted:", "verdict_words")):
        return _of_texts(sources, statistic)
    if over == "trajectories":
        splits = statistic.startswith("trajectories_")
        table = SPLIT_ASSIGNMENTS if splits else TRAJECTORIES
        key = ("overview", "trajectories", splits)
        return sources.once(key, lambda: Basis(over, sources[table][_TRAJECTORY], rows_of([*_TRAJECTORY, "why"])))
    if over == "participants":
        return sources.once(("overview", statistic), lambda: _of_participants(sources, statistic))
    if over == "attempts with a label":
        return sources.once(("overview", over), lambda: _labelled(sources))
    return sources.once(("overview", over), lambda: _all_rows(sources, over))


def _all_rows(sources: Sources, over: str) -> Basis:
    if over == "messages":
        rows = sources[PROMPT_LOGS][["path", "conversation", "order"]]
        return Basis(over, rows, rows_of([*rows.columns, "why"]), reads_prompts=True)
    if over == "places set aside":
        rows = sources[INGEST_QUARANTINE][["path", "place"]]
        return Basis(over, rows, rows_of([*rows.columns, "why"]))
    return Basis(over, sources[ATTEMPTS][["attempt_id"]], rows_of(["attempt_id", "why"]))


def _labelled(sources: Sources) -> Basis:
    attempts = sources[ATTEMPTS]
    known = attempts["y"].notna()
    left = without(attempts.loc[~known, ["attempt_id"]], NO_LABEL)
    return Basis("attempts with a label", attempts.loc[known, ["attempt_id"]], left)


def _of_participants(sources: Sources, statistic: str) -> Basis:
    """Participants with attempts, and, for those who have prompt logs alone, these too."""
    names = set(sources[ATTEMPTS]["participant"])
    if statistic == "log_only_participants":
        names |= set(sources[PROMPT_LOGS]["participant"])
    rows = rows_of(["participant"], [[name] for name in sorted(names)])
    return Basis("participants", rows, rows_of(["participant", "why"]), reads_prompts=True)


def _of_texts(sources: Sources, statistic: str) -> Basis:
    """Texts that were searched: programs of attempts and Q_u of participants, counted by place."""
    what, _, name = statistic.partition(":")

    def make() -> Basis:
        if what == "redacted":
            table = sources[REDACTION_COUNTS]
            table = table[table["kind"] == name]
            searched = dict(zip(table["place"], table["n_searched"], strict=True)) if not _not_searched(table) else {}
        else:
            table = sources[VERDICT_WORD_COUNTS]
            table = table[table["place"] == name]
            searched = {name: table["n_searched"].max()} if len(table) else {}
        rows = [[place, int(n)] for place, n in searched.items() if n]
        return Basis("texts", rows_of(["place", COUNTS], rows), rows_of(["place", "why"]), reads_prompts=True)

    return sources.once(("texts", what, name), make)


def _not_searched(table: pd.DataFrame) -> bool:
    """Whether the settings say that the kind is not replaced: then the figure is undefined."""
    return bool(table["reason"].notna().any())


RULES = {"contest_overview": of_count}
"""Table of figures -> what a row of it rests on."""
