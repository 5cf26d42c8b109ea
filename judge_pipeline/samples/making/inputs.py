"""The test inputs of the ten problems, drawn with one seed.

The first tests of each problem are the examples of its statement; the others aim at the mistakes people make: edges
of the ranges, ties, values beyond 32 bits, and sizes at which a slow algorithm cannot finish.
"""

from __future__ import annotations

import random
from collections.abc import Callable


def change(rng: random.Random) -> list[str]:
    """P01: prices and payments."""
    pairs = [(640, 1000), (500, 500), (380, 300), (1, 100000), (100000, 1), (999, 1000), (1, 951), (12, 61), (7, 6)]
    pairs += [(rng.randint(1, 3000), rng.randint(3001, 100000)) for _ in range(3)]
    return [f"{price} {paid}\n" for price, paid in pairs]


def rainy_spell(rng: random.Random) -> list[str]:
    """P02: thresholds and rainfalls, with ties and spells at both ends."""
    cases: list[tuple[int, list[int]]] = [
        (5, [0, 5, 9, 2, 7, 8, 0, 6]),
        (10, [1, 2, 3, 4]),
        (1, [0, 3, 0, 2, 2, 2]),
        (1, [7]),
        (3, [3, 3, 0, 3, 3, 0, 3]),
        (500, [500, 0, 0, 500]),
        (2, [2] * 1000),
    ]
    cases += [(rng.randint(1, 5), [rng.randint(0, 9) for _ in range(size)]) for size in (30, 200, 1000)]
    return [f"{len(days)} {least}\n{' '.join(map(str, days))}\n" for least, days in cases]


def _clock(minutes: int) -> str:
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"


def night_bus(rng: random.Random) -> list[str]:
    """P03: services within a day and past midnight, with arrivals on and between departures."""
    cases = [
        ("22:20 00:30 40", ["21:05", "23:00", "23:50", "00:21"]),
        ("06:00 23:30 15", ["05:59", "06:00", "23:30", "23:31", "12:01"]),
        ("09:05 09:05 60", ["09:04", "09:05", "09:06", "00:00"]),
        ("23:59 00:01 1", ["23:58", "23:59", "00:00", "00:01", "00:02"]),
        ("05:00 05:50 25", ["05:49", "05:50", "05:51"]),
        ("18:00 02:00 480", ["17:00", "18:01", "02:00", "02:01"]),
        ("12:00 11:59 7", ["11:58", "11:59", "12:00"]),
    ]
    for _ in range(3):
        first, last = rng.randrange(1440), rng.randrange(1440)
        arrivals = [_clock(rng.randrange(1440)) for _ in range(60)]
        cases.append((f"{_clock(first)} {_clock(last)} {rng.randint(3, 90)}", arrivals))
    return ["\n".join([f"{head} {len(arrivals)}", *arrivals]) + "\n" for head, arrivals in cases]


def painted_fence(rng: random.Random) -> list[str]:
    """P04: nested, touching, distant and very long stretches."""
    edge = 2_000_000_000
    cases: list[list[tuple[int, int]]] = [
        [(0, 10), (5, 12), (20, 21)],
        [(-8, 8), (-2, 3)],
        [(-edge, edge)],
        [(5, 9), (-7, -3), (-3, 5)],
        [(0, 100), (10, 20), (30, 40), (99, 120)],
        [(-9, -6), (-5, -1)],
        [(1_999_999_990, edge), (-edge, -1_999_999_990), (-5, 5)],
    ]
    for count, reach, longest in ((40, 200, 30), (800, 10**6, 2000), (2500, edge - 10**6, 10**6)):
        lefts = [rng.randint(-reach, reach) for _ in range(count)]
        cases.append([(left, left + rng.randint(1, longest)) for left in lefts])
    return [f"{len(case)}\n" + "".join(f"{left} {right}\n" for left, right in case) for case in cases]


def _balanced(rng: random.Random, pairs: int) -> str:
    text: list[str] = []
    waiting: list[str] = []
    while pairs or waiting:
        if pairs and (not waiting or rng.random() < 0.5):
            opening, closing = rng.choice(("()", "[]", "{}"))
            text.append(opening)
            waiting.append(closing)
            pairs -= 1
        else:
            text.append(waiting.pop())
    return "".join(text)


def broken_brackets(rng: random.Random) -> list[str]:
    """P05: each kind of answer, small and at full length."""
    lines = ["([]{})", "([)]", "(([]", "(", ")", "()}", "[(])", "{}" * 20 + "]" + "[" * 5, "((((((((((()", "()[]{}]"]
    lines.append(_balanced(rng, 400))
    broken = _balanced(rng, 300)
    lines.append(broken[:500] + ("]" if broken[500] != "]" else "}") + broken[501:])
    lines.append("(" * 90_000 + ")" * 90_000)
    return [line + "\n" for line in lines]


def _maze(rng: random.Random, height: int, width: int, walls: float, sealed: int | None = None) -> str:
    """A random maze; ``sealed`` draws that many full rows of wall across its middle."""
    grid = [["#" if rng.random() < walls else "." for _ in range(width)] for _ in range(height)]
    for row in range(sealed or 0):
        grid[height // 2 + row] = ["#"] * width
    grid[0][rng.randrange(width)] = "S"
    grid[height - 1][rng.randrange(width)] = "G"
    return f"{height} {width}\n" + "".join("".join(row) + "\n" for row in grid)


def _snake(side: int) -> str:
    """Long corridors one below the other, joined at alternate ends; a charge saves one of them."""
    rows = []
    for row in range(side):
        if row % 2 == 0:
            rows.append(["."] * side)
        else:
            gap = side - 1 if row % 4 == 1 else 0
            rows.append(["." if column == gap else "#" for column in range(side)])
    rows[0][0] = "S"
    rows[side - 1 if side % 2 else side - 2][side // 2] = "G"
    return f"{side} {side}\n" + "".join("".join(row) + "\n" for row in rows)


def one_wall_down(rng: random.Random) -> list[str]:
    """P06: mazes where the charge is needed, useless, tempting too early, or not enough."""
    fixed = [
        "1 5\nS.#.G\n",
        "1 5\nS##.G\n",
        "3 3\nS#G\n.#.\n...\n",
        "2 1\nS\nG\n",
        "4 7\nS.....#\n#####.#\n.#.....\nG#####.\n",
        "5 5\nS#...\n.#.#.\n...#.\n####.\nG..#.\n",
        "3 6\nS#.#.G\n.#.#..\n......\n",
    ]
    drawn = [_maze(rng, 12, 20, 0.35), _maze(rng, 30, 9, 0.2, sealed=1), _maze(rng, 24, 25, 0.15, sealed=2)]
    return [*fixed, *drawn, _snake(70), _maze(rng, 240, 239, 0.28), _maze(rng, 200, 240, 0.0)]


def good_pairs(rng: random.Random) -> list[str]:
    """P07: rules for the strengths, from constant to full size."""
    cases = [
        (4, 1, 2, 1, 10, 8),
        (3, 0, 0, 0, 1, 0),
        (2, 3, 1, 0, 10, 6),
        (2, 3, 1, 0, 10, 7),
        (6, 5, 3, 4, 11, 10),
        (1000, 7, 211, 17, 997, 1000),
        (2000, 999_999, 999_979, 999_961, 1_000_000, 1_000_000),
        (200_000, 0, 0, 0, 1, 0),
        (200_000, 12345, 7919, 10007, 999_983, 900_000),
        (200_000, 54321, 271_829, 31_415, 999_979, 2_000_000),
    ]
    modulus = 99_991
    start, factor, step = (rng.randrange(modulus) for _ in range(3))
    cases.append((20_000, start, factor, step, modulus, 100_000))
    return [" ".join(map(str, case)) + "\n" for case in cases]


def team_lunch(rng: random.Random) -> list[str]:
    """P08: dishes that punish greed, reuse and loose bounds."""
    cases: list[tuple[int, list[tuple[int, int]]]] = [
        (100, [(60, 10), (50, 7), (50, 6)]),
        (10, [(11, 5), (12, 9)]),
        (10, [(4, 5), (3, 5)]),
        (1, [(1, 1)]),
        (10, [(5, 10), (10, 10)]),
        (12, [(3, 7), (5, 9), (7, 13)]),
        (20, [(9, 9), (11, 11), (10, 10), (10, 10)]),
    ]
    for count, budget, dearest in ((15, 300, 120), (45, 3000, 900), (60, 10000, 700), (60, 9999, 400)):
        dishes = [(rng.randint(1, dearest), rng.randint(1, 10**6)) for _ in range(count)]
        cases.append((budget, dishes))
    cases.append((10000, [(cost, cost) for cost in (rng.randint(250, 400) for _ in range(60))]))
    return [
        f"{len(dishes)} {budget}\n" + "".join(f"{cost} {gain}\n" for cost, gain in dishes) for budget, dishes in cases
    ]


def toll_roads(rng: random.Random) -> list[str]:
    """P09: ties between routes, parallel roads, no route, long dear chains, and full size."""
    cases: list[tuple[int, list[tuple[int, int, int]]]] = [
        (3, [(1, 2, 4), (2, 3, 4), (1, 3, 8)]),
        (2, []),
        (2, [(2, 1, 7), (1, 2, 5)]),
        (4, [(1, 2, 1), (2, 3, 1), (3, 4, 1), (1, 3, 2), (2, 4, 2)]),
        (5, [(5, 4, 3), (4, 2, 2), (2, 1, 9), (3, 1, 1), (4, 3, 20)]),
        (6, [(1, 2, 5), (2, 3, 5), (4, 5, 1), (5, 6, 1)]),
        (5, [(1, 2, 10), (2, 5, 10), (1, 3, 3), (3, 4, 3), (4, 2, 3), (4, 5, 14)]),
        (5, [(1, 2, 1), (2, 3, 1), (3, 5, 3), (1, 4, 4), (4, 5, 1)]),
        (8, [(1, 2, 2), (2, 3, 2), (3, 4, 2), (4, 8, 9), (1, 5, 5), (5, 8, 10), (1, 6, 14), (6, 8, 1), (1, 7, 16)]),
    ]
    cases.append((41, [(town, town + 1, 5) for town in range(1, 41) for _ in range(2)]))
    chain = [(town, town + 1, 10**9 - town) for town in range(1, 700)]
    rng.shuffle(chain)
    cases.append((700, chain))
    for towns, roads, dearest in ((30, 80, 4), (400, 1200, 6), (3960, 7920, 1000)):
        drawn = []
        for _ in range(roads):
            one, other = rng.sample(range(1, towns + 1), 2)
            drawn.append((one, other, rng.randint(1, dearest)))
        cases.append((towns, drawn))
    # At full size, and the last towns joined twice each: there are 2^40 cheapest ways.
    towns, drawn = cases.pop()
    cases.append((towns + 40, drawn + [(town, town + 1, 7) for town in range(towns, towns + 40) for _ in range(2)]))
    return [
        f"{towns} {len(roads)}\n" + "".join(f"{one} {other} {toll}\n" for one, other, toll in roads)
        for towns, roads in cases
    ]


def river_flags(rng: random.Random) -> list[str]:
    """P10: small rows, powers of two and their neighbours, and rows up to 10^18."""
    cases = [[1, 2, 3], [1], list(range(1, 41)), [10**18], [2**31 - 1, 2**31, 2**32, 2**32 + 1], [10**6, 10**10]]
    cases.append([2**exponent + rng.randint(-1, 1) for exponent in range(3, 60)])
    cases.append([rng.randint(1, 10**18) for _ in range(300)])
    return [f"{len(case)}\n" + "".join(f"{length}\n" for length in case) for case in cases]


INPUTS: dict[str, Callable[[random.Random], list[str]]] = {
    "P01": change,
    "P02": rainy_spell,
    "P03": night_bus,
    "P04": painted_fence,
    "P05": broken_brackets,
    "P06": one_wall_down,
    "P07": good_pairs,
    "P08": team_lunch,
    "P09": toll_roads,
    "P10": river_flags,
}
"""Problem id -> the function that draws its test inputs."""
