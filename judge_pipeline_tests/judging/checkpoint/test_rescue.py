"""The checkpoint's file is deleted, moved or replaced under a real run: it stops, and what was answered is kept."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from judge_pipeline.judging.checkpoint.rescue import Rescue
from judge_pipeline.judging.checkpoint.same_file import CheckpointLostError
from judge_pipeline.judging.checkpoint.store import CallRow, Checkpoint, Record, utc_now
from judge_pipeline.judging.engine import JudgingContext, judge_requests
from judge_pipeline.judging.failures import JudgingError

FILES = ("", "-wal", "-shm")


def path_of(checkpoint: Checkpoint) -> Path:
    return Path(checkpoint.url.removeprefix("sqlite:///"))


def delete(file: Path) -> None:
    for suffix in FILES:
        file.with_name(file.name + suffix).unlink(missing_ok=True)


def move(file: Path) -> None:
    file.rename(file.with_name("elsewhere.sqlite"))


def replace(file: Path) -> None:
    with closing(sqlite3.connect(file.with_name("other.sqlite"))) as other:
        other.execute("CREATE TABLE t (x)")
    file.with_name("other.sqlite").replace(file)


def delete_the_log(file: Path) -> None:
    file.with_name(file.name + "-wal").unlink()


def delete_the_folder(file: Path) -> None:
    shutil.rmtree(file.parent)


def rows(file: Path, table: str) -> int:
    with closing(sqlite3.connect(file)) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def assert_every_call_is_there(file: Path, asked: int) -> None:
    """All that the provider was asked, and at most those besides whom the end met before their request went out."""
    with closing(sqlite3.connect(file)) as connection:
        counts = "SELECT count(*), count(*) FILTER (WHERE error_class = 'cancelled') FROM calls"
        calls, cancelled = connection.execute(counts).fetchone()
    assert calls - cancelled <= asked <= calls


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'store' / 'checkpoint.sqlite'}"


@pytest.mark.slow
@pytest.mark.parametrize("lose", [delete, move, replace, delete_the_log, delete_the_folder])
@pytest.mark.parametrize("transport", ["direct"])
def test_a_run_whose_checkpoint_is_lost_stops_and_all_that_it_held_is_rescued(
    provider: Any, faults: Any, checkpoint: Checkpoint, context: JudgingContext, loopback_judge: Any,
    make_requests: Any, lose: Callable[[Path], None],
) -> None:  # fmt: skip
    file, n, after = path_of(checkpoint), 60, 20

    def behave(request: Any, number: int) -> Any:
        if number == after:
            lose(file)
        return faults.valid(p_ac=faults.answer_of(request.text))

    provider.behave = behave
    settings = loopback_judge(limits={"max_in_flight": 4})
    with pytest.raises(JudgingError, match="deleted, moved or replaced while this run") as caught:
        judge_requests("j", settings, make_requests(n), checkpoint=checkpoint, context=context)
    checkpoint.close()
    said = str(caught.value)
    assert str(file) in said
    rescued = next(file.parent.glob("checkpoint.rescued-*.sqlite"))
    assert f"judge-pipeline checkpoint copy sqlite:///{rescued} sqlite:///{file}" in said
    asked = len(provider.requests)
    assert after < asked < n  # it stopped
    assert_every_call_is_there(rescued, asked)  # those before it was lost, and those after

    delete(file)
    shutil.copy(rescued, file)
    answered = rows(file, "judgments")
    assert answered >= after
    with closing(Checkpoint(checkpoint.url)) as again:
        result = judge_requests("j", settings, make_requests(n), checkpoint=again, context=context)
    assert len(result.outputs) == n
    assert len(provider.requests) - asked == n - answered


def test_where_its_folder_cannot_be_written_either_answers_go_to_a_folder_for_temporary_files(
    provider: Any, faults: Any, checkpoint: Checkpoint, context: JudgingContext, loopback_judge: Any,
    make_requests: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    file = path_of(checkpoint)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def behave(request: Any, number: int) -> Any:
        if number == 5:
            shutil.rmtree(file.parent)
            file.parent.write_text("a file where the folder was", encoding="utf-8")
        return faults.valid()

    provider.behave = behave
    with pytest.raises(JudgingError, match="calls that it did not take are in"):
        judge_requests(
            "j", loopback_judge(transport="direct"), make_requests(20), checkpoint=checkpoint, context=context
        )
    checkpoint.close()
    rescued = next(tmp_path.glob("judge-pipeline-*/checkpoint.rescued-*.sqlite"))
    assert_every_call_is_there(rescued, len(provider.requests))


def call_for(attempt_id: str) -> Record:
    return Record(None, CallRow("j", "0" * 64, attempt_id, 0, "run", 1, utc_now(), 1.0, raw_text="theirs"))


def test_all_is_rescued_while_another_thread_looks_something_up(checkpoint: Checkpoint) -> None:
    checkpoint.record([call_for("a1"), call_for("a2")])
    with ThreadPoolExecutor(1) as pool:
        with checkpoint.reading():  # by the only connection
            delete(path_of(checkpoint))
            rescue = Rescue(checkpoint, CheckpointLostError("lost"))
            taken = pool.submit(rescue.take, [call_for("a3")])
            time.sleep(0.1)
            assert not taken.done()
        taken.result(10)
    assert "1 calls that it did not take are in" in str(rescue.error()) and "are lost" not in str(rescue.error())
    assert rows(next(path_of(checkpoint).parent.glob("checkpoint.rescued-*.sqlite")), "calls") == 3


def test_what_went_nowhere_is_tried_again_with_the_next(
    checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint.record([call_for("a1")])
    rescue = Rescue(checkpoint, OSError("disk full"))
    with monkeypatch.context() as full:
        full.setattr(Rescue, "_places", lambda self: iter(()))
        rescue.take([call_for("a2")])
    assert "1 calls could be written nowhere and are lost" in str(rescue.error())
    rescue.take([call_for("a3")])
    assert "2 calls that it did not take are in" in str(rescue.error()) and "are lost" not in str(rescue.error())


def test_two_processes_that_come_and_go_are_no_loss(checkpoint: Checkpoint) -> None:
    checkpoint.longest_answer("j")
    for _ in range(3):
        with closing(Checkpoint(checkpoint.url)) as other:
            other.take_turn("p", 0.0, 1.0)
    checkpoint.take_turn("p", 0.0, 1.0)
    assert checkpoint.longest_answer("j") is None


def test_who_withdraws_is_taken_out_of_rescued_stores_too(
    checkpoint: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from judge_pipeline.judging.forgetting import attempts_in_checkpoint, forget_attempts

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    Rescue(checkpoint, OSError("disk full")).take([call_for("a1"), call_for("a1")])
    assert not list(tmp_path.glob("judge-pipeline-*")), "no other place was needed"
    assert attempts_in_checkpoint(checkpoint.url) == {"a1"}
    assert forget_attempts(checkpoint.url, ["a1"], {}, dry_run=False)["calls"] == 2
    assert attempts_in_checkpoint(checkpoint.url) == set()
    assert all(b"theirs" not in file.read_bytes() for file in path_of(checkpoint).parent.iterdir())
