"""Programming languages by the names that contest sites give them, and the grammar that each is compared by."""

from __future__ import annotations

import re
from collections.abc import Mapping

GRAMMARS: Mapping[str, str] = {
    "python": "python", "c": "cpp", "cpp": "cpp", "java": "java", "c_sharp": "c_sharp", "javascript": "javascript",
    "php": "php", "go": "go", "ruby": "ruby", "rust": "rust", "typescript": "typescript", "kotlin": "kotlin",
    "scala": "scala", "swift": "swift", "haskell": "haskell", "ocaml": "ocaml", "julia": "julia", "lua": "lua",
}  # fmt: skip
"""The grammar of each language that is compared. C is scored as C++, as in the paper (VI-B6)."""

PACKAGE_GRAMMARS = frozenset(["python", "cpp", "java", "c_sharp", "javascript", "php", "go", "ruby", "rust"])
"""Grammars of which the ``codebleu`` package has keywords and a way to remove comments; others have ours."""

_NAMES: Mapping[str, str] = {
    "python": "python cpython py pypy", "c": "c", "cpp": "c++ cpp cc cxx g++ gnu++ clang++", "java": "java openjdk",
    "c_sharp": "c# csharp cs mono dotnet net", "javascript": "javascript js node nodejs ecmascript", "php": "php",
    "go": "go golang", "ruby": "ruby rb jruby", "rust": "rust rs rustc", "typescript": "typescript ts",
    "kotlin": "kotlin kt", "scala": "scala", "swift": "swift", "haskell": "haskell hs ghc", "ocaml": "ocaml",
    "julia": "julia jl", "lua": "lua luajit",
}  # fmt: skip
_LANGUAGE_OF: Mapping[str, str] = {name: language for language, names in _NAMES.items() for name in names.split()}

_MAKERS = frozenset(["gnu", "gcc", "clang", "ms", "microsoft", "msvc", "visual", "apple", "llvm", "intel", "oracle"])
"""Words that stand before a language's name and say whose compiler it is."""

_C_COMPILERS = frozenset(["gnu", "gcc", "clang"])
"""Makers whose name alone means C."""

_WORD = re.compile(r"[a-z]+(?:\+\+|#)?")


def programming_language(name: str | None) -> str | None:
    """The language that a contest site's name means, without version and compiler: a key of GRAMMARS.

    ``C++17 (GCC 9.2.1)``, ``GNU G++20`` and ``cpp`` are ``cpp``, ``PyPy3`` is ``python``, ``gcc`` is ``c``.

    Args:
        name: the name as it stands in the table of attempts; None where none is stated.

    Returns:
        None where no name is stated or the language is another one (Pascal, D, Visual Basic, Objective-C): none is
        guessed from its compiler or its relatives.
    """
    if not isinstance(name, str):
        return None
    # "C #", "C ++" and "c_sharp" are seen, too.
    spelt = re.sub(r"(?<=[cfj])\s+(?=\+\+|#)", "", re.sub(r"(?<=\b[cfj])[ _-]sharp\b", "#", name.lower()))
    words = _WORD.findall(spelt)
    named = [word for word in words if word not in _MAKERS]
    if not named:
        return "c" if _C_COMPILERS.intersection(words) else None
    return _LANGUAGE_OF.get(named[0])
