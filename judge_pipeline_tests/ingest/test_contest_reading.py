"""Reading a contest by every way there is: in this process, in others, from the cache; and what files can do to it."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from judge_pipeline.ingest import contest_folder, reading_cache, reading_pool
from judge_pipeline.ingest.attempts import submission_artifacts
from judge_pipeline.ingest.contest import ContestRead, read_contest
from judge_pipeline.ingest.contest_folder import contest_files, fingerprint
from judge_pipeline.ingest.prompt_logs import prompt_logs
from judge_pipeline.ingest.reading_cache import ReadingCache, cache_file, cache_version, drop_from_cache
from judge_pipeline.ingest.reading_limits import ReadingLimits
from judge_pipeline.settings import ContestSettings
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import ATTEMPTS, INGEST_QUARANTINE, PROMPT_LOGS, SUBMISSION_ARTIFACTS

SETTINGS = ContestSettings(time_zone="Asia/Tokyo")
SETTLED = 0.05


def _page(number: int, verdict: str = "AC") -> str:
    return (
        f"Problem: p{number % 3}\nSubmission ID: {9000 + number}\nResult: {verdict}\nLanguage: C++ \u65e5\u672c\n"
        f"Submitted at: 2026-04-01 10:{number % 60:02}:00\n\n"
        f"```cpp\nint main() {{ return {number}; }} // \U0001d11e\n```\n"
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A contest of 40 artifacts, two logs of which one is a copy, and two files that cannot be read."""
    made = tmp_path / "contest"
    for number in range(40):
        _write(made / "submissions" / f"E{number % 4:03}" / f"{number}.md", _page(number))
    _write(made / "submissions" / "E001" / "empty.md", "")
    for name in ("a.md", "b.md"):
        _write(made / "prompts" / "E001" / name, "## User\n\nHelp.\n\n## Assistant\n\nSort.\n")
    _write(made / "prompts" / "E002" / "odd.json", '{"no": "chat"}')
    time.sleep(SETTLED)
    return made


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _tables(read: ContestRead) -> dict[Table, Any]:
    return {
        SUBMISSION_ARTIFACTS: read.submission_artifacts, PROMPT_LOGS: read.prompt_logs, ATTEMPTS: read.attempts,
        INGEST_QUARANTINE: read.quarantine,
    }  # fmt: skip


def _bytes(read: ContestRead) -> bytes:
    from judge_pipeline.orchestration.parquet_store import parquet_bytes

    return b"".join(parquet_bytes(table, rows) for table, rows in _tables(read).items()) + read.fingerprint.encode()


@pytest.mark.slow
def test_all_ways_of_reading_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache.sqlite"
    plain = _bytes(read_contest(folder, "c", SETTINGS, n_processes=0))
    assert _bytes(read_contest(folder, "c", SETTINGS, n_processes=2)) == plain
    cold = read_contest(folder, "c", SETTINGS, cache=cache)
    warm = read_contest(folder, "c", SETTINGS, cache=cache)
    assert (cold.n_files, cold.n_opened, cold.n_parsed) == (44, 44, 44)
    assert (warm.n_files, warm.n_opened, warm.n_parsed) == (44, 0, 0)
    assert _bytes(cold) == plain and _bytes(warm) == plain


def test_the_tables_are_those_of_the_readers_called_one_by_one(folder: Path) -> None:
    files = [list(contest_files(folder, kind)) for kind in ("submissions", "prompts")]
    artifacts, unread = submission_artifacts(files[0], SETTINGS)
    logs, unread_logs = prompt_logs(files[1])
    read = read_contest(folder, "c", SETTINGS)
    assert read.submission_artifacts.equals(artifacts)
    assert read.prompt_logs.equals(logs)
    assert read.fingerprint == fingerprint([*files[0], *files[1]])
    assert list(read.quarantine["path"]) == [*unread["path"], *unread_logs["path"]]
    assert list(read.quarantine["path"]) == [
        "submissions/E001/empty.md", "prompts/E001/b.md", "prompts/E002/odd.json"
    ]  # fmt: skip


def test_only_what_has_changed_is_parsed_again(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache.sqlite"
    read_contest(folder, "c", SETTINGS, cache=cache)
    changed, touched, gone = (folder / "submissions" / "E000" / name for name in ("0.md", "4.md", "8.md"))
    _write(changed, _page(0, "WA"))
    touched.touch()
    gone.unlink()
    _write(folder / "submissions" / "E009" / "new.md", _page(50))
    time.sleep(SETTLED)
    read = read_contest(folder, "c", SETTINGS, cache=cache)
    assert (read.n_files, read.n_opened, read.n_parsed) == (44, 3, 2)
    assert _bytes(read) == _bytes(read_contest(folder, "c", SETTINGS))
    assert read_contest(folder, "c", SETTINGS, cache=cache).n_opened == 0
    with sqlite3.connect(cache) as database:
        paths = {path for (path,) in database.execute("select path from readings")}
    assert "submissions/E000/8.md" not in paths and len(paths) == 44


def test_a_change_that_keeps_size_and_time_is_seen(folder: Path, tmp_path: Path) -> None:
    cache, file = tmp_path / "cache.sqlite", folder / "submissions" / "E000" / "0.md"
    read_contest(folder, "c", SETTINGS, cache=cache)
    before = file.stat()
    _write(file, _page(0).replace("Result: AC", "Result: WA"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    read = read_contest(folder, "c", SETTINGS, cache=cache)
    assert read.attempts.set_index("submission_id").loc["9000", "verdict"] == "WA"


def test_a_file_written_just_before_is_looked_at_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contest_folder, "_FRESH_NS", 3_600_000_000_000)
    _write(tmp_path / "c" / "submissions" / "E1" / "1.md", _page(1))
    for parsed in (1, 0, 0):
        read = read_contest(tmp_path / "c", "c", SETTINGS, cache=tmp_path / "cache.sqlite")
        assert (read.n_opened, read.n_parsed) == (1, parsed)


def test_the_cache_follows_settings_that_readers_look_at(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache.sqlite"
    read_contest(folder, "c", SETTINGS, cache=cache)
    assert read_contest(folder, "c", SETTINGS.model_copy(update={"seed": 5, "title": "x"}), cache=cache).n_parsed == 0
    other = SETTINGS.model_copy(update={"time_zone": "UTC"})
    read = read_contest(folder, "c", other, cache=cache)
    assert read.n_parsed == 44
    assert _bytes(read) == _bytes(read_contest(folder, "c", other))


def test_the_cache_follows_the_readers_code(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache.sqlite"
    read_contest(folder, "c", SETTINGS, cache=cache)
    monkeypatch.setattr(reading_cache, "_code_version", lambda: "another")
    assert read_contest(folder, "c", SETTINGS, cache=cache).n_parsed == 44


def test_every_setting_is_known_to_matter_or_not() -> None:
    assert set(ContestSettings.model_fields) >= reading_cache._NOT_LOOKED_AT
    assert cache_version(SETTINGS) != cache_version(ContestSettings())


def _scribble(file: Path) -> None:
    data = bytearray(file.read_bytes())
    for place in range(100, len(data), 97):
        data[place] ^= 0x5A
    file.write_bytes(data)


def _other_rows(file: Path) -> None:
    with sqlite3.connect(file) as database:
        row = database.execute("select packed from readings where path like '%/1.md'").fetchone()
        database.execute("update readings set packed = ?", row)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda file: file.write_bytes(b"no database" * 500),
        lambda file: file.write_bytes(b""),
        lambda file: os.truncate(file, file.stat().st_size // 2),
        _scribble,
        _other_rows,
    ],
)
def test_a_damaged_cache_is_not_trusted(folder: Path, tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    cache = tmp_path / "cache.sqlite"
    good = _bytes(read_contest(folder, "c", SETTINGS, cache=cache))
    spoil(cache)
    assert _bytes(read_contest(folder, "c", SETTINGS, cache=cache)) == good
    again = read_contest(folder, "c", SETTINGS, cache=cache)
    assert _bytes(again) == good and again.n_parsed == 0


def test_reading_goes_on_without_a_cache_that_cannot_be_used(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    read = read_contest(folder, "c", SETTINGS, cache=tmp_path / "file" / "cache.sqlite")
    assert read.n_parsed == 44 and "cache.sqlite" in (read.cache_trouble or "")


def test_two_runs_at_once_do_not_disturb_each_other(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache.sqlite"
    with ReadingCache(cache, SETTINGS):
        read = read_contest(folder, "c", SETTINGS, cache=cache)
    assert read.n_parsed == 44 and read.cache_trouble is None
    assert read_contest(folder, "c", SETTINGS, cache=cache).n_parsed == 0


def test_a_person_is_dropped_from_the_cache_and_overwritten(folder: Path, tmp_path: Path) -> None:
    secret = "a word that nobody else writes"
    _write(folder / "prompts" / "E003" / "chat.md", f"## User\n\n{secret}\n\n## Assistant\n\nYes.\n")
    cache = cache_file(tmp_path, "c")
    read_contest(folder, "c", SETTINGS, cache=cache)
    with sqlite3.connect(cache) as database:
        (packed,) = database.execute("select packed from readings where path like '%E003/chat.md'").fetchone()
    assert packed in cache.read_bytes()
    assert drop_from_cache(tmp_path, "c", ["prompts/E003/", "submissions/E003/3.md", "submissions/none.md"]) == 2
    assert packed not in cache.read_bytes()
    assert drop_from_cache(tmp_path, "c", ["prompts/E003/"]) == 0
    assert drop_from_cache(tmp_path, "another", ["x"]) == 0
    assert read_contest(folder, "c", SETTINGS, cache=cache).n_parsed == 2


def test_progress_ends_at_the_total_with_what_was_set_aside(folder: Path) -> None:
    told: list[tuple[int, int, int]] = []
    read_contest(folder, "c", SETTINGS, report=lambda *counts: told.append(counts))
    # The copy of a log is known as one only when all logs are read.
    assert told[-1] == (44, 44, 2)
    assert all(a <= b for a, b in pairwise(told))


def test_a_reader_with_a_defect_sets_one_file_aside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from judge_pipeline.ingest import file_reading

    right = file_reading.read_artifact

    def wrong(data: bytes, path: str, settings: ContestSettings) -> Any:
        if path.endswith("/7.md"):
            raise KeyError("lost")
        return right(data, path, settings)

    monkeypatch.setattr(file_reading, "read_artifact", wrong)
    read = read_contest(folder, "c", SETTINGS)
    row = read.quarantine.set_index("path").loc["submissions/E003/7.md"]
    assert row["reason"] == "its reader failed (KeyError: 'lost')" and "report it" in row["remedy"]
    assert len(read.attempts) == 39


# What a file may do to the process that reads it. The worker is the real one, with a reader that misbehaves by name.
_MISBEHAVING = """
import ctypes, os, sys, time
from judge_pipeline.ingest import file_reading, reading_worker
right = file_reading.read_artifact
def read(data, path, settings):
    name = path.rsplit("/", 1)[1]
    if name.startswith("hang"):
        while True:
            pass
    if name.startswith("crash"):
        ctypes.string_at(0)
    if name.startswith("exit"):
        os._exit(3)
    if name.startswith("memory"):
        return bytearray(10**11)
    if name.startswith("once") and not os.path.exists(data.decode().split("|")[1]):
        open(data.decode().split("|")[1], "w").close()
        os._exit(9)
    return right(data, path, settings)
file_reading.read_artifact = read
reading_worker.main(int(sys.argv[-1]))
"""


@pytest.fixture
def misbehaving(monkeypatch: pytest.MonkeyPatch) -> None:
    popen = subprocess.Popen

    def start(command: list[str], **options: Any) -> Any:
        return popen([sys.executable, "-P", "-c", _MISBEHAVING, command[-1]], **options)

    monkeypatch.setattr(reading_pool.subprocess, "Popen", start)


@pytest.mark.slow
@pytest.mark.usefixtures("misbehaving")
def test_files_that_crash_or_hang_their_reader_are_set_aside(folder: Path, tmp_path: Path) -> None:
    for name in ("hang.md", "crash.md", "exit.md", "memory.md"):
        _write(folder / "submissions" / "E002" / name, _page(77))
    _write(folder / "submissions" / "E002" / "once.md", f"{_page(78)}\n|{tmp_path / 'seen'}|")
    limits = ReadingLimits(seconds_per_file=3.0, memory_bytes=2**29)
    cache = tmp_path / "cache.sqlite"
    read = read_contest(folder, "c", SETTINGS, n_processes=2, limits=limits, cache=cache)
    reasons = read.quarantine.set_index("path")["reason"].to_dict()
    below = "submissions/E002"
    assert reasons[f"{below}/hang.md"] == "takes longer than 3 s to read"
    assert reasons[f"{below}/crash.md"] == "crashes its reader, twice (SIGSEGV)"
    assert reasons[f"{below}/exit.md"] == "crashes its reader, twice (exit code 3)"
    assert reasons[f"{below}/memory.md"] == "takes more than 512 MiB of memory to read"
    assert set(reasons) == {
        *(f"{below}/{name}.md" for name in ("hang", "crash", "exit", "memory")), "submissions/E001/empty.md",
        "prompts/E001/b.md", "prompts/E002/odd.json",
    }  # fmt: skip
    assert len(read.attempts) == 41
    # What may lie outside the file is tried again the next time, and nothing else.
    again = read_contest(folder, "c", SETTINGS, n_processes=2, limits=limits, cache=cache)
    assert again.n_opened == 4 and _bytes(again) == _bytes(read)


def test_a_process_that_cannot_start_is_no_fault_of_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    popen = subprocess.Popen
    broken = [sys.executable, "-c", "raise SystemExit('no such library')"]
    monkeypatch.setattr(reading_pool.subprocess, "Popen", lambda command, **options: popen(broken, **options))
    with pytest.raises(reading_pool.ReadingPoolError, match="no such library"):
        read_contest(folder, "c", SETTINGS, n_processes=2)


@pytest.mark.slow
def test_nothing_is_left_running_where_reading_is_broken_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    popen = subprocess.Popen

    def start(*arguments: Any, **options: Any) -> Any:
        started.append(popen(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(reading_pool.subprocess, "Popen", start)

    def stop(done: int, total: int, aside: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_contest(folder, "c", SETTINGS, n_processes=2, report=stop)
    assert started and all(process.poll() == -signal.SIGKILL for process in started)


@pytest.mark.slow
def test_a_process_that_reads_ends_with_the_one_that_started_it(folder: Path) -> None:
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from judge_pipeline.ingest import reading_pool\n"
        "from judge_pipeline.ingest.reading_limits import ReadingLimits\n"
        "from judge_pipeline.settings import ContestSettings\n"
        "reader = reading_pool._started(ContestSettings(), ReadingLimits())\n"
        "reader.connection.recv()\n"
        "print(reader.process.pid, flush=True)\n"
        "os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    pid = int(done.stdout)
    for _ in range(100):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                break
        except OSError:
            break
        time.sleep(0.1)
    else:
        pytest.fail("it still runs")


def test_many_files_are_read_in_other_processes_and_large_ones_always(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from judge_pipeline.ingest import contest_reading

    used: list[int] = []

    def read(tasks: Any, settings: Any, n_processes: int, limits: Any) -> Any:
        used.append(len(tasks))
        return iter(())

    monkeypatch.setattr(contest_reading, "read_in_processes", read)
    read_contest(folder, "c", SETTINGS)
    assert used == []
    monkeypatch.setattr(contest_reading, "FEW_FILES", 44)
    read_contest(folder, "c", SETTINGS)
    monkeypatch.setattr(contest_reading, "FEW_FILES", 300)
    _write(folder / "submissions" / "E001" / "large.md", _page(60) + "x" * contest_reading.SMALL_BYTES)
    read_contest(folder, "c", SETTINGS)
    assert used == [44, 45]
