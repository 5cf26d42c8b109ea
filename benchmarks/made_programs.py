"""Trajectories of made programs of 20 to 300 lines: the sample contest's, put together, renamed and edited; seeded."""

from __future__ import annotations

import random
import re
from pathlib import Path

import judge_pipeline
from judge_pipeline.similarity.grammars import keywords_of

PROGRAMS = Path(judge_pipeline.__file__).parent / "samples" / "making" / "programs"
ENDINGS = {"cpp": "cpp", "java": "java", "python": "py"}
_KEPT = {"main", "auto", "define", "pragma", "nonlocal"}.union(*map(keywords_of, ENDINGS))
MIN_LINES, MAX_LINES = 20, 300
NEXT_TURN = 0.64
"""Chance of another turn: 2.8 attempts in a trajectory, as in the paper's Table I."""
REWRITE, RESPACE, BROKEN = 0.15, 0.05, 0.08
"""Shares of turns that start anew with another program, that change spacing alone, and that do not compile."""

_NAME = re.compile(r"\b[a-z_]\w+\b")
_STATEMENT = re.compile(r"\s+(?:[^/#{}]*;|(?!def|if|for|while|else|elif|with|return|break|continue)\w[^{}:;]*)$")
_NUMBER = re.compile(r"\b\d+\b")


def made_trajectory(language: str, rng: random.Random) -> list[str]:
    """The programs of one trajectory, of at least two turns."""
    n_lines = rng.randint(MIN_LINES, MAX_LINES)
    turns = [made_program(language, n_lines, rng)]
    while len(turns) < 2 or rng.random() < NEXT_TURN:
        kind = rng.random()
        if kind < REWRITE:
            turns.append(made_program(language, n_lines, rng))
        elif kind < REWRITE + RESPACE:
            turns.append(re.sub(r"(?<=\S) ([-+*/<=]) ", r"\1", turns[-1]))
        else:
            turns.append(_edited(turns[-1], rng, broken=kind > 1 - BROKEN))
    return turns


def made_program(language: str, n_lines: int, rng: random.Random) -> str:
    """Whole sample programs, one after the other, up to n_lines but for the first."""
    parts = [path.read_text(encoding="utf-8") for path in sorted(PROGRAMS.glob(f"*/*.{ENDINGS[language]}"))]
    parts = [part for part in parts if part.count("\n") >= MIN_LINES]
    lines: list[str] = []
    while True:
        part = _renamed(rng.choice(parts), rng)
        if language == "java":
            part = part.replace("class Main", f"class Part{len(lines)}")
        added = part.replace("main(", f"main_{len(lines)}(").splitlines()
        if lines and len(lines) + len(added) > n_lines:
            return "\n".join(lines) + "\n"
        lines += added


def _renamed(source: str, rng: random.Random) -> str:
    names = sorted(set(_NAME.findall(source)) - _KEPT)
    new = {name: f"{name}{rng.randint(2, 99)}" for name in rng.sample(names, len(names) // 5)}
    return _NAME.sub(lambda match: new.get(match.group(), match.group()), source)


def _edited(source: str, rng: random.Random, *, broken: bool) -> str:
    """One to eight lines changed: numbers and names, and statements of one line dropped, doubled or moved.

    A broken program has lost a line that opens or closes a block.
    """
    lines = source.splitlines()
    for _ in range(rng.randint(1, 8)):
        i, j = rng.choices([k for k, line in enumerate(lines) if _STATEMENT.match(line)], k=2)
        edit = rng.choice(["number", "drop", "double", "move", "rename"])
        if edit == "number":
            lines[i] = _NUMBER.sub(lambda match: str(int(match.group()[:9]) + 1), lines[i])
        elif edit == "drop" and len(lines) > MIN_LINES:
            del lines[i]
        elif edit == "double" and len(lines) < MAX_LINES:
            lines.insert(i, lines[i])
        elif edit == "move" and _indent(lines[i]) == _indent(lines[j]):
            lines[i], lines[j] = lines[j], lines[i]
        else:
            lines[i] = _renamed(lines[i], rng)
    if broken:
        del lines[rng.choice([k for k, line in enumerate(lines) if line.rstrip().endswith(("{", "}", ":"))])]
    return "\n".join(lines) + "\n"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
