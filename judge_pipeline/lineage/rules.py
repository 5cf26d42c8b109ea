"""Which rule says what a row of which table of figures rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from judge_pipeline.lineage import (
    of_criteria,
    of_judges,
    of_overview,
    of_pairs,
    of_questions,
    of_revisions,
    of_rubric,
    of_trajectories,
    over_all,
)
from judge_pipeline.lineage.basis import Basis, unlisted
from judge_pipeline.lineage.sources import MissingTableError, Sources

Rule = Callable[[Sources, Mapping[str, Any]], Basis]

RULES: Mapping[str, Rule] = {
    **of_judges.RULES,
    **of_trajectories.RULES,
    **of_revisions.RULES,
    **of_overview.RULES,
    **of_questions.RULES,
    **of_pairs.RULES,
    **of_rubric.RULES,
    **of_criteria.RULES,
    **over_all.RULES,
}
"""Table of figures -> the rule of its rows."""

_CHANGED = "what is stored now is not what it was computed from; make the report again"


def basis_of(sources: Sources, table: str, row: Mapping[str, Any]) -> Basis:
    """What a row of a table of figures rests on.

    Where a table that it rests on is gone, or does not hold what the row names any more, no rows are listed, and
    ``unlisted`` says why.

    Args:
        sources: the stored tables of the row's contest or set, or over all.
        table: the table's name.
        row: the row, missing values as None.
    """
    try:
        return RULES[table](sources, row)
    except MissingTableError as error:
        return unlisted("rows", str(error))
    except (LookupError, ValueError) as error:
        return unlisted("rows", f"{_CHANGED} ({error})")
