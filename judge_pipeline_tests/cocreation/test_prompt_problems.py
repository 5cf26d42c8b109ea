from __future__ import annotations

import pytest

from judge_pipeline.cocreation.prompt_problems import ProblemNames


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Solve P3 please", {"P3"}),
        ("p3 and P12 fail", {"P3", "P12"}),
        ("P31 is none of ours, nor is XP3", set()),
        ("A friend said a loop is enough", set()),
        ("problem A is hard", {"A"}),
        ("Problem: A", {"A"}),
        ("I have a problem a friend could not solve", set()),
        ("A. Watermelon\nRead n", {"A"}),
        ("  A) first", {"A"}),
        ("1. read\n12. write", set()),
        ("task 12 gives TLE", {"12"}),
        ("12번 문제 틀렸어요", {"12"}),
        ("問題Aを解いて", {"A"}),
        ("#12 again", {"12"}),
        ("give me two_sum in C", {"two-sum"}),
        ("give me two sum", {"two-sum"}),
        ("give me two, sum", set()),
        ("sort the list", set()),
        ("the problem sort is easy", {"sort"}),
        ("最短路問題を解く", {"最短路"}),
        ("abc300_a please", {"abc300_a"}),
        ("Watermelon eaters", set()),
        ("problem Watermelon", {"A"}),
        ("Big Tree of problem", {"P3"}),
        ("", set()),
    ],
)
def test_what_a_text_speaks_of(text: str, expected: set[str]) -> None:
    ids = ["P3", "P12", "A", "12", "two-sum", "sort", "最短路", "abc300_a"]
    names = ProblemNames(ids, {"Watermelon": "A", "Big Tree": "P3", "Other": "elsewhere"})
    assert names.mentioned_in(text) == expected


@pytest.mark.parametrize(
    ("log", "expected"),
    [("P3.json", {"P3"}), ("a/chat.md", set()), ("A/chat.md", {"A"}), ("12/chat_A.md", {"A", "12"}), ("x.md", set())],
)
def test_what_a_log_is_named_after(log: str, expected: set[str]) -> None:
    assert ProblemNames(["P3", "A", "12"]).named_in(log) == expected
