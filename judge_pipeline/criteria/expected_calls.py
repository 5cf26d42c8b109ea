"""How many calls the stages of a configuration may take, before it is known: for a dry run.

What depends on answers is taken from the paper's own counts over 3,785 pairs (CriterAlign, Tables 6 and 7): about
twenty criteria a pair, of which about 4.4 in all come out a tie and are refined, in 1.05 rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge_pipeline.tables.criteria import STAGES

if TYPE_CHECKING:
    from judge_pipeline.settings.criteria import Configuration

_PAIRS = 3785

CRITERIA_A_PAIR = 75_177 / _PAIRS
"""The pool before SCF, one verdict a criterion (Table 6): of so many, the 16,795 ties of Table 7 are about its 24%."""

_BATCHED = {"decomposition": 3963 / _PAIRS, "redundancy": 3953 / _PAIRS, "conflict": 2992 / _PAIRS}
_PLAIN = {"decomposition": 16_795 / _PAIRS, "redundancy": 62_218 / _PAIRS, "conflict": 17_558 / _PAIRS}


@dataclass(frozen=True)
class Expected:
    """Calls that are expected.

    Attributes:
        of_stage: stage -> calls, over all pairs.
        criteria: criteria a pair that they rest on.
        measured: whether these were counted in stored answers, or are taken from the paper.
    """

    of_stage: Mapping[str, float]
    criteria: float
    measured: bool

    @property
    def n_calls(self) -> int:
        """All of them, rounded."""
        return round(sum(self.of_stage.values()))

    def in_words(self) -> str:
        """What is expected after the stage that is counted, to follow it in a sentence."""
        if not self.of_stage:
            return "; nothing comes after it"
        whence = "as in stored answers" if self.measured else "a guess, from the paper's counts"
        parts = ", ".join(f"{name} {round(n):,}" for name, n in self.of_stage.items())
        return (
            f"; later stages depend on answers and are estimated for {self.criteria:.0f} criteria a pair ({whence}), "
            f"each call as long as those that are counted: {parts}"
        )


def expected_calls(configuration: Configuration, n_pairs: int, after: str, criteria: float | None = None) -> Expected:
    """Calls of the stages that come after one.

    Args:
        configuration: which stages there are.
        n_pairs: pairs to judge.
        after: the last stage that is known (``tables.criteria.STAGES``).
        criteria: generated criteria a pair, where they are known; else the paper's, at most ``max_criteria``.
    """
    each = min(criteria or CRITERIA_A_PAIR, float(configuration.max_criteria))
    known = STAGES.index(after)
    calls = {name: n * n_pairs for name, n in _a_pair(configuration, each).items() if STAGES.index(name) > known}
    return Expected(calls, each, criteria is not None)


def _a_pair(configuration: Configuration, criteria: float) -> dict[str, float]:
    """Stage -> calls a pair."""
    if configuration.is_monolithic:
        return {"monolithic": 1.0}
    pairwise = configuration.criterion_judge == "pairwise"
    a_call = criteria if configuration.criteria_per_call == "one" else 1.0
    each = (2.0 if configuration.swap_filter else 1.0) if pairwise else 2.0
    calls = {"generation": 1.0}
    if configuration.improve:
        calls["improvement"] = 1.0
    calls["pairwise_verdicts" if pairwise else "pointwise_answers"] = each * a_call
    if configuration.refinement != "none" and configuration.rounds:
        batched = configuration.refinement == "btcr"
        calls |= _BATCHED if batched else {name: n * criteria / CRITERIA_A_PAIR for name, n in _PLAIN.items()}
        one_by_one = configuration.criteria_per_call == "one"
        calls["child_verdicts" if pairwise else "child_answers"] = each * (_PLAIN["conflict"] if one_by_one else 1.0)
    if configuration.aggregator == "llm_weights":
        calls["weights"] = 1.0
    if configuration.aggregator == "judge":
        calls["final"] = 1.0
    return calls
