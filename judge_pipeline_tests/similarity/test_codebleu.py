"""CodeBLEU against the ``codebleu`` package, and where the two are meant to differ."""

from __future__ import annotations

import math
import random
import re
import time
from collections import defaultdict
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from judge_pipeline.ingest.records import SubmissionRecord
from judge_pipeline.ingest.submissions import read_submissions
from judge_pipeline.settings import ContestSettings
from judge_pipeline.similarity import grammars
from judge_pipeline.similarity.codebleu import codebleu_similarities
from judge_pipeline.similarity.languages import GRAMMARS, PACKAGE_GRAMMARS, programming_language
from judge_pipeline.similarity.program import ProgramCache
from judge_pipeline.similarity.tokens import TOKENIZERS
from judge_pipeline_tests.similarity.made_texts import (
    ENDINGS_HERE,
    TERMS,
    by_package,
    by_parts_of_package,
    edited,
    pieces,
    program_here,
    sample_programs,
)

_SCORES = ["codebleu", *TERMS]
_LONG = "int a = b + c * d ;"


def scores(reference: str | None, candidate: str | None, language: str | None = "cpp", **options: str) -> pd.Series:
    return codebleu_similarities([reference], [candidate], [language], **options).iloc[0]  # type: ignore[arg-type]


def check(reference: str, candidate: str, grammar: str) -> None:
    found = scores(reference, candidate, grammar)
    assert found[_SCORES].tolist() == pytest.approx(by_package(reference, candidate, grammar), abs=1e-9)
    assert found[_SCORES].between(0, 1).all()
    assert found["reason"] is None


@pytest.mark.slow
@pytest.mark.parametrize("language", ["python", "cpp", "c", "java"])
def test_pairs_of_sample_programs_whole_and_broken(language: str) -> None:
    rng = random.Random(11)
    programs = sample_programs(language)
    pairs = list(pairwise(programs)) + [(program, edited(program, rng, 3)) for program in programs]
    found = codebleu_similarities([a for a, _ in pairs], [b for _, b in pairs], [language] * len(pairs))
    wanted = [by_package(a, b, GRAMMARS[language]) for a, b in pairs]
    np.testing.assert_allclose(found[_SCORES].to_numpy(float), wanted, rtol=0, atol=1e-9)
    assert not found["short"].any()


@pytest.mark.slow
@pytest.mark.parametrize("language", sorted(ENDINGS_HERE))
def test_pairs_in_every_other_language_whole_and_broken(language: str) -> None:
    rng = random.Random(12)
    program = program_here(language)
    programs = [program] + [edited(program, rng, n_edits) for n_edits in (1, 1, 1, 2, 3, 5, 8) * 3]
    pairs = [(a, b) for a, b in pairwise(programs) if a != b] + [(program, other) for other in programs[2:]]
    found = codebleu_similarities([a for a, _ in pairs], [b for _, b in pairs], [language] * len(pairs))
    oracle = by_package if language in PACKAGE_GRAMMARS else by_parts_of_package
    wanted = [oracle(a, b, language) for a, b in pairs]
    np.testing.assert_allclose(found[_SCORES].to_numpy(float), wanted, rtol=0, atol=1e-9)
    assert found["reason"].isna().all()
    assert found["syntax"].nunique() > 5


@pytest.mark.slow
def test_real_programs_of_contest_sites(shared: Path) -> None:
    by_language = defaultdict(set)
    folder = shared / "cases/submissions"
    for file in sorted(folder.rglob("*")):
        if file.suffix in (".html", ".htm", ".md", ".txt"):
            for record in read_submissions(file.read_bytes(), str(file.relative_to(folder)), ContestSettings()):
                if isinstance(record, SubmissionRecord) and record.source_code:
                    by_language[programming_language(record.language)].add(record.source_code)
    n_compared = 0
    for language, sources in by_language.items():
        if language and grammars.why_no_grammar(language) is None:
            for reference, candidate in product(sorted(sources), repeat=2):
                if reference != candidate:
                    check(reference, candidate, GRAMMARS[language])
                    n_compared += 1
    assert n_compared >= 20


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from(["python", "cpp", "java"]).flatmap(
        lambda name: st.tuples(st.just(name), pieces(name), pieces(name))
    )
)
@example(("cpp", "a", "b"))
@example(("cpp", "// c", "/* d */"))
@example(("python", "# c", "'d'"))
@example(("python", "x", "y z"))
@example(("java", "é 𝄞", "𝄞"))
def test_any_texts(case: tuple[str, str, str]) -> None:
    grammar, reference, candidate = case
    assume(reference.strip() and candidate.strip() and reference != candidate)
    check(reference, candidate, grammar)


@settings(deadline=None)
@given(st.text(max_size=20), st.text(max_size=20))
def test_any_unicode(reference: str, candidate: str) -> None:
    assume(reference.strip() and candidate.strip() and reference != candidate)
    check(reference, candidate, "python")


def test_it_is_not_symmetric() -> None:
    shorter, longer = "int a ; int b ;", "int a ; int b ; int c ; for ( ; ; ) { f ( ) ; }"
    assert scores(shorter, longer)["codebleu"] != pytest.approx(scores(longer, shorter)["codebleu"], abs=0.05)
    # All of the shorter one is found again in the longer one.
    assert scores(shorter, longer)["weighted_ngram"] == 1


@pytest.mark.parametrize("source", ["print(1)", "x", _LONG, "# only a comment", "print(\ud800)"])
def test_identical_programs_are_1(source: str) -> None:
    found = scores(source, source, "Python 3")
    assert found[_SCORES].tolist() == [1, 1, 1, 1]
    assert found["short"] == (len(source.split()) < 4)


@pytest.mark.parametrize("blank", ["", " \n\t "])
def test_against_an_empty_program_it_is_0_and_between_two_it_is_not_defined(blank: str) -> None:
    assert scores(blank, _LONG)[_SCORES].tolist() == [0, 0, 0, 0]
    assert scores(_LONG, blank)["codebleu"] == 0
    both = scores(blank, "")
    assert math.isnan(both["codebleu"])
    assert both["reason"] == "both programs are empty"


@pytest.mark.parametrize(
    ("reference", "candidate", "languages", "reason"),
    [
        (None, _LONG, ("C", "C"), "a program is missing"),
        (_LONG, float("nan"), ("C", "C"), "a program is missing"),
        (_LONG, _LONG, ("C", "C++17 (GCC 9.2.1)"), "the languages differ (c, cpp)"),
        (_LONG, "x", ("PyPy3", "Java 21"), "the languages differ (python, java)"),
        (_LONG, _LONG, (None, "C"), "the language is not stated"),
        (_LONG, _LONG, ("C", float("nan")), "the language is not stated"),
        ("", "", ("Free Pascal 3.2", "Free Pascal 3.2"), "CodeBLEU is not defined for Free Pascal 3.2"),
    ],
)
def test_what_cannot_be_compared_is_null_with_a_reason(
    reference: str, candidate: str, languages: tuple[str, str], reason: str
) -> None:
    found = codebleu_similarities([reference], [candidate], [languages[0]], [languages[1]]).iloc[0]
    assert found[_SCORES].isna().all()
    assert found["reason"] == reason


def test_a_language_without_an_installed_grammar_is_null(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammars, "find_spec", lambda _: None)
    found = scores(_LONG, "x", "C# (Mono, of this test alone)")
    assert math.isnan(found["codebleu"])
    assert found["reason"] == "no grammar of c_sharp is installed (package tree-sitter-c-sharp)"


def test_versions_and_compilers_of_one_language_are_compared() -> None:
    found = codebleu_similarities(
        [_LONG, "x = 1"], ["int a ;", "x = 2"], ["C++14 (GCC)", "PyPy3"], ["GNU G++20", "Python 3"]
    )
    assert found["reason"].isna().all()
    assert found["codebleu"][0] == pytest.approx(by_package(_LONG, "int a ;", "cpp")[0], abs=1e-9)


def test_lone_surrogates_are_scored() -> None:
    found = scores('print("\ud800", 1 + 2 + 3 + x)', 'print("\ud801", 1 + 2 + 3 + x)', "Python 3")
    alike = by_package('print("\ufffd", 1 + 2 + 3 + x)', 'print("\ufffd", 1 + 2 + 3 + x)', "python")
    assert found["syntax"] == alike[3] == 1
    assert 0 < found["codebleu"] < 1


def test_short_texts_are_flagged_and_scored_as_the_package_does() -> None:
    found = codebleu_similarities(["a b c", "a b c d"], ["a b c d", "a b c e"], ["C"] * 2)
    assert found["short"].tolist() == [True, False]
    assert found["codebleu"][0] == pytest.approx(by_package("a b c", "a b c d", "cpp")[0], abs=1e-9)


def test_the_lexical_tokenizer_does_not_see_spacing() -> None:
    rng = random.Random(3)
    for program in sample_programs("cpp"):
        respaced = re.sub(
            r"(?<=[\w)]) ([=<+*-]) (?=[\w(])", lambda match: match.group(1), program.replace("    ", "\t")
        )
        respaced = re.sub(r"(?<=[;,])(?=\w)", lambda _: rng.choice(["", " "]), respaced)
        assert respaced != program
        assert scores(program, respaced, tokenizer="lexical")["codebleu"] == 1
        assert scores(program, respaced)["ngram"] < 1
    other = sample_programs("cpp")[0]
    found = scores(program, other, tokenizer="lexical")
    wanted = by_package(program, other, "cpp", TOKENIZERS["lexical"])
    assert found[_SCORES].tolist() == pytest.approx(wanted, abs=1e-9)


def test_an_unknown_tokenizer_is_refused() -> None:
    with pytest.raises(ValueError, match="no tokenizer 'words'; there are whitespace, lexical"):
        scores(_LONG, "x", tokenizer="words")


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        codebleu_similarities(["a"], ["a", "b"], ["C"])


@pytest.mark.parametrize("language", ["python", "cpp", "java"])
def test_programs_of_5000_lines_take_seconds(language: str) -> None:
    programs = sample_programs(language)
    whole = "\n".join(programs * 30)
    reference = "\n".join(whole.splitlines()[:5000]) + "\n"
    candidate = reference.replace("1", "2")
    started = time.process_time()
    found = scores(reference, candidate, language)
    assert time.process_time() - started < 10
    assert 0.5 < found["codebleu"] < 1


@pytest.mark.slow
@pytest.mark.parametrize("language", ["python", "cpp", "java"])
def test_deeply_nested_programs_are_scored(language: str) -> None:
    for n in (1200, 30_000):
        reference, candidate = (f"x = {'~' * depth}1 ;" for depth in (n, n + 1))
        found = scores(reference, candidate, language)
        if n == 1200:
            # Deeper than this process lets tree-sitter write; the package's time grows with the square of the depth.
            assert found[_SCORES].tolist() == pytest.approx(by_package(reference, candidate, language), abs=1e-9)
        assert 0 < found["syntax"] <= 1


def test_no_pairs_give_an_empty_table() -> None:
    found = codebleu_similarities([], [], [])
    assert list(found) == ["codebleu", *TERMS, "short", "reason"]
    assert (len(found), found["codebleu"].dtype, found["short"].dtype) == (0, "float64", "bool")


def test_programs_are_read_once_while_memory_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    from judge_pipeline.similarity import program

    read: list[str] = []
    original = program.read_program
    monkeypatch.setattr(
        program, "read_program", lambda source, *rest: (read.append(source), original(source, *rest))[1]
    )
    kept = ProgramCache("whitespace")
    for source in ("a", "b", "a", "b"):
        kept.read(source, "cpp")
    assert read == ["a", "b"]
    kept.read("a", "python")
    assert read == ["a", "b", "a"]
    read.clear()
    small = ProgramCache("whitespace", max_bytes=1)
    for source in ("a", "a", "b", "a"):
        small.read(source, "cpp")
    assert read == ["a", "b", "a"]
