"""Pairs as criteria see them: what was compared, both orders, what fell out and why, the decision (CriterAlign).

Criteria, rationales and responses are untrusted text: the template escapes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from judge_pipeline.figures.estimates import text
from judge_pipeline.report.criteria_inputs import CriteriaReportInput
from judge_pipeline.report.preference_examples import MAX_TEXT_CHARS, Block, Response, context_of, response_of
from judge_pipeline.report.shown_lines import lines_of, marked
from judge_pipeline.tables.criteria_ablation import JudgedTables

N_JUDGES, N_MENDED, N_SPOILED = 3, 2, 1
RULE = (
    f"Shown, of the full configuration of up to {N_JUDGES} judges beside the monolithic one: the {N_MENDED} pairs that "
    f"it mends, and the {N_SPOILED} that it spoils, with the most verdicts filtered out; the pair in which most tied "
    "criteria were replaced by finer ones; and the pair with most verdicts filtered out. Of those alike, the first by "
    "id."
)
"""How the pairs are chosen, in words."""

FATES: Mapping[str, str] = {
    "replaced": "tied, and replaced by finer ones",
    "redundant": "not accepted: says what another one says",
    "conflicting": "not accepted: contradicts another one",
    "redundancy_unchecked": "not accepted: could not be checked for redundancy",
    "conflict_unchecked": "not accepted: could not be checked for conflict",
    "over_limit": "not accepted: enough criteria already",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said of a criterion in one order: A, B, tie, insufficient or invalid; and how surely."""

    said: str
    confidence: str | None


@dataclass(frozen=True, slots=True)
class CriterionLine:
    """A criterion of a pair.

    Attributes:
        id: c1, c2, ... or t1, ...
        text: what is compared.
        aspect: its aspect.
        parent: the tied criterion that it stands for, where it is a child.
        orders: the verdicts in order AB and BA; None where it was not asked.
        state: ``evidence``, ``filtered``, ``replaced`` or ``refused``: how the line is drawn.
        why: what became of it, in words.
        rationale: the judge's reason in order AB.
    """

    id: str
    text: str
    aspect: str
    parent: str | None
    orders: tuple[Verdict | None, Verdict | None]
    state: str
    why: str
    rationale: str | None


@dataclass(frozen=True, slots=True)
class Decision:
    """What a configuration decides on the pair: A, B, tie or invalid; right or not; and why."""

    configuration: str
    said: str
    right: bool
    how: str
    rationale: str | None


@dataclass(frozen=True, slots=True)
class CriteriaExample:
    """A pair as the page shows it; ``why`` says by which part of the rule it is shown."""

    anchor: str
    pair_id: str
    judge: str
    why: str
    label: str
    facts: str
    context: list[Block]
    responses: tuple[Response, Response]
    monolithic: Decision
    full: Decision
    criteria: list[CriterionLine]
    tally: str


def criteria_examples(given: CriteriaReportInput) -> list[CriteriaExample]:
    """The pairs that the page shows, by ``RULE``; none without texts."""
    if given.pair_texts is None:
        return []
    texts = given.pair_texts.set_index("pair_id")
    found: list[CriteriaExample] = []
    compared = [
        (judge, plain, full)
        for judge in given.judges
        if (plain := given.monolithic_of(judge)) is not None and (full := given.full_of(judge)) is not None
    ]
    for judge, plain, full in compared[:N_JUDGES]:
        own = given.of_judge(judge)
        for pair, why in choose(given, own[plain], own[full]):
            if pair in texts.index:
                anchor = f"pair-{len(found) + 1}"
                found.append(_example(given, anchor, pair, why, own[plain], own[full], texts.loc[pair].to_dict()))
    return found


def choose(given: CriteriaReportInput, plain: JudgedTables, full: JudgedTables) -> list[tuple[str, str]]:
    """Pair and why it is shown, by ``RULE``."""
    labels = _labels(given)
    before, after = (_decisions(own.criteria_decisions) for own in (plain, full))
    both = sorted(before.keys() & after.keys() & labels.keys())
    filtered = _filtered(full)
    right = {pair: (before[pair] == labels[pair], after[pair] == labels[pair]) for pair in both}

    def first(pairs: Iterable[str], by: Mapping[str, int], n: int) -> list[str]:
        return sorted(pairs, key=lambda pair: (-by.get(pair, 0), pair))[:n]

    found: dict[str, str] = {}
    for pair in first((p for p in both if right[p] == (False, True)), filtered, N_MENDED):
        found[pair] = "mended: wrong without criteria, right with them"
    for pair in first((p for p in both if right[p] == (True, False)), filtered, N_SPOILED):
        found[pair] = "spoiled: right without criteria, wrong with them"
    replaced = _replaced(full)
    for by, words in ((replaced, "tied criteria were replaced"), (filtered, "verdicts were filtered out")):
        left = [pair for pair in both if pair not in found and by.get(pair)]
        for pair in first(left, by, 1):
            found[pair] = f"{by[pair]} {words}, the most of any other pair"
    return list(found.items())


def _labels(given: CriteriaReportInput) -> dict[str, str]:
    return dict(zip(given.preference_pairs["pair_id"], given.preference_pairs["w"], strict=True))


def _decisions(table: pd.DataFrame) -> dict[str, str | None]:
    return {pair: text(said) for pair, said in zip(table["pair_id"], table["decision"], strict=True)}


def _filtered(full: JudgedTables) -> Counter[str]:
    evidence = full.consistent_evidence
    return Counter() if evidence is None else Counter(evidence.loc[~evidence["kept"].astype("bool"), "pair_id"])


def _replaced(full: JudgedTables) -> Counter[str]:
    refined = full.refined_criteria
    return Counter() if refined is None else Counter(refined.loc[refined["fate"] == "replaced", "pair_id"])


def _example(
    given: CriteriaReportInput, anchor: str, pair: str, why: str, plain: JudgedTables, full: JudgedTables,
    texts: Mapping[str, Any],
) -> CriteriaExample:  # fmt: skip
    label = _labels(given)[pair]
    sides = marked(*(lines_of(texts[name][:MAX_TEXT_CHARS]) for name in ("response_a", "response_b")))
    first, second = (
        response_of(name, side, text(texts[f"evidence_{name.lower()}"])) for name, side in zip("AB", sides, strict=True)
    )
    lines = criterion_lines(full, pair)
    return CriteriaExample(
        anchor, pair, given.called(full.judge), why, label,
        ", ".join(filter(None, (text(texts["category"]), text(texts["language"])))), context_of(texts), (first, second),
        _decision(plain, pair, label), _decision(full, pair, label), lines, _tally(lines),
    )  # fmt: skip


def criterion_lines(judged: JudgedTables, pair: str) -> list[CriterionLine]:
    """Every criterion of a pair with what became of it; children stand under the tied one that they replace."""
    refined = _rows(judged.refined_criteria, pair)
    verdicts = {
        (row["criterion"], row["presentation_order"]): row
        for table in (judged.criterion_verdicts, judged.child_verdicts)
        for row in _rows(table, pair)
    }
    answers = {
        (row["criterion"], row["response"]): row
        for table in (judged.criterion_answers, judged.child_answers)
        for row in _rows(table, pair)
    }
    evidence = {row["criterion"]: row for row in _rows(judged.consistent_evidence, pair)}
    return [_line(row, verdicts, answers, evidence.get(row["criterion"])) for row in _under_parents(refined)]


def _under_parents(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    children: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if (parent := text(row["parent"])) is not None:
            children.setdefault(parent, []).append(row)

    def below(row: dict[str, Any]) -> list[dict[str, Any]]:
        return [row, *(each for child in children.get(row["criterion"], ()) for each in below(child))]

    return [each for row in rows if text(row["parent"]) is None for each in below(row)]


def _line(
    row: Mapping[str, Any],
    verdicts: Mapping[tuple[str, str], Mapping[str, Any]],
    answers: Mapping[tuple[str, str], Mapping[str, Any]],
    evidence: Mapping[str, Any] | None,
) -> CriterionLine:
    criterion, fate = row["criterion"], row["fate"]
    asked = [verdicts.get((criterion, order)) for order in ("AB", "BA")]
    pointwise = [answers.get((criterion, side)) for side in ("A", "B")]
    orders = [
        None if own is None else Verdict(text(own["verdict"]) or "invalid", text(own["confidence"])) for own in asked
    ]
    if any(pointwise):
        orders = [None if own is None else Verdict(_met(own["met"]), None) for own in pointwise]
    if fate != "kept":
        state = "replaced" if fate == "replaced" else "refused"
        why = FATES[fate] + (f" ({text(row['why'])})" if text(row["why"]) else "")
    elif evidence is None:
        state, why = "evidence", "counts"
    elif bool(evidence["kept"]):
        state, why = "evidence", "evidence"
    else:
        state, why = "filtered", f"filtered out: {text(evidence['why']) or 'no reason is stored'}"
    reason = next((text(own["rationale"]) for own in (*asked, *pointwise) if own is not None), None)
    return CriterionLine(
        criterion, row["text"], row["aspect"], text(row["parent"]), (orders[0], orders[1]), state, why, reason
    )  # fmt: skip


def _verdict(row: Mapping[str, Any]) -> Verdict:
    return Verdict(text(row["verdict"]) or "invalid", text(row["confidence"]))


def _met(value: Any) -> str:
    return "invalid" if pd.isna(value) else "yes" if bool(value) else "no"


def _decision(judged: JudgedTables, pair: str, label: str) -> Decision:
    (row,) = _rows(judged.criteria_decisions, pair)
    said = text(row["decision"])
    how = {
        "judge": "a judge decided",
        "weighted_sum": f"weighted sums decided: {_score(row['score_a'])} for A, {_score(row['score_b'])} for B",
        "no_evidence": "no evidence was left: the rule for that decided",
    }[row["decided_by"]]
    failure = text(row["failure"])
    return Decision(
        judged.configuration, said or "invalid", said == label, how if said else f"invalid: {failure}",
        text(row["rationale"]),
    )  # fmt: skip


def _score(value: Any) -> str:
    return "nothing" if pd.isna(value) else f"{float(value):g}"


def _tally(lines: list[CriterionLine]) -> str:
    """What the evidence comes to, in words."""
    said = Counter(line.orders[0].said for line in lines if line.state == "evidence" and line.orders[0] is not None)
    states = Counter(line.state for line in lines)
    parts = [f"{n} for {side}" if side in ("A", "B") else f"{n} {side}" for side, n in sorted(said.items())]
    filtered = f"; {states['filtered']} filtered out" if states["filtered"] else ""
    replaced = f"; {states['replaced']} replaced" if states["replaced"] else ""
    refused = f"; {states['refused']} not accepted" if states["refused"] else ""
    return f"Evidence: {', '.join(parts) or 'none'}{filtered}{replaced}{refused}."


def _rows(table: pd.DataFrame | None, pair: str) -> list[dict[str, Any]]:
    return [] if table is None else [dict(row) for row in table[table["pair_id"] == pair].to_dict("records")]
