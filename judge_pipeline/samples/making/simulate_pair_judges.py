"""Draw the choices of four simulated judges of pairs: ``recorded/simulated-pairs-<name>.csv`` in the sample set.

A judge weighs what the responses really are (``pair_measures``). In terms of y_A and y_B, its evidence for y_B is

    x = right * r + fewer_lines * l + explained * e + first * s + pair_noise * u + order_noise * v

with r in {-1, 0, 1}: which of the two is right; l and e: the logarithm of the ratio of their lines (fewer is more) and
of their explaining characters, each held within [-1, 1]; s: -1 where y_A is shown first, 1 where y_B is; u and v are
N(0, 1), u drawn once for the pair and v for each presentation order. It chooses y_B where x > 0; with probability
``invalid`` an answer is none.

=======================  =====  ===========  =========  =====  =======  ==============================================
judge                    right  fewer_lines  explained  first  invalid  what it shows
=======================  =====  ===========  =========  =====  =======  ==============================================
simulated-pairs-sharp      3.0          1.5        0.0    0.0     0.00  weighs what the rule weighs
simulated-pairs-first      2.0          1.0        0.0    1.4     0.00  prefers what is shown first
simulated-pairs-wordy      1.5         -0.5        2.0    0.0     0.00  prefers what is long and explained
simulated-pairs-noisy      0.8          0.3        0.2    0.0     0.10  near chance, and often gives no valid answer
=======================  =====  ===========  =========  =====  =======  ==============================================

They are no measurement of any model, and every file and name says that they are simulated.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from judge_pipeline.samples.making.pair_measures import Measured

SEED = 20260401
ORDERS = ("AB", "BA")


@dataclass(frozen=True, slots=True)
class SimulatedPairJudge:
    """A simulated judge; its attributes are those of the formula above."""

    name: str
    right: float
    fewer_lines: float
    explained: float
    first: float = 0.0
    pair_noise: float = 0.6
    order_noise: float = 0.4
    invalid: float = 0.0


JUDGES = (
    SimulatedPairJudge("simulated-pairs-sharp", right=3.0, fewer_lines=1.5, explained=0.0, pair_noise=0.8),
    SimulatedPairJudge("simulated-pairs-first", right=2.0, fewer_lines=1.0, explained=0.0, first=1.4, pair_noise=0.8),
    SimulatedPairJudge("simulated-pairs-wordy", right=1.5, fewer_lines=-0.5, explained=2.0),
    SimulatedPairJudge(
        "simulated-pairs-noisy", right=0.8, fewer_lines=0.3, explained=0.2, pair_noise=1.0, order_noise=1.2, invalid=0.1
    ),
)


def decisions(judge: SimulatedPairJudge, pair_id: str, a: Measured, b: Measured) -> tuple[str, str]:
    """What the judge chooses in order AB and in order BA: A, B, or nothing where its answer is invalid."""
    draw = random.Random(f"{SEED}/pairs/{judge.name}/{pair_id}")
    evidence = judge.right * (b.right - a.right) + judge.fewer_lines * _log_ratio(a.n_lines, b.n_lines)
    evidence += judge.explained * _log_ratio(b.n_explaining, a.n_explaining)
    evidence += judge.pair_noise * draw.gauss(0, 1)
    chosen = []
    for order in ORDERS:
        x = evidence + judge.first * (-1 if order == "AB" else 1) + judge.order_noise * draw.gauss(0, 1)
        invalid = draw.random() < judge.invalid
        chosen.append("" if invalid else "B" if x > 0 else "A")
    return chosen[0], chosen[1]


def _log_ratio(more: int, less: int) -> float:
    return max(-1.0, min(1.0, math.log((more + 1) / (less + 1))))
