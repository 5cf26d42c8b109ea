"""What a figure rests on: the rows behind its n, those left out and why, and what it was fitted or chosen on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

COUNTS, WHY = "counts", "why"
"""Columns of rows: how often a row counts in n (1 where it is not there), and why it was left out."""

COUNTED, ALSO, LEFT_OUT = "counted", "rests on it too", "left out"
"""What a row or file is to a figure: in its n; what it was fitted, chosen or compared on; offered and not used."""

ROLES = (COUNTED, ALSO, LEFT_OUT)

NO_LABEL = "no label: not judged yet, or not understood"


@dataclass(frozen=True, eq=False)
class Further:
    """Rows that a figure rests on beside those that it counts.

    Attributes:
        words: what they are to it.
        rows: the rows; their columns identify them.
    """

    words: str
    rows: pd.DataFrame


@dataclass(frozen=True, eq=False)
class Basis:
    """The rows behind one figure, or behind several that rest on the same; compared by identity.

    Attributes:
        unit: what n counts, in the plural.
        used: the rows in n; their columns identify them (attempt_id, participant and problem_id, pair_id, ...), and
            ``counts`` says how often a row counts where that is not once.
        left_out: the rows that were offered and are not in n, with ``why``.
        also: what else it rests on.
        judges: the judges whose answers it rests on.
        reads_prompts: whether it depends on what participants asked: on their prompts, or on answers of judges who
            were shown them.
        unlisted: why rows cannot be listed, where they cannot; then there are none.
        answered_too: further judges who had to answer for a row to count; what they said does not matter.
    """

    unit: str
    used: pd.DataFrame
    left_out: pd.DataFrame
    also: tuple[Further, ...] = ()
    judges: tuple[str, ...] = ()
    reads_prompts: bool = False
    unlisted: str | None = None
    answered_too: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """How often the rows listed count in n."""
        return counted(self.used)

    @property
    def n_left_out(self) -> int:
        """The same of the rows that were left out."""
        return counted(self.left_out)

    def parts(self) -> list[tuple[str, str, pd.DataFrame]]:
        """Role, words and rows of all that it rests on, in the order of ``ROLES``."""
        also = [(ALSO, further.words, further.rows) for further in self.also]
        return [(COUNTED, self.unit, self.used), *also, (LEFT_OUT, self.unit, self.left_out)]


@dataclass(frozen=True)
class Reconciled:
    """A figure's counts held against the rows that are listed.

    Attributes:
        n: as the table has it.
        n_listed: by the rows.
        n_left_out: as the table has it; None where it has none.
        n_left_out_listed: by the rows.
        problem: what does not add up, in words; None where all does.
    """

    n: int
    n_listed: int
    n_left_out: int | None
    n_left_out_listed: int
    problem: str | None = field(default=None)


def counted(rows: pd.DataFrame) -> int:
    """How often rows count in n."""
    return int(rows[COUNTS].sum()) if COUNTS in rows.columns else len(rows)


def reconcile(basis: Basis, n: int, n_left_out: int | None) -> Reconciled:
    """Hold a figure's n, and how many were left out of it, against the rows that are listed."""
    said = []
    if basis.unlisted is None and n != basis.n:
        said.append(f"the table counts {n:,} {basis.unit}, and {basis.n:,} are listed")
    if basis.unlisted is None and n_left_out is not None and n_left_out != basis.n_left_out:
        said.append(
            f"the table leaves out {n_left_out:,} {basis.unit}, and {basis.n_left_out:,} are listed as left out"
        )
    problem = None
    if said:
        remedy = "what is stored now is not what it was computed from; make the report again"
        problem = f"{'; '.join(said)}: {remedy}"
    return Reconciled(n, basis.n, n_left_out, basis.n_left_out, problem)


def rows_of(columns: Sequence[str], rows: Sequence[Sequence[Any]] = ()) -> pd.DataFrame:
    """Rows with these columns; none where none is given."""
    import pandas as pd

    return pd.DataFrame(list(rows), columns=list(columns), dtype="object")


def without(rows: pd.DataFrame, why: str | Sequence[str]) -> pd.DataFrame:
    """Rows with the reason, or one for each, why they are left out."""
    return rows.assign(**{WHY: why}).reset_index(drop=True)


def unlisted(unit: str, why: str) -> Basis:
    """A basis whose rows cannot be listed."""
    return Basis(unit, rows_of([]), rows_of([WHY]), unlisted=why)
