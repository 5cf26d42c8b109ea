"""What a bundle says of itself (``bundle.json``), and how its files are named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from judge_pipeline.settings import SLUG, Workspace
from judge_pipeline.settings.bundle import LEVELS, Level
from judge_pipeline.settings.yaml_file import SettingsError

FORMAT = 1
"""The layout of bundles. A reader refuses what is newer."""

FACTS, README = "bundle.json", "README.txt"
MANIFEST, CRATE = "manifest-sha256.txt", "ro-crate-metadata.json"
CONFIG, DATA, OUT, ANSWERS, VERSIONS = "assets_config", "data", "var", "answers", "versions"

MOST_WITHDRAWN = 1_000_000
"""People who withdrew that a bundle may tell of: a file is laid for each when it is verified."""

Kind = Literal["contest", "preference_set"]

FOLDER_OF: Mapping[Kind, str] = {"contest": "contests", "preference_set": "preference"}
"""Kind -> the folder below data/ in which it lies."""


@dataclass(frozen=True)
class BundleFacts:
    """What a bundle is of, and under what it is to be recomputed.

    Attributes:
        kind: what it is of.
        name: the contest or preference set.
        level: how much of it went out.
        version: of judge-pipeline.
        code_sha256: of the package's sources.
        keys_set: names of the environment variables of judges' keys that were set when the report was made. No value
            is in a bundle; that one was set or not stands in the coverage table.
        withheld: what is not in it -> why, in words.
        folder_sha256: fingerprint of the raw files as they were read; "unknown" where no run tells it.
        extra: further facts for people: counts, what differs from the published tables.
    """

    kind: Kind
    name: str
    level: Level
    version: str
    code_sha256: str
    keys_set: tuple[str, ...] = ()
    withheld: Mapping[str, str] = field(default_factory=dict)
    folder_sha256: str = "unknown"
    extra: Mapping[str, Any] = field(default_factory=dict)

    def is_whole(self) -> bool:
        """Whether all raw files are in it that were read."""
        return self.level == "full" and not self.withheld and not self.extra.get("raw_files_left_out")

    @property
    def place(self) -> str:
        """Where its batches and locks are kept (``pair_judging_run.place_of_set``)."""
        return self.name if self.kind == "contest" else f"preference/{self.name}"

    @property
    def data_folder(self) -> str:
        """Where its raw files lie in the bundle."""
        return f"{DATA}/{FOLDER_OF[self.kind]}/{self.name}"

    def to_json(self) -> bytes:
        """The file ``bundle.json``."""
        data = {"format": FORMAT, **asdict(self)}
        return (json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()

    @classmethod
    def from_json(cls, text: bytes) -> BundleFacts:
        """Read it.

        Raises:
            SettingsError: it is no such file, or of a newer format.
        """
        try:
            data = json.loads(text)
            found = int(data.pop("format"))
            by = str(data["version"])
            if found <= FORMAT:  # of a newer one nothing else is known
                data["keys_set"] = tuple(str(name) for name in data["keys_set"])
                facts = cls(**data)
                _check(facts)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            raise SettingsError(f"{FACTS} is damaged ({error}): ask for the bundle again") from None
        if found > FORMAT:
            raise SettingsError(
                f"{FACTS}: format {found} is newer than this version knows ({FORMAT}): verify it with judge-pipeline "
                f"{by}"
            )
        return facts


def _check(facts: BundleFacts) -> None:
    """Whether what a stranger's file says is of the kinds that are reckoned with.

    Raises:
        ValueError: something is not.
    """
    texts = (facts.kind, facts.name, facts.level, facts.version, facts.code_sha256, facts.folder_sha256)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("what should be text is none")
    if facts.kind not in FOLDER_OF or facts.level not in LEVELS or not SLUG.fullmatch(facts.name):
        raise ValueError("it names no contest or preference set, or no level")
    if not isinstance(facts.withheld, dict) or not all(isinstance(why, str) for why in facts.withheld.values()):
        raise ValueError("withheld does not say of each table why")
    if not isinstance(facts.extra, dict):
        raise ValueError("extra is no object")
    n_withdrawn = facts.extra.get("n_withdrawn", 0)
    if type(n_withdrawn) is not int or not 0 <= n_withdrawn <= MOST_WITHDRAWN:
        raise ValueError("n_withdrawn is no number of people")


class UnpackedWorkspace(Workspace):
    """The workspace that an unpacked bundle is: everything lies in its folder, whatever the environment names."""

    __slots__ = ()

    @property
    def checkpoint_url(self) -> str:
        """Database URL of the checkpoint: the file in ``out_dir``."""
        return f"sqlite:///{self.out_dir / 'checkpoint.sqlite'}"

    @property
    def store_dir(self) -> Path:
        """Where tables and what else is produced lie: ``out_dir``."""
        return self.out_dir


def workspace_in(folder: Path, out: Path) -> UnpackedWorkspace:
    """The workspace that an unpacked bundle is, writing elsewhere."""
    return UnpackedWorkspace(folder / CONFIG, folder / DATA, out)
