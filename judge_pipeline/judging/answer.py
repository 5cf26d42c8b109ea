"""A model's answer: parsed, mechanically repaired where only its punctuation is wrong, and checked strictly.

The ladder: plain JSON; then thinking, a code fence or text around the one object removed; then mechanical repair by
json-repair, accepted only if it changed nothing but punctuation. What is still wrong is a failure with its class; a
wrong value is never clamped, defaulted or completed by guess.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from judge_pipeline.judging.answer_marks import THINKING_CLOSES, THINKING_OPENS, declines
from judge_pipeline.judging.failures import Failure
from judge_pipeline.judging.finish_reasons import failure_of

LONGEST_TEXT_CHARS = 1_000_000
"""Longest text, thinking included, in which an answer is looked for: some 250,000 tokens, and below a second."""

_LONGEST_REPAIR_CHARS = 20_000
_MOST_ENDS_OF_THINKING = 8

MAX_RATIONALE_CHARS = 1000
"""Longest rationale accepted; the prompt asks for far less."""


def _whole_number(value: Any) -> Any:
    """4.0 is the integer 4 in JSON; 4.5, "4" and true are not."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Rubric = Annotated[int, BeforeValidator(_whole_number), Field(ge=1, le=5)]


class Judgment(BaseModel):
    """A judge's judgment of one attempt (paper 1, eq. 8): exactly these four fields."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    p_ac: float = Field(ge=0.0, le=1.0, allow_inf_nan=False, description="Probability of acceptance, from 0 to 1")
    s_algo: Rubric = Field(description="Algorithmic adequacy: an integer from 1 to 5")
    s_robust: Rubric = Field(description="Robustness and constraint handling: an integer from 1 to 5")
    rationale: str = Field(
        min_length=1, max_length=MAX_RATIONALE_CHARS, description="Short reason, at most two sentences"
    )

    @field_validator("p_ac")
    @classmethod
    def _no_negative_zero(cls, value: float) -> float:
        return value + 0.0  # -0.0 becomes 0.0


M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Answer(Generic[M]):
    """A valid answer.

    Attributes:
        value: the answer as its model.
        repair: what was repaired, and how; None where the answer was plain JSON (after any thinking).
    """

    value: M
    repair: str | None


def whole_text(text: str | None, finish_reason: str | None) -> str | Failure:
    """The text that a model returned, where it came to its own end and is of a length that is read.

    Returns:
        The text as it came; or a :class:`Failure` of class truncated, refusal, infrastructure, empty or invalid.
    """
    ended = failure_of(finish_reason)
    if ended is not None:
        return ended
    if text is None or not text.strip():
        return Failure("empty", f"the model returned no text (finish_reason: {finish_reason})")
    if len(text) > LONGEST_TEXT_CHARS:
        return Failure("invalid", f"the answer has {len(text)} characters; more than {LONGEST_TEXT_CHARS} are not read")
    return text


def parse_answer(text: str | None, finish_reason: str | None, model: type[M]) -> Answer[M] | Failure:
    """The answer that the text holds, or why it holds none.

    Args:
        text: the content that the model returned; None where it returned none.
        finish_reason: the provider's reason for stopping; see :func:`finish_reasons.failure_of`.
        model: what the answer must be, for example :class:`Judgment`.

    Returns:
        An :class:`Answer`, or a :class:`Failure` of class truncated, refusal, infrastructure, empty or invalid. The
        text of an invalid one lists the validation errors, as the re-ask carries them.
    """
    whole = whole_text(text, finish_reason)
    if isinstance(whole, Failure):
        return whole
    try:
        return _read(whole, model)
    except RecursionError:
        return Failure("invalid", "the answer is nested too deeply")


def _read(text: str, model: type[M]) -> Answer[M] | Failure:
    found = _find_object(text, tuple(model.model_fields))
    if isinstance(found, Failure):
        return found
    value, repairs = found
    value, replaced = _without_lone_surrogates(value)
    try:
        answer = model.model_validate(value)
    except ValidationError as error:
        return Failure("invalid", _errors_in_words(error))
    repairs = [*repairs, "characters that are no text replaced"] if replaced else repairs
    return Answer(answer, "; ".join(repairs) or None)


@cache
def json_schema(model: type[BaseModel], *, bounds: bool = False) -> Mapping[str, Any]:
    """The JSON schema sent to providers: types, required fields, no others; ranges stand in the descriptions.

    Keywords that some providers refuse in strict mode (minimum, maxLength, title, ...) are left out: the strict check
    of every value is ours, in :func:`parse_answer`. The schema is shared: do not change it.

    Args:
        model: the answer.
        bounds: whether lengths of texts and lists stay in, for a grammar that holds a model to them.
    """
    full = model.model_json_schema()
    return _plain_schema(full, full.get("$defs", {}), (*_PLAIN, *_BOUNDS) if bounds else _PLAIN)


_PLAIN = ("type", "description", "enum")
_BOUNDS = ("minLength", "maxLength", "minItems", "maxItems")


def _plain_schema(node: Mapping[str, Any], definitions: Mapping[str, Any], keywords: tuple[str, ...]) -> dict[str, Any]:
    """A part of pydantic's schema with references written out, and only what providers take."""
    if "$ref" in node:
        referred = definitions[node["$ref"].rpartition("/")[2]]
        node = referred | {key: value for key, value in node.items() if key != "$ref"}
    kept = {key: node[key] for key in keywords if key in node}
    if "const" in node:
        kept |= {"type": "string", "enum": [node["const"]]}
    if "items" in node:
        kept["items"] = _plain_schema(node["items"], definitions, keywords)
    if "properties" in node:
        fields = {name: _plain_schema(field, definitions, keywords) for name, field in node["properties"].items()}
        kept.pop("description", None)
        kept |= {"properties": fields, "required": list(fields), "additionalProperties": False}
    return kept


_Found = tuple[Any, list[str]]


def _find_object(text: str, fields: tuple[str, ...]) -> _Found | Failure:
    plain = _loads(text.strip())
    if not isinstance(plain, _NotJson):
        return plain, []
    failure: Failure | None = None
    for answer in _after_thinking(text):
        found = _in_answer(answer, fields)
        if not isinstance(found, Failure):
            return found
        failure = failure or found
    return failure or Failure("truncated", "the thinking was never closed, so there is no answer after it")


def _in_answer(text: str, fields: tuple[str, ...]) -> _Found | Failure:
    """The one object in a text without thinking."""
    text = text.strip()
    if not text:
        return Failure("empty", "nothing follows the thinking")
    plain = _loads(text)
    if not isinstance(plain, _NotJson):
        return plain, []
    fenced = _in_fence(text)
    inner = text if fenced is None else fenced
    repairs = [] if fenced is None else ["code fence removed"]
    if fenced is not None:
        plain = _loads(inner)
        if not isinstance(plain, _NotJson):
            return plain, repairs
    return _only_object(inner, repairs, fields)


def _in_fence(text: str) -> str | None:
    """What stands between the fences, where the whole text does."""
    opened = _FENCE.match(text)
    if opened is None or not text.endswith(opened["mark"]) or len(text) < opened.end() + 3:
        return None
    inner = text[opened.end() : -3]
    last_line = inner.rpartition("\n")[2]
    return None if last_line.strip() or "\n" not in inner else inner.strip()


def _only_object(text: str, repairs: list[str], fields: tuple[str, ...]) -> _Found | Failure:
    spans, unclosed = _object_spans(text)
    found: list[tuple[int, str, Any]] = []
    for start, span in spans:
        value = _loads(span)
        if isinstance(value, dict) or any(name in span for name in fields):
            found.append((start, span, value))
        if len(found) > 1:
            return Failure("invalid", "the answer holds 2 JSON objects or more; exactly one is wanted")
    is_object = bool(found) and isinstance(found[0][2], dict)
    if unclosed and not is_object:
        return Failure("truncated", "the JSON object was never closed: the answer was cut off")
    if found and not unclosed:
        start, span, value = found[0]
        named = _named_after(text[start + len(span) :], fields)
        if named:
            return Failure("invalid", f"after the JSON object the text gives {named} another time")
        around = [] if span == text else ["text around the JSON object removed"]
        return (value, [*repairs, *around]) if is_object else _repaired(span, [*repairs, *around])
    if declines(text):
        return Failure("refusal", f"the model declined: {text[:200]!r}")
    return Failure("invalid", "the answer is not a JSON object")


def _named_after(text: str, fields: tuple[str, ...]) -> str | None:
    """A field that the text gives a number to: which of the two is meant would be a guess."""
    return next((name for name in fields if re.search(rf"\b{re.escape(name)}\b[^\n\d]{{0,40}}\d", text)), None)


def _repaired(span: str, repairs: list[str]) -> _Found | Failure:
    """json-repair's reading, if it differs from the text in punctuation alone: no word or number lost or made."""
    import json_repair

    try:
        value = json_repair.loads(span, skip_json_loads=True) if len(span) <= _LONGEST_REPAIR_CHARS else None
    except ValueError:  # nested deeper than it goes
        value = None
    if not isinstance(value, dict) or _skeleton(json.dumps(value, ensure_ascii=False)) != _skeleton(span):
        problem = _loads(span)
        return Failure("invalid", f"the answer is not valid JSON ({problem}), and cannot be repaired without guessing")
    return value, [*repairs, "punctuation of the JSON repaired (json-repair)"]


class _NotJson(str):
    """Why a text is not JSON."""

    __slots__ = ()


def _loads(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_without_twins, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        return _NotJson(error)


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice in the object")
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_FENCE = re.compile(r"(?P<mark>```|~~~)[A-Za-z0-9_-]*[ \t\r]*\n")


def _after_thinking(text: str) -> Iterator[str]:
    """What follows each end of thinking, last first: the last may stand inside a string of the answer itself."""
    ends = [match.end() for match in THINKING_CLOSES.finditer(text)]
    for end in reversed(ends[-_MOST_ENDS_OF_THINKING:] or [0]):
        opened = THINKING_OPENS.search(text, end)
        if opened is None or "{" in text[end : opened.start()]:
            yield text[end:]


def _object_spans(text: str) -> tuple[list[tuple[int, str]], bool]:
    """The outermost {...} of the text and where they begin, strings understood; whether a last one is never closed."""
    spans: list[tuple[int, str]] = []
    depth, start, in_string, escaped = 0, 0, False, False
    for index, char in enumerate(text):
        if in_string:
            in_string = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"' and depth:
            in_string = True
        elif char == "{":
            start = start if depth else index
            depth += 1
        elif char == "}" and depth:
            depth -= 1
            if depth == 0:
                spans.append((start, text[start : index + 1]))
    return spans, depth > 0


_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_CURLY = re.compile("[“”‘’]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]|\\u[0-9a-fA-F]{4}")
_WHITE = re.compile(r"\\[nrtbf]|\s")
_PUNCTUATION = re.compile(r"[\"'`\\,:{}\[\]]+")


def _skeleton(text: str) -> str:
    """The text without white space and punctuation, everything else in one spelling: what no repair may change."""
    text = _NOT_ASCII.sub(_escaped, _CURLY.sub("", text))
    text = _NUMBER.sub(lambda match: f"<{_number(match[0])}>", _WHITE.sub(" ", text))
    return _PUNCTUATION.sub("", text).replace(" ", "")


def _escaped(match: re.Match[str]) -> str:
    return match[0].lower() if match[0].startswith("\\") else json.dumps(match[0])[1:-1]


def _number(text: str) -> str:
    value = float(text)
    return repr(value) if math.isfinite(value) else text


def _without_lone_surrogates(value: Any) -> tuple[Any, bool]:
    """The value with lone surrogates and NUL, which no store takes, replaced by U+FFFD; and whether there were any."""
    if isinstance(value, str):
        clean = clean_text(value)
        return clean, clean != value
    if isinstance(value, dict):
        found = {key: _without_lone_surrogates(item) for key, item in value.items()}
        return {key: item for key, (item, _) in found.items()}, any(replaced for _, replaced in found.values())
    if isinstance(value, list):
        items = [_without_lone_surrogates(item) for item in value]
        return [item for item, _ in items], any(replaced for _, replaced in items)
    return value, False


def clean_text(text: str) -> str:
    """The text with lone surrogates and NUL replaced by U+FFFD, so that any store and any encoder takes it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", "\ufffd")


def _errors_in_words(error: ValidationError) -> str:
    lines = []
    for item in error.errors(include_url=False):
        place = ".".join(str(part) for part in item["loc"]) or "answer"
        shown = "" if item["type"] == "missing" else f" (it was {_short(item['input'])})"
        lines.append(f"{place}: {item['msg']}{shown}")
    return clean_text("; ".join(lines))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
