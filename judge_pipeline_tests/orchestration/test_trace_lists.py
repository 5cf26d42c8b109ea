"""Figures that rest on the same rows share a block, and the rows are looked at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.lineage.basis import Basis, rows_of
from judge_pipeline.lineage.figures import Figure
from judge_pipeline.orchestration.trace_lists import ListedBases

IDS = ["a1", "a2", "a3"]


def basis_of(*ids: str) -> Basis:
    return Basis("attempts", pd.DataFrame({"attempt_id": ids}), rows_of(["attempt_id", "why"]))


def figure(turn: int) -> Figure:
    return Figure("contest", "mini", "success_at_turn", {"turn": turn}, {"turn": turn, "value": 0.5, "n": 2})


def test_rows_are_looked_at_once_for_a_basis_and_equal_rows_of_the_same_judges_share_a_block() -> None:
    looked_at = []

    def times(rows: Any) -> tuple[Any, int]:
        looked_at.append(list(rows["attempt_id"]))
        return np.isin(IDS, rows["attempt_id"]).astype(np.int64), 0

    listed = ListedBases(IDS, lambda place: f"#{place}", times)
    first, equal, other = basis_of("a1", "a2"), basis_of("a1", "a2"), basis_of("a1")
    again = [listed.add(figure(1), first, ["sharp"]) for _ in range(3)]
    assert len(set(again)) == 1 and looked_at == [["a1", "a2"]]
    assert listed.add(figure(2), equal, ["sharp"]) == again[0]
    apart = [listed.add(figure(3), first, ["dull"]), listed.add(figure(4), other, ["sharp"])]
    assert len({again[0], *apart}) == 3
    (blocks,) = listed.pages(lambda judge: "")
    assert [block.n_figures for block in blocks] == [4, 1, 1]
