"""The dry run."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import sqlalchemy as sa
from rich.console import Console

from judge_pipeline.cli.plan import plan_table
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.tables import CALLS
from judge_pipeline.judging.engine import JudgingContext, judge_requests
from judge_pipeline.judging.listed_models import listed_price
from judge_pipeline.judging.plan import Plan, plan
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.settings import BaselineJudge, EmbeddedJudge
from judge_pipeline.tables import JUDGE_REQUESTS
from judge_pipeline_tests.judging.loopback_workspace import LoopbackWorkspace

PRICE = {"input_usd_per_million_tokens": 1.0, "output_usd_per_million_tokens": 10.0}


def test_a_plan_says_what_would_be_asked_and_asks_nothing(
    provider: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint, context: JudgingContext
) -> None:
    settings = loopback_judge(price=PRICE)
    before = plan("loopback", settings, make_requests(10), checkpoint, context.prompts_dir)
    assert (before.n_in_scope, before.n_stored, before.n_to_ask) == (10, 0, 10)
    assert not provider.requests
    judge_requests("loopback", settings, make_requests(4), checkpoint=checkpoint, context=context)
    sent = sum(len(message["content"]) for message in provider.requests[0].body["messages"])
    assert before.tokens_in == pytest.approx(10 * sent / 3.5, rel=0.01)
    after = plan("loopback", settings, make_requests(10), checkpoint, context.prompts_dir)
    assert (after.n_in_scope, after.n_stored, after.n_to_ask) == (10, 4, 6)
    assert after.tokens_out == 6 * 20  # as in the stored answers
    assert after.cost_usd == pytest.approx(after.tokens_in * 1e-6 + 120 * 1e-5)
    assert "as in 4 stored ones" in after.basis


@pytest.mark.slow
def test_the_plan_of_the_embedded_judge_is_near_what_it_takes(
    make_requests: Any, checkpoint: Checkpoint, context: JudgingContext
) -> None:
    settings = EmbeddedJudge(backend="embedded", max_code_chars=300, max_prompt_chars=80)
    requests = make_requests(2).assign(
        source_code=["int main(){int x;}", "print(sum(map(int, input().split())))\n" * 9]
    )
    planned = plan("small", settings, requests, checkpoint, context.prompts_dir)
    judge_requests("small", settings, requests, checkpoint=checkpoint, context=context)
    with checkpoint.reading() as connection:
        took = connection.execute(sa.select(sa.func.sum(CALLS.c.tokens_in), sa.func.sum(CALLS.c.tokens_out))).one()
    assert planned.tokens_in == pytest.approx(took[0], rel=0.25)
    assert planned.tokens_out == took[1] == 6


def test_an_unpriced_model_has_no_cost_and_own_judges_cost_nothing(
    loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint, context: JudgingContext
) -> None:
    def cost(settings: Any) -> float | None:
        return plan("j", settings, make_requests(3), checkpoint, context.prompts_dir).cost_usd

    assert cost(loopback_judge()) is None
    assert cost(EmbeddedJudge(backend="embedded")) == 0.0
    assert cost(BaselineJudge(backend="baseline")) == 0.0
    assert cost(loopback_judge(model="openai/gpt-5.2-2025-12-11")) == pytest.approx(
        3 * (600 * 1.75e-6 + 150 * 14e-6), rel=0.3
    )


@pytest.mark.slow
def test_the_command_plans_a_folder_then_a_name_and_the_asset_keeps_the_plan(
    tmp_path: Path, provider: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = LoopbackWorkspace(tmp_path, provider.url, capsys, monkeypatch)
    workspace.configure(price=PRICE, api_key_env="LOOPBACK_KEY")
    code, out, _ = workspace("plan", "data/contests/mini")
    n = len(workspace.table(JUDGE_REQUESTS))
    assert code == 0 and "a run leaves it out until LOOPBACK_KEY is set" in out and "together" in out
    assert not provider.requests
    code, out, _ = workspace("plan", "mini", "--judges", "loopback", "--json")
    planned = json.loads(out)
    assert (code, planned["n_to_ask"], planned["tokens_out"]) == (0, n, 150 * n)
    assert planned["cost_usd"] == pytest.approx(planned["tokens_in"] * 1e-6 + planned["tokens_out"] * 1e-5)
    monkeypatch.setenv("LOOPBACK_KEY", "k")
    assert workspace.run()[0] == 0
    with open_instance(workspace.workspace) as instance:
        event = instance.get_latest_materialization_event(dg.AssetKey("judge_outputs"))
    assert event is not None and event.asset_materialization is not None
    metadata = {name: value.value for name, value in event.asset_materialization.metadata.items()}
    assert (metadata["planned_to_ask"], metadata["planned_tokens_in"]) == (n, planned["tokens_in"])
    assert metadata["planned_cost_usd"] == pytest.approx(planned["cost_usd"])
    code, out, _ = workspace("plan", "mini", "--judges", "loopback", "--json")
    assert (json.loads(out)["n_to_ask"], json.loads(out)["cost_usd"]) == (0, 0.0)
    assert workspace("plan", "elsewhere")[0] == 2
    code, _, err = workspace("plan", "data/contests/mistyped")
    assert code == 2 and "is no folder, and no contest that was read" in " ".join(err.split())
    assert workspace("plan", "mini", "--judges", "nobody")[0] == 2


@pytest.mark.parametrize(
    "model",
    [
        "openai/gpt-5.2-2025-12-11",
        "gemini/gemini-2.5-pro",
        "anthropic/claude-sonnet-4-5-20250929",
        "deepseek/deepseek-reasoner",
    ],
)
def test_the_judges_of_table_iii_have_a_listed_price(model: str) -> None:
    price = listed_price(model)
    assert price is not None
    assert 0 < price.input_usd_per_million_tokens < price.output_usd_per_million_tokens < 100


@pytest.mark.slow
def test_planning_and_the_engine_load_no_provider_code_and_no_model() -> None:
    code = (
        "import sys, judge_pipeline.judging.engine, judge_pipeline.judging.plan as p; p.listed_price('openai/gpt-4.1');"
        "print(sorted({'litellm', 'sklearn', 'xllamacpp', 'openai', 'dagster'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_a_table_of_plans_cuts_no_number_on_80_columns_and_says_why_fewer_are_asked() -> None:
    def shown(*plans: Plan) -> str:
        console = Console(width=80, record=True, file=io.StringIO())
        console.print(plan_table(plans))
        return console.export_text()

    every = Plan("claude-sonnet-4.5-long", 250, 0, 250, 2_716_011, 150_000, 5.7424, "")
    free = Plan("simulated-overconfident", 250, 250, 0, 0, 0, 0.0, "")
    text = shown(every, free)
    assert "2,716,011" in text and "150,000" in text and "5.7424" in text and "…" not in text
    assert "Fewer to ask" not in text
    assert "Fewer to ask" in shown(free, replace(every, n_to_ask=43))
