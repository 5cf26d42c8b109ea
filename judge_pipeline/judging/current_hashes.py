"""What a judge would answer today: the identity of each call, to see whether a stored table still answers it."""

from __future__ import annotations

import pandas as pd

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.prepared import Settings, prepare
from judge_pipeline.judging.verification import in_scope
from judge_pipeline.settings import BaselineJudge, RecordedJudge


def current_hashes(
    judge_name: str,
    settings: Settings,
    requests: pd.DataFrame,
    context: JudgingContext,
    checkpoint: Checkpoint | None = None,
) -> dict[str, str]:
    """attempt_id -> the ``request_hash`` that judging now would give it; nothing is asked or fitted.

    An attempt that would have no judgment (a recorded file without a row for it) is left out.

    Args:
        judge_name: the judge's name in judges.yaml.
        settings: its settings.
        requests: table ``judge_requests`` of the contest, all of it.
        context: as for ``judge_requests``.
        checkpoint: where hashes of what was rendered before are kept; without one, all is rendered.

    Raises:
        JudgingError: no hash can be had: a recorded file or a prompt template is missing or wrong.
    """
    scope = in_scope(requests, settings.scope)
    if isinstance(settings, RecordedJudge):
        from judge_pipeline.judging.backends.recorded_backend import read_recorded

        answers = read_recorded(settings, context.contest_folder).answers
        return {a: answers[a]["request_hash"] for a in scope["attempt_id"] if a in answers}
    if isinstance(settings, BaselineJudge):
        from judge_pipeline.judging.backends.baseline_backend import baseline_hashes

        if context.training is None:
            raise JudgingError(f"judge {judge_name}: the baseline needs the labels of the train split")
        return baseline_hashes(settings, requests, scope, context.training, context.seed)
    return dict(prepare(judge_name, settings, scope, context.prompts_dir, checkpoint).hash_of)
