"""Why a judge was or was not asked again, told from what is stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judge_pipeline.judging.checkpoint import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, judge_requests
from judge_pipeline.judging.explain import Change, Explanation, changes, explain
from judge_pipeline.judging.prepared import prepare
from judge_pipeline.tables import JUDGE_REQUESTS, PREDICTIONS
from judge_pipeline_tests.judging.loopback_workspace import LoopbackWorkspace


@pytest.fixture
def told(make_requests: Any, checkpoint: Checkpoint, context: JudgingContext) -> Any:
    """The explanation of an attempt under some settings."""

    def tell(settings: Any, attempt: int = 0, requests: Any = None) -> Explanation:
        rows = make_requests(3) if requests is None else requests
        prepared = prepare("loopback", settings, rows, context.prompts_dir)
        attempt_id = f"{attempt:016x}"
        call, now = prepared.task(prepared.hash_of[attempt_id]).build()
        return explain("loopback", attempt_id, now, call.messages, checkpoint)

    return tell


@pytest.fixture
def judged(make_requests: Any, checkpoint: Checkpoint, context: JudgingContext) -> Any:
    def judge(settings: Any, requests: Any = None) -> Any:
        rows = make_requests(3) if requests is None else requests
        return judge_requests("loopback", settings, rows, checkpoint=checkpoint, context=context)

    return judge


def test_before_and_after_an_answer(told: Any, judged: Any, provider: Any, loopback_judge: Any) -> None:
    before = told(loopback_judge())
    assert (before.state, before.tries, before.answer) == ("never asked", (), None)
    judged(loopback_judge())
    after = told(loopback_judge())
    assert after.state == "answered" and "not asked again" in after.why
    sent = next(r.body["messages"] for r in provider.requests if "return 0;" in r.text)
    assert [{"role": m.role, "content": m.content} for m in after.messages] == sent
    assert [(row["try_number"], row["error_class"]) for row in after.tries] == [(1, None)]
    assert after.answer == {"p_ac": 0.25, "s_algo": 3, "s_robust": 2, "rationale": "misses n = 0"}
    assert (after.repair, after.earlier, after.asked_for) == (None, (), after.attempt_id)


def test_what_changed_is_named_and_the_old_answer_is_not_today_s(told: Any, judged: Any, loopback_judge: Any) -> None:
    judged(loopback_judge(parameters={"temperature": 0.5}))
    asked = told(loopback_judge(parameters={"temperature": 0}, send_schema=False))
    assert asked.state == "never asked"
    assert "parameters.temperature" in asked.why and "send_schema" in asked.why
    earlier = asked.earlier[0]
    assert earlier.answered and earlier.template.startswith("cocreation_judge.md.j2 ")
    assert Change("parameters.temperature", 0.5, 0) in earlier.changes
    assert {change.component for change in earlier.changes} == {"parameters.temperature", "schema", "send_schema"}
    assert len(asked.tries) == 1 and asked.answer is None


def test_a_changed_program_is_told_by_its_lines(
    told: Any, judged: Any, loopback_judge: Any, make_requests: Any
) -> None:
    judged(loopback_judge())
    requests = make_requests(3)
    requests.loc[0, "source_code"] = "int main() { return 77; }"
    change = told(loopback_judge(), requests=requests).earlier[0].changes[0]
    assert change.component == "messages.user"
    assert "return 0;" in change.then and "return 77;" in change.now
    assert "Assess the attempt" not in change.then + change.now


def test_limits_and_prices_change_no_request(told: Any, judged: Any, loopback_judge: Any) -> None:
    judged(loopback_judge())
    price = {"input_usd_per_million_tokens": 1.0, "output_usd_per_million_tokens": 1.0}
    assert told(loopback_judge(price=price, limits={"max_tries": 9})).state == "answered"


def test_failures_re_asks_and_repairs_are_shown(
    told: Any, judged: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any
) -> None:
    provider.script(faults.kinds["hostile"](), faults.kinds["malformed"]())
    judged(loopback_judge(), make_requests(1))
    explained = told(loopback_judge(), requests=make_requests(1))
    assert [row["error_class"] for row in explained.tries] == ["invalid", None]
    assert "p_ac" in explained.tries[1]["re_ask"]
    assert "asked again" in explained.repair and "json-repair" in explained.repair
    provider.script(faults.kinds["500"]())
    judged(loopback_judge(parameters={"seed": 1}), make_requests(1))
    failed = told(loopback_judge(parameters={"seed": 1}), requests=make_requests(1))
    assert failed.state == "failed"
    assert "4 time(s)" in failed.why and "infrastructure" in failed.why
    assert len(failed.tries) == 6 and len(failed.earlier) == 1


def test_an_equal_request_was_asked_for_another_attempt(
    told: Any, judged: Any, loopback_judge: Any, make_requests: Any
) -> None:
    judged(loopback_judge(), make_requests(3, same=True))
    explained = told(loopback_judge(), 2, make_requests(3, same=True))
    assert (explained.state, explained.asked_for) == ("answered", f"{0:016x}")
    assert len(explained.tries) == 1


def test_outside_the_scope_nothing_is_asked(checkpoint: Checkpoint) -> None:
    explained = explain("loopback", "a", None, (), checkpoint)
    assert (explained.state, explained.request_hash) == ("not in scope", None)


def test_components_that_come_and_go_are_changes() -> None:
    then = {"model": "a", "parameters": {"x": 1}, "messages": [{"role": "user", "content": "one\ntwo"}]}
    now = {"model": "a", "parameters": {}, "messages": [], "repeat": 1}
    assert changes(then, now) == (
        Change("messages.user", "one\ntwo", ""),
        Change("parameters.x", 1, None),
        Change("repeat", None, 1),
    )
    assert changes(then, then) == ()


@pytest.mark.slow
def test_the_command_tells_it_all(
    tmp_path: Path, provider: Any, faults: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = LoopbackWorkspace(tmp_path, provider.url, capsys, monkeypatch)
    provider.behave = lambda request, n: faults.chat(
        json.dumps(faults.VALID | {"p_ac": faults.answer_of(request.text), "rationale": "red \x1b[31m"})
    )
    assert workspace.run()[0] == 0
    attempt = workspace.table(JUDGE_REQUESTS)["attempt_id"].iloc[0]
    code, out, _ = workspace("explain", attempt, "--judge", "loopback", "--json")
    found = json.loads(out)
    used = workspace.table(PREDICTIONS).set_index(["judge", "attempt_id"]).loc[("loopback", attempt)]
    assert code == 0 and found["contest"] == "mini"
    assert found["prediction"]["p_ac"] == used["p_ac"] == found["explanation"]["answer"]["p_ac"]
    assert found["prediction"]["request_hash"] == found["explanation"]["request_hash"]
    code, out, _ = workspace("explain", attempt, "--judge", "loopback", "--contest", "mini")
    assert code == 0 and "State: answered" in out and "the figures used this row" in out
    assert "You assess attempts" in out and "raw_text" in out and "\x1b" not in out
    code, out, _ = workspace("explain", attempt, "--judge", "text")
    assert code == 0 and "not asked call by call" in out and "row of judge_outputs: none" in out
    assert workspace("explain", "f" * 16, "--judge", "loopback")[0] == 2
    assert workspace("explain", attempt, "--judge", "nobody")[0] == 1
    assert workspace("explain", "f" * 16, "--judge", "loopback", "--contest", "mini")[0] == 1
    assert workspace("explain", attempt, "--judge", "loopback", "--contest", "nowhere")[0] == 1
