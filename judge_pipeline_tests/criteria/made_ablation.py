"""Tables of an ablation by the stages themselves, with a judge of known habits: position bias, ties, noise."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from judge_pipeline.criteria.asking import PairsToJudge
from judge_pipeline.criteria.guidance import guidance_of_pairs
from judge_pipeline.criteria.method import judge_pairs
from judge_pipeline.preference.pair_question import pair_rows
from judge_pipeline.settings.criteria import Configuration, GuidanceUse
from judge_pipeline.settings.guidance import GuidanceFile
from judge_pipeline.settings.preference import PairJudging
from judge_pipeline.tables.criteria import CRITERIA_CALLS
from judge_pipeline.tables.criteria_ablation import JudgedTables
from judge_pipeline_tests.criteria.scripted_judge import ScriptedJudge, share_of

TEXTS = {
    "Gives the right result for the inputs that the task names": "correctness",
    "Handles empty and odd input without an error": "correctness",
    "Does everything that was asked for": "completeness",
    "Does no more work than the task needs": "efficiency",
    "Says in words how it works": "explainability",
    "Is easy to change later": "maintainability",
    "What is printed is easy to read": "UI/UX design",
}
CHILDREN = {
    "Does no more work than the task needs": [
        "Avoids a second pass over the input",
        "Keeps no copy of the whole input",
    ],
    "Is easy to change later": ["Names say what things are"],
}

CONFIGURATIONS = {
    "monolithic": Configuration(
        generator="none", refinement="none", swap_filter=False,
        paper_rows=("1: Monolithic", "2: Monolithic", "4: Mono", "5: Monolithic"),
    ),
    "pairwise": Configuration(refinement="none", swap_filter=False, paper_rows=("2: Pairwise",)),
    "pairwise-btcr": Configuration(swap_filter=False, paper_rows=("2: + BTCR",)),
    "pairwise-scf": Configuration(paper_rows=("2: + SCF",)),
    "full": Configuration(
        guidance=GuidanceUse(file="people.yaml"),
        paper_rows=("1: CriterAlign", "2: + HPAG", "4: Ours", "5: CriterAlign"),
    ),
}  # fmt: skip


@dataclass
class NoisyJudge(ScriptedJudge):
    """Says of a criterion what the label is, but for a share of ties, of noise, and of A for whatever stands first.

    Attributes:
        labels: pair_id -> label, which a real judge is never given: this is how its skill is set.
        name: changes what it errs on.
        bias: share of verdicts that go to the first response.
        skill: share of the other verdicts that are the label.
        said: a rationale; hostile in some tests.
        mark: what stands behind the text of every criterion that it generates.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    name: str = "judge"
    children: Mapping[str, Sequence[str]] = field(default_factory=lambda: CHILDREN)
    bias: float = 0.25
    skill: float = 0.75
    said: str = "The {} one does it, as its code shows."
    mark: str = ""

    def _generation(self, row: Mapping[str, Any]) -> Any:
        texts = [text for text in TEXTS if share_of(row["pair_id"], text, "made") < 0.8] or list(TEXTS)
        return {"criteria": [{"text": text + self.mark, "aspect": TEXTS[text]} for text in texts]}

    def _verdict(self, row: Mapping[str, Any], text: str) -> dict[str, str]:
        pair, order = row["pair_id"], row["presentation_order"]
        said = self._slot(pair, order, text, self.skill + (0.15 if row.get("guidance") else 0))
        if share_of(self.name, pair, text, "blind") < 0.05:
            said = "insufficient"
        elif share_of(self.name, pair, text, "tie") < (0.6 if text in CHILDREN else 0.1):
            said = "tie"
        words = {"A": "first", "B": "second"}.get(said, "other")
        confidence = ("low", "medium", "high")[int(share_of(pair, text) * 2.99)]
        return {"rationale": self.said.replace("{}", words), "verdict": said, "confidence": confidence}

    def _final(self, row: Mapping[str, Any]) -> Any:
        return super()._final(row) | {"rationale": self.said.replace("{}", "chosen")}

    def _monolithic(self, row: Mapping[str, Any]) -> Any:
        said = self._slot(row["pair_id"], row["presentation_order"], "whole", self.skill - 0.15)
        return {"rationale": self.said.replace("{}", "chosen"), "choice": said}

    def _slot(self, pair: str, order: str, text: str, skill: float) -> str:
        if share_of(self.name, pair, text, "bias") < self.bias:
            return "A"
        right, label = share_of(self.name, pair, text, "skill") < skill, self.labels[pair]
        if label == "tie":
            return "tie" if right else "A" if order == "AB" else "B"
        better = label if right else "AB"["BA".index(label)]
        return better if order == "AB" else "AB"["BA".index(better)]


def judged_by(
    judge: NoisyJudge, configuration: str, pairs: pd.DataFrame, texts: pd.DataFrame, splits: pd.DataFrame,
    guidance: GuidanceFile | None = None, configurations: Mapping[str, Configuration] = CONFIGURATIONS,
) -> JudgedTables:  # fmt: skip
    """Everything that a configuration makes of the pairs of split val."""
    use = configurations[configuration]
    val = splits.loc[splits["split"] == "val", "pair_id"]
    rows = pair_rows("set", texts[texts["pair_id"].isin(val)], splits, PairJudging())
    categories = dict(zip(pairs["pair_id"], pairs["category"], strict=True))
    shown = {} if use.guidance is None or guidance is None else guidance_of_pairs(guidance, use.guidance, categories)
    judge.log.clear()
    made = judge_pairs(use, PairsToJudge(rows, shown), judge)
    return JudgedTables(
        judge.name, configuration, made.decisions, calls_of(judge), made.criteria, made.criterion_verdicts,
        made.child_verdicts, None, None, made.refined_criteria, made.consistent_evidence,
    )  # fmt: skip


def calls_of(judge: ScriptedJudge) -> pd.DataFrame:
    """Table CRITERIA_CALLS of what a judge was asked: a token for each four characters."""
    return CRITERIA_CALLS.conform(
        {
            "stage": stage, "n_requests": n, "n_calls": n, "n_invalid": 0,
            "n_pairs": len({row["pair_id"] for row in judge.asked(stage)}),
            "tokens_in": sum(len(json.dumps(row, default=str)) // 4 for row in judge.asked(stage)),
            "tokens_out": 60 * n, "cost_usd": None,
        }
        for stage, n in judge.calls.items()
    )  # fmt: skip
