"""Programs and broken pieces of programs, to compare with the ``codebleu`` package."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

from codebleu import bleu, weighted_ngram_match
from codebleu.codebleu import calc_codebleu
from codebleu.syntax_match import corpus_syntax_match
from hypothesis import strategies as st

from judge_pipeline.similarity.comment_removal import without_comments
from judge_pipeline.similarity.grammars import keywords_of, new_parser
from judge_pipeline_tests.conftest import CHECKOUT

WEIGHTS = (1 / 3, 1 / 3, 1 / 3, 0.0)
TERMS = ("ngram", "weighted_ngram", "syntax")
ENDINGS = {"python": "py", "cpp": "cpp", "c": "c", "java": "java"}
ENDINGS_HERE = {
    "c_sharp": "cs", "javascript": "js", "php": "php", "go": "go", "ruby": "rb", "rust": "rs", "typescript": "ts",
    "kotlin": "kt", "scala": "scala", "swift": "swift", "haskell": "hs", "ocaml": "ml", "julia": "jl", "lua": "lua",
}  # fmt: skip
"""Languages of which the sample contest has no program: there is one beside this file."""

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


def program_here(language: str) -> str:
    """A whole program with comments, and with strings that look as if they held some."""
    return (Path(__file__).parent / "programs" / f"two_sum.{ENDINGS_HERE[language]}").read_text(encoding="utf-8")


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


def by_parts_of_package(reference: str, candidate: str, grammar: str) -> list[float]:
    """The same in a language that the package does not know: its functions, given our grammar and keywords."""
    reference, candidate = reference.strip(), candidate.strip()
    tokens, made = reference.split(), candidate.split()
    weights = {token: 1 if token in keywords_of(grammar) else 0.2 for token in tokens}
    bare = [without_comments(text, grammar) for text in (reference, candidate)]
    # Of Ruby the package removes no comments, and so not of these texts, in which there are none any more.
    syntax = corpus_syntax_match([[bare[0]]], [bare[1]], "ruby", new_parser(grammar).language)
    terms = [
        bleu.corpus_bleu([[tokens]], [made]),
        weighted_ngram_match.corpus_bleu([[[tokens, weights]]], [made]),
        syntax,
    ]
    return [sum(terms) / 3, *terms]
