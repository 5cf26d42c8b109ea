"""The one door to all readers of submissions: bytes of an artifact -> records.

What an artifact is, its content says, and never its extension: pages are saved as ``.cpp``, sources as ``.txt``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from judge_pipeline.ingest.contest_folder import participant_and_problem_of
from judge_pipeline.ingest.drafts import Draft, finish
from judge_pipeline.ingest.encodings import Decoded, decode
from judge_pipeline.ingest.json_artifacts import looks_like_json, read_json
from judge_pipeline.ingest.markup import looks_like_page, open_page
from judge_pipeline.ingest.pages import has_empty_list, read_page
from judge_pipeline.ingest.records import SubmissionRecord, UnreadableArtifact
from judge_pipeline.ingest.sites import site_of
from judge_pipeline.ingest.source_files import is_source_file
from judge_pipeline.ingest.text_artifacts import read_text
from judge_pipeline.ingest.web_archives import page_in_archive
from judge_pipeline.settings import ContestSettings

_BINARY = (
    (b"PK\x03\x04", "a ZIP archive", "unpack it into the folder"),
    (b"\x1f\x8b", "a gzip archive", "unpack it into the folder"),
    (b"Rar!", "a RAR archive", "unpack it into the folder"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it into the folder"),
    (b"%PDF", "a PDF file", "save the page as HTML or text instead"),
    (b"\x89PNG", "an image", "save the page as HTML or text instead"),
    (b"\xff\xd8\xff", "an image", "save the page as HTML or text instead"),
    (b"GIF8", "an image", "save the page as HTML or text instead"),
    (b"PAR1", "a Parquet file", "export the table as JSON lines"),
)


_NOT_IN_TEXT = bytes((*range(9), *range(14, 27), *range(28, 32)))
"""Control characters that no text holds; ESC is used by ISO-2022-JP."""


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
    _refuse_binary(data, path)
    decoded = decode(page_in_archive(data) or data)
    records = [finish(draft, decoded, path, settings) for draft in _drafts(decoded, path)]
    participant, problem = participant_and_problem_of(path if location is None else location)
    return [_with_folder(record, participant, problem, settings.problem_names) for record in records]


def _with_folder(
    record: SubmissionRecord, participant: str | None, problem: str | None, names: Mapping[str, str]
) -> SubmissionRecord:
    """The record with what its folders add, and a note where they contradict it."""
    notes = list(record.notes)
    own = names.get(record.problem_id, record.problem_id) if record.problem_id else None
    folder = names.get(problem, problem) if problem else None
    if record.participant and participant and record.participant != participant:
        notes.append(f"the folder's participant is {participant!r}")
    if own and folder and own != folder:
        notes.append(f"the folder's problem is {folder!r}")
    return replace(record, participant=record.participant or participant, problem_id=own or folder, notes=tuple(notes))


def _drafts(decoded: Decoded, path: str) -> list[Draft]:
    text = decoded.text
    if looks_like_json(text) and not is_source_file(text, path):
        return read_json(text, path)
    if looks_like_page(text):
        return _of_page(text, path)
    return read_text(text, path)


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


def _refuse_binary(data: bytes, path: str) -> None:
    if not data.strip():
        raise UnreadableArtifact(path, None, "is empty", "save it again")
    for magic, what, remedy in _BINARY:
        if data.startswith(magic):
            raise UnreadableArtifact(path, None, f"is {what}", remedy)
    sample = data[:8192]
    odd = len(sample) - len(sample.translate(None, _NOT_IN_TEXT))
    wide = sample[:2] in (b"\xff\xfe", b"\xfe\xff") or sample.count(0) > len(sample) // 5
    if odd > len(sample) // 10 and not wide:
        raise UnreadableArtifact(path, None, "is a binary file, not text", "save the page as HTML or text instead")
