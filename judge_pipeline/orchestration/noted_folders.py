"""Folders by name, of one kind: those that lie in the data folder, and those that a command was given and noted.

A note stands in a JSON file in the output folder, so that the UI finds the folder, too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from judge_pipeline.orchestration.one_at_a_time import one_at_a_time
from judge_pipeline.orchestration.whole_files import write_whole
from judge_pipeline.settings import Workspace, check_slug
from judge_pipeline.settings.yaml_file import SettingsError


@dataclass(frozen=True, slots=True)
class FolderKind:
    """A kind of folder that is read.

    Attributes:
        what: one of them, in words.
        place: where they lie in the data folder.
        note_file: where others are noted, in the output folder.
        remedy: what to do about a damaged note file, once it is deleted.
    """

    what: str
    place: str
    note_file: str
    remedy: str

    def folders(self, workspace: Workspace) -> dict[str, Path]:
        """Name -> folder, sorted by name; folders whose names cannot be partition keys are left out."""
        found = self._noted(workspace)
        root = workspace.data_dir / self.place
        if root.is_dir():
            found |= {each.name: each for each in root.iterdir() if self._is_name(each.name) and is_folder(each)}
        return dict(sorted(found.items()))

    def name_of(self, folder: Path) -> str:
        """The name under which the folder goes.

        Raises:
            SettingsError: its name cannot be a partition key.
        """
        return check_slug(folder.name, f"{self.what} folder name")

    def note(self, workspace: Workspace, folder: Path) -> str:
        """Make a folder known under its name, and return the name.

        Raises:
            SettingsError: its name cannot be a partition key, or another folder is already known under the name.
        """
        name = self.name_of(folder)
        # Two commands that note folders at once: the later one must not write without the earlier one's.
        with one_at_a_time(workspace.out_dir / "locks" / f"{self.note_file}.lock", lambda: None):
            known = self.folders(workspace).get(name)
            if known is not None and known.resolve() != folder and known.is_dir():
                raise SettingsError(
                    f"{self.what} {name!r} is already known at {known}; rename {folder}, or write elsewhere with "
                    "--out DIR"
                )
            noted = {**self._noted(workspace), name: folder}
            text = json.dumps({name: str(path) for name, path in sorted(noted.items())}, indent=1) + "\n"
            write_whole(workspace.out_dir / self.note_file, text.encode())
        return name

    def _is_name(self, name: str) -> bool:
        try:
            self.name_of(Path(name))
        except SettingsError:
            return False
        return True

    def _noted(self, workspace: Workspace) -> dict[str, Path]:
        file = workspace.out_dir / self.note_file
        if not file.is_file():
            return {}
        try:
            return {str(name): Path(str(path)) for name, path in json.loads(file.read_text(encoding="utf-8")).items()}
        except (ValueError, AttributeError) as error:
            raise SettingsError(f"{file} is damaged ({error}); delete it and {self.remedy}") from None


def is_folder(place: Path) -> bool:
    """Whether a folder lies there, as far as can be known.

    One on a disk or network that does not answer counts: whoever looks into it says so, and others have their turn.
    """
    try:
        return place.is_dir()
    except OSError:
        return True
