"""The splits ledger: which split each trajectory or instruction was once given, so that none ever moves."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import TYPE_CHECKING

from judge_pipeline.orchestration.whole_files import write_whole
from judge_pipeline.tables import PREFERENCE_SPLITS_LEDGER, SPLITS_LEDGER

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.table_schema import Table


_DECIDED = "assigned_by"


class SplitsLedger:
    """The ledger of one contest or preference set, a CSV that people can read, below ``<store>/ledgers/<name>/``.

    Its file is called like its table: ``splits_ledger.csv``, or ``preference_splits_ledger.csv`` of a set.
    """

    def __init__(self, store_dir: Path, name: str, table: Table) -> None:
        self.path = store_dir / "ledgers" / name / f"{table.name}.csv"
        self._table = table

    @classmethod
    def of_contest(cls, store_dir: Path, contest: str) -> SplitsLedger:
        """A contest's: participant, problem_id, split, assigned_by."""
        return cls(store_dir, contest, SPLITS_LEDGER)

    @classmethod
    def of_preference_set(cls, store_dir: Path, preference_set: str) -> SplitsLedger:
        """A preference set's: a split for each instruction."""
        return cls(store_dir, preference_set, PREFERENCE_SPLITS_LEDGER)

    def read(self) -> pd.DataFrame | None:
        """The ledger as its table; None where nothing was ever split.

        One without the column ``assigned_by``, of an earlier version or a person, is the one that decided: ``ledger``.
        So is a row that says nothing there, which a person has added.

        Raises:
            ValueError: the file is damaged; the message says what to do.
        """
        import pandas as pd

        if not self.path.is_file():
            return None
        try:
            rows = pd.read_csv(io.BytesIO(self.path.read_bytes()), dtype=str, keep_default_na=False)
            said = rows[_DECIDED].fillna("").replace("", "ledger") if _DECIDED in rows else "ledger"
            return self._table.conform(rows.assign(**{_DECIDED: said}))
        except ValueError as error:
            raise ValueError(
                f"{self.path} is damaged ({error}). Restore it from a backup, or delete it to split anew"
            ) from None

    def write(self, ledger: pd.DataFrame) -> None:
        """Replace the ledger, whole or not at all."""
        write_whole(self.path, self._table.conform(ledger).to_csv(index=False, lineterminator="\n").encode())

    def sha256(self) -> str:
        """The sha256 of the ledger's bytes."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()
