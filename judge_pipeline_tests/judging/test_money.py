"""Ceilings: asking stops before they are passed, whatever calls cost and however they end."""

from __future__ import annotations

import asyncio
import random
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, JudgingResult, judge_requests
from judge_pipeline.judging.failures import Failure, JudgingError
from judge_pipeline.judging.money import Budget, ContestSpending, Reserved, RunSpending
from judge_pipeline.judging.shard_spending import ShardSpending
from judge_pipeline.settings import Ceilings, JudgesFile, Price
from judge_pipeline_tests.judging.loopback_workspace import LoopbackWorkspace

PRICE = {"input_usd_per_million_tokens": 1.0, "output_usd_per_million_tokens": 10.0}
CALL_USD = 100e-6 + 20 * 1e-5  # the loopback server reports 100 tokens in, 20 out


@pytest.fixture
def judge(checkpoint: Checkpoint, context: JudgingContext) -> Any:
    def run(settings: Any, requests: Any, spending: RunSpending | None = None, **ceilings: float) -> JudgingResult:
        from dataclasses import replace

        given = replace(context, ceilings=Ceilings(**ceilings), spending=spending or RunSpending())
        return judge_requests("loopback", settings, requests, checkpoint=checkpoint, context=given)

    return run


def budget(checkpoint: Checkpoint, run_usd: float, spending: RunSpending | None = None) -> Budget:
    contest = ContestSpending(checkpoint, frozenset(), "j")
    return Budget(Ceilings(run=run_usd), Price(**PRICE), spending or RunSpending(), contest, "run")


def test_a_run_stops_before_its_ceiling_and_goes_on_later(
    judge: Any, provider: Any, loopback_judge: Any, make_requests: Any
) -> None:
    settings, requests = loopback_judge(price=PRICE, max_output_tokens=30), make_requests(40)
    first = judge(settings, requests, run=0.006)
    asked = len(provider.requests)
    assert 5 < asked < 20 and len(first.outputs) == asked
    assert first.cost_usd == pytest.approx(asked * CALL_USD) and first.cost_usd <= 0.006
    assert set(first.failures["class"]) == {"ceiling"} and len(first.failures) == 40 - asked
    text = first.failures["text"].iloc[0]
    assert "run's ceiling of 0.0060 USD" in text and "run again to go on" in text
    second = judge(settings, requests, run=1.0)
    assert len(provider.requests) == 40 and len(second.outputs) == 40
    assert second.cost_usd == pytest.approx(40 * CALL_USD)


def test_the_money_is_used_up_to_the_last_call_that_may_fit(
    judge: Any, provider: Any, loopback_judge: Any, make_requests: Any
) -> None:
    settings = loopback_judge(price=PRICE, max_output_tokens=20, limits={"max_in_flight": 16})
    result = judge(settings, make_requests(40), run=0.006)
    sent = max(len(m["content"]) for m in provider.requests[0].body["messages"])
    largest_estimate = (sent + 3000) / 3.5 * 1e-6 + 20 * 1e-5
    assert 0.006 - result.cost_usd < largest_estimate  # calls under way do not make it stop early


@pytest.mark.slow
def test_a_contest_s_ceiling_counts_all_runs_and_judges_and_no_other_contest(
    judge: Any, provider: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint, context: JudgingContext
) -> None:
    settings = loopback_judge(price=PRICE, max_output_tokens=20)
    other = make_requests(12)
    other["attempt_id"] = [f"{i + 1000:016x}" for i in range(12)]
    other["source_code"] = [f"other {i}" for i in range(12)]
    judge(settings, other)
    judge_requests("another", settings, make_requests(10), checkpoint=checkpoint, context=context)
    spent = 10 * CALL_USD
    result = judge(settings, make_requests(10), contest=spent + 0.002)
    assert 0 < len(result.outputs) < 10 and spent + result.cost_usd <= spent + 0.002
    assert "contest's ceiling" in result.failures["text"].iloc[0]
    again = judge(settings, make_requests(10), contest=spent + 0.002)
    assert len(again.outputs) <= len(result.outputs) + 1  # it does not start anew with each run
    assert len(judge(settings, make_requests(10), contest=1.0).outputs) == 10


def test_failed_and_repaired_tries_are_spent_money(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any
) -> None:
    provider.behave = lambda request, n: faults.kinds["truncated"]() if n % 2 == 0 else faults.valid()
    spending = RunSpending()
    result = judge(loopback_judge(price=PRICE), make_requests(6), spending, run=1.0)
    assert result.n_calls > 6
    assert spending.usd == pytest.approx(result.n_calls * CALL_USD) == result.cost_usd


def test_what_may_have_been_billed_counts_at_its_estimate_and_a_refusal_to_work_nothing(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any
) -> None:
    for kind, billed in (("500", True), ("no-usage", True), ("429", False)):
        spending = RunSpending()
        provider.script(faults.kinds[kind]())
        judge(loopback_judge(price=PRICE, parameters={"x": kind}), make_requests(1), spending, run=1.0)
        assert (spending.usd > 0) == billed, kind


def test_an_unpriced_model_is_an_error_under_a_ceiling_only(
    judge: Any, provider: Any, loopback_judge: Any, make_requests: Any
) -> None:
    with pytest.raises(JudgingError, match="no known price"):
        judge(loopback_judge(), make_requests(2), run=5.0)
    assert not provider.requests
    free = {"input_usd_per_million_tokens": 0, "output_usd_per_million_tokens": 0}
    assert len(judge(loopback_judge(price=free), make_requests(2), run=0.0).outputs) == 2
    assert len(judge(loopback_judge(), make_requests(2), run=0.0).outputs) == 2  # all of it is stored


def test_no_ceiling_reserves_nothing(judge: Any, loopback_judge: Any, make_requests: Any) -> None:
    assert len(judge(loopback_judge(), make_requests(3)).outputs) == 3


@pytest.mark.parametrize("seed", range(20))
def test_no_order_of_calls_passes_the_ceiling(checkpoint: Checkpoint, seed: int) -> None:
    rng = random.Random(seed)
    spending, ceiling = RunSpending(), rng.uniform(0.0, 0.05)
    purse = budget(checkpoint, ceiling, spending)
    most = 0.0

    async def worker() -> None:
        nonlocal most
        while True:
            got = await purse.reserve(rng.randint(0, 7000), rng.randint(1, 200))
            if isinstance(got, Failure):
                assert got.failure_class == "ceiling"
                return
            for _ in range(rng.randint(0, 5)):
                await asyncio.sleep(0)
            cost = rng.choice([None, got.usd * rng.random()])
            await purse.settle(got, cost, rng.choice([None, "infrastructure", "rate_limit"]))
            most = max(most, spending.usd)

    async def all_workers() -> None:
        await asyncio.wait_for(asyncio.gather(*(worker() for _ in range(8))), 20)

    asyncio.run(all_workers())
    assert most <= ceiling + 1e-12


def test_steps_in_processes_of_their_own_share_the_ceiling_of_their_run_alone(
    checkpoint: Checkpoint,
) -> None:
    """Each has spent before, in another asking of its own, which counts once."""

    def purse(of: str, spending: RunSpending, **ceilings: float) -> Budget:
        contest = ContestSpending(checkpoint, frozenset(), "j")
        others = ShardSpending(checkpoint, of, spending.process())
        return Budget(Ceilings(**ceilings), Price(**PRICE), spending, contest, "x", 20, others, beside_steps=True)

    async def spent_by(spending: RunSpending, of: str = "r" * 32, **ceilings: float) -> float:
        before, its = spending.usd, purse(of, spending, **ceilings)
        while not isinstance(got := await its.reserve(3500, 100), Failure):
            await its.settle(got, 0.001, None)
            if spending.usd - before > 0.0205:
                break
        return spending.usd - before

    async def all_steps() -> list[float]:
        first, second = RunSpending(), RunSpending()
        limits = {"run": 0.05}
        return [
            await spent_by(first, **limits),
            await spent_by(first, **limits),
            await spent_by(second, **limits),
            await spent_by(second, contest=0.0241),
            await spent_by(RunSpending(), "s" * 32, **limits),
        ]

    one, two, three, of_contest, elsewhere = asyncio.run(all_steps())
    assert [one, two, elsewhere] == pytest.approx([0.021] * 3)
    assert 0.0 < three <= 0.05 - one - two
    assert of_contest == pytest.approx(0.021), "what other steps have is no part of a contest's spending twice"


def test_later_estimates_learn_from_what_calls_took(checkpoint: Checkpoint) -> None:
    async def estimates() -> tuple[float, float, float]:
        purse = budget(checkpoint, 10.0)
        first = await purse.reserve(3500, None)
        assert isinstance(first, Reserved)
        await purse.settle(first, 0.1, None, tokens_in=2000, tokens_out=900)
        second = await purse.reserve(3500, None)
        limited = await purse.reserve(3500, 10)
        assert isinstance(second, Reserved) and isinstance(limited, Reserved)
        return first.usd, second.usd, limited.usd

    first, second, limited = asyncio.run(estimates())
    assert first == pytest.approx(1000e-6 + 150e-5)
    assert second == pytest.approx(2000e-6 + 900e-5)
    assert limited == pytest.approx(2000e-6 + 10e-5)


def test_negative_ceilings_are_refused_and_the_how_to_s_examples_are_valid() -> None:
    with pytest.raises(ValueError, match="greater than or equal"):
        Ceilings(run=-1)
    text = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "spend-money-safely.md").read_text("utf-8")
    examples = re.findall(r"```yaml\n(.*?)```", text, flags=re.DOTALL)
    assert len(examples) >= 2
    files = [JudgesFile.model_validate(yaml.safe_load(example)) for example in examples]
    assert (files[0].ceiling_usd.run, files[0].ceiling_usd.contest) == (5.0, 40.0)


@pytest.mark.slow
def test_a_command_with_a_ceiling_fails_by_name_keeps_and_goes_on(
    tmp_path: Path, provider: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = LoopbackWorkspace(tmp_path, provider.url, capsys, monkeypatch)
    workspace.configure({"ceiling_usd": {"run": 0.003}}, price=PRICE, max_output_tokens=20)
    code, _, err = workspace.run()
    assert code == 1 and "run's ceiling of 0.0030 USD" in " ".join(err.split())
    asked = len(provider.requests)
    assert asked > 0 and asked * CALL_USD <= 0.003
    workspace.configure({"ceiling_usd": {"run": 1.0, "contest": 2.0}}, price=PRICE, max_output_tokens=20)
    assert workspace.run()[0] == 0
    workspace.configure({"ceiling_usd": {"run": 1.0}}, parameters={"temperature": 0})
    code, _, err = workspace.run()
    assert code == 1 and "no known price" in " ".join(err.split())
