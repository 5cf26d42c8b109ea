"""The pilot: stratified, nested, blind to labels, kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, judge_requests
from judge_pipeline.judging.pilot import STRATA, pilot
from judge_pipeline.judging.plan import plan
from judge_pipeline.settings import RecordedJudge
from judge_pipeline.tables import JUDGE_COVERAGE, JUDGE_METRICS, JUDGE_OUTPUTS, JUDGE_REQUESTS
from judge_pipeline_tests.judging.loopback_workspace import LoopbackWorkspace


def table(sizes: list[int]) -> pd.DataFrame:
    """Strata of these sizes."""
    rows = [
        {"attempt_id": f"{s}-{i}", "split": "train", "problem_id": f"P{s}", "language": None if s % 2 else "C"}
        for s, size in enumerate(sizes)
        for i in range(size)
    ]
    return pd.DataFrame(rows, columns=["attempt_id", *STRATA])


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=8), st.integers(0, 2**32 - 1), st.data())
def test_strata_have_their_share_and_larger_pilots_hold_smaller_ones(sizes: list[int], seed: int, data: Any) -> None:
    requests = table(sizes)
    n = data.draw(st.integers(1, len(requests)))
    chosen = pilot(requests, n, seed)
    assert len(chosen) == n
    assert pilot(requests.sample(frac=1, random_state=seed), n, seed) == chosen
    assert pilot(requests, max(1, n // 2), seed) <= chosen
    # All that stand below the last one chosen are chosen: the counts are those of one cut through all strata.
    counts = Counter(attempt.partition("-")[0] for attempt in chosen)
    low = max((counts[str(s)] - 1) / size for s, size in enumerate(sizes))
    high = min((counts[str(s)] + 1) / size for s, size in enumerate(sizes))
    assert low <= high + 1e-12


def test_small_strata_have_their_chance() -> None:
    requests = table([90] + [1] * 10)
    drawn = Counter(a for seed in range(400) for a in pilot(requests, 10, seed))
    small = sum(n for attempt, n in drawn.items() if not attempt.startswith("0-"))
    assert 0.5 < small / 400 < 1.5  # a tenth of ten


def test_no_more_than_there_are_and_no_label_is_looked_at() -> None:
    assert pilot(table([3]), 10, 0) == {"0-0", "0-1", "0-2"}
    assert pilot(table([]), 5, 0) == frozenset()
    assert set(STRATA) <= set(JUDGE_REQUESTS.column_names)  # requests hold no label (eq. 7)


@pytest.mark.slow
def test_a_pilot_is_kept_and_the_full_run_asks_for_the_rest(
    provider: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint, context: JudgingContext
) -> None:
    def run(limit: int | None, judge_settings: Any = None) -> Any:
        given = replace(context, limit=limit)
        return judge_requests(
            "loopback", judge_settings or loopback_judge(), make_requests(24), checkpoint=checkpoint, context=given
        )

    planned = plan("loopback", loopback_judge(), make_requests(24), checkpoint, context.prompts_dir, limit=6)
    first = run(6)
    assert len(provider.requests) == 6 == planned.n_to_ask == len(first.outputs)
    assert set(first.outputs["attempt_id"]) == first.pilot and first.n_in_scope == 24
    assert run(6).n_asked == 0
    assert len(run(10).outputs) == 10 == len(provider.requests)
    full = run(None)
    assert len(provider.requests) == 24 and full.n_from_checkpoint == 10 and full.pilot is None
    assert len(run(6).outputs) == 24  # a pilot after the full run takes nothing away
    assert len(run(2, loopback_judge(repeats=2)).outputs) == 24 and len(provider.requests) == 26


def test_judges_that_cost_nothing_answer_in_full(
    make_requests: Any, checkpoint: Checkpoint, context: JudgingContext
) -> None:
    ids = make_requests(9)["attempt_id"]
    lines = "attempt_id,p_ac\n" + "".join(f"{a},0.5\n" for a in ids)
    (context.contest_folder / "r.csv").write_text(lines, encoding="utf-8")
    recorded = RecordedJudge(backend="recorded", file="r.csv")
    given = replace(context, limit=2)
    result = judge_requests("r", recorded, make_requests(9), checkpoint=checkpoint, context=given)
    assert len(result.outputs) == 9


@pytest.mark.slow
def test_the_command_flags_a_pilot_as_unverified_until_the_rest_is_there(
    tmp_path: Path, provider: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = LoopbackWorkspace(tmp_path, provider.url, capsys, monkeypatch)
    code, out, _ = workspace.run("--limit", "4")
    n = len(workspace.table(JUDGE_REQUESTS))
    assert code == 0 and len(provider.requests) == 4 == len(workspace.table(JUDGE_OUTPUTS, "loopback"))
    assert "verified" in out and f"{n - 4} of {n} attempts have no judgment" in out
    row = workspace.table(JUDGE_COVERAGE).set_index("judge").loc["loopback"]
    assert (row["status"], row["n_judged"]) == ("unverified", 4)
    figures = workspace.table(JUDGE_METRICS).query("judge == 'loopback'")
    assert len(figures) and figures["reason"].str.contains("loopback is unverified").all()
    assert workspace.run()[0] == 0
    assert len(provider.requests) == n
    assert workspace.table(JUDGE_COVERAGE).set_index("judge").loc["loopback", "status"] == "verified"
    assert workspace.run("--limit", "0")[0] == 2
