"""``judge-pipeline preference`` with a judge behind a real server: both orders, no label, interrupts, failures."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from judge_pipeline.cli.main import main
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace, packaged_config_dir
from judge_pipeline.tables.pair_judging import PAIR_JUDGE_COVERAGE, PAIR_JUDGMENTS
from judge_pipeline_tests.judging.conftest import Behaviour, Request, chat
from judge_pipeline_tests.judging.loopback_workspace import LIMITS

N_PAIRS = 10
SECRETS = ("votes-are-secret", "aspect-is-secret", "model-is-secret")
ASKED_OF = re.compile(r"task number (\d+)")
RESPONSE = re.compile(r"answer_(\d+)_(good|bad)")


def pairs(*, turned: bool) -> list[dict[str, Any]]:
    """Pairs of which one response is good; with ``turned`` every label is the other one, and nothing else differs."""
    found = []
    for n in range(N_PAIRS):
        words = ("good", "bad") if n % 2 else ("bad", "good")
        first, second = (f"def answer_{n}_{word}(): ..." for word in words)
        w = "A" if (n % 2 == 1) != turned else "B"
        found.append(
            {
                "pair_id": f"p{n}", "instruction": f"task number {n}", "category": "chat" if n % 3 else "edit",
                "response_a": first, "response_b": second,
                "w": w, "votes": json.dumps({SECRETS[0]: w}), "aspects": json.dumps({SECRETS[1]: w}),
                "model_a": SECRETS[2] if w == "A" else None,
            }
        )  # fmt: skip
    return found


def shown_order(request: Request) -> tuple[int, tuple[str, ...]]:
    """Which pair a request is about, and which of its responses stands first."""
    number = ASKED_OF.search(request.text)
    assert number is not None
    return int(number[1]), tuple(word for _, word in RESPONSE.findall(request.text))


def chooses_good(request: Request, n: int) -> Behaviour:
    _, words = shown_order(request)
    return chat(json.dumps({"rationale": "is good", "choice": "A" if words[0] == "good" else "B"}))


@dataclass
class House:
    """A workspace with a set of pairs, and its commands."""

    home: Path
    url: str
    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    @property
    def workspace(self) -> Workspace:
        return Workspace.find({}, self.home)

    def lay(self, *, turned: bool = False, **judges: Mapping[str, Any]) -> House:
        shutil.copytree(packaged_config_dir(), self.home / "assets_config")
        common = {"backend": "litellm", "model": "openai/loopback", "systems": ["preference"], "limits": LIMITS}
        listed: dict[str, Any] = {
            "loopback": {**common, "base_url": self.url},
            "length": {"backend": "baseline", "pair_rule": "longer", "systems": ["preference"]},
            "keyed": {**common, "base_url": self.url, "api_key_env": "NO_SUCH_KEY_HERE"},
            "of-contests": {"backend": "baseline"},
        }
        listed |= {name: {**common, **settings} for name, settings in judges.items()}
        text = yaml.safe_dump({"judges": listed}, sort_keys=False)
        (self.home / "assets_config" / "judges.yaml").write_text(text, encoding="utf-8")
        folder = self.home / "data" / "preference" / "mini"
        folder.mkdir(parents=True)
        lines = "".join(json.dumps(pair) + "\n" for pair in pairs(turned=turned))
        (folder / "pairs.jsonl").write_text(lines, encoding="utf-8")
        settings = {"resamples": 200, "models": {"resamples": 100}, "natural_languages": "low"}
        (folder / "preference.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
        return self

    def __call__(self, *options: str) -> tuple[int, str, str]:
        """Run the command in the workspace: exit code, stdout, stderr."""
        self.monkeypatch.chdir(self.home)
        self.monkeypatch.setenv("COLUMNS", "200")
        for name in ("JUDGE_PIPELINE_HOME", "JUDGE_PIPELINE_OUT", "NO_SUCH_KEY_HERE"):
            self.monkeypatch.delenv(name, raising=False)
        self.monkeypatch.setattr(sys, "argv", ["judge-pipeline", "preference", "data/preference/mini", *options])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = self.capsys.readouterr()
        return int(str(ended.value.code)), out, err

    def table(self, table: Any, *judge: str) -> pd.DataFrame:
        return store_of(self.workspace).read(table, "mini", *judge)

    def made(self) -> dict[str, bytes]:
        """The bytes of every table and report."""
        files = [*(self.home / "var" / "tables").rglob("*.parquet"), *(self.home / "var" / "reports").rglob("*.html")]
        return {str(file.relative_to(self.home)): file.read_bytes() for file in files}


@pytest.fixture
def house(tmp_path: Path, provider: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> House:
    provider.behave = chooses_good
    return House(tmp_path / "home", provider.url, capsys, monkeypatch)


@pytest.mark.slow
def test_both_orders_are_asked_once_and_no_label_is_shown(house: House, provider: Any, tmp_path: Path) -> None:
    house.lay()
    code, out, err = house("--judges", "loopback,length")
    assert code == 0, out + err
    asked = [shown_order(request) for request in provider.requests]
    assert sorted(asked) == sorted((n, words) for n in range(N_PAIRS) for words in (("good", "bad"), ("bad", "good")))
    sent = {request.text for request in provider.requests}
    assert not any(secret in text for text in sent for secret in SECRETS)

    judged = house.table(PAIR_JUDGMENTS, "loopback").pivot(
        index="pair_id", columns="presentation_order", values="decision"
    )
    labels = {pair["pair_id"]: pair["w"] for pair in pairs(turned=False)}
    assert (judged["AB"] == judged["BA"]).all() and judged["AB"].to_dict() == labels
    table = next(line for line in out.splitlines() if line.strip().startswith("loopback ") and "1.000" in line)
    assert table.split() == ["loopback", "1.000", "1.000", "1.000", "0.500"]
    assert "Chosen by: people." in out and "Scoring rule: trace" in out and "Floors" in out
    report = house.home / "var" / "reports" / "mini" / "preference_report.html"
    assert str(report) in out and report.is_file()

    # All but the answers goes, and is made anew from them: the second run asks nothing.
    before = house.made()
    for made in ("tables", "reports", "ledgers"):
        shutil.rmtree(house.home / "var" / made)
    code, out, _ = house("--judges", "loopback,length")
    assert code == 0 and len(provider.requests) == 2 * N_PAIRS
    again = house.made()
    assert [name for name in before if again.get(name) != before[name]] == [] and again.keys() == before.keys()

    # With every label the other way round, the very same is asked.
    other = House(tmp_path / "other", house.url, house.capsys, house.monkeypatch).lay(turned=True)
    code, out, _ = other("--judges", "loopback", "--json")
    assert {request.text for request in provider.requests[2 * N_PAIRS :]} == sent
    assert len(provider.requests) == 4 * N_PAIRS
    found = json.loads(out)
    assert (code, found["judges"]["loopback"]["acc"]["value"], found["choices"]) == (0, 0.0, {"A": 5, "B": 5})
    assert found["states"]["loopback"]["status"] == "verified" and found["report"].endswith("preference_report.html")


@pytest.mark.slow
def test_what_would_be_asked_is_said_first_and_a_pilot_asks_for_both_orders_of_few(house: House, provider: Any) -> None:
    house.lay()
    code, out, _ = house("--dry-run")
    assert code == 0 and not provider.requests and "Judging" not in out
    plan = next(line for line in out.splitlines() if line.startswith("loopback"))
    assert plan.split()[1:4] == [str(2 * N_PAIRS), "0", str(2 * N_PAIRS)]
    assert "Left out: keyed (environment variable NO_SUCH_KEY_HERE is not set)" in out and "of-contests" not in out

    code, out, _ = house("--judges", "loopback", "--limit", "3")
    asked = [shown_order(request) for request in provider.requests]
    assert code == 0 and len(asked) == 6 and len({n for n, _ in asked}) == 3
    assert "7 of 10 pairs" in out
    state = house.table(PAIR_JUDGE_COVERAGE).set_index("judge").loc["loopback"]
    assert (state["status"], state["n_judged"], state["n_answers"]) == ("unverified", 3, 6)

    code, _, err = house("--judges", "nobody")
    assert code == 2 and "nobody: not in judges.yaml with preference among its systems" in err
    assert house("--judges", "of-contests")[0] == 2
    code, _, err = house("--judges", "keyed")
    assert code == 1 and "NO_SUCH_KEY_HERE" in err and len(provider.requests) == 6


@pytest.mark.slow
def test_a_judge_that_fails_does_not_stop_the_others_and_an_answer_that_is_wrong_counts(
    house: House, provider: Any
) -> None:
    nowhere = {"base_url": "http://127.0.0.1:9/v1", "limits": {**LIMITS, "max_tries": 1}}
    house.lay(dead=nowhere)

    def behave(request: Request, n: int) -> Behaviour:
        number, words = shown_order(request)
        wrong = number == 0 and words[0] == "good"
        return chat('{"choice": "C"}') if wrong else chooses_good(request, n)

    provider.behave = behave
    code, out, err = house("--judges", "dead,loopback,length")
    assert code == 1 and "judge dead" in err and "Failed: dead" in out
    states = house.table(PAIR_JUDGE_COVERAGE).set_index("judge")
    assert states.loc["dead", "status"] == "not judged"
    assert (states.loc["loopback", "status"], states.loc["loopback", "n_invalid"]) == ("verified", 1)
    table = next(line for line in out.splitlines() if line.strip().startswith("loopback ") and "0.900" in line)
    assert table.split()[1:4] == ["1.000", "0.900", "0.900"], "one pair of ten has no valid answer in one order"
    assert (house.home / "var" / "reports" / "mini" / "preference_report.html").is_file()


@pytest.mark.slow
def test_a_run_that_is_stopped_goes_on_where_it_was(house: House, provider: Any) -> None:
    house.lay(loopback={"base_url": house.url, "limits": {**LIMITS, "max_in_flight": 1}})

    def stops(request: Request, n: int) -> Behaviour:
        if n == 7:
            os.kill(os.getpid(), signal.SIGINT)
            return Behaviour(body=chooses_good(request, n).body, delay=5)
        return chooses_good(request, n)

    provider.behave = stops
    code, _, err = house("--judges", "loopback")
    assert code == 130 and "Stopped. What was answered is kept" in err
    assert len(provider.requests) == 8
    provider.behave = chooses_good
    code, out, _ = house("--judges", "loopback")
    assert code == 0 and len(provider.requests) == 8 + 2 * N_PAIRS - 7, "what was answered is not asked again"
    plan = next(line for line in out.splitlines() if line.startswith("loopback"))
    assert plan.split()[1:4] == [str(2 * N_PAIRS), "7", str(2 * N_PAIRS - 7)]
