"""What CodeBLEU compares of a program, made once for each and kept by its hash."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge_pipeline.similarity.comment_removal import without_comments
from judge_pipeline.similarity.grammars import keywords_of, new_parser
from judge_pipeline.similarity.multiset import Multiset
from judge_pipeline.similarity.sub_trees import sub_trees
from judge_pipeline.similarity.tokens import TOKENIZERS, Tokenizer, n_grams

CACHE_BYTES = 128 * 2**20
"""Memory for programs that are kept, in each process: some 2,000 programs of 150 lines."""

_LONE_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


@dataclass(frozen=True, slots=True)
class Program:
    """The parts of one program that are counted and matched."""

    n_tokens: int
    n_grams: tuple[Multiset, ...]
    """Of 1 to 4 tokens."""
    is_keyword: NDArray[np.bool_]
    """Whether each distinct token is a keyword of the language, in the order of ``n_grams[0].keys``."""
    sub_trees: Multiset

    @property
    def n_bytes(self) -> int:
        """Memory of the arrays, and some for the objects around them."""
        return 1000 + self.is_keyword.nbytes + sum(kept.n_bytes for kept in (*self.n_grams, self.sub_trees))


def read_program(source: str, grammar: str, tokenizer: Tokenizer) -> Program:
    """Tokenizes and parses a program.

    Args:
        source: the program, of any size and depth. A lone surrogate, which no file can hold, is parsed as U+FFFD.
        grammar: a value of ``languages.GRAMMARS``.
        tokenizer: how it becomes tokens.

    Raises:
        ModuleNotFoundError: the grammar's package is not installed.
    """
    source = source.strip()
    tokens = TOKENIZERS[tokenizer](source)
    grams = n_grams(tokens)
    is_keyword = np.zeros(len(grams[0].keys), bool)
    is_keyword[grams[0].places_of([hash(token) for token in keywords_of(grammar).intersection(tokens)])] = True
    text = source if source.isascii() else source.translate(_LONE_SURROGATES)
    tree = new_parser(grammar).parse(without_comments(text, grammar).encode())
    return Program(len(tokens), grams, is_keyword, sub_trees(tree.root_node))


class ProgramCache:
    """Programs, each read once while memory lasts; those not needed for longest are dropped first.

    Args:
        tokenizer: how programs become tokens.
        max_bytes: memory for what is kept.
    """

    def __init__(self, tokenizer: Tokenizer, max_bytes: int = CACHE_BYTES) -> None:
        self._tokenizer: Tokenizer = tokenizer
        self._max_bytes, self._n_bytes = max_bytes, 0
        self._programs: OrderedDict[tuple[str, bytes], Program] = OrderedDict()

    def read(self, source: str, grammar: str) -> Program:
        """The program, from what is kept where it is."""
        key = (grammar, hashlib.sha256(source.encode("utf-8", "surrogatepass")).digest())
        program = self._programs.get(key)
        if program is not None:
            self._programs.move_to_end(key)
            return program
        program = self._programs[key] = read_program(source, grammar, self._tokenizer)
        self._n_bytes += program.n_bytes
        while self._n_bytes > self._max_bytes and len(self._programs) > 1:
            self._n_bytes -= self._programs.popitem(last=False)[1].n_bytes
        return program
