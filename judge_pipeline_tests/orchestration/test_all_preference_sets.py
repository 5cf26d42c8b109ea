from __future__ import annotations

from pathlib import Path

from judge_pipeline.orchestration.all_preference_sets import set_lines
from judge_pipeline.orchestration.criteria_reports import criteria_report_path
from judge_pipeline.orchestration.parquet_store import ParquetStore
from judge_pipeline.orchestration.preference_reports import preference_report_path
from judge_pipeline.orchestration.whole_files import write_whole
from judge_pipeline.report.start_page import PreferenceSetLine
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import PREFERENCE_SPLITS


def test_each_set_is_a_line_with_who_chose_and_the_reports_that_are_there(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "config", tmp_path / "data", tmp_path / "var")
    store = ParquetStore(root=str(workspace.out_dir / "tables"))
    assert set_lines(workspace, store) == []
    workspace.config_dir.mkdir()
    (workspace.config_dir / "preference.yaml").write_text("{}", encoding="utf-8")
    for name, settings in (("votes", "{title: Our votes}"), ("ruled", "{chosen_by: a rule}"), ("wrong", "no: such")):
        folder = workspace.data_dir / "preference" / name
        folder.mkdir(parents=True)
        (folder / "preference.yaml").write_text(settings, encoding="utf-8")
    write_whole(preference_report_path(workspace, "votes"), b"")
    write_whole(criteria_report_path(workspace, "ruled"), b"")
    store.write(PREFERENCE_SPLITS, PREFERENCE_SPLITS.empty(), "ruled")
    assert set_lines(workspace, store) == [
        PreferenceSetLine("ruled", "ruled", "a rule", None, "ruled/criteria_report.html", 0),
        PreferenceSetLine("votes", "Our votes", "people", "votes/preference_report.html"),
        PreferenceSetLine("wrong", "wrong", None),
    ]
