"""``manifest-sha256.txt``: the sha256 of every file, in the form that ``sha256sum -c`` reads."""

from __future__ import annotations

import re
from collections.abc import Mapping

_LINE = re.compile(r"(\\?)([0-9a-f]{64}) [ *](.+)")


def manifest_text(sha256_of: Mapping[str, str]) -> str:
    """The manifest.

    Args:
        sha256_of: path -> sha256 in hexadecimal digits.
    """
    return "".join(_line(path, sha256_of[path]) for path in sorted(sha256_of))


def read_manifest(text: str) -> dict[str, str]:
    """path -> sha256.

    Raises:
        ValueError: a line is none of a manifest, or a path is in it twice.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise ValueError(f"line {number} is no sha256 and path")
        escaped, sha256, name = match.groups()
        path = _unescaped(name) if escaped else name
        if path in found:
            raise ValueError(f"line {number}: {path!r} is in it twice")
        found[path] = sha256
    return found


def _line(path: str, sha256: str) -> str:
    escaped = path.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return f"{'' if escaped == path else chr(92)}{sha256}  {escaped}\n"


def _unescaped(name: str) -> str:
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "r": "\r"}.get(m[1], m[1]), name)
