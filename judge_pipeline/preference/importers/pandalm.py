"""PandaLM's test set: three annotators, 1 for the first response, 2 for the second, 0 for a tie (Wang et al., 2024)."""

from __future__ import annotations

from judge_pipeline.preference.drafts import Faulty, PairDraft
from judge_pipeline.preference.importers.importer import Importer, Values
from judge_pipeline.preference.row_values import choice_of, label_of, response_of, text_of
from judge_pipeline.settings.preference import PandaLmSource

_VOTES = {"0": "tie", "1": "A", "2": "B"}


def pair_of(values: Values, source: PandaLmSource) -> PairDraft:
    """The pair of an entry; the instruction is followed by its input, where it has one."""
    annotators = [name for name in values if name.startswith("annotator")]
    if not annotators:
        raise Faulty("annotator1", None, "is missing: nobody chose", "use the test set with its annotators")
    parts = [text_of(values.get(name), name) for name in ("instruction", "input")]
    models = str(values.get("cmp_key") or "").split("_")
    return PairDraft(
        response_of(values.get("response1"), "response1"),
        response_of(values.get("response2"), "response2"),
        None,
        pair_id=label_of(values.get("idx"), "idx"),
        instruction="\n\n".join(part for part in parts if part) or None,
        category=label_of(values.get("motivation_app"), "motivation_app"),
        votes={name: choice_of(values[name], name, _VOTES) for name in annotators},
        model_a=models[0] if len(models) == 2 else None,
        model_b=models[1] if len(models) == 2 else None,
        no_majority=source.no_majority,
    )


IMPORTER = Importer("pandalm", pair_of, "files", "github.com/WeOpenML/PandaLM data/testset-v1.json")
