from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.preference.pair_texts import pair_texts
from judge_pipeline.report.preference_choices import JudgeChoice, choices_of_pairs
from judge_pipeline.report.preference_examples import N_DISAGREEMENTS, choose, examples
from judge_pipeline.report.preference_inputs import PreferenceReportInput, labelled
from judge_pipeline.tables.misalignment import RUBRIC_DISAGREEMENTS
from judge_pipeline.tables.pair_judging import PAIR_JUDGMENTS
from judge_pipeline_tests.report.made_preference import MadeSet, made_preference

MADE = MadeSet(copies=2, n_items=6, n_resamples=100)
WORDS = {"A": ("A", "A"), "B": ("B", "B"), "AB": ("A", "B"), "tie": ("tie", "tie"), "none": ("A", None)}


@pytest.fixture(scope="module")
def made() -> PreferenceReportInput:
    return labelled(made_preference(MADE))


def choice(kind: str, judge: str = "j") -> JudgeChoice:
    """A judge's choice by the table that it would come from."""
    slots = {"A": ("first", "second"), "B": ("second", "first"), "tie": ("tie", "tie"), None: (None, None)}
    rows = [
        {
            "pair_id": "p", "presentation_order": order, "judge": judge, "slot": slots[decision][place],
            "decision": decision, "n_tries": 1, "failure_class": None if decision else "not_json",
            "rationale": f"because {decision}", **dict.fromkeys(
                ("p_first", "score_first", "score_second", "failure", "request_hash", "model", "repair", "latency_ms",
                 "tokens_in", "tokens_out", "cost_usd", "n_screenshots", "screenshots_left_out"))
        }
        for place, (order, decision) in enumerate(zip(("AB", "BA"), WORDS[kind], strict=True))
    ]  # fmt: skip
    return choices_of_pairs({judge: PAIR_JUDGMENTS.conform(rows)}, [judge])["p"][0]


CHOICES = {kind: choice(kind) for kind in WORDS}


def test_a_choice_is_what_both_orders_give() -> None:
    assert {kind: found.choice for kind, found in CHOICES.items()} == {
        "A": "A", "B": "B", "AB": None, "tie": None, "none": None
    }  # fmt: skip
    assert {kind: found.words for kind, found in CHOICES.items()} == {
        "A": "A", "B": "B", "AB": "changed with the order", "tie": "tie", "none": "no valid choice",
    }  # fmt: skip
    assert CHOICES["none"].shown_first == ("A", "invalid: not json")
    assert CHOICES["AB"].reasons == ("A first: because A", "B first: because B")
    assert [kind for kind, found in CHOICES.items() if found.changed] == ["AB"]


def test_one_order_that_was_not_asked_is_no_change() -> None:
    rows = made_preference(MadeSet(copies=1, one_order=True, judges=("a",), n_items=2, n_resamples=60, votes=False))
    found = choices_of_pairs(rows.pair_judgments, ["a"])
    assert all(c.shown_first[1] == "not asked" and not c.changed for of in found.values() for c in of)
    assert {c.choice for of in found.values() for c in of} >= {"A", "B"}


PAIRS = st.dictionaries(
    st.sampled_from([f"p{i}" for i in range(12)]),
    st.tuples(st.sampled_from(["A", "B", "tie"]), st.lists(st.sampled_from(list(WORDS)), min_size=2, max_size=2)),
    min_size=1,
)


@settings(max_examples=60, deadline=None)
@given(PAIRS)
def test_the_rule_without_a_rubric_is_what_it_says(drawn: dict[str, tuple[str, list[str]]]) -> None:
    labels = {pair: label for pair, (label, _) in drawn.items()}
    choices = {pair: [CHOICES[kind] for kind in kinds] for pair, (_, kinds) in drawn.items()}
    shown = choose(choices, labels, None)
    pairs = [pair for pair, _ in shown]
    assert len(pairs) == len(set(pairs))
    against = {p: sum(len(k) == 1 and k != labels[p] for k in drawn[p][1]) if labels[p] != "tie" else 0 for p in drawn}
    expected = sorted((p for p, n in against.items() if n), key=lambda p: (-against[p], p))[:N_DISAGREEMENTS]
    assert pairs[: len(expected)] == expected
    rest = [p for p in drawn if p not in expected]
    changed = {p: drawn[p][1].count("AB") for p in rest}
    if any(changed.values()):
        assert pairs[len(expected)] == min(rest, key=lambda p: (-changed[p], p))
        assert "changed the choice with the order" in shown[len(expected)][1]
    agreed = {p: drawn[p][1].count(labels[p]) for p in rest if labels[p] != "tie" and p not in pairs[: len(pairs) - 1]}
    if agreed and max(agreed.values()) and "for comparison" in shown[-1][1]:
        assert agreed[pairs[-1]] == max(agreed.values())


def test_pairs_that_the_rubric_explains_come_first_each_for_another_item() -> None:
    labels = dict.fromkeys("abcdef", "A")
    choices = {pair: [CHOICES["B"], CHOICES["B"]] for pair in labels}
    choices["f"] = [CHOICES["A"], CHOICES["A"]]
    rows = [
        {
            "pair_id": pair, "judge": judge, "label": "A", "choice": "B", "p_b_people": 0.1, "p_b_judge": 0.9,
            "explained": explained, "reversed": False, "item": item, "push": push,
        }
        for pair, judge, explained, item, push in (
            ("a", "j", False, "short", 0.2), ("b", "j", True, "short", 0.3), ("b", "k", True, "short", 0.3),
            ("c", "j", True, "short", 0.9), ("d", "j", True, "tests", 0.1), ("d", "k", False, "names", 0.7),
            ("e", "j", False, None, None),
        )
    ]  # fmt: skip
    found = choose(choices, labels, RUBRIC_DISAGREEMENTS.conform(rows))
    assert [pair for pair, _ in found] == ["b", "d", "c", "a", "f"]
    assert found[0][1] == "2 of 2 judges chose otherwise than the label; the rubric explains 2 of these choices"
    assert found[3][1] == "2 of 2 judges chose otherwise than the label"
    assert found[4][1] == "2 of 2 judges chose as labelled, for comparison"


def test_an_example_holds_texts_choices_and_pulls_of_its_pair(made: PreferenceReportInput) -> None:
    shown = examples(made)
    assert 3 <= len(shown) <= N_DISAGREEMENTS + 2
    texts, scores, models = made.pair_texts, made.rubric_scores, made.preference_models
    assert texts is not None and scores is not None and models is not None
    people = models[(models["of"] == "people") & (models["effect"] == "coefficient")].set_index("item")["value"]
    for example in shown:
        row = texts.set_index("pair_id").loc[example.pair_id]
        assert [line.text for line in example.responses[0].whole or example.responses[0].lines] == [
            line.expandtabs(4) for line in row["response_a"].splitlines()
        ]
        own = scores[(scores["pair_id"] == example.pair_id) & (scores["score"] != 0)].set_index("item")["score"]
        assert {line.title for line in example.items} == set(own.index)
        for line in example.items:
            assert line.better == ("B" if own[line.title] > 0 else "A")
            assert line.people is not None and line.judges is not None
            assert line.people.arrow == ("↑" if people[line.title] > 0 else "↓")
            assert line.people.toward == ("B" if people[line.title] * own[line.title] > 0 else "A")
            assert line.apart == (line.people.toward != line.judges.toward)
        assert [c.judge for c in example.choices][-1] == "length (baseline)"
    assert any(line.apart for line in shown[0].items)


def test_what_is_shown_is_redacted(made: PreferenceReportInput) -> None:
    pair = examples(made)[0].pair_id
    at = made.preference_pairs["pair_id"] == pair
    leaking = made.preference_pairs.assign(
        response_a=made.preference_pairs["response_a"].where(~at, "mail jane.doe@example.org\nreturn 1")
    )
    texts, _ = pair_texts(leaking, MADE.settings.redaction)
    found = next(e for e in examples(replace(made, preference_pairs=leaking, pair_texts=texts)) if e.pair_id == pair)
    assert "jane.doe" not in " ".join(line.text for line in found.responses[0].lines)
    assert [line.text for line in found.responses[0].lines][1] == "return 1"


def test_long_files_are_folded_but_for_what_is_next_to_the_place(made: PreferenceReportInput) -> None:
    texts = made.pair_texts
    assert texts is not None
    long = "\n".join(f"line {i}" for i in range(40))
    turns = '[{"role": "user", "content": "before"}]'
    evidence = '{"output": "42\\n", "error": "", "screenshot": "x.png"}'
    changed = texts.assign(prefix=long, suffix=long, instruction=long, prior_turns=turns, evidence_a=evidence)
    example = examples(replace(made, pair_texts=changed))[0]
    blocks = {block.title: block for block in example.context}
    assert blocks["Instruction"].folded and blocks["Turns before it"].folded
    assert blocks["Before the place: last 12 of 40 lines"].lines[-1].text == "line 39"
    assert blocks["Behind the place: first 6 of 40 lines"].lines[0].text == "line 0"
    assert blocks["Before the place: all 40 lines"].folded
    assert [block.title for block in example.responses[0].evidence] == ["What running it gave: output"]
    assert not example.responses[1].evidence


def test_without_texts_or_judgments_there_are_none(made: PreferenceReportInput) -> None:
    assert examples(replace(made, pair_texts=None)) == []
    assert examples(replace(made, pair_judgments={})) == []
    no_rubric = replace(made, rubric_scores=None, rubric_disagreements=None, misalignment=None, preference_models=None)
    assert examples(no_rubric)[0].items == [] and "not made" in examples(no_rubric)[0].items_note


def test_ties_of_labels_are_shown_for_the_order_alone() -> None:
    found = choose({"p": [CHOICES["A"]], "q": [CHOICES["AB"]]}, {"p": "tie", "q": "tie"}, pd.DataFrame())
    assert found == [("q", "1 judge changed the choice with the order of the responses")]
