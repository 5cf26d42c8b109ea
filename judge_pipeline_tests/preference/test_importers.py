"""Each importer on rows of the published form; what the form was learnt from stands in the importer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judge_pipeline.preference.importers import IMPORTERS
from judge_pipeline.preference.pairs import PairsRead, read_pairs
from judge_pipeline.settings import PreferenceSettings
from judge_pipeline.settings.preference import SOURCES


def read(data: str | list[dict[str, Any]], path: str = "x.jsonl", **source: Any) -> PairsRead:
    text = data if isinstance(data, str) else "\n".join(map(json.dumps, data)) + "\n"
    return read_pairs([(path, text.encode())], PreferenceSettings.model_validate({"source": source}))


def one(data: str | list[dict[str, Any]], **source: Any) -> dict[str, Any]:
    found = read(data, **source)
    assert found.quarantine.empty, found.quarantine.to_dict("records")
    assert len(found.pairs) == 1
    pair: dict[str, Any] = found.pairs.to_dict("records")[0]
    return pair


def left_out(data: list[dict[str, Any]], **source: Any) -> list[str]:
    found = read(data, **source)
    return found.selection.loc[found.selection["effect"] == "left_out", "reason"].tolist()


def test_every_format_has_settings_and_an_importer_that_says_where_it_was_seen() -> None:
    formats = [model.model_fields["format"].annotation.__args__[0] for model in SOURCES]  # type: ignore[union-attr]
    assert formats == list(IMPORTERS)
    assert all(i.reference and i.seen in ("files", "loader", "card") for i in IMPORTERS.values())


def test_copilot_arena_raw_votes_and_trace_s_redacted_ones() -> None:
    raw = {
        "pairId": "u1",
        "acceptedIndex": 1.0,
        "completionItems": json.dumps(
            [{"prefix": "p", "suffix": "s", "completion": "c0", "model": "m0"}, {"completion": "c1", "model": "m1"}]
        ),
    }
    pair = one([raw], format="copilot_arena")
    assert (pair["pair_id"], pair["prefix"], pair["response_b"], pair["model_b"], pair["w"]) == (
        "u1",
        "p",
        "c1",
        "m1",
        "B",
    )
    no_prefix = raw | {"completionItems": [{"completion": "a"}, {"completion": "b"}]}
    assert left_out([no_prefix], format="copilot_arena") == ["the vote has no prefix"]
    redacted = {"question_id": "q", "winner": "B", "redacted_prefix": "p", "redacted_suffix": None,
                "redacted_llm_response_a": "x", "redacted_llm_response_b": "y"}  # fmt: skip
    assert one([redacted], format="copilot_arena", selection="trace", swap="none")["w"] == "B"
    csv = (
        ",question_id,winner,redacted_prefix,redacted_suffix,redacted_llm_response_a,redacted_llm_response_b\n"
        '0,q,B,"use strict;\nour @X = qw(\n    id\n);","}\n\n1;","$row->{""a""}++;\n",$row\n'
    )
    published = read(csv, path="copilot.csv", format="copilot_arena").pairs.to_dict("records")[0]
    assert (published["response_a"], published["response_b"]) == ('$row->{"a"}++;\n', "$row")
    assert read([raw | {"acceptedIndex": 2}], format="copilot_arena").quarantine.loc[0, "field"] == "acceptedIndex"


def test_edit_bench_raw_votes_python_lists_and_trace_s_redacted_ones() -> None:
    items = [
        {"prefix": "p", "suffix": "s", "user_input": "fix it", "code_to_edit": "c", "response": "r0"},
        {"response": "r1"},
    ]
    raw = {"pairId": "u1", "acceptedIndex": 0, "privacy": "Research", "responseItems": str(items)}
    pair = one([raw], format="edit_bench")
    assert (pair["instruction"], pair["code_to_edit"], pair["response_a"], pair["w"]) == ("fix it", "c", "r0", "A")
    assert left_out([raw | {"privacy": "Debug"}], format="edit_bench", selection="trace") == ["privacy is not Research"]
    same = raw | {"responseItems": json.dumps([items[0], {"response": " r0\n"}])}
    assert left_out([same], format="edit_bench", selection="trace") == ["both responses are the same"]
    bare = raw | {"responseItems": [{"response": "x"}, {"response": "y"}]}
    assert left_out([bare], format="edit_bench") == ["the vote has no prefix, no instruction or no marked code"]
    assert (
        read([raw | {"responseItems": "__import__('os')"}], format="edit_bench").quarantine.loc[0, "field"]
        == "responseItems"
    )
    redacted = {"question_id": "q", "winner": "A", "user_input": "fix", "code_to_edit": "c", "prefix": "p",
                "llm_response_a": "x", "llm_response_b": "y"}  # fmt: skip
    assert one([redacted], format="edit_bench")["instruction"] == "fix"


def chat(*texts: str, parts: bool = True) -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [
        {"role": roles[i % 2], "content": [{"type": "text", "text": text}] if parts else text}
        for i, text in enumerate(texts)
    ]


def vote(a: str = "```py\n1\n```", b: str = "```python\n2\n```", **more: Any) -> dict[str, Any]:
    return {"id": "v", "winner": "model_a", "is_code": True, "evaluation_order": 1, "language": "en", "model_a": "m",
            "conversation_a": chat("Why?", a), "conversation_b": chat("Why?", b), **more}  # fmt: skip


def test_lmarena_and_the_code_filter() -> None:
    pair = one([vote()], format="lmarena")
    assert (pair["instruction"], pair["response_a"], pair["w"], pair["natural_language"]) == (
        "Why?",
        "```py\n1\n```",
        "A",
        "en",
    )
    assert one([vote(winner="tie (bothbad)")], format="lmarena")["both_bad"]
    two_turns = {
        "conversation_a": chat("a", "b", "c", "```py\nd\n```"),
        "conversation_b": chat("a", "b", "c", "```py\ne\n```"),
    }
    rows = [vote(is_code=False), vote(**two_turns), vote(b="no code"), vote()]
    assert left_out(rows, format="lmarena") == [
        "has more than one turn", "is not flagged as code", "not both answers hold fenced code"
    ]  # fmt: skip
    prior = one([vote(**two_turns)], format="lmarena", single_turn=False)
    assert json.loads(prior["prior_turns"]) == [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    old_form = vote(id=None, question_id="q", conversation_a=chat("W", "```c\n```", parts=False),
                    conversation_b=chat("W", "```c\n```", parts=False))  # fmt: skip
    assert one([old_form], format="lmarena")["pair_id"] == "q"


def test_lmarena_as_trace_selects_it() -> None:
    fenced = chat("```py\nx\n```")[0]
    good = vote(
        conversation_a=[fenced, *chat("", "```py\n1\n```")[1:]], conversation_b=[fenced, *chat("", "```py\n2\n```")[1:]]
    )
    rows = [
        good, good | {"evaluation_order": 2}, good | {"winner": "tie"}, good | {"winner": "both_bad"}, vote(),
        good | {"conversation_b": [fenced, *chat("", "```js\n2\n```")[1:]]},
    ]  # fmt: skip
    found = read(rows, format="lmarena", selection="trace")
    assert len(found.pairs) == 1
    assert sorted(left_out(rows, format="lmarena", selection="trace")) == [
        "both responses were called bad",
        "is not the first vote of its session",
        "the answers' fenced code has no language in common",
        "the choice is a tie",
        "the prompt holds no fenced code in a known language",
    ]


def test_judgebench() -> None:
    row = {"pair_id": "p", "original_id": "1", "source": "livecodebench", "question": "Q", "response_model": "m",
           "response_A": "x", "response_B": "y", "label": "B>A"}  # fmt: skip
    pair = one([row], format="judgebench")
    assert (pair["w"], pair["category"], pair["model_a"]) == ("B", "livecodebench", "m")
    assert left_out([row | {"source": "mmlu-pro-law"}], format="judgebench", sources=["livecodebench"]) == [
        "is of another source"
    ]


def test_bigcodereward_with_what_running_gave_and_the_aspects_of_bigcodearena() -> None:
    def state(text: str, output: str) -> dict[str, Any]:
        return {
            "messages": [["Human", "make a page"], ["Assistant", text]],
            "sandbox_logs_by_round": {
                "1": {"sandbox_state": {"sandbox_output": "old"}},
                "10": {
                    "sandbox_state": {"sandbox_output": output, "code_language": "python", "screenshot_base64": "AAAA"}
                },
                "2": {"sandbox_state": None},
            },
        }

    row = {"chat_session_id": "s", "instruction": "make it", "human_vote": "vote_both_bad", "model_A": "m1",
           "model_B": "m2",
           "category_name": "web_design", "execution_error_B": "boom", "execution_screenshot_A": {"path": "a.png"},
           "states": {"model_A": state("ya", "out"), "model_B": state("yb", "")}}  # fmt: skip
    pair = one([row], format="bigcodereward")
    assert (pair["w"], pair["both_bad"], pair["instruction"], pair["response_b"]) == ("tie", True, "make a page", "yb")
    assert json.loads(pair["evidence_a"]) == {"output": "out", "screenshot": {"source": "a.png"}}
    assert json.loads(pair["evidence_b"]) == {"error": "boom", "screenshot": {"source": "embedded"}}
    assert (pair["category"], pair["language"], pair["model_b"]) == ("web_design", "python", "m2")
    arena = {k: row[k] for k in ("chat_session_id", "states")} | {
        "feedback": {
            "vote_type": "vote_right",
            "correctness": "vote_left",
            "efficiency": None,
            "ui_ux_design": "vote_tie",
        },
        "models": {"model_A": "m1", "model_B": "m2"},
    }
    pair = one([arena], format="bigcodereward")
    assert (pair["w"], json.loads(pair["aspects"])) == ("B", {"correctness": "A", "ui_ux_design": "tie"})


def test_webdevjudge_and_webdev_arena() -> None:
    def page(code: str) -> list[dict[str, Any]]:
        return [*chat("a todo list"), {"role": "assistant", "content": [], "object": {"code": code, "title": "t"}}]

    row = {
        "question_id": "q",
        "label": "tie",
        "winner": "model_a",
        "conversation_a": page("A()"),
        "conversation_b": page("B()"),
    }
    pair = one([row], format="webdevjudge")
    assert (pair["w"], pair["instruction"], pair["response_b"]) == ("tie", "a todo list", "B()")
    del row["label"]
    assert one([row], format="webdevjudge")["w"] == "A"
    broken = row | {"conversation_b": chat("a todo list", "no object")}
    assert "code of the last message" in read([broken], format="webdevjudge").quarantine.loc[0, "field"]


def test_mt_bench_votes_become_pairs_whichever_model_stands_first() -> None:
    a, b = chat("Q1", "a1", "Q2", "a2", parts=False), chat("Q1", "b1", "Q2", "b2", parts=False)
    ab = {"question_id": 81, "model_a": "alpha", "model_b": "beta", "conversation_a": a, "conversation_b": b}
    ba = {"question_id": 81, "model_a": "beta", "model_b": "alpha", "conversation_a": b, "conversation_b": a}
    rows = [
        ab | {"judge": "expert_1", "winner": "model_a", "turn": 1},
        ba | {"judge": "expert_2", "winner": "model_b", "turn": 1},
        ab | {"judge": "expert_1", "winner": "tie", "turn": 1},
        ba | {"judge": "expert_3", "winner": "model_a", "turn": 2},
    ]
    found = read(rows, format="mt_bench")
    assert found.pairs["w"].tolist() == ["A", "B"]
    first, second = found.pairs.to_dict("records")
    assert json.loads(first["votes"]) == {"expert_1": "A", "expert_2": "A", "expert_1 (2)": "tie"}
    assert (first["response_a"], first["prior_turns"], first["category"]) == ("a1", None, "turn 1")
    assert (second["response_b"], second["instruction"]) == ("b2", "Q2")
    assert json.loads(second["prior_turns"])[1] == {"role": "assistant", "content": "a1"}
    assert not found.pairs["swapped"].any()
    assert found.selection.set_index("effect")["n"].to_dict() == {"kept": 2, "merged": 2}
    assert read(rows, format="mt_bench", turns="first").pairs["category"].tolist() == ["turn 1"]


@pytest.mark.parametrize("keys", [("response 1", "response 2"), ("response_1", "response_2")])
def test_auto_j(keys: tuple[str, str]) -> None:
    pair = one([{"scenario": "s", "label": 2, "prompt": "P", keys[0]: "x", keys[1]: "y"}], format="auto_j")
    assert (pair["w"], pair["category"], pair["instruction"], pair["response_b"]) == ("tie", "s", "P", "y")


def test_pandalm_with_its_nan_and_its_three_annotators() -> None:
    document = """[{"idx": 4, "motivation_app": "Search", "cmp_key": "opt-7b_pythia-6.9b", "input": NaN,
        "instruction": "I",
        "response1": "x", "response2": "y", "annotator1": 2, "annotator2": 0, "annotator3": 2},
        {"idx": 5, "instruction": "I", "input": "in", "response1": "x", "response2": "y",
         "annotator1": 2, "annotator2": 0, "annotator3": 1}]"""
    found = read(document, path="testset.json", format="pandalm")
    pair = found.pairs.to_dict("records")[0]
    assert (pair["w"], pair["instruction"], pair["model_b"], pair["category"]) == ("B", "I", "pythia-6.9b", "Search")
    assert json.loads(pair["votes"]) == {"annotator1": "B", "annotator2": "tie", "annotator3": "B"}
    assert len(found.pairs) == 1
    tied = read(document, path="testset.json", format="pandalm", no_majority="tie").pairs
    assert tied.loc[1, ["w", "instruction"]].tolist() == ["tie", "I\n\nin"]


def icai(version: str) -> str:
    names = ("a", "b") if version == "2.0" else ("text_a", "text_b")
    sides = (
        {"response_a": {"text": "x", "model": "m"}, "response_b": {"text": "y"}}
        if version == "2.0"
        else {"text_a": "x", "text_b": "y"}
    )
    return json.dumps(
        {
            "metadata": {"version": version, "default_annotator": "d1"},
            "annotators": {
                "d1": {"name": "preferred_text", "type": "unknown"},
                "h1": {"name": "ann", "type": "human"},
                "p1": {"description": "is more concise", "type": "principle"},
            },
            "comparisons": [
                {"id": "c1", "prompt": "P", **sides, "annotations": {
                    "d1": {"pref": names[1]}, "h1": {"pref": names[0]}, "p1": {"pref": names[0]}}},
                {"id": "c2", "prompt": None, **sides, "annotations": {
                    "d1": {"pref": None, "no_pref_reason": "not_applicable"}, "h1": {"pref": names[0]}}},
            ],
        },
        indent=2,
    )  # fmt: skip


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_icai_annotated_pairs(version: str) -> None:
    found = read(icai(version), path="pairs.json", format="icai")
    pair = found.pairs.to_dict("records")[0]
    assert (pair["pair_id"], pair["w"], pair["instruction"], pair["response_b"]) == ("c1", "B", "P", "y")
    assert json.loads(pair["votes"]) == {"ann": "A"}
    assert json.loads(pair["aspects"]) == {"is more concise": "A"}
    assert found.selection.set_index("effect")["n"].to_dict() == {"kept": 1, "left_out": 1}
    assert read(icai(version), path="pairs.json", format="icai", annotator="ann").pairs["w"].tolist() == ["A", "A"]
    unknown = read(icai(version), path="pairs.json", format="icai", annotator="nobody").quarantine
    assert "ann" in unknown.loc[0, "reason"]


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_words_of_another_annotator_than_the_one_who_chose_do_not_cost_the_pair(version: str) -> None:
    document = json.loads(icai(version))
    annotations = document["comparisons"][0]["annotations"]
    chooser = document["metadata"]["default_annotator"]
    other = next(key for key in annotations if key != chooser)
    annotations[other] = {"pref": "neither of them"}
    pair = read(json.dumps(document), path="pairs.json", format="icai").pairs.to_dict("records")[0]
    assert (pair["pair_id"], pair["w"]) == ("c1", "B")
    assert pair["notes"] == f"annotator {other} said 'neither of them', which is no choice"
    annotations[chooser] = {"pref": "neither of them"}
    assert read(json.dumps(document), path="pairs.json", format="icai").quarantine["value"].tolist() == [
        "neither of them"
    ]


def test_labels_that_pandas_made_decimal_are_the_numbers_that_they_were() -> None:
    row = {"scenario": "code_generation", "prompt": "p", "response 1": "x", "response 2": "y"}
    assert one([row | {"label": 1.0}], format="auto_j")["w"] == "B"
    wrong = read([row | {"label": 0.5}, row | {"label": True}], format="auto_j")
    assert wrong.pairs.empty and wrong.quarantine["value"].tolist() == ["0.5", "True"]


def test_a_question_that_nobody_answered_is_no_response_of_bigcodereward() -> None:
    states = {f"model_{x}": {"messages": [["User", "make a page"]]} for x in "AB"}
    found = read([{"chat_session_id": "s", "vote_type": "vote_left", "states": states}], format="bigcodereward")
    assert found.pairs.empty
    assert found.quarantine["reason"].tolist() == ["ends with a question and no answer"]


def test_a_file_of_another_format_is_set_aside_row_by_row() -> None:
    for name in IMPORTERS:
        found = read([{"what": "else"}, {"what": "ever"}], format=name)
        assert found.pairs.empty
        assert not found.quarantine.empty or set(found.selection["effect"]) == {"left_out"}, name
