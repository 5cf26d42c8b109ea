"""Running jobs from code: what Dagster turns into a failed step, and what it must not."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import psycopg2
import pytest

from judge_pipeline.orchestration.runs import run_job


def job_of(step: Callable[[], None]) -> dg.Definitions:
    @dg.asset(name="step", partitions_def=dg.StaticPartitionsDefinition(["spring"]))
    def asset() -> None:
        step()

    return dg.Definitions(assets=[asset], jobs=[dg.define_asset_job("job", [asset])])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_command_and_not_only_the_step(number: signal.Signals) -> None:
    def step() -> None:
        os.kill(os.getpid(), number)

    with dg.DagsterInstance.ephemeral() as instance, pytest.raises(KeyboardInterrupt):
        run_job(job_of(step), instance, "job", "spring")


def test_an_error_is_told_in_the_words_of_its_cause() -> None:
    def step() -> None:
        raise dg.Failure("the file is gone; bring it back", allow_retries=False)

    with dg.DagsterInstance.ephemeral() as instance:
        outcome = run_job(job_of(step), instance, "job", "spring")
        assert outcome.error == "the file is gone; bring it back"
        assert run_job(job_of(lambda: None), instance, "job", "spring").error is None


def test_dagsters_database_that_was_away_is_told_with_what_helps(tmp_path: Path) -> None:
    def step() -> None:
        psycopg2.connect(f"postgresql://u:secret@/runs?host={tmp_path}")

    with dg.DagsterInstance.ephemeral() as instance:
        outcome = run_job(job_of(step), instance, "job", "spring")
    assert outcome.error is not None and "secret" not in outcome.error
    assert outcome.error.startswith("Dagster's database did not take what the run had to note (connection to server on")
    assert "No such file or directory" in outcome.error
    assert outcome.error.endswith("once its server is back, run it again: what was answered is kept")
