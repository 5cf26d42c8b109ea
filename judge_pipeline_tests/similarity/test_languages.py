from __future__ import annotations

import pytest
from codebleu import AVAILABLE_LANGS

from judge_pipeline.similarity.grammars import keywords_of, new_parser, why_no_grammar
from judge_pipeline.similarity.languages import GRAMMARS, programming_language

_NAMES: dict[str | None, list[str]] = {
    "cpp": [
        "C++17 (GCC 9.2.1)", "GNU C++14", "GNU G++17 7.3.0", "C++ 20 (gcc 12.2)", "cpp", "Clang++17 Diagnostics",
        "C ++", "MS C++ 2017", "Microsoft Visual C++ 2010", "CPP14", "C++ IOI-Style(GNU++14)", "C++23 (Clang 16.0.6)",
    ],
    "c": ["C", "C11", "GNU GCC C11 5.1.0", "C (GCC 9.2.1)", "gcc", "GNU C11", "Clang C"],
    "python": ["PyPy3", "PyPy 3-64", "Python (3.8.2)", "Python 2", "CPython 3.11.4", "Python (CPython 3.11)"],
    "java": ["Java 21", "Java11 (OpenJDK 11.0.6)", "JAVA", "OpenJDK 17"],
    "javascript": ["JavaScript (Node.js 18.16.1)", "Node.js", "JavaScript V8 4.8.0"],
    "c_sharp": ["C# (.NET Core 3.1.201)", "C# 8", "Mono C#", ".NET Core C#"],
    "php": ["PHP 7.2.13"], "go": ["Go (1.20.6)", "Golang 1.22"], "ruby": ["Ruby 3.2"], "rust": ["Rust 2021"],
    None: [
        "TypeScript 5.1 (Node.js 18.16.1)", "Objective-C (Clang10.0.1)", "F# 4", "F #", "Kotlin 1.7", "D (GDC 9.2.1)",
        "Visual Basic (.NET Core 3.1.101)", "Cython (0.29.16)", "Fortran (GCC)", "Text", "Microsoft", "", " ", "한국어",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("language", "name"), [(language, name) for language in _NAMES for name in _NAMES[language]])
def test_names_of_contest_sites(language: str | None, name: str) -> None:
    assert programming_language(name) == language


def test_a_language_that_is_not_stated_is_not_guessed() -> None:
    assert programming_language(None) is None


def test_every_language_of_codebleu_has_its_grammar_and_keywords() -> None:
    assert set(GRAMMARS) == set(AVAILABLE_LANGS)
    assert {language for language, grammar in GRAMMARS.items() if language != grammar} == {"c"}
    for grammar in set(GRAMMARS.values()):
        assert len(keywords_of(grammar)) > 20


def test_installed_grammars_parse_and_others_say_what_they_lack() -> None:
    assert why_no_grammar("c") is None
    for language, grammar in GRAMMARS.items():
        reason = why_no_grammar(language)
        if reason is None:
            assert new_parser(grammar).parse(b"x").root_node.child_count
        else:
            assert "package tree-sitter-" in reason
