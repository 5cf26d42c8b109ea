"""The judgments behind a figure, an attempt or a pair: who said what, and under which request hash."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from judge_pipeline.lineage.artifacts import Files
from judge_pipeline.lineage.basis import LEFT_OUT, Basis
from judge_pipeline.lineage.figures import Figure
from judge_pipeline.lineage.sources import CONTEST, OVER_ALL, PREFERENCE_SET, MissingTableError, Sources
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import ANCHOR_RUNS, JUDGE_CANARIES, PREDICTIONS
from judge_pipeline.tables import criteria as criteria_tables
from judge_pipeline.tables.pair_judging import PAIR_JUDGMENTS

if TYPE_CHECKING:
    import pandas as pd

FilesOf = Callable[[str, str], Files]

KEPT_AS_CANARY, KEPT_AS_ANCHOR = "~canary", "~anchor~"
"""Behind a judge's name in the checkpoint where it was asked with a text planted, or the anchor set in a period."""

_WHY = ("failure_class", "rationale")
_OF_CRITERIA: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "criteria": (("criterion",), ("text", "aspect", "weight"), "request_hash"),
    "criterion_verdicts": (("criterion", "presentation_order"), ("verdict", *_WHY), "request_hash"),
    "child_verdicts": (("criterion", "presentation_order"), ("verdict", *_WHY), "request_hash"),
    "criterion_answers": (("criterion", "response"), ("met", *_WHY), "request_hash"),
    "child_answers": (("criterion", "response"), ("met", *_WHY), "request_hash"),
    "refined_criteria": (("criterion",), ("fate", "why"), "request_hash"),
    "criteria_decisions": ((), ("decision", "decided_by", *_WHY), "request_hash"),
}
"""Table -> the columns that say what was asked beside the pair, what was said, and the request's hash."""


@dataclass(frozen=True, slots=True)
class Served:
    """One of several things that one request was for.

    Attributes:
        table: the table that it stands in.
        asked: what was asked: the criterion, and the presentation order.
        said: column -> value.
    """

    table: str
    asked: str
    said: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """One judgment as a table has it.

    Attributes:
        kind: contest or preference_set.
        of: the contest or the set.
        judge: who judged.
        kept_as: under which name the checkpoint keeps it.
        subject: the attempt or the pair.
        asked: what else was asked: the presentation order, the criterion, the planted text.
        said: column -> value.
        request_hash: identity of the call; None where there was none.
        table: the table; the first where it was for several things.
        served: each of these; then ``said`` is empty, and ``asked`` names the criteria.
    """

    kind: str
    of: str
    judge: str
    kept_as: str
    subject: str
    asked: str
    said: Mapping[str, Any]
    request_hash: str | None
    table: str
    served: tuple[Served, ...] = ()


def judgments_behind(sources: Sources, figure: Figure, basis: Basis, files: FilesOf) -> list[Said]:
    """The judgments that a figure counts or is chosen on, in the order of judges and of the tables' rows.

    Those behind rubric scores are not among them: no table has their requests (``judge-pipeline trace PAIR_ID`` lists
    them from the checkpoint).

    Args:
        sources: the tables of the figure's contest or set, or over all.
        figure: the figure.
        basis: what it rests on.
        files: kind and name -> which attempts rows are of.
    """
    found: list[Said] = []
    for own, attempts, pairs in _subjects(sources, basis, files):
        if figure.table == "judge_canary_effects":
            found += list(canaries_of(own, basis.judges, attempts, str(figure.row["injection"])))
        elif figure.table == "anchor_figures":
            found += list(anchors_of(own, basis.judges, attempts))
        elif figure.table in ("criteria_ablation", "criteria_aspects"):
            given = (figure.row.get(name) for name in ("configuration", "against"))
            names = {str(name) for name in given if name is not None}
            for name in sorted(names):
                found += once_a_request(criteria_of(own, figure.row["judge"], name, pairs))
        elif own.kind == PREFERENCE_SET:
            found += list(choices_of(own, basis.judges, pairs))
        else:
            found += list(predictions_of(own, basis.judges, attempts))
    return found


def judgments_of_attempt(sources: Sources, attempt: str) -> list[Said]:
    """Every judgment of an attempt that the figures may use, with canaries and anchors."""
    judges = sorted(set(_read(sources, PREDICTIONS)["judge"]))
    found = list(predictions_of(sources, judges, {attempt}))
    found += list(canaries_of(sources, sources.judges_with(JUDGE_CANARIES), {attempt}, None))
    return [*found, *anchors_of(sources, sources.judges_with(ANCHOR_RUNS), {attempt})]


def judgments_of_pair(sources: Sources, pair: str) -> list[Said]:
    """Every choice on a pair, and what each judge@configuration said of it."""
    found = list(choices_of(sources, sources.judges_with(PAIR_JUDGMENTS), {pair}))
    for key in sources.judges_with(criteria_tables.CRITERIA_DECISIONS):
        judge, _, name = key.partition("@")
        found += once_a_request(criteria_of(sources, judge, name, {pair}))
    return found


def once_a_request(given: Iterable[Said]) -> list[Said]:
    """Judgments by criteria, each request once with all that it was for, where it first stands.

    What had no request stays as it is.
    """
    groups: dict[Any, list[Said]] = {}
    for place, one in enumerate(given):
        key = place if one.request_hash is None else (one.judge, one.subject, one.request_hash)
        groups.setdefault(key, []).append(one)
    return [_together(group) if len(group) > 1 else group[0] for group in groups.values()]


def _together(group: list[Said]) -> Said:
    served = tuple(Served(one.table, one.asked, one.said) for one in group)
    criteria = dict.fromkeys(one.asked.partition(", ")[0] for one in group)
    return replace(group[0], asked=", ".join(criteria), said={}, served=served)


def predictions_of(sources: Sources, judges: Collection[str], attempts: Collection[str]) -> Iterator[Said]:
    """The predictions of judges for attempts."""
    table = _read(sources, PREDICTIONS)
    rows = table[table["judge"].isin(judges) & table["attempt_id"].isin(attempts)]
    said = ("p_ac", "s_algo", "s_robust", "rationale")
    for row in _records(rows):
        yield _said(
            sources, row["judge"], row["judge"], row, "attempt_id", "", said, row["request_hash"], "predictions"
        )


def choices_of(sources: Sources, judges: Collection[str], pairs: Collection[str]) -> Iterator[Said]:
    """The choices of judges on pairs, in each presentation order."""
    for judge in judges:
        if judge not in sources.judges_with(PAIR_JUDGMENTS):
            continue
        table = sources.of_judge(PAIR_JUDGMENTS, judge)
        for row in _records(table[table["pair_id"].isin(pairs)]):
            said = ("decision", "slot", "rationale", "failure_class")
            yield _said(sources, judge, judge, row, "pair_id", row["presentation_order"], said, row["request_hash"],
                        PAIR_JUDGMENTS.name)  # fmt: skip


def canaries_of(
    sources: Sources, judges: Collection[str], attempts: Collection[str], injection: str | None
) -> Iterator[Said]:
    """What judges said of attempts as they are and with a text planted; of all texts where none is named."""
    for judge in judges:
        table = sources.of_judge(JUDGE_CANARIES, judge)
        rows = table[table["attempt_id"].isin(attempts)]
        if injection is not None and (rows["injection"] == injection).any():
            rows = rows[rows["injection"] == injection]
        for row in _records(rows):
            where = f"{row['injection']} in {row['place']}"
            for side in ("clean", "injected"):
                asked = "as it is" if side == "clean" else where
                yield _said(
                    sources, judge, f"{judge}{KEPT_AS_CANARY}", row, "attempt_id", asked, (f"p_ac_{side}",),
                    row[f"request_hash_{side}"], JUDGE_CANARIES.name,
                )  # fmt: skip


def anchors_of(sources: Sources, judges: Collection[str], attempts: Collection[str]) -> Iterator[Said]:
    """What judges said of attempts of the anchor set, in each period."""
    for judge in judges:
        table = sources.of_judge(ANCHOR_RUNS, judge)
        for row in _records(table[table["attempt_id"].isin(attempts)]):
            kept_as = f"{judge}{KEPT_AS_ANCHOR}{row['period']}"
            yield _said(sources, judge, kept_as, row, "attempt_id", row["period"], ("p_ac", "failure"),
                        row["request_hash"], ANCHOR_RUNS.name)  # fmt: skip


def criteria_of(sources: Sources, judge: str, configuration: str, pairs: Collection[str]) -> Iterator[Said]:
    """What a judge said of pairs at every stage of a configuration."""
    by_name = {table.name: table for table in criteria_tables.TABLES}
    key = f"{judge}@{configuration}"
    for name, (asked, said, hash_) in _OF_CRITERIA.items():
        if key not in sources.judges_with(by_name[name]):
            continue
        table = sources.of_judge(by_name[name], key)
        for row in _records(table[table["pair_id"].isin(pairs)]):
            words = ", ".join(str(row[column]) for column in asked if row[column] is not None)
            yield _said(sources, key, judge, row, "pair_id", words, said, row[hash_], name)


def _subjects(sources: Sources, basis: Basis, files: FilesOf) -> Iterator[tuple[Sources, set[str], set[str]]]:
    """Each contest or set with the attempts and pairs of a basis that are its own."""
    rows = [part for role, _, part in basis.parts() if role != LEFT_OUT]
    if sources.kind != OVER_ALL:
        yield sources, _attempts(rows, files(sources.kind, sources.name)), _pairs(rows)
        return
    for kind in (CONTEST, PREFERENCE_SET):
        for name, own in sources.of_kind(kind).items():
            theirs = [part[part[kind] == name] for part in rows if kind in part.columns]
            if any(len(part) for part in theirs):
                yield own, _attempts(theirs, files(kind, name)), _pairs(theirs)


def _attempts(rows: list[pd.DataFrame], files: Files) -> set[str]:
    return {attempt for part in rows for attempt in files.attempts_in(part)}


def _pairs(rows: list[pd.DataFrame]) -> set[str]:
    return {pair for part in rows if "pair_id" in part.columns for pair in part["pair_id"].dropna()}


def _read(sources: Sources, table: Table) -> pd.DataFrame:
    try:
        return sources[table]
    except MissingTableError:
        return table.empty()


def _records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    values = rows.astype("object")
    return [{str(k): v for k, v in row.items()} for row in values.where(values.notna(), None).to_dict("records")]


def _said(
    sources: Sources, judge: str, kept_as: str, row: Mapping[str, Any], subject: str, asked: str,
    columns: tuple[str, ...], request_hash: str | None, table: str,
) -> Said:  # fmt: skip
    said = {name: row[name] for name in columns if row[name] is not None}
    return Said(sources.kind, sources.name, judge, kept_as, row[subject], asked, said, request_hash, table)
