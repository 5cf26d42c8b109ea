"""What the stages of a configuration need of the outside: somebody who answers rows, and the pairs.

A stage is a pure function: it makes rows, has them answered, and makes a table of the answers. Who answers is the
engine (``judging.row_asking``) in a run, and a script in a test. All pairs go through a stage together, so that their
calls are under way at once, and a stage whose rows are those of another configuration finds its answers stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import pandas as pd

from judge_pipeline.judging.question import Question


class Ask(Protocol):
    """Answers every row of what a stage asks."""

    def __call__(self, stage: str, question: Question, rows: pd.DataFrame) -> pd.DataFrame:
        """The answers.

        Args:
            stage: one of ``tables.criteria.STAGES``: what the calls are counted under.
            question: what is asked of each row.
            rows: what is asked about; one column is the question's ``id_column``, each id once.

        Returns:
            Columns ``judging.answers_table.ANSWER_COLUMNS``, a row for each row asked, in the same order. Where there
            is no valid answer, ``answer`` is None and ``failure_class`` says why.

        Raises:
            JudgingError: answers are missing that the provider failed to bring, and nothing can go on before they are
                there.
        """


@dataclass(frozen=True)
class PairsToJudge:
    """The pairs that a configuration judges.

    Attributes:
        rows: as ``preference.pair_question.pair_rows`` makes them: every pair in both presentation orders.
        guidance: guided stage -> pair_id -> the guidance that the stage is given for the pair; no entry: none.
    """

    rows: pd.DataFrame
    guidance: Mapping[str, Mapping[str, str]]

    def in_order(self, order: str) -> pd.DataFrame:
        """The rows of one presentation order, a row a pair, index 0..n-1."""
        return self.rows[self.rows["presentation_order"] == order].reset_index(drop=True)
