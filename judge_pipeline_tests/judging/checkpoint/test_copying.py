"""A checkpoint copied from SQLite to PostgreSQL and back is the same one; copying goes on where it was interrupted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from judge_pipeline.judging.checkpoint import copying
from judge_pipeline.judging.checkpoint.copying import copy_checkpoint
from judge_pipeline.judging.checkpoint.rows import CallRow, Record, StoredJudgment, StoredRequest
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.tables import BATCH_REQUESTS, BATCHES, CALLS, JUDGMENTS, REQUESTS
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.request import sha256

TABLES = (REQUESTS, CALLS, JUDGMENTS, BATCHES, BATCH_REQUESTS)


@pytest.fixture(params=["sqlite to postgresql", "postgresql to sqlite", "sqlite to sqlite"])
def urls(request: pytest.FixtureRequest, tmp_path: Any) -> tuple[str, str]:
    def url(kind: str, name: str) -> str:
        if kind == "sqlite":
            return f"sqlite:///{tmp_path / name}.sqlite"
        return str(request.getfixturevalue("postgresql_server").new_database())

    source, _, target = request.param.split()
    return url(source, "source"), url(target, "target")


def fill(url: str, n: int, start: int = 0) -> None:
    """n requests, each with a failed and an answered call, their texts as hostile as a model's."""
    records = []
    for i in range(start, start + n):
        hash_ = sha256(str(i))
        request = StoredRequest(hash_, "t.j2", "0" * 64, f'{{"model": "m", "n": {i}}}')
        call = CallRow(
            "j", hash_, f"a{i}", 0, "run", 1, f"2026-11-30T07:00:00.{i:06d}Z", 1.1 + i / 3, 10, 20, None, 0.1 + i / 7,
            raw_text="\u2028 é \U0001f600 '; DROP TABLE calls; --\n" * 3, error_class="empty", error_text="nothing",
        )  # fmt: skip
        judgment = StoredJudgment("j", hash_, f"a{i}", {"p_ac": i / 1000}, None, "m", 1.5)
        records += [Record(request, call), Record(None, replace(call, try_number=2, error_class=None), judgment)]
    with closing(Checkpoint(url)) as store:
        store.record(records)
        with store.writing() as connection:
            batch = {"token": "t" * 32, "judge": "j", "contest": "c", "state": "submitted", "n_requests": 1}
            further = {
                "discount": 0.5,
                "completion_hours": 24.0,
                "sent": "{}",
                "prepared_at": "2026",
                "n_collections": 0,
            }
            if connection.execute(sa.select(sa.func.count()).select_from(BATCHES)).scalar_one() == 0:
                connection.execute(sa.insert(BATCHES).values(**batch, **further, files_deleted=True))
                connection.execute(
                    sa.insert(BATCH_REQUESTS).values(
                        token="t" * 32, request_hash="h", judge="j", attempt_id="a", repeat_index=0, try_number=1
                    )
                )


def content(url: str) -> dict[str, Counter[Any]]:
    with closing(Checkpoint(url)) as store, store.reading() as connection:
        return {
            table.name: Counter(
                tuple(row[c.name] for c in table.columns if c.name != "call_id")
                for row in connection.execute(sa.select(table)).mappings()
            )
            for table in TABLES
        }


def order_of_calls(url: str) -> list[Any]:
    with closing(Checkpoint(url)) as store, store.reading() as connection:
        return list(connection.execute(sa.select(CALLS.c.started_at, CALLS.c.try_number).order_by(CALLS.c.call_id)))


@pytest.mark.slow
def test_a_copy_holds_the_same_rows_and_copying_again_copies_nothing(urls: tuple[str, str]) -> None:
    source, target = urls
    fill(source, 700)
    copied = {each.table: each for each in copy_checkpoint(source, target)}
    assert content(target) == content(source)
    assert order_of_calls(target) == order_of_calls(source)
    assert (copied["calls"].n_source, copied["calls"].n_copied) == (1400, 1400)
    again = copy_checkpoint(source, target)
    assert [each.n_copied for each in again] == [0] * 5
    assert content(target) == content(source)
    with closing(Checkpoint(source)) as a, closing(Checkpoint(target)) as b:
        hashes = [sha256(str(i)) for i in range(700)]
        assert a.answered("j", hashes) == b.answered("j", hashes)
        assert a.spent("j", hashes) == b.spent("j", hashes)


def test_a_copy_that_is_interrupted_goes_on(urls: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = urls
    fill(source, 300)
    monkeypatch.setattr(copying, "_ROWS_AT_ONCE", 64)

    class StoppedError(Exception):
        pass

    for after in (100, 330):

        def stop(table: str, done: int, of: int, after: int = after) -> None:
            if table == "calls" and done > after:
                raise StoppedError

        with pytest.raises(StoppedError):
            copy_checkpoint(source, target, stop)
    n_there = sum(content(target)["calls"].values())
    assert 330 < n_there < 600
    copied = {each.table: each for each in copy_checkpoint(source, target)}
    assert copied["calls"].n_copied == 600 - n_there
    assert content(target) == content(source)


def test_what_the_target_has_stays_and_is_told(urls: tuple[str, str]) -> None:
    source, target = urls
    fill(source, 20)
    fill(target, 20, start=10)
    with closing(Checkpoint(target)) as store, store.writing() as connection:
        connection.execute(sa.update(JUDGMENTS).where(JUDGMENTS.c.attempt_id == "a15").values(answer='{"p_ac": 1}'))
    before = content(target)
    copied = {each.table: each for each in copy_checkpoint(source, target)}
    assert (copied["judgments"].n_copied, copied["judgments"].n_different) == (10, 1)
    assert copied["calls"].n_copied == 20
    assert all(before[name] <= rows for name, rows in content(target).items())


@pytest.fixture
def newer(urls: tuple[str, str]) -> Iterator[tuple[str, str]]:
    for url in urls:
        fill(url, 1)
    yield urls


@pytest.mark.parametrize("which", [0, 1])
def test_a_store_of_a_newer_version_is_refused(newer: tuple[str, str], which: int) -> None:
    with closing(Checkpoint(newer[which])) as store, store.writing() as connection:
        connection.exec_driver_sql("ALTER TABLE judgments ADD COLUMN confidence FLOAT")
    with pytest.raises(JudgingError, match=r"made by a newer version \(it has judgments\.confidence\)"):
        copy_checkpoint(*newer)


def test_nothing_is_made_of_a_source_that_is_missing_or_the_target_itself(tmp_path: Any) -> None:
    missing, there = f"sqlite:///{tmp_path / 'missing.sqlite'}", f"sqlite:///{tmp_path / 'there.sqlite'}"
    with pytest.raises(JudgingError, match="there is no checkpoint at"):
        copy_checkpoint(missing, there)
    assert not list(tmp_path.iterdir())
    fill(there, 1)
    (tmp_path / "link.sqlite").symlink_to(tmp_path / "there.sqlite")
    with pytest.raises(JudgingError, match="cannot be copied to itself"):
        copy_checkpoint(there, f"sqlite:///{tmp_path / 'link.sqlite'}")
