"""The table of stored answers and their totals, against the same made row by row from the checkpoint's own objects."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judge_pipeline.judging.checkpoint import stored_rows
from judge_pipeline.judging.checkpoint.store import CallRow, Checkpoint, Record, StoredJudgment, StoredRequest
from judge_pipeline.judging.checkpoint.stored_rows import read_calls, read_judgments
from judge_pipeline.judging.checkpoint.tables import CALLS, JUDGMENTS
from judge_pipeline.judging.engine import JudgingContext, judge_requests
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.outputs import outputs_and_total, total
from judge_pipeline.judging.plan import plan
from judge_pipeline.judging.prepared import Prepared, prepare
from judge_pipeline.judging.repeats import repeat_spread
from judge_pipeline.judging.request import sha256
from judge_pipeline.settings import Ceilings, LitellmJudge
from judge_pipeline.tables import JUDGE_OUTPUTS
from judge_pipeline_tests.judging.conftest import requests_table

PROMPTS = Path(__file__).resolve().parents[2] / "assets_config" / "prompts"
WAYS = {"looked up": (0, 0), "in the order of the index": (10**9, 0), "in the order of the table": (10**9, 10**9)}


@pytest.fixture(params=["sqlite", "postgresql"])
def store_kind(request: pytest.FixtureRequest) -> str:
    """Both say the same."""
    return str(request.param)


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """However rows are read, they are the same."""
    monkeypatch.setattr(stored_rows, "_READ_ALL_UP_TO", WAYS[request.param][0])
    monkeypatch.setattr(stored_rows, "_TABLE_ORDER_UP_TO", WAYS[request.param][1])
    monkeypatch.setattr(stored_rows, "_ROWS_AT_ONCE", 3)
    return str(request.param)


def judge(repeats: int = 1) -> LitellmJudge:
    return LitellmJudge(backend="litellm", model="openai/m", base_url="http://127.0.0.1:9/v1", repeats=repeats)


def call(name: str, hash_: str, attempt_id: str, number: int = 1, **values: Any) -> CallRow:
    return CallRow(name, hash_, attempt_id, 0, "run", number, "2026-01-01T00:00:00Z", **({"latency_ms": 1.5} | values))


def answer(hash_: str, **changes: Any) -> dict[str, Any]:
    return {"p_ac": int(hash_[:6], 16) / 0xFFFFFF, "s_algo": 1 + int(hash_[6], 16) % 5, "s_robust": 3} | changes


def by_rows(prepared: Prepared, checkpoint: Checkpoint, name: str) -> list[dict[str, Any]]:
    """The rows of judge_outputs as the definition has them, one at a time."""
    answers, seen, rows = checkpoint.answered(name, prepared.slots), set(), []
    for attempt_id, hash_ in prepared.hash_of.items():
        is_first = hash_ not in seen
        seen.add(hash_)
        if hash_ not in answers:
            continue
        stored = answers[hash_]
        row = dict.fromkeys(JUDGE_OUTPUTS.column_names) | dict(stored.answer)
        row |= {"attempt_id": attempt_id, "judge": name, "request_hash": hash_, "n_tries": 0}
        row |= {"model": stored.model, "repair": stored.repair}
        if is_first:
            own = checkpoint.calls(name, hash_)
            all_ = own + [c for h in prepared.further_of[attempt_id] for c in checkpoint.calls(name, h)]
            row |= {"n_tries": len(own), "latency_ms": stored.latency_ms}
            for column in ("tokens_in", "tokens_out", "cost_usd"):
                known = [c[column] for c in all_ if c[column] is not None]
                row[column] = sum(known) if known else None
        rows.append(row)
    return rows


maybe = st.none() | st.integers(0, 5)
tries = st.lists(
    st.fixed_dictionaries({
        "tokens_in": maybe, "tokens_out": maybe, "cost_usd": st.none() | st.sampled_from([0.0, 0.5, 0.25, 3.0]),
        "latency_ms": st.sampled_from([0.5, 20.0]),
    }),
    max_size=3,
)  # fmt: skip
stored_requests = st.lists(
    st.tuples(st.booleans(), tries, st.sampled_from([None, "mended"]), st.none() | st.text(max_size=5)),
    min_size=12,
    max_size=12,
)


@pytest.mark.slow
@given(st.integers(1, 3), stored_requests, st.booleans())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_by_columns_as_by_rows(way: str, repeats: int, stored: list[Any], are_equal: bool) -> None:
    checkpoint = Checkpoint("sqlite://")
    prepared = prepare("j", judge(repeats), requests_table(4, same=are_equal), PROMPTS)
    records = []
    for (hash_, slot), (is_answered, made, repair, model) in zip(prepared.slots.items(), stored, strict=False):
        attempt_id = prepared.attempt_ids[slot % 4]
        for name in ("j", "another"):
            judgment = StoredJudgment(
                name, hash_, attempt_id, answer(hash_, rationale=f"ü\n{name}"), repair, model, 7.5
            )
            request = StoredRequest(hash_, "t", "0" * 64, "{}")
            rows = [call(name, hash_, attempt_id, n, **each) for n, each in enumerate([{}, *made], start=1)]
            records += [Record(request, each) for each in rows[1:]]
            records += [Record(request, rows[0], judgment)] if is_answered else []
    other = sha256("another prompt's")
    records.append(Record(StoredRequest(other, "t", "0" * 64, "{}"), call("j", other, "x", tokens_in=10**6)))
    checkpoint.record(records)
    judgments = read_judgments(checkpoint, "j", prepared.all_hashes)
    table, taken = outputs_and_total(checkpoint, "j", prepared, judgments)
    expected = JUDGE_OUTPUTS.conform(by_rows(prepared, checkpoint, "j"))
    pd.testing.assert_frame_equal(table, expected, check_exact=True)
    spent = checkpoint.spent("j", prepared.slots).values()
    assert taken.n_calls == sum(each.n_calls for each in spent)
    for column in ("tokens_in", "tokens_out", "cost_usd"):
        known = [getattr(each, column) for each in spent if getattr(each, column) is not None]
        assert getattr(taken, column) == (sum(known) if known else None)
    assert taken.seconds == pytest.approx(sum(each.seconds for each in spent))
    checkpoint.close()


def filled(checkpoint: Checkpoint, prepared: Prepared, names: tuple[str, ...]) -> None:
    for name in names:
        checkpoint.record([
            Record(
                StoredRequest(hash_, "t", "0" * 64, "{}"), call(name, hash_, "a", tokens_out=slot, cost_usd=0.1),
                StoredJudgment(name, hash_, "a", answer(hash_, rationale="r"), None, "m", 1.0),
            )
            for hash_, slot in prepared.slots.items()
        ])  # fmt: skip


def test_every_way_reads_the_wanted_rows_and_no_others(checkpoint: Checkpoint, way: str) -> None:
    prepared = prepare("j", judge(), requests_table(20), PROMPTS)
    filled(checkpoint, prepared, ("i", "j", "k"))
    wanted = prepared.all_hashes[3:11]
    judgments, calls = read_judgments(checkpoint, "j", wanted), read_calls(checkpoint, "j", wanted)
    assert sorted(judgments.slots) == sorted(calls.slots) == list(range(8))
    assert dict(zip(calls.slots.tolist(), calls.tokens_out.tolist(), strict=True)) == {n: n + 3 for n in range(8)}
    assert all(len(each) == 8 for each in (judgments.answers, judgments.models, judgments.latency_ms))
    for nothing in (read_judgments(checkpoint, "nobody", wanted), read_judgments(checkpoint, "j", [])):
        assert not len(nothing.slots) and not nothing.answers
    assert total(read_calls(checkpoint, "nobody", wanted)) == total(read_calls(checkpoint, "j", []))
    both = judgments.at(np.arange(3, 11)) + read_judgments(checkpoint, "j", prepared.all_hashes[:3])
    assert sorted(both.slots) == list(range(11)) and len(both.answers) == len(both.repairs) == len(both.models) == 11


@pytest.mark.parametrize("store_kind", ["sqlite"])
def test_each_way_is_the_one_it_is_called(checkpoint: Checkpoint, way: str) -> None:
    """What SQLite makes of each: calls always from their index alone."""
    prepared = prepare("j", judge(), requests_table(5), PROMPTS)
    filled(checkpoint, prepared, ("j",))

    def steps(table: sa.Table, *names: str) -> str:
        with checkpoint.reading() as connection:
            query = sa.select(table.c.request_hash, *(table.c[name] for name in names))
            query = stored_rows._of_judge(connection, query, table, "j", prepared.all_hashes)
            compiled = query.compile(connection, compile_kwargs={"literal_binds": True})
            return "; ".join(row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}"))

    of_judgments = steps(JUDGMENTS, "answer", "repair", "model", "latency_ms")
    expected = {
        "looked up": "SEARCH judgments USING INDEX sqlite_autoindex_judgments_1 (judge=? AND request_hash=?)",
        "in the order of the index": "SEARCH judgments USING INDEX sqlite_autoindex_judgments_1 (judge=?)",
        "in the order of the table": "SCAN judgments",
    }[way]
    assert of_judgments.split("; ")[0] == expected
    of_calls = steps(CALLS, "tokens_in", "tokens_out", "cost_usd", "latency_ms")
    assert of_calls.startswith("SEARCH calls USING COVERING INDEX calls_totals") and "TEMP B-TREE" not in of_calls


@pytest.mark.parametrize(
    "damage",
    [
        '{"p_ac": 0.5, "s_algo"', "", '{"p_ac": "x"}', '{"p_ac": 0.5}\n{"p_ac": 0.5}', "[1]", '{"p_ac": 0.5}',
        '{"p_ac": 7, "s_algo": 3, "s_robust": 2, "rationale": "x"}',
        '{"p_ac": 0.5, "s_algo": 0, "s_robust": 2, "rationale": "x"}',
    ],
)  # fmt: skip
def test_a_damaged_answer_is_named_with_the_remedy(checkpoint: Checkpoint, damage: str) -> None:
    prepared = prepare("j", judge(), requests_table(4), PROMPTS)
    filled(checkpoint, prepared, ("j",))
    with checkpoint.writing() as connection:
        connection.execute(
            sa.update(JUDGMENTS).where(JUDGMENTS.c.request_hash == prepared.hashes[0][2]).values(answer=damage)
        )
    with pytest.raises(JudgingError, match=f"damaged: the answer to request {prepared.hashes[0][2]} .*backup"):
        outputs_and_total(checkpoint, "j", prepared, read_judgments(checkpoint, "j", prepared.all_hashes))


@pytest.mark.parametrize("store_kind", ["sqlite"])
def test_numbers_come_back_to_the_last_bit(checkpoint: Checkpoint) -> None:
    prepared = prepare("j", judge(), requests_table(300), PROMPTS)
    values = [math.ldexp(math.pi, -n) % 1.0 if n else 5e-324 for n in range(300)]
    checkpoint.record([
        Record(
            StoredRequest(hash_, "t", "0" * 64, "{}"), call("j", hash_, "a", cost_usd=value),
            StoredJudgment("j", hash_, "a", answer(hash_, p_ac=value, rationale="\u2028\\ud800"), None, None, value),
        )
        for hash_, value in zip(prepared.hashes[0], values, strict=True)
    ])  # fmt: skip
    table, _ = outputs_and_total(checkpoint, "j", prepared, read_judgments(checkpoint, "j", prepared.all_hashes))
    for column in ("p_ac", "cost_usd", "latency_ms"):
        assert table[column].tolist() == values
    assert set(table["rationale"]) == {"\u2028\\ud800"}


PRICE = {"input_usd_per_million_tokens": 1.0, "output_usd_per_million_tokens": 10.0}


@pytest.mark.slow
def test_totals_of_a_run_in_pieces_are_those_of_one_run(
    tmp_path: Path, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, context: JudgingContext
) -> None:
    """Every request meets a fault or more before its answer, the same ones whenever it is asked."""
    asked: Counter[str] = Counter()

    def behave(request: Any, n: int) -> Any:
        asked[request.text] += 1
        kind = int(faults.answer_of(request.text) * 1e6) % 3
        return [faults.kinds["truncated"](), faults.kinds["500"]()][kind - 1] if asked[request.text] <= kind else done

    done = faults.valid()
    provider.behave = behave
    requests, settings_ = make_requests(24), loopback_judge(price=PRICE, repeats=2, limits={"max_in_flight": 1})

    def run(name: str, n: int, **changes: Any) -> Any:
        with_changes = JudgingContext(**{**vars(context), **changes})
        with_store = Checkpoint(f"sqlite:///{tmp_path / name}")
        result = judge_requests("j", settings_, requests.iloc[:n], checkpoint=with_store, context=with_changes)
        with_store.close()
        return result

    whole = run("whole", 24)
    asked.clear()
    run("pieces", 5)
    run("pieces", 24, limit=9)
    cut = run("pieces", 24, ceilings=Ceilings(run=0.006))
    assert 9 < len(cut.outputs) < 24 and set(cut.failures["class"]) == {"ceiling"}
    pieces = run("pieces", 24)
    assert (pieces.n_from_checkpoint, len(pieces.outputs)) == (len(cut.outputs), 24)
    for name in ("n_calls", "tokens_in", "tokens_out", "cost_usd"):
        assert getattr(pieces, name) == getattr(whole, name), name
    assert whole.n_calls == sum(asked.values()) > 48
    times = ["latency_ms"]
    pd.testing.assert_frame_equal(pieces.outputs.drop(columns=times), whole.outputs.drop(columns=times))
    with closing(sqlite3.connect(tmp_path / "pieces")) as store:
        rows = store.execute("SELECT cost_usd, latency_ms FROM calls").fetchall()
    assert pieces.seconds == math.fsum(latency_ms for _, latency_ms in rows) / 1000.0
    assert pieces.cost_usd == math.fsum(cost_usd for cost_usd, _ in rows if cost_usd is not None)


def test_the_dry_run_and_repeats_read_what_the_engine_reads(checkpoint: Checkpoint, way: str) -> None:
    settings_, requests = judge(3), requests_table(8)
    prepared = prepare("j", settings_, requests, PROMPTS)
    filled(checkpoint, prepared, ("j", "k"))
    planned = plan("j", settings_, requests, checkpoint, PROMPTS)
    assert (planned.n_stored, planned.n_to_ask, planned.tokens_in, planned.cost_usd) == (8, 0, 0, 0.0)
    more = plan("j", settings_, requests_table(11), checkpoint, PROMPTS)
    assert (more.n_stored, more.n_to_ask) == (8, 9)
    assert more.tokens_out == round(9 * sum(range(24)) / 24) and "as in 24 stored ones" in more.basis
    spreads = repeat_spread("j", settings_, requests, checkpoint, PROMPTS)
    p = [[answer(hashes[i])["p_ac"] for hashes in prepared.hashes] for i in range(8)]
    assert spreads["p_ac_mean"].tolist() == pytest.approx([sum(each) / 3 for each in p])
    assert spreads["p_ac_first"].tolist() == [each[0] for each in p]
    result = judge_requests(
        "j", settings_, requests, checkpoint=checkpoint, context=JudgingContext({}, PROMPTS, PROMPTS)
    )
    assert (result.n_from_checkpoint, result.n_asked, result.n_calls) == (8, 0, 24)
    assert result.outputs["p_ac"].tolist() == [each[0] for each in p]
