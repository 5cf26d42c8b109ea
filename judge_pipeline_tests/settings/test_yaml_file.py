"""A settings file that is read again and again is parsed once, and no reader notices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from judge_pipeline.settings import yaml_file
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
    parsed = []
    monkeypatch.setattr(
        yaml_file.yaml, "safe_load", lambda text: parsed.append(text) or yaml.load(text, yaml.SafeLoader)
    )
    yaml_file._parsed.cache_clear()
    for path in (file, other, file):
        with pytest.raises(SettingsError, match=f"{path.name}, line 2: key 'values' stands twice"):
            load(_Any, path)
    assert len(parsed) == 1
