from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.cli.main import cli
from judge_pipeline.definitions import build_definitions
from judge_pipeline.orchestration.automation.failure_messages import (
    LONGEST_WORDS,
    FailedRun,
    messages,
    one_line,
    retry_command,
)

RUN = FailedRun(
    "3f2a", "judge_contest", "contest spring, judge sharp", "judge_outputs", "12 authentication", "the key was refused",
    "judge-pipeline run data/contests/spring --judges sharp", "http://ui.test/runs/3f2a",
)  # fmt: skip


def test_one_run_is_told_with_what_failed_why_and_how_to_retry_it() -> None:
    (message,) = messages([RUN], 5)
    assert message.text.splitlines() == [
        "judge_pipeline: judge_contest (contest spring, judge sharp) failed in step judge_outputs",
        "Failures: 12 authentication",
        "Why: the key was refused",
        "Retry in the UI: http://ui.test/runs/3f2a",
        "Or: judge-pipeline run data/contests/spring --judges sharp",
    ]


def test_without_words_no_text_of_the_failure_is_in_it() -> None:
    (message,) = messages([RUN], 5, with_words=False)
    assert "the key was refused" not in json.dumps(message.as_json()) + message.text
    assert "12 authentication" in message.text


@given(st.integers(0, 60), st.integers(1, 8))
def test_every_run_is_in_one_message_and_there_are_no_more_than_may_be_sent(n: int, most: int) -> None:
    runs = [replace(RUN, run_id=f"run-{i}") for i in range(n)]
    made = messages(runs, most)
    assert len(made) == min(n, most)
    assert [run.run_id for message in made for run in message.runs] == [run.run_id for run in runs]


def test_the_last_of_many_names_those_that_are_left() -> None:
    runs = [replace(RUN, run_id=f"run-{i}", partition=f"contest c{i}") for i in range(30)]
    *_, last = messages(runs, 3)
    assert last.subject == "judge_pipeline: 28 more runs failed"
    assert "judge_contest (contest c2): http://ui.test" in last.text
    assert "and 8 more" in last.text


@given(st.text(max_size=2000))
def test_words_of_any_origin_become_one_plain_line(text: str) -> None:
    (message,) = messages([replace(RUN, words=text, step=text, partition=text)], 1)
    assert len(message.text.splitlines()) <= 5
    assert len(message.runs[0].words) <= LONGEST_WORDS
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e\ud800-\udfff]", message.text)
    sent = message.as_json()["text"]
    assert "<" not in sent
    assert ">" not in sent
    message.text.encode()


def test_nobody_is_called_and_no_link_is_disguised_by_the_words_of_a_failure() -> None:
    words = "@all @channel <!here> [retry](http://evil.test) ![x](http://evil.test/x.png) [a]: b team@example.org"
    (message,) = messages([replace(RUN, words=words)], 1)
    sent = message.as_json()["text"]
    assert not re.search(r"(?<![\w.])@\w|<|\]\(|\]:", sent)
    assert "team@example.org" in sent and str(RUN.command) in sent


def test_a_line_that_is_cut_says_so() -> None:
    assert one_line("ab" * 10, 5) == "abab…"


@pytest.mark.parametrize("job", sorted(job.name for job in build_definitions().jobs or ()))
def test_every_job_has_a_command_that_there_is(job: str) -> None:
    dimensions = {} if job.startswith("compare") else {"contest": "spring"}
    command = retry_command(job, dimensions, "data/contests/spring")
    assert command is not None
    name = shlex.split(command)[1]
    assert cli.get_command(click.Context(cli), name) is not None


@pytest.mark.parametrize(
    ("job", "dimensions", "command"),
    [
        ("judge_contest", {"contest": "c", "judge": "j"}, "judge-pipeline run 'my data/c' --judges j"),
        ("__ASSET_JOB", {"contest": "c"}, "judge-pipeline run 'my data/c'"),
        ("canary", {"contest": "c", "judge": "j"}, "judge-pipeline canary c --judges j"),
        ("compare_contests", {}, "judge-pipeline leaderboard"),
        ("__ASSET_JOB", {"preference_set": "s", "judge": "j"}, "judge-pipeline preference 'my data/c' --judges j"),
        ("__ASSET_JOB", {"preference_set": "s", "judge": "j@full"}, "judge-pipeline criteria 'my data/c' --judges j"),
        ("__ASSET_JOB", {}, None),
    ],
)
def test_the_command_that_does_the_rest(job: str, dimensions: dict[str, str], command: str | None) -> None:
    assert retry_command(job, dimensions, "my data/c") == command


def test_without_a_folder_there_is_no_command() -> None:
    assert retry_command("judge_contest", {"contest": "c"}, None) is None
