"""One look at all watched folders of a kind: which are there, which are settled, and what those hold."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from judge_pipeline.ingest.contest_folder import ListedFile, list_files
from judge_pipeline.ingest.reading_cache import cache_file, known_files
from judge_pipeline.orchestration.automation.chain import Chain
from judge_pipeline.orchestration.automation.content import NEVER, Known, OutOfTimeError, contest_content, set_content
from judge_pipeline.orchestration.automation.listing import list_folder
from judge_pipeline.orchestration.automation.watched import Watched, look, read_watched, write_watched
from judge_pipeline.orchestration.contest_folders import contest_folders
from judge_pipeline.orchestration.noted_folders import is_folder
from judge_pipeline.orchestration.preference_sets import files_of_judges, preference_folders
from judge_pipeline.settings import SLUG, Workspace

LISTING_SECONDS = 0.4
"""Time that a tick spends on listing folders before it leaves the rest to the next; unsettled ones go first."""

HASHING_SECONDS = 10.0
"""Time that a tick spends on hashing what has changed."""

_FOLDER = "watch"


@dataclass
class Looked:
    """What a look has found.

    Attributes:
        folders: name -> folder of all that there are.
        contents: name -> content of those that are settled.
        waiting: what is waited for, in words.
        next_name: the name after which the next look goes on.
    """

    folders: dict[str, Path] = field(default_factory=dict)
    contents: dict[str, str] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)
    next_name: str = ""


class FolderWatch:
    """Looks at the folders of one chain, again and again, from one process.

    Args:
        workspace: whose folders.
        chain: contests or preference sets.
        quiet_seconds: for how long a folder's listing must have stayed the same.
        clock: our time, in seconds.
    """

    def __init__(
        self, workspace: Workspace, chain: Chain, quiet_seconds: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._workspace, self._chain = workspace, chain
        self._quiet_seconds, self._clock = quiet_seconds, clock
        self._file = workspace.out_dir / _FOLDER / f"{chain.dimension}.json"
        self._hashing: dict[str, Known] = {}
        self._without_unread: dict[str, tuple[str, str]] = {}  # the listing and the content that files are missing from
        self._unwritten: Mapping[str, Watched] | None = None

    def look(self, after: str = "") -> Looked:
        """Look at as many folders as there is time for.

        Args:
            after: the name after which the last look left off.
        """
        folders = self._folders()
        looked = Looked({name: folder for name, folder in folders.items() if is_folder(folder)}, next_name=after)
        before = read_watched(self._file) if self._unwritten is None else self._unwritten
        now = {name: entry for name, entry in before.items() if name in folders}
        deadline = time.monotonic() + LISTING_SECONDS
        unsettled, others = _in_turn(looked.folders, now, after)
        for names in (unsettled, others):
            for place, name in enumerate(names):
                if place and time.monotonic() > deadline:
                    break  # one of each is looked at, however long it takes
                self._look_at(name, looked, now)
                looked.next_name = name if names is others else looked.next_name
        self._hash(looked, now)
        looked.waiting += self._misnamed()
        if now != before or self._unwritten is not None:
            self._unwritten = None if write_watched(self._file, now) else now
        return looked

    def _look_at(self, name: str, looked: Looked, now: dict[str, Watched]) -> None:
        try:
            listing = list_folder(looked.folders[name])
        except OSError as error:
            looked.waiting.append(f"{name}: cannot be listed ({error.strerror or error})")
            return  # what is remembered of it is compared with once it answers again
        now[name] = look(now.get(name), listing, self._clock(), self._quiet_seconds)
        if listing.unfinished and not now[name].settled:
            looked.waiting.append(f"{name}: {listing.unfinished} is still being written, by its name")

    def _hash(self, looked: Looked, now: dict[str, Watched]) -> None:
        deadline = time.monotonic() + HASHING_SECONDS
        # What a disk does not give may take long to fail: it comes last, and keeps no other folder waiting.
        for name, folder in sorted(looked.folders.items(), key=lambda item: item[0] in self._without_unread):
            entry = now.get(name)
            if entry is None or not entry.settled:
                if entry is not None and not self._is_empty(folder):
                    looked.waiting.append(
                        f"{name}: new here or changed; looked into once it has lain still for {self._quiet_seconds:g} s"
                    )
                continue
            if entry.content is None:
                entry = replace(entry, content=self._content(name, folder, entry, looked, deadline))
                if name not in self._hashing:
                    now[name] = entry
            if entry.content:
                looked.contents[name] = entry.content
            elif entry.content is not None:
                looked.waiting.append(f"{name}: nothing in it yet that could be read")

    def _content(self, name: str, folder: Path, entry: Watched, looked: Looked, deadline: float) -> str | None:
        """The folder's content; "" where there is nothing in it to be read yet; None where it is not known now."""
        if self._is_empty(folder):
            self._hashing.pop(name, None)
            self._without_unread.pop(name, None)
            return ""
        if name not in self._hashing:
            self._hashing[name] = self._known(name)
        known = self._hashing[name]
        content: str | None
        try:
            if self._chain.dimension == "contest":
                content = contest_content(folder, known, deadline)
            else:
                content = set_content(folder, known, deadline)
            # Whoever wrote meanwhile has changed the listing; what was hashed may be neither of the two states.
            if list_folder(folder).digest != entry.listing:
                looked.waiting.append(f"{name}: changed while it was hashed")
                content = None
        except OutOfTimeError:
            looked.waiting.append(f"{name}: {len(known):,} files hashed so far; goes on with the next look")
            listing, content = self._without_unread.get(name, ("", ""))
            return content if listing == entry.listing else None
        except OSError as error:
            looked.waiting.append(f"{name}: cannot be read now ({error.strerror or error})")
            content = None
        unread = _taken_out(known)
        self._without_unread.pop(name, None)
        if content is not None and not unread:
            del self._hashing[name]
        elif content is not None:
            self._without_unread[name] = (entry.listing, content)
            more = f" and {len(unread) - 1:,} more" if len(unread) > 1 else ""
            looked.waiting.append(f"{name}: {unread[0]}{more} cannot be read now; it is read again once it can be")
        return content

    def _known(self, name: str) -> Known:
        if self._chain.dimension != "contest":
            return {}
        return known_files(cache_file(self._workspace.out_dir, name))

    def _is_empty(self, folder: Path) -> bool:
        """Whether there is nothing in it yet to be read; of a folder that goes away meanwhile, hashing tells."""
        try:
            return self._holds_nothing(folder)
        except OSError:
            return False

    def _holds_nothing(self, folder: Path) -> bool:
        if self._chain.dimension == "contest":
            return not any(isinstance(found, ListedFile) for found in list_files(folder, "submissions"))
        beside = files_of_judges(self._workspace) | {"preference.yaml", "README.txt"}
        for file in folder.rglob("*"):
            path = file.relative_to(folder)
            hidden = any(part.startswith(".") for part in path.parts)
            if not hidden and path.as_posix() not in beside and file.is_file():
                return False
        return True

    def _folders(self) -> Mapping[str, Path]:
        is_contest = self._chain.dimension == "contest"
        return contest_folders(self._workspace) if is_contest else preference_folders(self._workspace)

    def _misnamed(self) -> list[str]:
        """Folders that cannot be partitions; files and hidden ones are nobody's contest."""
        root = self._workspace.data_dir / ("contests" if self._chain.dimension == "contest" else "preference")
        if not root.is_dir():
            return []
        names = sorted(place.name for place in root.iterdir() if not SLUG.fullmatch(place.name) and is_folder(place))
        return [
            f"{name!r} cannot be a partition key: rename the folder to lower-case letters, digits, '-', '_' and '.'"
            for name in names
            if not name.startswith(".")
        ]


def _taken_out(known: Known) -> list[str]:
    """Take out the files that a disk or network did not give, so that the next look tries them again; their paths.

    What was hashed before and after them stays: where each takes seconds to fail, no look would come to the others.
    """
    unread = sorted(path for path, (stamp, _) in known.items() if stamp == NEVER)
    for path in unread:
        del known[path]
    return unread


def _in_turn(folders: Mapping[str, Path], now: Mapping[str, Watched], after: str) -> tuple[list[str], list[str]]:
    """Folders that are not settled, and the others from where the last look left off."""
    unsettled = [name for name in folders if (entry := now.get(name)) is not None and not entry.settled]
    others = set(folders) - set(unsettled)
    rest = [name for name in folders if name in others]
    return unsettled, [*(name for name in rest if name > after), *(name for name in rest if name <= after)]
