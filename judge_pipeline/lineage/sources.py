"""The stored tables that rules look at, each read once, and what is made of them once for many figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.cocreation.judged_attempts import JudgedAttempts
    from judge_pipeline.table_schema import Table

Made = TypeVar("Made")

CONTEST, PREFERENCE_SET, OVER_ALL = "contest", "preference_set", "all"
"""What a table is of."""


class MissingTableError(LookupError):
    """A table that a figure rests on is not there, or cannot be read; the message says which, and the remedy."""


@dataclass(frozen=True)
class Options:
    """Settings that decide which rows a figure counts.

    Attributes:
        seed: of the contest's or the set's settings.
        model_levels: ``revision.model_levels`` of a contest.
        scoring_rule: of a preference set.
        panel: the judges of preference sets that are pooled and ranked.
        agreement_pairs: ``rubric.agreement_pairs`` of a preference set.
        natural_languages: how exactly a preference set's languages are told: high or low.
    """

    seed: int = 0
    model_levels: int = 0
    scoring_rule: str = "trace"
    panel: tuple[str, ...] = ()
    agreement_pairs: int = 0
    natural_languages: Literal["high", "low"] = "high"


class Sources:
    """The tables of one contest, of one preference set, or over all of them.

    Args:
        kind: contest, preference_set or all.
        name: of the contest or the set; "" over all.
        read: gives a table of it, or of one of its judges; raises ``MissingTableError``.
        parts: the judges of which a table is there.
        options: settings that count.
        others: for what is over all: the sources of every contest and set, by kind and name.
        answers: gives every answer that is kept (``judging.versions.stored_versions``).
    """

    def __init__(
        self,
        kind: str,
        name: str,
        read: Callable[..., pd.DataFrame],
        parts: Callable[[Table], Sequence[str]],
        options: Options,
        others: Mapping[tuple[str, str], Sources] | None = None,
        answers: Callable[[], pd.DataFrame] | None = None,
    ) -> None:
        self.kind, self.name, self.options = kind, name, options
        self.others = dict(others or {})
        self._read, self._parts, self._answers = read, parts, answers
        self._made: dict[Any, Any] = {}

    def __getitem__(self, table: Table) -> pd.DataFrame:
        return self.once(("table", table.name), lambda: self._read(table))

    def of_judge(self, table: Table, judge: str) -> pd.DataFrame:
        """The table of one of its judges."""
        return self.once(("table", table.name, judge), lambda: self._read(table, judge))

    def judges_with(self, table: Table) -> list[str]:
        """The judges (or judge@configuration) that the table is there of."""
        return list(self._parts(table))

    def answers(self) -> pd.DataFrame:
        """Every answer that the checkpoint keeps."""
        if self._answers is None:
            raise MissingTableError("answers are not at hand here")
        return self.once("answers", self._answers)

    def once(self, key: Any, make: Callable[[], Made]) -> Made:
        """What ``make`` gives, made the first time that the key is asked for; so figures share what they rest on."""
        if key not in self._made:
            self._made[key] = make()
        found: Made = self._made[key]
        return found

    @property
    def judged(self) -> JudgedAttempts:
        """The predictions as the arrays that figures are computed from."""
        from judge_pipeline.cocreation.judged_attempts import JudgedAttempts
        from judge_pipeline.tables import PREDICTIONS

        return self.once("judged", lambda: JudgedAttempts.of(self[PREDICTIONS]))

    def of_kind(self, kind: str) -> dict[str, Sources]:
        """The contests, or the preference sets, that there are: for what is over all of them."""
        return {name: found for (of, name), found in sorted(self.others.items()) if of == kind}
