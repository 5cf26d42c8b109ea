"""What is parsed: the same text as the ``codebleu`` package parses, character by character."""

from __future__ import annotations

import random
import sys
import time

import pytest
from codebleu.parser import remove_comments_and_docstrings
from hypothesis import example, given, settings
from hypothesis import strategies as st

from judge_pipeline.similarity.comment_removal import without_comments
from judge_pipeline.similarity.python_comments import _spans_to_drop
from judge_pipeline_tests.similarity.made_texts import edited, pieces, sample_programs


def by_package(source: str, grammar: str) -> str:
    try:
        return str(remove_comments_and_docstrings(source, grammar))
    except Exception:  # noqa: BLE001 - whichever it is, the package goes on with the source
        return source


@pytest.mark.parametrize("grammar", ["python", "cpp", "java", "ruby"])
def test_sample_programs_lose_what_the_package_takes_away(grammar: str) -> None:
    rng = random.Random(4)
    for program in sample_programs("python" if grammar == "ruby" else grammar):
        for n_edits in (0, 1, 3):
            source = edited(program, rng, n_edits).strip()
            assert without_comments(source, grammar) == by_package(source, grammar)


@settings(deadline=None, max_examples=300)
@given(pieces("python"))
@example("x = 1 # c \r\ny = 2")
@example("if x:\n\ta\n\tb")
@example("x = 1 + \\\n    2")
@example('def f():\n    # c\n    """d"""')
@example('x\n\n    "s"')
@example("x = (\n's')")
@example('ur"x"')
@example('xr"""y"""')
@example("if x:\n    a\n  b")
@example("'a\\\nb'")
def test_python_is_the_text_that_the_package_makes_of_tokens(source: str) -> None:
    source = source.strip()
    assert without_comments(source, "python") == by_package(source, "python")


@settings(deadline=None)
@given(st.one_of(pieces("cpp"), pieces("java"), st.text("/*'\"\\\n a", max_size=30)))
def test_other_languages_lose_what_looks_like_a_comment(source: str) -> None:
    assert without_comments(source, "cpp") == by_package(source, "cpp")


@pytest.mark.parametrize("source", ["'\\" * 30_000, '"\\' * 30_000, "/*" * 30_000, "'\"" * 30_000 + "/*"])
def test_hostile_texts_take_no_time(source: str) -> None:
    started = time.process_time()
    for grammar in ("cpp", "python"):
        without_comments(source, grammar)
    assert time.process_time() - started < 5
    short = source[:500]
    assert without_comments(short, "cpp") == by_package(short, "cpp")


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="from 3.12 on the tokenizer is fast, and used for all programs")
def test_plain_programs_need_no_tokenizer() -> None:
    programs = sample_programs("python")
    assert sum(_spans_to_drop(program.strip()) is not None for program in programs) == len(programs)
    assert _spans_to_drop("if x:\n\ty") is None
