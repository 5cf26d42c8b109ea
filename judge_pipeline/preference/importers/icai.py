"""Annotated pairs as ICAI and Feedback Forensics write them: one JSON document with annotators and comparisons.

Version 2.0 (``response_a.text``, choices ``a`` and ``b``) and version 1.0 (``text_a``, choices ``text_a`` and
``text_b``). The file's default annotator, or the one that is named, chose w. Annotators of type ``human`` are votes;
principles (what a response is like, in a model's words) are aspects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judge_pipeline.ingest.encodings import decode
from judge_pipeline.ingest.json_artifacts import load_json
from judge_pipeline.ingest.record_files import Record, plain
from judge_pipeline.ingest.records import UnreadableArtifact
from judge_pipeline.preference.drafts import Faulty, LeftOut, PairDraft
from judge_pipeline.preference.importers.importer import Importer, Records, Values
from judge_pipeline.preference.row_values import choice_of, label_of, mapping_of, response_of, text_of, within
from judge_pipeline.settings.preference import IcaiSource

_ANNOTATORS = "annotators of the document"
_CHOOSER = "annotator who chose"


def records(data: bytes, path: str, source: IcaiSource) -> Records:
    """A record is a comparison, with the document's annotators beside it.

    Raises:
        UnreadableArtifact: it is no such document, or has no annotator of the name that is set.
    """
    document = load_json(decode(data).text, path).document
    comparisons = document.get("comparisons") if isinstance(document, Mapping) else None
    if not isinstance(comparisons, list):
        raise UnreadableArtifact(path, None, "is no document with comparisons", "export it as annotated pairs (JSON)")
    told = document.get("annotators")
    annotators = {
        str(key): dict(value)
        for key, value in (told.items() if isinstance(told, Mapping) else ())
        if isinstance(value, Mapping)
    }
    chooser = _chooser(source.annotator, annotators, within(document, "metadata", "default_annotator"))
    if chooser is None:
        names = ", ".join(f"{key} ({value.get('name') or value.get('type')})" for key, value in annotators.items())
        raise UnreadableArtifact(path, "annotators", f"has no annotator who chose; it has {names[:300]}", "name one in "
                                 "source.annotator")  # fmt: skip
    for number, comparison in enumerate(comparisons, start=1):
        if not isinstance(comparison, Mapping):
            yield UnreadableArtifact(path, f"comparison {number}", "is no object", "export the document anew")
            continue
        values = {str(key): plain(value) for key, value in comparison.items()}
        yield Record(f"comparison {number}", values | {_ANNOTATORS: annotators, _CHOOSER: chooser})


def pair_of(values: Values, source: IcaiSource) -> PairDraft:
    """The pair of a comparison."""
    del source
    annotators: Mapping[str, Mapping[str, Any]] = values[_ANNOTATORS]
    annotations = mapping_of(values.get("annotations"), "annotations")
    w = _choice(annotations.get(values[_CHOOSER]), values[_CHOOSER])
    if w is None:
        raise LeftOut("the annotator did not choose", "source.annotator")
    chosen, notes = _known_choices(annotations)
    told = {key: (annotators.get(key) or {}, choice) for key, choice in chosen.items() if choice is not None}
    people = {key: str(who.get("name") or key) for key, (who, _) in told.items() if who.get("type") == "human"}
    texts = [_text(values, x) for x in "ab"]
    models = [within(values, f"response_{x}", "model") or within(values, "metadata", f"model_{x}") for x in "ab"]
    return PairDraft(
        texts[0],
        texts[1],
        w,
        pair_id=label_of(values.get("id"), "id"),
        instruction=text_of(values.get("prompt"), "prompt"),
        votes={name: told[key][1] for key, name in people.items()},
        chooser=people.get(values[_CHOOSER]),
        aspects={
            str(who.get("description") or key): choice
            for key, (who, choice) in told.items()
            if who.get("type") == "principle"
        },
        model_a=label_of(models[0], "model_a"),
        model_b=label_of(models[1], "model_b"),
        notes=notes,
    )


def _text(values: Values, side: str) -> str:
    """A response's text: in an object of its own (version 2.0) or beside the other (1.0)."""
    new, old = f"response_{side}", f"text_{side}"
    return response_of(within(values, new, "text") if new in values else values.get(old), new)


def _known_choices(annotations: Mapping[str, Any]) -> tuple[dict[str, str | None], list[str]]:
    """What each annotator chose, and notes on words that are no choice: any column of a source may be an annotator."""
    chosen: dict[str, str | None] = {}
    notes = []
    for key, said in annotations.items():
        try:
            chosen[key] = _choice(said, key)
        except Faulty as faulty:
            notes.append(f"annotator {key} said {str(faulty.value)[:40]!r}, which is no choice")
    return chosen, notes


def _choice(said: Any, field: str) -> str | None:
    pref = said.get("pref") if isinstance(said, Mapping) else said
    return None if pref is None else choice_of(pref, f"annotations.{field}.pref")


def _chooser(wanted: str | None, annotators: Mapping[str, Mapping[str, Any]], default: Any) -> str | None:
    """The id of the annotator whose choice is w."""
    if wanted is None:
        return default if isinstance(default, str) and default else None
    return next((key for key, value in annotators.items() if wanted in (key, value.get("name"))), None)


IMPORTER = Importer(
    "icai",
    pair_of,
    "loader",
    "github.com/rdnfn/icai annotated_pairs_format.py, github.com/rdnfn/feedback-forensics annotated_pairs.json",
    records,
)
