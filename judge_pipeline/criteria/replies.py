"""The answers to what a stage asks, by request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.criteria.asking import Ask
    from judge_pipeline.judging.question import Question


@dataclass(frozen=True)
class Reply:
    """What came of one request.

    Attributes:
        answer: the answer's fields; None where it stayed invalid.
        failure_class: class of the invalid answer; None where it is valid.
        failure: what is wrong with it.
        request_hash: identity of the call.
    """

    answer: Mapping[str, Any] | None
    failure_class: str | None
    failure: str | None
    request_hash: str | None

    @property
    def columns(self) -> dict[str, Any]:
        """The columns failure_class, failure and request_hash of tables of criteria."""
        return {"failure_class": self.failure_class, "failure": self.failure, "request_hash": self.request_hash}


def replies(ask: Ask, stage: str, question: Question, rows: pd.DataFrame) -> dict[str, Reply]:
    """Ask a question's rows, and give what came of each by its id; without rows, nobody is asked.

    Args:
        ask: who answers.
        stage: what the calls are counted under (``tables.criteria.STAGES``).
        question: what is asked.
        rows: what is asked about.

    Returns:
        id -> reply, in the order of the rows.

    Raises:
        ValueError: a row came back without an answer and without a reason: it was not asked at all, and no stage can go
            on from there.
    """
    if rows.empty:
        return {}
    answered = ask(stage, question, rows)
    found = {
        row["id"]: Reply(
            _known(row["answer"]), _known(row["failure_class"]), _known(row["failure"]), row["request_hash"]
        )
        for row in answered[["id", "answer", "failure_class", "failure", "request_hash"]].to_dict("records")
    }
    asked = rows[question.id_column].tolist()
    open_ = [id_ for id_ in asked if id_ not in found or (found[id_].answer, found[id_].failure_class) == (None, None)]
    if open_:
        raise ValueError(
            f"stage {stage}: {len(open_)} of {len(asked)} requests have neither an answer nor a failure, such as "
            f"{open_[0]}. Remedy: ask about fewer pairs, not about a part of their requests"
        )
    return {id_: found[id_] for id_ in asked}


def _known(value: Any) -> Any:
    """None in place of a missing value in any of pandas' spellings."""
    return value if isinstance(value, str | Mapping) else None
