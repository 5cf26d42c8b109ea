"""Guidance as a configuration's stages are given it (CriterAlign, section 3.3, HPAG)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge_pipeline.settings.criteria import GuidanceUse, GuidedStage
    from judge_pipeline.settings.guidance import GuidanceFile

_GENERAL = "In any task:"
_CATEGORY = "In particular in tasks of the category {}:"


def guidance_for(guidance: GuidanceFile, use: GuidanceUse, stage: GuidedStage, category: str | None) -> str | None:
    """The text that a stage is given for pairs of a category; patterns are for people and no part of it.

    The part of the category follows the general one and specializes it (Appendix F.3). With ``category: empty`` its
    heading stands alone, exactly where ``given`` has text, too: the control of Table 3.

    Args:
        guidance: the guidance.
        use: what the configuration gives to its stages.
        stage: the stage.
        category: the pair's category; it is matched whatever its case and punctuation.

    Returns:
        The text; None where the stage is given none.
    """
    if stage not in use.stages:
        return None
    parts = [f"{_GENERAL}\n{getattr(guidance.general, stage)}"] if use.general else []
    name = guidance.category_called(category) if use.category != "none" else None
    if name is not None:
        heading = _CATEGORY.format(name)
        given = use.category == "given"
        parts.append(f"{heading}\n{getattr(guidance.categories[name], stage)}" if given else heading)
    return "\n\n".join(parts) or None


def guidance_of_pairs(
    guidance: GuidanceFile, use: GuidanceUse, categories: Mapping[str, str | None]
) -> dict[str, dict[str, str]]:
    """Guided stage -> pair_id -> its guidance, as ``asking.PairsToJudge`` takes it; no entry: none.

    Args:
        guidance: the guidance.
        use: what the configuration gives to its stages.
        categories: pair_id -> category.
    """
    found: dict[str, dict[str, str]] = {}
    for stage in use.stages:
        texts = {pair_id: guidance_for(guidance, use, stage, category) for pair_id, category in categories.items()}
        found[stage] = {pair_id: text for pair_id, text in texts.items() if text is not None}
    return found
