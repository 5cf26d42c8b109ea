"""A page for one trajectory, so that a person can read what happened: prompts, changes of the program, judges, verdict.

Programs and prompts are untrusted: the template escapes them line by line, and the page runs nothing of theirs.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from judge_pipeline.figures.estimates import format_number, number, text
from judge_pipeline.report.page import render
from judge_pipeline.report.shown_lines import MAX_LINES, Line, lines_of, shown_line

TEMPLATE, INDEX_TEMPLATE = "trajectory.html.j2", "trajectories.html.j2"

MAX_PROMPT_CHARS = 20_000
CURVE_WIDTH, CURVE_HEIGHT, CURVE_ROOM = 640, 188, 42

_KINDS = {"+": "added", "-": "removed", "@": "place", " ": "same"}


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one judge said of an attempt."""

    judge: str
    p_ac: str
    rationale: str | None


@dataclass(frozen=True, slots=True)
class Turn:
    """One attempt as the page shows it.

    Attributes:
        turn: k.
        verdict: the verdict.
        look: accepted, rejected or undecided.
        facts: language, time, size: what stands beside the verdict.
        prompts: lines of what was asked since the attempt before; None where unknown.
        prompts_note: why it is unknown, or that it was cut.
        program: all lines of the program; none where only a list row is known.
        changes: lines that differ from the attempt before, with some around them; None at the first turn.
        changes_note: why there are none.
        confidence: mean p_ac of the panel.
        opinions: each judge's.
    """

    turn: int
    verdict: str
    look: str
    facts: str
    prompts: list[str] | None
    prompts_note: str
    program: list[Line]
    changes: list[Line] | None
    changes_note: str
    confidence: float | None
    opinions: list[Opinion]


@dataclass(frozen=True, slots=True)
class TrajectoryLink:
    """A row of the list of pages."""

    file: str
    participant: str
    problem: str
    n_turns: int
    outcome: str


def page_name(contest: str, participant: str, problem: str) -> str:
    """File name of a trajectory's page: a hash, so that nothing of an id becomes part of a path."""
    given = json.dumps([contest, participant, problem])
    return f"{hashlib.sha256(given.encode('utf-8', 'replace')).hexdigest()[:20]}.html"


def trajectory_turns(
    attempts: pd.DataFrame,
    predictions: pd.DataFrame,
    struggle: pd.DataFrame,
    prompts: pd.DataFrame,
    redact_source: Callable[[str], str],
    redact_prompts: Callable[[str], str],
) -> list[Turn]:
    """The turns of one trajectory.

    Args:
        attempts: its rows of ``attempts``.
        predictions: ``predictions`` of these attempts (further rows are ignored).
        struggle: ``struggle_curves``, likewise.
        prompts: of ``prompt_windows.prompt_texts``, likewise.
        redact_source: replaces personal data in a program.
        redact_prompts: replaces personal data in prompts.
    """
    asked = {row["attempt_id"]: row for row in prompts.to_dict("records")}
    means = dict(zip(struggle["attempt_id"], struggle["p_mean"], strict=True))
    found: list[Turn] = []
    before: list[str] | None = None
    for row in attempts.sort_values("turn").to_dict("records"):
        source = text(row["source_code"])
        lines = None if source is None else lines_of(redact_source(source))
        changes, note = (None, "") if not found else _changes(before, lines)
        asked_lines, asked_note = _asked(asked.get(row["attempt_id"]), redact_prompts)
        label = number(row["y"])
        look = "undecided" if label is None else "accepted" if label else "rejected"
        when = "" if pd.isna(row["submitted_at"]) else f"{row['submitted_at']:%Y-%m-%d %H:%M:%S} UTC"
        size = "program not known" if lines is None else f"{len(lines):,} lines"
        facts = ", ".join(filter(None, (text(row["language"]), when, size)))
        opinions = [
            Opinion(str(said["judge"]), format_number(float(said["p_ac"])), text(said["rationale"]))
            for said in predictions[predictions["attempt_id"] == row["attempt_id"]]
            .sort_values("judge")
            .to_dict("records")
        ]
        found.append(
            Turn(
                int(row["turn"]), str(row["verdict"]), look, facts, asked_lines, asked_note,
                [Line("same", line) for line in lines or []], changes, note,
                number(means.get(row["attempt_id"])), opinions,
            )
        )  # fmt: skip
        before = lines
    return found


def trajectory_page(contest: str, participant: str, problem: str, turns: Sequence[Turn], code_version: str) -> str:
    """The page as HTML; no drawing library, no script but our own."""
    context = {
        "contest": contest,
        "participant": participant,
        "problem": problem,
        "turns": turns,
        "outcome": outcome(turns),
        "curve": curve_points(turns),
        "curve_size": (CURVE_WIDTH, CURVE_HEIGHT, CURVE_ROOM),
        "provenance": {"code_version": code_version},
    }
    return render(TEMPLATE, [], context)


def outcome(turns: Sequence[Turn]) -> str:
    """Whether and when the trajectory was solved."""
    first = next((turn.turn for turn in turns if turn.look == "accepted"), None)
    return "not solved" if first is None else f"solved at turn {first}"


def trajectory_index(contest: str, links: Sequence[TrajectoryLink], n_all: int, code_version: str) -> str:
    """The list of pages, with a field that narrows it down."""
    context = {"contest": contest, "links": links, "n_all": n_all, "provenance": {"code_version": code_version}}
    return render(INDEX_TEMPLATE, [], context, further_scripts=("filter.js",))


def curve_points(turns: Sequence[Turn]) -> list[tuple[float, float, Turn]]:
    """Places in pixels of the turns with a mean confidence, left to right; 1 is at the top."""
    known = [turn for turn in turns if turn.confidence is not None]
    last = max((turn.turn for turn in turns), default=1)
    inner_x, inner_y = CURVE_WIDTH - 2 * CURVE_ROOM, CURVE_HEIGHT - 2 * CURVE_ROOM
    return [
        (
            round(CURVE_ROOM + inner_x * (turn.turn - 1) / max(last - 1, 1), 1),
            round(CURVE_ROOM + inner_y * (1 - (turn.confidence or 0.0)), 1),
            turn,
        )
        for turn in known
    ]


def _changes(before: list[str] | None, now: list[str] | None) -> tuple[list[Line] | None, str]:
    """Changed lines with three around them, and why there are none."""
    if before is None or now is None:
        return [], "One of the two programs is not known."
    if before == now:
        return [], "The program is the same as before."
    if max(len(before), len(now)) > MAX_LINES:
        return [], f"Not compared: a program has more than {MAX_LINES:,} lines."
    compared = list(difflib.unified_diff(before, now, n=3, lineterm=""))[2:]
    return [Line(_KINDS[line[0]], shown_line(line)) for line in compared], ""


def _asked(row: dict[str, object] | None, redact: Callable[[str], str]) -> tuple[list[str] | None, str]:
    if row is None or not isinstance(row["text"], str):
        return None, f"Not known: {text(row['reason']) if row else 'no window'}."
    shown = redact(row["text"])
    if not shown:
        return [], "Nothing was asked about this problem."
    cut = f"The first {MAX_PROMPT_CHARS:,} of {len(shown):,} characters." if len(shown) > MAX_PROMPT_CHARS else ""
    return [shown_line(line.expandtabs(4)) for line in shown[:MAX_PROMPT_CHARS].splitlines()], cut
