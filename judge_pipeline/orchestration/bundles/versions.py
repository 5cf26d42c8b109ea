"""Versions of what ran: the package and its sources, Python, what is installed, the commit where there is one."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterator
from importlib.metadata import distributions, version
from pathlib import Path

from judge_pipeline.orchestration.bundles.facts import VERSIONS
from judge_pipeline.orchestration.bundles.manifest import manifest_text
from judge_pipeline.orchestration.bundles.members import Member
from judge_pipeline.orchestration.table_asset import code_version

_PACKAGE = Path(__file__).resolve().parents[2]
_COMMIT = re.compile(r"[0-9a-f]{40,64}")


def code_sha256() -> str:
    """The code version of all of the package."""
    return code_version(("",))


def version_files() -> Iterator[Member]:
    """What a bundle says of versions."""
    ran = {
        "judge_pipeline": version("judge-pipeline"),
        "code_sha256": code_sha256(),
        "git_commit": git_commit(_PACKAGE.parent),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": platform.system(),
        "machine": platform.machine(),
    }
    yield _text("versions.json", json.dumps(ran, indent=1, sort_keys=True) + "\n")
    installed = {f"{found.name}=={found.version}" for found in distributions() if found.name}
    yield _text("installed-packages.txt", "".join(f"{line}\n" for line in sorted(installed, key=str.lower)))
    sources = {
        file.relative_to(_PACKAGE.parent).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in _PACKAGE.rglob("*.py")
    }
    yield _text("sources-sha256.txt", manifest_text(sources))
    lock = _PACKAGE.parent / "requirements.lock"
    if lock.is_file():
        yield Member(f"{VERSIONS}/{lock.name}", "versions", lock)


def git_commit(checkout: Path) -> str | None:
    """The commit that a checkout stands at; None where it is none. No program is started."""
    folder = checkout / ".git"
    try:
        if folder.is_file():  # a worktree
            folder = (checkout / folder.read_text(encoding="utf-8").removeprefix("gitdir:").strip()).resolve()
        head = (folder / "HEAD").read_text(encoding="utf-8").strip()
        ref = head.removeprefix("ref: ")
        common = folder / "commondir"
        shared = (folder / common.read_text(encoding="utf-8").strip()).resolve() if common.is_file() else folder
        found = head if ref == head else _ref(folder, shared, ref)
    except (OSError, UnicodeDecodeError):
        return None
    return found if _COMMIT.fullmatch(found) else None


def _ref(folder: Path, shared: Path, ref: str) -> str:
    for place in (folder, shared):
        if (place / ref).is_file():
            return (place / ref).read_text(encoding="utf-8").strip()
    lines = (shared / "packed-refs").read_text(encoding="utf-8").splitlines()
    return next((line.split()[0] for line in lines if line.endswith(f" {ref}")), "")


def _text(name: str, text: str) -> Member:
    return Member(f"{VERSIONS}/{name}", "versions", text.encode())
