"""The anchor set as its schedule has it asked: anew in each period, at its own cost, and a check that sees drift."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
import yaml

from judge_pipeline.definitions import ANCHOR, REPORT_CONTEST, build_definitions
from judge_pipeline.orchestration.anchor_run import PERIOD_TAG
from judge_pipeline.orchestration.forgetting import forget
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.runs import JobOutcome, run_job
from judge_pipeline.orchestration.stored_tables import report_tables
from judge_pipeline.report.cautions import cautions
from judge_pipeline.tables import ANCHOR_FIGURES, ANCHOR_RUNS, ATTEMPTS, JUDGE_OUTPUTS, JUDGE_REQUESTS
from judge_pipeline_tests.judging.loopback_workspace import LoopbackWorkspace
from judge_pipeline_tests.orchestration.automation.made_daemon import TAGS_OF_DAGSTER


@pytest.fixture
def loopback(
    tmp_path: Path, provider: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> LoopbackWorkspace:
    return LoopbackWorkspace(tmp_path, provider.url, capsys, monkeypatch, 12, 4)


def ask(loopback: LoopbackWorkspace, period: str, judge: str = "loopback") -> JobOutcome:
    with open_instance(loopback.workspace) as instance:
        definitions = build_definitions(loopback.workspace)
        return run_job(definitions, instance, ANCHOR, "mini", judge, {PERIOD_TAG: period})


def knowing(faults: Any, requests: pd.DataFrame, labels: pd.Series, truth: float) -> Any:
    """Says with probability ``truth`` what the contest site said; below 0.5 it says the contrary."""
    shown = requests[["source_code", "prompt_text", "attempt_id"]].to_numpy()
    # One person's prompts begin as another's do, so the longest that fits is the one.
    texts = [(source.strip(), prompt.strip(), labels[attempt]) for source, prompt, attempt in shown]
    texts.sort(key=lambda each: -len(each[1]))

    def behave(request: Any, _: int) -> Any:
        y = next(y for source, prompt, y in texts if source in request.text and prompt in request.text)
        return faults.valid(p_ac=truth if y == 1 else 1 - truth)

    return behave


@pytest.mark.slow
def test_each_period_is_asked_anew_and_drift_fails_the_check(
    loopback: LoopbackWorkspace, provider: Any, faults: Any
) -> None:
    settings = loopback.contest.folder / "contest.yaml"
    settings.write_text("split: {val: 0.4, test: 0.4}\nresamples: 2000\n", encoding="utf-8")
    assert loopback.run()[0] == 0
    attempts, requests = loopback.table(ATTEMPTS), loopback.table(JUDGE_REQUESTS)
    labels = attempts.set_index("attempt_id")["y"]
    provider.behave = knowing(faults, requests, labels, 0.9)
    refused = ask(loopback, "2026-01")
    assert "has no anchor set; write 'anchor: {attempts: 50}'" in (refused.error or "")
    settings.write_text(settings.read_text(encoding="utf-8") + "anchor: {attempts: 40}\n", encoding="utf-8")
    outputs = loopback.table(JUDGE_OUTPUTS, "loopback")

    before = len(provider.requests)
    first = ask(loopback, "2026-01")
    assert first.error is None and first.failed_checks == ()
    runs = loopback.table(ANCHOR_RUNS, "loopback")
    n = len(runs)
    distinct = runs["request_hash"].nunique()
    assert 2 < n <= 40 and runs["p_ac"].notna().all()
    assert len(provider.requests) - before == distinct  # a run had asked the same, and its answers were not taken
    assert ask(loopback, "2026-01").error is None
    assert len(provider.requests) - before == distinct  # what a period has answered is not asked again in it
    same = ask(loopback, "2026-02")
    assert same.error is None and same.failed_checks == ()
    assert len(provider.requests) - before == 2 * distinct

    provider.behave = knowing(faults, requests, labels, 0.1)
    drift = ask(loopback, "2026-03")
    assert drift.error is None
    assert len(drift.failed_checks) == 1
    contest = loopback.contest.folder.name
    said = f"anchor_runs: no_drift: {contest}, loopback: loopback has drifted by 2026-03: "
    assert drift.failed_checks[0].startswith(said)
    runs = loopback.table(ANCHOR_RUNS, "loopback")
    assert runs.groupby("period")["attempt_id"].nunique().to_dict() == {"2026-01": n, "2026-02": n, "2026-03": n}
    assert loopback.table(JUDGE_OUTPUTS, "loopback").equals(outputs)

    with open_instance(loopback.workspace) as instance:
        report = run_job(build_definitions(loopback.workspace), instance, REPORT_CONTEST, "mini")
    assert report.error is None
    assert any(line.startswith(f"anchor_figures: no_drift: {contest}: loopback") for line in report.failed_checks)
    figures = loopback.table(ANCHOR_FIGURES).set_index(["period", "metric", "quantity"])
    assert figures.loc[("2026-02", "brier", "change"), "value"] == 0
    assert figures.loc[("2026-03", "brier", "change"), "ci95_low"] > 0

    who = attempts.loc[attempts["attempt_id"] == runs["attempt_id"].iloc[0], "participant"].item()
    forget(loopback.workspace, "mini", who, "2026-11-30")
    theirs = set(attempts.loc[attempts["participant"] == who, "attempt_id"])
    assert not theirs & set(loopback.table(ANCHOR_RUNS, "loopback")["attempt_id"])


@pytest.mark.slow
def test_a_judge_that_cannot_drift_and_a_wrong_period(loopback: LoopbackWorkspace, provider: Any, faults: Any) -> None:
    provider.behave = lambda request, _: faults.valid(p_ac=0.5)
    assert loopback.run()[0] == 0
    (loopback.contest.folder / "contest.yaml").write_text("anchor: {attempts: 4}\n", encoding="utf-8")
    assert ask(loopback, "2026-01", "text").error is None
    assert len(loopback.table(ANCHOR_RUNS, "text")) == 0
    assert "is no name of a period" in (ask(loopback, "../x").error or "")


@pytest.mark.slow
@TAGS_OF_DAGSTER
def test_the_schedule_is_off_and_asks_each_judge_about_each_anchor_set(loopback: LoopbackWorkspace) -> None:
    definitions = build_definitions(loopback.workspace)
    schedule = definitions.resolve_schedule_def("ask_anchor_sets")
    assert schedule.default_status is dg.DefaultScheduleStatus.STOPPED
    tick = datetime(2026, 11, 30, 3, tzinfo=UTC)
    with open_instance(loopback.workspace) as instance:
        instance.add_dynamic_partitions("contest", ["mini"])
        repository = definitions.get_repository_def()

        def context() -> dg.ScheduleEvaluationContext:
            return dg.build_schedule_context(
                instance=instance, scheduled_execution_time=tick, repository_def=repository
            )

        skipped = schedule.evaluate_tick(context())
        assert not skipped.run_requests
        assert "no contest that was read has the setting anchor" in str(skipped.skip_message)
        (loopback.contest.folder / "contest.yaml").write_text("anchor: {attempts: 4}\n", encoding="utf-8")
        # Another contest's settings are broken, and a judge came into judges.yaml after the code was loaded.
        other = loopback.contest.folder.parent / "other"
        other.mkdir()
        (other / "contest.yaml").write_text("anchor: [", encoding="utf-8")
        instance.add_dynamic_partitions("contest", ["other"])
        judges = loopback.workspace.config_dir / "judges.yaml"
        listed = yaml.safe_load(judges.read_text("utf-8"))
        listed["judges"]["later"] = listed["judges"]["loopback"]
        judges.write_text(yaml.safe_dump(listed), encoding="utf-8")
        asked = schedule.evaluate_tick(context()).run_requests
    assert [str(request.partition_key) for request in asked] == ["mini|loopback"]
    assert asked[0].tags[PERIOD_TAG] == "2026-11-30"


@pytest.mark.slow
def test_the_command_plans_asks_and_tells_drift(loopback: LoopbackWorkspace, provider: Any, faults: Any) -> None:
    settings = loopback.contest.folder / "contest.yaml"
    settings.write_text("split: {val: 0.4, test: 0.4}\nresamples: 500\n", encoding="utf-8")
    code, out, err = loopback.run()
    assert code == 0, out + err
    attempts, requests = loopback.table(ATTEMPTS), loopback.table(JUDGE_REQUESTS)
    provider.behave = knowing(faults, requests, attempts.set_index("attempt_id")["y"], 0.9)
    n_before = len(provider.requests)

    code, _, err = loopback("anchor", "mini", "--judges", "loopback")
    assert code == 1 and "has no anchor set; write 'anchor: {attempts: 50}'" in err
    ids = [*requests.loc[requests["split"] != "train", "attempt_id"]]
    (settings.parent / "anchor.txt").write_text("# of val and test\n\n" + "\n".join(ids), encoding="utf-8")
    settings.write_text(settings.read_text(encoding="utf-8") + "anchor: {attempt_ids: anchor.txt}\n", encoding="utf-8")
    code, out, err = loopback("anchor", "mini", "--period", "2026-01", "--dry-run")
    assert (code, len(provider.requests)) == (0, n_before), err
    assert f" {len(ids)} " in out and "Left out: text (recorded and baseline answers" in out

    code, out, err = loopback("anchor", "mini", "--period", "2026-01")
    assert code == 0, out + err
    assert "loopback: asked in one period (2026-01) so far, so there is nothing to compare." in out
    runs = loopback.table(ANCHOR_RUNS, "loopback")
    assert sorted(runs["attempt_id"]) == sorted(ids)
    assert len(provider.requests) - n_before == runs["request_hash"].nunique()

    provider.behave = knowing(faults, requests, attempts.set_index("attempt_id")["y"], 0.1)
    loopback.whole_report = True
    code, out, err = loopback("anchor", "mini", "--period", "2026-02")
    assert code == 3, out + err
    assert "! loopback has drifted by 2026-02: ROC-AUC changed by -" in out
    tables = report_tables(loopback.workspace, "mini")
    assert cautions(tables)[0].lead == "1 judge has drifted"
    report = (loopback.workspace.out_dir / "reports" / "mini" / "cocreation_report.html").read_text(encoding="utf-8")
    assert 'id="drift"' in report and "loopback has drifted by 2026-02" in report


@pytest.mark.slow
def test_a_file_of_anchors_that_names_what_is_not_there_is_refused_before_anything_is_asked(
    loopback: LoopbackWorkspace, provider: Any, faults: Any
) -> None:
    provider.behave = lambda request, _: faults.valid(p_ac=0.5)
    assert loopback.run()[0] == 0
    n_before = len(provider.requests)
    settings = loopback.contest.folder / "contest.yaml"
    real = loopback.table(JUDGE_REQUESTS)["attempt_id"].iloc[0]
    settings.write_text(f"anchor: {{attempt_ids: [{real!r}, 'nobody']}}\n", encoding="utf-8")
    code, _, err = loopback("anchor", "mini")
    assert code == 1 and "anchor.attempt_ids names 'nobody': judges are asked about no such attempt" in err
    assert "no such" in (ask(loopback, "2026-01").error or "")
    settings.write_text("anchor: {attempt_ids: gone.txt}\n", encoding="utf-8")
    code, _, err = loopback("anchor", "mini")
    assert code == 1 and "gone.txt: No such file or directory; anchor.attempt_ids in contest.yaml names" in err
    assert "gone.txt" in (ask(loopback, "2026-01").error or "")
    assert loopback("anchor", "mini", "--period", "../x")[0] == 2
    assert loopback("anchor", "mini", "--judges", "text")[0] == 2
    assert loopback("anchor", "nowhere")[0] == 2
    assert len(provider.requests) == n_before
