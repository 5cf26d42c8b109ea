from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from judge_pipeline.settings.injections import PLACES, InjectionsFile, read_injections
from judge_pipeline.settings.yaml_file import SettingsError

CONFIG = Path(__file__).resolve().parents[2] / "assets_config"


def test_the_texts_that_come_with_the_package_try_what_the_field_knows() -> None:
    file = read_injections(CONFIG)
    assert {injection.place for injection in file.injections.values()} == set(PLACES)
    assert {injection.direction for injection in file.injections.values()} == {"up", "down"}
    assert len({injection.family for injection in file.injections.values()}) >= 9
    assert "accept" not in file.control.lower() and "p_ac" not in file.control and "correct" not in file.control.lower()


@pytest.mark.parametrize("place", PLACES)
def test_the_control_is_as_long_as_the_texts_it_stands_beside(place: str) -> None:
    file = read_injections(CONFIG)
    lengths = [len(injection.text) for injection in file.injections.values() if injection.place == place]
    control = file.control_text(place)  # type: ignore[arg-type]
    assert abs(len(control) - sum(lengths) / len(lengths)) <= 1.5
    assert all(abs(length - len(control)) <= 25 for length in lengths)


def test_a_workspace_without_the_file_has_the_one_of_the_package(tmp_path: Path) -> None:
    assert read_injections(tmp_path) == read_injections(CONFIG)


def test_a_place_without_injections_has_no_control_and_a_long_one_repeats_it() -> None:
    one = {"family": "x", "place": "comment", "direction": "up", "text": "a" * 450}
    file = InjectionsFile.model_validate({"control": "harmless words " * 14, "injections": {"one": one}})
    assert file.control_text("string") == ""
    assert 440 <= len(file.control_text("comment")) <= 450


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"place": "title"}, "injections.yaml, line 6, key injections.one.place"),
        ({"direction": "none"}, "injections.yaml, line 4, key injections.one.direction"),
        ({"text": "ends with \\\nmore"}, "no line may end with a backslash"),
        ({"txt": "x"}, "key injections.one.txt: is not a setting"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, change: dict[str, str], message: str) -> None:
    one = {"family": "x", "place": "comment", "direction": "up", "text": "words"} | change
    values = {"control": "harmless words " * 14, "injections": {"one": one}}
    (tmp_path / "injections.yaml").write_text(yaml.safe_dump(values, width=1000), encoding="utf-8")
    with pytest.raises(SettingsError, match=re.escape(message)):
        read_injections(tmp_path)


@pytest.mark.parametrize("name", ["control", "all", "Not A Slug"])
def test_names_that_mean_something_else_are_refused(tmp_path: Path, name: str) -> None:
    one = {"family": "x", "place": "comment", "direction": "up", "text": "words"}
    values = {"control": "harmless words " * 14, "injections": {name: one}}
    (tmp_path / "injections.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    with pytest.raises(SettingsError, match=name):
        read_injections(tmp_path)
