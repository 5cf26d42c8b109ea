"""The simulated judges: the committed files are what the script draws, and they are as accurate as stated."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from statistics import NormalDist, fmean
from typing import Any

import pytest

from judge_pipeline.samples.making.make_sample_contest import CONTEST_DIR, EXPECTED_FILE
from judge_pipeline.samples.making.simulate_judges import (
    ACCEPTED_SHARE,
    JUDGES,
    SimulatedJudge,
    _output,
    write_recorded,
)


def outputs(judge: SimulatedJudge) -> list[dict[str, Any]]:
    path = CONTEST_DIR / "recorded" / f"{judge.name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@cache
def drawn(judge: SimulatedJudge, count: int = 12_000) -> tuple[list[float], list[float]]:
    """Many outputs of the model for accepted and for other attempts."""
    accepted = [_output(judge, f"a{n}", "AC")["p_ac"] for n in range(count)]
    others = [_output(judge, f"b{n}", "WA")["p_ac"] for n in range(count)]
    return accepted, others


def auc(accepted: list[float], others: list[float]) -> float:
    """Probability that an accepted attempt has the higher value, by counting values on the grid of 0.01."""
    counts = [0] * 101
    for value in others:
        counts[round(value * 100)] += 1
    below = [sum(counts[:grid]) + counts[grid] / 2 for grid in range(101)]
    return fmean(below[round(value * 100)] for value in accepted) / len(others)


@pytest.mark.slow
def test_the_committed_files_are_what_the_script_writes(tmp_path: Path) -> None:
    write_recorded(CONTEST_DIR, tmp_path)
    for judge in JUDGES:
        name = f"{judge.name}.jsonl"
        assert (tmp_path / name).read_bytes() == (CONTEST_DIR / "recorded" / name).read_bytes()


@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)
def test_every_attempt_is_judged_once_and_validly(judge: SimulatedJudge) -> None:
    rows = outputs(judge)
    expected = EXPECTED_FILE.read_text(encoding="utf-8").splitlines()
    assert len(rows) == len({row["attempt_id"] for row in rows}) == len(expected)
    for row in rows:
        assert list(row) == ["attempt_id", "p_ac", "s_algo", "s_robust", "rationale", "model"]
        assert 0 <= row["p_ac"] <= 1
        assert row["p_ac"] == round(row["p_ac"], 2)
        assert row["s_algo"] in range(1, 6)
        assert row["s_robust"] in range(1, 6)
        assert row["model"] == "simulated"
        assert row["rationale"].startswith("Simulated: ")


@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)
def test_certainty_is_said_by_the_overconfident_judge_only(judge: SimulatedJudge) -> None:
    certain = sum(row["p_ac"] in (0, 1) for row in outputs(judge))
    assert certain > 0 if judge.says_certain else certain == 0
    assert certain < len(outputs(judge)) / 3


@pytest.mark.slow
@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)
def test_the_model_is_as_accurate_as_stated(judge: SimulatedJudge) -> None:
    accepted, others = drawn(judge)
    # Rounding to 0.01 makes ties, and ties at 0 and 1 cost some of the area.
    assert auc(accepted, others) == pytest.approx(judge.auc, abs=0.02)


@pytest.mark.slow
def test_the_sharp_judge_is_calibrated_and_the_lenient_one_says_too_much() -> None:
    sharp, lenient = (next(judge for judge in JUDGES if judge.name == name) for name in NAMES)
    for low in (0.05, 0.25, 0.45, 0.65, 0.85):
        said, true = _calibration(sharp, low, low + 0.1)
        assert said == pytest.approx(true, abs=0.03)
    said, true = _calibration(lenient, 0.5, 0.6)
    # Too high by the bias on the log odds scale.
    assert math.log(said / (1 - said)) - math.log(true / (1 - true)) == pytest.approx(lenient.bias, abs=0.2)


NAMES = ("simulated-sharp", "simulated-lenient")


def _calibration(judge: SimulatedJudge, low: float, high: float) -> tuple[float, float]:
    """Mean p_ac and share of accepted attempts among outputs in (low, high], at the share taken for granted."""
    accepted, others = drawn(judge)
    weights = [(p, 1.0, ACCEPTED_SHARE) for p in accepted] + [(p, 0.0, 1 - ACCEPTED_SHARE) for p in others]
    inside = [(p, y, w) for p, y, w in weights if low < p <= high]
    total = sum(w for _, _, w in inside)
    return sum(p * w for p, _, w in inside) / total, sum(y * w for _, y, w in inside) / total


def test_separation_follows_from_the_area() -> None:
    for judge in JUDGES:
        assert NormalDist().cdf(judge.separation / math.sqrt(2)) == pytest.approx(judge.auc)
