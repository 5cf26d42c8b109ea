"""Two pages of a report are held against each other but for tables that only one of them may have."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from judge_pipeline.orchestration.bundles.pages import alike_but_for

RANKS = '<div data-table="ranks"><table><td>0.9</td></table></div>'


def page(middle: str, saved: Sequence[str] = ("acc",), value: str = "0.5", notes: str = "") -> str:
    data = ",".join(f'"{name}":[1]' for name in saved)
    return (
        f'<ul>{notes}<li>All is well</li></ul><div data-table="acc">{value}</div>\n{middle}\n'
        f'<script type="application/json" id="table-data">{{{data}}}</script>'
    )


WHOLE = page(RANKS, ("acc", "ranks"))


@pytest.mark.parametrize(
    ("other", "alike"),
    [
        (page(RANKS.replace("0.9", "0.1"), ("acc", "ranks")), True),
        (page("", notes='<li>Without ranks <a href="#missing">→</a></li>'), True),
        (page('<p class="empty">Not made <a href="#missing">→</a></p>'), True),
        (page(RANKS, ("acc", "ranks"), value="0.6"), False),
        (page(RANKS, ("acc", "ranks"), notes="<li>Made up</li>"), False),
        (page(RANKS, ("ranks",)), False),
        (WHOLE.replace('{"acc', "{acc"), False),
    ],
)
def test_what_is_the_same_but_for_one_table(other: str, alike: bool) -> None:
    assert alike_but_for(WHOLE, other, ("ranks", "missing")) is alike
    assert alike_but_for(WHOLE, WHOLE, ()) and not alike_but_for(WHOLE, other, ())
