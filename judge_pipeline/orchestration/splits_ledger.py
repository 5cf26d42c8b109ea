"""The splits ledger: which split each trajectory of a contest was once given, so that none ever moves."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from judge_pipeline.orchestration.whole_files import write_whole

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ["participant", "problem_id", "split"]


class SplitsLedger:
    """One contest's ledger, a CSV that people can read, at ``<out>/ledgers/<contest>/splits_ledger.csv``."""

    def __init__(self, out_dir: Path, contest: str) -> None:
        self.path = out_dir / "ledgers" / contest / "splits_ledger.csv"

    def read(self) -> pd.DataFrame | None:
        """participant, problem_id, split; None where the contest was never split.

        Raises:
            ValueError: the file is damaged; the message says what to do.
        """
        import pandas as pd

        if not self.path.is_file():
            return None
        ledger = pd.read_csv(self.path, dtype=str, keep_default_na=False)
        wrong = list(ledger.columns) != _COLUMNS or not ledger["split"].isin(("train", "val", "test")).all()
        if wrong or ledger.duplicated(_COLUMNS[:2]).any():
            raise ValueError(
                f"{self.path} is damaged: it must hold {', '.join(_COLUMNS)}, each trajectory once, splits train, val "
                f"or test. Restore it from a backup, or delete it to split the contest anew"
            )
        return ledger

    def write(self, ledger: pd.DataFrame) -> None:
        """Replace the ledger, whole or not at all."""
        write_whole(self.path, ledger[_COLUMNS].to_csv(index=False, lineterminator="\n").encode())

    def sha256(self) -> str:
        """The sha256 of the ledger's bytes."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()
