"""Artifacts -> ``submission_artifacts`` -> ``attempts`` (paper 1, eq. 1-5).

An artifact says what it says; an attempt is what a contest makes of it. Between the two stand four decisions, each
recorded in ``notes`` where it was not plain:

- *Who* (``resolve_participant``). The artifact's own id is what ``submission_artifacts`` holds, the folder's name only
  where the artifact has none. For an attempt the folder's name goes before the handle that the contest site shows,
  because prompt logs are filed under it. Two exceptions, since both mean that a file holds somebody else's work: the
  artifact names several participants, or names one whose id is formed like the folder's (E004 in the folder E003).
  A feed and Project CodeNet's metadata always stand for themselves.
- *What*. The problem is the artifact's own (after ``problem_names``), else the folder's.
- *Which* (``attempt_id``). The same submission read twice is one attempt, the fullest reading first, what it lacks
  filled from the others. Where two readings under one id cannot be the same submission, the later is set aside.
- *When* (``judge_pipeline.ingest.turns``). The turn k, and what its order rests on.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from json.encoder import encode_basestring_ascii
from typing import Any

import pandas as pd

from judge_pipeline.ingest.contest_folder import FoundFile, participant_and_problem_of
from judge_pipeline.ingest.records import UnreadableArtifact
from judge_pipeline.ingest.submissions import NAME_THEIR_PEOPLE, read_artifact
from judge_pipeline.ingest.turns import TurnRow, lists_newest_first, order_trajectory
from judge_pipeline.settings import ContestSettings
from judge_pipeline.tables import ATTEMPTS, INGEST_QUARANTINE, SUBMISSION_ARTIFACTS, VERDICTS_WITHOUT_LABEL

Row = dict[str, Any]

_UNDECIDED = ("PENDING", "UNKNOWN")
"""Verdicts that a fuller reading of the same submission may replace."""

_NUMBERED_ID = re.compile(r"([A-Za-z]+[-_]?)\d+")
"""A participant id as a contest gives them out: E001, team-12."""


def attempt_id(
    contest: str,
    participant: str,
    problem_id: str,
    submission_id: str | None,
    submitted_at: datetime | None,
    source_sha256: str | None,
    *,
    otherwise: tuple[str | int | None, ...] = (),
) -> str:
    """The stable id of an attempt: the first 16 hexadecimal digits of a sha256.

    It is taken over a JSON array (no spaces, non-ASCII escaped, in UTF-8), so that no two lists of parts read alike::

        ["attempt", contest, participant, problem_id, "submission_id", submission_id]
        ["attempt", contest, participant, problem_id, "instant", instant, source_sha256, ...otherwise]
        ["attempt", contest, participant, problem_id, "source", source_sha256, ...otherwise]

    the first where the contest site's id is known, else the second where the instant is, else the third. The instant
    reads ``2026-03-01T03:04:05.000000Z``. Only what the artifact itself holds goes in: no path on this machine, no
    other artifact, no pseudonym.

    Args:
        contest: the contest's name.
        participant: participant u, before pseudonymization.
        problem_id: problem p.
        submission_id: the contest site's id, or None.
        submitted_at: instant of submission, with a zone, or None.
        source_sha256: sha256 of the source, or None.
        otherwise: what tells attempts apart where there is no submission id (see ``identity_of``).

    Raises:
        ValueError: the instant has no zone, or there is nothing at all to tell the attempt by.
    """
    if submission_id is not None:
        told_by: list[str | int | None] = ["submission_id", submission_id]
    elif submitted_at is not None:
        if submitted_at.tzinfo is None:
            raise ValueError(f"the instant {submitted_at!r} has no zone; give it one")
        instant = submitted_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        told_by = ["instant", instant, source_sha256, *otherwise]
    elif source_sha256 is not None or otherwise:
        told_by = ["source", source_sha256, *otherwise]
    else:
        raise ValueError("an attempt without submission id, instant and source cannot be told from others")
    parts = ",".join(map(_as_json, ("attempt", contest, participant, problem_id, *told_by)))
    return hashlib.sha256(f"[{parts}]".encode("ascii")).hexdigest()[:16]


def _as_json(part: str | int | None) -> str:
    # What json.dumps does, without an encoder made anew for each of a million attempts.
    return encode_basestring_ascii(part) if isinstance(part, str) else json.dumps(part)


def submission_artifacts(files: Iterable[FoundFile], settings: ContestSettings) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Reads the files of a contest's ``submissions`` folder.

    Args:
        files: what ``contest_folder.contest_files`` yields: path and bytes, or why there are none.
        settings: the contest's settings (zone, verdict words, problem names).

    Returns:
        A table ``SUBMISSION_ARTIFACTS`` (rows in the order of the files, then of the rows within), and a table
        ``INGEST_QUARANTINE`` of what could not be read.
    """
    rows: list[Row] = []
    aside: list[UnreadableArtifact] = []
    for path, data in files:
        if isinstance(data, UnreadableArtifact):
            aside.append(data)
            continue
        try:
            read = read_artifact(data, path, settings)
        except UnreadableArtifact as unreadable:
            aside.append(unreadable)
            continue
        rows.extend(record.to_row() for record in read.records)
        aside.extend(read.aside)
    return SUBMISSION_ARTIFACTS.conform(rows), quarantine(aside)


def quarantine(aside: Iterable[UnreadableArtifact], kind: str = "submissions") -> pd.DataFrame:
    """The table ``INGEST_QUARANTINE`` of what was set aside; the same thing said twice is one row."""
    rows = {(u.path, u.place, u.reason): u for u in aside}
    return INGEST_QUARANTINE.conform(
        [
            {"kind": kind, "path": u.path, "place": u.place, "reason": u.reason, "remedy": u.remedy}
            for u in rows.values()
        ]
    )


def build_attempts(artifacts: pd.DataFrame, contest: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The attempts of a contest.

    Args:
        artifacts: a table ``SUBMISSION_ARTIFACTS``.
        contest: the contest's name, a part of every attempt id.

    Returns:
        A table ``ATTEMPTS`` sorted by participant, problem, turn, and a table ``INGEST_QUARANTINE`` of the submissions
        that cannot be attempts: participant or problem unknown, nothing to tell them by, or an id that two different
        submissions share. Every artifact row is an attempt, a part of one, or in the quarantine.
    """
    aside: list[UnreadableArtifact] = []
    several = _paths_with_several(artifacts)
    groups: dict[str, list[Row]] = {}
    for row in _known(_rows_of(artifacts), several, aside):
        groups.setdefault(_id_of(row, contest), []).append(row)
    attempts = [attempt for key, rows in groups.items() for attempt in _merge(key, rows, aside)]
    _note_two_problems(attempts)
    rows = list(_with_turns(attempts))
    columns = {name: [row[name] for row in rows] for name in ATTEMPTS.column_names}
    return ATTEMPTS.conform(pd.DataFrame(columns, dtype="object")), quarantine(aside)


def resolve_participant(shown: str | None, path: str, several: bool) -> tuple[str | None, str | None]:
    """The participant of an attempt.

    Args:
        shown: the participant by the artifact, else by the folder.
        path: the artifact's path, from which the folder's participant follows.
        several: whether the artifact names more than one participant.

    Returns:
        The participant (the module's docstring has the rule), and a note where artifact and folder disagree.
    """
    folder, _ = participant_and_problem_of(path)
    if shown is None or folder is None or shown == folder:
        return shown or folder, None
    formed, named = _NUMBERED_ID.fullmatch(folder), _NUMBERED_ID.fullmatch(shown)
    alike = formed is not None and named is not None and formed[1].lower() == named[1].lower()
    if several or alike:
        return shown, f"participant by the artifact, not by its folder {folder!r}"
    return folder, f"participant by the folder, not {shown!r} as the artifact says"


def _rows_of(artifacts: pd.DataFrame) -> Iterator[Row]:
    columns = {str(name): _values(artifacts[name]) for name in artifacts.columns}
    for values in zip(*columns.values(), strict=True):
        row: Row = dict(zip(columns, values, strict=True))
        row["notes"] = row["notes"].split("; ") if row["notes"] else []
        yield row


def _values(column: pd.Series) -> list[Any]:
    """A column's values as plain Python values, None for what is missing."""
    instants = isinstance(column.dtype, pd.DatetimeTZDtype)
    plain = pd.DatetimeIndex(column).to_pydatetime() if instants else column.astype("object")
    values: list[Any] = plain.tolist()
    missing = column.isna().to_numpy()
    if not missing.any():
        return values
    return [None if none else value for value, none in zip(values, missing.tolist(), strict=True)]


def _paths_with_several(artifacts: pd.DataFrame) -> set[str]:
    named = artifacts.loc[artifacts["row"].notna(), ["path", "participant"]].dropna()
    counts = named.groupby("path")["participant"].nunique()
    return set(counts[counts > 1].index)


def _known(rows: Iterable[Row], several: set[str], aside: list[UnreadableArtifact]) -> Iterator[Row]:
    """The rows of which participant, problem and something to tell them by are known; the others go aside."""
    for row in rows:
        if row["reader"] not in NAME_THEIR_PEOPLE:
            row["participant"], note = resolve_participant(row["participant"], row["path"], row["path"] in several)
            row["notes"] += [note] if note else []
        missing = _what_is_missing(row)
        if missing is None:
            yield row
        else:
            aside.append(UnreadableArtifact(row["path"], _place(row), *missing))


def _what_is_missing(row: Row) -> tuple[str, str] | None:
    """Why a row is no attempt and what to do about it; None where it is one."""
    if not row["participant"]:
        return "no participant is named", "put it into submissions/<participant>/"
    if not row["problem_id"]:
        return (
            "no problem is named",
            "put it into submissions/<participant>/<problem>/, or write 'Problem: ...' at its top",
        )
    if row["submission_id"] is None and row["submitted_at"] is None and row["source_sha256"] is None:
        return (
            "has no submission id, no source, and no time whose zone is known",
            "set time_zone in contest.yaml if times lack only their zone, or save the submission's own page",
        )
    return None


def _place(row: Row) -> str | None:
    return None if row["row"] is None else f"row {row['row']}"


def _id_of(row: Row, contest: str) -> str:
    """The attempt id of an artifact row.

    Without a submission id, two submissions may share the source, and where there is no time either nothing else tells
    them apart than language and verdict: the same program sent again as PyPy, or judged again otherwise. They go into
    the id then, the verdict only once it is decided.
    """
    instant = row["submitted_at"]
    otherwise: tuple[str | None, ...] = ()
    if row["submission_id"] is None and instant is None:
        otherwise = (row["language"], None if row["verdict"] in _UNDECIDED else row["verdict"])
    return attempt_id(
        contest,
        row["participant"],
        row["problem_id"],
        row["submission_id"],
        instant,
        row["source_sha256"],
        otherwise=otherwise,
    )


def _merge(key: str, rows: list[Row], aside: list[UnreadableArtifact]) -> Iterator[Row]:
    """One attempt of the readings that share an id; readings that contradict the fullest one go aside."""
    rows = sorted(rows, key=_fullness) if len(rows) > 1 else rows
    attempt = rows[0]
    attempt["attempt_id"] = key
    also: list[str] = []
    for other in rows[1:]:
        contradiction = _contradiction(attempt, other)
        if contradiction is not None:
            aside.append(
                UnreadableArtifact(
                    other["path"],
                    _place(other),
                    f"shares the identity of {_where(attempt)} but {contradiction}",
                    "give each submission its contest site's id, or remove the file that is wrong",
                )
            )
            continue
        _fill(attempt, other)
        also.append(_where(other))
    if also:
        attempt["notes"].append(f"also read from {', '.join(also)}")
    yield attempt


def _note_two_problems(attempts: Iterable[Row]) -> None:
    """Notes where one submission id stands under two problems: most likely one problem under two names."""
    first: dict[tuple[str, str], str] = {}
    several: dict[tuple[str, str], set[str]] = {}
    for attempt in attempts:
        if attempt["submission_id"] is not None:
            key, problem = (attempt["participant"], attempt["submission_id"]), attempt["problem_id"]
            if first.setdefault(key, problem) != problem:
                several.setdefault(key, {first[key]}).add(problem)
    for attempt in attempts if several else ():
        names = several.get((attempt["participant"], attempt["submission_id"]))
        if names is not None:
            others = ", ".join(sorted(names - {attempt["problem_id"]}))
            attempt["notes"].append(f"its id stands under {others}, too; if that is one problem, use problem_names")


def _fullness(row: Row) -> tuple[bool, bool, bool, int, str, int]:
    """Sorts the fullest reading first: with a source, decided, with an instant, the longest source; then by place."""
    return (
        row["source_sha256"] is None,
        row["verdict"] in _UNDECIDED,
        row["submitted_at"] is None,
        -len(row["source_code"] or ""),
        row["path"],
        row["row"] or 0,
    )


def _contradiction(attempt: Row, other: Row) -> str | None:
    """Why two readings cannot be of the same submission; None where they can."""
    mine, its = attempt["source_code"], other["source_code"]
    decided = {attempt["verdict"], other["verdict"]}.difference(_UNDECIDED)
    if mine is not None and its is not None and not _same_source(mine, its, may_be_cut=len(decided) < 2):
        return "holds another source"
    if attempt["submission_id"] is None:
        one_page = attempt["path"] == other["path"]
        if one_page and attempt["source_sha256"] is None:
            return "is another row of the same list"
        if len(decided) > 1:
            return f"has the verdict {other['verdict']}, not {attempt['verdict']}"
    return None


def _same_source(one: str, other: str, may_be_cut: bool) -> bool:
    """Whether two sources are one, apart from white space and, where that may be, from an end that was cut off."""
    one, other = "".join(one.split()), "".join(other.split())
    return one == other or (may_be_cut and (one.startswith(other) or other.startswith(one)))


def _fill(attempt: Row, other: Row) -> None:
    """Fills what the attempt lacks from another reading of it, and notes where the two disagree."""
    if attempt["verdict"] in _UNDECIDED and other["verdict"] not in _UNDECIDED:
        attempt["verdict"], attempt["verdict_raw"] = other["verdict"], other["verdict_raw"]
        attempt["notes"].append(f"verdict from {_where(other)}")
    elif other["verdict"] not in (*_UNDECIDED, attempt["verdict"]):
        attempt["notes"].append(f"{_where(other)} has the verdict {other['verdict']}")
    if attempt["submitted_at"] is None and other["submitted_at"] is not None:
        attempt["submitted_at"], attempt["timestamp_raw"] = other["submitted_at"], other["timestamp_raw"]
        attempt["notes"].append(f"time from {_where(other)}")
    for name in ("language", "timestamp_raw", "verdict_raw"):
        if attempt[name] is None:
            attempt[name] = other[name]


def _where(row: Mapping[str, Any]) -> str:
    return f"{row['path']}, {_place(dict(row))}" if row["row"] is not None else str(row["path"])


def _with_turns(attempts: list[Row]) -> Iterator[Row]:
    """The attempts as rows of the table, sorted, each with its turn and its label."""
    trajectories: dict[tuple[str, str], list[Row]] = {}
    for attempt in attempts:
        trajectories.setdefault((attempt["participant"], attempt["problem_id"]), []).append(attempt)
    lists = _newest_first(attempts)
    for key in sorted(trajectories):
        rows = trajectories[key]
        turns = order_trajectory([_turn_row(row, lists) for row in rows])
        for turn, (index, source) in enumerate(turns, start=1):
            verdict = rows[index]["verdict"]
            y = None if verdict in VERDICTS_WITHOUT_LABEL else int(verdict == "AC")
            notes = "; ".join(dict.fromkeys(rows[index]["notes"])) or None
            rows[index].update(turn=turn, order_source=source, y=y, notes=notes)
            yield rows[index]


def _newest_first(attempts: Iterable[Row]) -> dict[str, bool]:
    """For each list among the artifacts, whether it shows the newest submission first."""
    lists: dict[str, list[tuple[int, datetime | None, str | None]]] = {}
    for attempt in attempts:
        if attempt["row"] is not None:
            place = (attempt["row"], attempt["submitted_at"], attempt["submission_id"])
            lists.setdefault(attempt["path"], []).append(place)
    return {path: lists_newest_first(rows) for path, rows in lists.items()}


def _turn_row(attempt: Row, newest_first: Mapping[str, bool]) -> TurnRow:
    path = attempt["path"]
    return TurnRow(
        attempt["submitted_at"], attempt["submission_id"], path, attempt["row"], newest_first.get(path, True)
    )
