"""The lock in PostgreSQL: the second waits, a killed holder leaves nothing behind, a waiting one can be interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from judge_pipeline.judging.checkpoint import opening
from judge_pipeline.judging.checkpoint.lock import held_in_store
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline_tests.postgresql import PostgresqlServer

HOLDER = """
import sys, time
from judge_pipeline.judging.checkpoint.lock import held_in_store
with held_in_store(sys.argv[1], "contest judge", lambda: None):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.slow
def test_a_second_process_waits_until_the_first_is_gone_even_if_killed(postgresql_server: PostgresqlServer) -> None:
    url = postgresql_server.new_database()
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, url], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        waiting, entered = threading.Event(), threading.Event()

        def second() -> None:
            with held_in_store(url, "contest judge", waiting.set):
                entered.set()

        thread = threading.Thread(target=second)
        thread.start()
        assert waiting.wait(10)
        with held_in_store(url, "contest another", lambda: pytest.fail("another judge's lock is free")):
            assert not entered.wait(1.2)
    finally:
        holder.kill()
        holder.wait()
    assert entered.wait(10)
    thread.join()


def test_alone_nobody_waits_and_the_lock_is_given_back(postgresql_server: PostgresqlServer) -> None:
    url = postgresql_server.new_database()
    for _ in range(3):
        with held_in_store(url, "x", lambda: pytest.fail("nobody else holds it")):
            pass


def test_who_waits_can_be_interrupted(postgresql_server: PostgresqlServer) -> None:
    url = postgresql_server.new_database()
    with held_in_store(url, "x", lambda: None):
        began = time.monotonic()
        with (
            pytest.raises(KeyboardInterrupt),
            held_in_store(url, "x", lambda: threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()),
        ):
            pytest.fail("it is held")
        assert time.monotonic() - began < 3


def test_no_transaction_stays_open_while_it_is_held(postgresql_server: PostgresqlServer) -> None:
    url = postgresql_server.new_database()
    database = url.rpartition("/")[2]
    with held_in_store(url, "x", lambda: None):
        states = postgresql_server.execute(
            database, f"SELECT state FROM pg_stat_activity WHERE datname = '{database}' AND pid <> pg_backend_pid()"
        )
    assert states == [("idle",)]


@pytest.mark.slow
def test_a_database_that_is_not_there_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_CONNECT_TIMEOUT_SECONDS", 2)  # where a machine drops what it should refuse
    with (
        pytest.raises(JudgingError, match=r"judge:\*\*\*@127\.0\.0\.1:1/none cannot be") as raised,
        held_in_store("postgresql://judge:hunter2secret@127.0.0.1:1/none", "x", lambda: None),
    ):
        pass
    assert "hunter2secret" not in str(raised.value)
