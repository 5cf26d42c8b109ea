"""Everything that the criteria report is made from, by the stages themselves over the sample pairs, copied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from judge_pipeline.criteria.ablation import criteria_ablation
from judge_pipeline.criteria.guidance_file import frozen
from judge_pipeline.preference.pair_texts import pair_texts
from judge_pipeline.preference.preference_splits import assign_preference_splits
from judge_pipeline.report.criteria_inputs import CriteriaReportInput, GuidanceShown
from judge_pipeline.report.inputs import JudgeKind
from judge_pipeline.report.preference_inputs import PreferenceProvenance
from judge_pipeline.settings.guidance import GuidanceFile
from judge_pipeline.tables.criteria import CRITERIA_DECISIONS
from judge_pipeline.tables.criteria_ablation import JudgedTables
from judge_pipeline_tests.criteria.made_ablation import CONFIGURATIONS, NoisyJudge, judged_by
from judge_pipeline_tests.report.made_preference import MadeSet, sample_pairs
from judge_pipeline_tests.report.made_preference import provenance as of_preference
from judge_pipeline_tests.report.made_tables import HOSTILE

SKILL = {"litellm": 0.75, "embedded": 0.5}


@dataclass(frozen=True)
class MadeCriteria:
    """What the tables are made of.

    Attributes:
        judges: name -> backend.
        copies: how often the sample's pairs stand in the set.
        hostile: whether texts, rationales and guidance are full of markup.
        bias: share of verdicts that go to whatever stands first.
        configurations: those that are judged.
        n_resamples: behind intervals.
    """

    judges: tuple[tuple[str, str], ...] = (("scripted-judge", "litellm"), ("tiny", "embedded"))
    copies: int = 3
    hostile: bool = False
    bias: float = 0.25
    configurations: tuple[str, ...] = tuple(CONFIGURATIONS)
    n_resamples: int = 200


def made_guidance(pairs: Sequence[str], hostile: bool = False) -> GuidanceFile:
    """Guidance that was made from these pairs."""
    said = HOSTILE if hostile else "Let what the program prints decide before how its code is built."
    texts: dict[str, Any] = {
        "patterns": [{"text": "People weigh what is printed more than the judge does", "gap": "under_emphasized"}],
        "generator": said, "criterion_judge": said, "final_judge": said,
    }  # fmt: skip
    source = {
        "preference_set": "sample-pairs", "split": "train", "judge": "scripted-judge", "judge_model": "a script",
        "synthesizer": "scripted-judge", "synthesizer_model": "a script", "seed": 1, "prompts": {}, "n_train": 40,
        "pairs": {pair: f"g{place}" for place, pair in enumerate(pairs)},
    }  # fmt: skip
    return frozen(
        GuidanceFile.model_validate({"source": source, "general": texts, "categories": {"Web design": texts}})
    )


def made_criteria(made: MadeCriteria | None = None) -> CriteriaReportInput:
    """All tables of the report."""
    made = made or MadeCriteria()
    pairs, _ = sample_pairs(MadeSet(copies=made.copies, hostile=made.hostile))
    if made.hostile:  # each pair of its own instruction, so that some are of split train
        pairs = pairs.assign(instruction=[f"{HOSTILE} {n // 3}" for n in range(len(pairs))])
    pairs = pairs.assign(category=[HOSTILE if made.hostile else f"category {n % 3}" for n in range(len(pairs))])
    texts, _ = pair_texts(pairs, MadeSet().settings.redaction)
    splits = assign_preference_splits(pairs, seed=1, train_share=0.2, by_source=True, ledger=pd.DataFrame())
    train = splits.loc[splits["split"] == "train", "pair_id"].tolist()
    guidance = made_guidance(train, made.hostile)
    labels = dict(zip(pairs["pair_id"], pairs["w"], strict=True))
    said, mark = (HOSTILE, HOSTILE) if made.hostile else (NoisyJudge.said, "")
    judged = [
        judged_by(judge, configuration, pairs, texts, splits, guidance)
        for judge in (
            NoisyJudge(labels=labels, name=name, bias=made.bias, skill=SKILL[backend], said=said, mark=mark)
            for name, backend in made.judges
        )
        for configuration in made.configurations
    ]  # fmt: skip
    ablation = criteria_ablation(pairs, splits, judged, CONFIGURATIONS, seed=3, n_resamples=made.n_resamples)
    return CriteriaReportInput(
        preference_pairs=pairs,
        judged=judged,
        configurations=CONFIGURATIONS,
        pair_texts=texts,
        criteria_ablation=ablation.ablation,
        criteria_aspects=ablation.aspects,
        decisive_criteria=ablation.decisive,
        kinds={name: JudgeKind(name, backend, False, True, "judged", None) for name, backend in made.judges},
        guidance=[
            GuidanceShown(
                "scripted-judge@scripted-judge-0a1b2c.yaml", guidance.content_sha256 or "",
                tuple(f"{name}@full" for name, _ in made.judges), guidance,
            )
        ],
    )  # fmt: skip


def with_decisions(own: JudgedTables, decisions: Mapping[str, str | None]) -> JudgedTables:
    """The same with other decisions on some pairs."""
    rows = own.criteria_decisions
    said = [decisions.get(pair, was) for pair, was in zip(rows["pair_id"], rows["decision"], strict=True)]
    return replace(own, criteria_decisions=CRITERIA_DECISIONS.conform(rows.assign(decision=said)))


def provenance(chosen_by: str = "a stated rule; no person chose") -> PreferenceProvenance:
    """Where those tables come from."""
    return replace(of_preference(), chosen_by=chosen_by, rule="bigcodereward")
