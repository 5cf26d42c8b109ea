"""JudgeBench: which of two responses is right, by an objective label; no person chose (Tan et al., 2024)."""

from __future__ import annotations

from judge_pipeline.preference.drafts import LeftOut, PairDraft
from judge_pipeline.preference.importers.importer import Importer, Values
from judge_pipeline.preference.row_values import choice_of, label_of, response_of, text_of
from judge_pipeline.settings.preference import JudgeBenchSource


def pair_of(values: Values, source: JudgeBenchSource) -> PairDraft:
    """The pair of a line."""
    category = label_of(values.get("source"), "source")
    if source.sources and not (category or "").startswith(source.sources):
        raise LeftOut("is of another source", "source.sources")
    model = label_of(values.get("response_model"), "response_model")
    return PairDraft(
        response_of(values.get("response_A"), "response_A"),
        response_of(values.get("response_B"), "response_B"),
        choice_of(values.get("label"), "label"),
        pair_id=label_of(values.get("pair_id"), "pair_id"),
        instruction=text_of(values.get("question"), "question"),
        category=category,
        model_a=model,
        model_b=model,
    )


IMPORTER = Importer("judgebench", pair_of, "card", "github.com/ScalerLab/JudgeBench README.md (data format)")
