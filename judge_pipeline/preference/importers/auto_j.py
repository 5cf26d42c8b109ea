"""Auto-J's pairwise test set: one human label each, 0 the first, 1 the second, 2 a tie (Li et al., 2024)."""

from __future__ import annotations

from judge_pipeline.preference.drafts import LeftOut, PairDraft
from judge_pipeline.preference.importers.importer import Importer, Values
from judge_pipeline.preference.row_values import choice_of, label_of, response_of, text_of
from judge_pipeline.settings.preference import AutoJSource

_LABELS = {"0": "A", "1": "B", "2": "tie"}


def pair_of(values: Values, source: AutoJSource) -> PairDraft:
    """The pair of a line."""
    scenario = label_of(values.get("scenario"), "scenario")
    if source.scenarios and scenario not in source.scenarios:
        raise LeftOut("is of another scenario", "source.scenarios")
    first, second = (f"response {n}" if f"response {n}" in values else f"response_{n}" for n in (1, 2))
    return PairDraft(
        response_of(values.get(first), first),
        response_of(values.get(second), second),
        choice_of(values.get("label"), "label", _LABELS),
        pair_id=label_of(values.get("idx"), "idx"),
        instruction=text_of(values.get("prompt"), "prompt"),
        category=scenario,
    )


IMPORTER = Importer(
    "auto_j", pair_of, "files", "github.com/GAIR-NLP/auto-j data/test/testdata_pairwise.jsonl, codes/leaderboard"
)
