"""From attempts and contexts to judge requests: personal data replaced, verdict words masked, texts cut (eq. 7).

One way for all, so that what is checked about requests is checked about the way by which they are made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from judge_pipeline.cocreation.redacted import redact_requests
from judge_pipeline.cocreation.requests import judge_requests
from judge_pipeline.cocreation.verdict_masking import mask_verdict_words
from judge_pipeline.ingest.redaction import Redactor
from judge_pipeline.settings import ContestSettings
from judge_pipeline.tables import ATTEMPTS


@dataclass(frozen=True)
class MadeRequests:
    """What was made.

    Attributes:
        requests: table JUDGE_REQUESTS.
        redaction_counts: table REDACTION_COUNTS.
        verdict_word_counts: table VERDICT_WORD_COUNTS.
    """

    requests: pd.DataFrame
    redaction_counts: pd.DataFrame
    verdict_word_counts: pd.DataFrame


@dataclass(frozen=True)
class RequestMaker:
    """Makes requests for one contest.

    Attributes:
        settings: of the contest.
        redactor: of its personal data.
        statements: problem id -> statement, where judges are shown them.
    """

    settings: ContestSettings
    redactor: Redactor
    statements: Mapping[str, str] | None = None

    def make(self, attempts: pd.DataFrame, contexts: pd.DataFrame, splits: pd.DataFrame) -> MadeRequests:
        """The requests of the tables ATTEMPTS, PARTICIPANT_CONTEXTS and SPLIT_ASSIGNMENTS.

        Raises:
            ValueError: a participant without a context, or a trajectory without a split.
        """
        shown, contexts, redactions = redact_requests(attempts, contexts, self.redactor, self.settings.redaction)
        contexts, words = mask_verdict_words(shown, contexts, self.settings)
        requests = judge_requests(
            shown,
            contexts,
            splits,
            context=self.settings.context,
            max_code_chars=self.settings.max_code_chars,
            max_prompt_chars=self.settings.max_prompt_chars,
            statements=self.statements,
        )
        return MadeRequests(requests, redactions, words)


def shown_contexts(contexts: pd.DataFrame, redactor: Redactor, settings: ContestSettings) -> pd.DataFrame:
    """Q_u as judges are shown it where they are shown it: personal data replaced, words masked where asked for, cut.

    Args:
        contexts: table PARTICIPANT_CONTEXTS.
        redactor: of the contest's personal data.
        settings: of the contest; whether its judges are blind does not matter here.

    Returns:
        A copy with another ``prompt_text`` and nothing else changed.
    """
    nothing = ATTEMPTS.empty()
    _, redacted, _ = redact_requests(nothing, contexts, redactor, settings.redaction)
    masked, _ = mask_verdict_words(nothing, redacted, settings.model_copy(update={"context": "nonblind"}))
    return masked.assign(prompt_text=masked["prompt_text"].str.slice(0, settings.max_prompt_chars))
