"""A large table of requests, cut into shards that processes or machines ask side by side.

Which shard a request is in follows from the id of its row alone (of the first row, where several have the same
request): rows that come or go move no other one, every process that reads the same table comes to the same shards, and
no request is in two. Shards ask, and make no table: that is made afterwards of all that is stored.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge_pipeline.judging.prepared import Prepared


def shard_of(row_id: str, of: int) -> int:
    """The number, 1 to ``of``, of the shard that a row is in; the same on every machine and in every version.

    Args:
        row_id: of the row: an attempt_id, or what else is asked about.
        of: how many shards there are, at least 1.
    """
    return int.from_bytes(hashlib.sha256(row_id.encode("utf-8", "surrogatepass")).digest()[:8], "big") % of + 1


@dataclass(frozen=True, slots=True)
class Shard:
    """One of the shards of a run.

    Attributes:
        number: from 1.
        of: how many there are.
        run_id: the run that they belong to, 32 hexadecimal digits: their money is counted together.
    """

    number: int
    of: int
    run_id: str

    def requests(self, prepared: Prepared, hashes: Iterable[str]) -> list[str]:
        """Those of the request hashes that are in the shard, in their order."""
        return [hash_ for hash_ in hashes if shard_of(prepared.id_of(hash_), self.of) == self.number]

    def in_words(self) -> str:
        """As people read it."""
        return f"shard {self.number} of {self.of}"


def requests_by_shard(prepared: Prepared, hashes: Iterable[str], of: int) -> dict[int, int]:
    """How many of the request hashes are in each shard that has any, by its number."""
    return dict(sorted(Counter(shard_of(prepared.id_of(hash_), of) for hash_ in hashes).items()))
