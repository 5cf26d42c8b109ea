"""The one door to all readers of submissions: bytes of an artifact -> records.

What an artifact is, its content says, and never its extension: pages are saved as ``.cpp``, sources as ``.txt``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from judge_pipeline.ingest.binary_files import refuse_binary
from judge_pipeline.ingest.codenet import draft_of_source, is_metadata, is_source_path, read_metadata
from judge_pipeline.ingest.column_tables import TableContext, looks_like_table, read_delimited
from judge_pipeline.ingest.contest_folder import participant_and_problem_of
from judge_pipeline.ingest.drafts import Draft, finish
from judge_pipeline.ingest.encodings import Decoded, decode
from judge_pipeline.ingest.json_artifacts import looks_like_json, read_json
from judge_pipeline.ingest.markup import looks_like_page, open_page
from judge_pipeline.ingest.pages import has_empty_list, read_page
from judge_pipeline.ingest.parquet_tables import is_parquet, read_parquet
from judge_pipeline.ingest.records import SubmissionRecord, UnreadableArtifact
from judge_pipeline.ingest.sites import site_of
from judge_pipeline.ingest.source_files import is_source_file
from judge_pipeline.ingest.text_artifacts import read_text
from judge_pipeline.ingest.web_archives import page_in_archive
from judge_pipeline.ingest.zip_exports import read_zip
from judge_pipeline.ingest.zip_members import is_zip
from judge_pipeline.settings import ContestSettings

NAME_THEIR_PEOPLE = frozenset({"clics_feed", "codenet", "codenet_source", "zip_member"})
"""Readers of artifacts with many people's submissions: the folders that they lie in say nothing of who and what."""


@dataclass(frozen=True, slots=True)
class ArtifactRead:
    """What one artifact gave.

    Attributes:
        records: its submissions, in its order.
        aside: the places in it that were set aside.
    """

    records: list[SubmissionRecord]
    aside: list[UnreadableArtifact]


def read_submissions(
    data: bytes, path: str, settings: ContestSettings, location: str | None = None
) -> list[SubmissionRecord]:
    """The submissions that an artifact holds, in its order.

    Participant and problem are the artifact's own (the id in a link before the name that is shown; problems by
    ``problem_names``), else by the folders that it lies in; a note says where the two disagree.

    Args:
        data: the artifact's bytes.
        path: what it is called, with ``/``; its last part may tell id and result of a source file.
        settings: the contest's settings: zone of times without one, further verdict words, problem names.
        location: where it lies, ``.../submissions/<participant>/[<problem>/]...``, if ``path`` does not say.

    Returns:
        One record of a page or file that is one submission (``row`` None), one for each row of a list or feed (``row``
        from 1), none of a list page without submissions.

    Raises:
        UnreadableArtifact: it holds no submission that can be read; reason and remedy say why.
    """
    return read_artifact(data, path, settings, location).records


def read_artifact(data: bytes, path: str, settings: ContestSettings, location: str | None = None) -> ArtifactRead:
    """The submissions that an artifact holds, as ``read_submissions``, and the places in it that are set aside.

    Raises:
        UnreadableArtifact: it holds no submission that can be read; reason and remedy say why.
    """
    by_folder = participant_and_problem_of(path if location is None else location)
    context = TableContext(path, settings, *by_folder)
    records: list[SubmissionRecord] = []
    aside: list[UnreadableArtifact] = []
    for item in _read(data, context):
        if isinstance(item, UnreadableArtifact):
            aside.append(item)
        else:
            records.append(_with_folder(item, *by_folder, settings))
    return ArtifactRead(records, aside)


def _read(data: bytes, context: TableContext) -> Iterator[SubmissionRecord | UnreadableArtifact]:
    if is_zip(data):
        yield from read_zip(data, context.path, context.settings)
        return
    if is_parquet(data):
        decoded = Decoded("", "binary", ())
        drafts = read_parquet(data, context)
    else:
        refuse_binary(data, context.path)
        decoded = decode(page_in_archive(data) or data)
        drafts = _drafts(decoded, context)
    for draft in drafts:
        if isinstance(draft, UnreadableArtifact):
            yield draft
        else:
            yield finish(draft, decoded, context.path, context.settings)


def _with_folder(
    record: SubmissionRecord, participant: str | None, problem: str | None, settings: ContestSettings
) -> SubmissionRecord:
    """The record with the contest's own names and with what its folders add, and a note where they contradict it."""
    if record.reader in NAME_THEIR_PEOPLE:
        participant, problem = None, None
    names, notes = settings.problem_names, list(record.notes)
    who = settings.participant_names.get(record.participant, record.participant) if record.participant else None
    own = names.get(record.problem_id, record.problem_id) if record.problem_id else None
    folder = names.get(problem, problem) if problem else None
    if who and participant and who != participant:
        notes.append(f"the folder's participant is {participant!r}")
    if own and folder and own != folder:
        notes.append(f"the folder's problem is {folder!r}")
    return replace(record, participant=who or participant, problem_id=own or folder, notes=tuple(notes))


def _drafts(decoded: Decoded, context: TableContext) -> Iterator[Draft | UnreadableArtifact]:
    text, path = decoded.text, context.path
    if is_source_path(path):
        yield draft_of_source(text, path)
    elif looks_like_json(text) and not is_source_file(text, path):
        yield from read_json(text, context)
    elif looks_like_page(text):
        yield from _of_page(text, path)
    elif is_metadata(text):
        yield from read_metadata(text, path)
    elif looks_like_table(text, path, context.settings):
        yield from read_delimited(text, context)
    else:
        yield from read_text(text, path)


def _of_page(text: str, path: str) -> list[Draft]:
    page = open_page(text, path)
    site = site_of(page)
    drafts: list[Draft] = site.read(page) if site is not None else read_page(page)
    if not drafts and not has_empty_list(page):
        raise UnreadableArtifact(
            path,
            None,
            "is a page that shows no submission: no list of submissions, no source, no result of a problem",
            "save the page of the submission itself, completely, while logged in",
        )
    return drafts
