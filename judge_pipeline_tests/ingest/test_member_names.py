"""Names in a judge's export: read where they can be divided in one way, else not at all."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.ingest.member_names import read_names
from judge_pipeline.settings import ContestSettings

_DEFAULT = ContestSettings().archive_names


def _one(name: str, pattern: str = _DEFAULT, **known: set[str]) -> dict[str, str] | str:
    (said,) = read_names([name], pattern, {"grün": "AC"}, known)
    return said if isinstance(said, str) else dict(said[0])


@pytest.mark.parametrize(
    ("name", "pattern", "wanted"),
    [
        ("12_AC_team_A.cpp", _DEFAULT, "12 AC team A"),
        ("sub/dir/12_AC_team_A.cpp", _DEFAULT, "12 AC team A"),
        ("12_wrong-answer_team_A.py", _DEFAULT, "12 wrong-answer team A"),
        ("12_time_limit_exceeded_team_A.py", _DEFAULT, "12 time_limit_exceeded team A"),
        ("12_grün_team_A.py", _DEFAULT, "12 grün team A"),
        ("007_ac_チーム_問題1.java", _DEFAULT, "007 ac チーム 問題1"),
        ("A-team-WA-12.c", "{problem_id}-{participant}-{verdict}-{submission_id}", "12 WA team A"),
        ("team/A/12-AC.c", "{participant}/{problem_id}/{submission_id}-{verdict}", "12 AC team A"),
        ("run 12 (AC) team@A v2.c", "run {submission_id} ({verdict}) {participant}@{problem_id} v{other}",
         "12 AC team A"),
    ],
)  # fmt: skip
def test_what_names_say(name: str, pattern: str, wanted: str) -> None:
    said = _one(name, pattern)
    assert isinstance(said, dict), said
    keys = ("submission_id", "verdict", "participant", "problem_id")
    assert " ".join(said[key] for key in keys) == wanted


@pytest.mark.parametrize(
    "name",
    [
        "readme.txt", "12_AC_team.cpp", "12_nonsense_team_A.c", "_AC_team_A.c", "12_AC__A.c", "12_AC_team_.c", ".c", "",
        "12_AC2_team_A.c", "12_AC_" + "x" * 300 + "_A.c",
    ],
)  # fmt: skip
def test_names_of_another_form(name: str) -> None:
    assert _one(name) == "its name is not of the form"


def test_a_name_that_can_be_divided_in_two_ways_needs_others() -> None:
    assert _one("3_WA_team_two_A.c") == "its name can be divided in several ways by the form"
    assert _one("3_WA_team_two_A.c", problem_id={"A"}) == {
        "submission_id": "3", "verdict": "WA", "participant": "team_two", "problem_id": "A",
    }  # fmt: skip
    names = ["1_AC_one_A.c", "2_AC_one_two_B.c", "3_WA_team_two_A.c"]
    first, second, third = read_names(names, _DEFAULT, {}, {})
    assert not isinstance(first, str)
    assert not isinstance(third, str)
    assert (first[1], third[1], third[0]["participant"]) == (False, True, "team_two")
    assert isinstance(second, str)  # B or two_B: nothing tells
    (by_team,) = read_names(["2_AC_one_two_B.c"], _DEFAULT, {}, {"participant": {"one_two"}})
    assert not isinstance(by_team, str)
    assert by_team[0]["problem_id"] == "B"


_word = st.text(st.characters(categories=("L", "Nd"), max_codepoint=0x2FFF), min_size=1, max_size=8)


@settings(deadline=None)
@given(
    st.integers(0, 10**9), st.sampled_from(["AC", "WA", "TLE", "RE"]), _word, _word, st.sampled_from("_-~+"),
    st.permutations(["submission_id", "verdict", "participant", "problem_id"]),
)  # fmt: skip
def test_any_order_and_separator_without_the_separator_in_a_name(
    number: int, verdict: str, team: str, problem: str, mark: str, order: list[str]
) -> None:
    fields = {"submission_id": str(number), "verdict": verdict, "participant": team, "problem_id": problem}
    pattern = mark.join(f"{{{name}}}" for name in order)
    assert _one(mark.join(fields[name] for name in order) + ".cpp", pattern) == fields


@settings(deadline=None)
@given(st.lists(_word, min_size=1, max_size=3), st.lists(_word, min_size=1, max_size=3))
def test_a_name_is_never_read_wrong(team: list[str], problem: list[str]) -> None:
    """With separators in it, it is read as it was meant, or not at all."""
    meant = {"participant": "_".join(team), "problem_id": "_".join(problem)}
    said = _one(f"5_AC_{meant['participant']}_{meant['problem_id']}.c")
    if isinstance(said, dict):
        assert len(team) == len(problem) == 1
        assert {**said, **meant} == said
    said = _one(f"5_AC_{meant['participant']}_{meant['problem_id']}.c", problem_id={meant["problem_id"]})
    assert isinstance(said, dict)
    assert {**said, **meant} == said


def test_names_made_to_take_long() -> None:
    start = time.monotonic()
    pattern = "{other}_{participant}_{other}_{verdict}_{other}_{problem_id}"
    for name in ("_".join("a" * 120) + ".c", "_".join(["AC"] * 80), "_" * 250):
        read_names([name] * 50, pattern, {}, {})
    assert time.monotonic() - start < 10


@pytest.mark.parametrize(
    "pattern",
    ["", "abc", "{verdict}{problem_id}", "{verdict}_{verdict}", "{team}_{verdict}", "{verdict", "{verdict}_{}"],
)
def test_patterns_that_cannot_be_used_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"must (?:be made of|name each field once)"):
        ContestSettings(archive_names=pattern)
