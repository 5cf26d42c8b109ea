"""Who may read what a command writes: its owner alone, unless the team says otherwise."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from judge_pipeline.settings.yaml_file import SettingsError

UMASK = "JUDGE_PIPELINE_UMASK"
"""Environment variable that says what is taken from others' rights: 027 lets the group read, 007 write, too."""

_OTHERS = 0o077
_EVERYBODY = 0o007


@contextmanager
def kept_from_others(environment: Mapping[str, str] = os.environ) -> Iterator[None]:
    """Set the umask of this process and those that it starts: files and folders are their owner's alone by default.

    Tables, reports, answers and records hold what participants wrote. What lies there already is left as it is.

    Raises:
        SettingsError: JUDGE_PIPELINE_UMASK is no umask.
    """
    wanted = environment.get(UMASK)
    if wanted is not None and not re.fullmatch("[0-7]{3,4}", wanted):
        raise SettingsError(f"{UMASK}={wanted!r} is no umask; write three octal digits: 077 (default), 027 or 007")
    before = os.umask(_OTHERS)
    os.umask(before | _OTHERS if wanted is None else int(wanted, 8))
    try:
        yield
    finally:
        os.umask(before)


def is_open_to_everybody(folder: Path) -> bool:
    """Whether everybody on this machine comes into a folder that is there: of an earlier version, or by hand."""
    return os.name == "posix" and folder.is_dir() and bool(folder.stat().st_mode & _EVERYBODY)
