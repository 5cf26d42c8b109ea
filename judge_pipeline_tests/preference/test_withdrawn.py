from __future__ import annotations

import json

import pandas as pd
import pytest

from judge_pipeline.preference.drafts import BOTH_BAD, PairDraft
from judge_pipeline.preference.pair_question import pair_key, set_key
from judge_pipeline.preference.pairs import read_pairs
from judge_pipeline.preference.withdrawn import Withdrawn, asked_about, is_about_pairs, without_votes
from judge_pipeline.settings import PreferenceSettings

GONE = Withdrawn(lambda pair_id: pair_id == "p2", lambda name: name == "ann")


@pytest.mark.parametrize(
    ("w", "votes", "chooser", "left"),
    [
        ("A", {"ben": "B"}, None, ("A", {"ben": "B"}, None)),
        (None, {"ann": "A", "ben": "B"}, None, (None, {"ben": "B"}, None)),
        ("A", {"ann": "A", "ben": "B"}, None, ("A", {"ben": "B"}, None)),
        ("A", {"ann": "A", "ben": "B"}, "ann", (None, {"ben": "B"}, None)),
        ("A", {"ann": "A", "ben": "B"}, "ben", ("A", {"ben": "B"}, None)),
        (None, {"ann": "A", "ann (2)": "B"}, None, (None, {}, "only choice")),
        ("A", {"ann": "A"}, None, (None, {}, "only choice")),
        (BOTH_BAD, {"ann": BOTH_BAD}, None, (None, {}, "only choice")),
        ("B", {"ann": "A"}, None, ("B", {}, None)),
    ],
)
def test_votes_are_taken_and_a_choice_that_was_theirs_alone_goes(
    w: str | None, votes: dict[str, str], chooser: str | None, left: tuple[str | None, dict[str, str], str | None]
) -> None:
    draft = PairDraft("a", "b", w, votes=dict(votes), chooser=chooser)
    why = GONE.take_votes(draft)
    assert (draft.w, draft.votes) == left[:2]
    assert why is None if left[2] is None else left[2] in str(why)
    both = PairDraft("a", "b", w, votes=dict(votes), chooser=chooser)
    assert Withdrawn().take_votes(both) is None and both.votes == votes


def test_stored_pairs_lose_votes_and_what_others_chose_stays() -> None:
    pairs = pd.DataFrame(
        [
            ("p0", "A", json.dumps({"ann": "A", "ben": "A", "cleo": "B"}), False),
            ("p1", "tie", json.dumps({"ann": "tie", "ann (2)": "tie", "ben": "A"}), True),
            ("p2", "B", json.dumps({"ann": "B"}), False),
            ("p3", "B", json.dumps({"ann": "A"}), False),
            ("p4", "A", None, False),
            ("p5", "A", json.dumps({"ann": "A", "ben": "B", "cleo": "B"}), False),
        ],
        columns=["pair_id", "w", "votes", "both_bad"],
    )
    kept, gone = without_votes(pairs, GONE)
    assert gone == {"p2"}
    assert kept[["pair_id", "w", "votes", "both_bad"]].astype(object).where(kept.notna(), None).to_numpy().tolist() == [
        ["p0", "A", '{"ben": "A", "cleo": "B"}', False],
        ["p1", "A", '{"ben": "A"}', False],
        ["p3", "B", None, False],
        ["p4", "A", None, False],
        ["p5", "A", '{"ben": "B", "cleo": "B"}', False],
    ]


def test_a_pair_that_was_withdrawn_is_left_out_and_no_other_one_changes() -> None:
    lines = [json.dumps({"response_a": f"a{i}", "response_b": f"b{i}", "w": "A", "pair_id": f"p{i}"}) for i in range(6)]
    lines.append(json.dumps({"response_a": "other", "response_b": "b2", "w": "A", "pair_id": "p2"}))
    files = [("f.jsonl", "\n".join(lines).encode())]
    settings = PreferenceSettings.model_validate({"source": {"format": "table", "swap": "seeded"}})
    whole, rest = read_pairs(files, settings), read_pairs(files, settings, GONE)
    others = whole.pairs[whole.pairs["pair_id"] != "p2"].reset_index(drop=True)
    pd.testing.assert_frame_equal(rest.pairs, others)
    assert whole.quarantine["value"].tolist() == ["p2"] and rest.quarantine["value"].tolist() == [None]
    left_out = rest.selection[rest.selection["effect"] == "left_out"]
    assert left_out[["reason", "n"]].to_numpy().tolist() == [["the pair was withdrawn", 1]]
    assert rest.selection["n"].sum() == whole.selection["n"].sum() == 7


def test_the_coins_of_trace_s_swap_fall_as_before() -> None:
    rows = [
        {"pairId": f"p{i}", "acceptedIndex": 1,
         "completionItems": [{"prefix": f"x{i}", "completion": f"a{i}"}, {"completion": f"b{i}"}]}
        for i in range(12)
    ]  # fmt: skip
    settings = PreferenceSettings.model_validate({"source": {"format": "copilot_arena", "selection": "trace"}})
    files = [("votes.jsonl", "\n".join(map(json.dumps, rows)).encode())]
    whole = read_pairs(files, settings)
    gone = str(whole.pairs["pair_id"].iloc[3])
    rest = read_pairs(files, settings, Withdrawn(lambda pair_id: pair_id == gone))
    others = whole.pairs[whole.pairs["pair_id"] != gone].reset_index(drop=True)
    pd.testing.assert_frame_equal(rest.pairs, others)
    assert whole.pairs["swapped"].nunique() == 2


def test_an_icai_annotator_who_chose_alone_takes_the_pair_along() -> None:
    def document(ben: str | None) -> bytes:
        said = {"h1": {"pref": "a"}} | ({"h2": {"pref": ben}} if ben else {})
        comparison = {"id": "p9", "prompt": "q", "response_a": {"text": "x"}, "response_b": {"text": "y"}}
        return json.dumps(
            {
                "metadata": {"default_annotator": "h1"},
                "annotators": {"h1": {"name": "ann", "type": "human"}, "h2": {"name": "ben", "type": "human"}},
                "comparisons": [comparison | {"annotations": said}],
            }
        ).encode()

    settings = PreferenceSettings.model_validate({"source": {"format": "icai"}})
    assert read_pairs([("d.json", document("b"))], settings).pairs["w"].tolist() == ["A"]
    assert read_pairs([("d.json", document("b"))], settings, GONE).pairs["w"].tolist() == ["B"]
    assert read_pairs([("d.json", document(None))], settings, GONE).pairs.empty


def test_what_was_asked_about_a_pair_is_told_by_its_key() -> None:
    ids = {f"{pair_key('s', p)}/{part}" for p in ("p1", "p2") for part in ("AB", "BA", "rubric-1-AB")}
    together = {f"{set_key('s')}/round-1-batch-2", f"{set_key('s')}/round-1-merge"}
    other = {f"{pair_key('t', 'p1')}/AB", f"{set_key('t')}/round-1-merge", "0123456789abcdef"}
    found = asked_about(ids | together | other, "s", {"p1"})
    assert found == {f"{pair_key('s', 'p1')}/{part}" for part in ("AB", "BA", "rubric-1-AB")} | together
    assert asked_about(ids | together | other, "s", ()) == frozenset()
    assert [is_about_pairs(name) for name in ("0123456789abcdef", *sorted(together))] == [False, True, True]
