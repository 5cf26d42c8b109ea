"""Programs as tokens, and the n-grams of these."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Literal

import numpy as np

from judge_pipeline.similarity.multiset import IntArray, Multiset

Tokenizer = Literal["whitespace", "lexical"]
"""``whitespace``: what stands between white space, as in the paper and the ``codebleu`` package, so that ``a=1`` is one
token and ``a = 1`` is three. ``lexical``: names, numbers, string literals, and every other character by itself, so that
spacing changes nothing."""

N_ORDERS = 4
"""n-grams of 1 to 4 tokens are counted."""

_MULTIPLIER = np.int64(-7046029254386353131)
"""An odd number with no pattern (2^64 over the golden ratio): n-grams are told apart by the order of their tokens."""

_LEXEME = re.compile(r"""[^\W\d]\w*|\d[\w.]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\S""")

TOKENIZERS: Mapping[Tokenizer, Callable[[str], list[str]]] = {"whitespace": str.split, "lexical": _LEXEME.findall}


def has_fewer_tokens(text: str, n: int, tokenizer: Tokenizer) -> bool:
    """Whether a text has fewer than n tokens; reads no further than it must."""
    if tokenizer == "whitespace":
        return len(text.split(None, n)) < n
    return sum(1 for _ in islice(_LEXEME.finditer(text), n)) < n


def n_grams(tokens: Sequence[str]) -> tuple[Multiset, ...]:
    """The multisets of the n-grams of tokens, for n from 1 to N_ORDERS."""
    hashes = np.fromiter(map(hash, tokens), np.int64, len(tokens))
    found, grams = [], hashes
    for order in range(1, N_ORDERS + 1):
        if order > 1:
            grams = _longer(grams, hashes[order - 1 :])
        found.append(Multiset.of(grams))
    return tuple(found)


def _longer(grams: IntArray, last: IntArray) -> IntArray:
    """Hashes of n-grams of one token more; overflow is wanted."""
    return grams[: len(last)] * _MULTIPLIER + last
