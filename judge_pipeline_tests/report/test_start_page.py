from __future__ import annotations

from itertools import combinations
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from judge_pipeline.estimate import Estimate
from judge_pipeline.report.start_page import (
    ContestLine,
    PreferenceSetLine,
    in_order,
    leaderboard_findings,
    leaderboard_json,
    start_page_html,
    versions_view,
)
from judge_pipeline.report.table_files import csv_rows
from judge_pipeline.tables import JUDGE_VERSIONS, LEADERBOARD
from judge_pipeline_tests.report.made_tables import HOSTILE

LINES = (
    ContestLine("spring", "Spring cup", "spring/cocreation_report.html", {"attempts": 1250}, 5, 4),
    ContestLine("autumn", "autumn", None),
)

SETS = (
    PreferenceSetLine("votes", HOSTILE, HOSTILE, "votes/preference_report.html", None, 1200),
    PreferenceSetLine("ruled", "ruled", "a stated rule; no person chose", None, "ruled/criteria_report.html"),
    PreferenceSetLine("odd", "odd", None),
)


def board(*judges: tuple[str, tuple[int, int] | None, str | None], cost: float | None = 2.5) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for judge, ranks, kind in judges:
        common = {"judge": judge, "n_contests": 1, "contests": "spring", "kind": kind, "model": "m-1"}
        open_ = {"rank_from": ranks and ranks[0], "rank_to": ranks and ranks[1]}
        for metric in ("roc_auc", "mcc_test", "brier"):
            estimate = Estimate(0.7, 36, 0, (0.5, 0.9)) if ranks else Estimate.undefined("one class", 36)
            rows.append({**common, **open_, "metric": metric, **estimate.to_row()})
        for metric in ("cost_per_1000_usd", "latency_median_ms", "latency_p95_ms"):
            estimate = Estimate.undefined("no answer has a price") if cost is None else Estimate(cost, 36)
            rows.append({**common, "rank_from": None, "rank_to": None, "metric": metric, **estimate.to_row()})
    return LEADERBOARD.conform(rows)


def page(table: pd.DataFrame, lines: tuple[ContestLine, ...] = LINES) -> LexborHTMLParser:
    return LexborHTMLParser(start_page_html(lines, SETS, table, JUDGE_VERSIONS.empty(), "abc"))


def test_every_contest_is_listed_with_the_way_to_its_report() -> None:
    found = page(board(("a", (1, 2), None), ("b", (1, 2), None)))
    rows = found.css("#table-contests tbody tr")
    assert [row.css_first("th").text(strip=True) for row in rows] == ["Spring cupspring", "autumn"]
    assert rows[0].css_first("a").attributes["href"] == "spring/cocreation_report.html"
    assert not rows[1].css("a") and "not made yet" in rows[1].text()
    assert "4 of 5" in rows[0].text() and "1,250" in rows[0].text()


def test_every_preference_set_is_listed_with_who_chose_and_the_ways_to_its_reports() -> None:
    found = page(board(("a", (1, 2), None)), ())
    votes, ruled, odd = found.css("#table-sets tbody tr")
    assert [a.attributes["href"] for a in votes.css("a")] == ["votes/preference_report.html"] * 2
    assert HOSTILE in votes.css("td")[0].text() and "1,200" in votes.text() and not votes.css("script, img")
    assert [a.attributes["href"] for a in ruled.css("a")] == ["ruled/criteria_report.html"] * 2
    assert ruled.css("td")[0].text(strip=True) == "a stated rule; no person chose"
    assert not odd.css("a") and "not known" in odd.text() and odd.text().count("not made yet") == 2
    assert "3 preference sets with their reports" in found.css_first(".facts").text()


def test_judges_stand_by_the_ranks_left_open_and_by_name_within_them() -> None:
    table = board(("d", (1, 1), None), ("c", (2, 3), None), ("a", None, None), ("b", (2, 3), "simulated"))
    assert in_order(table) == ["d", "b", "c", "a"]
    rows = [row.text(separator=" ") for row in page(table).css("#table-leaderboard tbody tr")]
    assert "2 to 3" in rows[1] and "simulated" in rows[1]
    assert "undefined" in rows[3]


def test_undefined_cells_are_grey_with_their_reason_and_the_figure_says_who_is_missing() -> None:
    found = page(board(("a", (1, 2), None), ("b", (1, 2), None), cost=None))
    assert len(found.css("#table-leaderboard td.undefined")) == 6
    assert "no answer has a price" in found.css_first("#table-leaderboard .notes, #table-leaderboard").text()
    assert "no judge has both an ROC-AUC and a cost or a latency" in found.css_first("#figure-accuracy-cost").text()
    drawn = page(board(("a", (1, 2), None), ("b", None, "embedded"))).css_first("#figure-accuracy-cost")
    assert "not shown, since one of the two is undefined: b (embedded)" in drawn.text()


def test_a_version_is_its_model_prompt_and_parameters_in_one_cell() -> None:
    row = {
        "judge": "a", "contest": "spring", "prompt_sha256": "0123456789abcdef" * 4, "model": "m-1",
        "asked_with": '{"parameters": {"temperature": 0}}', "is_current": False, "n_answered": 3, "n_attempts": 9,
    }  # fmt: skip
    rows = [
        {**row, **more, "metric": "roc_auc", **Estimate(0.7, 36, 0, (0.5, 0.9)).to_row()}
        for more in ({}, {"judge": "b", "prompt_sha256": None, "model": None, "asked_with": None})
    ]
    view = versions_view(JUDGE_VERSIONS.conform(rows))
    place = [heading.text for heading in view.headings].index("Version")
    assert (view.rows[0][place].text, view.rows[0][place].below) == ("m-1", ("prompt 0123456789ab", "temperature = 0"))
    assert (view.rows[1][place].text, view.rows[1][place].below) == ("–", ())
    assert "no: an earlier version" in {cell.text for cell in view.rows[0]}
    exported = csv_rows(view)
    assert "temperature = 0" in " ".join(exported[1]), "what stands in small print is saved, too"


def test_the_model_stands_below_its_judge() -> None:
    found = page(board(("a", (1, 2), "simulated"), ("b", (1, 2), None)))
    assert found.css_first("#table-leaderboard tbody th .below").text() == "m-1"
    assert "Model" not in [node.text(strip=True) for node in found.css("#table-leaderboard thead th")]


@given(st.integers(2, 5), st.data())
def test_no_sentence_orders_what_is_left_open(k: int, data: st.DataObject) -> None:
    shown = {pair for pair in combinations(range(k), 2) if data.draw(st.booleans())}
    ranks = [(1 + sum(b == j for _, b in shown), k - sum(a == j for a, _ in shown)) for j in range(k)]
    table = board(*((f"j{place}", span, None) for place, span in enumerate(ranks)))
    (statement,) = leaderboard_findings(table)
    if not shown:
        assert statement.lead == "No judge is told from another"
        assert "j0" not in statement.text
    else:
        assert statement.lead == "Some judges are told apart"
        first, worse = statement.text.split("Shown to rank worse than at least one other:")
        for place, (best, _) in enumerate(ranks):
            assert (f"j{place}" in worse) == (best > 1)
            assert (f"j{place}" in first) == (best == 1)


def test_one_judge_alone_gets_no_sentence_and_an_empty_house_a_page() -> None:
    assert leaderboard_findings(board(("a", (1, 1), None))) == []
    empty = page(LEADERBOARD.empty(), ())
    assert "No contest is known yet" in empty.text() and "No judge has a figure in any contest yet" in empty.text()


def test_hostile_names_are_text_and_json_holds_every_estimate() -> None:
    table = board((HOSTILE, (1, 1), HOSTILE), ("b", None, None))
    found = page(table, (ContestLine("spring", HOSTILE, "spring/cocreation_report.html"),))
    assert not found.css("img") and HOSTILE in found.css_first("#table-contests").text()
    said = leaderboard_json(table)
    assert said["b"]["roc_auc"]["reason"] == "one class" and "ranks" not in said["b"]["roc_auc"]
    assert said[HOSTILE]["roc_auc"]["ranks"] == [1, 1]
    assert said[HOSTILE]["brier"]["value"] == pytest.approx(0.7)
