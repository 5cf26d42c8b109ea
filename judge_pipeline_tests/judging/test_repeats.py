"""Repeats: asked n times, all kept, the first is the judgment."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, JudgingResult, judge_requests
from judge_pipeline.judging.explain import explain
from judge_pipeline.judging.plan import plan
from judge_pipeline.judging.prepared import prepare
from judge_pipeline.judging.repeats import repeat_spread, spread
from judge_pipeline.judging.verification import verify
from judge_pipeline.settings import BaselineJudge
from judge_pipeline.tables import JUDGE_OUTPUTS, JUDGE_REPEATS
from judge_pipeline_tests.judging.loopback_workspace import LoopbackWorkspace

PROMPTS = Path(__file__).resolve().parents[2] / "assets_config" / "prompts"
PRICE = {"input_usd_per_million_tokens": 1.0, "output_usd_per_million_tokens": 10.0}


@pytest.fixture
def judge(checkpoint: Checkpoint, context: JudgingContext) -> Any:
    def run(settings: Any, requests: Any) -> JudgingResult:
        return judge_requests("loopback", settings, requests, checkpoint=checkpoint, context=context)

    return run


def count_up(provider: Any, faults: Any) -> None:
    """Each answer differs from the one before."""
    provider.behave = lambda request, n: faults.valid(p_ac=(n % 97) / 97, s_algo=1 + n % 5)


@pytest.mark.slow
def test_each_repeat_is_asked_once_and_kept_and_the_first_is_the_judgment(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint,
    context: JudgingContext,
) -> None:  # fmt: skip
    count_up(provider, faults)
    settings, requests = loopback_judge(repeats=3, price=PRICE), make_requests(5)
    planned = plan("loopback", settings, requests, checkpoint, context.prompts_dir)
    assert (planned.n_in_scope, planned.n_to_ask) == (5, 15)
    result = judge(settings, requests)
    assert len(provider.requests) == 15 == result.n_calls
    prepared = prepare("loopback", settings, requests, context.prompts_dir)
    stored = checkpoint.answered("loopback", prepared.slots)
    assert len(stored) == 15 and len({a.answer["p_ac"] for a in stored.values()}) == 15
    indices = {checkpoint.calls("loopback", h)[0]["repeat_index"] for h in prepared.further_of[f"{0:016x}"]}
    assert indices == {1, 2}
    for row in result.outputs.itertuples():
        assert row.p_ac == stored[prepared.hash_of[row.attempt_id]].answer["p_ac"]
    assert result.outputs["cost_usd"].sum() == pytest.approx(result.cost_usd) == pytest.approx(15 * 300e-6)
    again = judge(settings, requests)
    assert len(provider.requests) == 15 and again.outputs.equals(result.outputs)


def test_first_repeats_come_first_and_more_repeats_change_no_judgment(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any
) -> None:
    count_up(provider, faults)
    once = judge(loopback_judge(), make_requests(6)).outputs
    more = judge(loopback_judge(repeats=4, limits={"max_in_flight": 1}), make_requests(8)).outputs
    assert len(provider.requests) == 6 + 2 + 3 * 8
    assert more.iloc[:6]["p_ac"].tolist() == once["p_ac"].tolist()
    prepared = prepare("loopback", loopback_judge(repeats=4), make_requests(8), PROMPTS)
    order = prepared.unanswered(np.array([], dtype="int64"))
    assert order == [hash_ for hashes in prepared.hashes for hash_ in hashes] and len(set(order)) == 4 * 8


def test_spread_is_numpy_s(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint,
    context: JudgingContext,
) -> None:  # fmt: skip
    count_up(provider, faults)
    settings, requests = loopback_judge(repeats=4), make_requests(3)
    judge(settings, requests)
    table = repeat_spread("loopback", settings, requests, checkpoint, context.prompts_dir)
    prepared = prepare("loopback", settings, requests, context.prompts_dir)
    for row in table.itertuples():
        hashes = [prepared.hash_of[row.attempt_id], *prepared.further_of[row.attempt_id]]
        p = np.array([checkpoint.answered("loopback", [h])[h].answer["p_ac"] for h in hashes])
        figures = (row.p_ac_first, row.p_ac_mean, row.p_ac_sd, row.p_ac_min, row.p_ac_max)
        assert figures == pytest.approx((p[0], p.mean(), p.std(ddof=1), p.min(), p.max()))
        assert (row.n_repeats, row.n_answered, row.reason) == (4, 4, None)


def test_a_missing_repeat_is_said_and_keeps_no_table_from_being_accepted(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint,
    context: JudgingContext,
) -> None:  # fmt: skip
    settings, requests = loopback_judge(repeats=2), make_requests(4)
    provider.behave = lambda request, n: faults.valid()
    judge(loopback_judge(), requests)
    provider.behave = lambda request, n: faults.kinds["refusal"]()
    result = judge(settings, requests)
    assert verify(result.outputs, requests) == [] and result.failures.empty
    assert "4 further repeats have no answer (the first: refusal" in result.notes[0]
    table = repeat_spread("loopback", settings, requests, checkpoint, context.prompts_dir)
    assert table["p_ac_sd"].isna().all() and table["p_ac_mean"].tolist() == [0.25] * 4
    assert set(table["reason"]) == {"1 of 2 repeats have no valid answer"}


def test_undefined_is_null() -> None:
    nan = np.nan
    columns = spread(
        np.array([[nan, nan, 0.1], [nan, 0.2, 0.1], [nan, 0.4, 0.1]]),
        np.array([[nan, nan, 2.0], [nan, 1.0, 2.0], [nan, 3.0, 2.0]]),
        np.array([[nan, nan, 4.0], [nan, 5.0, 4.0], [nan, 5.0, 4.0]]),
    )
    none, two, same = ({name: np.broadcast_to(v, 3)[i] for name, v in columns.items()} for i in range(3))
    assert (none["n_answered"], none["reason"]) == (0, "3 of 3 repeats have no valid answer")
    assert all(np.isnan(none[name]) for name in none if name.startswith(("p_ac", "s_")))
    assert two["p_ac_sd"] == pytest.approx(statistics.stdev([0.2, 0.4]))
    assert (two["s_algo_range"], two["s_robust_range"]) == (2, 0)
    assert two["reason"] == "1 of 3 repeats have no valid answer"
    assert (same["p_ac_mean"], same["p_ac_sd"], same["reason"]) == (0.1, 0.0, None)  # exactly


def test_one_answer_has_a_mean_and_no_spread() -> None:
    alone = spread(*(np.array([[value], [np.nan]]) for value in (0.3, 2.0, 4.0)))
    assert (alone["p_ac_mean"][0], alone["p_ac_min"][0], alone["n_answered"][0]) == (0.3, 0.3, 1)
    assert all(np.isnan(alone[name][0]) for name in ("p_ac_sd", "s_algo_range", "s_robust_range"))


def test_a_judge_that_is_asked_once_has_no_rows(
    loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint, context: JudgingContext
) -> None:
    for settings in (loopback_judge(), BaselineJudge(backend="baseline")):
        assert repeat_spread("j", settings, make_requests(3), checkpoint, context.prompts_dir).empty


def test_repeats_are_explained_as_such(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint,
    context: JudgingContext,
) -> None:  # fmt: skip
    count_up(provider, faults)
    settings, requests = loopback_judge(repeats=3), make_requests(1)
    judge(settings, requests)
    prepared = prepare("loopback", settings, requests, context.prompts_dir)
    attempt = f"{0:016x}"
    call, now = prepared.task(prepared.hash_of[attempt]).build()
    told = explain("loopback", attempt, now, call.messages, checkpoint, prepared.further_of[attempt])
    assert (told.state, told.earlier, len(told.tries), len(told.repeats)) == ("answered", (), 3, 2)
    assert all(answer is not None for answer in told.repeats)


@pytest.mark.slow
def test_the_graph_makes_the_table(
    tmp_path: Path, provider: Any, faults: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    count_up(provider, faults)
    workspace = LoopbackWorkspace(tmp_path, provider.url, capsys, monkeypatch)
    workspace.configure(repeats=3)
    assert workspace.run()[0] == 0
    outputs, repeats = workspace.table(JUDGE_OUTPUTS, "loopback"), workspace.table(JUDGE_REPEATS, "loopback")
    assert list(repeats["attempt_id"]) == list(outputs["attempt_id"])
    assert repeats["p_ac_first"].tolist() == outputs["p_ac"].tolist() and (repeats["p_ac_sd"] > 0).all()
    code, out, _ = workspace("explain", outputs["attempt_id"].iloc[0], "--judge", "loopback", "--json")
    assert code == 0 and len(json.loads(out)["explanation"]["repeats"]) == 2
