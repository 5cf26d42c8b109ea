"""A submission while it is being read: raw words first, made into a record at the end, in one place for all readers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from judge_pipeline.ingest.encodings import Decoded
from judge_pipeline.ingest.fields import FieldName
from judge_pipeline.ingest.links import participant_in_link, problem_in_link, submission_in_link
from judge_pipeline.ingest.records import SubmissionRecord, clean_text
from judge_pipeline.ingest.times import Zone, contest_zone, read_time
from judge_pipeline.ingest.verdicts import read_verdict
from judge_pipeline.settings import ContestSettings

_MD_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<url>[^)\s]+)[^)]*\)")
_HAS_DATE = re.compile(r"\d[-/.年]\s*\d{1,2}|[A-Za-z]{3}[/ ]\s*\d{1,2}|\bago\b|前$")


@dataclass(slots=True)
class Draft:
    """The raw fields of one submission.

    Attributes:
        reader: which reader reads it.
        row: its row in a list, from 1.
        verdict: the verdict, where the reader knows it from a code of the site's rather than from words.
        source_path: the file that holds the source, where it is not the artifact itself.
        zone: the zone of times that print none, as the page states it.
    """

    reader: str
    row: int | None = None
    participant: str | None = None
    problem_id: str | None = None
    verdict_raw: str | None = None
    verdict: str | None = None
    language: str | None = None
    timestamp_raw: str | None = None
    submission_id: str | None = None
    source: str | None = None
    source_path: str | None = None
    zone: Zone | None = None
    notes: list[str] = field(default_factory=list)

    def set(self, name: FieldName, value: str, url: str | None = None) -> None:
        """Takes a field's value as printed; the first one of a field stands.

        Args:
            name: the field.
            value: the text, in which a Markdown link or a URL may stand.
            url: the link that the text carries; its id goes before the text.
        """
        value, url = _apart(value, url)
        if not value and url is None:
            return
        if name == "problem_id":
            self.problem_id = self.problem_id or (problem_in_link(url) if url else None) or value or None
        elif name == "participant":
            self.participant = self.participant or (participant_in_link(url) if url else None) or value or None
        elif name == "submission_id":
            found = (submission_in_link(url) if url else None) or value.lstrip("#").strip() or None
            self.submission_id = self.submission_id or found
        elif name == "verdict":
            self._set_verdict(value)
        elif name == "language":
            self.language = self.language or value or None
        elif name == "timestamp" or (name == "time" and _HAS_DATE.search(value)):
            self.timestamp_raw = self.timestamp_raw or value or None

    def tells_something(self) -> bool:
        """Whether it says anything by which a submission is known: a source, an id, or a verdict for a problem."""
        known = self.source is not None or self.submission_id is not None
        return known or (self.verdict_raw is not None and (self.problem_id or self.timestamp_raw) is not None)

    def _set_verdict(self, value: str) -> None:
        if self.verdict_raw is None:
            self.verdict_raw = value or None
        elif value and value != self.verdict_raw:
            self.notes.append(f"a further result {value[:60]!r} is passed over")


def finish(draft: Draft, decoded: Decoded, path: str, settings: ContestSettings) -> SubmissionRecord:
    """The record that a draft makes: verdict and time understood, notes gathered."""
    notes = [*decoded.notes, *draft.notes]
    if draft.verdict is not None:
        verdict = draft.verdict
    else:
        verdict, note = read_verdict(draft.verdict_raw, settings.verdict_words)
        notes += [note] if note else []
    time = read_time(draft.timestamp_raw, draft.zone or contest_zone(settings.time_zone))
    notes += [time.note] if time.note else []
    return SubmissionRecord(
        path=path,
        reader=draft.reader,
        row=draft.row,
        participant=_text(draft.participant),
        problem_id=_text(draft.problem_id),
        verdict=verdict,
        verdict_raw=_text(draft.verdict_raw),
        language=_text(draft.language),
        submitted_at=time.instant,
        timestamp_raw=_text(draft.timestamp_raw),
        submission_id=_text(draft.submission_id),
        source_code=None if draft.source is None else clean_text(draft.source),
        source_path=None if draft.source_path is None else clean_text(draft.source_path)[:1000],
        notes=tuple(clean_text(note) for note in dict.fromkeys(notes)),
    )


def _apart(value: str, url: str | None) -> tuple[str, str | None]:
    """A value's text and link, where it is written as ``[text](url)`` or is a URL itself."""
    link = _MD_LINK.search(value)
    if link is not None:
        return _MD_LINK.sub(lambda m: m["text"], value).strip(), url or link["url"]
    value = value.strip()
    return value, url or (value if re.match(r"https?://\S+$", value) else None)


def _text(value: str | None) -> str | None:
    """A field as one line of bounded length; None where it is blank."""
    if value is None:
        return None
    return clean_text(re.sub(r"[ \t\r\n\f]+", " ", value).strip()[:500]) or None
