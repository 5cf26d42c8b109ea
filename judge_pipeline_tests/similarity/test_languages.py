from __future__ import annotations

import pytest
from codebleu import AVAILABLE_LANGS

from judge_pipeline.similarity.grammars import keywords_of, new_parser, why_no_grammar
from judge_pipeline.similarity.languages import GRAMMARS, PACKAGE_GRAMMARS, programming_language

_NAMES: dict[str | None, list[str]] = {
    "cpp": [
        "C++17 (GCC 9.2.1)", "GNU C++14", "GNU G++17 7.3.0", "C++ 20 (gcc 12.2)", "cpp", "Clang++17 Diagnostics",
        "C ++", "MS C++ 2017", "Microsoft Visual C++ 2010", "CPP14", "C++ IOI-Style(GNU++14)", "C++23 (Clang 16.0.6)",
    ],
    "c": ["C", "C11", "GNU GCC C11 5.1.0", "C (GCC 9.2.1)", "gcc", "GNU C11", "Clang C"],
    "python": ["PyPy3", "PyPy 3-64", "Python (3.8.2)", "Python 2", "CPython 3.11.4", "Python (CPython 3.11)"],
    "java": ["Java 21", "Java11 (OpenJDK 11.0.6)", "JAVA", "OpenJDK 17"],
    "javascript": ["JavaScript (Node.js 18.16.1)", "Node.js", "JavaScript V8 4.8.0"],
    "c_sharp": ["C# (.NET Core 3.1.201)", "C# 8", "Mono C#", ".NET Core C#", "c_sharp", "C Sharp"],
    "typescript": ["TypeScript 5.1 (Node.js 18.16.1)", "TypeScript 5.1 (Deno 1.35.1)"],
    "kotlin": ["Kotlin 1.7", "Kotlin (Kotlin/JVM 1.8.20)"], "scala": ["Scala 2.12.8", "Scala3 (Dotty 3.3.0)"],
    "swift": ["Swift (5.8.1)"], "haskell": ["Haskell GHC 8.10.1", "Haskell (GHC 9.4.5)"], "ocaml": ["OCaml 4.02.1"],
    "julia": ["Julia (1.9.2)"], "lua": ["Lua (Lua 5.4.6)", "LuaJIT (2.1.0)"],
    "php": ["PHP 7.2.13"], "go": ["Go (1.20.6)", "Golang 1.22"], "ruby": ["Ruby 3.2"], "rust": ["Rust 2021"],
    None: [
        "Objective-C (Clang10.0.1)", "F# 4", "F #", "D (GDC 9.2.1)", "Free Pascal 3.2", "Perl (5.36.0)",
        "Visual Basic (.NET Core 3.1.101)", "Cython (0.29.16)", "Fortran (GCC)", "Text", "Microsoft", "", " ", "한국어",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("language", "name"), [(language, name) for language in _NAMES for name in _NAMES[language]])
def test_names_of_contest_sites(language: str | None, name: str) -> None:
    assert programming_language(name) == language


def test_a_language_that_is_not_stated_is_not_guessed() -> None:
    assert programming_language(None) is None


def test_every_language_of_codebleu_has_its_grammar_and_keywords() -> None:
    assert set(AVAILABLE_LANGS) <= set(GRAMMARS)
    assert {GRAMMARS[language] for language in AVAILABLE_LANGS} == PACKAGE_GRAMMARS
    assert {language for language, grammar in GRAMMARS.items() if language != grammar} == {"c"}
    for grammar in set(GRAMMARS.values()):
        assert len(keywords_of(grammar)) >= 19


@pytest.mark.parametrize("language", sorted(GRAMMARS))
def test_every_grammar_is_installed_and_parses(language: str) -> None:
    assert why_no_grammar(language) is None
    assert new_parser(GRAMMARS[language]).parse(b"x").root_node.child_count


@pytest.mark.parametrize(
    ("grammar", "some"),
    [
        ("typescript", "interface type enum const readonly keyof async while"),
        ("kotlin", "fun val var when data object if for while return"),
        ("scala", "def val var object trait match case given"),
        ("swift", "func let var guard struct extension protocol import"),
        ("haskell", "where let in case of data class instance deriving"),
        ("ocaml", "let rec match with fun function module begin end"),
        ("julia", "function end struct mutable for while if elseif"),
        ("lua", "local function end if then elseif for while repeat until"),
    ],
)
def test_keywords_of_other_languages_are_those_of_the_grammar(grammar: str, some: str) -> None:
    keywords = keywords_of(grammar)
    assert keywords.issuperset(some.split())
    assert not [word for word in keywords if not (word.isidentifier() and len(word) > 1)]
    assert keywords.isdisjoint(["identifier", "expression", "declaration", "end_of_file", "comment"])
