"""A real PostgreSQL server in a folder of its own; tests are skipped, with the reason, where its programs are not."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

_USERS = ("postgres", "nobody")
_USER = "judge"


class PostgresqlServer:
    """The server. Its user must give a password, as a team's would."""

    def __init__(self, port: int, password: str, control: Callable[..., None] | None = None) -> None:
        self.port = port
        self.password = password
        self._control = control

    @contextmanager
    def gone(self) -> Iterator[None]:
        """The server is stopped at once while the block runs, as if its machine were, and starts again after it."""
        assert self._control is not None
        self._control("-m", "immediate", "stop")
        try:
            yield
        finally:
            self._control("start")

    def url(self, database: str, driver: str = "postgresql") -> str:
        """The URL of a database, password included."""
        return f"{driver}://{_USER}:{self.password}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """The URL of a new, empty database."""
        name = f"test_{uuid.uuid4().hex}"
        self.execute("postgres", f"CREATE DATABASE {name}")
        return self.url(name)

    def execute(self, database: str, statement: str) -> list[tuple[object, ...]]:
        """Run a statement on its own; its rows."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            found = connection.execute(statement)
            return found.fetchall() if found.description else []


@contextmanager
def running_server() -> Iterator[PostgresqlServer]:
    """A server on loopback while the block runs."""
    programs = _programs()
    with tempfile.TemporaryDirectory(prefix="pg-") as made:
        folder = Path(made)
        as_user = _as_user(folder)
        port, password = _free_port(), secrets.token_urlsafe(18)
        (folder / "password").write_text(password + "\n", encoding="utf-8")
        data = str(folder / "data")
        initdb = ["initdb", "-D", data, "-U", _USER, "-A", "scram-sha-256", "--pwfile", str(folder / "password"), "-N"]
        _run(as_user, [programs["initdb"], *initdb[1:], "-E", "UTF8", "--locale=C"])
        # Nothing here must outlive a power cut, and much is committed. What its processes share lies in the folder, so
        # that a server that is killed with its tests leaves nothing in /dev/shm.
        options = f"-p {port} -c listen_addresses=127.0.0.1 -k {folder} -c fsync=off -c max_connections=60"
        options += " -c dynamic_shared_memory_type=mmap"
        control = [programs["pg_ctl"], "-D", data, "-w", "-t", "60"]
        start = [*control, "-l", str(folder / "log"), "-o", options]
        _run(as_user, [*start, "start"])
        try:
            yield PostgresqlServer(port, password, lambda *words: _run(as_user, [*start, *words]))
        finally:
            _run(as_user, [*control, "-m", "immediate", "stop"])


def _programs() -> dict[str, str]:
    found = {name: shutil.which(name) for name in ("initdb", "pg_ctl", "postgres")}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        pytest.skip(f"no PostgreSQL server on this machine: {', '.join(missing)} not on the path")
    # Its programs look for each other beside themselves, not beside a link to them.
    return {name: str(Path(str(path)).resolve()) for name, path in found.items()}


def _as_user(folder: Path) -> Sequence[str]:
    """What runs a command as somebody who may run the server (it refuses root); the folder is made theirs."""
    if os.geteuid() != 0:
        return ()
    there = {entry.pw_name: entry for entry in pwd.getpwall()}
    user = next((there[name] for name in _USERS if name in there), None)
    if user is None or shutil.which("runuser") is None:
        pytest.skip(f"PostgreSQL refuses root, and there is none of {', '.join(_USERS)} to run it as")
    os.chown(folder, user.pw_uid, user.pw_gid)
    return ("runuser", "-u", user.pw_name, "--")


def _run(as_user: Sequence[str], command: Sequence[str]) -> None:
    # Its output goes to a file: a server that is started keeps a pipe open, and whoever reads it would wait for ever.
    with tempfile.TemporaryFile() as said:
        ended = subprocess.run([*as_user, *command], stdout=said, stderr=said, cwd="/", check=False)
        said.seek(0)
        assert ended.returncode == 0, said.read().decode()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
