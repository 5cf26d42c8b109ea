"""criteria.yaml, checked: how pairs are judged criterion by criterion, one configuration a row of an ablation."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from judge_pipeline.settings.guidance import GuidanceSynthesis
from judge_pipeline.settings.names import SettingsModel, check_slug

GuidedStage = Literal["generator", "criterion_judge", "final_judge"]

GUIDED_STAGES: tuple[GuidedStage, ...] = ("generator", "criterion_judge", "final_judge")


class GuidanceUse(SettingsModel):
    """Which guidance a configuration's stages are given (CriterAlign, section 3.3, HPAG)."""

    file: str | None = Field(
        default=None,
        description="A ready-made file of assets_config/guidance/; null: synthesized from the set's train split",
    )
    synthesizer: str | None = Field(
        default=None, description="Judge that synthesizes it; null: the judge itself. Without meaning for a file"
    )
    from_set: str | None = Field(default=None, description="Preference set it is synthesized from; null: this one")
    general: bool = Field(default=True, description="Whether the part shared by all tasks is given")
    category: Literal["none", "given", "empty"] = Field(
        default="given", description="The part of the pair's category: not given, given, or its heading alone"
    )
    stages: tuple[GuidedStage, ...] = Field(default=GUIDED_STAGES, description="Stages that are given guidance")


class Configuration(SettingsModel):
    """One way to judge pairs: which stages there are, and how each works."""

    description: str = Field(default="", description="What it is, for people")
    paper_rows: tuple[str, ...] = Field(
        default=(), description="Rows of the paper that it stands for, as 'table: row', such as '2: + SCF'"
    )
    generator: Literal["none", "pair", "question", "weighted"] = Field(
        default="pair",
        description="Criteria from instruction and both responses (pair), from what was asked alone (question), the "
        "same with weights from 1 to 3 (weighted), or none: a monolithic judge",
    )
    improve: bool = Field(default=False, description="Improve criteria once from the two responses (Chasing the Tail)")
    criterion_judge: Literal["pairwise", "pointwise"] = Field(
        default="pairwise", description="A verdict on both responses, or a yes or no for each alone"
    )
    unanswered: Literal["invalid", "not_met"] = Field(
        default="invalid",
        description="A criterion that a pointwise answer leaves out makes it invalid, or counts as not met "
        "(Chasing the Tail). Without meaning for a pairwise criterion judge",
    )
    refinement: Literal["none", "btcr", "rrd"] = Field(
        default="btcr",
        description="Tied criteria in batches (btcr); or recursive decomposition, a call a criterion, of those that "
        "both responses meet, or of tied ones where the criterion judge is pairwise (rrd)",
    )
    swap_filter: bool = Field(
        default=True,
        description="Only verdicts that are the same in both orders count (SCF). Without meaning for a pointwise "
        "criterion judge, whose answers know no order",
    )
    aggregator: Literal["judge", "uniform", "llm_weights", "own_weights"] = Field(
        default="judge",
        description="A final pairwise judge; or weighted sums: all alike, weights by the judge, weights of generation",
    )
    guidance: GuidanceUse | None = Field(default=None, description="Guidance that stages are given; null: none")
    prompts: Literal["code", "general"] = Field(default="code", description="Wording: of code, or of any task")
    criteria_per_call: Literal["all", "one"] = Field(
        default="all", description="Whether a call judges all criteria of a pair, or one"
    )
    max_criteria: int = Field(default=20, ge=1, le=60, description="Most criteria in force for a pair")
    rounds: int = Field(default=2, ge=0, le=5, description="Most rounds of refinement")
    no_evidence: Literal["tie", "monolithic"] = Field(
        default="tie", description="What decides where no evidence is left: a tie, or the final judge without evidence"
    )

    @property
    def is_monolithic(self) -> bool:
        """Whether one call decides, without criteria."""
        return self.generator == "none"

    @model_validator(mode="after")
    def _fits_together(self) -> Configuration:
        if self.is_monolithic and self.aggregator != "judge":
            raise ValueError("generator: none leaves no criteria to add up: set aggregator: judge")
        if self.is_monolithic and self.improve:
            raise ValueError("generator: none leaves no criteria to improve: set improve: false")
        if self.aggregator == "own_weights" and self.generator != "weighted":
            raise ValueError("aggregator: own_weights needs generator: weighted")
        if self.aggregator == "own_weights" and self.refinement != "none":
            raise ValueError(
                "refinement makes criteria without a weight, and own_weights needs one: set refinement: none"
            )
        if self.aggregator != "judge" and self.criterion_judge == "pairwise":
            raise ValueError("weighted sums are of yes and no for each response: set criterion_judge: pointwise")
        if self.criterion_judge == "pointwise" and self.refinement == "btcr":
            raise ValueError("btcr refines tied pairwise verdicts: set refinement: rrd or none")
        return self


class CriteriaFile(SettingsModel):
    """assets_config/criteria.yaml."""

    configurations: dict[str, Configuration] = Field(description="Name -> how it judges", min_length=1)
    run: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="Judge -> its configurations that a run without --configurations includes",
    )
    context_chars: int = Field(
        default=24_000, ge=0, description="Characters of each of instruction, code to edit, prefix and suffix"
    )
    response_chars: int = Field(default=24_000, ge=1, description="Characters of each response")
    images: bool = Field(default=True, description="Whether judges that take images are shown screenshots")
    guidance_tokens: int = Field(
        default=150_000, ge=1000, description="Tokens of training records that a synthesizer may be given at once"
    )
    guidance: GuidanceSynthesis = Field(
        default=GuidanceSynthesis(), description="How guidance is synthesized from training pairs"
    )
    resamples: int = Field(default=2000, ge=100, description="Bootstrap resamples behind intervals and gains")

    @field_validator("configurations")
    @classmethod
    def _slugs(cls, value: dict[str, Configuration]) -> dict[str, Configuration]:
        for name in value:
            check_slug(name, "configuration name")
        return value

    @model_validator(mode="after")
    def _known(self) -> CriteriaFile:
        for judge, names in self.run.items():
            unknown = [name for name in names if name not in self.configurations]
            if unknown:
                raise ValueError(
                    f"run: {judge}: {', '.join(unknown)} is not under configurations; add it, or correct it"
                )
        return self
