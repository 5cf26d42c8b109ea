from __future__ import annotations

import io
import time
import tokenize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.ingest.comments import comment_mark, comment_spans


def comments(source: str, language: str | None) -> list[str]:
    return [source[start:end] for start, end in comment_spans(source, language)]


@pytest.mark.parametrize(
    ("language", "mark"),
    [
        ("C++ 20 (gcc 12.2)", "//"), ("GNU G++17 7.3.0", "//"), ("C (GCC 9.2.1)", "//"), ("C# (.NET 7)", "//"),
        ("Java11 (OpenJDK)", "//"), ("Rust (1.70)", "//"), ("Go (1.20)", "//"), ("Python (3.8.2)", "#"),
        ("PyPy3 (7.3.0)", "#"), ("Ruby (3.2)", "#"), ("Haskell (GHC 9)", "--"), ("F# (7)", "//"), ("Bash (5)", "#"),
        ("OCaml (5.0)", None), ("Brainfuck", None), ("Text (cat)", None), ("", None), ("C++14", "//"), ("JAVA", "//"),
    ],
)  # fmt: skip
def test_languages_as_sites_name_them(language: str, mark: str | None) -> None:
    assert comment_mark(language) == mark


@pytest.mark.parametrize(
    ("source", "mark"),
    [
        ("#include <cstdio>\nint main() {}", "//"),
        ("n = int(input())\nfor i in range(n):\n    print(i)", "#"),
        ("import sys\n", "#"),
        ("42", None),
    ],
)
def test_an_unstated_language_is_told_by_the_source(source: str, mark: str | None) -> None:
    assert comment_mark(None, source) == mark


def test_comments_of_c_and_none_of_what_only_looks_like_one() -> None:
    source = (
        'int a; // one\nchar *s = "// no"; char c = \'"\'; /* two\nlines */ auto r = R"x(// no )" /* no */)x"; // three'
    )
    assert comments(source, "C++") == ["// one", "/* two\nlines */", "// three"]


def test_comments_of_python_with_docstrings_and_no_strings() -> None:
    source = (
        '"""Head."""\nx = "# no"  # one\ny = """# no\n"""\ndef f():\n    \'\'\'doc # inside\'\'\'\n    return 1 # two\n'
    )
    assert [c.strip() for c in comments(source, "Python")] == ['"""Head."""', "# one", "'''doc # inside'''", "# two"]


@given(
    st.lists(st.sampled_from(["x = 1", "s = '# a'", 's = "\\" # b"', "pass  # c", "t = 'it''s'", "# d"]), max_size=9)
)
def test_line_comments_of_python_are_those_of_its_tokenizer(lines: list[str]) -> None:
    source = "\n".join(lines) + "\n"
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    assert comments(source, "Python 3") == [token.string for token in tokens if token.type == tokenize.COMMENT]


@pytest.mark.parametrize("piece", ['R"(', "/*", '"""', "'''", '"', "'", "--[[", "{-", "\\"])
@pytest.mark.parametrize("language", ["C++", "Python", "Lua"])
def test_hostile_sources_take_no_long_time(piece: str, language: str) -> None:
    began = time.perf_counter()
    comment_spans(piece * 50_000, language)
    assert time.perf_counter() - began < 2
