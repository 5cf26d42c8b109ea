"""``judge-pipeline bundle`` and ``verify`` before anything is packed: what is refused, and how it is told."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from judge_pipeline.cli.main import main
from judge_pipeline_tests.mini_contest import MiniContest

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    home = MiniContest(tmp_path / "home").lay(1, 1).home
    monkeypatch.setenv("JUDGE_PIPELINE_HOME", str(home))
    monkeypatch.delenv("JUDGE_PIPELINE_OUT", raising=False)
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["judge-pipeline", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return int(str(ended.value.code)), out, " ".join(err.split())

    return command


@pytest.mark.parametrize("arguments", [(), ("mini", "--set", "pairs"), ("mini", "--level", "some")])
def test_what_is_bundled_must_be_said(run: Run, arguments: tuple[str, ...]) -> None:
    assert run("bundle", *arguments)[0] == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("other",), "contest 'other' has no folder"),
        (("mini",), "mini was never read: there is no table attempts of it; run it first"),
        (("--set", "pairs"), "preference set 'pairs' has no folder"),
    ],
)
def test_what_was_never_run_cannot_be_bundled(run: Run, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    code, _, err = run("bundle", *arguments)
    assert code == 1 and said in err
    assert not list(tmp_path.glob("*.zip"))


def test_what_is_no_bundle_is_told(run: Run, tmp_path: Path) -> None:
    assert run("verify", "none.zip")[0] == 1
    (tmp_path / "junk.zip").write_bytes(b"junk")
    code, _, err = run("verify", "junk.zip")
    assert code == 1 and "junk.zip is no bundle" in err
    with zipfile.ZipFile(tmp_path / "up.zip", "w") as archive:
        archive.writestr("../up.txt", b"out")
    code, _, err = run("verify", "up.zip")
    assert code == 1 and "was not unpacked" in err
    assert not (tmp_path.parent / "up.txt").exists()


def test_an_archive_without_manifests_is_told_file_by_file(run: Run, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "some.zip", "w") as archive:
        archive.writestr("a.txt", b"text")
    code, out, _ = run("verify", "some.zip")
    assert code == 1
    assert "manifest-sha256.txt is missing" in out and "bundle.json is missing" in out
