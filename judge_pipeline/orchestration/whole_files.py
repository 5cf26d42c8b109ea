"""Writing a file whole or not at all: readers never see half of it, and a kill leaves the old one."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import IO


def write_whole(path: Path, data: bytes | IO[bytes]) -> Path:
    """Replace the file's content, making its folder where it is missing; on disk when this returns.

    A stream is copied from where it stands to its end.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as part:
        try:
            if isinstance(data, bytes):
                part.write(data)
            else:
                shutil.copyfileobj(data, part)
            part.flush()
            os.fsync(part.fileno())
            os.fchmod(part.fileno(), 0o644)
        except OSError:
            Path(part.name).unlink(missing_ok=True)
            raise
    Path(part.name).replace(path)
    return path
