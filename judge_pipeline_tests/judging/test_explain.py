"""Why a judge was or was not asked again, told from what is stored."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, judge_requests
from judge_pipeline.judging.explain import Change, Explanation, changes, explain
from judge_pipeline.judging.prepared import prepare
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import packaged_config_dir
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
    explained = explain("loopback", "a", None, (), checkpoint, scope=" (test): it is of split train")
    assert (explained.state, explained.request_hash) == ("not in scope", None)
    assert "not in the judge's scope (test): it is of split train" in explained.why


def test_repeats_of_an_earlier_request_are_one_and_no_change(
    told: Any, judged: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any
) -> None:
    refused = f"return {0};"
    provider.behave = lambda r, n: faults.kinds["refusal"]() if refused in r.text and n % 2 else faults.valid()
    judged(loopback_judge(repeats=3, limits={"max_in_flight": 1}), make_requests(1))
    explained = told(loopback_judge(parameters={"seed": 7}), requests=make_requests(1))
    (earlier,) = explained.earlier
    assert (earlier.repeats, earlier.answered) == (3, 2)
    assert [change.component for change in earlier.changes] == ["parameters.seed"]
    assert "parameters.seed changed" in explained.why and "repeat" not in explained.why
    fewer = told(loopback_judge(), requests=make_requests(1))
    assert (fewer.state, fewer.earlier[0].repeats, fewer.earlier[0].changes) == ("answered", 2, ())


def test_what_today_s_request_took_is_all_of_its_tries(
    told: Any, judged: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any
) -> None:
    price = {"input_usd_per_million_tokens": 1.0, "output_usd_per_million_tokens": 10.0}
    provider.script(faults.kinds["truncated"](), faults.valid())
    result = judged(loopback_judge(price=price), make_requests(1))
    took = told(loopback_judge(price=price), requests=make_requests(1)).took
    assert (took.n_calls, took.tokens_in, took.cost_usd) == (2, result.tokens_in, result.cost_usd)
    assert told(loopback_judge(parameters={"seed": 1}), requests=make_requests(1)).took.n_calls == 0


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
    assert "a model of the train split's text" in out
    code, _, err = workspace("explain", "f" * 16, "--judge", "loopback")
    assert code == 2 and "in no contest that was read (mini)" in err and "column attempt_id" in err
    assert workspace("explain", attempt, "--judge", "nobody")[0] == 1
    assert workspace("explain", "f" * 16, "--judge", "loopback", "--contest", "mini")[0] == 1
    assert workspace("explain", attempt, "--judge", "loopback", "--contest", "nowhere")[0] == 1


@pytest.mark.slow
def test_the_command_in_every_case(
    tmp_path: Path, provider: Any, faults: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = LoopbackWorkspace(tmp_path, provider.url, capsys, monkeypatch)
    home = workspace.contest.home
    code, _, err = workspace("explain", "f" * 16, "--judge", "loopback")
    assert code == 2 and "no contest was read yet" in err
    assert workspace("plan", "data/contests/mini")[0] == 0
    requests = workspace.table(JUDGE_REQUESTS)
    attempt, last = requests["attempt_id"].iloc[[0, -1]]

    def told(judge: str = "loopback", id_: str = attempt, *options: str) -> str:
        code, out, err = workspace("explain", id_, "--judge", judge, *options)
        assert code == 0, err
        return out

    assert "State: never asked: nothing was ever asked" in told()
    provider.script(faults.kinds["500"]())
    assert workspace.run()[0] == 1
    out = told()
    assert "State: failed: asked 4 time(s)" in out and "Tries: 4" in out and "error_class: infrastructure" in out
    first = len(provider.requests)
    provider.behave = lambda r, n: faults.kinds["hostile" if n == first else "malformed"]()
    workspace.configure(repeats=2, limits={"max_in_flight": 1})
    assert workspace.run()[0] == 0
    out = told()
    assert "Repair: asked again" in out and "json-repair" in out and "Repeat 2: {" in out
    assert "try 1, repeat 2: latency_ms" in out and "today's request and its repeats took 7 tries, " in out
    template = home / "assets_config" / "prompts" / "cocreation_judge.md.j2"
    template.write_text(template.read_text(encoding="utf-8").replace("Assess the attempt.", "Judge it."), "utf-8")
    workspace.configure(repeats=2, model="openai/other", max_output_tokens=77)
    out = told()
    assert "messages.user, model, parameters.max_tokens changed; that is another request: the next run asks" in out
    assert "(2 repeats, 2 answered; template cocreation_judge.md.j2" in out
    assert "    - Assess the attempt." in out and "    + Judge it." in out and "    + 77" in out
    outside = next(split for split in ("train", "val", "test") if split != requests["split"].iloc[0])
    workspace.configure(scope={"splits": [outside]})
    out = told()
    assert f"scope ({outside}): it is of split {requests['split'].iloc[0]}, so it is not asked about" in out
    assert "Sent with" not in out and "since then" not in out

    _more_judges(home, {"attempt_id": attempt, "p_ac": 0.5})
    assert "Its judgment: recorded.jsonl has a row for it, with p_ac 0.5" in told("rec")
    assert "Its judgment: recorded.jsonl has no row for it; add one" in told("rec", last)
    _more_judges(home, {"attempt_id": attempt, "p_ac": 5})
    assert "the row for it is no judgment: recorded.jsonl, line 1" in told("rec")
    (home / "data" / "contests" / "mini" / "recorded.jsonl").unlink()
    code, _, err = workspace("explain", attempt, "--judge", "rec")
    assert code == 1 and "there is no such file" in err
    out = told("emb")
    assert "--- question: p_ac ---" in out and '"model": "SmolLM2' in out

    store_of(workspace.workspace).write(JUDGE_REQUESTS, requests, "twin")
    (home / "data" / "contests" / "twin" / "submissions").mkdir(parents=True)
    code, _, err = workspace("explain", attempt, "--judge", "loopback")
    assert code == 2 and "in several contests: mini, twin; name one with --contest" in err
    assert "contest twin, attempt" in told("loopback", attempt, "--contest", "twin")


def _more_judges(home: Path, row: dict[str, Any]) -> None:
    """A recorded judge with one row, and the embedded one with its prompt, beside those that there are."""
    file = home / "assets_config" / "judges.yaml"
    settings = yaml.safe_load(file.read_text(encoding="utf-8"))
    settings["judges"] |= {"rec": {"backend": "recorded", "file": "recorded.jsonl"}, "emb": {"backend": "embedded"}}
    file.write_text(yaml.safe_dump(settings), encoding="utf-8")
    prompt = "embedded_judge.md.j2"
    shutil.copy(packaged_config_dir() / "prompts" / prompt, home / "assets_config" / "prompts" / prompt)
    (home / "data" / "contests" / "mini" / "recorded.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")


def test_a_program_that_was_replaced_whole_is_told_apart_at_once() -> None:
    then, now = ("\n".join(f"x{i} = f(a[{i * k}]) + {i * i % k};" for i in range(1500)) for k in (101, 211))
    began = time.monotonic()
    (change,) = changes(
        {"messages": [{"role": "user", "content": f"Judge:\n{then}\nend"}]},
        {"messages": [{"role": "user", "content": f"Judge:\n{now}\nend"}]},
    )
    assert time.monotonic() - began < 5.0
    assert change.component == "messages.user"
    assert change.then.splitlines()[0] == "x1 = f(a[101]) + 1;" and change.then.endswith("more lines")
    assert "Judge:" not in change.then + change.now
