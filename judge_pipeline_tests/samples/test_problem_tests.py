"""The problems' tests: as their script writes them, with the statements' examples first, and answers checked twice."""

from __future__ import annotations

import itertools
import random
import re
from collections import deque
from pathlib import Path

import pytest

from judge_pipeline.samples.making import answers
from judge_pipeline.samples.making.catalogue import problems
from judge_pipeline.samples.making.inputs import INPUTS
from judge_pipeline.samples.making.write_tests import problem_tests, write_tests


@pytest.mark.slow
def test_committed_tests_are_what_the_script_writes(tmp_path: Path) -> None:
    write_tests(tmp_path)
    for problem_id, problem in problems().items():
        folder = problem.tests[0][0].parent
        committed = {path.name: path.read_bytes() for path in folder.iterdir()}
        written = {path.name: path.read_bytes() for path in (tmp_path / problem_id / "tests").iterdir()}
        assert written == committed


@pytest.mark.slow
@pytest.mark.parametrize("problem_id", sorted(set(INPUTS) - {"P03"}))
def test_examples_of_the_statement_come_first(problem_id: str) -> None:
    rows = re.findall(r"^\| (`[^|]+`) \| (`[^|]+`) \|", problems()[problem_id].statement, re.MULTILINE)
    assert len(rows) >= 1
    for (given, wanted), (test_input, test_output) in zip(rows, problem_tests(problem_id), strict=False):
        assert [line.strip("` ") for line in given.split(" / ")] == test_input.split("\n")[:-1]
        assert [line.strip("` ") for line in wanted.split(" / ")] == test_output.split("\n")[:-1]


def test_the_example_of_the_night_bus_comes_first() -> None:
    block = problems()["P03"].statement.split("```")[1].strip().splitlines()[1:]
    given = [re.split(r"\s{3,}", line)[0] for line in block]
    wanted = [re.split(r"\s{3,}", line)[1] for line in block[1:]]
    assert problem_tests("P03")[0] == ("\n".join(given) + "\n", "\n".join(wanted) + "\n")


def test_lunch_against_all_subsets() -> None:
    rng = random.Random(1)
    for _ in range(40):
        dishes = [(rng.randint(1, 12), rng.randint(1, 9)) for _ in range(rng.randint(1, 8))]
        budget = rng.randint(1, 30)
        subsets = itertools.product((0, 1), repeat=len(dishes))
        options = [
            (sum(t * s for t, (_, s) in zip(taken, dishes, strict=True)), -cost)
            for taken in subsets
            if (cost := sum(t * c for t, (c, _) in zip(taken, dishes, strict=True))) <= budget
        ]
        most, cost = max(options)
        text = f"{len(dishes)} {budget}\n" + "\n".join(f"{c} {s}" for c, s in dishes)
        assert answers.team_lunch(text) == f"{most} {-cost}"


def test_flags_against_all_rows() -> None:
    for length in range(1, 9):
        rows = itertools.product("RWB", repeat=length)
        count = sum("RR" not in "".join(row) for row in rows)
        assert answers.river_flags(f"1\n{length}") == str(count)


def test_pairs_against_all_pairs() -> None:
    rng = random.Random(2)
    for _ in range(60):
        modulus = rng.randint(1, 30)
        n, x, a, c = rng.randint(2, 25), *(rng.randrange(modulus) for _ in range(3))
        least = rng.randint(0, 2 * modulus)
        values = [x]
        for _ in range(n - 1):
            values.append((a * values[-1] + c) % modulus)
        wanted = sum(one + other >= least for one, other in itertools.combinations(values, 2))
        assert answers.good_pairs(f"{n} {x} {a} {c} {modulus} {least}") == str(wanted)


def test_roads_against_all_routes() -> None:
    rng = random.Random(3)
    for _ in range(60):
        towns = rng.randint(2, 6)
        pairs = list(itertools.combinations(range(1, towns + 1), 2))
        roads = [(*rng.choice(pairs), rng.randint(1, 4)) for _ in range(rng.randint(0, 8))]
        routes: list[tuple[int, int]] = []
        todo: deque[tuple[tuple[int, ...], int]] = deque([((1,), 0)])
        while todo:
            visited, cost = todo.popleft()
            if visited[-1] == towns:
                routes.append((cost, len(visited) - 1))
                continue
            for one, other, toll in roads:
                for here, there in ((one, other), (other, one)):
                    if here == visited[-1] and there not in visited:
                        todo.append(((*visited, there), cost + toll))
        wanted = "{} {}".format(*min(routes)) if routes else "-1"
        text = f"{towns} {len(roads)}\n" + "\n".join(" ".join(map(str, road)) for road in roads)
        assert answers.toll_roads(text) == wanted


def test_mazes_against_removing_each_wall() -> None:
    rng = random.Random(4)
    for _ in range(60):
        height, width = rng.randint(1, 5), rng.randint(2, 5)
        cells = [rng.choice(".##") for _ in range(height * width)]
        start, goal = rng.sample(range(height * width), 2)
        cells[start], cells[goal] = "S", "G"
        walls = [place for place, mark in enumerate(cells) if mark == "#"]
        lengths = [_shortest(cells, width, opened, start, goal) for opened in (None, *walls)]
        known = [length for length in lengths if length is not None]
        rows = "\n".join("".join(cells[y * width : (y + 1) * width]) for y in range(height))
        assert answers.one_wall_down(f"{height} {width}\n{rows}\n") == str(min(known, default=-1))


def _shortest(cells: list[str], width: int, opened: int | None, start: int, goal: int) -> int | None:
    steps = {start: 0}
    todo = deque([start])
    while todo:
        here = todo.popleft()
        near = [here - width, here + width]
        near += [here - 1] if here % width else []
        near += [here + 1] if (here + 1) % width else []
        for there in near:
            if 0 <= there < len(cells) and there not in steps and (cells[there] != "#" or there == opened):
                steps[there] = steps[here] + 1
                todo.append(there)
    return steps.get(goal)
