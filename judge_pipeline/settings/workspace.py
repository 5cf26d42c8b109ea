"""Where things lie: what a team edits, what it brings, what runs produce."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from judge_pipeline.settings.automation import FILE as AUTOMATION
from judge_pipeline.settings.automation import AutomationFile
from judge_pipeline.settings.contest import ContestSettings
from judge_pipeline.settings.criteria import CriteriaFile
from judge_pipeline.settings.judges import JudgesFile
from judge_pipeline.settings.preference import PreferenceSettings
from judge_pipeline.settings.secrets_file import key_environment
from judge_pipeline.settings.yaml_file import SettingsError, load

_PACKAGE = Path(__file__).resolve().parent.parent

CHECKPOINT_URL = "JUDGE_PIPELINE_CHECKPOINT_URL"
"""Environment variable that names the checkpoint's database."""

STORE_URL = "JUDGE_PIPELINE_STORE_URL"
"""Environment variable that names where several machines keep what runs produce."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where things lie: what a team edits, what it brings, and what runs produce.

    Attributes:
        config_dir: judges.yaml, contests.yaml, preference.yaml, prompts/.
        data_dir: contests/<contest>/, preference/<set>/.
        out_dir: everything produced, unless URLs name other places for it: ``checkpoint_url`` for what judges answered,
            ``store_dir`` for tables and reports. Locks, caches and Dagster's own files are always here.
    """

    config_dir: Path
    data_dir: Path
    out_dir: Path

    @classmethod
    def find(cls, environment: Mapping[str, str] = os.environ, start: Path | None = None) -> Workspace:
        """The workspace of the environment, else of the nearest folder upwards that has assets_config/judges.yaml.

        ``JUDGE_PIPELINE_HOME`` names the folder and ``JUDGE_PIPELINE_OUT`` where to write (default: var/ in it).
        Where neither is found, the configuration that comes with the package is used from the current folder.

        Raises:
            SettingsError: JUDGE_PIPELINE_HOME names a folder without assets_config/judges.yaml.
        """
        here = (start or Path.cwd()).resolve()
        home = _home(environment, here)
        out = environment.get("JUDGE_PIPELINE_OUT")
        config = (home / "assets_config") if home else packaged_config_dir()
        base = home or here
        return cls(config, base / "data", Path(out).resolve() if out else base / "var")

    @property
    def checkpoint_url(self) -> str:
        """Database URL of the checkpoint: ``JUDGE_PIPELINE_CHECKPOINT_URL``, else a SQLite file in ``out_dir``.

        It may hold a password. So it is read where it is needed, and is no attribute that a configuration, a log or a
        run's records could show.
        """
        return key_environment().get(CHECKPOINT_URL) or f"sqlite:///{self.out_dir / 'checkpoint.sqlite'}"

    @property
    def store_dir(self) -> Path:
        """Where tables, ledgers, tombstones, reports, exports, rubrics, guidance and screenshots lie.

        ``out_dir``, unless ``JUDGE_PIPELINE_STORE_URL`` names a folder or an object store (``s3://bucket/prefix``) that
        several machines share. Of an object store it is an ``ObjectPath``, which has the methods of ``Path`` that read,
        write, list and remove; functions of ``os`` and ``shutil`` do not take it (``orchestration.whole_files``).

        Raises:
            SettingsError: the URL cannot be used.
        """
        place = os.environ.get(STORE_URL)
        return store_path(place) if place else self.out_dir

    def judges(self) -> JudgesFile:
        """judges.yaml, checked."""
        return load(JudgesFile, self.config_dir / "judges.yaml")

    def contest(self, folder: Path) -> ContestSettings:
        """The contest's settings: contests.yaml with the folder's contest.yaml over it."""
        return load(ContestSettings, self.config_dir / "contests.yaml", folder / "contest.yaml")

    def preference(self, folder: Path) -> PreferenceSettings:
        """A preference set's settings: preference.yaml with that of the set's folder over it.

        A workspace without assets_config/preference.yaml has the one that comes with the package.
        """
        own = self.config_dir / "preference.yaml"
        defaults = own if os.path.lexists(own) else packaged_config_dir() / "preference.yaml"
        return load(PreferenceSettings, defaults, folder / "preference.yaml")

    def criteria(self) -> CriteriaFile:
        """criteria.yaml, checked; a workspace without one has the one that comes with the package."""
        own = self.config_dir / "criteria.yaml"
        return load(CriteriaFile, own if os.path.lexists(own) else packaged_config_dir() / "criteria.yaml")

    def automation(self) -> AutomationFile:
        """automation.yaml, checked; a workspace without one has the one that comes with the package."""
        own = self.config_dir / AUTOMATION
        return load(AutomationFile, own if os.path.lexists(own) else packaged_config_dir() / AUTOMATION)


def store_path(place: str) -> Path:
    """The folder, or where there is a scheme in it the place in an object store (``Workspace.store_dir``)."""
    if "://" not in place:
        return Path(place).absolute()
    from judge_pipeline.settings.object_path import object_path

    return cast(Path, object_path(place))


def packaged_config_dir() -> Path:
    """The configuration that comes with the package: beside it in a checkout, inside it in an installation."""
    beside = _PACKAGE.parent / "assets_config"
    return beside if (beside / "judges.yaml").is_file() else _PACKAGE / "assets_config"


def _home(environment: Mapping[str, str], here: Path) -> Path | None:
    named = environment.get("JUDGE_PIPELINE_HOME")
    if named:
        if not (Path(named) / "assets_config" / "judges.yaml").is_file():
            raise SettingsError(
                f"JUDGE_PIPELINE_HOME={named!r} has no assets_config/judges.yaml; "
                f"make one with 'judge-pipeline init {named}', or unset the variable"
            )
        return Path(named).resolve()
    # Also where it is a broken link or a folder: that is an error to be told, not a reason to use another one.
    return next((d for d in (here, *here.parents) if os.path.lexists(d / "assets_config" / "judges.yaml")), None)
