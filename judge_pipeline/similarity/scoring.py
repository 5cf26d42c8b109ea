"""The terms of CodeBLEU of a list of pairs, in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judge_pipeline.similarity.codebleu_terms import terms
from judge_pipeline.similarity.program import ProgramCache


class PairToScore(NamedTuple):
    """Two programs that differ, each with at least one token."""

    reference: str
    candidate: str
    grammar: str
    """A value of ``languages.GRAMMARS``."""


def scores_of(pairs: Sequence[PairToScore], programs: ProgramCache) -> NDArray[np.float64]:
    """The terms of each pair, shape (n, 3), in the order of ``Terms``."""
    scores = np.empty((len(pairs), 3))
    for i, (reference, candidate, grammar) in enumerate(pairs):
        scores[i] = terms(programs.read(reference, grammar), programs.read(candidate, grammar))
    return scores
