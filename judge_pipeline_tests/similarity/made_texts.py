"""Programs and broken pieces of programs, to compare with the ``codebleu`` package."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache

from codebleu.codebleu import calc_codebleu
from hypothesis import strategies as st

from judge_pipeline_tests.conftest import CHECKOUT

WEIGHTS = (1 / 3, 1 / 3, 1 / 3, 0.0)
TERMS = ("ngram", "weighted_ngram", "syntax")
ENDINGS = {"python": "py", "cpp": "cpp", "c": "c", "java": "java"}

_PIECES = {
    "python": """if x : else elif def f ( ) , class lambda for in not is and with as try except finally return pass
        yield async await match case _ = == != + - * ** @ [ ] { } . ; 1 1.5 0x1f 'a' "b" f"{x}" r'c' br"d" True None
        import print global del raise assert while break continue""",
    "cpp": """if x ; else ( ) { } class int long template < > >> :: -> . , * & = == + ++ [ ] # new delete return for
        while do switch case : break const auto using namespace std operator 1 1.5f 'a' "b" L"c" R"(d)" cout cin endl
        NULL #include #define #if #endif try catch throw static inline struct typename""",
    "java": """if x ; else ( ) { } class int long < > :: -> . , = == + ++ [ ] @ new return for while do switch case :
        break final public static void import package enum interface extends 1 1.5f 'a' "b" instanceof try catch
        throw throws this super var record yield true null""",
}
_SPACES = [" ", " ", " ", "", "\n", "\n    ", "\n        ", "\t", "\n\n", "\r\n", "\f", "\\\n"]
_COMMENTS = [
    "# c", "// c\n", "/* c */", "/*", "*/", '"""', "'''", "'", '"', '\n"""d\n\n  d"""\n', "\n    's'\n", "é", "𝄞", "$",
    "?", "\x00",
]  # fmt: skip


@cache
def sample_programs(language: str) -> tuple[str, ...]:
    """The programs of the sample contest in a language."""
    folder = CHECKOUT / "judge_pipeline/samples/making/programs"
    return tuple(path.read_text(encoding="utf-8") for path in sorted(folder.glob(f"*/*.{ENDINGS[language]}")))


def pieces(grammar: str) -> st.SearchStrategy[str]:
    """Words of a language, and what breaks readers, in any order and spacing."""
    part = st.sampled_from([*_PIECES[grammar].split(), *_COMMENTS])
    return st.lists(st.tuples(part, st.sampled_from(_SPACES)), max_size=30).map(
        lambda parts: "".join(word + space for word, space in parts)
    )


def edited(source: str, rng: random.Random, n_edits: int) -> str:
    """A program with pieces put in, or lines and characters taken out, anywhere."""
    for _ in range(n_edits):
        at = rng.randrange(len(source) + 1)
        source = (
            source[:at]
            + rng.choice([*_SPACES, *_COMMENTS, "(", ")", "{", "}", ";", ":"])
            + source[at + rng.choice([0, 1, 40]) :]
        )
    return source


def by_package(
    reference: str, candidate: str, grammar: str, tokenizer: Callable[[str], list[str]] | None = None
) -> list[float]:
    """CodeBLEU and its terms as the package has them."""
    found = calc_codebleu([reference], [candidate], grammar, WEIGHTS, tokenizer)
    return [found[name] for name in ("codebleu", *(f"{term}_match_score" for term in TERMS))]
