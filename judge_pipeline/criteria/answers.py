"""What models must answer when pairs are judged criterion by criterion, and how their answers are checked.

An answer about criteria is one object with a field for each id that was asked about: an id that is missing, unknown or
given twice makes it invalid, and the model is asked again with the error. The embedded model writes shorter answers of
the same form, which its grammar holds to these lengths.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator

from judge_pipeline.tables.criteria import ASPECTS, CONFIDENCES, CRITERION_VERDICT_VALUES

LONGEST_CRITERION_CHARS = 400
"""Longest criterion accepted; prompts ask for one sentence."""

LONGEST_RATIONALE_CHARS = 800
"""Longest rationale of a criterion verdict accepted; prompts ask for far less."""

MOST_CHILDREN = 2
"""Most finer criteria in place of a tied one (CriterAlign, section 3.3, BTCR)."""

EMBEDDED_CRITERIA = 8
"""Most criteria that the embedded model is asked for."""

MOST_OWN_WEIGHT = 3
"""Highest weight that a generator gives a criterion of its own (Chasing the Tail); the lowest is 1."""

MOST_LLM_WEIGHT = 10
"""Highest weight where one call weighs all criteria; the lowest is 1."""

UNANSWERED = "not answered"
"""Rationale of a criterion that a pointwise answer left out, where that counts as not met."""

NONE = "none"
"""What a check answers where it finds nothing."""

_EMBEDDED_CRITERION_CHARS = 60
_EMBEDDED_RATIONALE_CHARS = 60
_EMBEDDED_CHILDREN = 1

_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)
_ANY_IDS = ConfigDict(extra="allow", strict=True, frozen=True)


def _one_line(value: Any) -> Any:
    """The text on one line; nothing else of it changes."""
    return " ".join(value.split()) if isinstance(value, str) else value


def _text(most: int) -> Any:
    return Annotated[str, BeforeValidator(_one_line), Field(min_length=1, max_length=most)]


_Aspect = Literal[ASPECTS]  # type: ignore[valid-type]
_VerdictValue = Literal[CRITERION_VERDICT_VALUES]  # type: ignore[valid-type]
_Confidence = Literal[CONFIDENCES]  # type: ignore[valid-type]


def _whole(value: Any) -> Any:
    """2.0 is the integer 2 in JSON; 2.5, "2" and true are not, and no key of a literal either."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return repr(value) if isinstance(value, bool) else value


def _weight(most: int) -> Any:
    return Annotated[cast("Any", Literal)[tuple(range(1, most + 1))], BeforeValidator(_whole)]


def _model(name: str, **fields: Any) -> type[BaseModel]:
    return create_model(name, __config__=_STRICT, __module__=__name__, **fields)


@cache
def _criterion(short: bool, weighted: bool = False) -> type[BaseModel]:
    most = _EMBEDDED_CRITERION_CHARS if short else LONGEST_CRITERION_CHARS
    weight = {"weight": (_weight(MOST_OWN_WEIGHT), Field(description="How much it counts, from 1 to 3"))}
    return _model(
        "Criterion",
        text=(_text(most), Field(description="What is compared, in one sentence")),
        aspect=(_Aspect, Field(description="The aspect that it belongs to")),
        **(weight if weighted else {}),
    )


@cache
def _verdict(short: bool) -> type[BaseModel]:
    most = _EMBEDDED_RATIONALE_CHARS if short else LONGEST_RATIONALE_CHARS
    return _model(
        "Verdict",
        rationale=(_text(most), Field(description="The difference that decides, in at most two sentences")),
        verdict=(_VerdictValue, Field(description="Which response satisfies it better; insufficient: not to be told")),
        confidence=(_Confidence, Field(description="How sure the verdict is")),
    )


@cache
def choice_answer(short: bool) -> type[BaseModel]:
    """What the final and the monolithic judge answer: ``rationale``, and ``choice`` A, B or tie."""
    most = _EMBEDDED_RATIONALE_CHARS if short else LONGEST_RATIONALE_CHARS
    return _model(
        "Decision",
        rationale=(_text(most), Field(description="The decisive reason, in at most two sentences")),
        choice=(Literal["A", "B", "tie"], Field(description="The better response, or tie where neither is")),
    )


@cache
def criteria_answer(at_most: int, short: bool, weighted: bool = False) -> type[BaseModel]:
    """What a generator answers: ``criteria``, one or more, each with ``text``, ``aspect`` and, weighted, ``weight``."""
    most = min(at_most, EMBEDDED_CRITERIA) if short else at_most
    listed = cast("Any", list)[_criterion(short, weighted)]
    return _model(
        "Criteria", criteria=(listed, Field(min_length=1, max_length=most, description=f"1 to {most} criteria"))
    )


@cache
def verdicts_answer(ids: tuple[str, ...], short: bool) -> type[BaseModel]:
    """What a criterion judge answers: for each id ``rationale``, ``verdict`` and ``confidence``; no ids: for any."""
    return _of_each(_verdict(short), ids, "Verdicts", "Verdict on criterion {}")


@cache
def _met(short: bool) -> type[BaseModel]:
    most = _EMBEDDED_RATIONALE_CHARS if short else LONGEST_RATIONALE_CHARS
    return _model(
        "Met",
        rationale=(_text(most), Field(description="What shows it, in one sentence")),
        met=(bool, Field(description="Whether the response meets the criterion")),
    )


@cache
def pointwise_answer(ids: tuple[str, ...], short: bool, unanswered_is_not_met: bool = False) -> type[BaseModel]:
    """What a pointwise criterion judge answers of one response: for each id ``rationale`` and ``met``; no ids: for any.

    With ``unanswered_is_not_met`` an id that is missing is filled in as not met, with the rationale ``UNANSWERED``; an
    answer that has none of the ids is invalid all the same.
    """
    model = _of_each(_met(short), ids, "Answers", "Whether the response meets criterion {}")
    if not (ids and unanswered_is_not_met):
        return model

    def filled(value: Any) -> Any:
        if isinstance(value, dict) and any(id_ in value for id_ in ids):
            return {**{id_: {"rationale": UNANSWERED, "met": False} for id_ in ids if id_ not in value}, **value}
        return value

    validators: Any = {"_filled": model_validator(mode="before")(filled)}
    return create_model("Answers", __base__=model, __module__=__name__, __validators__=validators)


@cache
def weights_answer(ids: tuple[str, ...]) -> type[BaseModel]:
    """What weighs all criteria of a pair: for each id a whole number from 1 to ``MOST_LLM_WEIGHT``; no ids: for any."""
    return _of_each(_weight(MOST_LLM_WEIGHT), ids, "Weights", f"Weight of {{}}, from 1 to {MOST_LLM_WEIGHT}")


@cache
def children_answer(ids: tuple[str, ...], short: bool) -> type[BaseModel]:
    """What a refiner answers: for each tied criterion at most two finer ones, or none; no ids: for any."""
    most = _EMBEDDED_CHILDREN if short else MOST_CHILDREN
    listed: Any = Annotated[cast("Any", list)[_criterion(short)], Field(max_length=most)]
    return _of_each(listed, ids, "Children", f"At most {most} criteria in place of {{}}; an empty list where none")


@cache
def check_answer(candidates: tuple[str, ...], existing: tuple[str, ...], short: bool) -> type[BaseModel]:
    """What a check of candidates answers: for each ``reason`` and ``other``, the id of what it clashes with, or none.

    A candidate may clash with what exists and with candidates before it, so that of two that clash one stays.
    """
    if not candidates:
        return _of_each(_finding(None, short), (), "Check", "")
    fields = {
        candidate: (_finding((*existing, *candidates[:place]), short), Field(description=f"Of candidate {candidate}"))
        for place, candidate in enumerate(candidates)
    }
    return _model("Check", **fields)


def _finding(others: tuple[str, ...] | None, short: bool) -> type[BaseModel]:
    most = _EMBEDDED_RATIONALE_CHARS if short else LONGEST_RATIONALE_CHARS
    other: Any = str if others is None else Literal[(NONE, *others)]
    return _model(
        "Finding",
        reason=(_text(most), Field(description="Why, in one sentence")),
        other=(other, Field(description=f"The id of the criterion that it clashes with, or {NONE}")),
    )


def _of_each(kind: Any, ids: tuple[str, ...], name: str, description: str) -> type[BaseModel]:
    """A model with a field of one kind for each id; without ids, any ids with values of the kind."""
    if ids:
        return _model(name, **{id_: (kind, Field(description=description.format(id_))) for id_ in ids})
    base = type(f"_{name}OfAny", (BaseModel,), {
        "__module__": __name__, "__annotations__": {"__pydantic_extra__": dict[str, kind]}, "model_config": _ANY_IDS,
    })  # fmt: skip
    return cast("type[BaseModel]", base)
