from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.preference.fenced_code import (
    code_in,
    fenced_blocks,
    languages_in,
    named_language,
    tagged_language,
)


def test_blocks_with_their_tags() -> None:
    text = "Do:\n```python\nx = 1\n\ny = 2\n```\nor\n~~~ js title\nlet z\n~~~\nand `inline ``` no`\n"
    assert [(b.tag, b.code) for b in fenced_blocks(text)] == [("python", "x = 1\n\ny = 2"), ("js", "let z")]
    assert languages_in(text) == {"python", "javascript"}
    assert code_in(text) == "x = 1\n\ny = 2\nlet z"


def test_a_longer_fence_holds_a_shorter_one_and_an_open_one_ends_with_the_text() -> None:
    assert [b.code for b in fenced_blocks("````md\n```py\n1\n```\n````\n")] == ["```py\n1\n```"]
    assert [(b.tag, b.code) for b in fenced_blocks("```c\nint x;")] == [("c", "int x;")]
    assert fenced_blocks("no fence, ```python here") == []
    assert code_in("plain") is None


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("Python3", "python"), ("py", "python"), ("{.python}", "python"), ("python:main.py", "python"), ("C++", "cpp"),
        ("c#", "c_sharp"), ("tsx", "typescript"), ("{r}", "r"), ("text", None), ("plaintext", None), ("", None),
        ("markdown", None), ("unheard-of", None),
    ],
)  # fmt: skip
def test_tags(tag: str, language: str | None) -> None:
    assert tagged_language(tag) == language


def test_a_stated_language_keeps_its_name_where_it_is_unknown() -> None:
    assert [named_language(n) for n in ("Python", "Brainfuck", " ", None)] == ["python", "brainfuck", None, None]


@given(st.text("ab\n`~ ", max_size=60))
def test_no_code_is_invented(text: str) -> None:
    lines = text.splitlines()
    for block in fenced_blocks(text):
        assert all(line in lines for line in block.code.split("\n") if line)
