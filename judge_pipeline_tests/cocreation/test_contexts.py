from __future__ import annotations

import hashlib
import random

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.cocreation.contexts import participant_contexts
from judge_pipeline.ingest.chat_formats.chat import NOT_TYPED
from judge_pipeline.tables import PROMPT_LOGS


def message(path: str, order: int, text: str, role: str = "user", conversation: str = "1") -> dict[str, object]:
    return {
        "participant": path.split("/")[1],
        "path": path,
        "conversation": conversation,
        "order": order,
        "role": role,
        "text": text,
        "text_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "at": None,
        "notes": None,
    }


def logs(*rows: dict[str, object]) -> pd.DataFrame:
    return PROMPT_LOGS.conform(rows)


def test_prompts_in_the_order_of_files_and_messages_under_separators() -> None:
    table = logs(
        message("prompts/E1/log10.md", 1, "last"),
        message("prompts/E1/log2.md", 3, "second"),
        message("prompts/E1/log2.md", 2, "an answer", role="assistant"),
        message("prompts/E1/log2.md", 1, "first"),
        message("prompts/E2/log1.md", 1, "another person"),
    )
    (row,) = participant_contexts(table, ["E1"], roles="prompts").to_dict("records")
    assert row["prompt_text"] == (
        "----- log log2.md, message 1 -----\nfirst\n\n"
        "----- log log2.md, message 3 -----\nsecond\n\n"
        "----- log log10.md, message 1 -----\nlast"
    )
    assert (row["n_messages"], row["n_logs"], row["n_chars"]) == (3, 2, len(row["prompt_text"]))
    assert row["prompt_sha256"] == hashlib.sha256(row["prompt_text"].encode()).hexdigest()
    assert row["reason"] is None


def test_a_dialogue_says_who_speaks_and_leaves_tools_and_systems_out() -> None:
    table = logs(
        message("prompts/E1/a.md", 1, "be brief", role="system"),
        message("prompts/E1/a.md", 2, "hello"),
        message("prompts/E1/a.md", 3, "exit code 1", role="tool"),
        message("prompts/E1/a.md", 4, "hi", role="assistant"),
    )
    (text,) = participant_contexts(table, ["E1"], roles="dialogue")["prompt_text"]
    assert text == "----- log a.md, message 2, user -----\nhello\n\n----- log a.md, message 4, assistant -----\nhi"


def test_several_conversations_of_one_log_are_told_apart_and_ordered_by_number() -> None:
    table = logs(*(message("prompts/E1/x.json", 1, f"c{i}", conversation=str(i)) for i in (10, 2, 1)))
    (text,) = participant_contexts(table, ["E1"], roles="prompts")["prompt_text"]
    assert [line for line in text.split("\n") if line.startswith("-----")] == [
        f"----- log x.json, conversation {i}, message 1 -----" for i in (1, 2, 10)
    ]


def test_who_has_no_log_or_no_prompt_still_gets_a_row_that_says_so() -> None:
    table = logs(message("prompts/E2/a.md", 1, "hi", role="assistant"), message("prompts/E3/a.md", 1, " \n"))
    contexts = participant_contexts(table, ["E3", "E1", "E2", "E1"], roles="prompts")
    assert list(contexts["participant"]) == ["E1", "E2", "E3"]
    assert set(contexts["prompt_text"]) == {""}
    assert list(contexts["reason"]) == ["no prompt log", *["1 prompt log(s) without any message of user"] * 2]
    assert set(contexts["prompt_sha256"]) == {hashlib.sha256(b"").hexdigest()}


def test_the_separator_names_the_log_within_the_participants_folder_on_one_line() -> None:
    table = logs(message("prompts/Ada Lovelace/day1/a\n-----.md", 1, "hi"))
    (text,) = participant_contexts(table, ["Ada Lovelace"], roles="prompts")["prompt_text"]
    assert text == "----- log day1/a\N{REPLACEMENT CHARACTER}-----.md, message 1 -----\nhi"


def test_unknown_roles_are_refused() -> None:
    with pytest.raises(KeyError):
        participant_contexts(logs(), ["E1"], roles="everything")  # type: ignore[arg-type]


def test_what_a_client_wrote_in_the_participants_place_is_left_out() -> None:
    clients = message("prompts/E1/a.md", 1, "<command-name>/exit</command-name>")
    clients["notes"] = f"format: SpecStory history; {NOT_TYPED}"
    contexts = participant_contexts(logs(clients, message("prompts/E1/a.md", 2, "typed")), ["E1"], roles="prompts")
    assert contexts["n_messages"][0] == 1
    assert "/exit" not in contexts["prompt_text"][0]


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.integers(1, 12), st.integers(1, 30), st.text(max_size=5)),
        unique_by=lambda t: t[:3],
        max_size=20,
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_of_rows_is_of_no_matter(rows: list[tuple[int, int, int, str]], rng: random.Random) -> None:
    made = [message(f"prompts/u/{f}.md", k, text, conversation=str(c)) for f, c, k, text in rows]
    first = participant_contexts(logs(*made), ["u"], roles="prompts")
    rng.shuffle(made)
    pd.testing.assert_frame_equal(first, participant_contexts(logs(*made), ["u"], roles="prompts"))
    texts = [row[3] for row in sorted(rows) if row[3].strip()]
    assert first["n_messages"][0] == len(texts)
    assert all(text in first["prompt_text"][0] for text in texts)
