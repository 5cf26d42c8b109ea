from __future__ import annotations

from judge_pipeline.estimate import Estimate
from judge_pipeline.report.view import Cell, Heading, View


def view() -> View:
    return View("v", "V", (Heading("J"), Heading("X", numeric=True)))


def bounded(reason: str | None) -> Estimate:
    return Estimate(0.5, 9, 2, (0.1, 0.9), reason)


def test_a_cell_has_value_interval_further_lines_and_n() -> None:
    estimate = Estimate(0.12345, 1036, 4, (-0.001, 0.4))
    cell = view().estimate(estimate, 3, ("2 clipped",))
    below = ("[0.00, 0.40]", "2 clipped", "n = 1,036, 4 left out")
    assert cell == Cell("0.123", below, numeric=True, estimate=estimate, further=("2 clipped",))


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


def test_skipped_resamples_share_one_note_with_their_range() -> None:
    shown = view()
    cells = [
        shown.estimate(bounded(f"few; undefined in {n} of 2000 resamples, which were skipped")) for n in (57, 3, 114)
    ]
    assert shown.notes == ["few", "undefined in 3 to 114 of 2000 resamples, which were skipped"]
    assert {cell.marks for cell in cells} == {(1, 2)}
    assert shown.common == shown.notes, "all three carry both"
    shown.estimate(bounded("few"))
    assert shown.common == ["few"]
    assert shown.numbered == {2: 1}


def test_cells_are_sorted_by_number_else_by_text_and_what_is_undefined_by_nothing() -> None:
    shown = view()
    assert shown.estimate(Estimate(0.12345, 3)).sort_key == 0.12345
    assert shown.estimate(Estimate.undefined("why")).sort_key is None
    assert shown.estimate(None).sort_key is None
    assert Cell("1,036", numeric=True).sort_key == 1036
    assert Cell("–", numeric=True).sort_key is None
    assert Cell("Gemini").sort_key == "gemini"
    for text in ("nan", "inf", "-infinity", "4e91823"):  # names and hashes, which are no numbers in the page's JSON
        assert Cell(text).sort_key == text


def test_a_long_table_shows_its_beginning_and_keeps_all_rows() -> None:
    shown = view()
    shown.table = "judge_agreement"
    shown.rows = [[Cell(str(k)), Cell("x")] for k in range(150)]
    assert len(shown.shown) == 100
    assert shown.all_remarks == ["100 of 150 rows are shown; the table judge_agreement holds all of them."]


def test_numbers_that_tell_judges_apart_are_no_range() -> None:
    shown = view()
    for judge in ("gpt-5.1", "gpt-5.2", "5", "6"):
        shown.estimate(bounded(f"{judge} is unverified: 3 of 9 attempts"))
    assert len(shown.notes) == 4
    assert "gpt-5.1 is unverified: 3 of 9 attempts" in shown.notes


def test_a_gathered_note_keeps_its_sign_and_what_does_not_differ() -> None:
    shown = view()
    for gap in ("-0.0435", "-0.0970"):
        shown.estimate(bounded(f"0 stands for a squared gap of {gap} after 100 draws"))
    assert shown.notes == ["0 stands for a squared gap of -0.0970 to -0.0435 after 100 draws"]
