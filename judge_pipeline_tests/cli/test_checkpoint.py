"""``judge-pipeline checkpoint copy``: what it says, and its exit codes."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path

import pytest

from judge_pipeline.cli.main import main
from judge_pipeline.judging.checkpoint.rows import CallRow, Record
from judge_pipeline.judging.checkpoint.store import Checkpoint


def run(*arguments: str, code: int = 0) -> None:
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr(sys, "argv", ["judge-pipeline", *arguments])
        main()
    assert ended.value.code == code


def test_it_tells_what_was_copied_and_refuses_what_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = (f"sqlite:///{tmp_path / name}.sqlite" for name in ("source", "target"))
    with closing(Checkpoint(source)) as store:
        store.record([Record(None, CallRow("j", "0" * 64, "a", 0, "run", n, "2026", 1.0)) for n in range(3)])
    run("checkpoint", "copy", source, target, "--json")
    rows = {row["table"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert rows["calls"] == {"table": "calls", "n_source": 3, "n_copied": 3, "n_different": 0}
    run("checkpoint", "copy", source, target)
    assert "there before" in " ".join(capsys.readouterr().out.split())
    run("checkpoint", "copy", f"sqlite:///{tmp_path / 'none.sqlite'}", target, code=1)
    assert "there is no checkpoint at" in capsys.readouterr().err
