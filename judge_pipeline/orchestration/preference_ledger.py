"""The splits ledger of a preference set: which split each instruction was once given, so that none ever moves."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from judge_pipeline.orchestration.whole_files import write_whole
from judge_pipeline.tables import PREFERENCE_SPLITS_LEDGER

if TYPE_CHECKING:
    import pandas as pd


class PreferenceLedger:
    """One set's ledger, a CSV that people can read, at ``<out>/ledgers/<set>/preference_splits_ledger.csv``."""

    def __init__(self, out_dir: Path, preference_set: str) -> None:
        self.path = out_dir / "ledgers" / preference_set / "preference_splits_ledger.csv"

    def read(self) -> pd.DataFrame | None:
        """Table PREFERENCE_SPLITS_LEDGER; None where the set was never split.

        Raises:
            ValueError: the file is damaged; the message says what to do.
        """
        import pandas as pd

        if not self.path.is_file():
            return None
        try:
            return PREFERENCE_SPLITS_LEDGER.conform(pd.read_csv(self.path, dtype=str, keep_default_na=False))
        except ValueError as error:
            raise ValueError(
                f"{self.path} is damaged ({error}). Restore it from a backup, or delete it to split the set anew"
            ) from None

    def write(self, ledger: pd.DataFrame) -> None:
        """Replace the ledger, whole or not at all."""
        conformed = PREFERENCE_SPLITS_LEDGER.conform(ledger)
        write_whole(self.path, conformed.to_csv(index=False, lineterminator="\n").encode())

    def sha256(self) -> str:
        """The sha256 of the ledger's bytes."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()
