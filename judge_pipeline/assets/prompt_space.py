"""Group dynamics: prompt space, participants by the words of Q_u (paper 1, V-B2, Figure 11)."""

from __future__ import annotations

from typing import Any

import dagster as dg

from judge_pipeline.orchestration.partitions import contest_of
from judge_pipeline.orchestration.table_asset import Made, table_asset
from judge_pipeline.settings.secrets_file import key_environment
from judge_pipeline.tables import PARTICIPANT_CONTEXTS, TRAJECTORIES
from judge_pipeline.tables.prompt_space import PROMPT_SPACE, PROMPT_SPACE_TEST

GROUP = "prompts_and_code"
_ROOMS = (
    "cocreation/making_requests.py", "cocreation/null_reasons.py", "cocreation/prompt_space.py",
    "cocreation/prompt_terms.py", "cocreation/redacted.py", "cocreation/verdict_masking.py", "ingest/redacting",
    "ingest/redaction.py", "ingest/verdict_mentions.py", "statistics",
)  # fmt: skip


@table_asset(
    PROMPT_SPACE,
    group=GROUP,
    inputs=(PARTICIPANT_CONTEXTS, TRAJECTORIES),
    rooms=_ROOMS,
    kinds=("scikitlearn", "parquet"),
    figures=True,
)
def prompt_space(context: dg.AssetExecutionContext, participant_contexts: Any, trajectories: Any) -> Made:
    """From texts as judges are shown them: personal data replaced, cut. Fewer than 5 participants have no place."""
    from judge_pipeline.cocreation.prompt_space import prompt_space as build

    settings = context.resources.workspace.contest(contest_of(context))
    rows = build(_shown(context, participant_contexts), trajectories, seed=settings.seed)
    return Made(rows, {"participants_with_a_place": int(rows["x"].notna().sum())})


@table_asset(
    PROMPT_SPACE_TEST,
    group=GROUP,
    inputs=(PARTICIPANT_CONTEXTS, PROMPT_SPACE),
    rooms=_ROOMS,
    kinds=("scikitlearn", "parquet"),
    figures=True,
)
def prompt_space_test(context: dg.AssetExecutionContext, participant_contexts: Any, prompt_space: Any) -> Made:
    """Tests go by TF-IDF, not by drawn places; participants are permuted."""
    from judge_pipeline.cocreation.prompt_space import prompt_space_test as build

    settings = context.resources.workspace.contest(contest_of(context))
    return Made(build(_shown(context, participant_contexts), prompt_space, seed=settings.seed))


def _shown(context: dg.AssetExecutionContext, contexts: Any) -> Any:
    """Q_u as judges are shown it."""
    from judge_pipeline.cocreation.making_requests import shown_contexts
    from judge_pipeline.cocreation.redacted import redactor_of

    contest = contest_of(context)
    settings = context.resources.workspace.contest(contest)
    key = key_environment().get(settings.redaction.key_env, "").encode() or None
    redactor = redactor_of(settings.redaction, contest, sorted(contexts["participant"]), key)
    return shown_contexts(contexts, redactor, settings)


ASSETS = [prompt_space, prompt_space_test]
