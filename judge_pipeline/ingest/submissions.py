"""The one door to all readers of submissions: bytes of an artifact -> records. What it is is seen from its content."""

from __future__ import annotations

from judge_pipeline.ingest.encodings import decode
from judge_pipeline.ingest.records import SubmissionRecord, UnreadableArtifact
from judge_pipeline.ingest.text_artifacts import read_text_artifact
from judge_pipeline.settings import ContestSettings


def read_submissions(data: bytes, path: str, settings: ContestSettings) -> list[SubmissionRecord]:
    """The submissions that an artifact holds.

    Args:
        data: the artifact's bytes.
        path: what it is called, with ``/``.
        settings: the contest's settings.

    Raises:
        UnreadableArtifact: it holds no submission that can be read.
    """
    if not data.strip():
        raise UnreadableArtifact(path, None, "is empty", "save it again")
    decoded = decode(data)
    return read_text_artifact(decoded, path, settings)
