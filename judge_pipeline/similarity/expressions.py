"""Keys of s-expressions: hashes of texts, of which those of all expressions within one are made at once."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]

_BASE = 0x9E3779B97F4A7C15
_MODULUS = 1 << 64
_OPEN, _CLOSE = b"()"
_MAX_INT16 = np.iinfo(np.int16).max

_QUOTED = re.compile(r"""(?:MISSING ".+?"(?=\))|UNEXPECTED '\\?.')""")
_UNPARENTHESIZED = str.maketrans("()", "\1\2")


def _character_values() -> Keys:
    """A number without pattern for each character (Steele and others' SplitMix64)."""
    z = np.arange(1, 257, dtype=np.uint64) * np.uint64(_BASE)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return z ^ (z >> np.uint64(31))


_VALUES = _character_values()


class MalformedExpressionError(ValueError):
    """The parentheses of a text do not match."""


class Written(NamedTuple):
    """A text by its key and length alone: the key is the sum of value(c_i) * BASE^i modulo 2^64."""

    key: int
    n_chars: int

    def then(self, other: Written) -> Written:
        """This text with the other one behind it."""
        shifted = other.key * pow(_BASE, self.n_chars, _MODULUS)
        return Written((self.key + shifted) % _MODULUS, self.n_chars + other.n_chars)


def unquoted(expression: str) -> str:
    """An expression in which only its own parentheses are such, none that stands for a character of the program."""
    return _QUOTED.sub(lambda match: match.group().translate(_UNPARENTHESIZED), expression)


@lru_cache(maxsize=10_000)
def written(text: str) -> Written:
    """The key of a short text, which is kept."""
    values = _VALUES[np.frombuffer(text.encode("ascii", "replace"), np.uint8)]
    return Written(int((values * _powers(len(text))[0]).sum(dtype=np.uint64)), len(text))


def keys_within(expression: str) -> Keys:
    """The keys of those expressions that hold others: the whole one, where it does, first, then level by level.

    Args:
        expression: as tree-sitter writes it, ``unquoted`` where it can hold quoted characters.

    Raises:
        MalformedExpressionError: its parentheses do not match.
    """
    chars = np.frombuffer(expression.encode("ascii", "replace"), np.uint8)
    places = np.flatnonzero((chars == _OPEN) | (chars == _CLOSE))
    opens = chars[places] == _OPEN
    # A parenthesis and the one that closes it are the next to each other on their level.
    depth = np.cumsum(np.where(opens, 1, -1)) + ~opens
    # Sorting 16 bits takes linear time.
    by_level = np.argsort(depth.astype(np.int16) if len(depth) < _MAX_INT16 else depth, kind="stable")
    first, last = by_level[::2], by_level[1::2]
    if len(first) != len(last) or not opens[first].all() or opens[last].any():
        raise MalformedExpressionError(expression[:200])
    holds_others = last > first + 1
    start, end = places[first[holds_others]], places[last[holds_others]] + 1
    powers, inverses = _powers(len(chars))
    sums: Keys = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_VALUES[chars] * powers)])
    keys: Keys = (sums[end] - sums[start]) * inverses[start]
    return keys


def _powers(n: int) -> tuple[Keys, Keys]:
    """BASE^i and BASE^-i modulo 2^64 for i below n."""
    powers, inverses = _power_table(max(10, (n - 1).bit_length()))
    return powers[:n], inverses[:n]


@lru_cache(maxsize=4)
def _power_table(n_bits: int) -> tuple[Keys, Keys]:
    powers, inverses = np.full((2, 1 << n_bits), 1, np.uint64)
    powers[1:], inverses[1:] = _BASE, pow(_BASE, -1, _MODULUS)
    return np.cumprod(powers), np.cumprod(inverses)
