"""Hold the locked dependencies against the known vulnerabilities (pip-audit), with a written list of allowed ones.

Exit codes: 0 no vulnerability but allowed ones, or nothing could be audited, which is said; 1 a vulnerability that is
not allowed, or an entry of the list that has run out or is wrong; 2 the command was wrong.

What stands after ``--`` goes to pip-audit, for example ``-- --vulnerability-service osv``.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
LOCK, ALLOWED = HERE.parent / "requirements.lock", HERE / "audit_allowed.yaml"
SECONDS = 60
N_TRIED_FIRST = 3
"""Packages asked about before all are: where the service knows none of them, it knows none."""

_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)


@dataclass(frozen=True)
class Allowed:
    """A vulnerability that is known and lived with: why, and until when that must be looked at again."""

    id: str
    package: str
    why: str
    until: date


@dataclass(frozen=True)
class Outcome:
    """What is said, and whether it fails."""

    lines: tuple[str, ...]
    failed: bool


def read_allowed(text: str) -> list[Allowed]:
    """The entries of the list.

    Raises:
        ValueError: an entry lacks a key, has another, or is given twice; the message names it and the remedy.
    """
    entries = (yaml.safe_load(text) or {}).get("allowed") or []
    found = []
    for number, entry in enumerate(entries, start=1):
        keys = set(entry) if isinstance(entry, dict) else set()
        if keys != {"id", "package", "why", "until"} or not str(entry["why"]).strip():
            raise ValueError(f"entry {number} needs exactly id, package, why and until, none of them empty")
        if type(entry["until"]) is not date:
            raise ValueError(f"entry {number} ({entry['id']}): until must be a date such as 2027-03-31")
        found.append(Allowed(str(entry["id"]), _normal(str(entry["package"])), str(entry["why"]), entry["until"]))
    twice = {(each.id, each.package) for each in found if found.count(each) > 1}
    if twice:
        raise ValueError(f"{', '.join(f'{i} of {p}' for i, p in sorted(twice))}: given twice; keep one entry")
    return found


def judge(report: Mapping[str, Any], allowed: Sequence[Allowed], today: date) -> Outcome:
    """Hold pip-audit's report against the list.

    Args:
        report: pip-audit's JSON.
        allowed: the list.
        today: the date on which it is asked.
    """
    lines, failed, used = [], False, set()
    packages = report["dependencies"]
    unknown = [each["name"] for each in packages if "skip_reason" in each]
    for package in packages:
        for found in package.get("vulns", ()):
            ids = {found["id"], *found.get("aliases", ())}
            entry = next((e for e in allowed if e.id in ids and e.package == _normal(package["name"])), None)
            what = f"{package['name']} {package['version']}: {', '.join(sorted(ids))}"
            if entry is None:
                mended = ", ".join(found.get("fix_versions", ())) or "none yet"
                lines.append(
                    f"VULNERABLE {what}; mended in: {mended}. Raise it ('make lock'), or allow it in {ALLOWED.name}"
                )
                failed = True
            else:
                used.add(entry)
                lines.append(f"allowed until {entry.until}: {what}: {entry.why}")
    for entry in allowed:
        if entry.until < today:
            lines.append(
                f"RUN OUT on {entry.until}: {entry.id} of {entry.package}; look again, then renew or remove it"
            )
            failed = True
        elif entry not in used and entry.package not in map(_normal, unknown):
            lines.append(f"no longer found: {entry.id} of {entry.package}; remove it from {ALLOWED.name}")
    n = len(packages) - len(unknown)
    lines.append(f"{n} of {len(packages)} packages were held against the known vulnerabilities")
    if unknown:
        lines.append(
            f"COULD NOT BE AUDITED: {len(unknown)} of {len(packages)} packages, such as {', '.join(unknown[:5])}"
        )
    return Outcome(tuple(lines), failed)


def nothing_audited(n: int, why: str, allowed: Sequence[Allowed], today: date) -> Outcome:
    """What is said where no package could be held against anything; entries that have run out fail all the same."""
    run_out = judge({"dependencies": []}, [entry for entry in allowed if entry.until < today], today)
    said = [line for line in run_out.lines if line.startswith("RUN OUT")]
    return Outcome((*said, f"COULD NOT BE AUDITED: {n} of {n} packages: {why}"), run_out.failed)


def audit(lock: Path, allowed: Sequence[Allowed], today: date, further: Sequence[str] = ()) -> Outcome:
    """Run pip-audit over the lock file, first over a few of its packages.

    Args:
        lock: pinned requirements with hashes.
        allowed: the list.
        today: the date on which it is asked.
        further: arguments for pip-audit.
    """
    pinned = _PINNED.findall(lock.read_text(encoding="utf-8"))
    first = _report_of_few(pinned[:N_TRIED_FIRST], further)
    if isinstance(first, str):
        return nothing_audited(len(pinned), first, allowed, today)
    if all("skip_reason" in each for each in first["dependencies"]):
        names = ", ".join(each["name"] for each in first["dependencies"])
        return nothing_audited(len(pinned), f"the service knows none of {names}", allowed, today)
    whole = _pip_audit(["--requirement", str(lock), "--require-hashes", *further])
    return (
        nothing_audited(len(pinned), whole, allowed, today) if isinstance(whole, str) else judge(whole, allowed, today)
    )


def _report_of_few(pinned: Sequence[tuple[str, str]], further: Sequence[str]) -> dict[str, Any] | str:
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as few:
        few.write("".join(f"{name}=={version}\n" for name, version in pinned))
        few.flush()
        return _pip_audit(["--requirement", few.name, "--no-deps", *further])


def _pip_audit(arguments: Sequence[str]) -> dict[str, Any] | str:
    """The report, or in words why there is none."""
    options = ["--format", "json", "--progress-spinner", "off", "--disable-pip", "--timeout", "10"]
    command = [sys.executable, "-m", "pip_audit", *options, *arguments]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"pip-audit took over {SECONDS} s"
    try:
        report: dict[str, Any] = json.loads(ended.stdout)
    except ValueError:
        said = ended.stderr.strip().splitlines() or ["nothing"]
        return f"pip-audit ended with {ended.returncode} and said: {said[-1]}"
    return report


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main(arguments: Sequence[str]) -> int:
    """Audit, say what was found, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lock", type=Path, default=LOCK, help="pinned requirements with hashes")
    parser.add_argument("--allowed", type=Path, default=ALLOWED, help="vulnerabilities that are allowed")
    own, further = list(arguments), []
    if "--" in own:
        at = own.index("--")
        own, further = own[:at], own[at + 1 :]
    chosen = parser.parse_args(own)
    try:
        allowed = read_allowed(chosen.allowed.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        print(f"{chosen.allowed}: {error}", file=sys.stderr)
        return 1
    outcome = audit(chosen.lock, allowed, datetime.now(UTC).date(), further)
    print("\n".join(outcome.lines))
    return 1 if outcome.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
