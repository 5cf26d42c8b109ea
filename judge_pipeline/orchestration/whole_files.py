"""Writing a file whole or not at all: readers never see half of it, and a kill leaves the old one.

A place is a path, or in an object store an ``ObjectPath`` (``Workspace.store_dir``): what is done with either, where
``pathlib`` alone would not do, is here.
"""

from __future__ import annotations

import errno
import io
import os
import secrets
import shutil
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

if TYPE_CHECKING:
    from judge_pipeline.settings.object_path import ObjectPath


def write_whole(path: Path, data: bytes | IO[bytes]) -> Path:
    """Replace the file's content, making its folder where it is missing; on disk when this returns.

    A stream is copied from where it stands to its end. Who may read the file is what the process's umask says.
    An object store replaces whole objects by itself.

    Raises:
        FileExistsError: a folder, a device or a pipe has the name.
        OSError: it cannot be written.
    """
    if (stored := as_object(path)) is not None:
        stored.write_bytes(data if isinstance(data, bytes) else data.read())
        return path
    refuse_what_is_no_file(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.parent / f".{path.name}.{secrets.token_hex(8)}"
    with os.fdopen(os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666), "wb") as part:
        try:
            if isinstance(data, bytes):
                part.write(data)
            else:
                shutil.copyfileobj(data, part)
            part.flush()
            os.fsync(part.fileno())
        except OSError:
            aside.unlink(missing_ok=True)
            raise
    aside.replace(path)
    return path


def refuse_what_is_no_file(path: Path) -> None:
    """Whoever may write anywhere would else replace a device such as /dev/null by a file, for everybody.

    Raises:
        FileExistsError: a folder, a device or a pipe has the name.
    """
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "is no plain file, and is not replaced; name another", str(path))


def write_new(path: Path, data: bytes) -> None:
    """Make the file, readable by its owner alone, unless it is there: of several at once one wins, whole."""
    if (stored := as_object(path)) is not None:
        stored.write_new(data)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.") as part:  # 0600
        part.write(data)
        part.flush()
        os.fsync(part.fileno())
        try:
            os.link(part.name, path)
        except FileExistsError:
            return


def remove_folder(folder: Path) -> None:
    """Remove everything below a folder that may not be there.

    Raises:
        StoreError: an object store did not do it.
    """
    if (stored := as_object(folder)) is not None:
        stored.remove_all()
    else:
        shutil.rmtree(folder, ignore_errors=True)


def is_there(path: Path) -> bool:
    """Whether there is something of that name, a broken link included."""
    return os.path.lexists(path) if as_object(path) is None else path.exists()


def parquet_source(path: Path) -> Path | IO[bytes]:
    """What pyarrow is given to read a Parquet file: its path, or the bytes of an object.

    Raises:
        FileNotFoundError: there is no such file.
    """
    if as_object(path) is not None:
        return io.BytesIO(path.read_bytes())
    if not path.is_file():
        raise FileNotFoundError(str(path))
    return path


def as_object(path: Path) -> ObjectPath | None:
    """The place in an object store that it is; None for a path on a disk."""
    return None if isinstance(path, Path) else cast("ObjectPath", path)
