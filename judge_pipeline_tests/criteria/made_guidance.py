"""A preference set of people who go by looks, a judge that sees only what works, and a synthesizer that counts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from judge_pipeline.criteria.guidance_records import (
    Record,
    TrainingPairs,
    human_rationales,
    monolithic_answers,
    training_pairs,
    training_records,
)
from judge_pipeline.criteria.guidance_synthesis import Between, Limits, Synthesized, synthesized_guidance
from judge_pipeline.settings.preference import PairJudging
from judge_pipeline.tables.preference import PAIR_TEXTS, PREFERENCE_PAIRS, PREFERENCE_SPLITS
from judge_pipeline_tests.criteria.scripted_judge import ScriptedJudge, features_in, response, share_of

SHOWN = PairJudging(may_tie=True)
BETWEEN = Between("made", "blind", "m-blind", "writer", "m-writer", {"t.md.j2": "0" * 64})
LIMITS = Limits(tokens=100_000, category_records=3, seed=7)


def choice_of(first: float, second: float) -> str:
    return "tie" if first == second else "A" if first > second else "B"


def features_of(pair: int, side: str) -> dict[str, int]:
    return {name: int(3 * share_of(str(pair), side, name)) for name in ("works", "looks")}


def people_choose(a: Mapping[str, int], b: Mapping[str, int]) -> str:
    """By looks, and where these are alike by what works."""
    return choice_of(10 * a["looks"] + a["works"], 10 * b["looks"] + b["works"])


@dataclass(frozen=True)
class MadeSet:
    """The tables of a set; pair p00, p01, ...: the first are of split train."""

    pairs: pd.DataFrame
    splits: pd.DataFrame
    texts: pd.DataFrame

    def training(self) -> TrainingPairs:
        return training_pairs("made", self.pairs, self.splits, self.texts, SHOWN)


def made_set(n_train: int = 12, n_val: int = 12) -> MadeSet:
    rows, splits = [], []
    for pair in range(n_train + n_val):
        a, b = features_of(pair, "A"), features_of(pair, "B")
        w = people_choose(a, b)
        rows.append(
            dict.fromkeys(PREFERENCE_PAIRS.column_names)
            | {
                "pair_id": f"p{pair:02}", "instruction": f"Task {pair}", "response_a": response(a),
                "response_b": response(b), "w": w, "both_bad": False, "swapped": False,
                "category": ("Web Design", "web_design", "games", None)[pair % 4],
                "aspects": json.dumps({"ui/ux design": choice_of(a["looks"], b["looks"]), "Fun": "a lot"}),
                "votes": json.dumps({"ann": w}), "origin": "table", "source_file": "p.csv", "place": f"row {pair}",
            }
        )  # fmt: skip
        split = "train" if pair < n_train else "val"
        splits.append(
            {"pair_id": f"p{pair:02}", "split": split, "instruction_group": f"g{pair:02}", "assigned_by": "seed"}
        )
    pairs = PREFERENCE_PAIRS.conform(rows)
    return MadeSet(pairs, PREFERENCE_SPLITS.conform(splits), PAIR_TEXTS.conform(pairs[PAIR_TEXTS.column_names]))


@dataclass
class BlindJudge(ScriptedJudge):
    """Judges by what works; guidance that names looks makes it see them."""

    def _monolithic(self, row: Mapping[str, Any]) -> Any:
        first, second = features_in(row["first"]), features_in(row["second"])
        return {"rationale": "it works better", "choice": choice_of(first["works"], second["works"])}

    def _generation(self, row: Mapping[str, Any]) -> Any:
        texts = ["works", *(["looks"] if "looks" in (row["guidance"] or "") else [])]
        return {"criteria": [{"text": text, "aspect": "others"} for text in texts]}

    def _final(self, row: Mapping[str, Any]) -> Any:
        criteria, verdicts = json.loads(row["criteria"]), json.loads(row["verdicts"])
        said = {text: verdicts[id_]["verdict"] for id_, text in criteria.items()}
        looks = said.get("looks", "tie") if "looks" in (row["guidance"] or "") else "tie"
        return {"rationale": "so", "choice": said.get("works", "tie") if looks == "tie" else looks}


@dataclass
class Synthesizer(ScriptedJudge):
    """Counts which feature speaks for people's choice where the judge chose otherwise."""

    def _guidance_human_rationale(self, row: Mapping[str, Any]) -> Any:
        return {"rationale": f"People took {row['human_choice']} for " + " ".join(json.loads(row["aspects"]))}

    def _guidance_general(self, row: Mapping[str, Any]) -> Any:
        shown = json.loads(row["shown"])
        counts: Counter[str] = Counter()
        for record, fact in zip(shown["records"], shown["facts"], strict=True):
            a, b = features_in(record["first"]), features_in(record["second"])
            counts.update(
                name for name in a if fact["human"] != fact["judge"] and choice_of(a[name], b[name]) == fact["human"]
            )
        found = counts.most_common(1)[0][0] if counts else "nothing"
        where = f" in {shown['category']}" if "category" in shown else ""
        pattern = {"text": f"People weigh {found}{where}.", "gap": "missed"}
        stages = ("generator", "criterion_judge", "final_judge")
        return {"patterns": [pattern], **{stage: f"Weigh {found} as a {stage}{where}." for stage in stages}}

    _guidance_category = _guidance_general


def records_of(made: MadeSet, judge: ScriptedJudge, synthesizer: ScriptedJudge, chars: int = 8000) -> list[Record]:
    training = made.training()
    decisions = monolithic_answers(training, judge)
    return training_records(training, decisions, human_rationales(training, synthesizer), chars)


def synthesized(
    made: MadeSet, judge: ScriptedJudge, synthesizer: ScriptedJudge, limits: Limits = LIMITS
) -> Synthesized:
    return synthesized_guidance(BETWEEN, records_of(made, judge, synthesizer), limits, synthesizer)
