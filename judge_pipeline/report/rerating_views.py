"""The table of people beside judges in the report."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from judge_pipeline.figures.estimates import read_estimate, text
from judge_pipeline.report.inputs import JudgeKind
from judge_pipeline.report.view import Cell, Heading, View
from judge_pipeline.tables import RERATING_AGREEMENT
from judge_pipeline.tables.metric_words import rerating_label

_FIGURES = (
    ("raw_agreement", "decision"), ("cohen", "decision"), ("gwet_ac1", "decision"), ("roc_auc", "p_ac"),
    ("cohen_quadratic", "s_algo"), ("cohen_quadratic", "s_robust"),
)  # fmt: skip
"""What the page shows; the stored table has the rest."""


def reratings(agreement: pd.DataFrame | None, kinds: Mapping[str, JudgeKind]) -> View:
    """Each person with each judge, with the verdict, and with each other person."""
    view = View(
        "reratings",
        "People who judged attempts again, without knowing verdict or judges: agreement, 95% interval, n",
        (
            Heading("Person"),
            Heading("With"),
            *(Heading(rerating_label(*figure), numeric=True) for figure in _FIGURES),
        ),
        empty="Nobody judged attempts again: judge-pipeline rerate make CONTEST writes a sheet for it.",
        table="rerating_agreement",
        foldable=True,
    )
    given = RERATING_AGREEMENT.empty() if agreement is None else agreement
    for (rater, against, other), rows in given.groupby(["rater", "against", "other"], sort=False, dropna=False):
        name = text(other)
        found = {(row["statistic"], row["rated"]): read_estimate(row) for row in rows.to_dict("records")}
        kind = kinds.get(name) if against == "judge" and name is not None else None
        view.rows.append(
            [
                Cell(str(rater)),
                Cell("the verdict" if name is None else name, tags=kind.tags if kind is not None else ()),
                *(view.estimate(found[f]) if f in found else Cell("–", numeric=True) for f in _FIGURES),
            ]
        )
    return view
