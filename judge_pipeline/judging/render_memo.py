"""Request hashes kept from one run to the next: what was rendered once is not rendered again.

Rendering and hashing a request takes a fraction of a millisecond, of 200,000 half a minute. So the hashes are kept in
the checkpoint, in blocks of rows. A block's key is the sha256 of all that decides on its hashes: the rows themselves,
whole, and what the caller names beside them (template, settings, code). Whatever changes changes the key, and the block
is rendered anew; nothing is looked up by a name, a number or a time. The blocks are a memo, not a record: without one,
or where one is damaged, everything is as it was, only slower.
"""

from __future__ import annotations

import hashlib
import marshal
import random
import sys
import zlib
from array import array
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import pandas as pd
import sqlalchemy as sa

from judge_pipeline.judging.checkpoint.tables import RENDERED
from judge_pipeline.judging.dialects import among, insert_into
from judge_pipeline.judging.failures import JudgingError

if TYPE_CHECKING:
    from judge_pipeline.judging.checkpoint.store import Checkpoint

_ROWS_IN_BLOCK = 256
"""On average. A block ends where the checksum of an attempt's id says so, not after so many rows: an attempt that comes
or goes changes its own block and no other."""

_MOST_ROWS_IN_BLOCK = 16 * _ROWS_IN_BLOCK
_BLOCKS_TRIED_ANEW = 8
_BYTES_OF_HASH = 32

Row = Mapping[str, Any]
Render = Callable[[Row], tuple[list[str], int]]
"""A row -> the request hashes of its repeats, in order, and the characters of its messages."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """What rendering a number of rows came to.

    Attributes:
        hashes: for each repeat, the request hashes of the rows, in their order.
        prompt_chars: the characters of each row's messages.
    """

    hashes: tuple[list[str], ...]
    prompt_chars: list[int]


class Rows:
    """The rows of a table as mappings, missing values as None; each is made when it is asked for."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.columns: dict[str, list[Any]] = {str(name): table[name].tolist() for name in table.columns}
        self._n = len(table)

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, place: int) -> dict[str, Any]:
        values = ((name, column[place]) for name, column in self.columns.items())
        return {name: None if pd.isna(value) else value for name, value in values}


def render_all(rows: Rows, n_repeats: int, render: Render) -> Rendered:
    """The hashes of all rows, each rendered.

    Raises:
        JudgingError: a row cannot be rendered.
    """
    return _render(rows, range(len(rows)), n_repeats, render)


def rendered(
    rows: Rows, ids: Sequence[str], n_repeats: int, render: Render, identity: str, checkpoint: Checkpoint
) -> Rendered:
    """The hashes of all rows, from the memo where it holds them, else rendered and kept.

    Args:
        rows: what is to be rendered.
        ids: whose rows they are: where a block ends depends on them.
        n_repeats: how many hashes a row has.
        render: a row -> its hashes and the characters of its messages.
        identity: says all that decides on these beside the row.
        checkpoint: where the memo is.

    Raises:
        JudgingError: a row cannot be rendered.
    """
    blocks = _blocks(ids)
    keys = _keys(rows, blocks, f"{n_repeats} {identity}")
    known: dict[int, Rendered] = {}
    with suppress(JudgingError):  # who needs the store for more than the memo will say what is wrong with it
        known = _load(checkpoint, keys, blocks, n_repeats)
    if not _come_out_the_same(known, rows, blocks, render):
        known = {}
    new = {n: _render(rows, block, n_repeats, render) for n, block in enumerate(blocks) if n not in known}
    with suppress(JudgingError):
        _keep(checkpoint, {keys[number]: each for number, each in new.items()})
    parts = [known[number] if number in known else new[number] for number in range(len(blocks))]
    return Rendered(
        tuple(list(chain.from_iterable(part.hashes[repeat] for part in parts)) for repeat in range(n_repeats)),
        list(chain.from_iterable(part.prompt_chars for part in parts)),
    )


def remembered_hashes(checkpoint: Checkpoint) -> set[str]:
    """Every request hash that was rendered and is kept in the store, and numbers that are no hash of anything.

    What a block holds behind its hashes is taken for hashes, too: meet the result with hashes that are known.

    Raises:
        JudgingError: the store cannot be read.
    """

    def read(connection: sa.Connection) -> set[str]:
        found: set[str] = set()
        for (packed,) in connection.execute(sa.select(RENDERED.c.content)):
            digits = bytes(packed).hex()
            found.update(digits[at : at + 2 * _BYTES_OF_HASH] for at in range(0, len(digits), 2 * _BYTES_OF_HASH))
        return found

    return checkpoint.read(read)


def _blocks(attempt_ids: Sequence[str]) -> list[range]:
    """The rows of each block."""
    blocks, start = [], 0
    for place, attempt_id in enumerate(attempt_ids, start=1):
        is_end = not zlib.crc32(attempt_id.encode("utf-8", "replace")) % _ROWS_IN_BLOCK
        if is_end or place - start == _MOST_ROWS_IN_BLOCK or place == len(attempt_ids):
            blocks.append(range(start, place))
            start = place
    return blocks


def _keys(rows: Rows, blocks: Sequence[range], identity: str) -> list[str]:
    """The sha256 of each block's rows and the identity; two threads share the work, which needs no interpreter lock."""
    seed = hashlib.sha256(repr([identity, sys.version_info[:2], list(rows.columns)]).encode())

    def key(block: range) -> str:
        cut = [column[block.start : block.stop] for column in rows.columns.values()]
        digest = seed.copy()
        digest.update(_bytes_of(cut))
        return digest.hexdigest()

    halves = blocks[: len(blocks) // 2], blocks[len(blocks) // 2 :]
    with ThreadPoolExecutor(2) as pool:
        return [each for keys in pool.map(lambda half: [key(block) for block in half], halves) for each in keys]


def _bytes_of(columns: list[list[Any]]) -> bytes:
    """The values in a form that tells any two apart. marshal's version 2 is one without back references, hence the same
    for equal values however they lie in memory; what it does not know (such as pandas.NA) becomes None beforehand."""
    try:
        return marshal.dumps(columns, 2)
    except ValueError:
        return marshal.dumps([[None if pd.isna(value) else value for value in column] for column in columns], 2)


def _render(rows: Rows, block: range, n_repeats: int, render: Render) -> Rendered:
    made = [render(rows[place]) for place in block]
    hashes = tuple([hashes[repeat] for hashes, _ in made] for repeat in range(n_repeats))
    return Rendered(hashes, [chars for _, chars in made])


def _come_out_the_same(known: Mapping[int, Rendered], rows: Rows, blocks: Sequence[range], render: Render) -> bool:
    """Whether a few rows, drawn anew each time, come out as kept: a net under the keys, for what no key can name."""
    for number in random.sample(sorted(known), min(_BLOCKS_TRIED_ANEW, len(known))):
        block, kept = blocks[number], known[number]
        place = random.randrange(len(block))
        if render(rows[block.start + place]) != ([h[place] for h in kept.hashes], kept.prompt_chars[place]):
            return False
    return True


def _load(checkpoint: Checkpoint, keys: Sequence[str], blocks: Sequence[range], n_repeats: int) -> dict[int, Rendered]:
    """Number of a block -> what is kept of it; damaged ones are left out."""

    def read(connection: sa.Connection) -> dict[str, bytes]:
        wanted = among(connection.dialect.name, RENDERED.c.block_key, keys)
        rows = connection.execute(sa.select(RENDERED.c.block_key, RENDERED.c.content).where(wanted))
        return {key: bytes(packed) for key, packed in rows if isinstance(packed, bytes | memoryview)}

    content = checkpoint.read(read)
    found = {}
    for number, (key, block) in enumerate(zip(keys, blocks, strict=True)):
        kept = _unpack(key, content[key], len(block), n_repeats) if key in content else None
        if kept is not None:
            found[number] = kept
    return found


def _keep(checkpoint: Checkpoint, made: Mapping[str, Rendered]) -> None:
    if not made:
        return
    blocks = [{"block_key": key, "content": _pack(key, each)} for key, each in made.items()]

    def keep(connection: sa.Connection) -> None:
        insert = insert_into(connection.dialect.name, RENDERED)
        kept = insert.on_conflict_do_update(index_elements=["block_key"], set_={"content": insert.excluded.content})
        connection.execute(kept, blocks)

    checkpoint.write(keep)


def _pack(key: str, made: Rendered) -> bytes:
    """Hashes, then characters as 32-bit numbers, then a sha256 over key and these."""
    chars = array("I", made.prompt_chars)
    if sys.byteorder == "big":
        chars.byteswap()
    content = b"".join(bytes.fromhex("".join(hashes)) for hashes in made.hashes) + chars.tobytes()
    return content + _seal(key, content)


def _unpack(key: str, packed: bytes, n_rows: int, n_repeats: int) -> Rendered | None:
    """None where the bytes are not what was packed under the key."""
    content, seal = packed[:-_BYTES_OF_HASH], packed[-_BYTES_OF_HASH:]
    n_bytes = n_rows * n_repeats * _BYTES_OF_HASH
    if len(content) != n_bytes + 4 * n_rows or seal != _seal(key, content):
        return None
    digits = content[:n_bytes].hex()
    all_hashes = [digits[at : at + 64] for at in range(0, len(digits), 64)]
    chars = array("I", content[n_bytes:])
    if sys.byteorder == "big":
        chars.byteswap()
    hashes = tuple(all_hashes[repeat * n_rows : (repeat + 1) * n_rows] for repeat in range(n_repeats))
    return Rendered(hashes, chars.tolist())


def _seal(key: str, content: bytes) -> bytes:
    return hashlib.sha256(key.encode() + content).digest()
