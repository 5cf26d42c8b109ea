"""From a request to the messages that each judge would be sent, without any of its backends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.prepared import Settings
from judge_pipeline.judging.question import ATTEMPT
from judge_pipeline.judging.request import Message, PromptTemplate
from judge_pipeline.settings import EmbeddedJudge, LitellmJudge

Renderer = Callable[[Mapping[str, Any]], tuple[Message, ...]]
"""From a row of ``judge_requests`` to its messages."""


def renderers_of(judges: Mapping[str, Settings], prompts_dir: Path) -> tuple[dict[str, Renderer], dict[str, str]]:
    """How each judge's messages are rendered, and why some have none.

    Args:
        judges: judge -> its settings. Recorded and baseline judges are sent no messages, and are passed over.
        prompts_dir: where prompt templates lie.

    Returns:
        Judges that render alike, joined by commas -> their renderer; and judge -> what is wrong with its template.
    """
    alike: dict[tuple[Any, ...], list[str]] = {}
    made: dict[tuple[Any, ...], Renderer] = {}
    without: dict[str, str] = {}
    for judge, settings in judges.items():
        if not isinstance(settings, (LitellmJudge, EmbeddedJudge)):
            continue
        try:
            template = ATTEMPT.load_template(settings, prompts_dir)
        except JudgingError as error:
            without[judge] = str(error)
            continue
        key: tuple[Any, ...] = (template.sha256,)
        render: Renderer = template.render
        if isinstance(settings, EmbeddedJudge):
            key += (settings.max_code_chars, settings.max_prompt_chars)
            render = _shortened(settings, template)
        alike.setdefault(key, []).append(judge)
        made[key] = render
    return {", ".join(names): made[key] for key, names in alike.items()}, without


def _shortened(settings: EmbeddedJudge, template: PromptTemplate) -> Renderer:
    return lambda request: template.render(ATTEMPT.shorten(settings, request))
