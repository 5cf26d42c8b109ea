"""The programs behind the sample contest: verdicts can be reproduced, and typing in again changes names only."""

from __future__ import annotations

import os
import random
from collections import defaultdict
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.samples.making.catalogue import Problem, problems, programs
from judge_pipeline.samples.making.execution import compare, execute, missing_tool
from judge_pipeline.samples.making.people import participants
from judge_pipeline.samples.making.retype import Style, retype, tokens
from judge_pipeline.samples.making.run_programs import Submission, recorded_outcomes, run, submissions

RUN_ALL = "JUDGE_PIPELINE_RUN_ALL_PROGRAMS"
SAMPLE_SEED = 7
PER_KIND = 2
"""Of each language and verdict; of programs that run out of time, which take long by nature, one."""
EVERY_PROGRAM = [program for problem_id in problems() for program in programs(problem_id).values()]
STYLES = st.builds(
    Style,
    naming=st.sampled_from(["as_is", "short", "plain", "romaji"]),
    indent=st.sampled_from(["  ", "    ", "\t"]),
    braces=st.sampled_from(["same", "next"]),
    tight=st.booleans(),
    comments=st.booleans(),
    airy=st.booleans(),
)


def to_run() -> list[Submission]:
    """Everything where the environment asks for it, else some of each language and verdict, drawn with a seed."""
    if os.environ.get(RUN_ALL):
        return submissions()
    kinds = defaultdict(list)
    for submission in submissions():
        kinds[submission.language, recorded_outcomes()[submission.source_sha256].verdict].append(submission)
    rng = random.Random(SAMPLE_SEED)
    wanted = {kind: min(len(some), 1 if kind[1] == "TLE" else PER_KIND) for kind, some in kinds.items()}
    return [one for kind, some in sorted(kinds.items()) for one in rng.sample(some, wanted[kind])]


@pytest.mark.slow
@pytest.mark.parametrize("language", ["C", "C++", "Java", "Python"])
def test_running_again_gives_the_recorded_verdicts(language: str) -> None:
    lacking = missing_tool(language)
    if lacking:
        pytest.skip(f"{language} programs cannot be run here: {lacking} is missing")
    some = [submission for submission in to_run() if submission.language == language]
    assert some
    for submission in some:
        now, recorded = run(submission), recorded_outcomes()[submission.source_sha256]
        about = f"{submission.problem_id} {submission.source_sha256}: {now}"
        assert (now.verdict, now.tests) == (recorded.verdict, recorded.tests), about


def test_recorded_verdicts_follow_from_the_tests() -> None:
    assert recorded_outcomes().keys() == {submission.source_sha256 for submission in submissions()}
    for submission in submissions():
        outcome = recorded_outcomes()[submission.source_sha256]
        wanted = len(problems()[submission.problem_id].tests)
        if outcome.verdict == "CE":
            assert outcome.tests == ()
        else:
            assert len(outcome.tests) == wanted
            assert outcome.verdict == next((v for v in outcome.tests if v != "AC"), "AC")


def test_accepted_programs_are_far_from_the_limits() -> None:
    for submission in submissions():
        outcome, problem = recorded_outcomes()[submission.source_sha256], problems()[submission.problem_id]
        if outcome.verdict == "AC":
            assert outcome.cpu_ms < problem.time_limit_s * 1000 / 3
            assert outcome.memory_kb < problem.memory_limit_mb * 1024 / 2


def test_planned_mistakes_are_mistakes_and_only_they() -> None:
    """A version with a mistake in the plan was never accepted, and one without always."""
    from judge_pipeline.samples.making.plan import planned_attempts

    for attempt in planned_attempts():
        accepted = recorded_outcomes()[attempt.source_sha256].verdict == "AC"
        assert accepted == (not attempt.version.faults), (attempt.participant.name, attempt.problem_id, attempt.turn)


@pytest.mark.parametrize("program", EVERY_PROGRAM, ids=lambda program: program.key)
def test_tokens_cover_the_source(program) -> None:  # type: ignore[no-untyped-def]
    assert "".join(token.text for token in tokens(program.text, program.language)) == program.text


@given(st.sampled_from(EVERY_PROGRAM), STYLES, st.sampled_from(sorted(participants())))
def test_typing_in_again_changes_names_only(program, style: Style, hand: str) -> None:  # type: ignore[no-untyped-def]
    """The same tokens in the same order but for names, one new name for each old one, and strings as they were."""
    again = retype(program.text, program.language, style, hand)

    def solid(text: str) -> list[tuple[str, str]]:
        skipped = ("blank", "newline", "comment")
        return [(t.kind, t.text) for t in tokens(text, program.language) if t.kind not in skipped]

    before, after = solid(program.text), solid(again)
    assert len(before) == len(after)
    renamed: dict[str, str] = {}
    for (kind, old), (new_kind, new) in zip(before, after, strict=True):
        assert kind == new_kind
        if kind == "name":
            assert renamed.setdefault(old, new) == new
        else:
            assert old == new
    assert len(set(renamed.values())) == len(renamed)
    if style.naming == "as_is":
        assert all(old == new for old, new in renamed.items())


@pytest.mark.parametrize(
    ("printed", "verdict"),
    [
        *[("1 2\n3\n", "AC"), ("1 2 \n3", "AC"), ("1 2\n3\n\n", "AC"), ("1 2 3\n", "PE"), ("1  2\n3\n", "PE")],
        *[("1 2\n4\n", "WA"), ("", "WA"), ("1 2\n", "WA"), ("12\n3\n", "WA")],
    ],
)
def test_compare(printed: str, verdict: str) -> None:
    assert compare(printed, "1 2\n3\n") == verdict


HOSTILE = {
    "loops for ever": ("while True:\n    pass\n", "TLE"),
    "takes all memory": ("data = [0] * 10**9\n", "MLE"),
    "floods the output": ("while True:\n    print('x' * 10**6)\n", "RE"),
    "reads elsewhere": ("print(open('/nonexistent-file').read())\n", "RE"),
    "does not parse": ("print(\n", "CE"),
    "says nothing": ("\n", "WA"),
}


@pytest.mark.slow
@pytest.mark.skipif(missing_tool("Python") is not None, reason="limits rely on Linux")
@pytest.mark.parametrize("what", sorted(HOSTILE))
def test_limits_hold(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source, verdict = HOSTILE[what]
    problem = replace(problems()["P01"], time_limit_s=1.0)
    monkeypatch.setattr(Problem, "tests", problem.tests[:1])
    outcome = execute(source, "Python", problem)
    assert outcome.verdict == verdict
    assert len(outcome.tests) == (verdict != "CE")
