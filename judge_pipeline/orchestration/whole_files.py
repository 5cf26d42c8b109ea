"""Writing a file whole or not at all: readers never see half of it, and a kill leaves the old one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, data: bytes | memoryview) -> Path:
    """Replace the file's content, making its folder where it is missing; on disk when this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as part:
        try:
            part.write(data)
            part.flush()
            os.fsync(part.fileno())
            os.fchmod(part.fileno(), 0o644)
        except OSError:
            Path(part.name).unlink(missing_ok=True)
            raise
    Path(part.name).replace(path)
    return path
