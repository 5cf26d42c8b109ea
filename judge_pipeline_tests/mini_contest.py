"""A small contest of text artifacts, made for a test: verdicts, logs and recorded judgments as one asks for them."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path

JUDGES_YAML = """\
judges:
  sharp: {backend: recorded, file: recorded/sharp.jsonl}
  dull: {backend: recorded, file: recorded/dull.jsonl}
  text: {backend: baseline}
  keyed: {backend: litellm, model: openai/gpt-x, api_key_env: MINI_CONTEST_KEY}
"""

NOTHING_BY_ITSELF = "watch: {contests: false, preference_sets: false}\n"
"""What a UI over the workspace does is what the test does there."""


@dataclass
class MiniContest:
    """A workspace with one contest in it.

    Attributes:
        home: the workspace, with assets_config/.
        name: the contest.
        rng: what draws the verdicts.
    """

    home: Path
    name: str = "mini"
    rng: random.Random = field(default_factory=lambda: random.Random(7))

    @property
    def folder(self) -> Path:
        """The contest folder."""
        return self.home / "data" / "contests" / self.name

    def lay(self, n_participants: int = 6, n_problems: int = 4) -> MiniContest:
        """Write configuration, submissions and prompt logs; most trajectories are solved, some only later."""
        config = self.home / "assets_config"
        (config / "prompts").mkdir(parents=True)
        (config / "judges.yaml").write_text(JUDGES_YAML, encoding="utf-8")
        (config / "contests.yaml").write_text("seed: 11\nresamples: 200\n", encoding="utf-8")
        (config / "automation.yaml").write_text(NOTHING_BY_ITSELF, encoding="utf-8")
        template = Path(__file__).resolve().parent.parent / "assets_config" / "prompts" / "cocreation_judge.md.j2"
        (config / "prompts" / template.name).write_bytes(template.read_bytes())
        for u in range(1, n_participants + 1):
            self.prompt_log(f"E{u:03}", f"Please help me with problem p{u % n_problems + 1}. {'more ' * u}")
            for p in range(1, n_problems + 1):
                self.trajectory(f"E{u:03}", f"p{p}", self.rng.choice(["AC", "AC", "WA AC", "TLE WA AC", "WA", "RE WA"]))
        return self

    def trajectory(self, participant: str, problem: str, verdicts: str) -> None:
        """Write one attempt for each verdict, a minute apart."""
        for turn, verdict in enumerate(verdicts.split(), start=1):
            self.attempt(participant, problem, turn, verdict)

    def attempt(self, participant: str, problem: str, turn: int, verdict: str) -> None:
        """Write one submission artifact."""
        file = self.folder / "submissions" / participant / problem / f"{turn:02}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        number = int(participant[1:]) * 1000 + int(problem[1:]) * 100 + turn
        source = "\n".join([f"n = int(input())  # {participant} {problem}", f"print(n * {turn})", "x = 1\n" * turn])
        file.write_text(
            f"Problem: {problem}\nAuthor: {participant}\nSubmission ID: {number}\nResult: {verdict}\n"
            f"Language: Python 3\nSubmitted at: 2026-04-01 10:{turn:02}:00 +0900\n\n```python\n{source}```\n",
            encoding="utf-8",
        )

    def prompt_log(self, participant: str, text: str) -> None:
        """Write one chat of one question and its answer."""
        file = self.folder / "prompts" / participant / "chat.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"## User\n\n{text}\n\n## Assistant\n\nTry a loop.\n", encoding="utf-8")

    def record(self, judge: str, p_ac: dict[str, float]) -> None:
        """Write a judge's recorded outputs, attempt_id -> p_ac."""
        file = self.folder / "recorded" / f"{judge}.jsonl"
        file.parent.mkdir(exist_ok=True)
        lines = [
            json.dumps({"attempt_id": a, "p_ac": p, "s_algo": 3, "s_robust": 2, "rationale": "recorded"})
            for a, p in p_ac.items()
        ]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
