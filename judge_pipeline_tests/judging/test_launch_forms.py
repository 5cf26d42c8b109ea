"""What is said in the launchpad holds for the run, and what is launched by the dozen asks no judge that is off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pydantic import ValidationError

from judge_pipeline.definitions import ANCHOR, CANARY, JUDGE_CONTEST, MAKE_GUIDANCE, READ_CONTEST, build_definitions
from judge_pipeline.orchestration.anchor_run import PERIOD_TAG
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.judging_run import LIMIT_TAG
from judge_pipeline.orchestration.launch_forms import Launch
from judge_pipeline.orchestration.run_ceiling import CEILING_TAG
from judge_pipeline.orchestration.runs import run_job
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import ANCHOR_RUNS, JUDGE_OUTPUTS
from judge_pipeline_tests.judging.loopback_workspace import LoopbackWorkspace

JOBS_WITH_A_FORM = {
    JUDGE_CONTEST: {"limit", "ceiling_usd"},
    CANARY: {"limit", "ceiling_usd", "attempts"},
    ANCHOR: {"limit", "ceiling_usd", "period"},
    MAKE_GUIDANCE: {"limit", "ceiling_usd", "configurations"},
    "judge_preference_set": {"limit", "ceiling_usd"},
    "judge_by_criteria": {"limit", "ceiling_usd"},
    "find_rubric_of_preference_set": {"limit", "ceiling_usd"},
}


@pytest.fixture
def loopback(
    tmp_path: Path, provider: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> LoopbackWorkspace:
    made = LoopbackWorkspace(tmp_path, provider.url, capsys, monkeypatch)
    with open_instance(made.workspace) as instance:
        assert run_job(build_definitions(made.workspace), instance, READ_CONTEST, "mini").error is None
    return made


class Launchpad:
    """What the button of the launchpad starts, under judges.yaml as it was when this was made."""

    def __init__(self, loopback: LoopbackWorkspace) -> None:
        self._workspace = loopback.workspace
        self._definitions = build_definitions(self._workspace)

    def __call__(
        self, job: str, config: dict[str, Any] | None = None, tags: dict[str, str] | None = None
    ) -> dg.ExecuteInProcessResult:
        quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
        with open_instance(self._workspace) as instance:
            return self._definitions.resolve_job_def(job).execute_in_process(
                instance=instance,
                partition_key=dg.MultiPartitionKey({"contest": "mini", "judge": "loopback"}),
                run_config={**quiet, **(config or {})},
                tags=tags or {},
                raise_on_error=False,
            )


def form_of(job: dg.JobDefinition) -> dict[str, Any]:
    """Name -> field, of all that the launchpad offers of ours."""
    fields = job.run_config_schema.config_type.fields
    found = dict(fields["resources"].config_type.fields["launch"].config_type.fields["config"].config_type.fields)
    for op in fields["ops"].config_type.fields.values():
        if "config" in op.config_type.fields:
            found |= getattr(op.config_type.fields["config"].config_type, "fields", {})
    return found


@pytest.mark.parametrize("name", JOBS_WITH_A_FORM)
def test_every_field_is_described_and_has_a_safe_default(name: str, tmp_path: Path) -> None:
    form = form_of(build_definitions(Workspace.find({}, tmp_path)).resolve_job_def(name))
    assert set(form) == JOBS_WITH_A_FORM[name]
    for field in form.values():
        shown = "Empty: " if field.default_value in ("", []) else f"{field.default_value:.0f}: "
        assert len(field.description or "") > 40 and shown in field.description, "what the default means is said"
        assert not field.is_required and field.default_value in (0, "", [])


@pytest.mark.parametrize(
    "wrong",
    [{"limit": 0}, {"limit": -3}, {"limit": 2.5}, {"limit": True}, {"limit": "many"}, {"limit": [3]},
     {"ceiling_usd": -0.01}, {"ceiling_usd": float("nan")}, {"ceiling_usd": "much"}],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises((ValidationError, dg.DagsterInvalidConfigError)):
        Launch(**wrong)


def test_the_launchpad_opens_with_nothing_but_the_form(tmp_path: Path) -> None:
    job = build_definitions(Workspace.find({}, tmp_path)).resolve_job_def(ANCHOR)
    fields = job.run_config_schema.config_type.fields
    filled = {name: field.default_value for name, field in fields["resources"].config_type.fields.items()}
    assert {name for name, value in filled.items() if value} == {"launch"}, "no path, no store"
    assert filled["launch"] == {"config": {"limit": "", "ceiling_usd": ""}}
    assert fields["ops"].default_value["anchor_runs"]["config"] == {"period": ""}
    assert Launch().as_tags() == Launch(limit=None, ceiling_usd="").as_tags() == {}
    assert Launch(limit=3, ceiling_usd=0.5).as_tags() == {LIMIT_TAG: "3", CEILING_TAG: "0.5"}


@pytest.mark.slow
def test_a_pilot_a_ceiling_and_a_period_hold_as_the_form_says(loopback: LoopbackWorkspace, provider: Any) -> None:
    def launched(**form: Any) -> dict[str, Any]:
        return {"resources": {"launch": {"config": form}}}

    loopback.configure(price={"input_usd_per_million_tokens": 1000, "output_usd_per_million_tokens": 1000})
    launch = Launchpad(loopback)
    spent = launch(JUDGE_CONTEST, launched(limit=4, ceiling_usd=0.0))
    assert not spent.success and provider.requests == [], "nothing can be asked for nothing"
    # The form goes before the tag, so that a person can narrow what a schedule would say.
    pilot = launch(JUDGE_CONTEST, launched(limit=4), {LIMIT_TAG: "6"})
    assert pilot.success and len(provider.requests) == 4 == len(loopback.table(JUDGE_OUTPUTS, "loopback"))
    assert launch(JUDGE_CONTEST, tags={LIMIT_TAG: "6"}).success and len(provider.requests) == 6

    (loopback.contest.folder / "contest.yaml").write_text("anchor: {attempts: 2}\n", encoding="utf-8")
    named = {"ops": {"anchor_runs": {"config": {"period": "2026-11"}}}}
    assert launch(ANCHOR, named, {PERIOD_TAG: "2025-01"}).success
    assert set(loopback.table(ANCHOR_RUNS, "loopback")["period"]) == {"2026-11"}
    refused = launch(ANCHOR, {"ops": {"anchor_runs": {"config": {"period": "../x"}}}})
    assert not refused.success


@pytest.mark.slow
def test_a_backfill_asks_no_judge_that_is_switched_off(loopback: LoopbackWorkspace, provider: Any) -> None:
    loopback.configure(enabled=False)
    launch = Launchpad(loopback)
    many = launch(JUDGE_CONTEST, tags={"dagster/backfill": "abc"})
    assert many.success and provider.requests == []
    (seen,) = [event for event in many.all_events if event.is_asset_observation]
    assert "switched off" in (seen.asset_observation_data.asset_observation.description or "")
    assert launch(JUDGE_CONTEST).success, "on its own it is asked: somebody chose it by name"
    assert len(provider.requests) == len(loopback.table(JUDGE_OUTPUTS, "loopback")) > 0
