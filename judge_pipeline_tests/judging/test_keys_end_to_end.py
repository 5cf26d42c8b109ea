"""A provider that echoes the key everywhere: after runs of the asset, the key is in nothing that the runs have left."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from judge_pipeline.definitions import CANARY, JUDGE_CONTEST, READ_CONTEST, REPORT_CONTEST, build_definitions
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.runs import run_job
from judge_pipeline.settings import Workspace
from judge_pipeline_tests.mini_contest import MiniContest

KEY = "topsecret-9f8e7d6c5b4a/+="
BLANK = "[key removed]"

JUDGES = """\
judges:
  fails:
    {{backend: litellm, model: openai/x, base_url: "{url}", transport: {transport}, api_key_env: ECHOED_SECRET,
      limits: {{max_tries: 2, backoff_seconds: 0.001}}}}
  answers:
    {{backend: litellm, model: openai/y, base_url: "{url}", transport: {transport}, api_key_env: ECHOED_SECRET}}
"""


def _answer(faults: Any) -> Any:
    """A valid answer that holds the key wherever a reply can hold text."""
    body = json.loads(faults.valid(rationale=f"your key is {KEY}").body)
    body |= {"id": f"chat-{KEY}", "model": f"model-{KEY}"}
    return faults.Behaviour(body=json.dumps(body).encode(), headers={"x-request-id": f"req-{KEY}"})


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["litellm", "direct"])
def test_an_echoed_key_is_in_no_store_log_report_error_or_metadata(
    provider: Any, faults: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str], transport: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("ECHOED_SECRET", KEY)
    caplog.set_level(logging.DEBUG)
    said = f"Incorrect API key provided: {KEY}. Authorization: Bearer {KEY}"
    failing = [
        faults.error(500, said), faults.error(400, said), faults.chat(f"no JSON but {KEY}"),
        faults.chat(None, refusal=f"not with {KEY}"), faults.error(429, said, Retry_After="0.001"),
    ]  # fmt: skip
    provider.behave = lambda request, n: _answer(faults) if request.body["model"] == "y" else failing[n % len(failing)]
    contest = MiniContest(tmp_path / "home").lay(2, 2)
    judges = JUDGES.format(url=provider.url, transport=transport)
    (contest.home / "assets_config" / "judges.yaml").write_text(judges, encoding="utf-8")
    workspace = Workspace.find({}, contest.home)
    definitions = build_definitions(workspace)
    with open_instance(workspace) as instance:
        outcomes = [
            run_job(definitions, instance, job, contest.name, judge)
            for job, judge in (
                (READ_CONTEST, None), (JUDGE_CONTEST, "fails"), (JUDGE_CONTEST, "answers"), (CANARY, "fails"),
                (CANARY, "answers"), (REPORT_CONTEST, None),
            )
        ]  # fmt: skip
        events = [str(entry) for outcome in outcomes for entry in instance.all_logs(outcome.run_id)]
    assert [outcome.error is None for outcome in outcomes] == [True, False, True, True, True, True]
    assert all(request.headers["Authorization"] == f"Bearer {KEY}" for request in provider.requests)
    assert BLANK in str(outcomes[1].error)
    printed = capfd.readouterr()
    places = {"outcomes": repr(outcomes), "log": caplog.text, "out": printed.out, "err": printed.err}
    places |= {f"event {i}": event for i, event in enumerate(events)}
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    places |= {str(file): file.read_bytes().decode("utf-8", "replace") for file in files}
    assert any(BLANK in file.read_bytes().decode("utf-8", "replace") for file in files if "checkpoint" in file.name)
    assert [place for place, text in places.items() if KEY in text or KEY.replace("/", "\\/") in text] == []
