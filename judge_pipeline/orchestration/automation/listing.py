"""What lies in a watched folder, by names, sizes and times: no file is opened, and no clock is asked.

Two listings are compared with each other, never a file's time with ours: a file server's clock may be another.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

_UNFINISHED = re.compile(
    r"(?i).+\.(part|partial|filepart|crdownload|download|opdownload|tmp|temp|upload|uploading|swp|aria2)$|.+~$|^~\$"
    # rsync writes .NAME.XXXXXX, NFS keeps what was removed while open, Windows' copy and Samba leave the others.
    r"|^\..+\.[A-Za-z0-9]{6}$|^\.nfs[0-9a-f]+$|^\.(fuse_hidden|smbdelete)"
)
"""Names under which programs keep what they are still writing."""

LEADS_NOWHERE = frozenset({errno.ELOOP, errno.ENOTDIR, errno.ENAMETOOLONG})
"""Errors of a link that can never be followed: it leads to itself, through a file, or to what cannot be a path."""

_DEEPEST = 64


@dataclass(frozen=True, slots=True)
class Listing:
    """What lies in a folder.

    Attributes:
        digest: sha256 over paths, sizes and times; two equal ones mean that nothing was written in between.
        n_files: files below the folder, hidden ones included.
        unfinished: the first file, by its path, whose name says that it is still being written; None: there is none.
    """

    digest: str
    n_files: int
    unfinished: str | None


def list_folder(folder: Path) -> Listing:
    """List a folder with everything below it.

    A folder below it that may not be listed counts with that; it is no reason to wait for ever.

    Raises:
        OSError: the folder is not there, or a disk or network does not answer: nothing is known of it now.
    """
    digest, n_files, unfinished = hashlib.sha256(), 0, None
    pending: list[tuple[str, str, int]] = [("", os.fspath(folder), 0)]
    while pending:
        relative, place, depth = pending.pop()
        try:
            with os.scandir(place) as found:
                entries = sorted(found, key=lambda entry: entry.name, reverse=True)
        except PermissionError:
            if not relative:
                raise
            digest.update(os.fsencode(f"{relative}\0may not be listed\n"))
            continue
        for entry in entries:
            path = f"{relative}/{entry.name}" if relative else entry.name
            if entry.is_dir(follow_symlinks=False):
                digest.update(os.fsencode(f"{path}\0folder\n"))
                if depth < _DEEPEST:
                    pending.append((path, entry.path, depth + 1))
                continue
            digest.update(os.fsencode(f"{path}\0{_stamp(entry)}\n"))
            n_files += 1
            if _UNFINISHED.search(entry.name) and (unfinished is None or path < unfinished):
                unfinished = path
    return Listing(digest.hexdigest(), n_files, unfinished)


def _stamp(entry: os.DirEntry[str]) -> str:
    try:
        status = entry.stat()
    except FileNotFoundError:
        # A link that leads nowhere stays as it is; a file that was there a moment ago changes the next listing.
        return "leads nowhere"
    except PermissionError:
        return "may not be looked at"
    except OSError as error:
        if error.errno not in LEADS_NOWHERE:
            raise
        return "leads nowhere"
    return f"{status.st_mode} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"
