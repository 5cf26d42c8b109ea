from __future__ import annotations

from itertools import pairwise

import pandas as pd
from selectolax.lexbor import LexborHTMLParser

from judge_pipeline.report import trajectory_page as pages
from judge_pipeline.tables import ATTEMPTS, PREDICTIONS
from judge_pipeline_tests.paper_counts_contest import paper_counts_contest
from judge_pipeline_tests.report.made_tables import HOSTILE


def same(words: str) -> str:
    return words


def longest() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    given = paper_counts_contest()
    row = given.trajectories.sort_values("n_turns").iloc[-1]
    attempts = given.attempts
    own = attempts[(attempts["participant"] == row["participant"]) & (attempts["problem_id"] == row["problem_id"])]
    return own, given.predictions, given.struggle_curves


def prompts_of(attempts: pd.DataFrame, words: str | None) -> pd.DataFrame:
    return pd.DataFrame(
        {"attempt_id": attempts["attempt_id"], "text": words, "n_prompts": 1, "reason": None if words else "no log"}
    )


def test_each_turn_shows_program_changes_judges_and_prompts() -> None:
    attempts, predictions, struggle = longest()
    turns = pages.trajectory_turns(attempts, predictions, struggle, prompts_of(attempts, "why wrong?"), same, same)
    assert [turn.turn for turn in turns] == sorted(attempts["turn"])
    assert turns[0].changes is None
    by_id = dict(zip(attempts["turn"], attempts["source_code"], strict=True))
    for before, now in pairwise(turns):
        assert now.changes is not None
        old, new = (by_id[turn.turn].splitlines() for turn in (before, now))
        added = [line.text.removeprefix("+") for line in now.changes if line.kind == "added"]
        assert len(added) - sum(line.kind == "removed" for line in now.changes) == len(new) - len(old)
        assert set(added) <= {line.expandtabs(4) for line in new}
        assert bool(now.changes) != bool(now.changes_note)
        assert len(now.opinions) == (predictions["attempt_id"].isin(attempts["attempt_id"])).sum() / len(attempts)
    document = LexborHTMLParser(pages.trajectory_page("c", "E001", "P1", turns, "1"))
    assert len(document.css("section[id^=turn-]")) == len(turns)
    assert len(document.css(".curve circle")) == sum(turn.confidence is not None for turn in turns)
    assert document.css("pre.asked")[0].text().strip() == "why wrong?"
    ways = document.css("nav li a")
    assert [way.attributes["href"] for way in ways] == [f"#turn-{turn.turn}" for turn in turns]
    assert [way.text() for way in ways] == [turn.verdict for turn in turns]
    solved = attempts.loc[attempts["y"] == 1, "turn"]
    said = f"solved at turn {solved.min()}" if len(solved) else "not solved"
    assert said in document.css_first("header").text()


def test_a_single_turn_has_a_number_and_no_curve() -> None:
    attempts, predictions, struggle = longest()
    first = attempts[attempts["turn"] == 1].assign(y=1, verdict="AC")
    turns = pages.trajectory_turns(first, predictions, struggle, prompts_of(first, None), same, same)
    document = LexborHTMLParser(pages.trajectory_page("c", "u", "p", turns, "1"))
    assert not document.css(".curve") and not document.css("nav")
    assert f"{turns[0].confidence:.3f} at turn 1" in document.css_first("#content").text()
    assert "1 attempt, solved at turn 1" in document.css_first("header").text()


def test_hostile_programs_prompts_and_reasons_stay_text() -> None:
    attempts, predictions, struggle = longest()
    first = attempts.iloc[:1]
    attempts = ATTEMPTS.conform(first.assign(source_code=f"int a;\n{HOSTILE}\n\tx", language=HOSTILE))
    said = PREDICTIONS.conform(predictions.iloc[:1].assign(attempt_id=first["attempt_id"].iloc[0], rationale=HOSTILE))
    turns = pages.trajectory_turns(attempts, said, struggle, prompts_of(attempts, HOSTILE), same, same)
    html = pages.trajectory_page(HOSTILE, HOSTILE, HOSTILE, turns, "1")
    links = [pages.TrajectoryLink(pages.page_name(HOSTILE, HOSTILE, HOSTILE), HOSTILE, HOSTILE, 1, "solved at turn 1")]
    for text in (html, pages.trajectory_index(HOSTILE, links, 1, "1")):
        document = LexborHTMLParser(text)
        assert not document.css("img, iframe, object, [onerror]")
        assert {a.attributes["href"] for a in document.css("a")} <= {
            "index.html", "#content", "#turn-1", "../cocreation_report.html", links[0].file
        }  # fmt: skip
    assert LexborHTMLParser(html).css("pre.code span")[1].text() == HOSTILE
    assert len(html) < 100_000


def test_nothing_of_an_id_becomes_part_of_a_file_name() -> None:
    assert pages.page_name("c", "../../etc", "x/y").removesuffix(".html").isalnum()
    assert pages.page_name("c", "ab", "c") != pages.page_name("c", "a", "bc")


def test_what_is_not_known_is_said() -> None:
    attempts, predictions, struggle = longest()
    bare = ATTEMPTS.conform(attempts.iloc[:2].assign(source_code=None, source_sha256=None, source_lines=None))
    turns = pages.trajectory_turns(bare, predictions.iloc[:0], struggle.iloc[:0], prompts_of(bare, None), same, same)
    assert turns[1].changes_note == "One of the two programs is not known."
    assert turns[0].prompts is None and "no log" in turns[0].prompts_note
    assert "No judge was asked" in pages.trajectory_page("c", "u", "p", turns, "1")


def test_personal_data_are_replaced_before_anything_is_shown() -> None:
    attempts, predictions, struggle = longest()
    own = attempts.iloc[:2].assign(source_code="// a@b.example\nint x;")
    turns = pages.trajectory_turns(
        own, predictions, struggle, prompts_of(own, "call 123"), lambda s: s.replace("a@b.example", "[E]"),
        lambda s: s.replace("123", "[N]"),
    )  # fmt: skip
    html = pages.trajectory_page("c", "u", "p", turns, "1")
    assert "a@b.example" not in html and "123" not in html.split('<pre class="asked">')[1].split("</pre>")[0]


def test_a_very_long_program_is_not_compared() -> None:
    attempts, predictions, struggle = longest()
    own = attempts.iloc[:2].assign(source_code=["x\n" * 5000, "y\n" * 5000])
    turns = pages.trajectory_turns(own, predictions, struggle, prompts_of(own, ""), same, same)
    assert turns[1].changes == [] and "3,000" in turns[1].changes_note
