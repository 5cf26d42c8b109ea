"""The scripted judge of the sample preference set: what it knows of the responses, and its known faults.

The set's rule chooses the right response, and of two right ones the one with fewer lines of code. The judge

- looks at whether a response is right only where a criterion asks for it in particular, as refinement of ties does;
- is blind to length, which it counts as ``efficiency``, unless guidance names that aspect; it weighs in its place how
  many cases a response tells apart, and how much it explains;
- says A of whatever stands first in a known share of its verdicts.

So it is known what each stage must mend: SCF the position bias, BTCR the coarse criterion, HPAG the blind aspect.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path

from judge_pipeline.samples import scripted_judge
from judge_pipeline.samples.making.make_sample_pairs import drawn
from judge_pipeline.samples.making.pair_measures import Measured, measured
from judge_pipeline.samples.scripted_judge import Script, ScriptedCriterion

POSITION_BIAS = 0.2
SEED = 20260501

ANSWERS_TASK = "The response answers the task that was set."
RUNS = "The code runs without an error."
IS_RIGHT = "The code gives the right result in every case."
RIGHT_AT_EDGES = "The code is right at the edges, too."
MUCH_SHORTER = "The code does it in clearly fewer lines."
NO_DETOURS = "The code takes no detours."
FEWER_LINES = "The code has fewer lines."
MORE_LINES = "The code has more lines, so that each step stands for itself."
EXPLAINS = "The response explains itself."
CASES = "The code tells cases apart."
NAMES = "Names say what they stand for."

CRITERIA = (
    ScriptedCriterion(ANSWERS_TASK, "correctness", (IS_RIGHT,)),
    ScriptedCriterion(RUNS, "correctness", (RIGHT_AT_EDGES,)),
    ScriptedCriterion(IS_RIGHT, "correctness"),
    ScriptedCriterion(RIGHT_AT_EDGES, "correctness"),
    ScriptedCriterion(MUCH_SHORTER, "efficiency", (FEWER_LINES, MORE_LINES), step=3.0),
    ScriptedCriterion(NO_DETOURS, "efficiency"),
    ScriptedCriterion(FEWER_LINES, "efficiency"),
    ScriptedCriterion(MORE_LINES, "efficiency", contradicts=FEWER_LINES),
    ScriptedCriterion(EXPLAINS, "explainability"),
    ScriptedCriterion(CASES, "completeness", (EXPLAINS,)),
    ScriptedCriterion(NAMES, "maintainability"),
)
"""Children of ties are finer (IS_RIGHT), or made to be dropped: EXPLAINS repeats another, MORE_LINES contradicts it."""

_MEASURES: Mapping[str, Callable[[Measured], float]] = {
    ANSWERS_TASK: lambda _m: 1.0,
    RUNS: lambda _m: 1.0,
    IS_RIGHT: lambda m: float(m.right),
    RIGHT_AT_EDGES: lambda m: float(m.right),
    MUCH_SHORTER: lambda m: -float(m.n_lines),
    NO_DETOURS: lambda m: -float(m.n_lines),
    FEWER_LINES: lambda m: -float(m.n_lines),
    MORE_LINES: lambda m: float(m.n_lines),
    EXPLAINS: lambda m: float(m.n_explaining),
    CASES: lambda m: float(m.n_cases),
    NAMES: lambda m: m.name_chars,
}


def sample_script(position_bias: float = POSITION_BIAS, seed: int = SEED) -> Script:
    """The script of the sample set's judge. Every response of the set is measured, by running it, not by its label."""
    return Script(
        criteria=CRITERIA,
        measure=partial(measure, sample_measures()),
        generated=(ANSWERS_TASK, RUNS, CASES, EXPLAINS, NAMES),
        weighs=("correctness", "completeness", "explainability", "maintainability"),
        if_guided={"efficiency": (MUCH_SHORTER, NO_DETOURS)},
        at_a_glance=(ANSWERS_TASK, RUNS, CASES, EXPLAINS, NAMES),
        position_bias=position_bias,
        seed=seed,
    )


def script_version(script: Script) -> str:
    """Digits that change where the script may answer otherwise: of its sources, its faults, and what it measures."""
    sources = [file.read_text("utf-8") for file in (Path(__file__), Path(scripted_judge.__file__))]
    faults = [script.position_bias, dict(script.noise), script.seed]
    measures = sorted((text, asdict(known)) for text, known in sample_measures().items())
    return hashlib.sha256(json.dumps([sources, faults, measures]).encode()).hexdigest()[:8]


def sample_measures() -> dict[str, Measured]:
    """Text of each response of the sample set -> what it really is."""
    found = {}
    for _, task, *answers in drawn():
        for answer in answers:
            found[answer.strip()] = measured(task, answer)
    return found


def measure(measures: Mapping[str, Measured], response: str, criterion: str) -> float | None:
    """How far a response satisfies a criterion; None for a response or criterion that is not known."""
    known, of = measures.get(response.strip()), _MEASURES.get(criterion)
    return None if known is None or of is None else of(known)
