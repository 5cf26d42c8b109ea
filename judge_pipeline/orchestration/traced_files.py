"""Files of a contest or a set as they are now, held against what they were when they were read.

The hashes of reading are those of the reading cache. Whether they are those that the tables were made from, the
fingerprint of the folder says, which tables of figures keep: where it follows from the hashes, they are.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from judge_pipeline.ingest.contest_folder import fingerprint_of, unread_sha256
from judge_pipeline.ingest.reading_cache import cache_file
from judge_pipeline.lineage.artifacts import WITHHELD
from judge_pipeline.orchestration.traced_sources import TracedWorkspace
from judge_pipeline.table_schema import Table, TableError
from judge_pipeline.tables import DATASET_PROFILE, INGEST_QUARANTINE, JUDGE_METRICS

SAME, CHANGED, GONE, UNKNOWN = "same", "changed", "gone", "not known"

_CONTEST = "contest"
_IN_BLOCKS = 1 << 20


@dataclass(frozen=True, slots=True)
class FileState:
    """One file then and now.

    Attributes:
        kind: contest or preference_set.
        of: the contest or the set.
        path: relative to its folder, with ``/``.
        sha256_read: of its bytes when it was read; None where that was not kept.
        sha256_now: of its bytes now; None where it is gone or cannot be read.
        state: same, changed, gone, withheld (raw files did not go out), or not known where there is no hash of then.
        proven: whether the hashes of reading are known to be those that the stored tables were made from.
    """

    kind: str
    of: str
    path: str
    sha256_read: str | None
    sha256_now: str | None
    state: str
    proven: bool


@dataclass(frozen=True)
class ReadHashes:
    """The sha256 of a folder's files when they were read.

    Attributes:
        by_path: path -> sha256.
        proven: whether the fingerprint that the tables keep follows from them.
        fingerprint: that fingerprint; None where no table keeps one.
    """

    by_path: Mapping[str, str]
    proven: bool
    fingerprint: str | None


class FileStates:
    """The states of files of a workspace; each file is read once."""

    def __init__(self, traced: TracedWorkspace) -> None:
        self._traced = traced
        self._read: dict[tuple[str, str], ReadHashes] = {}
        self._states: dict[tuple[str, str, str], FileState] = {}

    def read_hashes(self, kind: str, name: str) -> ReadHashes:
        """What is known of a folder's files as they were read."""
        key = (kind, name)
        if key not in self._read:
            self._read[key] = self._of_contest(name) if kind == _CONTEST else self._of_set(name)
        return self._read[key]

    def state(self, kind: str, name: str, path: str) -> FileState:
        """A file then and now. Nothing outside the folder is opened."""
        key = (kind, name, path)
        if key not in self._states:
            self._states[key] = self._state(kind, name, path)
        return self._states[key]

    def with_sha256(self, sha256: str) -> list[FileState]:
        """The files that the tables name and whose bytes have the hash, then or now."""
        found = []
        for kind, name in self._traced.everything():
            then = self.read_hashes(kind, name).by_path
            for path in self._traced.files(kind, name).all_paths():
                state = self.state(kind, name, path)
                if sha256 in (then.get(path), state.sha256_now):
                    found.append(state)
        return found

    def _state(self, kind: str, name: str, path: str) -> FileState:
        then = self.read_hashes(kind, name)
        now = sha256_of(self._traced.folder(kind, name), path)
        read = then.by_path.get(path)
        if now is None:
            state = WITHHELD if self._traced.files(kind, name).are_withheld else GONE
        elif read is None:
            state = UNKNOWN
        else:
            state = SAME if read == now else CHANGED
        return FileState(kind, name, path, read, now, state, then.proven and read is not None)

    def _of_contest(self, contest: str) -> ReadHashes:
        kept = _cached_hashes(cache_file(self._traced.workspace.out_dir, contest))
        fingerprint = self._fingerprint(JUDGE_METRICS, contest, "contest folder")
        unread = self._traced.sources(_CONTEST, contest)[INGEST_QUARANTINE]
        whole = unread[unread["place"].isna() & ~unread["path"].isin(kept)]
        aside = {p: unread_sha256(reason) for p, reason in zip(whole["path"], whole["reason"], strict=True)}
        proven = fingerprint is not None and fingerprint_of({**aside, **kept}.items()) == fingerprint
        return ReadHashes(kept, proven, fingerprint)

    def _of_set(self, name: str) -> ReadHashes:
        """No hash of a set's single files is kept: where the fingerprint is as it was, all of them are as they were."""
        from judge_pipeline.orchestration.preference_sets import files_of_judges, set_files
        from judge_pipeline.settings.yaml_file import SettingsError

        fingerprint = self._fingerprint(DATASET_PROFILE, name, "preference folder")
        workspace, folder = self._traced.workspace, self._traced.folder("preference_set", name)
        try:
            given = set_files(folder, workspace.preference(folder), files_of_judges(workspace))
            now = {path: hashlib.sha256(data).hexdigest() for path, data in given}
        except (SettingsError, OSError):
            return ReadHashes({}, False, fingerprint)
        same = fingerprint is not None and hashlib.sha256(json.dumps(now).encode()).hexdigest() == fingerprint
        return ReadHashes(now if same else {}, same, fingerprint)

    def _fingerprint(self, table: Table, name: str, entry: str) -> str | None:
        """The folder's fingerprint that a table of figures says it was made from."""
        store = self._traced.store
        if not store.path(table, name).is_file():
            return None
        try:
            found = ((store.provenance(table, name) or {}).get("data") or {}).get(entry)
        except TableError:  # damaged: what it was made from is not known
            return None
        return None if found in (None, "unknown") else str(found)


def sha256_of(folder: Path, path: str) -> str | None:
    """The sha256 of a file below a folder; None where there is none, or it cannot be read, or lies outside."""
    file = folder / path
    try:
        if not file.resolve().is_relative_to(folder.resolve()) or not file.is_file():
            return None
        digest = hashlib.sha256()
        with file.open("rb") as stream:
            while block := stream.read(_IN_BLOCKS):
                digest.update(block)
    except (OSError, ValueError):
        return None
    return digest.hexdigest()


def _cached_hashes(file: Path) -> dict[str, str]:
    """Path -> sha256 of what the reading cache keeps; nothing where there is none, or it cannot be read."""
    if not file.is_file():
        return {}
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=10)) as database:
            return dict(database.execute("select path, sha256 from readings"))
    except sqlite3.Error:
        return {}
