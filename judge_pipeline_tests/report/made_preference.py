"""Tables of a preference set by the functions that make them, from the sample set's pairs and simulated judges."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import numpy as np
import pandas as pd
import yaml

from judge_pipeline.preference.accuracy import preference_accuracy
from judge_pipeline.preference.dataset_profile import dataset_profile
from judge_pipeline.preference.misalignment import misalignment, rubric_disagreements
from judge_pipeline.preference.pair_decisions import pair_decisions
from judge_pipeline.preference.pair_texts import pair_texts
from judge_pipeline.preference.pairs import instruction_group, read_pairs
from judge_pipeline.preference.preference_models import ModelOptions, fit_models, model_tables
from judge_pipeline.preference.preference_splits import assign_preference_splits
from judge_pipeline.preference.rank_relation import preference_ranks
from judge_pipeline.preference.rubric_choices import rubric_choices
from judge_pipeline.preference.verdicts import unswapped
from judge_pipeline.report.preference_inputs import PreferenceProvenance, PreferenceReportInput
from judge_pipeline.settings.preference import PreferenceSettings
from judge_pipeline_tests.report.made_tables import HOSTILE

SETTINGS = PreferenceSettings(title="Sample pairs", chosen_by="a stated rule; no person chose", natural_languages="low")
FAMILIES = ("general-purpose", "fine-tuned judge", "reward model")
JUDGES = ("simulated-gpt", "simulated-claude", "simulated-llama", "simulated-selene", "simulated-grm", "length")
MANY_JUDGES = (
    "simulated-gpt-5", "simulated-gpt-5-mini", "simulated-pairrm", "simulated-o3-mini-high", "simulated-gpt-4o",
    "simulated-grm-gemma-2b", "simulated-claude-sonnet-4", "simulated-deepseek-r1", "simulated-llama-3.1-70b-instruct",
    "simulated-selene-1-mini", "simulated-skywork-critic-llama-3.1-70b", "simulated-prometheus-2-7b", "length",
)  # fmt: skip
HOSTILE_JUDGES = (f"simulated-{HOSTILE}", HOSTILE, "length")

ITEMS: dict[str, tuple[str, str, str, str]] = {
    "right-result": ("Right result", "does what was asked for in all cases", "gives a wrong result in some", "both"),
    "edge-cases": ("Handles edge cases", "handles empty and odd input", "fails on empty or odd input", "generated"),
    "brevity": ("Brevity", "short, nothing superfluous", "long, with parts that nobody needs", "human"),
    "comments": ("Comments and docstrings", "explains itself in comments", "has no comment", "generated"),
    "naming": ("Clear names", "names say what things are", "names say nothing", "generated"),
    "explanation": ("Explanation around the code", "explains how it works", "gives the code only", "generated"),
    "standard-library": ("Uses the standard library", "takes what the language has", "writes it anew", "generated"),
    "structure": ("Structure", "split into small steps", "one long block", "human"),
    "style": ("Fits the style of the file", "reads like the code around it", "differs from it", "edited"),
    "efficiency": ("Efficiency", "does no more work than needed", "does work that is not needed", "generated"),
    "types": ("Type hints", "states types", "states none", "generated"),
    "scope": ("Keeps to the request", "changes only what was asked", "changes other things, too", "both"),
}
PEOPLE = np.array([1.2, 0.3, 0.8, -0.3, 0.2, -0.5, 0.1, 0.2, 0.3, 0.1, 0.0, 0.4])
OF_JUDGES = np.array([1.0, 0.9, -0.2, 0.4, 0.2, 0.3, 0.1, 0.2, 0.0, 0.1, 0.1, 0.3])


@dataclass(frozen=True)
class MadeSet:
    """What the tables are made of.

    Attributes:
        judges: names.
        copies: how often the sample's first 42 pairs stand in the set, each time with instructions of their own.
        n_items: rubric items.
        one_order: judges that were asked in the order AB only: all of them.
        votes: whether three annotators voted on every second pair.
        hostile: whether texts are full of markup.
        unverified: judge -> why its table is not whole.
        seed: of everything.
        settings: of the set.
        n_resamples: behind intervals.
    """

    judges: tuple[str, ...] = JUDGES
    copies: int = 4
    n_items: int = 8
    one_order: bool = False
    votes: bool = True
    hostile: bool = False
    unverified: dict[str, str] = field(default_factory=dict)
    seed: int = 7
    settings: PreferenceSettings = SETTINGS
    n_resamples: int = 300


def sample_pairs(made: MadeSet) -> tuple[pd.DataFrame, Any]:
    """What the importer makes of the sample set: its pairs, ``copies`` times, and its counts."""
    folder = resources.files("judge_pipeline") / "samples" / "preference_sets" / "sample-pairs"
    lines = (folder / "pairs.jsonl").read_bytes().splitlines(keepends=True)
    files = [("pairs.jsonl", b"".join(lines[:42]))]
    settings = PreferenceSettings.model_validate(yaml.safe_load((folder / "preference.yaml").read_text("utf-8")))
    read = read_pairs(files, settings)
    parts = []
    for copy in range(made.copies):
        part = read.pairs.assign(pair_id=[f"{name}-{copy}" if copy else name for name in read.pairs["pair_id"]])
        part["instruction"] = [f"{text or 'Complete the file.'} (task {copy})" for text in part["instruction"]]
        parts.append(part)
    pairs = pd.concat(parts, ignore_index=True)
    if made.hostile:
        pairs = pairs.assign(instruction=HOSTILE, response_a=pairs["response_a"] + HOSTILE, category=HOSTILE)
    return pairs, read


def _votes(w: str, rng: np.random.Generator) -> str:
    others = [choice for choice in ("A", "B", "tie") if choice != w]
    return json.dumps({name: w if rng.random() < 0.7 else str(rng.choice(others)) for name in ("ann", "bo", "cy")})


def made_preference(made: MadeSet | None = None) -> PreferenceReportInput:
    """All tables of the report."""
    made = made or MadeSet()
    pairs, read = sample_pairs(made)
    rng = np.random.default_rng(made.seed)
    items = dict(list(ITEMS.items())[: made.n_items])
    scores = _scores(pairs, items, rng)
    wide = scores.pivot(index="pair_id", columns="item", values="score").reindex(pairs["pair_id"], columns=list(items))
    standard = (wide / wide.std()).fillna(0.0).to_numpy(float)
    labels = np.where(rng.random(len(pairs)) < _expit(standard @ PEOPLE[: made.n_items]), "B", "A")
    pairs = pairs.assign(w=np.where(pairs["w"] == "tie", "tie", labels))
    if made.votes:
        pairs = pairs.assign(votes=[_votes(w, rng) if place % 2 else None for place, w in enumerate(pairs["w"])])
    texts, _ = pair_texts(pairs, made.settings.redaction)
    splits = assign_preference_splits(pairs, seed=1, train_share=0.2, by_source=True, ledger=pd.DataFrame())
    judgments = {judge: _judgments(judge, place, pairs, standard, made, rng) for place, judge in enumerate(made.judges)}
    verdicts = pd.concat([table for judge, table in judgments.items() if judge not in made.unverified])
    families = {judge: FAMILIES[place % 3] for place, judge in enumerate(made.judges)}
    decisions = pair_decisions(pairs, verdicts, splits, families)
    data, options = _choices(pairs, scores, decisions), ModelOptions(n_resamples=made.n_resamples)
    models = fit_models(data, options)
    effects, fits = model_tables(models, data, options)
    accuracy = preference_accuracy(decisions, n_resamples=made.n_resamples)
    return PreferenceReportInput(
        preference_pairs=pairs,
        pair_texts=texts,
        preference_selection=read.selection,
        preference_quarantine=_quarantine(made),
        preference_splits=splits,
        dataset_profile=dataset_profile(pairs, lambda texts: ["English"] * len(texts)),
        pair_judgments=judgments,
        pair_judge_coverage=_coverage(judgments, families, made, len(pairs)),
        preference_accuracy=accuracy,
        preference_ranks=_ranks(accuracy),
        rubric=_rubric(items, made),
        rubric_scores=scores,
        rubric_score_agreement=_agreement(scores, items),
        rubric_themes=_themes(items),
        preference_models=effects,
        preference_model_fits=fits,
        misalignment=misalignment(models, data),
        rubric_disagreements=rubric_disagreements(models, data, options),
    )


def provenance(made: MadeSet | None = None) -> PreferenceProvenance:
    """Where those tables come from."""
    made = made or MadeSet()
    return PreferenceProvenance(
        preference_set="sample-pairs", fingerprint="9f2c" * 16, seed=20260401, resamples=2000, code_version="0.1.0",
        chosen_by=made.settings.chosen_by, title=made.settings.title, note=made.settings.note, rule="trace",
        prompt_hashes={"simulated-gpt": "ab" * 32}, data_versions={"preference_pairs": "cd" * 32},
        settings={"judges.yaml (sha256)": "ef" * 32}, version="0.1.0",
    )  # fmt: skip


def _expit(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _scores(pairs: pd.DataFrame, items: dict[str, Any], rng: np.random.Generator) -> pd.DataFrame:
    rows = []
    for pair_id in pairs["pair_id"]:
        for item in items:
            ab = int(rng.choice([-1, 0, 1], p=[0.35, 0.3, 0.35]))
            ba = ab if rng.random() < 0.85 else int(rng.choice([-1, 0, 1]))
            rows.append({
                "pair_id": pair_id, "item": item, "score": ab if ab == ba else 0, "score_ab": ab, "score_ba": ba,
                "scorer": "simulated-scorer", "reason": None,
            })  # fmt: skip
    return pd.DataFrame(rows)


def _judgments(
    judge: str, place: int, pairs: pd.DataFrame, standard: np.ndarray, made: MadeSet, rng: np.random.Generator
) -> pd.DataFrame:
    weights = OF_JUDGES[: made.n_items] * (0.6 + 0.1 * (place % 5))
    bias = 0.0 if place % 3 == 2 else 0.25 * (place % 4)
    noise = rng.logistic(size=len(pairs)) * 0.7
    rows = []
    for order in ("AB",) if made.one_order else ("AB", "BA"):
        toward_second = 1 if order == "AB" else -1
        lean = toward_second * (standard @ weights + noise) - bias * 2 + rng.logistic(size=len(pairs)) * 0.4
        for pair_id, value in zip(pairs["pair_id"], lean, strict=True):
            invalid = place % 3 != 2 and rng.random() < 0.02
            slot = None if invalid else "second" if value > 0 else "first"
            said = f"The {slot} response handles the task better and is easier to follow."
            rows.append({
                "pair_id": pair_id, "presentation_order": order, "judge": judge, "slot": slot,
                "decision": unswapped(slot, order), "p_first": None, "score_first": None, "score_second": None,
                "rationale": None if invalid or place % 3 == 2 else HOSTILE if made.hostile else said,
                "failure_class": "not_json" if invalid else None, "failure": "no JSON" if invalid else None,
                "request_hash": None, "model": "simulated", "repair": None, "n_tries": 1, "latency_ms": 20.0,
                "tokens_in": None, "tokens_out": None, "cost_usd": None, "n_screenshots": None,
                "screenshots_left_out": None,
            })  # fmt: skip
    return pd.DataFrame(rows)


def _coverage(
    judgments: dict[str, pd.DataFrame], families: dict[str, str], made: MadeSet, n_pairs: int
) -> list[dict[str, Any]]:
    rows = []
    for judge, table in judgments.items():
        invalid = int(table["slot"].isna().sum())
        why = made.unverified.get(judge)
        rows.append({
            "judge": judge, "backend": "baseline" if judge == "length" else "recorded", "family": families[judge],
            "status": "unverified" if why else "verified", "scope": "all pairs", "n_in_scope": n_pairs,
            "n_judged": n_pairs, "n_answers": len(table), "n_invalid": invalid,
            "invalid": f"not_json: {invalid}" if invalid else None, "n_tries": None, "cost_usd": None,
            "model": None if judge == "length" else "simulated", "reason": why,
        })  # fmt: skip
    return rows


def _choices(pairs: pd.DataFrame, scores: pd.DataFrame, decisions: pd.DataFrame) -> Any:
    both = decisions.get("decision_ba", decisions["decision_ab"])
    choices = decisions[["pair_id", "judge"]].assign(choice=decisions["decision_ab"].where(
        decisions["decision_ab"] == both
    ))  # fmt: skip
    groups = [instruction_group(text, ()) for text in pairs["instruction"]]
    known = pd.DataFrame({"pair_id": pairs["pair_id"], "label": pairs["w"], "cluster": groups})
    return rubric_choices(scores, known, choices)


def _ranks(accuracy: pd.DataFrame) -> pd.DataFrame:
    acc = accuracy[(accuracy["of"] == "judge") & (accuracy["figure"] == "acc") & accuracy["category"].isna()]
    here = dict(zip(acc["name"], acc["value"], strict=True))
    there = {judge: 0.9 - 0.02 * place for place, judge in enumerate(sorted(here))}
    return preference_ranks({"sample-pairs": here, "other-pairs": there}, figure="acc")


def _rubric(items: dict[str, tuple[str, str, str, str]], made: MadeSet) -> list[dict[str, Any]]:
    return [
        {
            "item": item, "title": f"{title}{HOSTILE if made.hostile else ''}", "high": high, "low": low,
            "origin": origin, "sources": json.dumps([title]), "round": None if origin == "human" else 1, "theme": None,
            "unedited": json.dumps({"title": "Style", "high": "neat", "low": "not"}) if origin == "edited" else None,
        }
        for item, (title, high, low, origin) in items.items()
    ]  # fmt: skip


def _agreement(scores: pd.DataFrame, items: dict[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for item in (None, *items):
        of = scores if item is None else scores[scores["item"] == item]
        for other, n in ((None, len(of)), ("simulated-second-scorer", len(of) // 4)):
            for figure, value in (
                ("raw_agreement", float((of["score_ab"] == of["score_ba"])[:n].mean())),
                ("cohen", 0.62),
                ("nonzero_share", float((of["score"] != 0)[:n].mean())),
            ):
                rows.append({
                    "item": item, "other": other, "figure": figure, "value": value, "n": n, "n_left_out": 0,
                    "ci95_low": max(0.0, value - 0.06), "ci95_high": min(1.0, value + 0.06), "reason": None,
                })  # fmt: skip
    return rows


def _themes(items: dict[str, tuple[str, str, str, str]]) -> list[dict[str, Any]]:
    return [
        {
            "theme": "correctness" if place < 2 else None if place == 6 else "readability",
            "criterion": None if place > 3 else "Correctness",
            "preference_set": name, "item": item, "title": title, "assigned_by": "words", "difference": 0.1 * place,
            "misaligned": place == 1, "misaligned_by_trace": place < 3,
        }
        for name in ("sample-pairs", "other-pairs")
        for place, (item, (title, *_)) in enumerate(items.items())
    ]  # fmt: skip


def _quarantine(made: MadeSet) -> list[dict[str, Any]]:
    said = HOSTILE if made.hostile else "is none of A, B, tie"
    row = {
        "source_file": "pairs.jsonl",
        "place": "line 43",
        "field": "w",
        "value": "C",
        "reason": said,
        "remedy": "fix",
    }
    return [row]
