"""Discovery with scripted models that see what pairs really differ in: length (L) and tabs (T)."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judge_pipeline.preference.pair_question import set_key
from judge_pipeline.preference.rubric_discovery import Asks, discover, worst_predicted
from judge_pipeline.preference.rubric_items import RubricError, items_of, proposals_table, rubric_table
from judge_pipeline.settings.preference import RubricSettings
from judge_pipeline_tests.preference.made_rubric import Scripted, axis, item, made_texts, shown_text

N = 90
RNG = np.random.default_rng(7)
LENGTHS = RNG.integers(1, 9, size=(N, 2))
TABS = RNG.integers(0, 3, size=(N, 2)) * (RNG.random((N, 1)) < 0.5)
IDS = [f"p{n:02d}" for n in range(N)]
TEXTS = made_texts(
    {
        name: tuple("L" * length + "T" * tabs for length, tabs in zip(*pair, strict=True))
        for name, pair in zip(IDS, zip(LENGTHS, TABS, strict=True), strict=True)
    }
)
SETTINGS = RubricSettings(proposer="p", scorer="s", batches=3, batch_pairs=4, at_most=4, rounds=2)


def labels() -> pd.DataFrame:
    """The longer one is chosen, except where tabs differ: then the one with more tabs."""
    values = TABS[:, 1] - TABS[:, 0]
    values = np.where(values == 0, LENGTHS[:, 1] - LENGTHS[:, 0], values)
    names = np.where(values == 0, "tie", np.where(values > 0, "B", "A"))
    return pd.DataFrame({"pair_id": IDS, "label": names, "cluster": IDS})


def propose(shown: dict[str, Any]) -> dict[str, Any]:
    """Length always; tabs only once length is known."""
    known = {found["title"] for found in shown["found"]}
    return {"axes": [axis("Length")] if "Length" not in known else [axis("Tabs"), axis("Much length")]}


def merge(shown: dict[str, Any]) -> dict[str, Any]:
    """By the first word; 'Much' is length."""
    of = {id_: words["title"].replace("Much l", "L") for id_, words in {**shown["kept"], **shown["proposals"]}.items()}
    titles = dict.fromkeys(of[id_] for id_ in shown["proposals"])
    merges = [axis(title) | {"merges": [id_ for id_, own in of.items() if own == title]} for title in titles]
    new = [m for m in merges if not any(id_.startswith("k") for id_ in m["merges"])]
    old = [m for m in merges if m not in new]
    return {
        "items": [*old, *new[: shown["at_most"]]],
        "dropped": [id_ for m in new[shown["at_most"] :] for id_ in m["merges"]],
    }


def score(shown: dict[str, Any]) -> dict[str, Any]:
    """Counts what the item is about; an item about neither is equal."""
    found = {}
    for place, words in enumerate(shown["rubric_items"], start=1):
        letter = words["title"][0]
        first, second = (shown["pair"][name].count(letter) for name in ("first", "second"))
        found[f"item_{place}"] = "equal" if first == second else "first" if first > second else "second"
    return found


def asks(**more: Any) -> Asks:
    parts = {"propose": Scripted(propose), "merge": Scripted(merge), "score": Scripted(score), "items_per_call": 5}
    return Asks(**(parts | more))


def test_each_round_finds_what_the_ones_before_it_left_unexplained() -> None:
    scripted = asks()
    found = discover("set", TEXTS, labels(), [item("people-s")], SETTINGS, 1, scripted)
    assert [(i.slug, i.origin, i.round, i.sources) for i in found.items] == [
        ("people-s", "human", None, ()),
        ("length", "generated", 1, ("Length", "Much length")),
        ("tabs", "generated", 2, ("Tabs",)),
    ]
    assert (found.rounds, found.n_batches, found.n_failed, found.n_cut) == (2, 6, 0, 0) and not found.notes
    assert {p.item for p in found.proposals} == {"length", "tabs"} and len(found.proposals) == 3 + 6
    assert found.proposals[0].request_hash == f"hash of {set_key('set')}/round-1-batch-1"
    later = [json.loads(shown_text(shown)) for name, shown in scripted.propose.shown.items() if "round-2" in name]
    assert all([f["title"] for f in shown["found"]] == ["Title people-s", "Length"] for shown in later)
    table = proposals_table(found.proposals)
    assert table["round"].tolist() == [1] * 3 + [2] * 6 and json.loads(table["pair_ids"][0])
    assert items_of(rubric_table(found.items)) == found.items


def test_later_rounds_look_at_pairs_that_the_rubric_predicts_worst() -> None:
    scripted = asks()
    found = discover("set", TEXTS, labels(), [], SETTINGS, 1, scripted)
    of_round = {n: {name for p in found.proposals if p.round == n for name in p.pair_ids} for n in (1, 2)}
    against = {
        name
        for name, lengths, label in zip(IDS, LENGTHS, labels()["label"], strict=True)
        if (lengths[1] > lengths[0]) != (label == "B") and lengths[1] != lengths[0] and label != "tie"
    }
    assert len(against) >= 12, "enough pairs on which length misleads"
    assert of_round[2] <= against and not of_round[1] <= against
    assert len(of_round[1]) == len(of_round[2]) == 12


def test_no_label_and_no_model_s_name_is_shown() -> None:
    scripted = asks()
    discover("set", TEXTS, labels(), [item("people-s")], SETTINGS, 1, scripted)
    for part in (scripted.propose, scripted.merge, scripted.score):
        for shown in part.shown.values():
            words = set(re.findall(r"[A-Za-z_]+", shown_text(shown)))
            assert not words & {"label", "w", "tie", "model_a", "model_b", "votes", "A", "B", "pair_id"}


def test_the_same_seed_draws_the_same_batches_and_another_draws_others() -> None:
    def drawn(seed: int) -> list[tuple[str, ...]]:
        return [p.pair_ids for p in discover("set", TEXTS, labels(), [], SETTINGS, seed, asks()).proposals]

    assert drawn(1) == drawn(1) != drawn(2)
    shuffled = TEXTS.sample(frac=1, random_state=3).reset_index(drop=True)
    again = discover("set", shuffled, labels().iloc[::-1], [], SETTINGS, 1, asks())
    assert [p.pair_ids for p in again.proposals] == drawn(1), "the order of rows decides nothing"


def test_room_for_new_items_is_shared_among_rounds_and_people_s_items_take_their_part() -> None:
    limits: list[tuple[int, int]] = []

    def noted(shown: dict[str, Any]) -> dict[str, Any]:
        limits.append((len(shown["kept"]), shown["at_most"]))
        return merge(shown)

    def many(shown: dict[str, Any]) -> dict[str, Any]:
        return {"axes": [axis(f"{len(shown['found'])} axis {n}") for n in range(5)]}

    people = [item(f"h{n}") for n in range(4)]
    settings = SETTINGS.model_copy(update={"at_most": 11, "rounds": 3})
    found = discover("set", TEXTS, labels(), people, settings, 1, asks(propose=Scripted(many), merge=Scripted(noted)))
    assert limits == [(4, 3), (7, 2), (9, 2)] and len(found.items) == 11
    full = SETTINGS.model_copy(update={"at_most": 2})
    found = discover("set", TEXTS, labels(), people, full, 1, asks())
    assert list(found.items) == people and {p.item for p in found.proposals} == {None}


def test_without_a_scorer_there_is_one_round_and_a_note_says_why() -> None:
    found = discover("set", TEXTS, labels(), [], SETTINGS, 1, asks(score=None))
    assert found.rounds == 1 and [i.slug for i in found.items] == ["length"]
    assert len(found.notes) == 1 and "rubric.scorer names no judge" in found.notes[0]


def test_where_nothing_can_be_predicted_discovery_ends_and_says_why() -> None:
    one_sided = labels().assign(label="B")
    assert "B was chosen on every pair" in discover("set", TEXTS, one_sided, [], SETTINGS, 1, asks()).notes[0]
    tied = labels().assign(label="tie")
    assert "no pair has a score" in discover("set", TEXTS, tied, [], SETTINGS, 1, asks()).notes[0]
    silent = asks(score=Scripted(lambda shown: None))
    assert "no pair has a score" in discover("set", TEXTS, labels(), [], SETTINGS, 1, silent).notes[0]


def test_a_round_without_proposals_ends_discovery() -> None:
    found = discover(
        "set", TEXTS, labels(), [item("h")], SETTINGS, 1, asks(propose=Scripted(lambda shown: {"axes": []}))
    )
    assert [i.slug for i in found.items] == ["h"] and found.notes == ("round 1 proposed nothing new",)
    assert found.rounds == 1 and found.proposals == ()


def test_batches_without_a_valid_answer_are_counted_and_all_of_them_are_an_error() -> None:
    calls: list[int] = []

    def first_fails(shown: dict[str, Any]) -> dict[str, Any] | None:
        calls.append(1)
        return None if len(calls) == 1 else propose(shown)

    found = discover("set", TEXTS, labels(), [], SETTINGS, 1, asks(propose=Scripted(first_fails)))
    assert (found.n_batches, found.n_failed) == (6, 1) and "round-1-batch-1 has no valid answer" in found.notes[0]
    assert sorted({p.batch for p in found.proposals if p.round == 1}) == [2, 3]
    with pytest.raises(RubricError, match=r"no batch has a valid answer.*rubric\.proposer"):
        discover("set", TEXTS, labels(), [], SETTINGS, 1, asks(propose=Scripted(lambda shown: None)))


def test_pairs_that_are_too_long_are_counted() -> None:
    texts = made_texts({"p1": ("a" * 900, "b"), "p2": ("a", "b")})
    chosen = pd.DataFrame({"pair_id": ["p1", "p2"], "label": ["A", "B"], "cluster": ["p1", "p2"]})
    settings = SETTINGS.model_copy(update={"pair_chars": 200, "rounds": 1})
    assert discover("set", texts, chosen, [], settings, 1, asks()).n_cut == 1


def test_no_pair_is_an_error_that_names_the_setting() -> None:
    with pytest.raises(RubricError, match=r"train.*rubric\.splits"):
        discover("set", TEXTS.iloc[:0], labels(), [], SETTINGS.model_copy(update={"splits": ("train",)}), 1, asks())


def test_worst_predicted_is_by_models_that_did_not_see_the_pair() -> None:
    """With one item that says what people chose but for two pairs, those two come first."""
    rng = np.random.default_rng(3)
    names = [f"q{n:02d}" for n in range(40)]
    truth = rng.choice([-1, 1], size=40)
    wrong = {"q05", "q31"}
    scores = pd.DataFrame({"pair_id": names, "item": "i", "score": truth})
    chosen = ["B" if (t > 0) != (name in wrong) else "A" for name, t in zip(names, truth, strict=True)]
    choices = pd.DataFrame({"pair_id": names, "label": chosen, "cluster": names})
    found = worst_predicted(scores, choices, 1)
    assert set(found[:2]) == wrong and sorted(found) == names
