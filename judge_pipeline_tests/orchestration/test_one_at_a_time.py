"""The lock between runs: the second waits for the first, and a killed one leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from judge_pipeline.orchestration.one_at_a_time import one_at_a_time, one_writing
from judge_pipeline.settings import Workspace

HOLDER = """
import pathlib, sys, time
from judge_pipeline.orchestration.one_at_a_time import one_at_a_time
with one_at_a_time(pathlib.Path(sys.argv[1]), lambda: None):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.slow
def test_a_second_process_waits_until_the_first_is_gone_even_if_killed(tmp_path: Path) -> None:
    lock = tmp_path / "locks" / "mini" / "j.lock"
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(lock)], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        waiting, entered = threading.Event(), threading.Event()

        def second() -> None:
            with one_at_a_time(lock, waiting.set):
                entered.set()

        thread = threading.Thread(target=second)
        thread.start()
        assert waiting.wait(10)
        assert not entered.wait(0.2)
    finally:
        holder.kill()
        holder.wait()
    assert entered.wait(10)
    thread.join()


def test_alone_nobody_waits(tmp_path: Path) -> None:
    told: list[bool] = []
    for _ in range(2):
        with one_at_a_time(tmp_path / "j.lock", lambda: told.append(True)):
            pass
    assert told == []


def test_of_many_who_change_a_ledger_none_loses_anothers_line(
    tmp_path: Path, emptied_store_url: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_PIPELINE_CHECKPOINT_URL", emptied_store_url())
    ledger, workspace = tmp_path / "ledger", Workspace(tmp_path, tmp_path, tmp_path)
    ledger.write_text("", encoding="utf-8")

    def add(number: int) -> None:
        with one_writing(workspace, "splits_ledger", "mini"):
            before = ledger.read_text(encoding="utf-8")
            time.sleep(0.05)
            ledger.write_text(f"{before}{number} ", encoding="utf-8")

    writers = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(ledger.read_text(encoding="utf-8").split()) == ["0", "1", "2", "3"]
