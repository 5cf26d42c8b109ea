"""The questions of paper 1 (RQ1-RQ3, EQ1-EQ3), answered with one contest's numbers.

A sentence holds no number that no table holds, and says that something is higher, better or told apart only where its
95% interval, or corrected p-value, bears it out. What is missing is said with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judge_pipeline.report import questions_judges, questions_people, questions_revision
from judge_pipeline.report.cautions import Statement
from judge_pipeline.report.inputs import CocreationReportInput
from judge_pipeline.report.view import Cell, Heading, View


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its answers.

    Attributes:
        key: what paper 1 calls it.
        asks: the question in a sentence.
        answers: each with the place of its evidence.
    """

    key: str
    asks: str
    answers: tuple[Statement, ...]


def research_questions(given: CocreationReportInput) -> list[Question]:
    """The six questions and what these tables answer.

    Args:
        given: the tables of the contest, judges under their plain names; sentences call them by their labels.
    """
    asked = (
        ("RQ1", "How do people progress over attempts; what marks struggle and success?", questions_people.progress),
        ("EQ1", "Do attempts carry an analysis of trajectories, beyond the final attempt?", questions_people.validity),
        ("RQ2", "How do revisions go with progress; do rewrites gain more than fixes?", questions_revision.progress),
        ("EQ2", "Can the size of a revision be measured comparably, and does it go with confidence?",
         questions_revision.validity),
        ("RQ3", "Are judges' assessments auditable, comparable, and stable across judges?", questions_judges.stability),
        ("EQ3", "Do judges discriminate, decide, stay calibrated and agree on test?", questions_judges.quality),
    )  # fmt: skip
    return [Question(key, asks, tuple(answer(given.labelled))) for key, asks, answer in asked]


def questions_view(questions: Sequence[Question]) -> View:
    """The same as a table, for the files of a report."""
    view = View(
        "research-questions",
        "Research questions (paper 1) and what this contest answers",
        (Heading("Question"), Heading("Asks"), Heading("Answer"), Heading("Numbers")),
    )
    view.rows = [
        [Cell(question.key), Cell(question.asks), Cell(statement.lead), Cell(statement.text)]
        for question in questions
        for statement in question.answers
    ]
    return view
