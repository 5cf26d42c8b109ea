"""Choices among two responses as trained judges state them, in words of their own training and not by our schema.

``double_brackets``: ``[[A]]``, ``[[B]]``, or ``[[C]]`` for a tie (MT-Bench's judge prompts, Skywork Critic).
``result``: ``[RESULT] A`` (Prometheus 2), or a line ``Result: A`` (Selene). A text may state its choice several times;
it counts only where all of these say the same. What is not stated in the form is never guessed from the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from judge_pipeline.judging.answer import clean_text, whole_text
from judge_pipeline.judging.answer_marks import THINKING_CLOSES, THINKING_OPENS, declines
from judge_pipeline.judging.failures import Failure

Choice = Literal["A", "B", "tie"]

_CHOICES: Mapping[str, Choice] = {"A": "A", "B": "B", "C": "tie", "tie": "tie", "Tie": "tie", "TIE": "tie"}

_DOUBLE_BRACKETS = re.compile(r"\[\[[ \t]{0,8}(?P<choice>A|B|C|tie|Tie|TIE)[ \t]{0,8}\]\]")

_RESULT_MARK = re.compile(
    r"(?P<strict>\[RESULTS?\]|\*\*Result(?::\*\*|\*\*:))|^[ \t>#*_]{0,8}Result[*_]{0,2}:(?=[^\n])[*_]{0,2}",
    re.IGNORECASE | re.MULTILINE,
)
_RESULT_VALUE = re.compile(
    r"[ \t:]{0,8}\n{0,2}[ \t]{0,8}[*_`'\"(<]{0,3}(?:(?:Response|Assistant|Answer)[ \t])?(?P<choice>A|B|tie|Tie|TIE)"
    r"[*_`'\")>.]{0,4}[ \t]{0,8}(?:</s>|<\|\w{1,30}\|>)?[ \t\r]*(?:\n|\Z)"
)
_LABEL = re.compile(r"[\s*_#>]{0,12}(?:Feedback|Reasoning|Explanation)[\s*_:]{1,8}", re.IGNORECASE)
_LEADS_IN = re.compile(r"\b(?:(?:my|the) )?(?:final )?(?:verdict|result|answer|choice)(?: is)?\Z", re.IGNORECASE)
_BESIDE_WORDS = " \t\r\n*_#>:"
_OWN_LINE_OPENS = re.compile(rf"^[ \t]*{THINKING_OPENS.pattern}", re.IGNORECASE | re.MULTILINE)
_LAST_WORDS_CHARS = 60


@dataclass(frozen=True, slots=True)
class StatedChoice:
    """What a trained judge's text states.

    Attributes:
        choice: A for the response that it was shown first, B for the second, or tie.
        rationale: what it says beside its verdict; None where it says nothing.
    """

    choice: Choice
    rationale: str | None


@dataclass(frozen=True, slots=True)
class _Statements:
    """The verdicts that a text states, where the first begins and the last ends."""

    choices: list[Choice | None]
    begins: int
    ends: int


def read_double_brackets(text: str | None, finish_reason: str | None) -> StatedChoice | Failure:
    """The choice that a text states as ``[[A]]``, ``[[B]]``, ``[[C]]`` or ``[[tie]]``.

    Args:
        text: the content that the model returned; None where it returned none.
        finish_reason: the provider's reason for stopping.

    Returns:
        The choice, or a failure: truncated, refusal, infrastructure, empty, or invalid where no verdict is stated or
        the stated ones differ.
    """
    return _read(text, finish_reason, _in_brackets, "[[A]], [[B]] or [[C]]")


def read_result(text: str | None, finish_reason: str | None) -> StatedChoice | Failure:
    """The choice that a text states as ``[RESULT] A`` or ``[RESULT] B``, or in a line ``Result: A``.

    Nothing but the letter may stand behind the mark: ``[RESULT] A or B`` states no choice, and then the whole text
    states none. For arguments and failures see :func:`read_double_brackets`.
    """
    return _read(text, finish_reason, _after_marks, "[RESULT] A or [RESULT] B")


VERDICT_FORMS: Mapping[str, Callable[[str | None, str | None], StatedChoice | Failure]] = {
    "double_brackets": read_double_brackets,
    "result": read_result,
}
"""Answer form of the settings -> its reader."""


def _read(
    text: str | None, finish_reason: str | None, statements_in: Callable[[str], _Statements], wanted: str
) -> StatedChoice | Failure:
    whole = whole_text(text, finish_reason)
    if isinstance(whole, Failure):
        return whole
    answer = _without_thinking(whole)
    if isinstance(answer, Failure):
        return answer
    found = statements_in(answer)
    if not found.choices and declines(answer):
        return Failure("refusal", f"the model declined: {clean_text(answer[:200])!r}")
    return _agreed(answer, found, wanted)


def _without_thinking(text: str) -> str | Failure:
    """What follows the last end of thinking. Thinking that was begun on a line of its own and not ended has no answer;
    a tag within a sentence is a word."""
    ends = [match.end() for match in THINKING_CLOSES.finditer(text)]
    answer = text[ends[-1] :] if ends else text
    if _OWN_LINE_OPENS.search(answer):
        return Failure("truncated", "the thinking was never closed, so there is no answer after it")
    return answer.strip() or Failure("empty", "nothing follows the thinking")


def _in_brackets(text: str) -> _Statements:
    found = list(_DOUBLE_BRACKETS.finditer(text))
    if not found:
        return _Statements([], 0, 0)
    return _Statements([_CHOICES[match["choice"]] for match in found], found[0].start(), found[-1].end())


def _after_marks(text: str) -> _Statements:
    """The verdicts behind marks; None for one that cannot be read. A bare line ``Result: 42`` is no mark."""
    choices: list[Choice | None] = []
    begins, ends = 0, 0
    for mark in _RESULT_MARK.finditer(text):
        value = _RESULT_VALUE.match(text, mark.end())
        if value is None and not mark["strict"]:
            continue
        begins = begins if choices else mark.start()
        ends = mark.end() if value is None else value.end()
        choices.append(None if value is None else _CHOICES[value["choice"]])
    return _Statements(choices, begins, ends)


def _agreed(text: str, found: _Statements, wanted: str) -> StatedChoice | Failure:
    stated = found.choices
    if not stated:
        shown = clean_text(text[-_LAST_WORDS_CHARS:])
        return Failure("invalid", f"the answer states no verdict as {wanted}; it ends {shown!r}")
    choice = stated[-1]
    if choice is None or None in stated:
        shown = clean_text(text[found.begins : found.begins + _LAST_WORDS_CHARS])
        return Failure("invalid", f"what stands as the verdict is not {wanted} alone: {shown!r}")
    if len(set(stated)) > 1:
        told = ", ".join(str(each) for each in dict.fromkeys(stated))
        return Failure("invalid", f"the answer states {len(stated)} verdicts that differ: {told}")
    return StatedChoice(choice, _rationale(text, found))


def _rationale(text: str, found: _Statements) -> str | None:
    """What stands before the first verdict, else after the last, without the labels that the form gives it."""
    before = text[: found.begins].rstrip(_BESIDE_WORDS)
    lead_in = _LEADS_IN.search(before, max(0, len(before) - _LAST_WORDS_CHARS))
    before = before[: lead_in.start()].rstrip(_BESIDE_WORDS) if lead_in else before
    label = _LABEL.match(before)
    said = before[label.end() :] if label else before
    return clean_text(said.strip() or text[found.ends :].strip()) or None
