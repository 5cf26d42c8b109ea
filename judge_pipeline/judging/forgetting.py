"""Taking attempts out of the checkpoint: their judgments, calls and requests, also from the pages of the file.

One answer serves all attempts whose requests are identical; it stands under the attempt that was asked first. Where
that attempt goes and another one needs the answer, the row is kept under the other one's id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from judge_pipeline.judging.checkpoint.opening import make_engine, unusable
from judge_pipeline.judging.checkpoint.rescue import rescued_urls
from judge_pipeline.judging.checkpoint.tables import BATCH_REQUESTS, CALLS, JUDGMENTS, RENDERED, REQUESTS

_CHUNK = 2000


def attempts_in_checkpoint(url: str) -> set[str]:
    """Ids of all attempts that were ever asked."""
    found: set[str] = set()
    for store in (url, *rescued_urls(url)):
        with _store(store) as connection:
            if connection is not None:
                asked = sa.union(*(sa.select(table.c.attempt_id) for table in _tables_of_attempts(connection)))
                found |= {row[0] for row in connection.execute(asked)}
    return found


def forget_attempts(url: str, attempt_ids: Iterable[str], heirs: Mapping[str, str], *, dry_run: bool) -> dict[str, int]:
    """Remove what the checkpoint holds of the attempts, in one transaction; then what was rescued of it beside it.

    Args:
        url: the checkpoint's SQLAlchemy URL.
        attempt_ids: attempts of the person who withdrew.
        heirs: for attempts whose request is identical to one of somebody else's: that one's attempt id.
        dry_run: only count.

    Returns:
        Rows removed of each table, and ``kept_for_others``: rows that went to an heir. Removing a row of
        ``batch_requests`` leaves the request with the provider: what its batch brings for it is dropped.
    """
    ids = sorted(set(attempt_ids))
    counts: Counter[str] = Counter()
    for store in (url, *rescued_urls(url)):
        counts.update(_forget_in(store, ids, heirs, dry_run=dry_run))
    return dict(counts)


def _forget_in(url: str, ids: Sequence[str], heirs: Mapping[str, str], *, dry_run: bool) -> dict[str, int]:
    counts = {"judgments": 0, "calls": 0, "requests": 0, "kept_for_others": 0}
    with _store(url) as connection:
        if connection is None or not ids:
            return counts
        hashes: set[str] = set()
        tables = _tables_of_attempts(connection)
        for chunk in _chunks(ids):
            for table in tables:
                hashes |= _forget_rows(connection, table, chunk, heirs, counts)
        for chunk in _chunks(sorted(hashes)):
            still = sa.union(
                *(sa.select(table.c.request_hash).where(table.c.request_hash.in_(chunk)) for table in tables)
            )
            gone = set(chunk) - {row[0] for row in connection.execute(still)}
            done = connection.execute(sa.delete(REQUESTS).where(REQUESTS.c.request_hash.in_(sorted(gone))))
            counts["requests"] += done.rowcount
        for table in _memos(connection):  # its blocks hold hashes of several people's requests; the next run makes it
            connection.execute(sa.delete(table))
        if dry_run:
            connection.rollback()
        else:
            connection.commit()
    if not dry_run:
        _clean_pages(url)
    return counts


def _forget_rows(
    connection: sa.Connection, table: sa.Table, ids: Sequence[str], heirs: Mapping[str, str], counts: dict[str, int]
) -> set[str]:
    """Delete or hand on one table's rows of the attempts; the hashes of their requests."""
    theirs = table.c.attempt_id.in_(ids)
    hashes = {row[0] for row in connection.execute(sa.select(table.c.request_hash).where(theirs).distinct())}
    for attempt in ids:
        if attempt in heirs:
            change = sa.update(table).where(table.c.attempt_id == attempt).values(attempt_id=heirs[attempt])
            counts["kept_for_others"] += connection.execute(change).rowcount
    counts[table.name] = counts.get(table.name, 0) + connection.execute(sa.delete(table).where(theirs)).rowcount
    return hashes


def _tables_of_attempts(connection: sa.Connection) -> list[sa.Table]:
    """The tables whose rows belong to attempts; an older version made no ``batch_requests``."""
    has_batches = sa.inspect(connection).has_table(BATCH_REQUESTS.name)
    return [JUDGMENTS, CALLS, *([BATCH_REQUESTS] if has_batches else [])]


def _memos(connection: sa.Connection) -> list[sa.Table]:
    """What may be deleted whole, where it is there: an older version did not make it."""
    return [RENDERED] if sa.inspect(connection).has_table(RENDERED.name) else []


@contextmanager
def _store(url: str) -> Iterator[sa.Connection | None]:
    """A connection in a transaction; None where there is no checkpoint yet.

    Raises:
        JudgingError: the store cannot be used.
    """
    engine = make_engine(url)
    if not _is_there(engine.url):
        yield None
        return
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _overwrite_what_is_deleted)
    try:
        with engine.connect() as connection:
            has_all = all(sa.inspect(connection).has_table(table.name) for table in (JUDGMENTS, CALLS, REQUESTS))
            yield connection if has_all else None
    except sa.exc.DBAPIError as error:
        raise unusable(engine.url, "read", error) from error
    finally:
        engine.dispose()


def _is_there(url: sa.URL) -> bool:
    """False where the store is a SQLite file that was never made."""
    return url.get_backend_name() != "sqlite" or Path(str(url.database)).is_file()


def _overwrite_what_is_deleted(connection: Any, _record: Any) -> None:
    connection.execute("PRAGMA secure_delete=ON")


def _clean_pages(url: str) -> None:
    """No deleted row stays in the store's free pages, or in SQLite's write-ahead log."""
    engine = make_engine(url)
    if not _is_there(engine.url):
        return
    statements = ["PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"]
    try:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            if engine.dialect.name != "sqlite":
                # Only FULL writes the files anew; a plain one leaves old rows' bytes where the next ones will come.
                tables = (*_tables_of_attempts(connection), REQUESTS, *_memos(connection))
                statements = [f"VACUUM (FULL) {table.name}" for table in tables]
            for statement in statements:
                connection.exec_driver_sql(statement)
    except sa.exc.DBAPIError as error:
        raise unusable(engine.url, "cleaned of deleted rows", error) from error
    finally:
        engine.dispose()


def _chunks(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), _CHUNK):
        yield values[start : start + _CHUNK]
