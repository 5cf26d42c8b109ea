"""A judge's export of sources as one ZIP archive, each file's name telling whose it is: ``1234_AC_team_A.cpp``.

A file whose name does not tell becomes a record of the reader ``zip_member`` that knows only its source: it may be the
source of a submission that a feed beside the archive lists. What no feed claims is set aside (``joined_sources``).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from judge_pipeline.ingest.binary_files import refuse_binary
from judge_pipeline.ingest.drafts import Draft, finish
from judge_pipeline.ingest.encodings import decode
from judge_pipeline.ingest.member_names import NameFields, read_names
from judge_pipeline.ingest.records import SubmissionRecord, UnreadableArtifact
from judge_pipeline.ingest.source_files import LANGUAGES
from judge_pipeline.ingest.zip_members import ZipMember, zip_members
from judge_pipeline.settings import ContestSettings


def read_zip(data: bytes, path: str, settings: ContestSettings) -> Iterator[SubmissionRecord | UnreadableArtifact]:
    """The sources in an archive, in its order, and what is set aside of it.

    Raises:
        UnreadableArtifact: it is no whole archive, or holds too many files.
    """
    members: list[ZipMember] = []
    for member in zip_members(data, path):
        if isinstance(member, UnreadableArtifact):
            yield member
            continue
        try:
            refuse_binary(member.data, path, f"file {member.number}, {member.name[:200]!r}")
        except UnreadableArtifact as unreadable:
            yield unreadable
            continue
        members.append(member)
    known = {
        "problem_id": {*settings.problem_names, *settings.problem_names.values()},
        "participant": {*settings.participant_names, *settings.participant_names.values()},
    }
    said = read_names([member.name for member in members], settings.archive_names, settings.verdict_words, known)
    for member, fields in zip(members, said, strict=True):
        yield _record(member, fields, path, settings)


def _record(
    member: ZipMember, said: tuple[NameFields, bool] | str, path: str, settings: ContestSettings
) -> SubmissionRecord:
    decoded = decode(member.data)
    draft = Draft("zip_member", row=member.number, source=decoded.text, source_path=f"{path}/{member.name}")
    if isinstance(said, str):
        draft.notes.append(said)
        return finish(draft, decoded, path, settings)
    fields, by_others = said
    draft.reader = "zip_export"
    draft.submission_id = fields.get("submission_id")
    draft.participant = fields.get("participant")
    draft.problem_id = fields.get("problem_id")
    draft.verdict_raw = fields.get("verdict")
    draft.language = fields.get("language")
    extension = PurePosixPath(member.name).suffix.lstrip(".").lower()
    if draft.language is None and extension in LANGUAGES:
        draft.language = LANGUAGES[extension]
        draft.notes.append("language by the file's extension")
    if by_others:
        draft.notes.append("name divided by what other names say")
    return finish(draft, decoded, path, settings)
