"""The sensor of preference sets, over a real folder and the real jobs of reading and judging."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
import yaml

from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.run_ceiling import CEILING_TAG
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import PREFERENCE_PAIRS
from judge_pipeline_tests.orchestration.automation.made_daemon import TAGS_OF_DAGSTER, MadeDaemon

pytestmark = TAGS_OF_DAGSTER

JUDGES = """\
judges:
  longer: {backend: baseline, systems: [preference], pair_rule: longer}
  fitted: {backend: baseline, systems: [preference], pair_rule: fitted}
  recorded: {backend: recorded, systems: [preference], file: recorded/votes.csv}
"""
SETTINGS = """\
source: {format: table, columns: {instruction: task, response_a: one, response_b: two, w: choice}}
"""
REPORTS = {
    "report_preference_set": ("pair_judge_coverage", "preference_accuracy", "preference_report"),
    "compare_preference_sets": ("preference_ranks",),
    "write_preference_report": ("preference_report",),
}


@pytest.mark.slow
def test_a_set_that_lands_goes_all_the_way_and_changes_are_followed(tmp_path: Path) -> None:
    config, folder = tmp_path / "assets_config", tmp_path / "data" / "preference" / "edits"
    config.mkdir()
    folder.mkdir(parents=True)
    (config / "judges.yaml").write_text(JUDGES, encoding="utf-8")
    (config / "automation.yaml").write_text("watch: {quiet_seconds: 0}\n", encoding="utf-8")
    (folder / "preference.yaml").write_text(SETTINGS, encoding="utf-8")
    workspace = Workspace.find({}, tmp_path)
    with open_instance(workspace) as instance:
        daemon = MadeDaemon(workspace, instance, sensor="watch_preference_sets")

        def without_reports(request: dg.RunRequest) -> bool | None:
            job = str(request.job_name)
            if job == "find_rubric_of_preference_set":
                daemon.made(request, "rubric_score_agreement")
            elif job not in REPORTS:
                return None
            daemon.made(request, *REPORTS.get(job, ()))
            return daemon.pretend(request)

        assert daemon.until_quiet(without_reports) == [], "a folder without pairs is nothing yet"
        votes = folder / "votes.csv"
        votes.write_text("task,one,two,choice\nadd,a = 1,a = 1 + 1,A\n", encoding="utf-8")
        assert daemon.until_quiet(without_reports) == [
            "read_preference_set edits",
            "judge_preference_set longer|edits",
            "find_rubric_of_preference_set edits",
            "report_preference_set edits",
            "compare_preference_sets",
            "write_preference_report edits",
        ], "a judge that has nothing to learn from is left out"
        votes.write_text(votes.read_text("utf-8") + "sort,x.sort(),sorted(x),B\n", encoding="utf-8")
        made = daemon.until_quiet(without_reports)
        assert made[:2] == ["read_preference_set edits", "judge_preference_set longer|edits"]
        pairs = store_of(workspace).read(PREFERENCE_PAIRS, "edits")["pair_id"].tolist()
        assert len(pairs) == 2
        (folder / "recorded").mkdir()
        lines = ["pair_id,decision_ab", *(f"{pair},A" for pair in pairs)]
        (folder / "recorded" / "votes.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        made = daemon.until_quiet(without_reports)
        assert made[0] == "read_preference_set edits"
        assert "judge_preference_set recorded|edits" in made
        assert daemon.until_quiet(without_reports) == []


ASKED = """\
judges:
  longer: {backend: baseline, systems: [preference], pair_rule: longer}
  priced:
    backend: litellm
    model: openai/a
    base_url: http://127.0.0.1:9/v1
    price: {input_usd_per_million_tokens: 1, output_usd_per_million_tokens: 1}
    systems: [preference]
"""


@pytest.fixture
def sets(tmp_path: Path) -> Iterator[MadeDaemon]:
    """Two sets that were read, beside a judge that costs something."""
    config = tmp_path / "assets_config"
    config.mkdir()
    (config / "judges.yaml").write_text(ASKED, encoding="utf-8")
    (config / "automation.yaml").write_text("watch: {quiet_seconds: 0}\n", encoding="utf-8")
    for name in ("one", "two"):
        folder = tmp_path / "data" / "preference" / name
        folder.mkdir(parents=True)
        (folder / "preference.yaml").write_text(SETTINGS + "rubric: {proposer: priced}\n", encoding="utf-8")
        (folder / "votes.csv").write_text("task,one,two,choice\nadd,a = 1,a = 1 + 1,A\n", encoding="utf-8")
    workspace = Workspace.find({}, tmp_path)
    with open_instance(workspace) as instance:
        daemon = MadeDaemon(workspace, instance, sensor="watch_preference_sets")
        daemon.tick(daemon.only_read)
        yield daemon


def automation(daemon: MadeDaemon, **sections: object) -> None:
    text = yaml.safe_dump({"watch": {"quiet_seconds": 0}} | sections)
    (daemon.workspace.config_dir / "automation.yaml").write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_a_rubric_is_found_under_the_ceilings_too(sets: MadeDaemon) -> None:
    def rubrics() -> list[str | None]:
        asked = [run for run in sets.look().run_requests or [] if "rubric" in str(run.job_name)]
        return [run.tags.get(CEILING_TAG) for run in asked]

    automation(sets, judging={"by_itself": "all", "ceiling_usd": {"run": 0.5}})
    assert rubrics() == ["0.500000"] * 2
    automation(sets, judging={"by_itself": ["priced"], "ceiling_usd": {"run": 0.5, "day": 1.5}})
    asked = [run for run in sets.look().run_requests or [] if CEILING_TAG in run.tags]
    assert len(asked) == 3, "of two judgings and two rubrics"
    automation(sets, judging={"by_itself": ["priced"], "ceiling_usd": {"run": 2, "day": 1}})
    assert rubrics() == []


@pytest.mark.slow
def test_a_set_whose_settings_are_being_written_stops_no_other(sets: MadeDaemon) -> None:
    sets.until_quiet(sets.only_read)
    automation(sets, watch={"quiet_seconds": 100})
    sets.restart()
    broken, other = (sets.workspace.data_dir / "preference" / name for name in ("one", "two"))
    (broken / "preference.yaml").write_text("source: {format: tab", encoding="utf-8")
    said = str(sets.look().skip_reason)
    assert f"one: {broken / 'preference.yaml'}, line 1" in said
    assert "two: " not in said
    assert other.is_dir()
