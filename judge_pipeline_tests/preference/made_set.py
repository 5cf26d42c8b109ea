"""A preference set as stored tables: pairs with planted weights, and judges whose choices follow stated rules."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judge_pipeline.preference.accuracy import preference_accuracy
from judge_pipeline.preference.pair_decisions import pair_decisions
from judge_pipeline.preference.preference_models import ModelOptions
from judge_pipeline.preference.rubric_choices import choices_under
from judge_pipeline.preference.rubric_models import rubric_models
from judge_pipeline.preference.verdicts import unswapped, verdicts_of
from judge_pipeline.tables.pair_judging import PAIR_JUDGMENTS
from judge_pipeline.tables.preference import PREFERENCE_PAIRS, PREFERENCE_SPLITS
from judge_pipeline.tables.rubric import RUBRIC_SCORES

ITEMS = ("short", "commented", "typed")
PEOPLE = np.array([1.5, -0.8, 0.0])
"""What people weigh; ``contrary`` weighs ``short`` the other way round."""
WEIGHTS = {"alike": PEOPLE, "contrary": PEOPLE * [-1, 1, 1], "second": PEOPLE}


@dataclass(frozen=True)
class MadeSet:
    """The tables.

    Attributes:
        pairs: PREFERENCE_PAIRS; every tenth label is a tie, and pairs 0 and 1 have one instruction.
        splits: PREFERENCE_SPLITS.
        judgments: judge -> PAIR_JUDGMENTS: of ``WEIGHTS`` (``second``: of val alone), and ``first``, which always picks
            what it is shown first.
        scores: RUBRIC_SCORES.
    """

    pairs: pd.DataFrame
    splits: pd.DataFrame
    judgments: dict[str, pd.DataFrame]
    scores: pd.DataFrame


def made_set(n: int = 160, seed: int = 5) -> MadeSet:
    """A set of n pairs; every judge but ``first`` has 4 invalid answers in order BA."""
    rng = np.random.default_rng(seed)
    ids = [f"p{i:03}" for i in range(n)]
    scores = rng.choice([-1, 0, 1], size=(n, len(ITEMS)), p=[0.35, 0.3, 0.35])
    labels = ["tie" if i % 10 == 9 else choice for i, choice in enumerate(_chosen(rng, scores, PEOPLE))]
    pairs = PREFERENCE_PAIRS.conform([_pair(i, pair_id, labels[i]) for i, pair_id in enumerate(ids)])
    splits = [
        {"pair_id": p, "split": "train" if i < n // 5 else "val", "instruction_group": f"{max(i, 1):016x}",
         "assigned_by": "seed"}
        for i, p in enumerate(ids)
    ]  # fmt: skip
    judgments, val = {}, ids[n // 5 :]
    for judge, weights in WEIGHTS.items():
        chosen = _chosen(rng, scores, weights)
        decisions = pd.DataFrame({"pair_id": ids, "ab": chosen, "ba": chosen})
        judgments[judge] = judgments_of(judge, decisions[decisions["pair_id"].isin(val) | (judge != "second")], 4)
    first = pd.DataFrame({"pair_id": ids, "ab": "A", "ba": "B"})
    judgments["first"] = judgments_of("first", first, 0)
    rows = [
        {"pair_id": p, "item": item, "score": int(score), "score_ab": int(score), "score_ba": int(score),
         "scorer": "scorer", "reason": None}
        for p, own in zip(ids, scores, strict=True)
        for item, score in zip(ITEMS, own, strict=True)
    ]  # fmt: skip
    return MadeSet(pairs, PREFERENCE_SPLITS.conform(splits), judgments, RUBRIC_SCORES.conform(rows))


def decisions_of_set(made: MadeSet) -> pd.DataFrame:
    """The judges' decisions beside the set's pairs."""
    return pair_decisions(made.pairs, pd.concat(made.judgments.values()), made.splits)


def measured(made: MadeSet, n_resamples: int = 100) -> dict[str, pd.DataFrame]:
    """The tables of figures that are drawn, by their names."""
    decisions = decisions_of_set(made)
    labels = made.pairs.rename(columns={"w": "label"})[["pair_id", "label"]]
    options = ModelOptions(n_resamples=n_resamples)
    found = rubric_models(made.scores, labels, choices_under("trace", decisions), options)
    return {
        "preference_accuracy": preference_accuracy(decisions, n_resamples=n_resamples, further_rules=("exact",)),
        "preference_models": found.models,
        "misalignment": found.misalignment,
    }


def judgments_of(judge: str, chosen: pd.DataFrame, n_invalid: int) -> pd.DataFrame:
    """PAIR_JUDGMENTS of choices in terms of A and B (pair_id, ab, ba), the first so many invalid in order BA."""
    decisions = chosen.rename(columns={"ab": "decision_ab", "ba": "decision_ba"}).assign(judge=judge)
    verdicts = verdicts_of(decisions)
    invalid = (verdicts["presentation_order"] == "BA") & (verdicts.groupby("presentation_order").cumcount() < n_invalid)
    slots = verdicts["slot"].where(~invalid, None)
    rows = [
        {
            **dict.fromkeys(column.name for column in PAIR_JUDGMENTS.columns),
            "pair_id": pair_id,
            "presentation_order": order,
            "judge": judge,
            "slot": slot,
            "decision": unswapped(slot, order),
            "failure_class": None if slot else "invalid",
            "request_hash": hash_of(judge, pair_id, order),
            "model": f"{judge}-1",
            "n_tries": 1,
            "cost_usd": 0.001,
        }
        for pair_id, order, slot in zip(verdicts["pair_id"], verdicts["presentation_order"], slots, strict=True)
    ]
    return PAIR_JUDGMENTS.conform(rows)


def hash_of(judge: str, pair_id: str, order: str) -> str:
    """The request hash of a made judgment."""
    return f"{judge}:{pair_id}:{order}"


def _chosen(rng: np.random.Generator, scores: np.ndarray, weights: np.ndarray) -> list[str]:
    p = 1 / (1 + np.exp(-2 * scores @ weights))
    return ["B" if draw < share else "A" for draw, share in zip(rng.random(len(p)), p, strict=True)]


def _pair(i: int, pair_id: str, w: str) -> dict[str, object]:
    return {
        **dict.fromkeys(column.name for column in PREFERENCE_PAIRS.columns),
        "pair_id": pair_id,
        "instruction": f"Do task {max(i, 1)}.",
        "response_a": f"answer A of {pair_id}" + " and more" * (i % 3),
        "response_b": f"answer B of {pair_id}" + " and more" * (i % 2),
        "w": w,
        "both_bad": False,
        "category": ("chat", "edit")[i % 2],
        "votes": json.dumps({"anna": "A", "ben": "B"}) if i % 4 == 0 else None,
        "swapped": False,
        "origin": "table",
        "source_file": "pairs.jsonl",
        "place": f"row {i + 1}",
    }
