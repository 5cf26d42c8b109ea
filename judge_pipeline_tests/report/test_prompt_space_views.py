from __future__ import annotations

from judge_pipeline.report.prompt_space_views import prompt_space_view
from judge_pipeline.tables.prompt_space import PROMPT_SPACE_TEST
from judge_pipeline_tests.report.made_dynamics import made_dynamics


def test_every_row_is_shown_with_chance_and_p() -> None:
    table = made_dynamics()["prompt_space_test"]
    view = prompt_space_view(table)
    assert len(view.rows) == len(table) == 6
    by_name = {(row[0].text, row[1].text): row for row in view.rows}
    row = table[(table["statistic"] == "neighbour_likeness") & (table["about"] == "solved_rate")].iloc[0]
    shown = by_name["Likeness of the nearest (Moran's I)", "Solved rate"]
    assert shown[3].text == f"{row['value']:.3f}"
    assert shown[5].below == (f"[{row['null_low']:.3f}, {row['null_high']:.3f}]",)
    assert shown[6].text == f"{row['p_value']:.3f}"
    assert by_name["Likeness and similarity over all pairs (Mantel's r)", "Solved rate"][2].text == "all pairs"
    assert by_name["Trustworthiness of the drawing", "Place in the drawing"][6].undefined


def test_what_is_found_follows_the_corrected_p() -> None:
    table = made_dynamics()["prompt_space_test"]
    tested = table["p_value"].notna()
    found = prompt_space_view(table.assign(p_holm=table["p_holm"].where(~tested, 0.0004))).remarks[-1]
    assert found.startswith("Participants with like prompts have like solved rates (n = 15; ") and "p < 0.001" in found
    open_ = prompt_space_view(table.assign(p_holm=table["p_holm"].where(~tested, 0.5))).remarks[-1]
    assert open_.startswith("It is not shown that participants with like prompts have like solved rates")


def test_what_was_not_tested_has_its_reason_and_no_sentence() -> None:
    row = {
        "statistic": "neighbour_likeness", "about": "solved_rate", "k": None, "value": None, "n": 3, "n_left_out": 1,
        "null_mean": None, "null_low": None, "null_high": None, "n_permutations": 0, "p_value": None, "p_holm": None,
        "reason": "fewer than 5 participants have a place and a solved rate",
    }  # fmt: skip
    view = prompt_space_view(PROMPT_SPACE_TEST.conform([row]))
    assert view.rows[0][0].below == ("fewer than 5 participants have a place and a solved rate",)
    assert len(view.remarks) == 1
