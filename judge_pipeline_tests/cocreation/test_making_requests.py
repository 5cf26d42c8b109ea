from __future__ import annotations

import hashlib

import pytest

from judge_pipeline.cocreation.making_requests import RequestMaker, shown_contexts
from judge_pipeline.cocreation.redacted import redactor_of
from judge_pipeline.cocreation.splits import assign_splits
from judge_pipeline.settings import ContestSettings
from judge_pipeline.tables import PARTICIPANT_CONTEXTS
from judge_pipeline_tests.paper_counts_contest import PARTICIPANTS, SEED, paper_counts_contest

TEXT = "Mail me at someone@example.org. My program got Wrong Answer twice, why? "


@pytest.mark.parametrize("masks", [False, True])
def test_contexts_are_shown_as_in_requests(masks: bool) -> None:
    attempts = paper_counts_contest().attempts
    settings = ContestSettings(mask_verdict_words=masks, max_prompt_chars=200)
    contexts = PARTICIPANT_CONTEXTS.conform(
        [
            {
                "participant": u, "prompt_text": f"{u} {TEXT * i}", "n_messages": 1, "n_logs": 1, "n_chars": 9,
                "prompt_sha256": hashlib.sha256(u.encode()).hexdigest(), "reason": None,
            }
            for i, u in enumerate(PARTICIPANTS)
        ]
    )  # fmt: skip
    redactor = redactor_of(settings.redaction, "paper", PARTICIPANTS, b"key")
    splits = assign_splits(attempts, seed=SEED, val_share=0.1, test_share=0.1)
    requests = RequestMaker(settings, redactor).make(attempts, contexts, splits).requests
    of = requests.merge(attempts[["attempt_id", "participant"]], on="attempt_id").groupby("participant")["prompt_text"]
    shown = shown_contexts(contexts, redactor, settings)
    assert dict(zip(shown["participant"], shown["prompt_text"], strict=True)) == of.first().to_dict()
    assert ("[masked:verdict]" in shown["prompt_text"].iloc[-1]) == masks
    blind = shown_contexts(contexts, redactor, settings.model_copy(update={"context": "blind"}))
    assert blind.equals(shown), "what is shown where it is shown does not depend on whether it is"
