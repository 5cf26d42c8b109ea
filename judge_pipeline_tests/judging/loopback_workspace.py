"""A workspace with a small contest whose judge is the loopback provider, driven through the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from judge_pipeline.cli.main import main
from judge_pipeline.orchestration import runs
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace
from judge_pipeline_tests.headline_report import run_headline_job
from judge_pipeline_tests.mini_contest import MiniContest

LIMITS = {"max_in_flight": 4, "backoff_seconds": 0.01, "max_backoff_seconds": 0.02, "timeout_seconds": 20}


class LoopbackWorkspace:
    """The workspace, its judges.yaml and its commands.

    Attributes:
        whole_report: whether commands make all of the report, which takes much longer, and not only what the headline
            and the state of judges rest on.
    """

    whole_report = False

    def __init__(
        self, folder: Path, url: str, capsys: Any, monkeypatch: pytest.MonkeyPatch, n_participants: int = 3,
        n_problems: int = 2,
    ) -> None:  # fmt: skip
        self.url, self._capsys, self._monkeypatch = url, capsys, monkeypatch
        self.contest = MiniContest(folder / "home").lay(n_participants, n_problems)
        self.workspace = Workspace.find({}, self.contest.home)
        self.configure()
        monkeypatch.chdir(self.contest.home)
        monkeypatch.setenv("COLUMNS", "200")
        for name in ("JUDGE_PIPELINE_HOME", "JUDGE_PIPELINE_OUT"):
            monkeypatch.delenv(name, raising=False)

    def configure(self, top: dict[str, Any] | None = None, **judge: Any) -> None:
        """Write judges.yaml: the judge ``loopback`` with these settings, and what stands beside ``judges``."""
        values = {"backend": "litellm", "model": "openai/loopback", "base_url": self.url, "limits": LIMITS} | judge
        file = self.contest.home / "assets_config" / "judges.yaml"
        file.write_text(
            yaml.safe_dump({"judges": {"loopback": values, "text": {"backend": "baseline"}}, **(top or {})}), "utf-8"
        )

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        """Run a command: exit code, stdout, stderr."""
        self._monkeypatch.setattr(sys, "argv", ["judge-pipeline", *arguments])
        with self._monkeypatch.context() as patched, pytest.raises(SystemExit) as ended:
            if not self.whole_report:
                patched.setattr(runs, "run_job", run_headline_job)
            main()
        out, err = self._capsys.readouterr()
        return int(str(ended.value.code)), out, err

    def run(self, *options: str) -> tuple[int, str, str]:
        """Run the contest with the loopback judge."""
        return self("run", "data/contests/mini", "--judges", "loopback", *options)

    def table(self, table: Any, *judge: str) -> pd.DataFrame:
        """A stored table of the contest."""
        return store_of(self.workspace).read(table, self.contest.name, *judge)
