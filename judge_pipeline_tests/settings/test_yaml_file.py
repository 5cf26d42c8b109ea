"""A settings file that is read again and again is parsed once, and quickly, and no reader notices."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from judge_pipeline.settings import yaml_file
from judge_pipeline.settings.workspace import packaged_config_dir
from judge_pipeline.settings.yaml_file import SettingsError, load


class _Any(BaseModel):
    values: Any


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "a.yaml").write_text("values: {list: [1], word: x}\n", encoding="utf-8")
    return tmp_path / "a.yaml"


def test_what_one_reader_changes_no_other_sees(file: Path) -> None:
    first = load(_Any, file)
    first.values["list"].append(2)
    assert load(_Any, file).values == {"list": [1], "word": "x"}


def test_a_file_that_was_edited_is_read_anew(file: Path) -> None:
    load(_Any, file)
    file.write_text("values: {list: [1], word: y}\n", encoding="utf-8")
    assert load(_Any, file).values["word"] == "y"


def test_the_same_text_is_parsed_once_and_names_its_own_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = file.with_name("b.yaml")
    for path in (file, other):
        path.write_text("values: 1\nvalues: 2\n", encoding="utf-8")
    parsed, parse = [], yaml.load
    monkeypatch.setattr(yaml_file.yaml, "load", lambda text, Loader: parsed.append(text) or parse(text, Loader))
    yaml_file._parsed.cache_clear()
    for path in (file, other, file):
        with pytest.raises(SettingsError, match=f"{path.name}, line 2: key 'values' stands twice"):
            load(_Any, path)
    assert len(parsed) == 1


@pytest.mark.parametrize("loader", [yaml.CSafeLoader, yaml.SafeLoader])
@pytest.mark.parametrize(
    "text", ["values: [1, 2", "values: @word", "values:\n\t- 1", "values: *word", "values: 1\n word: 2"]
)
def test_what_is_wrong_with_a_text_is_said_by_the_loader_in_python(
    text: str, loader: Any, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml_file, "_QUICK_LOADER", loader)
    yaml_file._parsed.cache_clear()
    file.write_text(text, encoding="utf-8")
    with pytest.raises(yaml.MarkedYAMLError) as wrong:
        yaml.safe_load(text)
    with pytest.raises(SettingsError) as said:
        load(_Any, file)
    assert str(said.value).startswith(f"{file}, line {wrong.value.problem_mark.line + 1}, column ")
    assert f"is not YAML ({wrong.value.problem})" in str(said.value)


@pytest.mark.parametrize(
    "name", ["judges.yaml", "contests.yaml", "preference.yaml", "criteria.yaml", "automation.yaml"]
)
def test_both_loaders_read_the_same(name: str) -> None:
    text = (packaged_config_dir() / name).read_text(encoding="utf-8")

    def places(node: yaml.Node) -> list[tuple[str, int, int, str]]:
        return [
            (item.tag, item.start_mark.line, item.start_mark.column, str(item.value) * isinstance(item.value, str))
            for item in _nodes(node)
        ]

    (values, node), (slow_values, slow_node) = (
        yaml_file._read_by(loader, text) for loader in (yaml.CSafeLoader, yaml.SafeLoader)
    )
    assert values == slow_values
    assert places(node) == places(slow_node)


def _nodes(node: yaml.Node) -> Iterator[yaml.Node]:
    yield node
    inner = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
    for part in inner if isinstance(node, yaml.CollectionNode) else []:
        yield from _nodes(part)


@pytest.mark.parametrize("written", ["2020-99-99", "2020-01-01T25:00:00"])
def test_what_looks_like_a_date_and_is_none_is_told_with_its_place(file: Path, written: str) -> None:
    file.write_text(f"other: 2020-02-03\nvalues:\n  - {{word: {written}}}\n", encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load(_Any, file)
    said = str(caught.value)
    assert said.startswith(f"{file}, line 3: {written!r} looks like a date") and "put it in quotes" in said
