"""What the reading of a folder says of itself, so that a sensor sees whether the folder is still as it was read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

from judge_pipeline.orchestration.automation.chain import Dimension
from judge_pipeline.settings import Workspace

CONTENT, DEFAULTS = "content_sha256", "defaults_sha256"
"""Metadata of a reading: the folder's content then, and that of the file of defaults of its settings."""

CONTENT_TAG = "judge_pipeline/content"
"""Tag of a run that reads a folder: the content for which it was started."""

_FILES: dict[Dimension, str] = {"contest": "contests.yaml", "preference_set": "preference.yaml"}


def reading_metadata(
    workspace: Workspace,
    dimension: Dimension,
    tags: Mapping[str, str],
    content: Callable[[], str],
    said_before: Callable[[], str | None] | None = None,
) -> dict[str, str]:
    """What a reading says of itself.

    Args:
        workspace: whose folder.
        dimension: contest or preference_set.
        tags: of the run. One that a sensor started says for which content.
        content: gives what was read: the folder's content where the tags do not say it.
        said_before: gives the content of which the last reading said that it was read. With it, a reading that found
            other bytes than those it was started for (a disk that did not give a file this time) says so, and the
            sensor reads again. Once: where the next one finds the same, whoever reads sees other bytes than the sensor,
            and it is taken for read.
    """
    read = tags.get(CONTENT_TAG)
    if read is None:
        read = content()
    elif said_before is not None:
        found = content()
        if found not in (read, said_before()):
            read = found
    return {CONTENT: read, DEFAULTS: defaults_sha256(workspace, dimension)}


def defaults_sha256(workspace: Workspace, dimension: Dimension) -> str:
    """The sha256 of the defaults of the settings of contests or preference sets; of nothing where there is no file."""
    file: Path = workspace.config_dir / _FILES[dimension]
    return hashlib.sha256(file.read_bytes() if file.is_file() else b"").hexdigest()
