from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from judge_pipeline_tests import running_fast
from judge_pipeline_tests.orchestration.traced_home import make_traced_home


@pytest.fixture(scope="session")
def traced_home(reported_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A contest and a preference set that were reported and compared: never changed, see below."""

    def make(folder: Path) -> None:
        make_traced_home(reported_home, folder)

    return running_fast.made_once(tmp_path_factory, "traced", make) / "home"


@pytest.fixture
def own_home(traced_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy to be changed at will, in which commands run."""
    home = shutil.copytree(traced_home, tmp_path / "home")
    monkeypatch.setenv("JUDGE_PIPELINE_HOME", str(home))
    monkeypatch.delenv("JUDGE_PIPELINE_OUT", raising=False)
    return Path(home)
