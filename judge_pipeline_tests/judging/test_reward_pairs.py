"""Reward models through the engine: pairs in both orders, over real connections, to the table of choices."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judge_pipeline.judging.answers_table import answers_table
from judge_pipeline.judging.backends.reward_backend import FIRST
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.judging_context import JudgingContext
from judge_pipeline.judging.prepared import prepare
from judge_pipeline.judging.row_asking import ask_rows
from judge_pipeline.preference.pair_judgments import missing, pair_judgments
from judge_pipeline.preference.pair_question import pair_question
from judge_pipeline.settings import JudgesFile, RewardJudge, packaged_config_dir
from judge_pipeline.settings.yaml_file import load
from judge_pipeline_tests.judging.loopback_scorer import MODEL, Fault, Scorer, chat_text, score_of
from judge_pipeline_tests.judging.made_pairs import INSTRUCTION, rows_of

QUESTION = pair_question(may_tie=False)


@pytest.fixture
def scorer() -> Iterator[Scorer]:
    """The server, in a thread of its own."""
    server, ready, ended = Scorer(), threading.Event(), threading.Event()

    async def serve() -> None:
        async with server.served():
            ready.set()
            await asyncio.to_thread(ended.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(10)
    yield server
    ended.set()
    thread.join(10)


def judge(scorer: Scorer, **settings: Any) -> RewardJudge:
    limits = {"max_in_flight": 2, "backoff_seconds": 0.01, "max_backoff_seconds": 0.02, "max_tries": 6}
    values = {"backend": "reward", "model": MODEL, "base_url": scorer.url, "protocol": "vllm_classify"}
    return RewardJudge(**(values | {"limits": limits} | settings))


def asked(
    settings: RewardJudge, rows: pd.DataFrame, checkpoint: Checkpoint, context: JudgingContext
) -> tuple[pd.DataFrame, list[str], int]:
    """The table of choices, what is missing, and how many requests were asked."""
    found = ask_rows("rm", settings, QUESTION, rows, checkpoint=checkpoint, context=context, of_whole=())
    answers = answers_table(checkpoint, "rm", found)
    return pair_judgments("rm", rows, answers), missing(rows, answers), found.n_asked


def test_both_orders_are_scored_and_decide_the_same_also_after_faults(
    scorer: Scorer, checkpoint: Checkpoint, context: JudgingContext
) -> None:
    scorer.faults = [Fault(500), Fault(429, b"{}", {"Retry-After": "0.01"}), Fault(body=b'{"data"', reset=True)]
    price = {"input_usd_per_million_tokens": 1.0, "output_usd_per_million_tokens": 1.0}
    table, lacking, n_asked = asked(judge(scorer, price=price, log_odds=True), rows_of(6), checkpoint, context)
    assert (lacking, n_asked, len(table)) == ([], 12, 12)
    scores = [
        [score_of(chat_text([{"role": "user", "content": INSTRUCTION}, {"role": "assistant", "content": text}]))
         for text in (f"sorted({i})", f"x{i}.sort()" if i < 5 else "x")]
        for i in range(6)
    ]  # fmt: skip
    by_order = table.pivot(index="pair_id", columns="presentation_order", values="decision")
    expected = ["A" if a > b else "B" for a, b in scores]
    assert by_order["AB"].tolist() == by_order["BA"].tolist() == expected
    assert set(expected) == {"A", "B"}
    ba = table[table["presentation_order"] == "BA"].set_index("pair_id")
    assert ba["score_first"].tolist() == [b for _, b in scores]
    assert (ba["slot"] == "first").tolist() == [b > a for a, b in scores] == (ba["p_first"] > 0.5).tolist()
    assert table["cost_usd"].notna().all() and (table["tokens_out"] == 0).all()
    assert table["n_tries"].sum() == 12 + 3
    n_requests = len(scorer.requests)
    again, _, n_asked = asked(judge(scorer, price=price, log_odds=True), rows_of(6), checkpoint, context)
    assert (n_asked, len(scorer.requests)) == (0, n_requests)
    assert again.drop(columns=["latency_ms"]).equals(table.drop(columns=["latency_ms"]))


def test_what_the_model_cannot_score_is_its_own_and_no_choice(
    scorer: Scorer, checkpoint: Checkpoint, context: JudgingContext
) -> None:
    table, lacking, _ = asked(judge(scorer, protocol="tei_predict"), rows_of(3, 5000), checkpoint, context)
    assert lacking == []
    assert table["failure_class"].tolist() == [None] * 4 + ["too_long"] * 2
    assert table["slot"].isna().tolist() == table["decision"].isna().tolist() == [False] * 4 + [True] * 2


def test_scores_that_are_none_are_invalid_answers_and_asked_once(
    scorer: Scorer, checkpoint: Checkpoint, context: JudgingContext
) -> None:
    scorer.change = lambda whole: whole | {"data": [row | {"probs": [float("nan")]} for row in whole["data"]]}
    table, lacking, _ = asked(judge(scorer), rows_of(2), checkpoint, context)
    assert lacking == []
    assert table["failure_class"].tolist() == ["invalid"] * 4
    assert (table["n_tries"] == 1).all()


def test_the_reward_judges_that_ship_render_pairs_for_their_models(checkpoint: Checkpoint) -> None:
    judges = load(JudgesFile, packaged_config_dir() / "judges.yaml").judges
    prompts = Path(packaged_config_dir()) / "prompts"
    found = {name: judge for name, judge in judges.items() if isinstance(judge, RewardJudge)}
    assert sorted(found) == ["grm-gemma-2b", "pairrm"]
    for name, settings in found.items():
        prepared = prepare(name, settings, rows_of(1), prompts, checkpoint, QUESTION)
        messages = prepared.task(prepared.hashes[0][0]).build()[0].messages
        whole = "\n".join(message.content for message in messages)
        assert INSTRUCTION in messages[0].content
        assert messages[-2].role == FIRST and "sorted(0)" in messages[-2].content
        marks = ["<|source|>", "<|candidate1|>", "<|candidate2|>"]
        assert [mark in whole for mark in marks] == [name == "pairrm"] * 3
        assert whole.startswith("<|source|>") == (name == "pairrm")
