from __future__ import annotations

import os
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.orchestration.tombstones import Tombstone, Tombstones
from judge_pipeline.orchestration.whole_files import write_whole
from judge_pipeline.settings.file_permissions import UMASK, kept_from_others
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline_tests.mini_contest import MiniContest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="rights of group and others are those of POSIX")


@pytest.fixture(autouse=True)
def _umask_is_put_back():  # type: ignore[no-untyped-def]
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_and_folders_are_their_owners_alone(tmp_path: Path) -> None:
    with kept_from_others({}):
        file = write_whole(tmp_path / "reports" / "page.html", b"what participants wrote")
    assert (mode(file), mode(file.parent)) == (0o600, 0o700)
    assert file.read_bytes() == b"what participants wrote"


def test_a_team_may_share_them_with_its_group(tmp_path: Path) -> None:
    with kept_from_others({UMASK: "027"}):
        file = write_whole(tmp_path / "reports" / "page.html", b"")
    assert (mode(file), mode(file.parent)) == (0o640, 0o750)


def test_a_stricter_umask_stays(tmp_path: Path) -> None:
    os.umask(0o277)
    with kept_from_others({}):
        assert mode(write_whole(tmp_path / "f", b"")) == 0o400
    assert os.umask(0o022) == 0o277, "and is put back"


@pytest.mark.parametrize("wrong", ["", "rwx", "77", "0o77", "089", "00077"])
def test_what_is_no_umask_is_refused(wrong: str) -> None:
    with pytest.raises(SettingsError, match=f"{UMASK}=.*077"), kept_from_others({UMASK: wrong}):
        pass
    assert os.umask(0o022) == 0o022, "and nothing is changed"


def test_the_key_of_tombstones_is_its_owners_alone_even_where_files_are_shared(tmp_path: Path) -> None:
    stones = Tombstones(tmp_path, "mini")
    with kept_from_others({UMASK: "007"}):
        stones.write(Tombstone(stones.hash_of("E001"), "2026-11-30", True, {}))
    assert mode(tmp_path / "tombstones" / "key") == 0o600
    assert mode(stones.path) == 0o660


def test_the_checkpoint_and_what_lies_beside_it_while_it_is_open(tmp_path: Path) -> None:
    checkpoint = Checkpoint(f"sqlite:///{tmp_path / 'out' / 'checkpoint.sqlite'}")
    with kept_from_others({}), closing(checkpoint):
        checkpoint.take_turn("provider", now=0.0, seconds=1.0)
        written = list((tmp_path / "out").iterdir())
        assert {"checkpoint.sqlite", "checkpoint.sqlite-wal"} <= {path.name for path in written}
        assert [path.name for path in written if mode(path) & 0o077] == []


@pytest.mark.slow
def test_nobody_else_can_read_anything_that_a_command_writes(tmp_path: Path) -> None:
    """Tables, exports, Dagster's records with their logs, caches, ledgers."""
    contest = MiniContest(tmp_path / "home").lay()
    options = ["run", str(contest.folder), "--judges", "text", "--dry-run"]
    command = [sys.executable, "-m", "judge_pipeline.cli.main", *options]
    environment = os.environ | {"JUDGE_PIPELINE_HOME": str(contest.home)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    written = [path for path in (contest.home / "var").rglob("*") if not path.is_symlink()]
    assert {"runs.db", "splits_ledger.csv", "mini.sqlite"} <= {path.name for path in written}
    assert [str(path) for path in (contest.home / "var", *written) if mode(path) & 0o077] == []
