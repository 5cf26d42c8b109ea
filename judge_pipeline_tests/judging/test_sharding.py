"""Requests asked in shards: each once, whoever asks, and the table is the one that a single asking makes."""

from __future__ import annotations

import asyncio
import hashlib
import random
import threading
from contextlib import closing
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, JudgingResult, judge_requests
from judge_pipeline.judging.failures import Failure
from judge_pipeline.judging.money import Budget, ContestSpending, RunSpending
from judge_pipeline.judging.question import ATTEMPT
from judge_pipeline.judging.row_asking import rows_to_ask
from judge_pipeline.judging.shard_spending import ShardSpending, spent_in_shards
from judge_pipeline.judging.sharding import Shard, requests_by_shard, shard_of
from judge_pipeline.settings import Ceilings, Price

RUN = "0123456789abcdef0123456789abcdef"


@pytest.fixture(params=["sqlite", "postgresql"])
def store_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def transport() -> str:
    """litellm's clients are a process's; here shards are threads."""
    return "direct"


def ask(settings: Any, requests: Any, url: str, context: JudgingContext, **changes: Any) -> JudgingResult:
    with closing(Checkpoint(url)) as checkpoint:
        return judge_requests(
            "loopback", settings, requests, checkpoint=checkpoint, context=replace(context, **changes)
        )


def ask_side_by_side(settings: Any, requests: Any, url: str, context: JudgingContext, of: int) -> None:
    """Every shard by a thread with a store and an event loop of its own, all at once."""
    shards = [Shard(number, of, RUN) for number in range(1, of + 1)]
    errors: list[BaseException] = []

    def run(shard: Shard) -> None:
        try:
            ask(settings, requests, url, context, shard=shard)
        except BaseException as error:  # noqa: BLE001  raised on by the test itself
            errors.append(error)

    threads = [threading.Thread(target=run, args=(shard,)) for shard in shards]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors


def without_times(table: pd.DataFrame) -> pd.DataFrame:
    return table.drop(columns="latency_ms")


@given(st.text(min_size=1, max_size=40), st.integers(1, 1000))
def test_a_shard_is_told_by_the_id_alone(row_id: str, of: int) -> None:
    expected = int(hashlib.sha256(row_id.encode("utf-8", "surrogatepass")).hexdigest()[:16], 16) % of + 1
    assert shard_of(row_id, of) == expected


def test_shards_are_about_equal_in_size() -> None:
    n, of = 7000, 7
    sizes = pd.Series([shard_of(f"{i:016x}", of) for i in range(n)]).value_counts()
    assert sorted(sizes.index) == list(range(1, of + 1))
    assert ((sizes - n / of).abs() < 5 * (n / of) ** 0.5).all()  # five standard deviations of a binomial count


@pytest.mark.slow
@pytest.mark.parametrize("of", [1, 2, 7])
def test_shards_side_by_side_ask_each_request_once_and_give_the_same_table(
    provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, context: JudgingContext, tmp_path: Any, of: int
) -> None:
    provider.behave = lambda request, n: faults.valid(p_ac=faults.answer_of(request.text))
    requests = make_requests(60)
    twins = requests.head(20).assign(attempt_id=[f"{i + 500:016x}" for i in range(20)])  # the same requests once more
    requests = pd.concat([requests, twins], ignore_index=True)
    settings = loopback_judge(repeats=2)
    alone = ask(settings, requests, f"sqlite:///{tmp_path / 'alone.sqlite'}", context)
    assert len(provider.requests) == 120
    provider.requests.clear()
    url = f"sqlite:///{tmp_path / 'shards.sqlite'}"
    ask_side_by_side(settings, requests, url, context, of)
    assert len(provider.requests) == 120
    together = ask(settings, requests, url, context, after_shards=True)
    assert (len(provider.requests), together.n_asked, len(together.failures)) == (120, 0, 0)
    pd.testing.assert_frame_equal(without_times(together.outputs), without_times(alone.outputs))
    same = ("n_in_scope", "n_calls", "tokens_in", "tokens_out", "cost_usd")
    assert [getattr(together, name) for name in same] == [getattr(alone, name) for name in same]


def test_new_attempts_move_none_and_only_they_are_asked(
    provider: Any, loopback_judge: Any, make_requests: Any, context: JudgingContext, store_url: str
) -> None:
    settings = loopback_judge()
    ask_side_by_side(settings, make_requests(30), store_url, context, 3)
    more = make_requests(40)
    with closing(Checkpoint(store_url)) as checkpoint:
        prepared, to_ask, plan = rows_to_ask("loopback", settings, ATTEMPT, more, checkpoint, context.prompts_dir)
    counted = requests_by_shard(prepared, to_ask, 3)
    assert sum(counted.values()) == plan.n_to_ask == 10
    assert counted == {n: k for n in (1, 2, 3) if (k := sum(shard_of(f"{i:016x}", 3) == n for i in range(30, 40)))}
    ask_side_by_side(settings, more, store_url, context, 3)
    assert len(provider.requests) == 40


def test_after_shards_nothing_is_asked_and_failures_keep_their_class(
    provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, context: JudgingContext, store_url: str
) -> None:
    settings, requests = loopback_judge(limits={"max_tries": 2, "backoff_seconds": 0.0}), make_requests(12)
    refused = requests["source_code"].iloc[4]
    provider.behave = lambda request, n: faults.kinds["refusal"]() if refused in request.text else faults.valid()
    ask(settings, requests.head(10), store_url, context, shard=Shard(1, 1, RUN))
    asked = len(provider.requests)
    result = ask(settings, requests, store_url, context, after_shards=True)
    assert len(provider.requests) == asked
    assert len(result.outputs) == 9
    assert result.failures["class"].tolist() == ["refusal", "not_stored", "not_stored"]
    assert "run again" in result.failures["text"].iloc[1]


def test_a_pilot_is_drawn_from_all_and_then_cut(
    provider: Any, loopback_judge: Any, make_requests: Any, context: JudgingContext, store_url: str, tmp_path: Any
) -> None:
    settings, requests = loopback_judge(), make_requests(40)
    limited = replace(context, limit=12)
    ask_side_by_side(settings, requests, store_url, limited, 4)
    assert len(provider.requests) == 12
    in_shards = ask(settings, requests, store_url, limited, after_shards=True)
    alone = ask(settings, requests, f"sqlite:///{tmp_path / 'alone.sqlite'}", limited)
    assert in_shards.pilot == alone.pilot
    pd.testing.assert_frame_equal(without_times(in_shards.outputs), without_times(alone.outputs))


@pytest.mark.slow
def test_one_window_of_the_provider_holds_over_all_shards(
    provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, context: JudgingContext, store_url: str
) -> None:
    provider.behave = lambda request, n: replace(faults.valid(), delay=0.02)
    settings = loopback_judge(limits={"max_in_flight": 3})
    ask_side_by_side(settings, make_requests(30), store_url, context, 4)
    assert len(provider.requests) == 30 and provider.most_at_once <= 3


PRICE = {"input_usd_per_million_tokens": 1.0, "output_usd_per_million_tokens": 10.0}
CALL_USD = 100e-6 + 20 * 1e-5  # the loopback server reports 100 tokens in, 20 out


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["run", "contest"])
def test_a_ceiling_holds_over_shards_that_ask_side_by_side(
    provider: Any,
    faults: Any,
    loopback_judge: Any,
    make_requests: Any,
    context: JudgingContext,
    store_url: str,
    kind: str,
) -> None:
    provider.behave = lambda request, n: replace(faults.valid(), delay=0.01)
    settings = loopback_judge(price=PRICE, max_output_tokens=20, limits={"max_in_flight": 1})
    before = 5 * CALL_USD
    ask(settings, make_requests(60).tail(5), store_url, context)  # what was spent before counts for the contest alone
    allowed = 0.012
    ceiling = allowed + (before if kind == "contest" else 0.0)
    limited = replace(context, ceilings=Ceilings(**{kind: ceiling}))
    ask_side_by_side(settings, make_requests(60), store_url, limited, 4)
    spent = (len(provider.requests) - 5) * CALL_USD
    # Each of the four may have one call under way, at its estimate of some 0.001, while the others look for room.
    assert 0.5 * allowed < spent <= allowed
    with closing(Checkpoint(store_url)) as checkpoint:
        assert spent_in_shards(checkpoint, RUN) == pytest.approx(spent)
    ask_side_by_side(settings, make_requests(60), store_url, context, 4)
    assert len(provider.requests) == 60


@pytest.mark.parametrize("seed", range(10))
def test_no_order_of_shards_calls_passes_the_ceiling(checkpoint: Checkpoint, seed: int) -> None:
    rng = random.Random(seed)
    ceiling, spent = rng.uniform(0.0, 0.05), 0.0

    async def shard(number: int) -> None:
        nonlocal spent
        contest = ContestSpending(checkpoint, frozenset(), "j")
        others = ShardSpending(checkpoint, RUN, f"{RUN}{number}")
        purse = Budget(Ceilings(run=ceiling), Price(**PRICE), RunSpending(), contest, RUN, others=others)

        async def worker() -> None:
            nonlocal spent
            while not isinstance(got := await purse.reserve(rng.randint(0, 7000), rng.randint(1, 200)), Failure):
                for _ in range(rng.randint(0, 5)):
                    await asyncio.sleep(0)
                cost = got.usd * rng.random()
                spent += cost
                assert spent <= ceiling
                await purse.settle(got, cost, None)

        await asyncio.gather(*(worker() for _ in range(3)))

    async def all_shards() -> None:
        await asyncio.gather(*(shard(number) for number in range(3)))

    asyncio.run(all_shards())
    assert spent_in_shards(checkpoint, RUN) == pytest.approx(spent)


def test_a_killed_shard_s_calls_under_way_stay_set_aside_for_its_run_alone(checkpoint: Checkpoint) -> None:
    killed, other = ShardSpending(checkpoint, RUN, "killed"), ShardSpending(checkpoint, RUN, "other")
    assert killed.others_usd(0.75) == 0.0
    assert other.others_usd(0.5) == 0.75
    assert killed.others_usd(0.25) == 0.5  # it is a level, not a sum
    assert other.others_usd(0.5) == 0.25
    assert ShardSpending(checkpoint, "f" * 32, "next").others_usd(0.0) == 0.0
