"""A YAML file as a pydantic model: every error names the file, the key, the line, the value and the remedy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError


class SettingsError(ValueError):
    """A configuration file is wrong. The message names the file, the key, the line, the value and the remedy."""


_UNION_TAGS = (
    "litellm", "embedded", "recorded", "baseline",
    "table", "copilot_arena", "edit_bench", "lmarena", "judgebench", "bigcodereward", "webdevjudge", "mt_bench",
    "auto_j", "pandalm", "icai",
)  # fmt: skip
_QUICK_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # where PyYAML was built without libyaml, there is none
_M = TypeVar("_M", bound=BaseModel)


def load(model: type[_M], file: Path, *over: Path) -> _M:
    """The file as the model; keys of the files in ``over`` that exist replace its own.

    Raises:
        SettingsError: a file is missing or is not YAML, a key is unknown or twice, or a value is wrong.
    """
    values: dict[str, Any] = {}
    origin: dict[str, _Place] = {}
    for path in (file, *(p for p in over if os.path.lexists(p))):
        read, node = _compose(path)
        for key, value in _top_level(path, node):
            origin[key.value] = _Place(path, key.start_mark.line + 1, value)
        values |= read
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise SettingsError(_in_words(error, file, origin)) from None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a top-level key stands."""

    path: Path
    line: int
    node: yaml.Node


def _compose(path: Path) -> tuple[dict[str, Any], yaml.Node | None]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SettingsError(
            f"{path}: there is no such file; 'judge-pipeline init DIR' lays one with comments"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: cannot be read ({error}); save it as UTF-8 text that you may read") from None
    try:
        values, node = _parsed(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error)
        raise SettingsError(f"{path}{line}: is not YAML ({problem}); check indentation, colons and quotes") from None
    except ValueError as error:
        line_number, value = _bad_scalar(yaml.compose(text, Loader=_QUICK_LOADER))
        raise SettingsError(
            f"{path}, line {line_number}: {value!r} looks like a date or a number and is none ({error}); write "
            "one that there is, or put it in quotes"
        ) from None
    _refuse_twice(path, node)
    return (deepcopy(values) if isinstance(values, dict) else {}), node


@lru_cache(maxsize=16)
def _parsed(text: str) -> tuple[Any, yaml.Node | None]:
    """The values and the places of a text, for which a run asks well over a hundred times.

    Both are shared: read the nodes only, and hand out copies of the values. libyaml is quicker by far; what is wrong
    with a text is said better by the loader in Python.
    """
    try:
        return _read_by(_QUICK_LOADER, text)
    except yaml.YAMLError:
        return _read_by(yaml.SafeLoader, text)


def _read_by(loader: Any, text: str) -> tuple[Any, yaml.Node | None]:
    return yaml.load(text, Loader=loader), yaml.compose(text, Loader=loader)  # noqa: S506  both loaders are safe


def _bad_scalar(node: yaml.Node | None) -> tuple[int, str]:
    """Line and text of the first value that is not what it looks like; line 1 and nothing where there is none."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.ScalarNode):
            try:
                yaml.SafeLoader("").construct_object(node)
            except ValueError:
                return node.start_mark.line + 1, node.value
        elif isinstance(node, yaml.SequenceNode):
            waiting.extend(reversed(node.value))
        elif isinstance(node, yaml.MappingNode):
            waiting.extend(part for pair in reversed(node.value) for part in reversed(pair))
    return 1, ""


def _refuse_twice(path: Path, node: yaml.Node | None) -> None:
    if isinstance(node, yaml.MappingNode):
        seen: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if key.value in seen:
                raise SettingsError(
                    f"{path}, line {line}: key {key.value!r} stands twice (first in line {seen[key.value]}); remove one"
                )
            seen[key.value] = line
            _refuse_twice(path, value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            _refuse_twice(path, value)


def _top_level(path: Path, node: yaml.Node | None) -> list[tuple[yaml.ScalarNode, yaml.Node]]:
    if node is None:
        return []
    if not isinstance(node, yaml.MappingNode):
        raise SettingsError(f"{path}, line {node.start_mark.line + 1}: must hold 'key: value' lines at its top level")
    return list(node.value)


def _in_words(error: ValidationError, file: Path, origin: Mapping[str, _Place]) -> str:
    messages = []
    for item in error.errors():
        path, line, key = _locate([str(part) for part in item["loc"]], file, origin)
        value = item.get("input")
        shown = f" (it is {value!r})" if isinstance(value, (str, int, float, bool)) else ""
        problem = {
            "extra_forbidden": "is not a setting; remove it or correct its name",
            "missing": "is missing; add it",
        }.get(item["type"], item["msg"].removeprefix("Value error, "))
        messages.append(f"{path}, line {line}, key {key}: {problem}{shown}")
    return "\n".join(messages)


def _locate(location: list[str], file: Path, origin: Mapping[str, _Place]) -> tuple[Path, int, str]:
    """The file, line and dotted key of a pydantic location; union tags in it, which are no keys, are passed over."""
    place = origin.get(location[0]) if location else None
    path, line, node = (place.path, place.line, place.node) if place else (file, 1, None)
    keys = location[:1]
    for part in location[1:]:
        child = _child(node, part)
        if child is not None:
            line, node = child
            keys.append(part)
        elif part not in _UNION_TAGS:
            keys.append(part)
    return path, line, ".".join(keys) or "(whole file)"


def _child(node: yaml.Node | None, part: str) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == part:
                return key.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and part.isdigit() and int(part) < len(node.value):
        value = node.value[int(part)]
        return value.start_mark.line + 1, value
    return None
