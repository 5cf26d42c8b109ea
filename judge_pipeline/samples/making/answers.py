"""The right answers to the tests, by methods chosen to be plain rather than fast.

None of them shares its algorithm with the programs of the contest where a plainer one can finish at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import accumulate


def change(text: str) -> str:
    """P01, by dynamic programming over amounts instead of greedily (small amounts), plus whole 500s."""
    price, paid = map(int, text.split())
    if paid < price:
        return f"short {price - paid}"
    whole, rest = divmod(paid - price, 500)
    fewest = [0]
    for amount in range(1, rest + 1):
        fewest.append(1 + min(fewest[amount - coin] for coin in (1, 5, 10, 50, 100) if coin <= amount))
    return str(whole + fewest[rest])


def rainy_spell(text: str) -> str:
    """P02, by splitting a string of rainy and dry days."""
    numbers = list(map(int, text.split()))
    least, days = numbers[1], numbers[2:]
    marks = "".join("R" if day >= least else "d" for day in days)
    length = max(map(len, marks.split("d")))
    return f"{length} {marks.index('R' * length) + 1}" if length else "0 0"


def night_bus(text: str) -> str:
    """P03, by standing at the stop minute by minute."""
    first_text, last_text, every, _, *arrivals = text.split()

    def minutes(clock: str) -> int:
        hour, minute = clock.split(":")
        return int(hour) * 60 + int(minute)

    first, last = minutes(first_text), minutes(last_text)
    if last < first:
        last += 1440
    leaving = {minute % 1440 for minute in range(first, last + 1, int(every))}
    found = []
    for arrival in arrivals:
        now = minutes(arrival)
        while now not in leaving:
            now = (now + 1) % 1440
        found.append(f"{now // 60:02d}:{now % 60:02d}")
    return "\n".join(found)


def painted_fence(text: str) -> str:
    """P04, by how many stretches cover each piece between neighbouring end points."""
    numbers = list(map(int, text.split()))[1:]
    change_at: Counter[int] = Counter()
    change_at.update(numbers[0::2])
    change_at.subtract(numbers[1::2])
    points = sorted(change_at)
    cover = list(accumulate(change_at[point] for point in points))
    pieces = zip(points, points[1:], cover, strict=False)
    return str(sum(right - left for left, right, depth in pieces if depth > 0))


def broken_brackets(text: str) -> str:
    """P05, by the nesting depth: each closing bracket looks at the last opening one on its own level."""
    level = 0
    kinds: dict[int, str] = {}
    for position, bracket in enumerate(text.strip(), start=1):
        if bracket in "([{":
            level += 1
            kinds[level] = bracket
        elif level == 0 or kinds[level] + bracket not in ("()", "[]", "{}"):
            return str(position)
        else:
            level -= 1
    return f"open {level}" if level else "ok"


def one_wall_down(text: str) -> str:
    """P06, by growing the sets of cells that can be reached in 0, 1, 2, ... moves, without and with the charge used."""
    rows = text.split()[2:]
    cells = {(y, x): mark for y, row in enumerate(rows) for x, mark in enumerate(row)}
    start = next(cell for cell, mark in cells.items() if mark == "S")
    goal = next(cell for cell, mark in cells.items() if mark == "G")

    def around(reached: set[tuple[int, int]]) -> set[tuple[int, int]]:
        return {(y + dy, x + dx) for y, x in reached for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0))} & cells.keys()

    whole, used = {start}, set[tuple[int, int]]()
    seen_whole, seen_used = set(whole), set(used)
    moves = 0
    while whole or used:
        if goal in whole or goal in used:
            return str(moves)
        moves += 1
        near = around(whole)
        used = {cell for cell in around(used) if cells[cell] != "#"} | {cell for cell in near if cells[cell] == "#"}
        whole = {cell for cell in near if cells[cell] != "#"} - seen_whole
        used -= seen_used
        seen_whole |= whole
        seen_used |= used
    return "-1"


def good_pairs(text: str) -> str:
    """P07, by how many players have each strength, and suffix sums over strengths."""
    count, strength, factor, step, modulus, least = map(int, text.split())
    having = [0] * modulus
    for _ in range(count):
        having[strength] += 1
        strength = (factor * strength + step) % modulus
    at_least = [*reversed([*accumulate(reversed(having))]), 0]
    ordered = sum(many * at_least[min(modulus, max(0, least - own))] for own, many in enumerate(having) if many)
    with_self = sum(many for own, many in enumerate(having) if many and 2 * own >= least)
    return str((ordered - with_self) // 2)


def team_lunch(text: str) -> str:
    """P08, by keeping for each cost the best satisfaction over all subsets so far (a sparse table)."""
    numbers = list(map(int, text.split()))
    budget = numbers[1]
    best = {0: 0}
    for cost, gain in zip(numbers[2::2], numbers[3::2], strict=True):
        grown = {spent + cost: got + gain for spent, got in best.items() if spent + cost <= budget}
        for spent, got in grown.items():
            best[spent] = max(best.get(spent, 0), got)
    most = max(best.values())
    return f"{most} {min(spent for spent, got in best.items() if got == most)}"


def toll_roads(text: str) -> str:
    """P09, by relaxing all roads until nothing changes, over pairs (toll, roads) that compare as wanted."""
    numbers = list(map(int, text.split()))
    towns = numbers[0]
    roads = list(zip(numbers[2::3], numbers[3::3], numbers[4::3], strict=True))
    best: dict[int, tuple[int, int]] = {1: (0, 0)}
    changed = True
    while changed:
        changed = False
        for one, other, toll in roads:
            for here, there in ((one, other), (other, one)):
                if here in best:
                    reached = (best[here][0] + toll, best[here][1] + 1)
                    if there not in best or reached < best[there]:
                        best[there] = reached
                        changed = True
    return "{} {}".format(*best[towns]) if towns in best else "-1"


def river_flags(text: str) -> str:
    """P10, by doubling: ways for a row of 2n or 2n+1 flags from the ways for n, by the colours at both ends."""
    modulus = 1_000_000_007

    def ends(length: int) -> tuple[int, int, int]:
        """Ways with red at both ends, at a given end only, at neither."""
        if length == 1:
            return 1, 0, 2
        both, one, none = ends(length // 2)
        joined = _join((both, one, none), (both, one, none), modulus)
        return _join(joined, (1, 0, 2), modulus) if length % 2 else joined

    answers = []
    for length in map(int, text.split()[1:]):
        both, one, none = ends(length)
        answers.append(str((both + 2 * one + none) % modulus))
    return "\n".join(answers)


def _join(left: tuple[int, int, int], right: tuple[int, int, int], modulus: int) -> tuple[int, int, int]:
    """Two rows side by side, without red meeting red. Each row: (red at both ends, at one given end, at neither)."""
    both_l, one_l, none_l = left
    both_r, one_r, none_r = right
    both = both_l * one_r + one_l * both_r + one_l * one_r
    first = both_l * none_r + one_l * one_r + one_l * none_r
    neither = one_l * none_r + none_l * one_r + none_l * none_r
    return both % modulus, first % modulus, neither % modulus


ANSWERS: dict[str, Callable[[str], str]] = {
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
"""Problem id -> the function from a test's input to its right output (without the final newline)."""
