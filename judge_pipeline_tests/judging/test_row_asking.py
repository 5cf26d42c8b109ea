"""Rows of any table are asked about through the one engine: here pairs, at a real HTTP server."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from judge_pipeline.judging.answers_table import answers_table, spent_in_all
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext
from judge_pipeline.judging.row_asking import RowsAsked, ask_rows, plan_rows
from judge_pipeline.judging.settled import settled_failures
from judge_pipeline.preference.pair_judgments import missing, not_verified, pair_judgments
from judge_pipeline.preference.pair_question import pair_question, pair_rows
from judge_pipeline.settings import LitellmJudge
from judge_pipeline.settings.preference import PairJudging
from judge_pipeline.tables.preference import PAIR_TEXTS, PREFERENCE_SPLITS

QUESTION = pair_question(may_tie=False)


def rows_of(n: int) -> pd.DataFrame:
    empty = dict.fromkeys(PAIR_TEXTS.column_names)
    texts = [
        empty | {"pair_id": f"p{i}", "instruction": f"Do {i}", "response_a": f"good {i}", "response_b": f"bad {i}"}
        for i in range(n)
    ]
    splits = [
        {"pair_id": f"p{i}", "split": "val", "instruction_group": f"g{i}", "assigned_by": "seed"} for i in range(n)
    ]
    return pair_rows("set", PAIR_TEXTS.conform(texts), PREFERENCE_SPLITS.conform(splits), PairJudging())


@pytest.fixture
def ask(checkpoint: Checkpoint, context: JudgingContext, loopback_judge: Any) -> Any:
    def asking(rows: pd.DataFrame, **settings: Any) -> tuple[RowsAsked, pd.DataFrame]:
        asked = ask_rows(
            "j", loopback_judge(**settings), QUESTION, rows, checkpoint=checkpoint, context=context,
            of_whole=frozenset(rows["request_id"]),
        )  # fmt: skip
        return asked, answers_table(checkpoint, "j", asked)

    return asking


def choice(faults: Any, letter: str) -> Any:
    return faults.chat(json.dumps({"rationale": "because", "choice": letter}))


def first_good(request: Any) -> bool:
    return request.text.index("good") < request.text.index("bad")


def test_both_orders_are_asked_and_come_back_as_choices_of_the_same_response(
    ask: Any, provider: Any, faults: Any, checkpoint: Checkpoint
) -> None:
    provider.behave = lambda request, n: choice(faults, "A" if first_good(request) else "B")
    rows = rows_of(4)
    asked, answers = ask(rows)
    made = pair_judgments("j", rows, answers)
    assert len(provider.requests) == 8 and sum(map(first_good, provider.requests)) == 4
    assert made["decision"].tolist() == ["A"] * 8 and made["slot"].tolist() == ["first", "second"] * 4
    assert missing(rows, answers) == [] and not_verified(made, [f"p{i}" for i in range(4)]) == []
    assert made["tokens_in"].tolist() == [100] * 8 and spent_in_all(checkpoint, "j", asked).n_calls == 8
    again, answers_again = ask(rows)
    assert (again.n_asked, again.plan.n_stored, len(provider.requests)) == (0, 8, 8)
    pd.testing.assert_frame_equal(answers_again, answers)


def test_an_answer_that_stays_invalid_is_the_judges_own_and_is_not_asked_for_again(
    ask: Any, provider: Any, faults: Any, checkpoint: Checkpoint, context: JudgingContext, loopback_judge: Any
) -> None:
    provider.behave = lambda request, n: faults.chat("C") if "good 1" in request.text else choice(faults, "A")
    rows = rows_of(3)
    _, answers = ask(rows)
    made = pair_judgments("j", rows, answers)
    assert made["slot"].isna().tolist() == [False, False, True, True, False, False]
    assert set(made["failure_class"].dropna()) == {"invalid"} and missing(rows, answers) == []
    assert len(provider.requests) == 8  # the two invalid ones were asked again once, with their errors
    plan = plan_rows("j", loopback_judge(), QUESTION, rows, checkpoint, context.prompts_dir)
    assert plan.n_to_ask == 0
    _, again = ask(rows)
    assert len(provider.requests) == 8
    pd.testing.assert_frame_equal(pair_judgments("j", rows, again), made)


def test_what_the_provider_failed_to_bring_is_missing_and_asked_for_again(ask: Any, provider: Any, faults: Any) -> None:
    provider.behave = lambda request, n: faults.error(500) if "good 2" in request.text else choice(faults, "A")
    rows = rows_of(3)
    _, answers = ask(rows)
    assert len(pair_judgments("j", rows, answers)) == 4
    (problem,) = missing(rows, answers)
    assert problem.startswith("2 of 6 answers are missing (infrastructure), of pairs p2; the first says: ")
    n = len(provider.requests)
    provider.behave = lambda request, n: choice(faults, "B")
    _, answers = ask(rows)
    assert len(provider.requests) == n + 2 and missing(rows, answers) == []


def test_a_ladder_that_was_cut_short_is_not_settled(
    ask: Any, provider: Any, faults: Any, checkpoint: Checkpoint, loopback_judge: Any
) -> None:
    provider.behave = lambda request, n: faults.chat('{"choice": ', "length")
    rows = rows_of(1)
    asked, _ = ask(rows, limits={"max_tries": 2, "backoff_seconds": 0.0})
    hashes = asked.prepared.all_hashes
    two: LitellmJudge = loopback_judge(limits={"max_tries": 2})
    assert set(settled_failures(checkpoint, "j", two, hashes)) == set(hashes)
    assert settled_failures(checkpoint, "j", loopback_judge(limits={"max_tries": 5}), hashes) == {}
    assert settled_failures(checkpoint, "other", two, hashes) == {}


def test_an_answer_that_stayed_invalid_is_an_answer_that_is_there(
    ask: Any, provider: Any, faults: Any, checkpoint: Checkpoint, context: JudgingContext, loopback_judge: Any
) -> None:
    provider.behave = lambda request, n: choice(faults, "C" if "good 1" in request.text else "A")
    rows = rows_of(2)
    ask(rows)
    asked, _ = ask(rows)
    plan = plan_rows("j", loopback_judge(), QUESTION, rows, checkpoint, context.prompts_dir)
    for of in (asked.plan, plan):
        assert (of.n_in_scope, of.n_stored, of.n_to_ask) == (4, 4, 0)


def test_a_batch_judge_is_asked_about_pairs_at_once_and_says_so(ask: Any, provider: Any, faults: Any) -> None:
    provider.behave = lambda request, n: choice(faults, "A")
    asked, _ = ask(rows_of(1), batch=True)
    assert len(provider.requests) == 2 and "full price" in asked.notes[0]
