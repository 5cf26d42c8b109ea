"""The simulated judges of pairs: they choose as their table states, and judges.yaml names each with its file."""

from __future__ import annotations

import csv
import json
import math
from statistics import NormalDist

import pytest

from judge_pipeline.samples.making.make_sample_pairs import SET
from judge_pipeline.samples.making.pair_measures import Measured
from judge_pipeline.samples.making.simulate_pair_judges import JUDGES, SimulatedPairJudge, decisions
from judge_pipeline.settings import JudgesFile, RecordedJudge, packaged_config_dir
from judge_pipeline.settings.yaml_file import load

DRAWS = 3000
PLAIN = Measured(right=True, n_lines=4, n_explaining=19, n_cases=1, name_chars=3.0)
WRONG = Measured(right=False, n_lines=4, n_explaining=19, n_cases=1, name_chars=3.0)
SHORT = Measured(right=True, n_lines=2, n_explaining=19, n_cases=1, name_chars=3.0)
WORDY = Measured(right=True, n_lines=4, n_explaining=39, n_cases=1, name_chars=3.0)


@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)
@pytest.mark.parametrize(
    ("a", "b", "right", "lines", "explained"),
    [
        (PLAIN, PLAIN, 0, 0, 0),
        (WRONG, PLAIN, 1, 0, 0),
        (SHORT, PLAIN, 0, -math.log(5 / 3), 0),
        (PLAIN, WORDY, 0, 0, math.log(40 / 20)),
    ],
)
def test_it_chooses_as_often_as_the_formula_says(
    judge: SimulatedPairJudge, a: Measured, b: Measured, right: float, lines: float, explained: float
) -> None:
    drawn = [decisions(judge, str(n), a, b) for n in range(DRAWS)]
    evidence = judge.right * right + judge.fewer_lines * lines + judge.explained * explained
    spread = math.hypot(judge.pair_noise, judge.order_noise)
    for place, first in ((0, -judge.first), (1, judge.first)):
        valid = [one[place] for one in drawn if one[place]]
        assert 1 - len(valid) / DRAWS == pytest.approx(judge.invalid, abs=0.02)
        assert valid.count("B") / len(valid) == pytest.approx(NormalDist().cdf((evidence + first) / spread), abs=0.03)


def test_every_judge_has_its_file_and_says_what_it_is() -> None:
    judges = load(JudgesFile, packaged_config_dir() / "judges.yaml")
    simulated = [name for name in judges.names("preference") if judges.get(name).backend == "recorded"]
    assert simulated == [judge.name for judge in JUDGES]
    for name in simulated:
        judge = judges.get(name)
        assert isinstance(judge, RecordedJudge) and judge.family == judge.model == "simulated"
        assert judge.systems == ("preference",) and "sample set only" in str(judge.description)
        with (SET / judge.file).open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert len({row["pair_id"] for row in rows}) == len(rows) == 120
        assert {row[order] for row in rows for order in ("decision_ab", "decision_ba")} <= {"A", "B", ""}


def test_the_figures_in_the_read_me_are_those_of_the_files() -> None:
    labels = {
        row["pair_id"]: row["w"] for row in map(json.loads, (SET / "pairs.jsonl").read_text("utf-8").splitlines())
    }
    stated = (SET.parents[1] / "making" / "README.md").read_text(encoding="utf-8")
    for judge in JUDGES:
        with (SET / f"recorded/{judge.name}.csv").open(encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if labels[row["pair_id"]] in ("A", "B")]
        sides = [(row["decision_ab"], row["decision_ba"], labels[row["pair_id"]]) for row in rows]
        alike = [(ab, w) for ab, ba, w in sides if ab and ab == ba]
        right = sum(choice == w for choice, w in alike)
        first = [ab == "A" for ab, _, _ in sides if ab] + [ba == "B" for _, ba, _ in sides if ba]
        figures = (right / len(sides), right / len(alike), len(alike) / len(sides), sum(first) / len(first))
        line = next(line for line in stated.splitlines() if line.startswith(f"| {judge.name} "))
        assert line.endswith(f"| {' | '.join(f'{figure:.3f}' for figure in figures)} |")
