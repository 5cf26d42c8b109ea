"""Processes to kill, which start at once: forked from one that has imported what they need, where each took seconds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

_SERVER = """
import importlib, json, os, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
ended = {}
while True:
    line = sys.stdin.readline()
    if not line:
        sys.exit()
    asked = json.loads(line)
    pid = asked.get("pid")
    if pid is None:
        pid = os.fork()
        if pid == 0:
            break
        print(pid, flush=True)
        continue
    if pid not in ended:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            ended[pid] = os.waitstatus_to_exitcode(status)
    print(json.dumps(ended.get(pid)), flush=True)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(os.open(asked["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 1)
sys.argv = ["-c", *asked["arguments"]]
exec(compile(asked["code"], "<string>", "exec"), {"__name__": "__main__"})
"""


class Forks:
    """Starts processes that run code as ``python -c`` would, with these modules imported already.

    Args:
        cwd: where they run.
        modules: what is imported before they are forked; it must start no thread.
    """

    def __init__(self, cwd: Path, *modules: str) -> None:
        command = [sys.executable, "-c", _SERVER, *modules]
        self._server = subprocess.Popen(command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.communicate(timeout=60)

    def start(self, code: str, *arguments: str, out: Path) -> Fork:
        """A process that runs the code with these arguments and writes its standard output into a file."""
        return Fork(self, int(self.ask(code=code, arguments=arguments, out=str(out))), out)

    def ask(self, **asked: Any) -> Any:
        """What the server answers."""
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.write(json.dumps(asked) + "\n")
        self._server.stdin.flush()
        return json.loads(self._server.stdout.readline())


class Fork:
    """One of these processes, as ``subprocess.Popen`` shows it."""

    def __init__(self, forks: Forks, pid: int, out: Path) -> None:
        self.pid = pid
        self._forks, self._out = forks, out

    def poll(self) -> int | None:
        """Its exit code, the signal's number below zero where one ended it, or None while it runs."""
        code: int | None = self._forks.ask(pid=self.pid)
        return code

    def wait(self, timeout_seconds: float) -> int:
        """Its exit code, once it has ended."""
        until = time.monotonic() + timeout_seconds
        while (code := self.poll()) is None:
            assert time.monotonic() < until, f"process {self.pid} still runs after {timeout_seconds:g} s"
            time.sleep(0.01)
        return code

    def kill(self) -> None:
        """Kill it where it still runs."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait(60)

    def printed(self) -> str:
        """What it has written to standard output."""
        return self._out.read_text(encoding="utf-8") if self._out.exists() else ""
