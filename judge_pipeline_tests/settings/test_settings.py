from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from judge_pipeline.settings import (
    ContestSettings,
    JudgesFile,
    LitellmJudge,
    Workspace,
    check_slug,
    packaged_config_dir,
)
from judge_pipeline.settings.contest import AnchorSettings
from judge_pipeline.settings.yaml_file import SettingsError, load


def judges_yaml(folder: Path, text: str) -> Path:
    file = folder / "judges.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(SettingsError) as caught:
        load(JudgesFile, judges_yaml(folder, text))
    return str(caught.value)


def test_the_configuration_that_ships_is_right() -> None:
    judges = load(JudgesFile, packaged_config_dir() / "judges.yaml")
    contests = load(ContestSettings, packaged_config_dir() / "contests.yaml")
    assert contests == ContestSettings(), "contests.yaml states the defaults"
    asked = [judge for judge in map(judges.get, judges.names("cocreation")) if isinstance(judge, LitellmJudge)]
    table_iii = {judge.model.split("/", 1)[1] for judge in asked}
    assert table_iii == {
        "gpt-5.2-2025-12-11",
        "gemini-2.5-pro",
        "claude-sonnet-4-5-20250929",
        "deepseek-reasoner",
    }


def test_a_paper_judge_without_its_key_names_the_variable() -> None:
    judge = load(JudgesFile, packaged_config_dir() / "judges.yaml").get("gpt-5.2")
    assert judge.missing_key({}) == "OPENAI_API_KEY"
    assert judge.missing_key({"OPENAI_API_KEY": ""}) == "OPENAI_API_KEY"
    assert judge.missing_key({"OPENAI_API_KEY": "k"}) is None


def test_the_panel_holds_no_baseline_and_no_embedded_judge_unless_told() -> None:
    judges = JudgesFile.model_validate(
        {
            "judges": {
                "a": {"backend": "litellm", "model": "openai/x"},
                "b": {"backend": "baseline"},
                "c": {"backend": "embedded"},
                "d": {"backend": "recorded", "file": "d.jsonl"},
                "e": {"backend": "baseline", "in_panel": True},
                "f": {"backend": "litellm", "model": "openai/y", "in_panel": False},
            }
        }
    )
    assert judges.panel() == ["a", "d", "e"]


@pytest.mark.parametrize(
    ("text", "line", "key", "words"),
    [
        ("judges:\n  a:\n    backend: litellm\n    modle: x\n", 4, "judges.a.modle", "is not a setting"),
        ("judges:\n  a:\n    backend: litellm\n", 2, "judges.a.model", "is missing"),
        ("judges:\n  a:\n    backend: fax\n", 2, "judges.a", "'fax'"),
        ("judges:\n  a:\n    backend: recorded\n    file: ../x\n", 4, "judges.a.file", "inside the contest folder"),
        ("judges:\n  A b:\n    backend: baseline\n", 1, "judges", "cannot be a partition key"),
        (
            "judges:\n  a:\n    backend: litellm\n    model: x\n    limits:\n      max_tries: 0\n",
            6,
            "judges.a.limits.max_tries",
            "greater than or equal to 1",
        ),
        ("judges:\n  a:\n    backend: baseline\n    scope: {splits: [tset]}\n", 4, "judges.a.scope.splits.0", "'tset'"),
    ],
)
def test_a_wrong_setting_is_named_by_file_line_and_key(
    tmp_path: Path, text: str, line: int, key: str, words: str
) -> None:
    message = refusal(tmp_path, text)
    assert f"{tmp_path / 'judges.yaml'}, line {line}, key {key}:" in message
    assert words in message


def test_a_broken_file_is_named_with_its_line(tmp_path: Path) -> None:
    assert "judges.yaml, line 3" in refusal(tmp_path, "judges:\n  a: [\n")
    assert "stands twice (first in line 2)" in refusal(
        tmp_path, "judges:\n  a: {backend: baseline}\n  a: {backend: baseline}\n"
    )
    assert "key judges: is missing" in refusal(tmp_path, "")
    assert "line 1: must hold 'key: value' lines" in refusal(tmp_path, "- a\n")
    (tmp_path / "judges.yaml").write_bytes(b"judges: \xff\xfe")
    with pytest.raises(SettingsError, match="save it as UTF-8"):
        load(JudgesFile, tmp_path / "judges.yaml")
    with pytest.raises(SettingsError, match="there is no such file"):
        load(JudgesFile, tmp_path / "none.yaml")


def test_yaml_anchors_and_merges_work(tmp_path: Path) -> None:
    text = "judges:\n  a: &a\n    backend: litellm\n    model: openai/x\n  b:\n    <<: *a\n    model: openai/y\n"
    assert load(JudgesFile, judges_yaml(tmp_path, text)).names() == ["a", "b"]


def test_yaml_tags_build_no_objects(tmp_path: Path) -> None:
    with pytest.raises(SettingsError):
        load(JudgesFile, judges_yaml(tmp_path, "judges: !!python/object/apply:os.getcwd []\n"))


def test_a_contest_file_stands_over_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "contests.yaml").write_text("seed: 7\ntime_zone: UTC\n", encoding="utf-8")
    contest = tmp_path / "c"
    contest.mkdir()
    (contest / "contest.yaml").write_text("time_zone: Asia/Tokyo\n", encoding="utf-8")
    settings = Workspace(tmp_path, tmp_path, tmp_path).contest(contest)
    assert (settings.seed, settings.time_zone) == (7, "Asia/Tokyo")
    (contest / "contest.yaml").write_text("\ntime_zone: Mars/Olympus\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"contest\.yaml, line 2, key time_zone: is not a time zone"):
        Workspace(tmp_path, tmp_path, tmp_path).contest(contest)
    (contest / "contest.yaml").write_text("verdict_words: {NG: NOPE}\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="'NOPE' is no verdict"):
        Workspace(tmp_path, tmp_path, tmp_path).contest(contest)


@pytest.mark.parametrize("name", ["a", "spring-2026", "0.x_y", "a..b"])
def test_slugs_pass(name: str) -> None:
    assert check_slug(name, "contest") == name


@pytest.mark.parametrize(
    "name", ["", "Spring 2026", "a|b", "a,b", "-a", ".a", "../a", "a/b", "日本", "a\n", "a...b", "a..日..."]
)
def test_other_names_are_refused_with_a_proposal(name: str) -> None:
    with pytest.raises(SettingsError, match="for example to") as caught:
        check_slug(name, "contest")
    proposal = str(caught.value).rsplit("'", 2)[1]
    assert check_slug(proposal, "contest") == proposal


def test_the_workspace_is_found_upwards_and_by_the_environment(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "assets_config").mkdir(parents=True)
    (home / "assets_config" / "judges.yaml").write_text("judges: {a: {backend: baseline}}\n", encoding="utf-8")
    deep = home / "data" / "contests"
    deep.mkdir(parents=True)
    assert Workspace.find({}, deep).out_dir == home / "var"
    assert Workspace.find({"JUDGE_PIPELINE_OUT": str(tmp_path / "o")}, deep).out_dir == tmp_path / "o"
    assert Workspace.find({"JUDGE_PIPELINE_HOME": str(home)}, tmp_path).config_dir == home / "assets_config"
    with pytest.raises(SettingsError, match="judge-pipeline init"):
        Workspace.find({"JUDGE_PIPELINE_HOME": str(tmp_path)}, tmp_path)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"attempts": 4, "attempt_ids": ["a", "b"]}, "keep one of the two"),
        ({"attempt_ids": ["a"]}, "names fewer than 2 attempts"),
        ({"attempt_ids": ["a", "b", "a"]}, "names 'a' more than once"),
        ({"attempt_ids": "../anchor.txt"}, "a file in the contest folder"),
        ({"attempt_ids": "/anchor.txt"}, "a file in the contest folder"),
        ({"attempt_ids": ""}, "a file in the contest folder"),
    ],
)
def test_an_anchor_set_is_a_sample_or_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        AnchorSettings.model_validate(given)


def test_a_file_names_the_anchor_set_an_id_a_line(tmp_path: Path) -> None:
    settings = AnchorSettings(attempt_ids="anchor.txt")
    file = tmp_path / "anchor.txt"
    file.write_bytes(b"\xef\xbb\xbf# mine\r\n\r\n a1 \r\nb2\r\n")
    assert settings.named(tmp_path) == ["a1", "b2"]
    assert AnchorSettings().named(tmp_path) is None
    assert AnchorSettings(attempt_ids=("x", "y")).named(tmp_path) == ["x", "y"]
    for content, said in (
        (b"a1\n", "anchor.txt: names fewer than 2 attempts"),
        (b"a\nb\na\n", "anchor.txt: names 'a' more than once"),
        (b"\xff\xfe", "anchor.txt: is not UTF-8"),
    ):
        file.write_bytes(content)
        with pytest.raises(SettingsError, match=said):
            settings.named(tmp_path)
    file.unlink()
    with pytest.raises(SettingsError, match="No such file"):
        settings.named(tmp_path)
