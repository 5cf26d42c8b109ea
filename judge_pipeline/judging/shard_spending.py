"""What the shards of a run, or its steps, have spent and have under way together, so that a ceiling holds over all.

Each asking of a shard has a row in the checkpoint, and so has each process in which steps of a run ask, where they are
several. Before a call it writes what it has spent and has under way, that
call included, and reads in the same transaction what the others have. A killed shard's row stays: its calls under way
may have been billed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from judge_pipeline.judging.checkpoint.tables import SHARD_SPENDING
from judge_pipeline.judging.dialects import insert_into

if TYPE_CHECKING:
    from judge_pipeline.judging.checkpoint.store import Checkpoint

_ONE_AT_A_TIME = sa.select(sa.func.pg_advisory_xact_lock(7_218_903_116))
"""Lets these transactions follow each other in PostgreSQL, so that no two miss each other; SQLite has one writer."""


class ShardSpending:
    """One asking's row, and what it is told of the others'."""

    def __init__(self, checkpoint: Checkpoint, run_id: str, asking: str) -> None:
        """``run_id`` is the run's, as in :class:`Shard`; ``asking`` the id of a shard's calls, or of a process."""
        self._checkpoint = checkpoint
        self._run_id = run_id
        self._asking = asking

    def others_usd(self, own_usd: float) -> float:
        """Write what this asking has spent and has under way; what the others of the run have, in US dollars.

        Raises:
            JudgingError: the checkpoint cannot be written.
        """
        spending = SHARD_SPENDING.c

        def tell(connection: sa.Connection) -> float:
            if connection.dialect.name == "postgresql":
                connection.execute(_ONE_AT_A_TIME)
            insert = insert_into(connection.dialect.name, SHARD_SPENDING)
            own = insert.values(run_id=self._run_id, asking=self._asking, usd=own_usd)
            connection.execute(own.on_conflict_do_update(index_elements=["run_id", "asking"], set_={"usd": own_usd}))
            others = sa.select(sa.func.sum(spending.usd)).where(
                spending.run_id == self._run_id, spending.asking != self._asking
            )
            return float(connection.execute(others).scalar() or 0.0)

        return self._checkpoint.write(tell)


def spent_in_shards(checkpoint: Checkpoint, run_id: str) -> float:
    """What all shards of a run have spent, in US dollars; calls that a kill cut off count at their estimate.

    Raises:
        JudgingError: the checkpoint cannot be read.
    """
    query = sa.select(sa.func.sum(SHARD_SPENDING.c.usd)).where(SHARD_SPENDING.c.run_id == run_id)
    return checkpoint.read(lambda connection: float(connection.execute(query).scalar() or 0.0))
