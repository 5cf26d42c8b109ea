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
from judge_pipeline.similarity.grammars import new_parser
from judge_pipeline.similarity.languages import PACKAGE_GRAMMARS
from judge_pipeline.similarity.python_comments import _spans_to_drop
from judge_pipeline_tests.similarity.made_texts import (
    ENDINGS_HERE,
    edited,
    pieces,
    program_here,
    sample_programs,
)


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


_OTHERS = sorted(set(ENDINGS_HERE) - PACKAGE_GRAMMARS)


@pytest.mark.parametrize("language", _OTHERS)
def test_in_other_languages_comments_go_and_strings_stay(language: str) -> None:
    program = program_here(language)
    bare = without_comments(program, language)
    for words in ("Finds two", "nested", "one based", "value\nto place"):
        assert words not in bare
    assert without_comments(bare, language).split() == bare.split()
    tree = new_parser(language).parse(bare.encode()).root_node
    assert not tree.has_error
    assert "comment" not in str(tree)
    marks = {"haskell": "-1 -- none", "ocaml": "-1 (* none *)", "julia": "-1 # none", "lua": "-1 -- none"}
    if language in marks:
        assert f'"{marks[language]}"' in bare


@pytest.mark.parametrize(
    ("language", "program", "bare"),
    [
        ("haskell", "main = print (2 {- a {- b -} c -} + 3) -- é 𝄞\n", "main = print (2   + 3)  "),
        ("lua", "x = 7 // 2 --[==[ a ]] b\n]==] y = '--'\n-- c\n", "x = 7 // 2   y = '--'"),
        ("julia", "x = 1 // 2 #= a #= b =# =# + 3 # é\n", "x = 1 // 2   + 3  "),
        ("ocaml", 'let x = "(* é *)" (* a (* b *) "*)" *) ;;\n', 'let x = "(* é *)"   ;;'),
        ("kotlin", "val x = 1 /* a /* b */ c */ + 2 // d\n", "val x = 1   + 2  "),
        ("typescript", "let x = 1; // a\n\n/* b\n c */ let y = `//`;\n", "let x = 1;  \n  let y = `//`;"),
    ],
)
def test_nested_and_long_comments_of_other_languages(language: str, program: str, bare: str) -> None:
    assert without_comments(program, language) == bare


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(_OTHERS), st.integers(0, 2**32))
def test_broken_programs_of_other_languages_lose_nothing_but_comments(language: str, seed: int) -> None:
    program = edited(program_here(language), random.Random(seed), 4)
    bare = without_comments(program, language)
    left = iter(program)
    assert all(character in left for character in bare if not character.isspace())
