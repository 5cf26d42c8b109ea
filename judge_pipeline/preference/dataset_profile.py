"""What a preference set is like: TRACE's Table 1, and what else decides how its figures are to be read.

The figures describe the set itself, not a population that it was drawn from: they have no interval.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from rapidfuzz.distance import Levenshtein

from judge_pipeline.estimate import Estimate
from judge_pipeline.ingest.comments import comment_spans
from judge_pipeline.preference.fenced_code import code_in, fenced_blocks, languages_in, named_language
from judge_pipeline.preference.pairs import instruction_group
from judge_pipeline.tables.preference import DATASET_PROFILE

Detect = Callable[[Sequence[str]], list[str | None]]

_NO_PAIRS = "there is no pair"

SHORT_PROSE_CHARS = 40
"""Where half of the texts have fewer characters, what Lingua tells of rare languages is noise."""


def dataset_profile(pairs: pd.DataFrame, detect: Detect) -> pd.DataFrame:
    """The profile of a set.

    Args:
        pairs: table PREFERENCE_PAIRS.
        detect: the natural language of each text, None where it cannot be told (``natural_languages_of``).

    Returns:
        Table DATASET_PROFILE: figures of the set first, then the languages with their pairs, most first.
    """
    records = [{str(key): value for key, value in record.items()} for record in pairs.to_dict("records")]
    rows = [_row("pairs", "count", Estimate(len(records), len(records)))]
    rows.append(_row("instructions", "count", _distinct([_group(record) for record in records])))
    rows += _natural_languages(records, detect)
    programming = [programming_languages_of(record) for record in records]
    rows += _languages("programming_languages", programming, "no language is stated, and no fenced code has a tag")
    rows += _percentiles("context_chars", [_context_chars(record) for record in records])
    rows += _percentiles("output_chars", [len(r) for record in records for r in _responses(record)])
    rows += _percentiles("code_lines", code_lines_of(records), "no pair has a file or a fenced block of code")
    rows += _percentiles("edit_distance_lines", [edit_distance_lines(*_responses(record)) for record in records])
    rows += _shares(records)
    return DATASET_PROFILE.conform(rows)


def edit_distance_lines(response_a: str, response_b: str) -> int:
    """Levenshtein distance between two responses in lines: inserted, removed and replaced ones count 1 each.

    Line ends are taken as the same. Of a response with fenced blocks only these are compared, joined (TRACE, Table 1).
    """
    first, second = (_lines(code_in(text) or text) for text in (response_a, response_b))
    return int(Levenshtein.distance(first, second))


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _responses(record: dict[str, Any]) -> tuple[str, str]:
    return record["response_a"], record["response_b"]


def _file_of(record: dict[str, Any]) -> str:
    """The file that a pair completes or edits, as far as it is known; empty where there is none."""
    return "".join(record[part] or "" for part in ("prefix", "code_to_edit", "suffix"))


def _group(record: dict[str, Any]) -> str:
    context = (record[part] for part in ("prefix", "code_to_edit", "suffix", "prior_turns"))
    return instruction_group(record["instruction"], context)


def _context_chars(record: dict[str, Any]) -> int:
    """Characters of all that both responses answer: instruction, turns before it, file."""
    turns = json.loads(record["prior_turns"]) if record["prior_turns"] else []
    return len(record["instruction"] or "") + sum(len(turn["content"]) for turn in turns) + len(_file_of(record))


def code_lines_of(records: Iterable[dict[str, Any]]) -> list[int | None]:
    """Lines of a pair's file; where there is none, of the fenced code of each response."""
    found: list[int | None] = []
    for record in records:
        file = _file_of(record)
        codes = [file] if file else [code_in(response) for response in _responses(record)]
        found += [None if not code else len(code.splitlines()) for code in codes]
    return found


def _natural_languages(records: list[dict[str, Any]], detect: Detect) -> list[dict[str, Any]]:
    """The natural languages; their number carries a warning where the texts that they are told by are short."""
    texts = [prose_of(record) for record in records]
    found = detect(texts)
    of_pairs = [set() if language is None else {language} for language in found]
    told = [len(text.strip()) for text, language in zip(texts, found, strict=True) if language is not None]
    median = float(np.median(told)) if told else None
    warning = None if median is None or median >= SHORT_PROSE_CHARS else (
        f"told by short texts (median {median:.0f} characters, under {SHORT_PROSE_CHARS}): rare languages are noise"
    )  # fmt: skip
    return _languages("natural_languages", of_pairs, "no prose is long enough to tell its language", warning)


def prose_of(record: dict[str, Any]) -> str:
    """What people wrote in words: the instruction without its fenced code, else the comments of the file."""
    if record["instruction"]:
        text = record["instruction"]
        for block in fenced_blocks(text):
            text = text.replace(block.code, " ") if block.code.strip() else text
        return str(text)
    spans = ((record[part] or "", record["language"]) for part in ("prefix", "code_to_edit", "suffix"))
    return "\n".join(text[a:b] for text, language in spans for a, b in comment_spans(text, language))


def programming_languages_of(record: dict[str, Any]) -> set[str]:
    """The programming languages of a pair: the one that is stated, else the tags of its responses' fenced code."""
    stated = named_language(record["language"])
    return {stated} if stated else set().union(*(languages_in(response) for response in _responses(record)))


def _languages(
    figure: str, of_pairs: Sequence[set[str]], why_none: str, warning: str | None = None
) -> list[dict[str, Any]]:
    """How many languages there are, with what warns of it, and how many pairs are in each."""
    known = sum(map(bool, of_pairs))
    left_out = len(of_pairs) - known
    counts = Counter(language for languages in of_pairs for language in sorted(languages))
    if not known:
        return [_row(figure, "count", Estimate.undefined(why_none if of_pairs else _NO_PAIRS, 0, left_out))]
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [
        _row(figure, "count", Estimate(len(counts), known, left_out, reason=warning)),
        *(_row(figure, "share", Estimate(n / known, known, left_out), language) for language, n in ordered),
    ]


def _percentiles(figure: str, values: Sequence[int | None], why_none: str = _NO_PAIRS) -> list[dict[str, Any]]:
    known = [value for value in values if value is not None]
    left_out = len(values) - len(known)
    if not known:
        none = Estimate.undefined(why_none if values else _NO_PAIRS, 0, left_out)
        return [_row(figure, statistic, none) for statistic in ("p50", "p95")]
    found = np.percentile(np.asarray(known, dtype=float), (50, 95))
    return [
        _row(figure, statistic, Estimate(float(value), len(known), left_out))
        for statistic, value in zip(("p50", "p95"), found, strict=True)
    ]


def _distinct(values: Sequence[str]) -> Estimate:
    return Estimate(len(set(values)), len(values))


def _shares(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    untied = [record for record in records if record["w"] != "tie"]
    first = [(record["w"] == "A") != record["swapped"] for record in untied]
    return [
        _share("with_instruction", [bool(record["instruction"]) for record in records]),
        _share("with_code_to_edit", [bool(record["code_to_edit"]) for record in records]),
        _share("with_file_context", [bool(_file_of(record)) for record in records]),
        _share("ties", [record["w"] == "tie" for record in records]),
        _share("chose_first_in_source", first, len(records) - len(untied), "every choice is a tie"),
        _share("same_response", [a.strip() == b.strip() for a, b in map(_responses, records)]),
    ]


def _share(figure: str, hits: Sequence[bool], left_out: int = 0, why_none: str = _NO_PAIRS) -> dict[str, Any]:
    if not hits:
        return _row(figure, "share", Estimate.undefined(why_none if left_out else _NO_PAIRS, 0, left_out))
    return _row(figure, "share", Estimate(sum(hits) / len(hits), len(hits), left_out))


def _row(figure: str, statistic: str, estimate: Estimate, level: str | None = None) -> dict[str, Any]:
    return {"figure": figure, "statistic": statistic, "level": level, **estimate.to_row()}
