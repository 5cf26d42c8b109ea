"""Multisets of hashed things, as sorted arrays: small to keep, fast to compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Multiset:
    """What occurs, and how often.

    Things are told apart by 64-bit hashes, some of which mean nothing in another process. Two different things share
    one with a chance of about 1 in 10^19.
    """

    keys: IntArray
    """The distinct hashes, ascending."""
    counts: IntArray
    """How often each occurs."""

    @classmethod
    def of(cls, hashes: IntArray) -> Multiset:
        """The multiset of hashes that may repeat."""
        keys, counts = np.unique(hashes, return_counts=True)
        return cls(keys, counts)

    @property
    def size(self) -> int:
        """How many things there are, repeated ones counted each time."""
        return int(self.counts.sum())

    @property
    def n_bytes(self) -> int:
        """Memory of the arrays."""
        return self.keys.nbytes + self.counts.nbytes

    def places_of(self, hashes: Sequence[int]) -> NDArray[np.intp]:
        """Where things that occur stand in ``keys``."""
        return np.searchsorted(self.keys, np.array(hashes, np.int64))

    def counts_in(self, other: Multiset) -> IntArray:
        """How often each of our distinct things occurs in the other multiset, in the order of ``keys``."""
        if not len(other.keys) or not len(self.keys):
            return np.zeros(len(self.keys), np.int64)
        places = np.minimum(np.searchsorted(other.keys, self.keys), len(other.keys) - 1)
        return np.where(other.keys[places] == self.keys, other.counts[places], 0)
