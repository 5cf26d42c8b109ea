"""Who may be asked by a run that nobody started, and how many such runs the day's ceiling leaves room for."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from judge_pipeline.judging.checkpoint.store import CallRow, Checkpoint, Record, StoredRequest
from judge_pipeline.judging.request import sha256
from judge_pipeline.orchestration.automation.allowed_judges import AllowedJudges, pricing
from judge_pipeline.orchestration.run_ceiling import CEILING_TAG, ceilings_of
from judge_pipeline.settings import Ceilings, Workspace
from judge_pipeline.settings.automation import AutomaticJudging

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
JUDGES: Mapping[str, Mapping[str, Any]] = {
    "text": {"backend": "baseline"},
    "own": {"backend": "litellm", "model": "openai/a", "base_url": "http://127.0.0.1:9/v1", "price": (0, 0)},
    "half": {"backend": "litellm", "model": "openai/a", "base_url": "http://127.0.0.1:9/v1", "price": (0, 1)},
    "listed": {"backend": "litellm", "model": "openai/gpt-4o-2024-08-06"},
    "unknown": {"backend": "litellm", "model": "openai/what-nobody-lists"},
}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    config = tmp_path / "assets_config"
    config.mkdir()
    judges = {name: dict(judge) for name, judge in JUDGES.items()}
    for judge in judges.values():
        if "price" in judge:
            in_, out = judge["price"]
            judge["price"] = {"input_usd_per_million_tokens": in_, "output_usd_per_million_tokens": out}
    (config / "judges.yaml").write_text(yaml.safe_dump({"judges": judges}), encoding="utf-8")
    return Workspace(config, tmp_path / "data", tmp_path / "var")


def allowed(workspace: Workspace, **judging: Any) -> AllowedJudges:
    return AllowedJudges(workspace.judges(), AutomaticJudging.model_validate(judging), {})


def spend(workspace: Workspace, usd: float, hours_ago: float) -> None:
    """Write a call into the checkpoint."""
    workspace.out_dir.mkdir(exist_ok=True)
    at = (NOW - timedelta(hours=hours_ago)).isoformat(timespec="microseconds").replace("+00:00", "Z")
    hash_ = sha256(f"{usd} {hours_ago}")
    call = CallRow("listed", hash_, "a", 0, "run", 1, at, 1.0, cost_usd=usd)
    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        checkpoint.record([Record(StoredRequest(hash_, "t", "0" * 64, "{}"), call)])


def test_only_a_price_that_is_stated_as_nothing_is_free(workspace: Workspace) -> None:
    judges = workspace.judges()
    assert {name: pricing(judges.get(name)) for name in JUDGES} == {
        "text": "free",
        "own": "free",
        "half": "priced",
        "listed": "priced",
        "unknown": "unpriced",
    }


def test_a_ceiling_of_judges_yaml_serves_too(workspace: Workspace) -> None:
    assert not allowed(workspace, by_itself="all").allows("listed")
    judges = workspace.judges().model_copy(update={"ceiling_usd": Ceilings(run=1.0)})
    assert AllowedJudges(judges, AutomaticJudging(by_itself="all"), {}).allows("listed")


def test_a_run_carries_its_ceiling_where_one_can_hold(workspace: Workspace) -> None:
    own = allowed(workspace, by_itself=["listed", "unknown", "own"], ceiling_usd={"run": 0.25})
    assert own.tags(["listed"]) == {CEILING_TAG: "0.250000"}
    assert own.tags(["own"]) == own.tags(["unknown"]) == {}


def test_the_day_leaves_room_for_what_runs_may_still_spend(workspace: Workspace) -> None:
    own = allowed(workspace, by_itself="all", ceiling_usd={"run": 1.0, "day": 5.0})
    spend(workspace, 100.0, hours_ago=24.5)
    assert own.room_for(workspace, 0, NOW) == 5
    spend(workspace, 2.5, hours_ago=23.5)
    assert own.room_for(workspace, 0, NOW) == 2
    assert own.room_for(workspace, 1, NOW) == 1
    spend(workspace, 2.5, hours_ago=0.1)
    assert own.room_for(workspace, 0, NOW) == 0
    assert own.room_for(workspace, 0, NOW.astimezone()) == 0


def test_the_day_counts_runs_under_the_ceiling_that_holds_for_them(workspace: Workspace) -> None:
    """Whichever file it stands in: else any number of runs would start within the same minute."""
    judges = workspace.judges().model_copy(update={"ceiling_usd": Ceilings(run=2.0)})
    for run, holds in ((None, 2.0), (5.0, 2.0), (1.0, 1.0)):
        judging = AutomaticJudging.model_validate({"by_itself": "all", "ceiling_usd": {"run": run, "day": 10.0}})
        own = AllowedJudges(judges, judging, {})
        assert own.room_for(workspace, 0, NOW) == 10 // holds
        assert own.room_for(workspace, 4, NOW) == 10 // holds - 4
        assert own.tags(["listed"]) == {CEILING_TAG: f"{holds:.6f}"}


def test_without_a_ceiling_for_the_day_there_is_room(workspace: Workspace) -> None:
    assert allowed(workspace, by_itself="all", ceiling_usd={"run": 1.0}).room_for(workspace, 99, NOW) == float("inf")


@pytest.mark.parametrize(
    ("tag", "of_file", "holds"),
    [(None, None, None), (None, 3.0, 3.0), ("2", None, 2.0), ("2", 3.0, 2.0), ("4", 3.0, 3.0)],
)
def test_the_lower_ceiling_holds(tag: str | None, of_file: float | None, holds: float | None) -> None:
    tags = {} if tag is None else {CEILING_TAG: tag}
    assert ceilings_of(tags, Ceilings(run=of_file, contest=9.0)) == Ceilings(run=holds, contest=9.0)


@pytest.mark.parametrize("tag", ["", "much", "-1", "nan", "inf"])
def test_a_tag_that_is_no_money_stops_the_run(tag: str) -> None:
    with pytest.raises(Exception, match="is no amount of US dollars"):
        ceilings_of({CEILING_TAG: tag}, Ceilings())
