"""A workspace with one scripted judge, and a set of pairs whose labels follow a rule: what must come out is known."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from rich.console import Console

from judge_pipeline.cli.criteria_demo import JUDGE, demo_workspace
from judge_pipeline.cli.criteria_run import CriteriaOutcome, CriteriaRun, run_by_criteria
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.samples.scripted_judge import Script, ScriptedCriterion, kind_of
from judge_pipeline.samples.scripted_server import ScriptedServer, serving
from judge_pipeline.settings import Workspace
from judge_pipeline.table_schema import Table

SET = "scripted-pairs"
CORRECT, DETAIL = "It is right.", "It is right in every detail."
SOUND, EDGES = "It is sound.", "It is sound at the edges."
SHORT, LINES, WORDS, LONG = "It is much shorter.", "It has fewer lines.", "It has fewer words.", "It takes its time."
BRIEF = "It is brief."
TALK = "It is explained."
FEATURE = {
    CORRECT: "works", SOUND: "works", DETAIL: "right", EDGES: "right", SHORT: "lines", BRIEF: "lines", LINES: "lines",
    WORDS: "words", TALK: "talk",
}  # fmt: skip
LESS_IS_MORE = {SHORT, BRIEF, LINES, WORDS}

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "monolithic": {"generator": "none"},
    "pairwise": {"refinement": "none", "swap_filter": False},
    "btcr": {"swap_filter": False},
    "scf": {"refinement": "none"},
    "full-unguided": {},
    "full": {"guidance": {}},
    "final-guided": {"guidance": {"stages": ["final_judge"]}},
}


def features(response: str) -> dict[str, int]:
    return {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", response)}


def measure(response: str, criterion: str) -> float | None:
    found, name = features(response), FEATURE.get(criterion)
    if name is None or name not in found:
        return None
    return float(-found[name] if criterion in LESS_IS_MORE else found[name])


def script(position_bias: float = 0.0, noise: Mapping[str, float] | None = None, seed: int = 4) -> Script:
    """Right, then explained; blind to length unless guidance names efficiency."""
    criteria = (
        ScriptedCriterion(CORRECT, "correctness", (DETAIL, TALK)),
        ScriptedCriterion(SOUND, "correctness", (EDGES,)),
        ScriptedCriterion(DETAIL, "correctness"),
        ScriptedCriterion(EDGES, "correctness"),
        ScriptedCriterion(BRIEF, "efficiency"),
        ScriptedCriterion(SHORT, "efficiency", (LINES, LONG), step=3.0),
        ScriptedCriterion(LINES, "efficiency", (WORDS,)),
        ScriptedCriterion(WORDS, "efficiency"),
        ScriptedCriterion(LONG, "efficiency", contradicts=LINES),
        ScriptedCriterion(TALK, "explainability"),
    )
    return Script(
        criteria, measure, (CORRECT, SOUND, TALK), ("correctness", "explainability"), {"efficiency": (SHORT, BRIEF)},
        at_a_glance=(CORRECT, SOUND, TALK), position_bias=position_bias, noise=noise or {}, seed=seed,
    )  # fmt: skip


def label(a: Mapping[str, int], b: Mapping[str, int]) -> str:
    """The rule that chooses: works, right, fewer lines, fewer words; else a tie."""
    for name, sign in (("works", 1), ("right", 1), ("lines", -1), ("words", -1)):
        if a[name] != b[name]:
            return "A" if sign * (a[name] - b[name]) > 0 else "B"
    return "tie"


def made_pairs(n: int) -> list[dict[str, Any]]:
    """Pairs that differ in what works, in detail, in lines, in words or not at all; the first third is train."""
    rows = []
    for place in range(n):
        kind, side = place % 6, (place // 6) % 2
        worse = {"works": 1, "right": 2, "lines": 9, "words": 30, "talk": 1 + place % 3}
        better = dict(worse, talk=1 + (place // 2) % 3)
        better |= ({"works": 1}, {"right": 3}, {"lines": 4}, {"lines": 8}, {"words": 20}, {})[kind]
        worse |= {"works": 0} if kind == 0 else {}
        first, second = (better, worse) if side == 0 else (worse, better)
        texts = [
            " ".join(f"{name}={value}" for name, value in own.items()) + f" p{place}{side}"
            for side, own in zip("ab", (first, second), strict=True)
        ]
        rows.append(
            {
                "pair_id": f"p{place:02}", "instruction": f"Task {place}", "category": "made", "language": None,
                "response_a": texts[0], "response_b": texts[1], "w": label(first, second),
                "split": "train" if place < n // 3 else "val",
            }
        )  # fmt: skip
    return rows


@dataclass
class ScriptedHouse:
    """The workspace, its server, and how it is run.

    Attributes:
        workspace: the workspace.
        folder: the set's.
        server: the judge's.
        script: what the judge does.
        printed: what the last run printed.
        outcome: what came of the run that a test keeps.
    """

    workspace: Workspace
    folder: Path
    server: ScriptedServer
    script: Script
    printed: StringIO = field(default_factory=StringIO)
    outcome: CriteriaOutcome | None = None

    def write_pairs(self, rows: list[dict[str, Any]]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (self.folder / "pairs.jsonl").write_text(text, encoding="utf-8")
        settings = {"title": "Made", "files": ["pairs.jsonl"], "source": {"format": "table"}, "chosen_by": "a rule"}
        (self.folder / "preference.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")

    def configure(self, configurations: Mapping[str, Any]) -> None:
        text = yaml.safe_dump(
            {"run": {JUDGE: list(configurations)}, "configurations": dict(configurations), "resamples": 200,
             "guidance": {"category_records": 50}}, sort_keys=False,
        )  # fmt: skip
        (self.workspace.config_dir / "criteria.yaml").write_text(text, encoding="utf-8")

    def run(self, *names: str, **options: Any) -> CriteriaOutcome:
        self.printed = StringIO()
        console = Console(file=self.printed, width=120)
        return run_by_criteria(self.workspace, self.folder, CriteriaRun({JUDGE: names}, **options), console)

    def read(self, table: Table, *partition: str) -> pd.DataFrame:
        return store_of(self.workspace).read(table, SET, *partition)

    def table(self, table: Table, configuration: str) -> pd.DataFrame:
        return self.read(table, f"{JUDGE}@{configuration}")

    @property
    def kinds(self) -> list[str]:
        """What each request's schema asks for."""
        return [kind_of(body["response_format"]["json_schema"]["schema"]) for body in self.server.bodies]


@contextmanager
def scripted_house(folder: Path, own: Script, n_pairs: int, answer: Any = None) -> Iterator[ScriptedHouse]:
    """A house with so many pairs; ``answer`` stands in for the script's own where it is given."""
    with serving(answer or own.answer) as server:
        house = ScriptedHouse(
            demo_workspace(folder, server.url, "test"), folder / "data" / "preference" / SET, server, own
        )
        house.write_pairs(made_pairs(n_pairs))
        house.configure(CONFIGURATIONS)
        yield house
