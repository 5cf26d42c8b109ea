"""Who withdrew from a contest, so that later runs keep them out: ``<out>/tombstones/<contest>.json``.

What was withdrawn from a preference set stands in ``<out>/tombstones/preference/<set>.json``.

A tombstone holds a keyed hash of the participant's id, a date and counts, and no name. The key lies beside it in
``<out>/tombstones/key``, readable by its owner alone, in an object store by whoever may read the bucket. Without it a
tombstone can be matched with nobody, so it must be kept as long as the tombstones are.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from judge_pipeline.ingest.redaction import keyed_hash
from judge_pipeline.orchestration.whole_files import write_new, write_whole
from judge_pipeline.settings.yaml_file import SettingsError


@dataclass(frozen=True, slots=True)
class Tombstone:
    """One withdrawal.

    Attributes:
        participant: keyed hash of the participant's id.
        withdrawn_on: the date, as ISO 8601.
        complete: whether everything was removed; False while the removal goes on, or where it was cut off.
        counts: what was removed: table, store or folder -> rows or files.
    """

    participant: str
    withdrawn_on: str
    complete: bool
    counts: Mapping[str, int]


def pair_name(pair_id: str) -> str:
    """What a pair is called where tombstones name participants."""
    return f"pair {pair_id}"


def annotator_name(annotator: str) -> str:
    """What an annotator is called there."""
    return f"annotator {annotator}"


class Tombstones:
    """The tombstones of one contest, or preference set."""

    def __init__(self, store_dir: Path, contest: str) -> None:
        self.path = store_dir / "tombstones" / f"{contest}.json"
        self._key_file = store_dir / "tombstones" / "key"
        self._kind, self._name = "contest", contest

    @classmethod
    def of_preference_set(cls, store_dir: Path, preference_set: str) -> Tombstones:
        """Those of a preference set; ``pair_name`` and ``annotator_name`` say what stands in a participant's place."""
        stones = cls(store_dir, preference_set)
        stones.path = store_dir / "tombstones" / "preference" / f"{preference_set}.json"
        stones._kind = "preference_set"
        return stones

    def read(self) -> list[Tombstone]:
        """All of them; none where nobody withdrew.

        Raises:
            SettingsError: the file is damaged, or the key that it was made with is not there: nobody could be kept out.
        """
        if not self.path.is_file():
            return []
        try:
            data = json.loads(self.path.read_text(encoding="utf-8"))
            found = [Tombstone(**entry) for entry in data["withdrawn"]]
            key_sha256 = str(data["key_sha256"])
        except (ValueError, TypeError, KeyError) as error:
            raise SettingsError(
                f"{self.path} is damaged ({error}); restore it from a backup: it keeps out who has withdrawn"
            ) from None
        if not self._key_file.is_file() or _sha256(self._key()) != key_sha256:
            raise SettingsError(
                f"{self.path} was made with a key that is not in {self._key_file}; restore that file from a backup, "
                "since without it those who have withdrawn cannot be kept out"
            )
        return found

    def write(self, tombstone: Tombstone) -> None:
        """Add it, or replace the one of the same participant."""
        others = [t for t in self.read() if t.participant != tombstone.participant]
        entries = sorted((asdict(t) for t in [*others, tombstone]), key=lambda e: str(e["participant"]))
        data = {self._kind: self._name, "key_sha256": _sha256(self._key()), "withdrawn": entries}
        write_whole(self.path, (json.dumps(data, indent=1, sort_keys=True) + "\n").encode())

    def hash_of(self, participant: str) -> str:
        """The keyed hash under which a participant stands, or would stand."""
        return keyed_hash(self._key(), self._name, participant)

    def is_one_of(self, participant: str, hashes: Collection[str]) -> bool:
        """Whether a participant is one of those who stand under the hashes, in whatever form an accent is written.

        One system writes a letter with its accent as one sign, another as two: who has withdrawn under the one must not
        come back under the other.
        """
        forms = {participant, *(unicodedata.normalize(form, participant) for form in ("NFC", "NFD"))}
        return any(self.hash_of(form) in hashes for form in forms)

    def of(self, participant: str) -> Tombstone | None:
        """The participant's tombstone, if they withdrew."""
        wanted = self.hash_of(participant) if self.path.is_file() else None
        return next((t for t in self.read() if t.participant == wanted), None)

    def _key(self) -> bytes:
        if not self._key_file.is_file():
            write_new(self._key_file, secrets.token_hex(32).encode() + b"\n")
        return self._key_file.read_bytes().strip()


def _sha256(key: bytes) -> str:
    return hashlib.sha256(b"tombstones:" + key).hexdigest()
