"""Event feeds of contest control systems (CLICS, ICPC): NDJSON or a JSON array of events, in the forms of all years.

A feed tells what changed; what counts is what is left at its end. Events create, update and delete objects: since 2020
``data: null`` deletes and ``id`` names the object, before that ``op`` says what happens and ``data.id`` names it; since
2022 ``data`` may be a whole collection. A submission's verdict is that of its last judgement that is valid; one without
a type is not judged yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from judge_pipeline.ingest.beside import path_beside
from judge_pipeline.ingest.drafts import Draft
from judge_pipeline.ingest.verdicts import read_verdict

_TYPES = frozenset((
    "contest", "contests", "state", "judgement-types", "languages", "problems", "teams", "organizations", "groups",
    "submissions", "judgements", "runs", "clarifications", "awards",
    "commentary", "accounts", "persons", "team-members",
))  # fmt: skip

_SINGULAR = {"contest": "contests"}
_RELATIVE = re.compile(r"(-?)(\d{1,6}):(\d\d):(\d\d)(?:\.(\d{1,6}))?")

_BY_TYPE = {
    "AC": "AC", "RTE": "RE", "WA": "WA", "TLE": "TLE", "CE": "CE", "PE": "PE", "APE": "PE", "OLE": "OLE", "MLE": "MLE",
    "EO": "WA", "IO": "WA", "NO": "WA", "WTL": "TLE", "ILE": "TLE", "TCO": "RE", "TWA": "WA", "TPE": "PE", "SE": "IE",
    "SV": "IE", "IF": "IE", "RCO": "IE", "CTL": "CE", "JE": "IE",
}  # fmt: skip
"""The judgement type ids that the specification lists, in our closed set; RE means rejected there and is left out."""


@dataclass(slots=True)
class _State:
    """What is left at the end of a feed: of each type, the objects by id in the order of their creation."""

    objects: dict[str, dict[str, Mapping[str, Any]]] = field(default_factory=dict)

    def of(self, kind: str) -> dict[str, Mapping[str, Any]]:
        return self.objects.setdefault(_SINGULAR.get(kind, kind), {})


def is_feed(documents: Any) -> bool:
    """Whether a JSON document is an event feed: a list of objects with a type that the specification knows."""
    if not isinstance(documents, list) or not documents:
        return False
    first = [item for item in documents[:20] if isinstance(item, Mapping)]
    known = [item for item in first if item.get("type") in _TYPES and ("data" in item or "op" in item)]
    return bool(known) and len(known) * 2 >= len(first)


def read_feed(documents: Iterable[Any], path: str = "") -> list[Draft]:
    """The submissions of a feed, in the order of their first appearance.

    Args:
        documents: the events.
        path: the feed, from where the files that a submission names are looked for.
    """
    state = _State()
    for event in documents:
        if isinstance(event, Mapping) and isinstance(event.get("type"), str):
            _apply(state, event)
    judgements: dict[str, list[Mapping[str, Any]]] = {}
    for judgement in state.of("judgements").values():
        judgements.setdefault(str(judgement.get("submission_id")), []).append(judgement)
    return [
        _draft(row, submission, judgements.get(number, []), state, path)
        for row, (number, submission) in enumerate(state.of("submissions").items(), start=1)
    ]


def _apply(state: _State, event: Mapping[str, Any]) -> None:
    objects = state.of(event["type"])
    data = event.get("data")
    if isinstance(data, list):
        objects.clear()
        objects.update({str(item["id"]): item for item in data if isinstance(item, Mapping) and "id" in item})
        return
    number = data.get("id", event.get("id")) if isinstance(data, Mapping) else event.get("id")
    if event.get("op") == "delete" or data is None:
        objects.pop(str(number), None)
    elif isinstance(data, Mapping):
        objects[str(number)] = data


def _draft(
    row: int, submission: Mapping[str, Any], judgements: list[Mapping[str, Any]], state: _State, path: str
) -> Draft:
    draft = Draft(reader="clics_feed", row=row)
    draft.submission_id = _text(submission.get("id"))
    draft.participant = _text(submission.get("team_id"))
    draft.problem_id = _text(submission.get("problem_id"))
    language = _text(submission.get("language_id"))
    draft.language = _text(state.of("languages").get(str(language), {}).get("name")) or language
    draft.timestamp_raw = _text(submission.get("time")) or _from_start(submission, state, draft.notes)
    draft.source_path = _file_beside(submission, path)
    _take_verdict(draft, judgements, state)
    return draft


def _file_beside(submission: Mapping[str, Any], path: str) -> str | None:
    """Where the address of a submission's files would lie beside the feed; addresses with a host lie nowhere."""
    files = submission.get("files")
    first = files[0] if isinstance(files, list) and files and isinstance(files[0], Mapping) else {}
    href = _text(first.get("href"))
    # Without the submission's id in it, an address may be that of any submission.
    own = href is not None and _text(submission.get("id")) in href.split("/") and "://" not in href
    return path_beside(path, href) if href is not None and own else None


def _from_start(submission: Mapping[str, Any], state: _State, notes: list[str]) -> str | None:
    """The instant by the contest's start and the time since then, for feeds that give no other."""
    since = _RELATIVE.fullmatch(_text(submission.get("contest_time")) or "")
    starts = {_text(contest.get("start_time")) for contest in state.of("contests").values()} - {None}
    if since is None or len(starts) != 1:
        return None
    try:
        start = datetime.fromisoformat(str(starts.pop()))
    except ValueError:
        return None
    hours, minutes, seconds = (int(since[i]) for i in (2, 3, 4))
    micros = int((since[5] or "0").ljust(6, "0"))
    passed = timedelta(hours=hours, minutes=minutes, seconds=seconds, microseconds=micros)
    notes.append("time by the contest's start and the time since")
    return (start - passed if since[1] else start + passed).isoformat()


def _take_verdict(draft: Draft, judgements: list[Mapping[str, Any]], state: _State) -> None:
    valid = [j for j in judgements if j.get("valid") is not False]
    current = [j for j in valid if j.get("current") is True] or valid
    if not current:
        draft.verdict_raw, draft.verdict = None, "PENDING"
        draft.notes.append("the feed holds no judgement of it")
        return
    last = max(enumerate(current), key=lambda numbered: (_begun(numbered[1]), numbered[0]))[1]
    number = _text(last.get("judgement_type_id"))
    if number is None:
        draft.verdict = "PENDING"
        draft.notes.append("the feed ends before it is judged")
        return
    draft.verdict_raw = number
    draft.verdict = _verdict_of(number, state.of("judgement-types").get(number, {}), draft.notes)
    earlier = list(dict.fromkeys(_text(j.get("judgement_type_id")) or "none" for j in judgements if j is not last))
    if earlier and earlier != [number]:
        draft.notes.append(f"judged {len(judgements)} times; before: {', '.join(earlier)}")


def _begun(judgement: Mapping[str, Any]) -> float:
    """When a judgement was begun, in seconds, for judgements of one submission; 0 where it does not say."""
    since = _RELATIVE.fullmatch(_text(judgement.get("start_contest_time")) or "")
    if since is not None:
        seconds = int(since[2]) * 3600 + int(since[3]) * 60 + int(since[4]) + float(f"0.{since[5] or 0}")
        return -seconds if since[1] else seconds
    try:
        return datetime.fromisoformat(_text(judgement.get("start_time")) or "").timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _verdict_of(number: str, kind: Mapping[str, Any], notes: list[str]) -> str:
    """The verdict of a judgement type: by its name, else by its id; whether it counts as solved must agree."""
    by_name = read_verdict(_text(kind.get("name")), {})[0]
    verdict = by_name if by_name != "UNKNOWN" else _BY_TYPE.get(number, "UNKNOWN")
    solved = kind.get("solved")
    if solved is True:
        return "AC"
    if solved is False and verdict == "AC":
        notes.append(f"judgement type {number} reads accepted and does not count as solved")
        return "UNKNOWN"
    if verdict == "UNKNOWN":
        notes.append(f"judgement type {number!r} is not known")
    return verdict


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "" else None
