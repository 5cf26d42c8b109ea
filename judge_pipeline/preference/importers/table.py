"""Tables with a pair a row, by a mapping of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judge_pipeline.preference.drafts import NoColumn, PairDraft
from judge_pipeline.preference.importers.importer import Importer, Values
from judge_pipeline.preference.row_values import (
    choice_of,
    label_of,
    mapping_of,
    response_of,
    split_of,
    text_of,
    turns_of,
)
from judge_pipeline.settings.preference import PAIR_COLUMNS, TableSource


def pair_of(values: Values, source: TableSource) -> PairDraft:
    """The pair of a row."""
    columns = {ours: source.columns.get(ours, ours) for ours in PAIR_COLUMNS}
    missing = _missing(values, columns, source)
    if missing:
        raise NoColumn(missing, list(values))

    def cell(ours: str) -> tuple[Any, str]:
        return _at(values, columns[ours]), columns[ours]

    stated = mapping_of(*cell("votes")) | {name: values.get(name) for name in source.annotators}
    votes = {
        annotator: choice_of(vote, annotator, source.choice_words)
        for annotator, vote in stated.items()
        if vote is not None and str(vote).strip()
    }
    w = None if votes and cell("w")[0] is None else choice_of(*cell("w"), source.choice_words)
    return PairDraft(
        response_of(*cell("response_a")),
        response_of(*cell("response_b")),
        w,
        pair_id=label_of(*cell("pair_id")),
        instruction=text_of(*cell("instruction")),
        prefix=text_of(*cell("prefix")),
        suffix=text_of(*cell("suffix")),
        code_to_edit=text_of(*cell("code_to_edit")),
        category=label_of(*cell("category")),
        language=label_of(*cell("language")),
        natural_language=label_of(*cell("natural_language")),
        model_a=label_of(*cell("model_a")),
        model_b=label_of(*cell("model_b")),
        prior_turns=turns_of(*cell("prior_turns")),
        evidence_a=mapping_of(*cell("evidence_a")),
        evidence_b=mapping_of(*cell("evidence_b")),
        aspects={aspect: str(said) for aspect, said in mapping_of(*cell("aspects")).items()},
        votes=votes,
        split=split_of(*cell("split")),
        no_majority=source.no_majority,
    )


def _missing(values: Values, columns: Mapping[str, str], source: TableSource) -> list[str]:
    """The columns that settings name or a pair needs, and that the row does not have at all (a blank one it has)."""
    needed = {*source.columns, "response_a", "response_b"}
    choices = [columns["w"], columns["votes"], *source.annotators]
    lacking = [theirs for ours, theirs in columns.items() if ours in needed and not _has(values, theirs)]
    if any(_has(values, name) for name in choices):
        return lacking
    return list(dict.fromkeys([*lacking, *(source.annotators or [columns["w"]])]))


def _has(values: Values, name: str) -> bool:
    return name in values or name.partition(".")[0] in values


def _at(values: Values, name: str) -> Any:
    """The value of a column, or of a path into nested objects: ``meta.language``."""
    if name in values or "." not in name:
        return values.get(name)
    found: Any = values
    for key in name.split("."):
        found = found.get(key) if isinstance(found, dict) or found is values else None
        if found is None:
            return None
    return found


IMPORTER = Importer("table", pair_of, "files", "docs/how-to/bring-preferences.md")
