"""A provider's window in the checkpoint's store: processes renew their shares there, one short transaction each."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from judge_pipeline.judging.checkpoint.opening import open_store, seconds_ahead, unusable
from judge_pipeline.judging.checkpoint.tables import PROVIDER_WINDOWS, WINDOW_SHARES
from judge_pipeline.judging.pacing.window import News, Share, Window, closing, granted, window_after

LEASE_SECONDS = 5.0
"""How long a share lasts that is not renewed: after so long a killed process's calls are others' again."""

_INSERTS: dict[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}


class WindowStore:
    """The store at the checkpoint's URL; all times are on its clock, which machines that share it have in common."""

    def __init__(self, url: str) -> None:
        """Raises JudgingError where the store cannot be opened."""
        self._engine = open_store(url)
        self._insert = _INSERTS[self._engine.dialect.name]
        self._ahead = seconds_ahead(self._engine)

    def now(self) -> float:
        """Seconds since 1970 on the store's clock."""
        return time.time() + self._ahead

    def renew(self, provider: str, process: str, news: News) -> tuple[int, float]:
        """Tell a process's news, and renew its share.

        Returns:
            How many calls the process may have under way; and until when the provider is closed, on the store's clock.

        Raises:
            JudgingError: the store cannot be written.
        """
        try:
            with self._engine.begin() as connection:
                return self._renew(connection, provider, process, news)
        except sa.exc.DBAPIError as error:
            raise unusable(self._engine.url, "written", error) from error

    def closed_until(self, provider: str) -> float:
        """Until when the provider asked not to be asked; 0 where it never did.

        Raises:
            JudgingError: the store cannot be read.
        """
        query = sa.select(PROVIDER_WINDOWS.c.closed_until).where(PROVIDER_WINDOWS.c.provider == provider)
        try:
            with self._engine.connect() as connection:
                return closing(float(connection.execute(query).scalar() or 0.0), self.now())
        except sa.exc.DBAPIError as error:
            raise unusable(self._engine.url, "read", error) from error

    def give_back(self, provider: str, process: str, news: News) -> None:
        """Tell a process's last news, and let others have its share."""
        self.renew(provider, process, news)
        shares = WINDOW_SHARES
        with self._engine.begin() as connection:
            connection.execute(sa.delete(shares).where(shares.c.provider == provider, shares.c.process == process))

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    def _renew(self, connection: sa.Connection, provider: str, process: str, news: News) -> tuple[int, float]:
        window = self._locked(connection, provider)
        now = self.now()  # once it is this process's turn
        shares = [
            *self._others(connection, provider, process, now),
            Share(process, news.holds, news.wanted, news.maximum),
        ]
        maximum = max(share.maximum for share in shares)
        window = window_after(window, news, maximum, now)
        own, allowed = granted(process, shares, window.capacity(maximum), now)
        connection.execute(
            sa.update(PROVIDER_WINDOWS)
            .where(PROVIDER_WINDOWS.c.provider == provider)
            .values(
                calls=window.calls, narrowed_at=window.narrowed_at, closed_until=window.closed_until,
                renewed_at=window.renewed_at,
            )
        )  # fmt: skip
        values = {"calls": own.calls, "wanted": own.wanted, "maximum": own.maximum, "expires_at": now + LEASE_SECONDS}
        insert = self._insert(WINDOW_SHARES).values(provider=provider, process=process, **values)
        connection.execute(insert.on_conflict_do_update(index_elements=["provider", "process"], set_=values))
        return allowed, window.closed_until

    def _locked(self, connection: sa.Connection, provider: str) -> Window:
        """The provider's window; until the transaction ends no other process can renew a share of it."""
        windows = PROVIDER_WINDOWS.c
        insert = self._insert(PROVIDER_WINDOWS).values(
            provider=provider, calls=None, narrowed_at=0.0, closed_until=0.0, renewed_at=0.0
        )
        unchanged = insert.on_conflict_do_update(
            index_elements=["provider"], set_={"provider": insert.excluded.provider}
        )
        found = unchanged.returning(windows.calls, windows.narrowed_at, windows.closed_until, windows.renewed_at)
        return Window(*connection.execute(found).one())

    def _others(self, connection: sa.Connection, provider: str, process: str, now: float) -> Sequence[Share]:
        shares = WINDOW_SHARES.c
        # None lasts longer than a lease: what would was written before a clock was set back, and nobody renews it.
        is_over = sa.or_(shares.expires_at <= now, shares.expires_at > now + 2.0 * LEASE_SECONDS)
        connection.execute(sa.delete(WINDOW_SHARES).where(shares.provider == provider, is_over))
        query = sa.select(shares.process, shares.calls, shares.wanted, shares.maximum)
        others = query.where(shares.provider == provider, shares.process != process)
        return [Share(*row) for row in connection.execute(others)]
