"""CodeBLEU of many pairs of programs (paper 1, V-B2, VI-B6), as the paper sets it up.

Equal to ``codebleu.calc_codebleu`` with weights (1/3, 1/3, 1/3, 0), but where that has no meaning (``why_not``, and
texts that are empty or the same); without its data-flow part, which takes most of its time and counts nothing at
weight 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pandas as pd

from judge_pipeline.similarity.grammars import why_no_grammar
from judge_pipeline.similarity.languages import GRAMMARS, programming_language
from judge_pipeline.similarity.scoring import PairToScore
from judge_pipeline.similarity.scoring_pool import score_pairs
from judge_pipeline.similarity.tokens import TOKENIZERS, Tokenizer, has_fewer_tokens

SHORT_TOKENS = 4
"""A text of fewer tokens has no 4-gram; its score says more of smoothing than of the program."""


def codebleu_similarities(
    references: Sequence[str | None],
    candidates: Sequence[str | None],
    reference_languages: Sequence[str | None],
    candidate_languages: Sequence[str | None] | None = None,
    *,
    tokenizer: Tokenizer = "whitespace",
    n_processes: int | None = None,
) -> pd.DataFrame:
    """CodeBLEU of each pair, how much of the reference the candidate holds.

    It is not symmetric: for churn the reference is the turn before (eq. 31), for convergence the accepted program
    (eq. 32). Pairs that share programs should stand near each other, as the turns of a trajectory do: each is read
    once then.

    Args:
        references: the program of each pair that the other is compared with; None where there is none.
        candidates: the other program.
        reference_languages: the language of each reference, as contest sites write it (``C++17 (GCC 9.2.1)``).
        candidate_languages: that of each candidate; None where they are those of the references.
        tokenizer: ``whitespace``, the paper's way, or ``lexical``, to which spacing means nothing.
        n_processes: how many processes score, 1 for this one alone; None for one a core where there is much to score,
            and this one where there is not. The scores do not depend on it.

    Returns:
        A row a pair in the given order: ``codebleu`` and its terms ``ngram``, ``weighted_ngram`` and ``syntax``
        (float64 in [0, 1], or NaN), ``short`` (either text has fewer than 4 tokens) and ``reason`` (why it is NaN,
        else None). All four are 1 for identical programs, and 0 where one of the two is empty.

    Raises:
        ValueError: the sequences are not equally long, or there is no such tokenizer.
        ScoringPoolError: a process that scores ended.
    """
    if tokenizer not in TOKENIZERS:
        raise ValueError(f"there is no tokenizer {tokenizer!r}; there are {', '.join(TOKENIZERS)}")
    candidate_languages = reference_languages if candidate_languages is None else candidate_languages
    rows = list(zip(references, candidates, reference_languages, candidate_languages, strict=True))
    reasons = [why_not(*row) for row in rows]
    terms = np.full((len(rows), 3), np.nan)
    pairs: dict[int, PairToScore] = {}
    for i, (reference, candidate, language, _) in enumerate(rows):
        if reasons[i] is None:
            pair = PairToScore(str(reference), str(candidate), GRAMMARS[_language(language) or ""])
            if not (pair.reference.strip() and pair.candidate.strip()):
                terms[i] = 0.0
            elif pair.reference == pair.candidate:
                terms[i] = 1.0
            else:
                pairs[i] = pair
    terms[list(pairs)] = score_pairs(list(pairs.values()), tokenizer, n_processes)
    short = [
        any(isinstance(text, str) and has_fewer_tokens(text, SHORT_TOKENS, tokenizer) for text in row[:2])
        for row in rows
    ]
    return pd.DataFrame(
        {
            "codebleu": terms.mean(axis=1), "ngram": terms[:, 0], "weighted_ngram": terms[:, 1], "syntax": terms[:, 2],
            "short": np.array(short, bool), "reason": np.array(reasons, object),
        }
    )  # fmt: skip


def why_not(
    reference: str | None, candidate: str | None, reference_language: str | None, candidate_language: str | None
) -> str | None:
    """Why a pair of programs has no CodeBLEU; None where it has one.

    Languages are looked at before texts: were identical or empty programs scored in a language without a grammar, its
    scores would be those pairs alone.
    """
    if not isinstance(reference, str) or not isinstance(candidate, str):
        return "a program is missing"
    for name in (reference_language, candidate_language):
        reason = _why_not_in(name if isinstance(name, str) else None)
        if reason:
            return reason
    first, second = _language(reference_language), _language(candidate_language)
    if first != second:
        return f"the languages differ ({first}, {second})"
    return None if reference.strip() or candidate.strip() else "both programs are empty"


_language = lru_cache(maxsize=10_000)(programming_language)


@lru_cache(maxsize=10_000)
def _why_not_in(name: str | None) -> str | None:
    if not name:
        return "the language is not stated"
    language = _language(name)
    return why_no_grammar(language) if language else f"CodeBLEU is not defined for {name}"
