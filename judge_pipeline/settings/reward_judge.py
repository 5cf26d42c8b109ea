"""A reward model or preference model behind an HTTP scoring endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, model_validator

from judge_pipeline.settings.judge_parts import JudgeBase, Limits, Price, Prompts, ServerUrl, Shards, System

RewardProtocol = Literal["vllm_classify", "vllm_pooling", "vllm_score", "tei_predict", "tei_rerank"]
"""The endpoint that is asked: of vLLM, or of Hugging Face's Text Embeddings Inference (TEI)."""

SentAs = Literal["messages", "text", "query_and_text"]
"""How context and response reach the server."""

PATHS: Mapping[RewardProtocol, str] = {
    "vllm_classify": "/classify",
    "vllm_pooling": "/pooling",
    "vllm_score": "/score",
    "tei_predict": "/predict",
    "tei_rerank": "/rerank",
}
"""Below ``base_url``."""

FORMS: Mapping[RewardProtocol, tuple[SentAs, ...]] = {
    "vllm_classify": ("messages", "text"),
    "vllm_pooling": ("messages", "text"),
    "vllm_score": ("query_and_text",),
    "tei_predict": ("text", "query_and_text"),
    "tei_rerank": ("query_and_text",),
}
"""What each endpoint takes, the usual one first."""


class RewardJudge(JudgeBase):
    """A reward model behind an HTTP endpoint: a score for each response, or one for a pair in the order it is shown.

    Higher is better. Scores are asked for raw, before any squashing that would make near ones equal.
    """

    backend: Literal["reward"]
    systems: tuple[System, ...] = Field(default=("preference",), description="Systems that it serves")
    model: str = Field(min_length=1, description="The model's name, as the server calls it")
    base_url: ServerUrl = Field(description="URL of the server, without the endpoint's own path")
    protocol: RewardProtocol = Field(
        description="Endpoint: vLLM's /classify, /pooling or /score, or TEI's /predict or /rerank"
    )
    kind: Literal["scalar", "pairwise"] = Field(
        default="scalar", description="scalar: a score for each response; pairwise: one for both, high for the first"
    )
    send_as: SentAs | None = Field(
        default=None,
        description="messages: a chat, to which the server applies the model's chat template; text: context and "
        "response as one text; query_and_text: as two; null: the first of these that the endpoint takes",
    )
    prompts: Prompts = Field(default_factory=dict, description="Question (pair, ...) -> template of what is scored")
    tie_margin: float = Field(
        default=0.0, ge=0, allow_inf_nan=False, description="A difference of scores up to this is a tie"
    )
    neutral_score: float = Field(
        default=0.0,
        allow_inf_nan=False,
        description="pairwise: the score at which neither is preferred; 0.5 where the server gives probabilities",
    )
    log_odds: bool = Field(
        default=False,
        description="Whether the difference of the two scores (pairwise: the score) is the log-odds that the first is "
        "preferred, as after training by Bradley and Terry's model; then the judge has a probability too",
    )
    truncate: bool = Field(
        default=False, description="Let the server cut what is longer than the model takes; else that is a failure"
    )
    api_key_env: str | None = Field(default=None, description="Environment variable that holds the key")
    provider: str | None = Field(default=None, description="Entry under providers; null: host of base_url")
    limits: Limits = Field(default=Limits(), description="Tries, time-outs, calls in flight")
    shards: Shards = 1
    price: Price | None = Field(default=None, description="Price; null: unpriced")

    def sent_as(self) -> SentAs:
        """How context and response reach the server."""
        return self.send_as or (FORMS[self.protocol][0] if self.kind == "scalar" else "text")

    @model_validator(mode="after")
    def _serves_choices(self) -> RewardJudge:
        if "cocreation" in self.systems:
            raise ValueError(
                "a reward model scores responses and gives no judgment of an attempt: take cocreation out of systems"
            )
        return self

    @model_validator(mode="after")
    def _endpoint_takes_it(self) -> RewardJudge:
        takes = FORMS[self.protocol]
        if self.sent_as() not in takes:
            both = " as pairwise" if self.send_as is None else ""
            raise ValueError(
                f"protocol: {self.protocol} takes {' or '.join(takes)}, not send_as: {self.sent_as()}{both}; change one"
            )
        if self.kind == "pairwise" and self.sent_as() != "text":
            raise ValueError(
                "kind: pairwise sends both responses in one text: set send_as: text, and say in the template where "
                "each stands"
            )
        path = PATHS[self.protocol]
        if self.base_url.rstrip("/").endswith(path):
            raise ValueError(f"base_url must not hold the endpoint's own path {path}, which is added: take it away")
        return self

    @model_validator(mode="after")
    def _neutral_of_pairs(self) -> RewardJudge:
        if self.kind == "scalar" and self.neutral_score != 0.0:
            raise ValueError("neutral_score is for kind: pairwise; two scalar scores are compared with each other")
        return self

    def missing_key(self, environment: Mapping[str, str]) -> str | None:
        """The unset variable that ``api_key_env`` names, if any."""
        return self.api_key_env if self.api_key_env and not environment.get(self.api_key_env) else None
