"""Scores of a rubric that people brought in a file: they go into a bundle, or their table is taken as it is."""

from __future__ import annotations

from pathlib import Path

import yaml

from judge_pipeline.orchestration.bundles.contents import raw_files
from judge_pipeline.orchestration.bundles.facts import CONFIG, OUT, BundleFacts, workspace_in
from judge_pipeline.orchestration.bundles.recipe import not_recomputed
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.tables.rubric import RUBRIC_SCORES


def test_recorded_scores_go_out_and_where_they_may_not_their_table_is_taken_as_it_is(tmp_path: Path) -> None:
    facts = BundleFacts("preference_set", "made", "full", "1", "code")
    folder = tmp_path / facts.data_folder
    folder.mkdir(parents=True)
    (tmp_path / CONFIG).mkdir()
    judges = {"judges": {"length": {"backend": "baseline", "systems": ["preference"], "pair_rule": "longer"}}}
    (tmp_path / CONFIG / "judges.yaml").write_text(yaml.safe_dump(judges), encoding="utf-8")
    settings = {"rubric": {"recorded_scores": "brought/scores.csv"}}
    (folder / "preference.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    file = folder / "brought" / "scores.csv"
    file.parent.mkdir()
    file.write_text("pair_id,item,score\n", encoding="utf-8")
    workspace = workspace_in(tmp_path, tmp_path / OUT)
    store_of(workspace).write(RUBRIC_SCORES, RUBRIC_SCORES.empty(), "made")

    paths = {member.path for member in raw_files(workspace, facts, folder, lambda path: True)}
    assert f"{facts.data_folder}/brought/scores.csv" in paths
    assert not_recomputed(workspace, facts) == {}
    file.unlink()
    why = "brought/scores.csv, which holds the scores, is not in the bundle"
    assert not_recomputed(workspace, facts) == {"rubric_scores/made": why}
