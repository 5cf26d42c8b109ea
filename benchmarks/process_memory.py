"""Memory of a process and all below it, looked at from outside."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path


def tree_bytes(root: int) -> float:
    """Resident memory of a process and all below it, added up; what they share is counted more than once."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError, ValueError):
                continue
    tree, pages = {root}, 0
    while more := {pid for pid, parent in parents.items() if parent in tree} - tree:
        tree |= more
    for pid in tree:
        try:
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except (OSError, IndexError, ValueError):
            continue
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak_until_end(child: subprocess.Popen[bytes]) -> float:
    """The most memory that a process and all below it hold until it ends, looked at ten times a second."""
    peak = 0.0
    while child.poll() is None:
        peak = max(peak, tree_bytes(child.pid))
        time.sleep(0.1)
    return peak
