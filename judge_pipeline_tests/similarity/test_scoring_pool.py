"""Scoring by several processes: the same scores in the same order, and an error where a process dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from judge_pipeline.similarity import scoring_pool
from judge_pipeline.similarity.program import ProgramCache
from judge_pipeline.similarity.scoring import PairToScore, scores_of
from judge_pipeline.similarity.scoring_pool import ScoringPoolError, score_pairs
from judge_pipeline_tests.similarity.made_texts import sample_programs


def pairs() -> list[PairToScore]:
    return [
        PairToScore(reference, candidate, grammar)
        for grammar in ("cpp", "python", "java")
        for reference, candidate in zip(sample_programs(grammar), sample_programs(grammar)[1:], strict=False)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("n_processes", [2, 3])
@pytest.mark.parametrize("tokenizer", ["whitespace", "lexical"])
def test_processes_give_the_scores_of_one_to_the_last_bit(
    n_processes: int, tokenizer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring_pool, "_CHARS_AT_ONCE", 10_000)
    wanted = scores_of(pairs(), ProgramCache(tokenizer))  # type: ignore[arg-type]
    found = score_pairs(pairs(), tokenizer, n_processes)  # type: ignore[arg-type]
    assert np.array_equal(found, wanted)


@pytest.mark.slow
def test_little_work_starts_no_process_and_much_does(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    original = scoring_pool._started
    monkeypatch.setattr(scoring_pool, "_started", lambda tokenizer: (started.append(tokenizer), original(tokenizer))[1])
    monkeypatch.setattr(scoring_pool, "_usable_cores", lambda: 2)
    score_pairs(pairs(), "whitespace")
    assert not started
    monkeypatch.setattr(scoring_pool, "CHARS_WORTH_PROCESSES", 1000)
    monkeypatch.setattr(scoring_pool, "_CHARS_AT_ONCE", 10_000)
    score_pairs(pairs(), "whitespace")
    assert started == ["whitespace"] * 2


def test_a_process_that_dies_is_an_error_and_leaves_none_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    scorers: list[scoring_pool._Scorer] = []
    original = scoring_pool._started
    monkeypatch.setattr(scoring_pool, "_started", lambda tokenizer: scorers.append(original(tokenizer)) or scorers[-1])
    monkeypatch.setattr(scoring_pool, "_CHARS_AT_ONCE", 1000)

    def kill() -> None:
        while not scorers:
            time.sleep(0.01)
        os.kill(scorers[0].process.pid, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    with pytest.raises(ScoringPoolError, match=r"ended with exit code -9.*n_processes=1"):
        score_pairs(pairs() * 20, "whitespace", 2)
    thread.join()
    assert all(scorer.process.poll() is not None for scorer in scorers)


@pytest.mark.slow
def test_a_script_without_a_guard_can_use_processes(tmp_path: Path, checkout: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from judge_pipeline.similarity.codebleu import codebleu_similarities\n"
        "found = codebleu_similarities(['a b c d', 'e'], ['a b c e', 'f g'], ['C', 'C'], n_processes=2)\n"
        "print(found['codebleu'].round(3).tolist())\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.count("\n") == 1
