"""Pairs as a person would look at them: two responses, who chose what, and the rubric items that differ (Figure 1).

All texts are those of ``pair_texts``, in which personal data are replaced; they are untrusted, and the template escapes
them line by line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from judge_pipeline.figures.estimates import text, value_words
from judge_pipeline.report.preference_choices import JudgeChoice, choices_of_pairs, verified_judges
from judge_pipeline.report.preference_inputs import PreferenceReportInput
from judge_pipeline.report.preference_weights import Weights, weights_of
from judge_pipeline.report.shown_lines import (
    Line,
    first_lines,
    lines_of,
    marked,
    shown_line,
    without_blank_runs,
    without_long_runs,
)

N_DISAGREEMENTS = 4
"""Pairs shown because judges chose otherwise than the labels."""

RULE = (
    f"Shown are up to {N_DISAGREEMENTS} pairs on which judges chose otherwise than the labels, those first for which "
    "the rubric explains most judges' choice and, as long as there are any, each for another rubric item; the pair on "
    "which most judges changed their choice with the order; and the pair on which most judges chose as labelled. Where "
    "several are alike, the first by id."
)
"""How the pairs are chosen, in words."""

MAX_TEXT_CHARS = 20_000
MAX_SHOWN = 40
"""Lines of a response that are shown; the whole of it is folded below."""
_OPEN_LINES, _LINES_BEFORE, _LINES_BEHIND = 30, 12, 6


@dataclass(frozen=True, slots=True)
class Block:
    """A text of the context: ``folded`` is shown when a reader opens it."""

    title: str
    lines: list[Line]
    folded: bool


@dataclass(frozen=True, slots=True)
class Response:
    """One response: its lines, those that differ marked; whole, where lines are left out of the first; what it gave."""

    name: str
    lines: list[Line]
    whole: list[Line]
    evidence: list[Block]


@dataclass(frozen=True, slots=True)
class ItemLine:
    """A rubric item on which the responses differ.

    Attributes:
        title: the item.
        better: A or B: which satisfies it better.
        pole: what that means.
        people: what the labels' side weighs: arrow, words, the response that this speaks for.
        judges: the same of the pooled judges.
        apart: whether the two speak for different responses.
    """

    title: str
    better: str
    pole: str
    people: Pull | None
    judges: Pull | None

    @property
    def apart(self) -> bool:
        """Whether the two sides' weights speak for different responses."""
        return self.people is not None and self.judges is not None and self.people.toward != self.judges.toward


@dataclass(frozen=True, slots=True)
class Pull:
    """What a weight makes of an item: ``arrow`` up where more of it is preferred, and which response it speaks for."""

    arrow: str
    words: str
    toward: str
    uncertain: bool


@dataclass(frozen=True, slots=True)
class Example:
    """A pair as the page shows it; ``why`` says by which part of the rule it is shown."""

    anchor: str
    pair_id: str
    why: str
    label: str
    facts: str
    context: list[Block]
    responses: tuple[Response, Response]
    choices: list[JudgeChoice]
    items: list[ItemLine]
    items_note: str


def examples(given: PreferenceReportInput) -> list[Example]:
    """The pairs that the page shows; judges and items are called as ``given`` calls them."""
    if given.pair_texts is None:
        return []
    choices = choices_of_pairs(given.pair_judgments, verified_judges(given))
    labels = dict(zip(given.preference_pairs["pair_id"], given.preference_pairs["w"], strict=True))
    texts = given.pair_texts.set_index("pair_id")
    weights = weights_of(given)
    chosen = [(pair, why) for pair, why in choose(choices, labels, given.rubric_disagreements) if pair in texts.index]
    return [
        _example(f"pair-{place}", pair, why, labels[pair], texts.loc[pair].to_dict(), choices[pair], given, weights)
        for place, (pair, why) in enumerate(chosen, 1)
    ]


def choose(
    choices: Mapping[str, Sequence[JudgeChoice]], labels: Mapping[str, str], disagreements: pd.DataFrame | None
) -> list[tuple[str, str]]:
    """Pair and why it is shown, by ``RULE``.

    Args:
        choices: pair -> what each judge chose.
        labels: pair -> A, B or tie.
        disagreements: table RUBRIC_DISAGREEMENTS, or None.
    """
    against = {p: sum(c.choice not in (None, labels[p]) for c in of) for p, of in choices.items() if labels[p] != "tie"}
    explained, item = _explained(disagreements)
    order = sorted((p for p, n in against.items() if n), key=lambda p: (-explained.get(p, 0), -against[p], p))
    found = [(p, _why_against(against[p], len(choices[p]), explained.get(p, 0))) for p in _varied(order, item)]
    shown = {pair for pair, _ in found}
    changed = {p: sum(c.changed for c in of) for p, of in choices.items() if p not in shown}
    if changed and max(changed.values()):
        pair = min(changed, key=lambda p: (-changed[p], p))
        found.append((pair, f"{_judges(changed[pair])} changed the choice with the order of the responses"))
        shown.add(pair)
    agreed = {p: sum(c.choice == labels[p] for c in choices[p]) for p in against if p not in shown}
    if agreed and max(agreed.values()):
        pair = min(agreed, key=lambda p: (-agreed[p], against[p], p))
        found.append((pair, f"{agreed[pair]} of {_judges(len(choices[pair]))} chose as labelled, for comparison"))
    return found


def _varied(order: Sequence[str], item: Mapping[str, str]) -> list[str]:
    """The first pairs, each of another item as long as there are any."""
    first: dict[str, str] = {}
    for pair in order:
        if pair in item:
            first.setdefault(item[pair], pair)
    rest = [pair for pair in order if pair not in first.values()]
    return [*(pair for pair in order if pair in first.values()), *rest][:N_DISAGREEMENTS]


def _explained(disagreements: pd.DataFrame | None) -> tuple[dict[str, int], dict[str, str]]:
    """Pair -> for how many judges the rubric explains it, and the item that speaks most for it."""
    if disagreements is None or disagreements.empty:
        return {}, {}
    rows = disagreements.assign(said=disagreements["explained"].fillna(False).astype(bool))
    explained = {str(pair): int(n) for pair, n in rows.groupby("pair_id")["said"].sum().items()}
    pushed = rows[rows["push"].notna()].sort_values(["push", "item"], ascending=[False, True])
    return explained, dict(pushed.drop_duplicates("pair_id")[["pair_id", "item"]].itertuples(index=False, name=None))


def _why_against(against: int, n: int, explained: int) -> str:
    said = f"{against} of {_judges(n)} chose otherwise than the label"
    return f"{said}; the rubric explains {explained} of these choices" if explained else said


def _judges(n: int) -> str:
    return "1 judge" if n == 1 else f"{n} judges"


def _example(
    anchor: str, pair: str, why: str, label: str, texts: Mapping[str, Any], choices: list[JudgeChoice],
    given: PreferenceReportInput, weights: Weights,
) -> Example:  # fmt: skip
    first, second = (lines_of(texts[name][:MAX_TEXT_CHARS]) for name in ("response_a", "response_b"))
    sides = marked(first, second)
    responses = tuple(
        response_of(name, side, text(texts[f"evidence_{name.lower()}"])) for name, side in zip("AB", sides, strict=True)
    )
    facts = ", ".join(filter(None, (text(texts["category"]), text(texts["language"]))))
    items, note = _items(pair, given, weights)
    return Example(
        anchor, pair, why, label, facts, context_of(texts), (responses[0], responses[1]), choices, items, note
    )  # fmt: skip


def response_of(name: str, lines: list[Line], evidence: str | None) -> Response:
    """One response of a pair.

    Args:
        name: A or B.
        lines: of the response, those that differ marked.
        evidence: what running it gave, as JSON, or None.
    """
    short = first_lines(without_blank_runs(without_long_runs(lines)), MAX_SHOWN)
    return Response(name, short, lines if short != lines else [], _evidence(evidence))


def context_of(texts: Mapping[str, Any]) -> list[Block]:
    """What both responses answer; of a long file the lines next to the place, the rest folded."""
    found = _block("Instruction", text(texts["instruction"]))
    turns = text(texts["prior_turns"])
    if turns is not None:
        said = "\n\n".join(f"{turn['role']}: {turn['content']}" for turn in json.loads(turns))
        found.append(Block("Turns before it", _plain(said), folded=True))
    found += _beside("Before the place", text(texts["prefix"]), last=True)
    found += _block("Code to edit", text(texts["code_to_edit"]))
    found += _beside("Behind the place", text(texts["suffix"]), last=False)
    return found


def _block(title: str, given: str | None) -> list[Block]:
    if given is None:
        return []
    lines = _plain(given)
    return [Block(title, lines, folded=len(lines) > _OPEN_LINES)]


def _beside(title: str, given: str | None, *, last: bool) -> list[Block]:
    if given is None or not given.strip():
        return []
    lines, n = _plain(given), _LINES_BEFORE if last else _LINES_BEHIND
    if len(lines) <= n:
        return [Block(title, lines, folded=False)]
    near = without_blank_runs(lines[-n:] if last else lines[:n])
    return [
        Block(f"{title}: {'last' if last else 'first'} {n} of {len(lines):,} lines", near, folded=False),
        Block(f"{title}: all {len(lines):,} lines", lines, folded=True),
    ]


def _plain(given: str) -> list[Line]:
    cut = given[:MAX_TEXT_CHARS]
    lines = [Line("same", shown_line(line)) for line in lines_of(cut)]
    if len(cut) < len(given):
        lines.append(Line("place", f"… the first {MAX_TEXT_CHARS:,} of {len(given):,} characters"))
    return lines


def _evidence(given: str | None) -> list[Block]:
    if given is None:
        return []
    found = json.loads(given)
    parts = [(name, found.get(name)) for name in ("output", "error")]
    return [
        Block(f"What running it gave: {name}", _plain(value), folded=True)
        for name, value in parts
        if isinstance(value, str) and value.strip()
    ]


def _items(pair: str, given: PreferenceReportInput, weights: Weights) -> tuple[list[ItemLine], str]:
    """The items that tell the responses apart, those first whose weights differ most; and how many do not."""
    scores = given.rubric_scores
    if scores is None:
        return [], "Rubric scores were not made."
    own = scores[scores["pair_id"] == pair]
    told = own[own["score"].notna() & (own["score"] != 0)]
    found = [_item_line(row["item"], int(row["score"]), weights) for row in told.to_dict("records")]
    found.sort(key=lambda line: (-weights.divergence(line.title), line.title))
    alike = int((own["score"] == 0).sum())
    unscored = len(own) - len(told) - alike
    note = f"{alike} of {len(own)} items do not tell the two apart"
    return found, f"{note}, {unscored} have no score." if unscored else f"{note}."


def _item_line(item: str, score: int, weights: Weights) -> ItemLine:
    better, other = ("B", "A") if score > 0 else ("A", "B")
    pulls = [
        None if weight is None or weight.value is None or weight.value == 0 else Pull(
            arrow="↑" if weight.value > 0 else "↓",
            words=value_words(weight),
            toward=better if weight.value > 0 else other,
            uncertain=weight.ci95 is None or weight.ci95[0] <= 0 <= weight.ci95[1],
        )
        for weight in (weights.people.get(item), weights.judges.get(item))
    ]  # fmt: skip
    return ItemLine(item, better, weights.poles.get(item, ""), pulls[0], pulls[1])
