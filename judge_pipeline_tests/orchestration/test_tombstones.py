from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from judge_pipeline.orchestration.tombstones import Tombstone, Tombstones

COMPOSED = "Jos\u00e9 \u00c5"
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)


@pytest.mark.parametrize("was", [COMPOSED, DECOMPOSED])
@pytest.mark.parametrize("now", [COMPOSED, DECOMPOSED])
def test_who_withdrew_does_not_come_back_under_the_same_letters(tmp_path: Path, was: str, now: str) -> None:
    stones = Tombstones(tmp_path, "spring")
    stones.write(Tombstone(stones.hash_of(was), "2026-01-02", True, {}))
    hashes = {stone.participant for stone in stones.read()}
    assert stones.is_one_of(now, hashes)
    assert not stones.is_one_of("Jose A", hashes)
