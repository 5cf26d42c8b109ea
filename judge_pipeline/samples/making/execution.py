"""Compile a source text and run it against a problem's tests: the true verdict, measured on this machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge_pipeline.samples.making.catalogue import Problem

_COMPILE_TIMEOUT_S = 120
_WALL_S = 60.0
_SPARE_ADDRESS_SPACE_MB = 64
_OUT_OF_MEMORY = ("std::bad_alloc", "MemoryError", "java.lang.OutOfMemoryError")
_LAUNCHER = Path(__file__).with_name("launcher.py")
_FILE_NAMES = {"C": "main.c", "C++": "main.cpp", "Java": "Main.java", "Python": "main.py"}
_TOOLS = {"C": ("gcc",), "C++": ("g++",), "Java": ("javac", "java"), "Python": ()}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of running one source text.

    Attributes:
        verdict: AC, WA, PE (only white space differs), TLE, MLE, RE or CE: that of the first test not passed.
        tests: the verdict of each test in order; empty where nothing could be run (CE).
        detail: the compiler's first error line or the exception's name; None where there is none.
        cpu_ms: the most processor time that a test took, in milliseconds, up to the first test not passed.
        memory_kb: the most memory that a test took, in kibibytes, likewise.
    """

    verdict: str
    tests: tuple[str, ...]
    detail: str | None
    cpu_ms: int
    memory_kb: int


def missing_tool(language: str) -> str | None:
    """The compiler or runtime that this machine lacks for the language, or None when all are there."""
    if sys.platform != "linux":
        return "Linux (the limits rely on its resource accounting)"
    return next((tool for tool in _TOOLS[language] if shutil.which(tool) is None), None)


def execute(source: str, language: str, problem: Problem) -> Outcome:
    """Compile the source in a temporary folder and run it on all tests of the problem.

    Limits: the problem's processor time and memory for each test, and 60 s of wall time; output up to 16 MiB.

    Raises:
        RuntimeError: a tool is missing, or the launcher itself failed.
    """
    lacking = missing_tool(language)
    if lacking:
        raise RuntimeError(f"cannot run {language} programs here: {lacking} is missing")
    with tempfile.TemporaryDirectory(prefix="sample-contest-") as name:
        folder = Path(name)
        (folder / _FILE_NAMES[language]).write_text(source, encoding="utf-8", newline="\n")
        complaint = _compile(language, folder)
        if complaint is not None:
            return Outcome("CE", (), complaint, 0, 0)
        return _run(_command(language, folder, problem), language, problem, folder)


def _compile(language: str, folder: Path) -> str | None:
    """None when the source compiled, else the first line of the complaint that names an error."""
    if language == "Python":
        command = [sys.executable, "-I", "-S", "-m", "py_compile", _FILE_NAMES[language]]
    else:
        tool = str(shutil.which(_TOOLS[language][0]))
        flags = {"C": ["-std=gnu11", "-O2", "-o", "main"], "C++": ["-std=gnu++17", "-O2", "-o", "main"]}
        command = [tool, *flags.get(language, ["-encoding", "UTF-8"]), _FILE_NAMES[language]]
    # Messages in plain ASCII, whatever the locale of this machine.
    environment = os.environ | {"LC_ALL": "C"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_COMPILE_TIMEOUT_S,
        check=False,
    )
    if done.returncode == 0:
        return None
    lines = [line.strip() for line in done.stderr.splitlines() if "error" in line.lower()]
    return lines[0] if lines else "compilation failed"


def _command(language: str, folder: Path, problem: Problem) -> list[str]:
    if language == "Python":
        return [sys.executable, "-I", "-S", str(folder / "main.py")]
    if language == "Java":
        memory = f"-Xmx{problem.memory_limit_mb}m"
        return [str(shutil.which("java")), memory, "-Xss64m", "-XX:+UseSerialGC", "-cp", str(folder), "Main"]
    return [str(folder / "main")]


def _run(command: list[str], language: str, problem: Problem, folder: Path) -> Outcome:
    runs = [
        {"stdin": str(given), "stdout": str(folder / f"{n}.stdout"), "stderr": str(folder / f"{n}.stderr")}
        for n, (given, _) in enumerate(problem.tests)
    ]
    # The Java machine reserves far more address space than it uses; its own heap limit holds it instead.
    space = None if language == "Java" else problem.memory_limit_mb + _SPARE_ADDRESS_SPACE_MB
    job = {
        "command": command,
        "folder": str(folder),
        "cpu_s": problem.time_limit_s,
        "wall_s": _WALL_S,
        "address_space_mb": space,
        "tests": runs,
    }
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(_LAUNCHER)], input=json.dumps(job), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"the launcher failed: {done.stderr.strip()}")
    verdicts, details = [], []
    measured = json.loads(done.stdout)
    for run, usage, (_, wanted) in zip(runs, measured, problem.tests, strict=True):
        stderr = Path(run["stderr"]).read_text(encoding="utf-8", errors="replace")
        verdicts.append(_verdict(usage, Path(run["stdout"]), wanted, stderr, language, problem))
        details.append(_exception(stderr) if verdicts[-1] == "RE" else None)
    failed = next((n for n, verdict in enumerate(verdicts) if verdict != "AC"), len(verdicts) - 1)
    seen = measured[: failed + 1]
    return Outcome(
        verdict=verdicts[failed],
        tests=tuple(verdicts),
        detail=details[failed],
        cpu_ms=max(usage["cpu_ms"] for usage in seen),
        memory_kb=max(usage["memory_kb"] for usage in seen),
    )


def _verdict(usage: dict[str, Any], stdout: Path, wanted: Path, stderr: str, language: str, problem: Problem) -> str:
    over_time = usage["timed_out"] or usage["signal"] == signal.SIGXCPU
    if over_time or usage["cpu_ms"] >= problem.time_limit_s * 1000:
        return "TLE"
    # A Java machine's own memory is no part of the program's; its heap is limited instead.
    too_large = language != "Java" and usage["memory_kb"] > problem.memory_limit_mb * 1024
    if too_large or any(sign in stderr for sign in _OUT_OF_MEMORY):
        return "MLE"
    if usage["exit_code"] != 0:
        return "RE"
    return compare(stdout.read_text(encoding="utf-8", errors="replace"), wanted.read_text(encoding="utf-8"))


def compare(printed: str, wanted: str) -> str:
    """AC, PE or WA: blanks at line ends and empty lines at the end are free; other white space makes PE."""
    if [line.rstrip() for line in printed.rstrip().split("\n")] == wanted.rstrip().split("\n"):
        return "AC"
    return "PE" if printed.split() == wanted.split() else "WA"


def _exception(stderr: str) -> str | None:
    """The line of a traceback that names the exception, else None (a signal leaves no words)."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    java = next((line for line in lines if line.startswith("Exception in thread")), None)
    if java:
        return java.removeprefix('Exception in thread "main" ')
    return lines[-1] if lines and lines[0].startswith("Traceback") else None
