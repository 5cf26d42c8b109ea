"""What is asked: prompt templates, judged text wrapped so that it cannot pose as instructions, and a call's identity.

A template is a Jinja2 file of parts, each opened by a line ``--- system ---``, ``--- user ---``,
``--- question: NAME ---`` (for the embedded judge) or ``--- response: first ---`` (for reward models). It is split into
parts before it is rendered, so no judged text can open one. Judged text reaches a template only through two filters:
``data`` (a block between delimiters that the text cannot contain) and ``inline`` (one line, JSON-quoted); printing it
without one of them is an error. A third, ``plain``, gives the text as it is to reward models, which follow nothing. A
template is handed the fields that its question shows and nothing else: what follows from labels, such as the split,
cannot be printed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jinja2
import jinja2.sandbox

from judge_pipeline.judging.failures import CallFailedError, Failure, JudgingError
from judge_pipeline.judging.judged_text import MIN_DIGITS, JudgedText

JUDGED_FIELDS = ("problem_id", "language", "source_code", "prompt_text", "problem_statement")
"""Fields of a judge request that hold text by participants or pages: data, never instructions."""

SHOWN_FIELDS = (*JUDGED_FIELDS, "context", "source_chars_cut", "prompt_chars_cut")
"""Fields of a judge request that a template can use: any other name in it is an error."""

QUESTION = "question: "
"""Begins the roles of the embedded judge's questions."""

_PART = re.compile(r"^--- (?P<role>system|user|question: [a-z_]+|response: (?:first|second)) ---[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Image:
    """An image that a message shows. Its bytes are no part of it: a backend gets them by its sha256 when it asks.

    Attributes:
        sha256: of its bytes, in hexadecimal.
        media_type: image/png, image/jpeg, image/webp or image/gif.
        n_bytes: its size.
        label: the line of text that stands before it.
    """

    sha256: str
    media_type: str
    n_bytes: int
    label: str


ReadImage = Callable[[Image], bytes]
"""Gives the bytes of an image; raises CallFailedError where they are not there, or are others."""


def no_images(image: Image) -> bytes:
    """A ``ReadImage`` where nothing that is asked shows images."""
    raise CallFailedError(Failure("configuration", f"image {image.sha256} is kept nowhere that this run knows of"))


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a call.

    Attributes:
        role: ``system``, ``user``, ``assistant``, ``question: NAME`` (the embedded judge's questions), or
            ``response: first`` and ``response: second`` (what a reward model scores).
        content: the rendered text.
        images: what follows the text, in this order.
    """

    role: str
    content: str
    images: tuple[Image, ...] = ()

    def component(self) -> dict[str, Any]:
        """The message as plain JSON values; without images as if there were no such thing."""
        plain: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.images:
            shown = [{"label": i.label, "sha256": i.sha256, "media_type": i.media_type} for i in self.images]
            plain["images"] = shown
        return plain


def asked_apart(messages: Sequence[Message]) -> list[list[Message]]:
    """The messages of each prompt that a call sends: the embedded judge's questions go out one by one, each behind all
    that is no question; any other call is one prompt."""
    before = [message for message in messages if not message.role.startswith(QUESTION)]
    return [[*before, message] for message in messages if message.role.startswith(QUESTION)] or [before]


@dataclass(frozen=True, slots=True)
class Call:
    """Everything that can change an answer, and nothing else.

    Attributes:
        model: the model's name for the backend.
        base_url: URL of the server, where one is configured; None for the provider's own.
        parameters: what is passed on to the model: temperature, max_tokens, ...
        messages: the rendered messages.
        schema: JSON schema of the answer; None where the settings say not to send one.
        send_schema: True sends the schema always, None where litellm says that the model supports it.
        repeat: index of the repeat, from 0.
    """

    model: str
    base_url: str | None
    parameters: Mapping[str, Any]
    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    send_schema: bool | None = None
    repeat: int = 0

    def components(self) -> dict[str, Any]:
        """The call as plain JSON values: what is hashed, and what the checkpoint keeps to explain a hash."""
        return {
            "model": self.model,
            "base_url": self.base_url,
            "parameters": self.parameters,
            "messages": [message.component() for message in self.messages],
            "schema": self.schema,
            "send_schema": self.send_schema,
            "repeat": self.repeat,
        }


def canonical_json(value: Any) -> str:
    """The one spelling of a JSON value: keys sorted, no spaces, no NaN.

    Raises:
        ValueError: the value holds NaN or infinity.
        TypeError: the value is not JSON.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256(text: str) -> str:
    """sha256 of the text in UTF-8, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def request_hash(call: Call) -> str:
    """The identity of a call: sha256 of the canonical JSON of its components (64 hexadecimal digits).

    Two calls have the same hash exactly where the same would be asked in the same way. Limits (tries, time-outs, the
    answer limit of a repair try) are no part of it: they decide whether an answer comes, not what is asked.
    """
    return sha256(canonical_json(call.components()))


def _data(value: Any, digits: int = 12) -> str:
    if digits < MIN_DIGITS:
        raise JudgingError(f"data({digits}): a delimiter of fewer than {MIN_DIGITS} digits could be guessed")
    return _judged(value).wrapped(digits)


def _inline(value: Any) -> str:
    return "null" if value is None else _judged(value).quoted()


def _plain(value: Any) -> str:
    return "" if value is None else _judged(value).plain()


def _judged(value: Any) -> JudgedText:
    if isinstance(value, JudgedText):
        return value
    raise JudgingError(f"the filters 'data' and 'inline' take judged text, not {type(value).__name__}")


def _finalize(value: Any) -> Any:
    if isinstance(value, JudgedText):
        return str(value)  # raises: it was printed without a filter
    return value


def _environment(scores: bool) -> jinja2.sandbox.SandboxedEnvironment:
    """Of a template; ``scores``: for a reward model."""
    environment = jinja2.sandbox.SandboxedEnvironment(
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # the result is a prompt, not HTML; judged text is wrapped instead
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters = {"data": _data, "inline": _inline} | ({"plain": _plain} if scores else {})
    environment.globals = {}  # none of the built-in functions: one of them is random, and a prompt must not be
    return environment


@dataclass(frozen=True)
class PromptTemplate:
    """A prompt template, versioned by its content.

    Attributes:
        name: the file's name.
        sha256: sha256 of the file's text: its version.
        parts: role and compiled template of each part, in order.
        judged_fields: fields of a row that hold judged text: a text, or lists and mappings of texts.
        shown_fields: all fields that the template can use.
    """

    name: str
    sha256: str
    parts: tuple[tuple[str, jinja2.Template], ...] = field(repr=False)
    judged_fields: tuple[str, ...] = JUDGED_FIELDS
    shown_fields: tuple[str, ...] = SHOWN_FIELDS

    @property
    def n_questions(self) -> int:
        """How many questions of the embedded judge it ends with; 0 for any other template."""
        return sum(role.startswith(QUESTION) for role, _ in self.parts)

    @classmethod
    def load(
        cls,
        prompts_dir: Path,
        name: str,
        judged_fields: tuple[str, ...] = JUDGED_FIELDS,
        shown_fields: tuple[str, ...] = SHOWN_FIELDS,
    ) -> PromptTemplate:
        """The template of that name in the folder.

        Raises:
            JudgingError: there is no such file, its name is a path, it has no user part, or it is not valid Jinja2;
                the message names the file, the line and the remedy.
        """
        path = prompts_dir / name
        if Path(name).name != name:
            raise JudgingError(f"prompt {name!r} must be the name of a file in {prompts_dir}, not a path")
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            there = ", ".join(sorted(p.name for p in prompts_dir.glob("*.j2"))) or "none"
            raise JudgingError(f"{path}: there is no such prompt template; the folder has: {there}") from None
        return replace(cls.parse(text, str(path)), judged_fields=judged_fields, shown_fields=shown_fields)

    @classmethod
    def parse(cls, text: str, path: str = "template") -> PromptTemplate:
        """The template of the text; ``path`` is for its name and for errors."""
        marks = list(_PART.finditer(text))
        if not any(mark["role"] == "user" for mark in marks):
            raise JudgingError(f"{path}: has no line '--- user ---', which opens the part that asks; add one")
        environment = _environment(any(mark["role"].startswith("response: ") for mark in marks))
        ends = [mark.start() for mark in marks[1:]] + [len(text)]
        parts = []
        for mark, end in zip(marks, ends, strict=True):
            try:
                parts.append((mark["role"], environment.from_string(text[mark.end() : end].strip())))
            except jinja2.TemplateSyntaxError as error:
                line = text[: mark.end()].count("\n") + error.lineno + 1
                raise JudgingError(f"{path}, line {line}: is not valid Jinja2: {error.message}") from None
        return cls(Path(path).name, sha256(text), tuple(parts))

    def render(self, request: Mapping[str, Any]) -> tuple[Message, ...]:
        """The messages for one row of what is asked, such as a row of ``judge_requests``, as a mapping.

        Raises:
            JudgingError: the template uses an unknown variable or prints judged text without a filter.
        """
        variables: dict[str, Any] = {name: request[name] for name in self.shown_fields if name in request}
        judged = {name: variables[name] for name in self.judged_fields if variables.get(name) is not None}
        texts = iter(JudgedText.together(list(_texts(judged))))
        variables |= {name: _replaced(value, texts) for name, value in judged.items()}
        try:
            return tuple(Message(role, part.render(variables)) for role, part in self.parts)
        except (jinja2.TemplateError, JudgingError) as error:
            raise JudgingError(f"prompt template {self.name}: {error}") from error


def _texts(value: Any) -> Iterator[str]:
    """The texts in a value, however deep, in order; keys of mappings are no texts of it."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif value is not None and not isinstance(value, bool | int | float):
        yield str(value)


def _replaced(value: Any, texts: Iterator[JudgedText]) -> Any:
    """The value with every text in it replaced by the next of ``texts``."""
    if isinstance(value, Mapping):
        return {key: _replaced(item, texts) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_replaced(item, texts) for item in value]
    return value if value is None or isinstance(value, bool | int | float) else next(texts)
