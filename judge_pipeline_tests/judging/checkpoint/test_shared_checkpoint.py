"""A checkpoint in PostgreSQL that the environment names: every command, two machines, and no password shown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from judge_pipeline.judging.checkpoint import opening
from judge_pipeline.judging.checkpoint.opening import make_engine, parsed_url
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.settings.workspace import CHECKPOINT_URL
from judge_pipeline.tables import JUDGE_OUTPUTS
from judge_pipeline_tests.judging.loopback_workspace import LoopbackWorkspace
from judge_pipeline_tests.postgresql import PostgresqlServer


@pytest.fixture
def at_loopback(provider: Any, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> LoopbackWorkspace:
    return LoopbackWorkspace(tmp_path, provider.url, capsys, monkeypatch)


@pytest.fixture
def in_postgresql(postgresql_server: PostgresqlServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty database that the environment names as the checkpoint."""
    url = postgresql_server.new_database()
    monkeypatch.setenv(CHECKPOINT_URL, url)
    return url


@pytest.mark.parametrize(
    ("url", "driver"),
    [
        ("postgresql://u:p@h/d", "postgresql+psycopg"),
        ("postgres://u:p@h/d", "postgresql+psycopg"),
        ("postgresql+psycopg://u:p@h/d", "postgresql+psycopg"),
        ("postgresql+psycopg2://u:p@h/d", "postgresql+psycopg2"),
        ("sqlite:///x.sqlite", "sqlite"),
    ],
)
def test_plain_postgresql_is_spoken_through_psycopg_3(url: str, driver: str) -> None:
    assert parsed_url(url).drivername == driver
    assert parsed_url(url).password == ("p" if "@" in url else None)


def test_a_driver_that_is_not_installed_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(JudgingError, match=r"pip install 'judge-pipeline\[postgresql\]'") as raised:
        make_engine("postgresql://u:hunter2secret@h/d")
    assert "hunter2secret" not in str(raised.value)
    with pytest.raises(JudgingError, match=r"pip install .*begin the URL with postgresql://"):
        make_engine("postgresql+nosuchdriver://u:p@h/d")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://judge:hunter2secret@127.0.0.1:1/d",
        "postgresql://judge@127.0.0.1:1/d?password=hunter2secret",
        "postgresql://judge:hunter2secret@127.0.0.1:1/d?sslmode=hunter2secret",
        "postgresql://judge:hunter2secret@[::1/d",
        "postgresql://judge:hunter2secret@127.0.0.1:port/d",
        "mysql://judge:hunter2secret@127.0.0.1/d",
        "hunter2secret",
    ],
)
def test_no_error_shows_a_password(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_CONNECT_TIMEOUT_SECONDS", 2)  # where a machine drops what it should refuse
    with pytest.raises(JudgingError) as raised:
        Checkpoint(url).answered("j", ["h"])
    assert "hunter2secret" not in str(raised.value)
    assert "postgresql" in str(raised.value)


def test_a_wrong_password_is_told_from_a_server_that_is_not_there(postgresql_server: PostgresqlServer) -> None:
    wrong = postgresql_server.url("postgres").replace(postgresql_server.password, "hunter2secret")
    with pytest.raises(JudgingError, match=r"password authentication failed.*JUDGE_PIPELINE_CHECKPOINT_URL") as raised:
        Checkpoint(wrong).answered("j", ["h"])
    assert "hunter2secret" not in str(raised.value)


def test_who_may_not_make_tables_can_use_those_that_are_there(postgresql_server: PostgresqlServer) -> None:
    url = postgresql_server.new_database()
    database = url.rpartition("/")[2]
    Checkpoint(url).answered("j", ["h"])
    for statement in (
        f"CREATE ROLE user_{database} LOGIN PASSWORD 'pw'",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO user_{database}",
        f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO user_{database}",
    ):
        postgresql_server.execute(database, statement)
    theirs = f"postgresql://user_{database}:pw@127.0.0.1:{postgresql_server.port}/{database}"
    store = Checkpoint(theirs)
    assert store.answered("j", ["h"]) == {}
    store.close()


@pytest.mark.slow
def test_tables_can_be_made_by_many_at_once(postgresql_server: PostgresqlServer) -> None:
    url = postgresql_server.new_database()
    code = (
        "import sys; from judge_pipeline.judging.checkpoint.store import Checkpoint\n"
        "Checkpoint(sys.argv[1]).answered('j', ['h'])"
    )
    started = [subprocess.Popen([sys.executable, "-c", code, url], stderr=subprocess.PIPE) for _ in range(5)]
    assert [process.communicate(timeout=60)[1] for process in started] == [b""] * 5


@pytest.mark.slow
def test_every_command_works_with_it_and_none_shows_the_password(
    at_loopback: LoopbackWorkspace, provider: Any, in_postgresql: str, postgresql_server: PostgresqlServer
) -> None:
    password = postgresql_server.password
    said = [at_loopback.run()]
    asked = len(provider.requests)
    outputs = at_loopback.table(JUDGE_OUTPUTS, "loopback")
    assert len(outputs) == asked
    said.append(at_loopback("plan", "data/contests/mini", "--judges", "loopback"))
    assert re.search(rf"loopback +{asked} +{asked} +0 ", said[-1][1]), said[-1]
    attempt = outputs["attempt_id"][0]
    said.append(at_loopback("explain", attempt, "--judge", "loopback"))
    assert provider.requests[0].body["messages"][0]["content"][:40] in said[-1][1], said[-1]
    said.append(at_loopback("status"))
    assert f"{asked} of {asked}" in said[-1][1]
    assert [code for code, _, _ in said] == [0] * len(said), said
    rows = _rows(postgresql_server, in_postgresql)
    said.append(at_loopback("forget", "mini", "E001", "--yes"))
    assert said[-1][0] == 0, said[-1]
    gone = set(outputs["attempt_id"]) - set(at_loopback.table(JUDGE_OUTPUTS, "loopback")["attempt_id"])
    left = _rows(postgresql_server, in_postgresql)
    assert gone and {name: rows[name] - left[name] for name in rows} == dict.fromkeys(rows, len(gone))
    assert not (at_loopback.workspace.out_dir / "checkpoint.sqlite").exists()
    _shows_nowhere(password, said, at_loopback.workspace.out_dir)


@pytest.mark.slow
def test_a_database_that_goes_away_fails_the_run_and_shows_no_password(
    at_loopback: LoopbackWorkspace, postgresql_server: PostgresqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = postgresql_server.url("there_is_none")
    monkeypatch.setenv(CHECKPOINT_URL, wrong)
    said = [at_loopback.run(), at_loopback("plan", "data/contests/mini", "--judges", "loopback")]
    said.append(at_loopback("forget", "mini", "E001"))
    assert [code for code, _, _ in said] == [1, 1, 1], said
    assert all('database "there_is_none" does not exist' in out + err for _, out, err in said), said
    assert not any("Traceback" in out + err for _, out, err in said)
    _shows_nowhere(postgresql_server.password, said, at_loopback.workspace.out_dir)


@pytest.mark.slow
def test_two_machines_that_share_it_ask_each_request_once(
    at_loopback: LoopbackWorkspace, provider: Any, faults: Any, in_postgresql: str, tmp_path: Path, checkout: Path
) -> None:
    """Two machines: two processes with an output folder, and so a lock folder, each of their own."""
    provider.behave = lambda request, n: faults.Behaviour(body=faults.valid().body, delay=0.1)
    command = [sys.executable, "-m", "judge_pipeline_tests.headline_report", "run", "data/contests/mini"]
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    started = [
        subprocess.Popen(
            [*command, "--judges", "loopback", "--out", str(tmp_path / f"machine{n}")], cwd=at_loopback.contest.home,
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for n in range(2)
    ]  # fmt: skip
    try:
        said = [process.communicate(timeout=280)[0] for process in started]
    finally:
        for process in started:
            process.kill()
    assert [process.returncode for process in started] == [0, 0], said
    asked = Counter(request.text for request in provider.requests)
    assert set(asked.values()) == {1}
    assert len(asked) == int(_count(in_postgresql, "judgments"))


def _rows(server: PostgresqlServer, url: str) -> dict[str, int]:
    database = url.rpartition("/")[2]
    counts = {name: server.execute(database, f"SELECT count(*) FROM {name}") for name in ("judgments", "calls")}
    return {name: int(str(rows[0][0])) for name, rows in counts.items()}


def _count(url: str, table: str) -> int:
    import sqlalchemy as sa

    engine = make_engine(url)
    with engine.connect() as connection:
        found = connection.execute(sa.text(f"SELECT count(*) FROM {table}")).scalar_one()
    engine.dispose()
    return int(found)


def _shows_nowhere(password: str, said: list[tuple[int, str, str]], out: Path) -> None:
    assert not any(password in text for _, *texts in said for text in texts)
    files = [file for file in out.rglob("*") if file.is_file()]
    assert files and not [file for file in files if password.encode() in file.read_bytes()]
