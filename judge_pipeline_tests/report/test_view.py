from __future__ import annotations

from judge_pipeline.estimate import Estimate
from judge_pipeline.report.view import Cell, Heading, View


def view() -> View:
    return View("v", "V", (Heading("J"), Heading("X", numeric=True)))


def bounded(reason: str | None) -> Estimate:
    return Estimate(0.5, 9, 2, (0.1, 0.9), reason)


def test_a_cell_has_value_interval_further_lines_and_n() -> None:
    cell = view().estimate(Estimate(0.12345, 1036, 4, (-0.001, 0.4)), 3, ("2 clipped",))
    assert cell == Cell("0.123", ("[0.00, 0.40]", "2 clipped", "n = 1,036, 4 left out"), numeric=True)


def test_undefined_and_not_computed_are_words() -> None:
    shown = view()
    cell = shown.estimate(Estimate.undefined("one class", 12))
    assert (cell.text, cell.undefined, cell.marks) == ("undefined", True, (1,))
    assert shown.notes == ["one class"]
    assert shown.estimate(None).text == "not computed"


def test_a_reason_of_parts_is_a_footnote_a_part_each_said_once() -> None:
    shown = view()
    first = shown.estimate(bounded("few clusters; 2 clipped"))
    second = shown.estimate(bounded("2 clipped"))
    assert shown.notes == ["few clusters", "2 clipped"]
    assert (first.marks, second.marks) == ((1, 2), (2,))


def test_what_every_interval_carries_is_said_once_and_not_marked() -> None:
    shown = view()
    shown.estimate(bounded("few clusters"))
    shown.estimate(bounded("few clusters; 2 clipped"))
    shown.estimate(Estimate.undefined("one class"))
    assert shown.common == ["few clusters"]
    assert shown.numbered == {2: 1, 3: 2}


def test_a_single_interval_makes_nothing_common() -> None:
    shown = view()
    shown.estimate(bounded("few clusters"))
    assert shown.common == []
    assert shown.numbered == {1: 1}


def test_an_interval_without_the_note_makes_it_uncommon() -> None:
    shown = view()
    for reason in ("few clusters", "few clusters", None):
        shown.estimate(bounded(reason))
    assert shown.common == []


def test_columns_hold_value_interval_and_n() -> None:
    cells = view().in_columns(Estimate(0.5, 184, 1, None, "no band"), 4)
    assert [cell.text for cell in cells] == ["0.5000", "none", "184 (1 left out)"]
    assert cells[0].marks == (1,)
    assert [cell.text for cell in view().in_columns(None)] == ["not computed", "", ""]
