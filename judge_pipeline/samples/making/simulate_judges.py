"""Draw the outputs of four simulated judges for the sample contest: ``recorded/simulated-<name>.jsonl``.

Run as ``python -m judge_pipeline.samples.making.simulate_judges``. The contest is read with the project's own reader,
so that the attempt ids are those of the pipeline; the truth is the measured verdict of each source.

The model is binormal. An attempt with label y has the evidence ``x = d (y - 1/2) + e`` with e ~ N(0, 1), of which the
share ``COMMON`` of the variance is common to all judges (some attempts are hard to tell for everybody). Then

- AUC = Phi(d / sqrt 2), so d follows from the accuracy that is wanted;
- ``logit(ACCEPTED_SHARE) + d x`` is the log odds of acceptance given x: as p_ac it is calibrated;
- a judge says ``p_ac = sigmoid(logit(ACCEPTED_SHARE) + sharpness * d x + bias)``, rounded to 0.01 as language models
  do.

====================  ====  ====  =========  ==========================================================
judge                 AUC   bias  sharpness  what it shows
====================  ====  ====  =========  ==========================================================
simulated-sharp       0.88   0.0        1.0  discriminates well, calibrated
simulated-lenient     0.76  +1.5        1.0  accepts too readily: too high by 1.5 on the log odds scale
simulated-overconf..  0.74   0.0        3.5  makes 3.5 times too much of its evidence: often near, at times at 0 or 1
simulated-noisy       0.56   0.0        3.0  near chance
====================  ====  ====  =========  ==========================================================

They are no measurement of any model, and every file, name and rationale says that they are simulated.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

from judge_pipeline.samples.making.make_sample_contest import CONTEST_DIR
from judge_pipeline.samples.making.plan import CONTEST, SEED
from judge_pipeline.samples.making.run_programs import recorded_outcomes

ACCEPTED_SHARE = 0.4
"""Share of accepted attempts that the judges take for granted; the sample contest's own, rounded."""
COMMON = 0.3
"""Share of the noise's variance that all judges have in common."""


@dataclass(frozen=True, slots=True)
class SimulatedJudge:
    """A simulated judge.

    Attributes:
        name: its name in judges.yaml.
        auc: ROC-AUC over infinitely many attempts, before rounding.
        bias: added to the log odds.
        sharpness: factor on the evidence's log odds; above 1 is overconfident.
        says_certain: whether it may say exactly 0 or 1.
    """

    name: str
    auc: float
    bias: float = 0.0
    sharpness: float = 1.0
    says_certain: bool = False

    @property
    def separation(self) -> float:
        """d, the distance of the two means of the evidence in units of its standard deviation."""
        return math.sqrt(2) * NormalDist().inv_cdf(self.auc)


JUDGES = (
    SimulatedJudge("simulated-sharp", 0.88),
    SimulatedJudge("simulated-lenient", 0.76, bias=1.5),
    SimulatedJudge("simulated-overconfident", 0.74, sharpness=3.5, says_certain=True),
    SimulatedJudge("simulated-noisy", 0.56, sharpness=3.0),
)

_ALGORITHM = (
    "the approach does not fit the problem",
    "the approach is likely too slow or misses a case",
    "the approach is plausible",
    "the approach fits the problem",
    "the approach is the expected one",
)
_ROBUSTNESS = (
    "breaks on the limits of the input",
    "an edge case seems to be missing",
    "edge cases are unclear",
    "handles the usual edge cases",
    "handles the limits and edge cases",
)


def simulated_outputs(judge: SimulatedJudge, contest_dir: Path) -> Iterator[dict[str, Any]]:
    """The judge's output for each attempt with source code, in the order of the attempts table.

    Raises:
        KeyError: the contest holds a source whose verdict was never measured.
    """
    for attempt_id, source_sha256 in _attempts(contest_dir):
        yield _output(judge, attempt_id, recorded_outcomes()[source_sha256].verdict)


def write_recorded(contest_dir: Path, recorded_dir: Path) -> None:
    """Write one file for each simulated judge into ``recorded_dir``."""
    recorded_dir.mkdir(parents=True, exist_ok=True)
    for judge in JUDGES:
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in simulated_outputs(judge, contest_dir)]
        (recorded_dir / f"{judge.name}.jsonl").write_text("".join(lines), encoding="utf-8", newline="\n")


def _attempts(contest_dir: Path) -> list[tuple[str, str]]:
    """attempt_id and source_sha256 of each attempt, as the pipeline reads them."""
    from judge_pipeline.ingest.contest import read_contest
    from judge_pipeline.settings import ContestSettings
    from judge_pipeline.settings.yaml_file import load

    settings = load(ContestSettings, contest_dir / "contest.yaml")
    attempts = read_contest(contest_dir, CONTEST, settings).attempts
    return list(zip(attempts["attempt_id"], attempts["source_sha256"], strict=True))


def _output(judge: SimulatedJudge, attempt_id: str, verdict: str) -> dict[str, Any]:
    common = random.Random(f"{SEED}/judges/{attempt_id}").gauss(0, 1)
    own = random.Random(f"{SEED}/judges/{attempt_id}/{judge.name}")
    noise = math.sqrt(COMMON) * common + math.sqrt(1 - COMMON) * own.gauss(0, 1)
    evidence = judge.separation * ((verdict == "AC") - 0.5) + noise
    log_odds = math.log(ACCEPTED_SHARE / (1 - ACCEPTED_SHARE)) + judge.sharpness * judge.separation * evidence
    p_ac = _rounded(1 / (1 + math.exp(-(log_odds + judge.bias))), certain=judge.says_certain)
    # What fails by time or memory has the wrong algorithm rather than a missing case, and the other way round.
    too_slow = judge.separation * (verdict in ("TLE", "MLE"))
    missed = judge.separation * (verdict in ("WA", "RE"))
    s_algo = _grade(evidence + 0.5 * missed - 0.5 * too_slow + judge.bias / 2 + own.gauss(0, 0.4))
    s_robust = _grade(evidence - 0.3 * missed + judge.bias / 2 + own.gauss(0, 0.4))
    return {
        "attempt_id": attempt_id,
        "p_ac": p_ac,
        "s_algo": s_algo,
        "s_robust": s_robust,
        "rationale": f"Simulated: {_ALGORITHM[s_algo - 1]}; {_ROBUSTNESS[s_robust - 1]}.",
        "model": "simulated",
    }


def _rounded(p_ac: float, *, certain: bool) -> float:
    rounded = round(p_ac, 2)
    return rounded if certain else min(0.99, max(0.01, rounded))


def _grade(level: float) -> int:
    """A rubric level from 1 to 5 for a standardized one."""
    return min(5, max(1, round(3 + 1.2 * level)))


if __name__ == "__main__":
    write_recorded(CONTEST_DIR, CONTEST_DIR / "recorded")
