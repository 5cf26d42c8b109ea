"""Whatever a file holds in a format's place: a row becomes a pair, is left out or is set aside, and nothing else."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from judge_pipeline.preference.importers import IMPORTERS
from judge_pipeline.preference.pairs import read_pairs
from judge_pipeline.settings import PreferenceSettings

JUNK: tuple[Any, ...] = (
    None,
    True,
    3,
    1.5,
    "",
    "x",
    "[1",
    "{",
    [],
    {},
    [1],
    ["a", None],
    [[]],
    {"a": 1},
    {"text": 2},
    "\ud800",
)


def chat(a: str) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": [{"type": "text", "text": "Why?"}]},
        {"role": "assistant", "content": [{"type": "text", "text": a}], "object": {"code": a}},
    ]


STATE = {
    "messages": [["Human", "make it"], ["Assistant", "ya"]],
    "sandbox_logs_by_round": {"1": {"sandbox_state": {"sandbox_output": "out", "code_language": "python"}}},
}
CHATS = {"conversation_a": chat("```py\n1\n```"), "conversation_b": chat("```py\n2\n```"), "winner": "model_a"}
ROWS: dict[str, dict[str, Any]] = {
    "table": {"instruction": "i", "response_a": "a", "response_b": "b", "w": "A", "votes": {"x": "A"}, "split": "train",
              "aspects": {"s": "A"}, "evidence_a": {"output": "o"}, "prior_turns": [{"role": "user", "content": "c"}],
              "pair_id": "p"},
    "copilot_arena": {"pairId": "u", "acceptedIndex": 1,
                      "completionItems": [{"prefix": "p", "completion": "c"}, {"completion": "d", "model": "m"}]},
    "edit_bench": {"pairId": "u", "acceptedIndex": 0, "privacy": "Research", "responseItems": [
        {"prefix": "p", "suffix": "s", "user_input": "i", "code_to_edit": "c", "response": "r"}, {"response": "q"}]},
    "lmarena": {"id": "v", "is_code": True, "evaluation_order": 1, "language": "en", "model_a": "m", **CHATS},
    "judgebench": {"pair_id": "p", "source": "s", "question": "q", "response_A": "x", "response_B": "y",
                   "label": "A>B"},
    "bigcodereward": {"chat_session_id": "s", "human_vote": "vote_left", "instruction": "i", "category_name": "c",
                      "execution_output_A": "o", "execution_screenshot_A": {"path": "p"}, "models": {"model_A": "m"},
                      "feedback": {"correctness": "vote_left"}, "states": {"model_A": STATE, "model_B": STATE}},
    "webdevjudge": {"question_id": "q", "label": "tie", **CHATS},
    "mt_bench": {"question_id": 1, "turn": 1, "judge": "j", "model_a": "m", "model_b": "n", **CHATS},
    "auto_j": {"scenario": "s", "label": 0, "prompt": "p", "response 1": "x", "response 2": "y"},
    "pandalm": {"idx": 1, "instruction": "i", "input": "n", "response1": "x", "response2": "y", "annotator1": 1,
                "cmp_key": "a_b", "motivation_app": "m"},
    "icai": {"id": "c", "prompt": "p", "response_a": {"text": "x", "model": "m"}, "response_b": {"text": "y"},
             "annotations": {"d": {"pref": "a"}, "h": {"pref": "b"}, "p": {"pref": "a"}}, "metadata": {"model_a": "m"}},
}  # fmt: skip
ANNOTATORS = {"d": {"name": "x", "type": "unknown"}, "h": {"name": "ann", "type": "human"}, "p": {"type": "principle"}}
DOCUMENT: dict[str, Any] = {"metadata": {"default_annotator": "d"}, "annotators": ANNOTATORS}


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place within a value, the value itself aside."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in inner:
        yield (*at, key)
        yield from places(child, (*at, key))


def spoilt(value: Any) -> Iterator[Any]:
    """The value with each of its places gone, or holding each kind of junk."""
    for place in places(value):
        for junk in (*JUNK, KeyError):
            other = copy.deepcopy(value)
            parent = other
            for key in place[:-1]:
                parent = parent[key]
            if junk is KeyError:
                del parent[place[-1]]
            else:
                parent[place[-1]] = junk
            yield other


@pytest.mark.slow
@pytest.mark.parametrize("name", list(IMPORTERS))
@pytest.mark.parametrize("selection", ["own", "trace"])
def test_every_record_is_accounted_for_whatever_stands_in_a_place(name: str, selection: str) -> None:
    source: dict[str, Any] = {"format": name}
    if selection == "trace":
        if name not in ("lmarena", "copilot_arena", "edit_bench"):
            return
        source["selection"] = "trace"
    rows = [ROWS[name], *spoilt(ROWS[name])]
    document: Any = {**DOCUMENT, "comparisons": rows} if name == "icai" else rows
    settings = PreferenceSettings.model_validate({"source": source})
    found = read_pairs([("x.json", json.dumps(document).encode())], settings)
    assert found.selection["n"].sum() == len(rows)
    assert len(found.quarantine) > 10
    if name != "lmarena" or selection == "own":
        assert len(found.pairs) >= 1


@pytest.mark.slow
def test_a_document_of_annotated_pairs_may_be_spoilt_anywhere() -> None:
    settings = PreferenceSettings.model_validate({"source": {"format": "icai"}})
    for document in spoilt(DOCUMENT):
        whole = document | {"comparisons": [ROWS["icai"]]}
        found = read_pairs([("x.json", json.dumps(whole).encode())], settings)
        assert len(found.quarantine) + found.selection["n"].sum() > 0
