"""How far a judge is, in words: rate, time left, money, failures by class; in the terminal and in the run's log."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from judge_pipeline.judging.progress import Progress
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline_tests.judging.loopback_workspace import LIMITS, LoopbackWorkspace


def test_rate_time_left_money_and_failures_by_class() -> None:
    progress = Progress(38, 2, 100, 0.0123, 10.0, {"refusal": 1, "truncated": 1}, {"rate_limit": 3, "empty": 4})
    assert progress.in_words() == (
        "40 of 100, 4.0/s, 15 s left, 0.0123 USD, 2 failed (1 refusal, 1 truncated), tried again: 4 empty, 3 rate_limit"
    )
    assert not progress.is_complete


def test_what_is_not_known_is_not_said() -> None:
    assert Progress(0, 0, 10, 0.0, 60.0).in_words() == "0 of 10"
    assert Progress(1, 0, 10, 0.0, 0.5).in_words() == "1 of 10"
    assert Progress(0, 10, 10, 0.0, 0.5).is_complete


@pytest.mark.parametrize(("seconds", "left"), [(10.0, "90 s"), (100.0, "15 min"), (3000.0, "7 h 30 min")])
def test_long_times_are_said_in_minutes_and_hours(seconds: float, left: str) -> None:
    assert Progress(100, 0, 1000, 0.0, seconds).in_words().endswith(f", {left} left")


@pytest.mark.slow
def test_terminal_and_run_log_say_all_four_of_several_judges(
    provider: Any, faults: Any, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_loopback = LoopbackWorkspace(tmp_path, provider.url, capsys, monkeypatch)
    common = {"backend": "litellm", "base_url": provider.url, "transport": "direct", "limits": LIMITS}
    price = {"input_usd_per_million_tokens": 100.0, "output_usd_per_million_tokens": 100.0}
    judges = {name: {**common, "model": f"openai/{name}", "price": price} for name in ("first", "second")}
    at_loopback.configure(top={"judges": judges})

    def behave(request: Any, n: int) -> Any:
        of = [each for each in provider.requests if each.body["model"] == request.body["model"]]
        if len(of) == 2:
            return faults.chat(None, refusal="I will not judge this.")
        if len(of) == 3:
            return faults.error(503)
        return faults.Behaviour(body=faults.valid().body, delay=0.4)

    provider.behave = behave
    _, out, err = at_loopback("run", "data/contests/mini")
    with open_instance(at_loopback.workspace) as instance:
        logs = [entry.message for run in instance.get_runs() for entry in instance.all_logs(run.run_id)]
    for judge in judges:
        words = re.compile(
            rf"{judge}: (\d+) of \1, \d+\.\d/s, 0 s left, 0\.\d{{4}} USD, 1 failed \(1 refusal\), "
            "tried again: 1 infrastructure"
        )
        assert words.search(out), out + err
        assert any(words.search(line) for line in logs), logs
