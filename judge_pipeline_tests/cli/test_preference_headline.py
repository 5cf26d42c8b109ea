"""Remarks below the figures in the terminal: each names whom it concerns."""

from __future__ import annotations

import io

from rich.console import Console

from judge_pipeline.cli.preference_headline import PreferenceHeadline, print_preference_headline
from judge_pipeline.estimate import Estimate


def printed(judges: dict[str, dict[str, Estimate]], states: dict[str, str]) -> str:
    found = PreferenceHeadline("people", "trace", judges, {}, (), (), states)
    console = Console(file=io.StringIO(), width=200)
    print_preference_headline(console, found)
    assert isinstance(console.file, io.StringIO)
    return " ".join(console.file.getvalue().split())


def of(reason: str | None) -> dict[str, Estimate]:
    none = Estimate.undefined("no choice is valid and the same in both orders", 0, 9)
    return {
        "acc_pc": none if reason else _known(None),
        "acc": _known(reason), "consistent_share": _known(reason), "first_slot_share": _known(reason),
    }  # fmt: skip


def _known(reason: str | None) -> Estimate:
    return Estimate(0.5, 9, 0, None, reason)


def test_a_remark_names_its_judges_and_why_one_is_unverified_is_said_once() -> None:
    reason = "few is unverified: 7 of 9 pairs lack an answer; 7 pairs of other judges have no row of this one"
    said = printed({"few (unverified)": of(reason), "all": of(None)}, {"few (unverified)": "unverified: 7 of 9 pairs"})
    assert "Acc_PC of few (unverified): no choice is valid" in said
    assert "of few (unverified): 7 pairs of other judges have no row of this one." in said
    assert said.count("unverified: 7 of 9") == 1 and "few (unverified): unverified: 7 of 9 pairs" in said


def test_what_all_judges_share_names_none_of_them_and_many_are_counted() -> None:
    names = [f"j{n}" for n in range(5)]
    note = "the interval has no width: every resample gives the same value"
    said = printed({name: dict.fromkeys(("acc_pc", "acc"), _known(note)) for name in names}, {})
    assert " of all judges: the interval has no width" in said
    said = printed({name: {"acc": _known(note if name != "j4" else None)} for name in names}, {})
    assert " of j0, j1, j2 and 1 more: the interval has no width" in said
