"""preference.yaml: what ships, what a set may say over it, and how a wrong one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_pipeline.settings import PAIR_COLUMNS, PreferenceSettings, Workspace, packaged_config_dir
from judge_pipeline.settings.preference import CopilotArenaSource, LmArenaSource, TableSource
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.tables import PREFERENCE_PAIRS


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "assets_config", tmp_path / "data", tmp_path / "var")


def settings(workspace: Workspace, text: str) -> PreferenceSettings:
    folder = workspace.data_dir / "preference" / "s"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "preference.yaml").write_text(text, encoding="utf-8")
    return workspace.preference(folder)


def refusal(workspace: Workspace, text: str) -> str:
    with pytest.raises(SettingsError) as caught:
        settings(workspace, text)
    return str(caught.value)


def test_the_configuration_that_ships_states_the_defaults(workspace: Workspace, tmp_path: Path) -> None:
    assert workspace.preference(tmp_path) == PreferenceSettings()
    shipped = Workspace(packaged_config_dir(), tmp_path, tmp_path)
    assert shipped.preference(tmp_path) == PreferenceSettings()


def test_a_workspace_s_own_defaults_go_before_the_packaged_ones_and_a_set_s_before_both(workspace: Workspace) -> None:
    workspace.config_dir.mkdir()
    (workspace.config_dir / "preference.yaml").write_text("seed: 5\nsplit: {train: 0.5}\n", encoding="utf-8")
    found = settings(workspace, "split: {train: 0.3}\n")
    assert (found.seed, found.split.train) == (5, 0.3)


def test_a_source_without_a_format_is_a_table(workspace: Workspace) -> None:
    source = settings(workspace, "source: {columns: {w: better}, choice_words: {left: A}}\n").source
    assert isinstance(source, TableSource) and source.columns == {"w": "better"} and source.empty == "set_aside"


def test_columns_that_may_be_mapped_are_those_of_the_table_of_pairs() -> None:
    made_by_us = {"both_bad", "swapped", "origin", "source_file", "place", "notes"}
    assert set(PAIR_COLUMNS) == set(PREFERENCE_PAIRS.column_names) - made_by_us


def test_trace_s_selection_sets_what_is_not_given(workspace: Workspace) -> None:
    source = settings(workspace, "source: {format: copilot_arena, selection: trace}\n").source
    assert isinstance(source, CopilotArenaSource)
    assert (source.accepted, source.swap) == ("second", "trace")
    source = settings(workspace, "source: {format: lmarena, selection: trace, fenced_prompt: false}\n").source
    assert isinstance(source, LmArenaSource)
    assert (source.ties, source.both_bad, source.fenced_code) == ("leave_out", "leave_out", "shared_language")
    assert source.first_vote_only and not source.fenced_prompt
    plain = settings(workspace, "source: {format: lmarena}\n").source
    assert isinstance(plain, LmArenaSource)
    assert (plain.only_code, plain.single_turn, plain.fenced_code) == (True, True, "both_answers")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("source:\n  format: copilot_arena\n  swap: often\n", "line 3, key source.swap: Input should be"),
        ("source:\n  format: lmarena\n  only_coed: true\n", "line 3, key source.only_coed: is not a setting"),
        ("title: x\nsource: {format: arena}\n", "line 2, key source: Input tag 'arena'"),
        ("source: {columns: {winner: w}}\n", "line 1, key source.columns: winner is no column of ours"),
        ("source: {choice_words: {left: C}}\n", "line 1, key source.choice_words.left: Input should be"),
        ("files: [../other/x.csv]\n", "line 1, key files: ../other/x.csv leaves the set's folder"),
        ("files: []\n", "line 1, key files"),
        ("split: {train: 1}\n", "line 1, key split.train: Input should be less than 1"),
        ("chosen_by: ''\n", "line 1, key chosen_by"),
        ("seed: 1\nseed: 2\n", "line 2: key 'seed' stands twice"),
    ],
)
def test_what_is_wrong_is_refused_with_line_key_and_value(workspace: Workspace, text: str, said: str) -> None:
    assert said in refusal(workspace, text)
